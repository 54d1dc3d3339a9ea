"""Models with local weights, each opened once a process: the table of where a resource comes from, and opening it."""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from metrics.core.errors import MissingResource
from metrics.models import embedder, language_model, open_classifier, token_encoder

OPENING = threading.Lock()  # where two threads ask for a model at once, one opens it and the other waits


@dataclass(frozen=True, slots=True)
class Source:
    """Where a resource comes from: the setting without a choice, how to open it, and why it could not be opened."""

    default: str
    open: Callable[[str, Path], Any]
    missing: Callable[[str], str | None]


SOURCES: Mapping[str, Source] = {
    "embedder": Source(embedder.BUNDLED, embedder.open_embedder, embedder.missing_embedder),
    "token_encoder": Source(embedder.BUNDLED, token_encoder.open_token_encoder, token_encoder.missing_token_encoder),
    "classifier": Source("", open_classifier.open_classifier, open_classifier.missing_classifier),
    "language_model": Source("", language_model.open_language_model, language_model.missing_language_model),
}


def provide(names: Sequence[str], settings: Mapping[str, Any], cache_folder: Path) -> dict[str, Any]:
    """Return the named models by name. Raises MissingResource, saying for each missing one how to get it.

    `settings` chooses the model of a resource: "bundled" (the default of embedder and token_encoder), a local folder,
    a GGUF file (language model) or a hub name. `cache_folder` keeps what models have computed.
    """
    if reasons := [reason for name in names if (reason := missing_model(name, settings))]:
        raise MissingResource("; ".join(reasons))
    with OPENING:
        return {name: _opened(name, _setting(name, settings), cache_folder) for name in names}


def missing_model(name: str, settings: Mapping[str, Any]) -> str | None:
    """Return why the named model is not available and how to get it; None where it is. Nothing is loaded."""
    setting = _setting(name, settings)
    return SOURCES[name].missing(setting) if setting else not_chosen(name)


def not_chosen(name: str) -> str:
    """Return the message for a resource that has no default and was not chosen."""
    return f"no {name.replace('_', ' ')} is chosen: set {name} to a local folder or the name of a model on the hub"


def _setting(name: str, settings: Mapping[str, Any]) -> str:
    return str(settings.get(name) or SOURCES[name].default)


@lru_cache(maxsize=4)
def _opened(name: str, setting: str, cache_folder: Path) -> Any:
    return SOURCES[name].open(setting, cache_folder)
