import streamlit as st

from components.data import run_reads
from components.views.curves import class_bars, confusion_view, group_view, residual_view, score_views, threshold_views
from components.views.curves.curve_offers import offered_views
from components.widgets import controls, filters, url
from components.widgets.frame import empty, frame
from metrics.core.registry import evaluators, title_of
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
    "cutoffs": ("By rank", CHART_QUESTIONS["cutoffs"], score_views.show_cutoffs),
    "classes": ("Classes", CHART_QUESTIONS["classes"], class_bars.show_labels),
}
OF_ONE_VIEW = ("evaluator", "of", "of_class", "kind", "truth", "predicted", "error", "iou", "metric", "at", "bin")

run = frame("curves", "Where should the threshold be, and what gets confused?", unfinished=True)
found = offered_views(run)
views = {view: {name: title_of(name) for name in found[view]} for view in VIEWS if view in found}
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
if (detailed := f"{evaluator}_detailed") in evaluators() and "outcomes" not in views:
    st.caption(
        f"What goes wrong at each threshold, with examples, is computed on request: choose {title_of(detailed)} on "
        f"Evaluate, or --evaluators …,{detailed}."
    )
