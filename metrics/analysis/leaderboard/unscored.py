"""Cases that a model has no score for: whether a lead survives them, and the differences that they allow.

Missing at random is not assumed: a model that fails on its hardest cases has a higher mean over the others. Bounds take
every such case at the worst or the best end of the metric's range (Manski 1990; Horowitz & Manski 2000).
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from metrics.analysis.leaderboard.case_sums import case_sums, open_scores
from metrics.analysis.leaderboard.cells import Cell, Column
from metrics.core.array_types import Bools, Floats
from metrics.core.evaluator import MISSING, NO_OUTPUT, Metric
from metrics.core.rounding import EQUAL
from metrics.core.sampling_design import SamplingDesign
from metrics.stats.float_tolerance import ratio, weighted_mean
from metrics.stats.intervals import mean_intervals
from metrics.store import Run, cache_by_run


@cache_by_run(maxsize=64)
def missing_cases(run: Run, evaluator: str, metric: str) -> Mapping[str, Bools]:
    """Return by model which of the suite's cases [n] should have a value of a metric and have none in any repeat.

    Runs of earlier versions call a case without an output not applicable.
    """
    rows = run.query(
        f"""SELECT model, position FROM scores WHERE evaluator = ? AND metric = ? GROUP BY model, position
            HAVING count(value) = 0 AND bool_or(status IN ({", ".join("?" * len(MISSING))}) OR reason = ?)""",
        [evaluator, metric, *(status.value for status in MISSING), NO_OUTPUT],
    )
    found = {model: np.zeros(run.spec.suite.cases, bool) for model in run.models}
    for model, own in rows.groupby("model")["position"]:
        found[str(model)][own.to_numpy()] = True
    return found


def overtaking(
    run: Run, columns: Sequence[Column], cells: Mapping[tuple[str, str], Cell], tag: str | None = None
) -> dict[tuple[str, str], tuple[str, ...]]:
    """Return by (model, column key) the significantly worse models that may be as good, were it not for missing cases.

    They are where the missing cases of the first count as its worst and those of the other as its best, over the cases
    that either has a score for; of numbers without bounds wherever one of the two lacks more than MAX_MISSING of its
    cases. Only primary columns of the models that are best in them.
    """
    found: dict[tuple[str, str], tuple[str, ...]] = {}
    for column in columns:
        own = {model: cells[model, column.key] for model in run.models if (model, column.key) in cells}
        best = [model for model, cell in own.items() if cell.best]
        behind = [model for model, cell in own.items() if cell.rank is not None and not cell.best]
        if not (column.primary and best and behind and any(own[model].is_partial for model in (*best, *behind))):
            continue
        values = _values_of(run, column, tag)
        for model in best:
            others = [other for other in behind if own[model].is_partial or own[other].is_partial]
            passing = tuple(other for other in others if _may_pass(run, column, values, model, other, tag))
            if passing:
                found[model, column.key] = passing
    return found


def _may_pass(run: Run, column: Column, values: Floats | None, model: str, other: str, tag: str | None) -> bool:
    """Return whether `other` may be as good as `model`, or nothing is known about that."""
    if values is None or not math.isfinite(column.high - column.low):
        return True
    design, missing = run.sampling_design(tag), missing_cases(run, column.evaluator, column.metric)
    one, two = (values[:, run.models.index(name)] for name in (model, other))
    lacks, others = (missing[name][design.inside] for name in (model, other))
    worst, best = (column.high, column.low) if column.direction == "lower" else (column.low, column.high)
    whole = np.where(np.isnan(one) & lacks & ~np.isnan(two), worst, one)
    passing = np.where(np.isnan(two) & others & ~np.isnan(one), best, two) - whole
    ahead = weighted_mean(passing, design.weights)
    return ahead <= EQUAL if column.direction == "lower" else ahead >= -EQUAL


def _values_of(run: Run, column: Column, tag: str | None) -> Floats | None:
    """Return a column's values [cases inside, models], NaN for none; None of a number of the whole data set."""
    entry = run.evaluator(column.evaluator)
    if entry is None or column.label_key is not None or run.stored("scores") is None:
        return None
    design = run.sampling_design(tag)
    with open_scores(run) as files:
        read = case_sums(files, column.evaluator, [column.metric], run.models, design.cases)
    return ratio(read.sums[0], read.counts[0])[design.inside] if read.stored[0] else None


def worst_interval(run: Run, metric: Metric, column: Column, model: str, end: float) -> tuple[float, float] | None:
    """Return the 95 % interval of a model's mean if each missing case had the value `end`; None of other numbers."""
    values = _values_of(run, column, None) if math.isfinite(end) else None
    if values is None:
        return None
    design: SamplingDesign = run.sampling_design()
    missing = missing_cases(run, column.evaluator, column.metric)[model][design.inside]
    whole = np.where(missing, end, values[:, run.models.index(model)])[:, None]
    shares = metric.binary and design.plain and bool(np.isin(whole[~np.isnan(whole)], (0.0, 1.0)).all())
    low, high, _ = mean_intervals(
        whole, design.weights, design.clusters, run.spec.seed, metric.low, metric.high, shares=shares
    )
    return None if np.isnan(low[0]) else (float(low[0]), float(high[0]))
