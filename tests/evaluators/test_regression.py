"""Evaluators of predicted numbers: equal to scikit-learn's and scipy's, with intervals that hold what they should."""

import warnings
from typing import Any

import numpy as np
import pytest
from scipy import stats
from sklearn import metrics as sk

from metrics.core.errors import InputError
from metrics.core.evaluator import Status
from metrics.core.suite import Outputs, Suite
from tests.evaluators.tabular import overall, run
from tests.random_seeds import least_covered, seeds

SETS = seeds(30, 200)
SCIKIT: dict[str, Any] = {
    "mae": sk.mean_absolute_error, "mse": sk.mean_squared_error, "rmse": sk.root_mean_squared_error,
    "median_absolute_error": sk.median_absolute_error, "mape": sk.mean_absolute_percentage_error, "r2": sk.r2_score,
    "max_error": sk.max_error,
    "smape": lambda truth, predicted: np.mean(
        [0.0 if t == p == 0 else 2 * abs(p - t) / (abs(p) + abs(t)) for t, p in zip(truth, predicted, strict=True)]
    ),
    "bias": lambda truth, predicted: np.mean(predicted - truth),
    "pearson": lambda truth, predicted: stats.pearsonr(truth, predicted).statistic,
    "spearman": lambda truth, predicted: stats.spearmanr(truth, predicted).statistic,
    "kendall": lambda truth, predicted: stats.kendalltau(truth, predicted).statistic,
}  # fmt: skip
NONE_OF_CONSTANTS = ("r2", "pearson", "spearman", "kendall")


def data_set(truth: Any, groups: Any = None, **given: Any) -> tuple[Suite, Outputs]:
    """Cases 0, 1, … with true numbers, and one model's columns."""
    cases = [
        {"case_id": str(n), "true_value": value, "group": None if groups is None else str(groups[n])}
        for n, value in enumerate(truth)
    ]
    columns = {f"predicted_{name}": list(values) for name, values in given.items()}
    outputs = [
        {"case_id": str(n), "model": "m", **{name: values[n] for name, values in columns.items()}}
        for n in range(len(cases))
    ]
    return Suite.from_rows("s", "regression", cases), Outputs.from_rows(outputs)


