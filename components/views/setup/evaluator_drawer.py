"""The parameters of one evaluator, behind the gear at its row: what differs from the defaults, and the way back."""

import json
from collections.abc import Mapping
from typing import Any

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from components.data.model_needs import metrics_of, parameter_schema, sandbox_lacks
from components.data.prompts import own_rubrics, rubric_parameters
from components.views.setup.evaluator_offers import Offer, own_parameters
from components.widgets import url
from components.widgets.parameter_form import fields, parameter_form, threshold_form, value_text
from metrics.core.evaluator import Evaluator
from metrics.presentation import format
from metrics.presentation.sources import source_markdown

RUBRIC = ("rubric", "dimensions", "levels")  # parameters that the choice of a rubric fills
ALLOW = "allow"  # the parameter that lets what a model wrote be run
LONGEST = 60  # characters of a value in the list of changes


def draw_drawer(offer: Offer, own: Mapping[str, Any]) -> None:
    """Draw the gear of an evaluator with its `own` parameters; only the open one has a form, which takes time."""
    with st.popover(
        "", key=f"drawer-{offer.id}", type="tertiary", icon=":material/settings:", on_change="rerun",
        help=f"Parameters of {offer.entry.title}",
    ) as drawer:  # fmt: skip
        if drawer.open:
            # as the address gives them back: lists for tuples
            values = json.loads(json.dumps(_draw_form(offer, own), ensure_ascii=False))
            if values != own:
                keep_parameters(offer.id, values)
                st.rerun(scope="fragment" if _is_fragment() else "app")


def changed_words(entry: Evaluator, own: Mapping[str, Any]) -> list[str]:
    """Return each parameter of an evaluator that is not the default, as `Threshold: 0.4 (default 0.75)`."""
    known = {field.name: field for field in fields(parameter_schema(entry.id))}
    lines = []
    for name, value in own.items():
        field = known.get(name)
        title, default = (field.title, field.default) if field else (name.replace("_", " "), None)
        if name == "threshold":  # empty, it is the metric's
            default = entry.primary.threshold
        lines.append(f"{title}: {_short(value)} (default {_short(default)})")
    return lines


def _draw_form(offer: Offer, own: Mapping[str, Any]) -> dict[str, Any]:
    """Draw definition, changes and form; return the values that differ from their defaults."""
    entry = offer.entry
    st.markdown(f"**{entry.title}**")
    st.text(entry.summary)
    if own:
        with st.container(border=True, gap="xsmall"):
            st.text(f"Changed from the default: {format.count(len(own))}")
            for line in changed_words(entry, own):
                st.text(line)
            st.button(
                "Reset", key=f"reset-{entry.id}", icon=":material/restart_alt:", on_click=_reset, args=(entry.id,)
            )
    # a form that is emptied has new keys: under the old ones the browser would keep what was typed
    turn = st.session_state.get(f"turn-{entry.id}", 0)
    key = f"parameter-{entry.id}" + (f"-{turn}" if turn else "")
    is_rubric = entry.id == "rubric"
    values = parameter_form(
        parameter_schema(entry.id), key, entry.primary.threshold, own, ("thresholds", *(RUBRIC if is_rubric else ()))
    )
    if is_rubric:
        values |= _rubric(own, key)
    if ALLOW in parameter_schema(entry.id)["properties"]:
        lacking = sandbox_lacks()
        st.text(
            f"Nothing can be run on this machine: {lacking}" if lacking else "The sandbox is ready on this machine."
        )
    if thresholds := threshold_form(metrics_of(entry.id, values), key, own.get("thresholds", {})):
        values["thresholds"] = thresholds
    st.caption("Sources: " + " · ".join(map(source_markdown, entry.sources)))
    return values


def _rubric(own: Mapping[str, Any], key: str) -> dict[str, Any]:
    """Draw the choice of a rubric; return its parameters, those of a run that names one no longer saved as they are."""
    rubrics, _ = own_rubrics()
    asked = str(own.get("rubric", "")).partition(",")[0] or "usual"
    options = [*rubrics, *([] if asked in rubrics else [asked])]
    chosen = st.selectbox(
        "Rubric", options, options.index(asked), key=f"{key}.rubric",
        format_func=lambda id: f"{rubrics[id]['title']} · {id}" if id in rubrics else id,
        help="Its dimensions, weights and levels.",
    )  # fmt: skip
    url.link("Edit rubrics", "criteria", view="rubrics", icon=":material/edit:")
    if chosen in rubrics:
        return rubric_parameters(chosen)
    return {name: own[name] for name in RUBRIC if name in own}


def keep_parameters(evaluator: str, values: Mapping[str, Any]) -> None:
    """Write the parameters of an evaluator to the address."""
    given = {name: own for name, own in own_parameters().items() if name != evaluator}
    if values:
        given[evaluator] = dict(values)
    url.put(parameters=json.dumps(given, ensure_ascii=False) if given else None)


def _reset(evaluator: str) -> None:
    keep_parameters(evaluator, {})
    st.session_state[f"turn-{evaluator}"] = st.session_state.get(f"turn-{evaluator}", 0) + 1


def _short(value: Any) -> str:
    return format.shorten(value_text(value), LONGEST)


def _is_fragment() -> bool:
    """Return whether only a fragment is drawn now, not the whole page."""
    context = get_script_run_ctx()
    return context is not None and bool(context.fragment_ids_this_run)
