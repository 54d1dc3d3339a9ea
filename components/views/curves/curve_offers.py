"""Which views of the page Curves a run has, read from the columns of its curves; nothing is drawn here."""

from collections.abc import Mapping, Sequence

from components.data import run_reads
from metrics.presentation.chart_data import curve_points

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


def offered_views(run: str) -> Mapping[str, Sequence[str]]:
    """Return the views that a run has, each with the ids of the evaluators that have it."""
    columns = run_reads.curve_columns(run)
    views = {
        view: [name for name, own in columns.items() if has <= set(own) and not lacks & set(own)]
        for view, (has, lacks) in SIGNS.items()
    }
    numbers = run_reads.label_metrics(run)
    shown = run_reads.leaderboard(run).columns
    by_evaluator = {one.evaluator: [each.metric for each in shown if each.evaluator == one.evaluator] for one in shown}
    views["cutoffs"] = [name for name, metrics in by_evaluator.items() if curve_points.measures(metrics)]
    views["errors"] = [name for name in numbers if name == "error_breakdown"]
    views["classes"] = [name for name in numbers if name not in ("error_breakdown", *views["groups"])]
    return {view: names for view, names in views.items() if names}
