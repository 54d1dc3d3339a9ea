"""Which objects of the gallery are behind a number: the filters that a link to them carries."""

from collections.abc import Mapping, Sequence

from components.data import run_reads, workspace_runs
from components.widgets.url import Value
from metrics.analysis import Column
from metrics.presentation.chart_data.metric_bars import GAIN

Filters = dict[str, Value]

ERRORS: Mapping[str, tuple[str, ...]] = {  # the kinds of matches behind an error; an empty entry sets the sums apart
    "classification": ("fp_misclassification",),
    "localisation": ("fp_localisation",),
    "both": ("fp_both",),
    "duplicate": ("fp_duplicate",),
    "background": ("fp_hallucination",),
    "missed": ("fn_no_prediction",),
    "": (),
    "false_positives": ("fp_misclassification", "fp_localisation", "fp_both", "fp_duplicate", "fp_hallucination"),
    "false_negatives": ("fn_no_prediction", "fn_misclassification", "fn_localisation"),
}
KINDS: Mapping[str, tuple[str, ...]] = {  # metric: the kinds that it is about; of others every mistake
    **{GAIN + error: kinds for error, kinds in ERRORS.items()},
    **{kind: (kind,) for kind in ("tp", "fn_misclassification", "fp_misclassification")},
    "fn_no_prediction": ("fn_no_prediction", "fn_low_score"),
    "fp_hallucination": ("fp_hallucination", "fp_duplicate", "fp_localisation"),  # Valor knows two kinds
    "confused": ("fp_misclassification",),
    "hallucinated": ("fp_hallucination",),
    "missed": ("fn",),
    **dict.fromkeys(("expected_calibration_error", "maximum_calibration_error", "brier", "log_loss"), ("fp", "tp")),
    **dict.fromkeys(("AR", "AR_1", "AR_10", "AR_100", "AR_small", "AR_medium", "AR_large"), ("fn",)),
    **dict.fromkeys(("mar", "ar", "coco_ar"), ("fn",)),
}
IOUS = ("match_iou_threshold", "iou_threshold", "pr_curve_iou_threshold")  # under which evaluators keep theirs
SIZES = ("small", "medium", "large")


def number(evaluator: str, metric: str, parameters: Mapping[str, Value]) -> Filters:
    """Return the objects of one metric of an evaluator that was run with these parameters.

    They count from the score threshold of the evaluator on, where it has one; those that a metric of KINDS counts
    without one from 0 on. Any other metric leaves the operating point (score and IoU) to the run.
    """
    size = metric.rpartition("_")[2]
    score = parameters.get("score_threshold", 0.0 if metric in KINDS else None)
    return {
        "evaluator": evaluator,
        "kind": list(KINDS.get(metric, ())),
        "size": [size] if size in SIZES else [],
        "score": score,
        "iou": None if score is None else next((parameters[name] for name in IOUS if name in parameters), None),
    }


def place(
    run: str, column: Column, model: str, tag: str | None = None, **of_cases: Value
) -> tuple[str, Mapping[str, Value]]:
    """Return the page of what is behind a model's number, gallery or cases, and what its address asks for."""
    about: Filters = {"run": run, "model": model, "tag": tag}
    if column.evaluator not in run_reads.match_evaluators(run):
        return "cases", about | {"evaluator": column.evaluator, "metric": column.metric} | of_cases
    parameters = workspace_runs.run_facts(run).evaluators[column.evaluator]
    return "gallery", about | number(column.evaluator, column.metric, parameters)


def cell(labels: Sequence[str], predicted: Sequence[str], margins: tuple[str, str], scored: bool = True) -> Filters:
    """Return the objects of a cell of a confusion matrix: those of these labels that are predicted as those.

    `scored`: of objects with scores. Segments have none, and one that overlaps its class too little has no partner.
    """
    if margins[0] in labels:
        return {"kind": ["fp_hallucination"] + ["fp_localisation"] * (not scored), "label": list(predicted)}
    if margins[1] in predicted:
        return {"kind": ["fn" if scored else "fn_no_prediction"], "label": list(labels)}
    right = set(labels) & set(predicted)
    return {
        "kind": ["tp"] * bool(right) + ["fp_misclassification"] * (len({*labels, *predicted}) > 1),
        "label": list(predicted),
        "truth": list(labels),
    }
