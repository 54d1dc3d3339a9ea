"""The interval of R² with weights and groups: its error by the jackknife, and how often it holds the truth."""

import math

import numpy as np
import pytest
from sklearn.metrics import r2_score

from metrics.stats.bootstrap import Draws
from metrics.stats.prediction_errors import r2_error, resampled_r2
from metrics.stats.resample_intervals import scaled_interval

SIZES = np.resize([1, 11, 3, 9, 6], 20)
UNITS = np.repeat(np.arange(20), SIZES)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_error_is_the_jackknife_of_scikit_learns_r2(weighted: bool) -> None:
    rng = np.random.default_rng(4)
    truth, residual = rng.normal(5, 3, 120), rng.normal(size=120)
    weights = rng.integers(1, 5, 120).astype(float) if weighted else np.ones(120)
    draws = Draws.of(UNITS, 0, weights=weights if weighted else None)
    without = [
        math.log(1 - r2_score(truth[kept], (truth - residual)[kept], sample_weight=weights[kept]))
        for kept in (unit != UNITS for unit in range(20))
    ]
    expected = math.sqrt(19 / 20 * float(np.sum((np.array(without) - np.mean(without)) ** 2)))
    assert r2_error(truth, residual, draws) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("truth", "residual"),
    [([1.0], [0.5]), ([1.0, 1.0, 2.0], [0.1, 0.2, 0.3]), ([1.0, 2.0, 3.0], [0.0, 0.0, 0.5])],
    ids=["one case", "equal truths without one", "no error without one"],
)
def test_without_an_error_there_is_none(truth: list[float], residual: list[float]) -> None:
    draws = Draws.of(np.arange(len(truth)), 0)
    assert math.isnan(r2_error(np.array(truth), np.array(residual), draws))


def test_intervals_hold_the_truth_with_weights_and_groups() -> None:
    """300 data sets of 20 unequal groups; a quarter of the cases weighs 4. R² is 1 − 1 / 9."""
    rng = np.random.default_rng(8)
    held = []
    for seed in range(300):
        truth = rng.normal(10, 3, 120)
        residual = np.sqrt(0.33) * rng.normal(size=20)[UNITS] + np.sqrt(0.67) * rng.normal(size=120)
        draws = Draws.of(UNITS, 200, seed % 4, np.where(rng.random(120) < 0.25, 4.0, 1.0))
        values = resampled_r2(truth, residual, draws)
        least = r2_error(truth, residual, draws)
        ends = scaled_interval(float(values[0]), values[1:], draws.units, "below one", least)
        assert ends is not None
        held.append(ends[0] <= 8 / 9 <= ends[1])
    assert np.mean(held) > 0.92
