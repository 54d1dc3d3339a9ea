"""The report's table of what sways the judge: its scores of variants of the same answers."""

from metrics.analysis import judged_evaluators
from metrics.analysis.labels.labelled_scores import metric_columns
from metrics.analysis.labels.manipulations import has_manipulations, manipulation_checks
from metrics.presentation.bias_words import conclusion, effect_text, verdict_text
from metrics.presentation.phrases import metric_title
from metrics.reports.report import Table
from metrics.store import Run

METHOD = (
    "Variants say what their originals say, so that they deserve the same score. A judge is swayed where the mean "
    "difference is significant (paired by case, Holm-corrected) and at least 1 % of the metric's range."
)


def bias_part(run: Run) -> tuple[tuple[Table, ...], tuple[str, ...]]:
    """Return the table of the checks of each judged metric, and what they found in sentences; nothing without any."""
    if not has_manipulations(run):
        return (), ()
    judged = judged_evaluators(run)
    columns = [one for one in metric_columns(run).values() if one.primary and one.evaluator in judged]
    found = [(one, manipulation_checks(run, (one.evaluator, one.metric))) for one in columns]
    rows = tuple(
        (metric_title(one), row.title, effect_text(row), verdict_text(row), f"{row.cases:,}")
        for one, checks in found
        for row in checks
    )
    if not rows:
        return (), ()
    heads = ("Metric", "Should not matter", "Variant − original", "", "Cases")
    sentences = tuple(f"{metric_title(one)}: {conclusion(checks)}" for one, checks in found if checks)
    return (Table("What sways the judge", heads, rows, (2, 4)),), (*sentences, METHOD)
