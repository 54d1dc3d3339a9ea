"""The evaluators on offer: those that can run can be chosen, the others are listed with what they need."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import streamlit as st

from components.data.model_needs import metrics_of, parameter_schema
from components.data.rubrics import own_rubrics, rubric_parameters
from components.widgets import url
from components.widgets.column_mapping import words
from components.widgets.controls import agreed
from components.widgets.parameter_form import parameter_form, threshold_form
from metrics.presentation import format

if TYPE_CHECKING:
    from components.data import Evaluator

RESOURCES = {
    "judge": "a judge", "embedder": "an embedding model", "classifier": "a classifier model",
    "language_model": "a language model", "token_encoder": "a token encoder",
}  # fmt: skip


RUBRIC = ("rubric", "dimensions", "levels")  # parameters that the choice of a rubric fills


class Offer(NamedTuple):
    """An evaluator for the task: what it lacks in words (nothing: it can run), and the resources it asks.

    `sensible`: the data has what makes it useful by default.
    """

    entry: Evaluator
    lacks: tuple[str, ...]
    asks: tuple[str, ...]
    sensible: bool

    @property
    def id(self) -> str:
        """The evaluator's id."""
        return self.entry.id


def offers(catalogue: Mapping[str, Evaluator], task: str, present: Collection[str]) -> list[Offer]:
    """Return the evaluators for a task: those chosen by default, then the others that can run, then the rest."""
    found = [
        Offer(
            entry, tuple(
                " or ".join(map(words, entry.accepted(name))) for name in entry.lacking(present.__contains__)
            ),
            tuple(RESOURCES.get(name, name) for name in entry.needs), set(entry.default_needs).issubset(present),
        )
        for entry in catalogue.values()
        if task in entry.tasks
    ]  # fmt: skip
    return sorted(found, key=lambda offer: (bool(offer.lacks), bool(offer.asks) or not offer.sensible))


def default_choice(offered: Sequence[Offer]) -> list[str]:
    """Return the evaluators chosen by default: those that can run and need nothing but the data."""
    return [offer.id for offer in offered if offer.sensible and not offer.lacks and not offer.asks]


def draw_offers(
    offered: Sequence[Offer],
    unavailable: Callable[[str, Mapping[str, Any]], str],
    blocked: Callable[[str, Mapping[str, Any]], str],
) -> tuple[list[str], dict[str, dict[str, Any]], list[str]]:
    """Draw a checkbox per evaluator that can run, its parameters behind a button.

    Return the ids chosen, their parameters, and those of them that would be skipped. `unavailable` says why an
    evaluator with these parameters cannot have the model it needs, else ""; the reason is drawn under the evaluator.
    `blocked` says in a few words why it cannot be chosen, else "".
    """
    ready = [offer for offer in offered if not offer.lacks]
    known = {offer.id for offer in ready}
    asked = url.params("evaluator")
    parameters = _parameters()
    barred = {offer.id: blocked(offer.id, parameters.get(offer.id, {})) for offer in ready}
    chosen = [name for name in asked if name in known] if asked else default_choice(offered)
    chosen = [name for name in chosen if not barred[name]]
    given: dict[str, dict[str, Any]] = {}
    skipped = []
    for offer in ready:
        left, right = st.columns([6, 1], vertical_alignment="center")
        key = f"offer-{offer.id}"
        verb = "needs" if unavailable(offer.id, parameters.get(offer.id, {})) else "asks"
        asks = f" – {verb} {', '.join(offer.asks)}" if offer.asks else ""
        asks = f" – {barred[offer.id]}" if barred[offer.id] else asks
        left.checkbox(
            f"**{offer.entry.title}**{asks}  :gray[{offer.entry.summary}]", bool(agreed(key, offer.id in chosen)),
            key=key,
            on_change=_choose,
            args=(key, offer.id, tuple(chosen)), help=offer.entry.summary,
            disabled=bool(barred[offer.id]),
        )  # fmt: skip
        own = parameters.get(offer.id, {})
        with right.popover(str(len(own) or ""), type="tertiary", icon=":material/tune:", help="Parameters"):
            st.text(f"{offer.entry.title}: {offer.entry.summary}")
            values = parameter_form(
                parameter_schema(offer.id), f"parameter-{offer.id}", offer.entry.primary.threshold, own,
                ("thresholds", *(RUBRIC if offer.id == "rubric" else ())),
            )  # fmt: skip
            if offer.id == "rubric":
                values |= _rubric(own)
            metrics = metrics_of(offer.id, values)
            if thresholds := threshold_form(metrics, f"parameter-{offer.id}", own.get("thresholds", {})):
                values["thresholds"] = thresholds
        if values:
            given[offer.id] = values
        if offer.id in chosen and (reason := unavailable(offer.id, values)):
            skipped.append(offer.id)
            left.text(f"Will be skipped: {reason}.")
    url.put(parameters=json.dumps(given, ensure_ascii=False) if given else None)
    short = [offer for offer in offered if offer.lacks]
    if short:
        title = format.plural(len(short), "evaluator needs", "evaluators need")
        with st.expander(f"{title} columns you don't have"):
            for offer in short:
                st.text(f"{offer.entry.title}: needs {', '.join(offer.lacks)}")
    return chosen, {name: values for name, values in given.items() if name in chosen}, skipped


def _rubric(own: Mapping[str, Any]) -> dict[str, Any]:
    """Draw the choice of a rubric; return its parameters, those of a run that names one no longer saved as they are."""
    rubrics, _ = own_rubrics()
    asked = str(own.get("rubric", "")).partition(",")[0] or "usual"
    options = [*rubrics, *([] if asked in rubrics else [asked])]
    chosen = st.selectbox(
        "Rubric", options, options.index(asked), key="parameter-rubric.rubric",
        format_func=lambda id: f"{rubrics[id]['title']} · {id}" if id in rubrics else id,
        help="Its dimensions, weights and levels.",
    )  # fmt: skip
    url.link("Edit rubrics", "judge", view="rubrics", icon=":material/edit:")
    if chosen in rubrics:
        return rubric_parameters(chosen)
    return {name: own[name] for name in RUBRIC if name in own}


def _parameters() -> dict[str, dict[str, Any]]:
    try:
        found = json.loads(url.param("parameters") or "{}")
    except ValueError:
        return {}
    return (
        {name: values for name, values in found.items() if isinstance(values, dict)} if isinstance(found, dict) else {}
    )


def _choose(key: str, evaluator: str, chosen: tuple[str, ...]) -> None:
    others = [name for name in chosen if name != evaluator]
    url.put(evaluator=[*others, evaluator] if st.session_state[key] else others or "none")
