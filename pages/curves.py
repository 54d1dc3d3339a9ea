import streamlit as st

from components.data import run_reads
from components.views.curves import (
    class_bars,
    confusion_view,
    cutoff_views,
    group_view,
    residual_view,
    score_views,
    threshold_views,
)
from components.widgets import controls, filters, url
from components.widgets.frame import empty, frame
from metrics.core.registry import title_of
from metrics.presentation.chart_data import cutoff_points
from metrics.presentation.phrases import CHART_QUESTIONS

VIEWS = {  # name: title, the question it answers, what draws it
    "thresholds": (
        "Threshold",
        "What do I gain and lose as the score threshold moves?",
        threshold_views.show_thresholds,
    ),
    "f1": ("F1", "Which score threshold is best, and by how much?", threshold_views.show_f1),
    "outcomes": ("Outcomes", "What goes wrong at each score threshold, and where?", threshold_views.show_outcomes),
    "ranks": ("Precision–recall", "How precise is each model at each recall?", score_views.show_ranks),
    "roc": ("ROC", "How well do the scores of a class separate it from the others?", score_views.show_roc),
    "risk": ("Risk and coverage", CHART_QUESTIONS["risk"], score_views.show_risk),
    "calibration": ("Calibration", CHART_QUESTIONS["calibration"], score_views.show_reliability),
    "confusion": ("Confusion", CHART_QUESTIONS["confusion"], confusion_view.show_confusion),
    "residuals": ("Residuals", CHART_QUESTIONS["residuals"], residual_view.show_residuals),
    "groups": ("Groups", CHART_QUESTIONS["groups"], group_view.show_groups),
    "errors": ("Error costs", CHART_QUESTIONS["errors"], class_bars.show_breakdown),
    "cutoffs": ("By rank", CHART_QUESTIONS["cutoffs"], cutoff_views.show_cutoffs),
    "classes": ("Classes", CHART_QUESTIONS["classes"], class_bars.show_labels),
}
SIGNS: dict[str, tuple[set[str], set[str]]] = {  # view: columns that its curves have, columns that they do not have
    "thresholds": ({"threshold", "tp", "fp", "fn", "precision", "recall"}, set()),
    "f1": ({"threshold", "f1", "tp", "fp", "fn"}, set()),
    "outcomes": ({"label", "threshold", "kind", "count", "examples"}, set()),
    "ranks": ({"label", "recall", "precision"}, {"threshold"}),
    "roc": ({"label", "fpr", "tpr"}, set()),
    "risk": ({"threshold", "coverage", "risk", "answered"}, set()),
    "calibration": ({"bin_low", "bin_high", "mean_confidence", "accuracy"}, set()),
    "confusion": ({"label", "predicted", "count"}, set()),
    "residuals": ({"case_id", "truth", "predicted"}, set()),
    "groups": ({"rate", "group", "other", "adjusted_p"}, set()),
}
OF_ONE_VIEW = ("evaluator", "of", "of_class", "kind", "truth", "predicted", "error", "iou", "metric", "at", "bin")


def offered(run: str) -> dict[str, dict[str, str]]:
    """Return the views available for a run, each with the evaluators that have it: id → title."""
    columns = run_reads.curve_columns(run)
    views = {
        view: [name for name, own in columns.items() if has <= set(own) and not lacks & set(own)]
        for view, (has, lacks) in SIGNS.items()
    }
    numbers = run_reads.label_metrics(run)
    shown = run_reads.leaderboard(run).columns
    by_evaluator = {
        one.evaluator: [other.metric for other in shown if other.evaluator == one.evaluator] for one in shown
    }
    views["cutoffs"] = [name for name, metrics in by_evaluator.items() if cutoff_points.measures(metrics)]
    views["errors"] = [name for name in numbers if name == "error_breakdown"]
    views["classes"] = [name for name in numbers if name not in ("error_breakdown", *views["groups"])]
    return {view: {name: title_of(name) for name in views[view]} for view in VIEWS if views[view]}


run = frame("Curves", "Where should the threshold be, and what gets confused?", unfinished=True)
views = offered(run)
if not views:
    empty(
        "This run has no curves",
        "Curves come from classification, detection, regression and rankings: precision over recall, confusion, "
        "residuals, recall and nDCG by rank. Other text evaluators give a number per case instead.",
        "See the cases",
        "cases",
        run=run,
    )
    st.stop()
asked = url.param("evaluator")
if url.param("view") not in views:  # a link may name the evaluator alone
    named = next((view for view in views if asked in views[view]), None)
    url.put(view=named if named != next(iter(views)) else None)
view = controls.choice("View", {name: VIEWS[name][0] for name in views}, "view", clears=OF_ONE_VIEW)
_, question, show = VIEWS[view]
st.caption(question)
of = views[view]
if keys := run_reads.leaderboard(run).label_keys:
    filters.pick("Label key", keys, "label_key")
evaluator = filters.pick("Evaluator", of, "evaluator") if len(of) > 1 else next(iter(of))
show(run, evaluator)
