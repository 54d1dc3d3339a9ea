"""On how many cases b is at most a margin worse than a."""

from collections.abc import Mapping

from metrics.analysis.comparison.case_values import case_values
from metrics.analysis.comparison.shared_cases import paired_designs
from metrics.analysis.leaderboard.leaderboard import leaderboard
from metrics.stats.paired_intervals import CaseShare, share_within
from metrics.store import Run


def shares_within(
    run: Run, model_a: str, model_b: str, margins: Mapping[str, float], tag: str | None = None, other: Run | None = None
) -> dict[str, CaseShare]:
    """Return the share of cases on which b is at most a margin worse than a: `margins` by column key, 0 or more.

    Of the cases for which both have a value. It says how often b falls short case by case, which a mean within its
    margin does not: half of the cases may be worse and the other half better. Metrics of the whole data set, and those
    without a better end, are left out. `other` is the run that b is taken from, where that is not `run`.
    """
    of_a, of_b = paired_designs(run, other or run, tag)
    columns = {
        column.key: column
        for column in leaderboard(run, tag).columns
        if column.key in margins and column.direction != "none" and column.label_key is None
    }
    keys = [(column.evaluator, column.metric) for column in columns.values()]
    a, b = case_values(run, model_a, of_a, keys), case_values(other or run, model_b, of_b, keys)
    found = {}
    for (key, column), name in zip(columns.items(), keys, strict=True):
        if name not in a or name not in b:
            continue
        both = a[name].present & b[name].present
        apart = b[name].minus(a[name])[both]
        better = -apart if column.direction == "lower" else apart
        share = share_within(better, margins[key], *of_b.of_part(both))
        if share is not None:
            found[key] = share
    return found
