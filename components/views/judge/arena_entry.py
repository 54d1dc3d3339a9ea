"""Comparing two answers: by a person, blind (each preference is stored at once), by the judge, or as files say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import streamlit as st

from components.data import case_views, inspected_files, judge_settings, preferences, workspace_runs
from components.viewers import text_case
from components.views.judge import given_rows
from components.views.judge.judge_calls import estimate_lines
from components.views.judge.rating_queue import RatingQueue
from components.widgets import url
from components.widgets.frame import empty
from metrics.analysis.preferences.pairs import Pair
from metrics.presentation import format
from metrics.presentation.ranking_words import judged_lines, left_sentence

if TYPE_CHECKING:
    from components.data import GivenFile

QUEUE = RatingQueue("pairs", preferences.withdraw_preference)
HEIGHT = 360  # pixels of an answer before it scrolls
CHOICES: dict[str, tuple[float, bool, str]] = {  # text → outcome of the left answer, both bad, key
    "Left is better": (1.0, False, "Left"), "Right is better": (0.0, False, "Right"),
    "Tie": (0.5, False, "T"), "Both bad": (0.5, True, "X"),
}  # fmt: skip
LEAST, STEP = 10, 10
CASES = "Drawn at random from the run; every two models are compared on each, in both orders. More cases find smaller "
CASES += "differences."
WHO = {"people": "People", "judge": "A judge"}
EXAMPLE = "case_id,model_a,model_b,winner,rater\nc1,atlas,bolt,model_a,ann\nc2,atlas,bolt,tie (bothbad),ann"
WIDE = "case_id,pair,annotator1,annotator2\nc1,atlas_bolt,1,2\nc2,atlas_bolt,0,1"


def draw_match(run: str, rater: str, criterion: str) -> None:
    """Draw progress, the buttons and the next pair for this person; the models' names are not sent to the browser."""
    later = QUEUE.put_off
    found = preferences.pair_queue(run, criterion, rater, tuple(later))
    ranking = preferences.preferred_models(run, "people", criterion)
    left = ""
    if ranking is not None and ranking.is_comparable:
        left = f" · {left_sentence(preferences.more_matches(ranking), found.total - found.done)}"
    done = f"{format.count(found.done)} of {format.plural(found.total, 'pair')}"
    st.progress(found.done / max(1, found.total))
    st.text(f"{rater} · {criterion}: {done} compared{left}")
    if not found.next:
        st.success("You have compared every pair.")
        QUEUE.draw_back(run)
        return
    (pair,) = found.next
    bar = st.container()
    _show(run, pair)
    # drawn after the answers and keyed by how many were decided, so that a quick key press never decides a pair that is
    # not on the screen; the key names no model
    item = f"{pair.case_id}-{found.done}-{len(later)}"
    with bar, st.container(horizontal=True, gap="small", key="verdicts"):
        for text, (outcome, bad, key) in CHOICES.items():
            st.button(
                text, key=f"prefer-{text}-{item}", shortcut=key, on_click=_give,
                args=(run, pair, rater, criterion, outcome, bad),
            )  # fmt: skip
        st.button(
            "Next", key=f"prefer-skip-{item}", shortcut="N", on_click=QUEUE.skip, args=(_named(pair),),
            help="Shows this pair again later.",
        )  # fmt: skip
        QUEUE.draw_back(run)


def _show(run: str, pair: Pair) -> None:
    view = case_views.example(run, pair.case_id)
    if view is None:
        st.text("This case is no longer in the run.")
        return
    text_case.draw_asked(view.case, 160, 110)
    answers = [next((one for one in view.outputs if one["model"] == model), None) for model in (pair.left, pair.right)]
    if all(answers) and len({(one["answer"] or "").strip() for one in answers if one}) == 1:
        st.caption("Both answers are the same.")
    for column, side, own in zip(st.columns(2), ("Left", "Right"), answers, strict=True):
        with column:
            text_case.draw_text(f"{side} answer", None if own is None else own["answer"], HEIGHT, 2, "no answer")
            if own is not None:
                passages, ids = (own.get(name) or [] for name in ("retrieved_contexts", "context_ids"))
                text_case.draw_list("Retrieved contexts", passages, f"contexts-{side}", ids)


