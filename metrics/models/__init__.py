"""Models with local weights. The engine gives an evaluator those it declares, loaded once a process."""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from metrics.core.errors import MissingResource
from metrics.judge.opening import lacking as judge_lacking
from metrics.models import classifier, embedder, language_model, token_encoder

if TYPE_CHECKING:
    from metrics.core.evaluator import Evaluator, Parameters

OPENING = threading.Lock()
JUDGE = "judge"  # the resource that is no model of ours: metrics.judge opens it


@dataclass(frozen=True, slots=True)
class Source:
    """Where a resource comes from: the setting without a choice, how to open it, and why it could not be opened."""

    default: str
    open: Callable[[str, Path], Any]
    lacking: Callable[[str], str | None]


SOURCES: Mapping[str, Source] = {
    "embedder": Source(embedder.BUNDLED, embedder.open_embedder, embedder.lacking),
    "token_encoder": Source(embedder.BUNDLED, token_encoder.open_token_encoder, token_encoder.lacking),
    "classifier": Source("", classifier.open_classifier, classifier.lacking),
    "language_model": Source("", language_model.open_language_model, language_model.lacking),
}


def provide(names: Sequence[str], settings: Mapping[str, Any], cache_folder: Path) -> dict[str, Any]:
    """Return the named resources (core.evaluator.Resource) as objects, by name; MissingResource where one cannot be
    had.

    `settings` chooses the model of a resource: "bundled" (the default of embedder and token_encoder), a local folder,
    a GGUF file (language model) or a hub name. `cache_folder` keeps what models have computed.
    """
    reasons = lacking(names, settings)
    if reasons:
        raise MissingResource("; ".join(reasons.values()))
    return {name: _opened(name, _setting(name, settings), cache_folder) for name in names}


def equip(
    entry: "Evaluator", parameters: "Parameters", settings: Mapping[str, Any], cache_folder: Path
) -> dict[str, Any]:
    """Return what the evaluator is to be given with these parameters, see `provide`; MissingResource as `unavailable`
    says.

    All but the judge, which the engine gives: it is one for the whole run and knows the case it is asked about.
    """
    if reason := unavailable(entry, parameters, settings):
        raise MissingResource(reason)
    names = [name for name in parameters.used(entry.resources) if name != JUDGE]
    return provide(names, chosen(entry, parameters, settings), cache_folder)


def chosen(entry: "Evaluator", parameters: "Parameters", settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings in force for an evaluator: a parameter that is called like a resource goes before the run's."""
    own = {name: getattr(parameters, name, None) for name in entry.resources}
    return {**settings, **{name: value for name, value in own.items() if value}}


def unavailable(entry: "Evaluator", parameters: "Parameters", settings: Mapping[str, Any]) -> str | None:
    """Return why the evaluator cannot have what it needs, and how to get it; None where it can. Nothing is loaded."""
    reasons = lacking(parameters.used(entry.resources), chosen(entry, parameters, settings))
    told = []
    for name, reason in reasons.items():
        own = type(parameters).model_fields.get(name)
        tried = f", such as {own.examples[0]}" if own is not None and own.examples else ""
        told.append(f"{reason}{tried}" if reason == _unchosen(name) else reason)
    return "; ".join(told) or None


def lacking(names: Sequence[str], settings: Mapping[str, Any]) -> dict[str, str]:
    """Return which of the named resources cannot be had, each with the reason and how to get it. Nothing is loaded."""
    reasons = {}
    for name in names:
        if name == JUDGE:
            if reason := judge_lacking(settings.get(JUDGE)):
                reasons[name] = reason
        elif not _setting(name, settings):
            reasons[name] = _unchosen(name)
        elif reason := SOURCES[name].lacking(_setting(name, settings)):
            reasons[name] = reason
    return reasons


def _unchosen(name: str) -> str:
    words = name.replace("_", " ")
    if name not in SOURCES:
        return f"no {words} is chosen"
    return f"no {words} is chosen: set {name} to a local folder or the name of a model on the hub"


def _setting(name: str, settings: Mapping[str, Any]) -> str:
    return str(settings.get(name) or SOURCES[name].default) if name in SOURCES else ""


def _opened(name: str, setting: str, cache_folder: Path) -> Any:
    """Return the model, opened once: of two threads that ask at once, one waits for what the other opens."""
    with OPENING:
        return _kept(name, setting, cache_folder)


@lru_cache(maxsize=4)
def _kept(name: str, setting: str, cache_folder: Path) -> Any:
    return SOURCES[name].open(setting, cache_folder)
