"""Data sets of cases in groups, or with weights, and how often intervals of their numbers hold the truth."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from metrics.core.registry import evaluators
from metrics.core.suite import CASES, OUTPUTS, PREDICTIONS, Outputs, Suite, conform
from metrics.stats.bootstrap import bootstrap_means
from metrics.stats.float_tolerance import weighted_mean

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
NUMBERS = {  # evaluator: its metrics, over all labels
    "classification": ("accuracy", "f1"), "roc_auc": ("roc_auc",), "calibration": ("expected_calibration_error",),
    "regression": ("mae", "rmse", "r2", "spearman"),
}  # fmt: skip
DESIGNS = {  # name: groups, cases of a group on average, whether cases weigh 1 or 4
    "100 cases": (100, 1, False), "100 cases, weights": (100, 1, True), "300 cases, weights": (300, 1, True),
    "20 groups": (20, 6, False), "50 groups": (50, 6, False), "50 groups, weights": (50, 6, True),
}  # fmt: skip
WHOLE = 30_000  # groups that give the true numbers
RESAMPLES = 300


def held_by_design(samples: int, designs: tuple[str, ...] = tuple(DESIGNS)) -> Iterator[tuple[str, str, float, float]]:
    """Yield design, metric, the share of intervals that hold the truth, and the share of data sets that have one."""
    for name in designs:
        groups, size, weighted = DESIGNS[name]
        truth = {
            key: value for key, (value, _, _) in numbers(np.random.default_rng(1), WHOLE, size, weighted, 0).items()
        }
        found = defaultdict[str, list[bool]](list)
        rng = np.random.default_rng(groups + size)
        for _ in range(samples):
            for key, (_, low, high) in numbers(rng, groups, size, weighted, RESAMPLES).items():
                if low is not None and high is not None:
                    found[key].append(low <= truth[key] <= high)
        for key, held in found.items():
            yield name, key, float(np.mean(held)), len(held) / samples


def numbers(
    rng: np.random.Generator, groups: int, size: int, weighted: bool, resamples: int
) -> dict[str, tuple[float, float | None, float | None]]:
    """Return value and interval of each number of one data set: NUMBERS, and the means of seconds that cases took.

    A quarter of the cases weighs 4 where some do, and is harder; groups of 1 to 11 share a third of the noise.
    """
    sizes = rng.integers(1, 2 * size, groups) if size > 1 else np.ones(groups, np.int64)
    units = np.repeat(np.arange(groups), sizes)
    n, share = len(units), 0.33 if size > 1 else 0.0
    heavy = rng.random(n) < 0.25
    weights = np.where(heavy, 4.0, 1.0) if weighted else None

    def noise() -> Floats:
        own: Floats = np.sqrt(share) * rng.normal(size=groups)[units] + np.sqrt(1 - share) * rng.normal(size=n)
        return own * np.where(heavy & weighted, 1.5, 1.0)

    positive = rng.random(n) < 0.4
    chance = 1 / (1 + np.exp(-(1.6 * (positive - 0.5) + noise())))
    truth = 10 + 3 * rng.normal(size=n)
    ids = pa.array(np.arange(n).astype(str))
    columns: dict[str, Any] = {"case_id": ids, "group": pa.array(units.astype(str))} | (
        {} if weights is None else {"weight": weights}
    )
    outputs = {"case_id": ids, "model": pa.repeat("m", n), "run": np.ones(n, np.int32)}
    made: dict[str, tuple[float, float | None, float | None]] = {}
    for task, own in (
        ("classification", {"label": np.where(positive, "yes", "no")}),
        ("regression", {"true_value": truth}),
    ):
        more = {} if task == "classification" else {"predicted_value": truth + noise()}
        suite = Suite("s", task, conform(pa.table(columns | own), CASES), labels=("no", "yes"))  # type: ignore[arg-type]
        scored = predictions(ids, chance) if task == "classification" else None
        given = Outputs(conform(pa.table(outputs | more), OUTPUTS), scored)
        for name, metrics in NUMBERS.items():
            entry = evaluators()[name]
            if (name == "regression") == (task == "regression"):
                own_parameters = entry.parameters.model_validate({"resamples": resamples})
                for row in entry(suite, given, own_parameters).aggregates:
                    if row.label is None and row.metric in metrics and row.columns.get("average") in (None, "macro"):
                        made[row.metric] = row.value, row.low, row.high
    seconds = np.exp(noise())[:, None]
    low, high = (
        bootstrap_means(seconds, weights, units if size > 1 else None, low=0.0) if resamples else ([None], [None])
    )
    made["mean of seconds"] = weighted_mean(seconds[:, 0], weights), low[0], high[0]
    return made


def predictions(ids: pa.Array, chance: Floats) -> pa.Table:
    """Return the scores of both classes of each case."""
    n = len(ids)
    rows = {
        "case_id": ids.take(pa.array(np.repeat(np.arange(n), 2))), "model": pa.repeat("m", 2 * n),
        "run": np.ones(2 * n, np.int32), "prediction_id": np.arange(2 * n), "label": pa.array(["no", "yes"] * n),
        "score": np.column_stack([1 - chance, chance]).ravel(),
    }  # fmt: skip
    return conform(pa.table(rows), PREDICTIONS)