def _give(run: str, pair: Pair, rater: str, criterion: str, outcome: float, bad: bool) -> None:
    preferences.give_preference(run, pair, rater, criterion, outcome, bad)
    QUEUE.note(_named(pair), (run, pair, rater, criterion))


def _named(pair: Pair) -> tuple[str, str, str]:
    return pair.case_id, *pair.models


def draw_judging(run: str, criterion: str) -> None:
    """Draw the form, or how far the judge is."""
    state = preferences.judging_state(run)
    if state is not None and state.judged is None and not state.failure:
        st.fragment(_draw_progress, run_every=1.0)(run)
        st.button("Stop", icon=":material/stop:", on_click=preferences.stop_judging, args=(run,))
        st.caption("You can leave this page. What is decided is kept, and asking again continues from there.")
        return
    if state is not None:
        st.text(f"✗ {state.failure}" if state.judged is None else "\n".join(judged_lines(state.judged)))
        if state.judged is not None and state.judged.decided and st.button("See the ranking", type="primary"):
            url.go("leaderboard", run=run, form="matches", source="judge")
    _draw_form(run, criterion)


def _draw_form(run: str, criterion: str) -> None:
    judge = judge_settings.judge_chosen()
    if judge.settings is None:
        empty("No judge set up", "A judge can compare the answers of every two models.", "Set up a judge", "judge")
        return
    size = workspace_runs.run_facts(run).suite["cases"]
    st.text(
        f"{judge.name} compares every two models' answers to a case, in both orders, by: {criterion}. The mean of both "
        "orders counts, so that it does not matter which answer stands first."
    )
    cases = size
    if size > LEAST:
        cases = st.slider("Cases", LEAST, size, min(size, 10 * LEAST), STEP, key="preference-cases", help=CASES)
    found = preferences.preferences_estimate(run, criterion, cases)
    st.text("\n".join(estimate_lines(found)))
    if st.button("Compare the answers", type="primary", icon=":material/play_arrow:", disabled=isinstance(found, str)):
        preferences.start_judging(run, criterion, cases)
        st.rerun()


def _draw_progress(run: str) -> None:
    state = preferences.judging_state(run)
    if state is None or state.judged is not None or state.failure:
        st.rerun()
    of = f": {format.count(state.done)} of {format.plural(state.total, 'match', 'matches')}" if state.total else ""
    st.progress(state.done / max(1, state.total), text=f"Comparing{of}")


def draw_upload(run: str) -> None:
    """Draw the uploader, what the uploaded file holds, and the sets."""
    left, right = st.columns(2)
    with left:
        st.text("One preference per row: model_a, model_b, tie, tie (bothbad), or a model's name")
        st.code(EXAMPLE, language=None)
    with right:
        st.text("Or a column per rater: 1 the first model, 2 the second, 0 a tie")
        st.code(WIDE, language=None)
    given_rows.draw(run, GIVEN)
    given_rows.draw_sets(run, GIVEN)


def _choose() -> dict[str, Any]:
    by = st.segmented_control(
        "Preferred by", list(WHO), default="people", required=True, format_func=WHO.__getitem__, key="preferences-by"
    )
    a_first = st.checkbox(
        "The first model's answer was shown first (left)",
        key="preferences-a-first",
        help="Then position bias is measured. Judges' preferences count only in both orders if their order is known.",
    )
    return {"by": by, "a_first": a_first}


def _describe_file(file: GivenFile) -> str:
    cases = len(file.table["case_id"].unique())
    return f"on {format.plural(cases, 'case')}, in {', '.join(file.value_columns)}"


GIVEN = given_rows.Given(
    "preference",
    "Preferences",
    "CSV, JSONL, JSON, Parquet or Excel: case_id, model_a, model_b and winner, or a column for each rater.",
    ("case_id", "model_a", "model_b", "pair", "winner", "rater", "criterion", "note"),
    "winner",
    "compared here by",
    _choose,
    inspected_files.read_preferences,
    _describe_file,
    preferences.add_preferences,
    preferences.remove_preferences,
    preferences.preference_sets,
)