def random_values(seed: int) -> tuple[Any, Any]:
    """True and predicted numbers with ties, zeros, constants, one case, and sizes from 1e-6 to 1e12."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 40))
    truth = rng.integers(-2, 3, n).astype(float) if seed % 3 == 0 else rng.normal(0, 10 ** rng.uniform(-6, 6), n)
    truth += 1e6 * truth.std() if seed % 17 == 0 else 0.0
    noise = rng.normal(0, rng.choice([0.0, 0.1, 1.0, 10.0]) * (truth.std() or 1.0), n)
    predicted = np.round(truth + noise) if seed % 2 else truth + noise
    return truth, np.full(n, 3.0) if seed % 23 == 0 else predicted


def test_equal_to_scikit_learn_and_scipy_on_random_data() -> None:
    for seed in SETS:
        truth, predicted = random_values(seed)
        found = overall(run("regression", data_set(truth, value=predicted), resamples=0))
        for metric, function in SCIKIT.items():
            used = truth != 0 if metric == "mape" else np.ones(len(truth), bool)
            constant = len(truth) < 2 or np.ptp(truth) == 0 or (np.ptp(predicted) == 0 and metric != "r2")
            if not used.any() or (metric in NONE_OF_CONSTANTS and constant):
                assert found[metric].value is None, (seed, metric)
                assert found[metric].reason, (seed, metric)
                continue
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # scipy's, of values that are nearly the same
                expected = function(truth[used], predicted[used])
            assert found[metric].value == pytest.approx(expected, rel=1e-8, abs=1e-12), (seed, metric)
            assert found[metric].n == used.sum()


def test_pinball_is_scikit_learn_s_mean_of_both_ends() -> None:
    for seed in SETS:
        rng = np.random.default_rng(seed)
        truth = rng.normal(size=12)
        low, high = np.sort(rng.normal(size=(2, 12)), axis=0)
        found = overall(run("interval_coverage", data_set(truth, low=low, high=high), level=0.8, resamples=0))
        ends = sk.mean_pinball_loss(truth, low, alpha=0.1), sk.mean_pinball_loss(truth, high, alpha=0.9)
        assert found["pinball"].value == pytest.approx(np.mean(ends))
        assert found["coverage"].value == pytest.approx(((low <= truth) & (truth <= high)).mean())
        assert found["interval_score"].value == pytest.approx(np.mean(ends) * 4 / 0.2)


def test_a_case_s_score_is_its_error_with_what_it_rests_on() -> None:
    cases = run("regression", data_set([4.0, 0.0, 1.0], value=[3.0, 2.0, None])).cases
    assert cases["0"].values == {"mae": 1.0, "bias": -1.0, "mape": 0.25}
    assert cases["0"].evidence.facts == {"truth": 4.0, "predicted": 3.0, "residual": -1.0}
    assert cases["1"].values == {"mae": 2.0, "bias": 2.0, "mape": None}
    assert cases["1"].reason == "the true value is 0: no error in percent"
    assert (cases["2"].status, cases["2"].reason) == (Status.SKIPPED, "the model gave no prediction")


def test_an_interval_in_the_wrong_order_is_not_scored() -> None:
    findings = run("interval_coverage", data_set([1.0, 1.0], low=[2.0, 0.0], high=[0.0, 2.0]))
    assert findings.cases["0"].reason == "the low end of the interval is above its high end"
    assert overall(findings)["coverage"].n == 1


def test_cases_of_a_group_are_drawn_together() -> None:
    rng = np.random.default_rng(1)
    truth = rng.normal(size=40)
    predicted = truth + rng.normal(size=40)
    own, twice = (overall(run("regression", data)) for data in (
        data_set(truth, value=predicted),
        data_set(np.tile(truth, 2), np.tile(np.arange(40), 2), value=np.tile(predicted, 2)),
    ))  # fmt: skip
    for metric, row in own.items():
        other = twice[metric]
        assert row.value == pytest.approx(other.value)
        assert (row.low is None, row.high is None) == (other.low is None, other.high is None), metric
        ends = [np.array([one.low, one.high], np.float64) for one in (row, other)]
        assert ends[0] == pytest.approx(ends[1], rel=0.02, abs=0.02, nan_ok=True), metric


def test_intervals_hold_the_true_value_as_often_as_they_say() -> None:
    half = np.sqrt(0.5)
    true = {
        "mae": np.sqrt(2 / np.pi), "rmse": 1.0, "median_absolute_error": 0.6745, "bias": 0.0, "r2": 0.5,
        "pearson": half, "spearman": 6 / np.pi * np.arcsin(half / 2), "kendall": 2 / np.pi * np.arcsin(half),
    }  # fmt: skip
    held = dict.fromkeys(true, 0)
    draws = seeds(40, 100)
    for seed in draws:
        rng = np.random.default_rng(seed)
        predicted = rng.normal(size=40)
        found = overall(run("regression", data_set(predicted + rng.normal(size=40), value=predicted), resamples=200))
        for metric, value in true.items():
            low, high = found[metric].low, found[metric].high
            held[metric] += int((low is None or low <= value) and (high is None or value <= high))
    assert min(held.values()) >= least_covered(len(draws)), held


def test_the_plots_show_some_of_many_cases_and_the_largest_errors() -> None:
    truth = np.arange(1000.0)
    predicted = truth.copy()
    predicted[500] += 50
    curves = run("regression", data_set(truth, value=predicted), plot_points=20).curves
    assert len(curves) == 20
    assert "500" in curves["case_id"].to_pylist()


def test_mase_is_hyndmans_in_each_series_in_the_order_of_time() -> None:
    for seed in SETS:
        rng = np.random.default_rng(seed)
        n = int(rng.integers(6, 40))
        truth, series, days = rng.normal(size=n).cumsum(), rng.integers(0, 3, n), rng.permutation(n)
        predicted = truth + rng.normal(size=n)
        suite, outputs = data_set(truth, series, value=predicted)
        cases = [{**row, "day": f"2024-{day:05d}"} for row, day in zip(suite.cases.to_pylist(), days, strict=True)]
        ordered = Suite.from_rows("s", "regression", cases)
        scaled = []
        for one in np.unique(series):
            rows = np.flatnonzero(series == one)[np.argsort(days[series == one])]
            if len(rows) > 1:
                scaled += (np.abs(predicted - truth)[rows] / np.abs(np.diff(truth[rows])).mean()).tolist()
        found = overall(run("regression", (ordered, outputs), order="day", resamples=0))["mase"]
        assert found.n == len(scaled), seed
        assert found.value == pytest.approx(np.mean(scaled)), seed


def test_mase_without_an_order_says_what_it_takes() -> None:
    data = data_set([1.0, 2.0], value=[1.0, 2.0])
    assert "parameter order" in str(overall(run("regression", data))["mase"].reason)
    with pytest.raises(InputError, match="the column 'day'"):
        run("regression", data, order="day")
    largest = overall(run("regression", data))["max_error"]
    assert (largest.low, largest.replicates) == (None, None)


def test_crps_is_the_integral_of_the_squared_distance_of_the_distributions() -> None:
    for seed in SETS:
        rng = np.random.default_rng(seed)
        truth, middle, half = rng.normal(0, 3, 4), rng.normal(size=4), rng.exponential(size=4)
        level = float(rng.uniform(0.3, 0.99))
        found = overall(run("interval_coverage", data_set(truth, low=middle - half, high=middle + half), level=level))
        expected = []
        for t, m, h in zip(truth, middle, half, strict=True):
            deviation = h / stats.norm.ppf((1 + level) / 2)
            grid = np.linspace(min(t, m - 9 * deviation), max(t, m + 9 * deviation), 20_001)
            squared = (stats.norm.cdf(grid, m, deviation) - (grid >= t)) ** 2
            expected.append(np.sum((squared[1:] + squared[:-1]) / 2 * np.diff(grid)))
        assert found["crps"].value == pytest.approx(np.mean(expected), rel=2e-3), seed


def test_crps_of_an_interval_of_no_width_is_the_absolute_error() -> None:
    found = run("interval_coverage", data_set([1.0, 5.0], low=[3.0, 5.0], high=[3.0, 5.0]))
    assert overall(found)["crps"].value == 1.0
