"""What sways a judge, in words: the same on the page, in the report and in the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from metrics.presentation.format import number, plural
from metrics.presentation.phrases import with_interval

if TYPE_CHECKING:
    from metrics.analysis.labels.manipulations import Check
    from metrics.store import Run

VERDICTS = {"swayed": "✗ swayed", "steady": "✓ steady", "constant": "all scores are equal"}


def effect_text(row: Check) -> str:
    """Return the effect of a check with its sign and interval."""
    sign = "+" if row.effect is not None and row.effect > 0 else ""
    return sign + with_interval(row.effect, row.low, row.high)


def verdict_text(row: Check) -> str:
    """Return the verdict of a check in words, with what is wanting where there is none."""
    if row.verdict == "few":
        return f"too few to say: {plural(row.more, 'case')} more"
    if row.verdict == "none":
        return f"no effect found, at most {number(max(abs(row.low or 0.0), abs(row.high or 0.0)))}"
    return VERDICTS[row.verdict]


def conclusion(checks: Sequence[Check]) -> str:
    """Return in one sentence what the checks of a metric found."""
    if not checks:
        return "No variant of an answer was judged, so it is unknown what sways the judge."
    if any(row.verdict == "constant" for row in checks):
        return "The judge gave every output the same score: that shows nothing about what sways it."
    swayed = [row.title for row in checks if row.verdict == "swayed"]
    if swayed:
        return f"The judge is swayed by what should not matter: {'; '.join(swayed)}."
    if all(row.verdict == "steady" for row in checks):
        return f"Nothing that was tried sways the judge by more than {number(checks[0].tolerance)}."
    return "Nothing is found to sway the judge; effects as large as the intervals reach cannot be excluded."


def check_lines(run: Run) -> list[str]:
    """Return the checks of a run's judged primary metrics, a line each."""
    from metrics.analysis.labels.judgements import judged_evaluators
    from metrics.analysis.labels.labelled_scores import metric_columns
    from metrics.analysis.labels.manipulations import manipulation_checks

    judged, lines = judged_evaluators(run), list[str]()
    for only, column in metric_columns(run).items():
        if column.primary and column.evaluator in judged:
            checks = manipulation_checks(run, only)
            lines.append(f"{column.evaluator_title}: {conclusion(checks)}")
            lines += [f"  {row.title}: {effect_text(row)}, {verdict_text(row)} (n {row.n:,})" for row in checks]
    return lines
