from collections.abc import Sequence

import streamlit as st

from components.data import agreements, run_reads, workspace_runs
from components.views.judge import agreement_tables, label_entry, rating_queue
from components.widgets import filters, url
from components.widgets.frame import editors_only, empty, frame
from metrics.analysis import Column
from metrics.core.registry import evaluators

MODES = {"mixed": "Mixed", "weighted": "Where a label narrows the mean most", "drawn": "Drawn at random only"}
VISION = ("detection", "segmentation")
WHO = (
    "Your labels are stored under your name, so that several people can label the same outputs. "
    "You see neither the judge's verdict nor other people's labels."
)


def choose(run: str, metrics: Sequence[Column]) -> tuple[str, str, str | None, tuple[str, str] | None, bool]:
    """Return criterion, scale, model, the metric whose doubtful scores come more often, and whether to mix."""
    known = {one.name: one for one in agreements.label_criteria(run)}
    names = [name for name in (*known, *label_entry.offered(metrics, run_reads.judges_of(run))) if name]
    asked = filters.pick("Criterion", names, "criterion")
    criterion = filters.text("Another criterion", "own").strip() or asked
    scale = filters.pick("Labels", label_entry.SCALES, "scale")
    if criterion in known:  # the scale of the labels there are
        scale = label_entry.scale_of(known[criterion])
    models = workspace_runs.run_facts(run).models
    model = filters.one("Model", models, "model") if len(models) > 1 else None
    mode = filters.pick("Which outputs", MODES, "mode")
    by_key = {column.key: column for column in metrics}
    titles = {key: agreement_tables.metric_title(column) for key, column in by_key.items()}
    asks = mode != "drawn" and bool(metrics)
    key = filters.pick("More often where this score leaves doubt", titles, "key") if asks else None
    only = (by_key[key].evaluator, by_key[key].metric) if key else None
    if descriptions := [column.description for column in metrics if column.metric == criterion]:
        st.caption(f"{criterion}: {descriptions[0]}")
    return criterion, scale, model, only, mode == "mixed"


run = frame("label", "How do people judge these outputs?", of_boards=False)
metrics = agreements.labelled_metrics(run)
if workspace_runs.run_facts(run).suite["task"] in VISION:
    why = "Objects and areas in images have ground truth instead of a judge. Choose a run of texts in the sidebar."
    empty("Labels are for texts", why, "See the runs", "runs")
    st.stop()
editors_only("label outputs")
rater = rating_queue.rater(WHO)
if rater is None:
    st.stop()
criterion, scale, model, only, mixed = choose(run, metrics)
catalogue = evaluators()
reads_contexts = any(
    "retrieved_contexts" in catalogue[column.evaluator].inputs
    for column in metrics
    if column.metric == criterion and column.evaluator in catalogue
)
label_entry.draw(run, rater, criterion[: rating_queue.LONGEST], scale, model, only, mixed, reads_contexts)
if st.button("See the agreement", icon=":material/arrow_forward:"):
    url.go("judge_agreement", run=run, criterion=criterion)
