"""Models with local weights. The engine gives an evaluator those it declares, loaded once a process."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from metrics.errors import MissingResource
from metrics.models import embedder


@dataclass(frozen=True, slots=True)
class Source:
    """Where a resource comes from: the setting without a choice, how to open it, and why it could not be opened."""

    default: str
    open: Callable[[str, Path], Any]
    lacking: Callable[[str], str | None]


SOURCES: Mapping[str, Source] = {
    "embedder": Source(embedder.BUNDLED, embedder.open_embedder, embedder.lacking),
}


def provide(names: Sequence[str], settings: Mapping[str, Any], cache_folder: Path) -> dict[str, Any]:
    """The named resources (metrics.evaluator.Resource) as objects, by name; MissingResource where one cannot be had.

    `settings` chooses the model of a resource: for the embedder "bundled" (default), a local folder or a hub name.
    `cache_folder` keeps what models have computed.
    """
    reasons = lacking(names, settings)
    if reasons:
        raise MissingResource("; ".join(reasons.values()))
    return {name: _opened(name, _setting(name, settings), cache_folder) for name in names}


def lacking(names: Sequence[str], settings: Mapping[str, Any]) -> dict[str, str]:
    """Which of the named resources cannot be had, each with the reason and how to get it. Nothing is loaded."""
    reasons = {}
    for name in names:
        if not _setting(name, settings):
            reasons[name] = f"no {name.replace('_', ' ')} is chosen"
        elif reason := SOURCES[name].lacking(_setting(name, settings)):
            reasons[name] = reason
    return reasons


def _setting(name: str, settings: Mapping[str, Any]) -> str:
    return str(settings.get(name) or SOURCES[name].default) if name in SOURCES else ""


@lru_cache(maxsize=4)
def _opened(name: str, chosen: str, cache_folder: Path) -> Any:
    return SOURCES[name].open(chosen, cache_folder)
