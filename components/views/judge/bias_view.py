"""What sways a judge: variants of answers that deserve the same scores, and what merely goes with them."""

import streamlit as st

from components.data import agreements, run_reads, visitors
from components.viewers import blocks
from components.views.judge.agreement_tables import Span, metric_title
from components.views.judge.judge_calls import estimate_lines
from components.views.results import about_run
from components.widgets import url
from metrics.analysis import Column
from metrics.analysis.corrected_tests import of_hints
from metrics.analysis.labels.judge_bias import BiasHint
from metrics.presentation.blocks import Head, Link, table_of
from metrics.presentation.format import count, number, shorten
from metrics.presentation.questions.can_the_judge_be_trusted import checks_table, signed_estimate, swayed

MOST_CASES = 500
FOUND = "Holm-corrected over the models; effects below 1 % of the range are left out."
HINTS = (
    "Hints, no proof: at equal labels the score goes with these. Labels are coarse, so among answers with one label "
    "the longer may be the better ones, and an unbiased judge scores them higher. Variants of one answer tell."
)


def show(run: str, column: Column, criterion: str | None, tag: str | None, model: str | None) -> None:
    """Draw the checks on variants, or how to make them, and the hints that labels of a criterion allow."""
    if agreements.has_manipulations(run):
        _draw_checks(run, column)
    elif run_reads.judges_of(run):
        _draw_form(run)
    else:
        st.info("No judge scored this run, so there is none to check.")
    if criterion is not None:
        _draw_hints(run, column, criterion, tag, model)


def _draw_checks(run: str, column: Column) -> None:
    rows = agreements.manipulation_checks(run, (column.evaluator, column.metric))
    st.text(swayed(column, rows))
    if not rows:
        return
    blocks.draw_table(checks_table(column, rows), run, "judge_agreement", 320)
    st.caption("Each variant says what its original says and deserves its score. Click a row for the variants.")


def _draw_form(run: str) -> None:
    kinds = agreements.answer_variants()
    st.text("Does the judge score what should not matter? Judge variants of the same answers, and see.")
    left, right = st.columns([3, 2], gap="large")
    with left:
        chosen = [
            name
            for name, each in kinds.items()
            if st.checkbox(each.title, name in agreements.unasked_variants(), key=f"variant-{name}", help=each.says)
        ]
        cases = st.slider(
            "Cases", 20, MOST_CASES, 60, 20, key="variant-cases",
            help="Drawn at random from the run, with the answers of all its models. More cases find smaller effects.",
        )  # fmt: skip
    with right:
        if not chosen:
            st.text("Choose a variant.")
            return
        found = agreements.variants_estimate(run, tuple(chosen), cases)
        st.text("\n".join(estimate_lines(found)) if found else "No judge calls")
        if written := [kinds[name].title for name in chosen if name not in agreements.unasked_variants()]:
            st.text(f"Before it starts the judge writes these variants: {'; '.join(written)}.")
        if visitors.may("editor") and st.button(
            "Judge the variants", type="primary", icon=":material/play_arrow:", disabled=isinstance(found, str)
        ):
            with st.spinner("Making the variants"):
                started, refused = agreements.judge_variants(run, chosen, cases)
            if started:
                url.go("runs", run=started)
            st.text(f"✗ {refused}")


def _draw_hints(run: str, column: Column, criterion: str, tag: str | None, model: str | None) -> None:
    rows = agreements.bias_hints(run, criterion, (column.evaluator, column.metric), tag)
    st.subheader("What goes with the scores", anchor=False)
    if not rows:
        st.info("Too few labels of different outputs for a hint: label at least 20, of several models.")
        return
    about_run.remember_tests(run, of_hints(rows, metric_title(column, 60)))
    effects = [signed_estimate(Span(row.effect, row.low, row.high)) for row in rows]
    said = [f"goes with the score (p {number(one.adjusted)})" if one.is_biased else "nothing to see" for one in rows]
    about = {"evaluator": column.evaluator, "metric": column.metric, "tag": tag}
    table = table_of(
        "hints",
        (Head("At equal labels", width=330), list(map(_hinted, rows))),
        (Head("Effect", True, "With its 95 % interval.", 210), effects),
        (Head("", False, FOUND, 260), said),
        (Head("n", True, "", 70), [count(row.n) for row in rows]),
        links=[Link("cases", "See", about | {"model": row.about or model}) for row in rows],
    )
    blocks.draw_table(table, run, "judge_agreement", 320)
    st.caption(HINTS)


def _hinted(row: BiasHint) -> str:
    if row.kind == "length":
        return "Each doubling of the answer's words"
    own = " (the judge's own family)" if row.own else ""
    return f"Answers of {shorten(row.about, 40)}{own}, against the others"
