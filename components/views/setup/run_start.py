"""The cards of the page Evaluate: what is missing, what the files hold, and the start with what the run will take."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import streamlit as st

from components.data import model_needs, run_estimates
from components.data.evaluation_inputs import Inputs, Understood
from components.views.judge import judge_calls
from components.widgets import url
from components.widgets.parameter_form import parameter_form
from metrics.presentation import format

CRITERIA = ("criteria", "criterion")  # parameters of g_eval, which says nothing without one
MODELS = 90  # characters of the models' names


def draw_not_ready(missing: str) -> None:
    """Draw what is missing before a run can be set up."""
    with st.container(border=True):
        st.subheader("Not ready yet", anchor=False)
        st.text(missing)
        st.button("Start", type="primary", icon=":material/play_arrow:", disabled=True, width="stretch", key="start")


def draw_understood(understood: Understood, keep: bool) -> None:
    """Draw what the files hold; `keep`: bad rows are skipped."""
    models = understood.models
    with st.container(border=True, gap="xsmall"):
        st.text(f"{understood.suite}: {format.plural(understood.cases, 'case')}, {understood.task}")
        st.text(f"{format.plural(len(models), 'model')}: {format.shorten(', '.join(models), MODELS)}")
        if keep and understood.left_out:
            st.text(f"{format.plural(understood.left_out, 'row')} skipped; the run records the count")
        if understood.missing:
            masks = understood.task == "segmentation"
            what = "all their pixels count as wrong" if masks else "those cases are not scored"
            st.text(f"{format.plural(understood.missing, 'answer')} missing: {what}")
        for note in understood.notes:
            st.text(note)


def draw_start(
    inputs: Inputs, understood: Understood, chosen: Sequence[str], skipped: Sequence[str],
    given: Mapping[str, Mapping[str, Any]], resources: Mapping[str, Any],
) -> dict[str, Any]:  # fmt: skip
    """Draw what the run will do and take, its name, and the button that starts it; return its further settings."""
    has_criterion = "g_eval" not in chosen or any(given.get("g_eval", {}).get(name) for name in CRITERIA)
    missing = (
        "Choose at least one evaluator." if not chosen
        else "Write your criterion, or untick My criterion." if not has_criterion
        else "No chosen evaluator can run: the list says what each needs." if len(skipped) == len(chosen)
        else ""
    )  # fmt: skip
    with st.container(border=True):
        summary, expected = st.container(), st.container(gap="xsmall")  # filled last: they rest on the settings below
        name = st.text_input("Name of the run", key="run_name", placeholder=understood.suite)
        scheduler = _draw_schedulers()
        with st.expander("Further settings"):
            start = run_estimates.settings_of(inputs)
            settings = parameter_form(run_estimates.settings_schema(), "setting", start=start, columns=1)
        parts, unmet = run_estimates.part_of_data(inputs, settings)
        missing = missing or unmet
        with summary:
            st.subheader("Not ready yet" if missing else "Ready to start", anchor=False)
            st.text("\n".join([*parts, f"{format.plural(len(chosen), 'evaluator')} chosen"]))
            if any(given.get(id, {}).get("allow") for id in chosen if id not in skipped):
                st.text("Runs what the models wrote, in a sandbox on the machine that computes the run")
            if skipped:
                st.text(f"{format.plural(len(skipped), 'evaluator')} will be skipped; the list says why")
        if missing:
            st.text(missing)
        begun = st.button(
            "Start", type="primary", icon=":material/play_arrow:", disabled=bool(missing), width="stretch", key="start"
        )
        if begun:
            with st.spinner("Storing the suite and the outputs"):
                run, refused = run_estimates.start(
                    inputs, tuple(chosen), given, name.strip() or None, dict(resources), scheduler, settings
                )
            if run:
                url.go("leaderboard", run=run)
            st.text(refused)
    if not missing:  # last, as it takes a while and everything else can be used meanwhile
        with expected:
            outputs = understood.cases * len(understood.models)
            _draw_estimate(inputs, tuple(chosen), given, dict(resources), settings, outputs)
    return settings


def _draw_schedulers() -> str | None:
    """Draw where the run may be computed, if there is a choice; None: on this machine."""
    if not (offered := run_estimates.schedulers()):
        return None
    chosen: str | None = st.selectbox(
        "Compute on", [None, *offered], format_func=lambda one: one or "this machine", key="scheduler",
        help="Formulas and local models go to the workers of this Dask cluster; the judge is asked from here.",
    )  # fmt: skip
    return chosen


def _draw_estimate(
    inputs: Inputs, chosen: tuple[str, ...], given: Mapping[str, Mapping[str, Any]], resources: dict[str, Any],
    settings: Mapping[str, Any], outputs: int,
) -> None:  # fmt: skip
    """Draw what the judge is asked, and what is reused of earlier runs; while that is not known, what is known."""
    asks = bool(settings.get("as_in")) or any(model_needs.uses_judge(name, given.get(name, {})) for name in chosen)
    if not asks and not run_estimates.may_reuse(outputs):
        st.text("No judge calls")
        return
    asked = partial(run_estimates.estimate, inputs, chosen, given, resources, settings)
    ready, found = asked()
    if ready:
        st.text("\n".join(judge_calls.estimate_lines(found)) if found else "No judge calls")
        if found and (short := judge_calls.budget_line(found, resources.get("judge", {}).get("budget", {}))):
            st.warning(short, icon=":material/payments:")
    else:
        st.fragment(_await_estimate, run_every=1.0)(asked, "Estimating the judge calls …" if asks else "No judge calls")


def _await_estimate(asked: Callable[[], tuple[bool, Any]], meanwhile: str) -> None:
    """Draw what is said while an estimate is under way; when it is there, draw the page again."""
    ready, _ = asked()
    if ready:
        st.rerun()
    st.text(meanwhile)
