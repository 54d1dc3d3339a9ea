"""How the values of a metric spread over the cases of each model: quantiles, whiskers, bins, the farthest cases."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from metrics.core.array_types import Floats
from metrics.store import Run, keep_by_run

BINS = 20
STEPS = 100  # of the quantiles
FAR = 20  # cases beyond the whiskers that are named
REACH = 1.5  # interquartile ranges that a whisker reaches at most (Tukey 1977)


@dataclass(frozen=True, slots=True)
class Distribution:
    """The `n` values of one model, each repeat of a case its own.

    quantiles: the 0 %, 1 % … 100 % points; whisker_low and whisker_high: the farthest values within REACH interquartile
    ranges of the quartiles; bins: how many values lie in each of the bins; beyond: how many lie beyond the whiskers,
    far: the farthest of them as (case, value).
    """

    model: str
    n: int
    mean: float
    quantiles: tuple[float, ...]
    whisker_low: float
    whisker_high: float
    bins: tuple[int, ...]
    beyond: int
    far: tuple[tuple[str, float], ...] = ()

    @property
    def box(self) -> tuple[float, float, float]:
        """Lower quartile, median, upper quartile."""
        return self.quantiles[STEPS // 4], self.quantiles[STEPS // 2], self.quantiles[3 * STEPS // 4]


@dataclass(frozen=True, slots=True)
class Distributions:
    """The models' distributions; `edges` of their common bins: edges[i] ≤ value < edges[i + 1], the last one closed."""

    edges: tuple[float, ...]
    models: tuple[Distribution, ...]


@keep_by_run(maxsize=32)
def metrics_by_case(run: Run) -> frozenset[tuple[str, str]]:
    """Return the metrics that have values per case, as (evaluator, metric).

    Of an evaluator of single cases the aggregates tell; only those of whole data sets are looked up among the scores.
    """
    known = {name: entry.shape for name in run.evaluators if (entry := run.evaluator(name)) is not None}
    others = [name for name in run.evaluators if known.get(name, "dataset") == "dataset"]
    rows = run.query(
        """SELECT evaluator, metric FROM aggregates WHERE n > 0 AND NOT list_contains($1, evaluator)
           UNION SELECT evaluator, metric FROM scores WHERE value IS NOT NULL AND evaluator IN (SELECT unnest($1))""",
        [others],
    )
    return frozenset(rows.itertuples(index=False, name=None))


@keep_by_run(maxsize=32)
def distributions(
    run: Run, evaluator: str, metric: str, models: Sequence[str], tag: str | None = None
) -> Distributions | None:
    """Return how a metric spreads over all cases, or those with a tag; None where it has no values per case.

    Models without a value are left out. The bins divide the metric's range, or where that is open the values'.
    """
    tagged = "" if tag is None else "AND case_id IN (SELECT case_id FROM suite_cases WHERE list_contains(tags, ?))"
    source = f"FROM scores WHERE evaluator = ? AND metric = ? AND value IS NOT NULL {tagged} AND model = ?"
    arguments = [evaluator, metric, *([] if tag is None else [tag])]
    every = {model: run.query(f"SELECT value {source}", [*arguments, model])["value"] for model in models}
    values = {model: own.to_numpy(dtype=float) for model, own in every.items() if len(own)}
    declared = run.metric(evaluator, metric)
    if not values or declared is None:
        return None
    low, high = declared.low, declared.high
    if not math.isfinite(high - low):
        low, high = (float(pick([pick(own) for own in values.values()])) for pick in (np.min, np.max))
    edges = edges_of(low, high)
    found = []
    for model, own in values.items():
        one = distribution(model, own, edges)
        if one.beyond:
            rows = run.query(
                f"""SELECT case_id, value {source} AND (value < ? OR value > ?)
                    ORDER BY abs(value - ?) DESC, position, run LIMIT {FAR}""",
                [*arguments, model, one.whisker_low, one.whisker_high, one.box[1]],
            )
            one = replace(one, far=tuple(zip(rows["case_id"].astype(str), rows["value"].astype(float), strict=True)))
        found.append(one)
    return Distributions(edges, tuple(found))


def edges_of(low: float, high: float) -> tuple[float, ...]:
    """Return the edges of BINS equal bins, with no more digits than an address keeps of a number."""
    high = high if high > low else low + 1.0
    return tuple(float(f"{edge:.6g}") for edge in np.linspace(low, high, BINS + 1))


def distribution(model: str, values: Floats, edges: tuple[float, ...]) -> Distribution:
    """Return the distribution of some values, at least one, without the farthest cases."""
    quantiles = np.quantile(values, np.linspace(0, 1, STEPS + 1)).tolist()
    lower, upper = quantiles[STEPS // 4], quantiles[3 * STEPS // 4]
    reach = REACH * (upper - lower)
    inside = values[(values >= lower - reach) & (values <= upper + reach)]
    places = np.searchsorted(edges[1:-1], values, side="right")
    n, counts, whiskers = len(values), np.bincount(places, minlength=BINS).tolist(), (inside.min(), inside.max())
    low, high = map(float, whiskers)
    return Distribution(model, n, float(values.mean()), tuple(quantiles), low, high, tuple(counts), n - len(inside))
