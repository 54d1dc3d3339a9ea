"""Models with local weights, each opened once a process: the table of where a resource comes from, and opening it."""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from metrics.core.errors import MissingResource
from metrics.models import classifier, embedder, hhem, language_model, token_encoder
from metrics.models.model_files import fingerprints, local_place

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
    "classifier": Source("", hhem.open_classifier, hhem.missing_classifier),
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


def weights_of(name: str, settings: Mapping[str, Any]) -> str | None:
    """Return the sha256 of the weights of the named model; None where they are not on this machine yet.

    Nothing is loaded or fetched.
    """
    setting = _setting(name, settings)
    if setting == embedder.BUNDLED:
        return embedder.BUNDLED_WEIGHTS  # verified where it is opened
    place = None if missing_model(name, settings) else local_place(setting)
    if place is None:
        return None
    try:
        return _weights(place, max((file.stat().st_mtime_ns for file in (place, *place.rglob("*"))), default=0))
    except (MissingResource, OSError):
        return None


def inference_model(settings: Mapping[str, Any]) -> str | None:
    """Return the model of inference that is at hand: the chosen classifier if it is one, else a local copy of HHEM.

    None where there is none. Nothing is loaded or fetched.
    """
    setting = str(settings.get("classifier") or hhem.MODEL)
    place = None if hhem.missing_classifier(setting) else local_place(setting)
    try:
        config = {} if place is None else classifier.read_config(place)
    except MissingResource:
        return None
    labels = [str(label) for label in dict(config.get("id2label") or {}).values()]
    fits = hhem.is_hhem(config) or classifier.find_label(labels, *classifier.SUPPORTING) is not None
    return setting if fits else None


@lru_cache(maxsize=16)
def _weights(place: Path, changed: int) -> str:
    """Return the sha256 of the weights in a folder or file, which are read again when they `changed`."""
    del changed
    return fingerprints(place)[0]


def not_chosen(name: str) -> str:
    """Return the message for a resource that has no default and was not chosen."""
    return f"no {name.replace('_', ' ')} is chosen: set {name} to a local folder or the name of a model on the hub"


def _setting(name: str, settings: Mapping[str, Any]) -> str:
    return str(settings.get(name) or SOURCES[name].default)


@lru_cache(maxsize=4)
def _opened(name: str, setting: str, cache_folder: Path) -> Any:
    return SOURCES[name].open(setting, cache_folder)
