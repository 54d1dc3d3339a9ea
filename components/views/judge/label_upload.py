"""Uploading files of human labels, and the sets of labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import streamlit as st

from components.data import agreements, inspected_files, visitors
from components.views.judge import agreement_tables, given_rows
from components.widgets import url
from metrics.presentation import format

if TYPE_CHECKING:
    from components.data import GivenFile


FORMS = {
    "long": "one label per row, in {}", "criteria": "a label column per criterion: {}",
    "raters": "a label column per rater: {}",
}  # fmt: skip
DEMO = (
    "Each question of the sample has a condition on the words of a right answer. The demo takes whether an answer "
    "meets it as a label of its correctness: no person has read the answers. Remove the labels under Labels."
)


def teach(run: str) -> None:
    """Draw how to label outputs or upload labels."""
    with st.container(border=True):
        st.subheader("No labels yet", anchor=False)
        st.text(
            "Trust a judge as far as it agrees with people. Label some outputs here, one at a time and without seeing"
            " the judge's verdict, or upload your own labels. 50 labels show whether it agrees at all; 200 are enough"
            " to correct its means."
        )
        if not visitors.may("editor"):
            st.text("That takes the role editor. Ask who runs this studio.")
            return
        with st.container(horizontal=True):
            if st.button("Label outputs", type="primary", icon=":material/rate_review:"):
                url.go("label", run=run)
            demo = agreements.label_demo()
            if demo and st.button("Try it on the judged sample", icon=":material/play_circle:", help=DEMO):
                agreements.start_label_demo(demo)
                url.go("judge_agreement", run=demo)
    left, right = st.columns(2)
    with left:
        st.text("One label per row: pass, fail, unsure or a number")
        st.code(agreement_tables.LONG_EXAMPLE, language=None)
    with right:
        st.text("Or a column per criterion (or per rater: annotator1, annotator2 …)")
        st.code(agreement_tables.WIDE_EXAMPLE, language=None)
    draw(run)


def draw(run: str) -> None:
    """Draw the uploader, and below it what the uploaded file holds."""
    if visitors.may("editor"):
        given_rows.draw(run, GIVEN)


def draw_sets(run: str) -> None:
    """Draw the sets of labels, each with a button to remove it."""
    given_rows.draw_sets(run, GIVEN)


def _choose() -> dict[str, Any]:
    sampling = st.segmented_control(
        "The labelled cases are", list(agreement_tables.SAMPLINGS), default="unknown", required=True,
        format_func=agreement_tables.SAMPLINGS.__getitem__, key="labels-sampling",
        help="Only a random sample speaks for the other outputs. Labels of picked cases, or of cases nobody knows how "
        "they were chosen, count for themselves and for choosing thresholds.",
    )  # fmt: skip
    return {"sampling": sampling}


def _describe_file(file: GivenFile) -> str:
    what = FORMS[file.form].format(", ".join(file.value_columns))
    cases, raters = (len(file.table[name].unique()) for name in ("case_id", "rater"))
    return f"of {format.plural(cases, 'case')} by {format.plural(raters, 'rater')}: {what}"


GIVEN = given_rows.Given(
    "label", "Human labels",
    "CSV, JSONL, JSON, Parquet or Excel: case_id, model, rater and label (pass, fail, unsure or a number), or "
    "a column for each criterion or rater.",
    ("case_id", "model", "rater", "criterion", "label"), "label", "labelled here by",
    _choose, inspected_files.read_labels, _describe_file,
    agreements.add_labels, agreements.remove_labels, agreements.label_sets,
)  # fmt: skip
