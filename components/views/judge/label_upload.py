"""Uploading a file of human labels: how it was read, corrections, all its problems, and adding it."""

from functools import partial

import streamlit as st

from components import data
from components.views.judge import agreement_tables
from components.widgets import column_mapping, problem_list, uploads, url
from components.widgets.remove_button import remove_button
from metrics.presentation import format

NAME, PAIRS = "labels", "labels_map"
KINDS = tuple(kind for kind in data.TABLES if kind not in data.ARCHIVES)
FORMS = {
    "long": "one label per row, in {}", "criteria": "a label column per criterion: {}",
    "raters": "a label column per rater: {}",
}  # fmt: skip
CANONICAL = ("case_id", "model", "rater", "criterion", "label")
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
        if not data.may("editor"):
            st.text("That takes the role editor. Ask who runs this studio.")
            return
        with st.container(horizontal=True):
            if st.button("Label outputs", type="primary", icon=":material/rate_review:"):
                url.go("label", run=run)
            demo = data.label_demo()
            if demo and st.button("Try it on the judged sample", icon=":material/play_circle:", help=DEMO):
                data.start_label_demo(demo)
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
    if not data.may("editor"):
        return
    tokens = uploads.draw_uploads(
        "Human labels", NAME, KINDS,
        hint="CSV, JSONL, JSON, Parquet or Excel: case_id, model, rater and label (pass, fail, unsure or a number), or "
        "a column for each criterion or rater.",
    )  # fmt: skip
    uploads.draw_refused()
    for token in tokens:
        _draw_file(run, token)


def _draw_file(run: str, token: str) -> None:
    pairs = tuple(url.params(PAIRS))
    sampling = st.segmented_control(
        "The labelled cases are", list(agreement_tables.SAMPLINGS), default="unknown", required=True,
        format_func=agreement_tables.SAMPLINGS.__getitem__, key="labels-sampling",
        help="Only a random sample speaks for the other outputs. Labels of picked cases, or of cases nobody knows how "
        "they were chosen, count for themselves and for choosing thresholds.",
    )  # fmt: skip
    readings = tuple(url.params("read"))
    column_mapping.draw_reading(data.inspect(token, "outputs", readings=readings))
    found = data.read_labels(run, token, pairs, sampling, readings)
    if found.file is None:
        st.text(f"✗ {problem_list.words(found.problems)} in {found.name}; nothing was added")
        problem_list.draw_problems(found.problems, "labels")
        if pairs and st.button("Reset the columns", type="tertiary", help="Reads the columns by their names again."):
            url.put(**{PAIRS: None})
            st.rerun()
        return
    file = found.file
    what = FORMS[file.form].format(", ".join(file.label_columns))
    cases, raters = (len(file.table[name].unique()) for name in ("case_id", "rater"))
    st.text(
        f"✓ {format.plural(len(file.table), 'label')} of {format.plural(cases, 'case')} by "
        f"{format.plural(raters, 'rater')}: {what}"
    )
    for note in file.notes:
        st.text(note)
    if file.ignored:
        st.text(f"Ignored: {', '.join(file.ignored)}")
    read = (f"{name} ← {column}" if name != column else name for name, column in file.columns.items())
    with st.expander("Columns: " + " · ".join(read)):
        column_mapping.draw_mapping(file.columns, CANONICAL, file.file_columns, PAIRS, {"label": "label"})
    if st.button("Add these labels", type="primary", icon=":material/add:"):
        data.add_labels(run, file.table, file.file)
        url.put(**{NAME: None, PAIRS: None})
        st.rerun()


def draw_sets(run: str) -> None:
    """Draw the sets of labels, each with a button to remove it."""
    may_remove = data.may("editor")
    for one in data.label_sets(run):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            how = "labelled here by" if one.kind == "page" else "file"
            of = format.plural(one.raters, "rater")
            about = f"{format.plural(one.labels, 'label')}, {of}, for {', '.join(one.criteria)}"
            st.text(f"{how} {one.name} · {about} · {format.moment(one.changed)}", width="stretch")
            if may_remove:
                remove = partial(data.remove_labels, run, one.id)
                remove_button(f"remove-{one.id}", format.plural(one.labels, "label"), remove)
