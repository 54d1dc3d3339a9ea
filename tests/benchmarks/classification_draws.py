"""Two equally good, correlated classifiers of two classes, for what bench_coverage measures of classification."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from metrics.core.evaluator import Aggregate
from metrics.core.registry import evaluators
from metrics.core.suite import CASES, OUTPUTS, PREDICTIONS, Outputs, Suite, conform
from metrics.stats.classification.calibration import calibration_errors, reliability
from metrics.stats.corrections import LEVEL
from metrics.stats.paired_tests import resample_tests

Floats = NDArray[np.float64]
SHARES = {"balanced": 0.5, "5 % positives": 0.05}
SHARPNESS = {"calibrated": 1.0, "overconfident": 1.6}  # factor of the log-odds
APART = 1.6  # standard deviations between the classes' scores
ALIKE = 0.7  # correlation of the two models within a class
NUMBERS = {
    "classification": "f1", "roc_auc": "roc_auc", "classification_pr_curve": "best_f1",
    "calibration": "expected_calibration_error",
}  # fmt: skip
ECE = NUMBERS["calibration"]
WHOLE = 200_000  # cases that give the true numbers


def classification(
    sizes: tuple[int, ...] = (30, 100, 1_000), data_sets: int = 500
) -> Iterator[tuple[str, float, float]]:
    """Yield a name, the coverage of the intervals and the share of false positives of the paired test.

    A data set without interval or resamples does not count for it; the name has the share that counts.
    """
    for kind, share in SHARES.items():
        for sharp, factor in SHARPNESS.items():
            truth = true_numbers(share, factor)
            for n in sizes:
                held, rejected = defaultdict[str, list[float]](list), defaultdict[str, list[float]](list)
                rng = np.random.default_rng(n)
                for _ in range(data_sets):
                    positive, chances = draw(rng, n, share, factor)
                    a, b = (numbers(positive, chance) for chance in chances)
                    for metric in (name for name in truth if name in a and name in b):
                        if a[metric].low is not None and a[metric].high is not None:
                            held[metric].append(a[metric].low <= truth[metric] <= a[metric].high)
                        if a[metric].replicates is not None and b[metric].replicates is not None:
                            apart = a[metric].value - b[metric].value
                            drawn = a[metric].replicates - b[metric].replicates
                            p = resample_tests(np.array([apart]), drawn[None])[0]
                            rejected[metric].append(p <= LEVEL)
                for metric, own in held.items():
                    name = f"{metric}, {kind}, {sharp}, n = {n}, of {len(own) / data_sets:.0%}"
                    yield name, float(np.mean(own)), float(np.mean(rejected[metric]))


def draw(rng: np.random.Generator, n: int, share: float, factor: float) -> tuple[NDArray[np.bool_], list[Floats]]:
    """Which of n cases are positive, and the chance that each of the two models gives for it."""
    positive = rng.random(n) < share
    common = rng.normal(size=n)
    found = []
    for _ in range(2):
        score = APART * (positive - 0.5) + np.sqrt(ALIKE) * common + np.sqrt(1 - ALIKE) * rng.normal(size=n)
        found.append(1 / (1 + np.exp(-factor * log_odds(score, share))))
    return positive, found


def log_odds(score: Floats, share: float) -> Floats:
    """Of a case with that score being positive."""
    return APART * score + np.log(share / (1 - share))


def true_numbers(share: float, factor: float) -> dict[str, float]:
    """The numbers of very many cases; the calibration error from their true probabilities, without noise."""
    positive, (chance, _) = draw(np.random.default_rng(1), WHOLE, share, factor)
    found = {metric: row.value for metric, row in numbers(positive, chance, resamples=0).items()}
    true = 1 / (1 + np.exp(-np.log(chance / (1 - chance)) / factor))
    right: Any = np.where(chance >= 0.5, true, 1 - true)
    found[ECE] = calibration_errors(reliability(np.maximum(chance, 1 - chance), right, 15))[0]
    return found


def numbers(positive: NDArray[np.bool_], chance: Floats, **parameters: int) -> dict[str, Aggregate]:
    """The first number over all classes of each of the NUMBERS' evaluators."""
    n = len(positive)
    ids, names = pa.array(np.arange(n).astype(str)), pa.array(["no", "yes"])
    cases = conform(pa.table({"case_id": ids, "label": names.take(pa.array(positive.astype(int)))}), CASES)
    predictions = {
        "case_id": ids.take(pa.array(np.repeat(np.arange(n), 2))), "model": pa.repeat("m", 2 * n),
        "label": names.take(pa.array(np.tile([0, 1], n))), "score": np.stack([1 - chance, chance], axis=1).ravel(),
    }  # fmt: skip
    suite = Suite("drawn", "classification", cases, None, ("no", "yes"))
    answers = conform(pa.table({"case_id": ids, "model": pa.repeat("m", n)}), OUTPUTS)
    outputs = Outputs(answers, conform(pa.table(predictions), PREDICTIONS))
    found = {}
    for name, metric in NUMBERS.items():
        entry = evaluators()[name]
        rows = entry(suite, outputs, entry.parameters.model_validate(parameters)).aggregates
        found[metric] = next(row for row in rows if row.metric == metric and row.label is None)
    return {metric: row for metric, row in found.items() if row.value is not None}
