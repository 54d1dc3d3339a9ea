"""The evaluators on offer: those that the data can feed are chosen, the others stand beside with what they lack."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from components.widgets import url
from components.widgets.column_mapping import words
from components.widgets.controls import agreed
from components.widgets.parameter_form import parameter_form
from metrics.presentation import format

RESOURCES = {
    "judge": "a judge", "embedder": "an embedding model", "classifier": "a classifier model",
    "language_model": "a language model", "token_encoder": "a token encoder",
}  # fmt: skip


def offers(catalogue: Mapping[str, Mapping[str, Any]], task: str, present: set[str]) -> list[dict[str, Any]]:
    """Return the evaluators for a task: id, title, summary, `lacks` (in words; empty where it can run), `asks`,
    `sensible`.

    Those chosen unasked come first, then the others that can run; each part in the catalogue's order.
    """
    found = [
        {
            "id": entry["id"], "title": entry["title"], "summary": entry["summary"], "family": entry["family"],
            "lacks": [words(name) for name in entry["inputs"] if name not in present],
            "asks": [RESOURCES.get(name, name) for name in entry["resources"]],
            "sensible": present.issuperset(entry["default_needs"]),
        }
        for entry in catalogue.values()
        if task in entry["tasks"]
    ]  # fmt: skip
    return sorted(found, key=lambda offer: (bool(offer["lacks"]), bool(offer["asks"]) or not offer["sensible"]))


def default_choice(offered: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the evaluators chosen unasked: those that can run and need nothing but the data."""
    return [offer["id"] for offer in offered if offer["sensible"] and not offer["lacks"] and not offer["asks"]]


def draw_offers(
    offered: Sequence[Mapping[str, Any]],
    catalogue: Mapping[str, Mapping[str, Any]],
    unavailable: Callable[[str, Mapping[str, Any]], str],
    blocked: Callable[[str, Mapping[str, Any]], str],
) -> tuple[list[str], dict[str, dict[str, Any]], list[str]]:
    """Return a checkbox per evaluator that can run, its parameters behind a button: the ids chosen and their
    parameters.

    Third, those of them that would be skipped: `unavailable` says why an evaluator with these parameters cannot have
    the model it needs, "" where it can; the reason stands under the evaluator. `blocked` says in a few words why it
    cannot even be chosen, "" where it can.
    """
    import streamlit as st

    ready = [offer for offer in offered if not offer["lacks"]]
    known = {offer["id"] for offer in ready}
    asked = url.params("evaluator")
    parameters = _parameters()
    barred = {offer["id"]: blocked(offer["id"], parameters.get(offer["id"], {})) for offer in ready}
    chosen = [name for name in asked if name in known] if asked else default_choice(offered)
    chosen = [name for name in chosen if not barred[name]]
    given: dict[str, dict[str, Any]] = {}
    skipped = []
    for offer in ready:
        left, right = st.columns([6, 1], vertical_alignment="center")
        key = f"offer-{offer['id']}"
        verb = "needs" if unavailable(offer["id"], parameters.get(offer["id"], {})) else "asks"
        asks = f" – {verb} {', '.join(offer['asks'])}" if offer["asks"] else ""
        asks = f" – {barred[offer['id']]}" if barred[offer["id"]] else asks
        left.checkbox(
            f"**{offer['title']}**{asks}  :gray[{offer['summary']}]", bool(agreed(key, offer["id"] in chosen)), key=key,
            on_change=_choose,
            args=(key, offer["id"], tuple(chosen)), help=offer["summary"],
            disabled=bool(barred[offer["id"]]),
        )  # fmt: skip
        own = parameters.get(offer["id"], {})
        entry = catalogue[offer["id"]]
        primary = next(metric for metric in entry["metrics"] if metric["primary"])
        with right.popover(str(len(own) or ""), type="tertiary", icon=":material/tune:", help="Parameters"):
            st.text(f"{offer['title']}: {offer['summary']}")
            values = parameter_form(entry["schema"], f"parameter-{offer['id']}", primary["threshold"], own)
        if values:
            given[offer["id"]] = values
        if offer["id"] in chosen and (reason := unavailable(offer["id"], values)):
            skipped.append(offer["id"])
            left.text(f"Will be skipped: {reason}.")
    url.put(parameters=json.dumps(given, ensure_ascii=False) if given else None)
    short = [offer for offer in offered if offer["lacks"]]
    if short:
        with st.expander(f"{format.plural(len(short), 'evaluator')} that this data cannot feed"):
            for offer in short:
                st.text(f"{offer['title']}: lacks {', '.join(offer['lacks'])}")
    return chosen, {name: values for name, values in given.items() if name in chosen}, skipped


def _parameters() -> dict[str, dict[str, Any]]:
    try:
        found = json.loads(url.param("parameters") or "{}")
    except ValueError:
        return {}
    return (
        {name: values for name, values in found.items() if isinstance(values, dict)} if isinstance(found, dict) else {}
    )


def _choose(key: str, evaluator: str, chosen: tuple[str, ...]) -> None:
    import streamlit as st

    others = [name for name in chosen if name != evaluator]
    url.put(evaluator=[*others, evaluator] if st.session_state[key] else others or "none")
