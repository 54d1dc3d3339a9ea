"""How the values of a metric spread over the cases of each model: quantiles, whiskers, bins, the farthest cases."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from metrics.core.array_types import Floats
from metrics.core.registry import evaluators
from metrics.store import Run, cache_by_run

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
    far: tuple[tuple[str, float], ...]

    @property
    def box(self) -> tuple[float, float, float]:
        """Lower quartile, median, upper quartile."""
        return self.quantiles[STEPS // 4], self.quantiles[STEPS // 2], self.quantiles[3 * STEPS // 4]


@dataclass(frozen=True, slots=True)
class Distributions:
    """The models' distributions; `edges` of their common bins: edges[i] ≤ value < edges[i + 1], the last one closed."""

    edges: tuple[float, ...]
    models: tuple[Distribution, ...]


def metrics_by_case(run: Run) -> frozenset[tuple[str, str]]:
    """Return the metrics that have values per case, as (evaluator, metric)."""
    rows = run.query("SELECT DISTINCT evaluator, metric FROM scores WHERE value IS NOT NULL")
    return frozenset(rows.itertuples(index=False, name=None))


@cache_by_run(maxsize=32)
def distributions(
    run: Run, evaluator: str, metric: str, models: Sequence[str], tag: str | None = None
) -> Distributions | None:
    """Return how a metric spreads over the cases (those with a tag) of these models; None where it has no values per
    case.

    Models without a value are left out. The bins divide the metric's range, or where that is open the values'.
    """
    values = {model: own for model in models if len(own := _values(run, evaluator, metric, model, tag))}
    if not values:
        return None
    declared = evaluators()[evaluator].metric(metric)
    low, high = declared.low, declared.high
    if not math.isfinite(high - low):
        low, high = (float(pick([pick(own) for own in values.values()])) for pick in (np.min, np.max))
    edges = edges_of(low, high)
    found = tuple(_distribution(run, evaluator, metric, model, tag, own, edges) for model, own in values.items())
    return Distributions(edges, found)


def edges_of(low: float, high: float) -> tuple[float, ...]:
    """Return the edges of BINS equal bins, with no more digits than an address keeps of a number."""
    high = high if high > low else low + 1.0
    return tuple(float(f"{edge:.6g}") for edge in np.linspace(low, high, BINS + 1))


def _values(run: Run, evaluator: str, metric: str, model: str, tag: str | None) -> Floats:
    condition, arguments = _of_model(evaluator, metric, model, tag)
    found: Floats = run.query(f"SELECT value FROM scores WHERE {condition}", arguments)["value"].to_numpy(dtype=float)
    return found


def _of_model(evaluator: str, metric: str, model: str, tag: str | None) -> tuple[str, list[str]]:
    condition = "evaluator = ? AND metric = ? AND model = ? AND value IS NOT NULL"
    arguments = [evaluator, metric, model]
    if tag is not None:
        condition += " AND case_id IN (SELECT case_id FROM suite_cases WHERE list_contains(tags, ?))"
        arguments.append(tag)
    return condition, arguments


def _distribution(
    run: Run, evaluator: str, metric: str, model: str, tag: str | None, values: Floats, edges: tuple[float, ...]
) -> Distribution:
    quantiles = np.quantile(values, np.linspace(0, 1, STEPS + 1))
    lower, median, upper = (quantiles[STEPS * part // 4] for part in (1, 2, 3))
    reach = REACH * (upper - lower)
    inside = values[(values >= lower - reach) & (values <= upper + reach)]
    ends = float(inside.min()), float(inside.max())
    places = np.searchsorted(edges[1:-1], values, side="right")
    beyond = int(((values < ends[0]) | (values > ends[1])).sum())
    far: tuple[tuple[str, float], ...] = ()
    if beyond:
        condition, arguments = _of_model(evaluator, metric, model, tag)
        rows = run.query(
            f"""SELECT case_id, value FROM scores WHERE {condition} AND (value < ? OR value > ?)
                ORDER BY abs(value - ?) DESC, position, run LIMIT {FAR}""",
            [*arguments, *ends, float(median)],
        )
        far = tuple(zip(rows["case_id"].astype(str), rows["value"].astype(float), strict=True))
    return Distribution(
        model, len(values), float(values.mean()), tuple(map(float, quantiles)), *ends,
        tuple(np.bincount(places, minlength=BINS).tolist()), beyond, far,
    )  # fmt: skip
