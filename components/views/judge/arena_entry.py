"""Comparing two answers by keyboard, blind: each preference is stored before the next pair is shown."""

import streamlit as st

from components.data import case_views, preferences
from components.viewers import text_case
from components.views.judge.rating_queue import RatingQueue
from metrics.analysis.preferences.pairs import Pair
from metrics.presentation import format
from metrics.presentation.preference_words import left_sentence

QUEUE = RatingQueue("pairs", preferences.withdraw_preference)
HEIGHT = 360  # pixels of an answer before it scrolls
CHOICES: dict[str, tuple[float, bool, str]] = {  # text → outcome of the left answer, both bad, key
    "Left is better": (1.0, False, "Left"), "Right is better": (0.0, False, "Right"),
    "Tie": (0.5, False, "T"), "Both bad": (0.5, True, "X"),
}  # fmt: skip


def draw(run: str, rater: str, criterion: str) -> None:
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
