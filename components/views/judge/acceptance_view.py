"""From which score on an answer can be accepted without a person, as people's labels show."""

import streamlit as st

from components.data import agreements
from components.views.judge import agreement_cell
from components.widgets import filters, url
from components.widgets.tables import draw_columns, header, numeric
from metrics.analysis import Column
from metrics.analysis.labels.acceptance import Acceptance
from metrics.core.conventions import limit
from metrics.presentation import format, guarantee_words

LIMITS = {"0.01": "1 %", "0.02": "2 %", "0.1": "10 %", "0.2": "20 %"}
ABOUT = (
    "Learn then Test (Angelopoulos et al. 2021): the labels may choose the threshold, as thresholds are tested in a "
    "fixed order. Only labels of outputs drawn at random count, and one a case: where raters differ, that of one, "
    "drawn at random; a rater who is unsure does not pass the answer. The guarantee holds for new answers like these, "
    "for each row by itself; for all models together it says nothing about a single one of them."
)
TOGETHER = "all together"
WRONG = "Of the labels that chose the threshold: accepted answers not passed."
LABELS = "Labels that choose the threshold: of outputs drawn at random, one a case."
MORE = "How many more labels it takes, or may take if the shares of wrong ones stay."


def show(run: str, criterion: str, column: Column, model: str | None, tag: str | None, passing: float | None) -> None:
    """Draw the answer in a sentence, a row a model, and the accepted answers that people fail."""
    asked = filters.one("Accepted answers wrong at most", LIMITS, "most", every="5 %")
    only = (column.evaluator, column.metric)
    rows = agreements.acceptances(run, criterion, only, tag, passing, float(asked or 0.05))
    if not rows:
        st.info("Neither end of this metric is better, so no answer can be accepted by it. Choose another metric.")
        return
    chosen = next((one for one in rows if one.model == model), rows[-1])
    st.text(guarantee_words.accept_line(chosen), help=ABOUT)
    clicked = _draw_table(rows)
    if clicked is not None and rows[clicked] is not chosen:
        url.put(model=rows[clicked].model)
        st.rerun()
    if chosen.threshold is None:
        return
    found = agreements.cell_outputs(run, criterion, only, chosen.threshold, "fail_pass", chosen.model, tag, passing)
    count = format.plural(len(found), "labelled answer")
    st.text(f"{count} would be accepted that people fail" + (": click a row to see it." if found else "."))
    if found:
        agreement_cell.outputs_table(run, column, found, "accepted")


def _draw_table(rows: list[Acceptance]) -> int | None:
    """Draw a row a model; return the one just clicked."""
    limits = [limit(one.threshold, one.column.direction) or format.MISSING for one in rows]
    accepted = [format.MISSING if one.accepted is None else format.share(one.accepted, 1) for one in rows]
    wrong = [
        format.MISSING if one.threshold is None else f"{one.wrong} of {format.count(one.answered)}" for one in rows
    ]
    columns = {
        "model": (header("Model", 200), [one.model or TOGETHER for one in rows]),
        "threshold": (numeric("Accept from", 110, "The score from which on an answer is accepted."), limits),
        "accepted": (numeric("Accepted", 90, "Share of all scored answers that are accepted."), accepted),
        "wrong": (numeric("Wrong labels", 110, WRONG), wrong),
        "n": (numeric("Labels", 80, LABELS), [format.count(one.n) for one in rows]),
        "missing": (header("Missing", 260, MORE), [guarantee_words.missing(one) for one in rows]),
    }
    return draw_columns(columns, "acceptance", tallest=330)
