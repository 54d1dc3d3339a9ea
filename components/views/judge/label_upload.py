"""Uploading a file of people's labels: what it was understood to be, corrections, all its problems, and adding it."""

import streamlit as st

from components import data
from components.views.judge import agreement_tables
from components.widgets import column_mapping, uploads, url
from metrics.presentation import format

NAME, PAIRS = "labels", "labels_map"
KINDS = ("csv", "tsv", "jsonl", "ndjson", "json", "parquet")
FORMS = {
    "long": "a label a row, in {}", "criteria": "a column of labels for each criterion: {}",
    "raters": "a column of labels for each rater: {}",
}  # fmt: skip
CANONICAL = ("case_id", "model", "rater", "criterion", "label")


def draw(run: str) -> None:
    """The uploader, and below it what the file just uploaded holds."""
    tokens = uploads.draw_uploads(
        "Labels of people", NAME, data.upload_folder(), KINDS,
        hint="CSV, JSONL, JSON or Parquet: case_id, model, rater and label (pass, fail, unsure or a number), or a "
        "column for each criterion or rater.",
    )  # fmt: skip
    uploads.draw_refused()
    for token in tokens:
        _draw_file(run, token)


def _draw_file(run: str, token: str) -> None:
    pairs = tuple(url.params(PAIRS))
    sampling = st.segmented_control(
        "The labelled cases are", list(agreement_tables.SAMPLINGS), format_func=agreement_tables.SAMPLINGS.__getitem__, default="random",
        required=True, key="labels-sampling",
        help="A mean over picked cases says nothing of the others: such labels count for agreement alone.",
    )  # fmt: skip
    found = data.read_labels(run, token, pairs, sampling)
    if not found["ok"]:
        total = len(found["problems"])
        st.text(f"✗ {format.plural(total, 'problem')} in {found['name']}; nothing was added")
        st.dataframe(found["problems"], hide_index=True, key="label-problems")
        if pairs and st.button("Read its columns by their names again", type="tertiary"):
            url.put(**{PAIRS: None})
            st.rerun()
        return
    what = FORMS[found["form"]].format(", ".join(found["label_columns"]))
    raters = format.plural(found["raters"], "rater")
    st.text(
        f"✓ {format.plural(found['labels'], 'label')} of {format.plural(found['cases'], 'case')} by {raters}: {what}"
    )
    for note in found["notes"]:
        st.text(note)
    if found["ignored"]:
        st.text(f"Passed over: {', '.join(found['ignored'])}")
    read = (f"{name} ← {column}" if name != column else name for name, column in found["columns"].items())
    with st.expander("Columns: " + " · ".join(read)):
        column_mapping.draw_mapping(found | {"canonical": CANONICAL, "words": {"label": "label"}}, PAIRS)
    if st.button("Add these labels", type="primary", icon=":material/add:"):
        data.add_labels(run, token, pairs, sampling)
        url.put(**{NAME: None, PAIRS: None})
        st.rerun()


def draw_sets(run: str) -> None:
    """The sets of labels there are, each with a way to take it away again."""
    for one in data.label_sets(run):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            how = "labelled here by" if one["kind"] == "page" else "file"
            of = format.plural(one["raters"], "rater")
            about = f"{format.plural(one['labels'], 'label')}, {of}, for {', '.join(one['criteria'])}"
            st.text(f"{how} {one['name']} · {about} · {format.moment(one['changed'])}", width="stretch")
            key = f"remove-{one['id']}"
            if st.session_state.get(key) and st.button(
                f"Really remove {format.plural(one['labels'], 'label')}", key=f"{key}-sure", type="primary"
            ):
                data.remove_labels(run, one["id"])
                st.session_state[key] = False
                st.rerun()
            elif not st.session_state.get(key) and st.button("Remove", key=f"{key}-ask", type="tertiary"):
                st.session_state[key] = True
                st.rerun()
