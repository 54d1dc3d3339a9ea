"""Numbers of whole data sets with weights: scikit-learn's with `sample_weight`, or those of cases repeated as often."""

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from scipy import stats
from sklearn import metrics as sk

from metrics.core.suite import Outputs, Suite
from tests.evaluators.tabular import classified, overall, run
from tests.random_seeds import seeds

SETS = seeds(12, 200)
LABELS = ("a", "b", "c")
REGRESSION: dict[str, Any] = {
    "mae": sk.mean_absolute_error, "mse": sk.mean_squared_error, "rmse": sk.root_mean_squared_error,
    "mape": sk.mean_absolute_percentage_error, "r2": sk.r2_score,
}  # fmt: skip
REPEATED: dict[str, Any] = {
    "median_absolute_error": sk.median_absolute_error, "bias": lambda truth, made: np.mean(made - truth),
    "pearson": lambda truth, made: stats.pearsonr(truth, made).statistic,
    "spearman": lambda truth, made: stats.spearmanr(truth, made).statistic,
    "kendall": lambda truth, made: stats.kendalltau(truth, made).statistic,
}  # fmt: skip


def random_scores(seed: int) -> tuple[Any, Any, Any]:
    """True codes [n], scores [n, 3] that add up to 1, with ties, and weights [n], some of them 0."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(6, 40))
    truth = np.append(np.arange(3), rng.integers(0, 3, n - 3))
    scores = rng.dirichlet(np.ones(3), n)
    scores = np.floor(scores * 100) / 100 if seed % 2 else scores
    scores[:, 2] = np.maximum(1 - scores[:, 0] - scores[:, 1], 0.0)
    weights = rng.gamma(1.0, 2.0, n)
    weights[rng.permutation(np.arange(3, n))[: n // 5]] = 0.0
    return truth, scores, weights


def weighted_classes(truth: Any, scores: Any, weights: Any, groups: bool = False) -> tuple[Suite, Outputs]:
    cases = [
        {
            "label": LABELS[code],
            "labels": [LABELS[code]],
            "weight": weight,
            "group": str(place // 2) if groups else None,
        }
        for place, (code, weight) in enumerate(zip(truth, weights.tolist(), strict=True))
    ]
    return classified(cases, scores, LABELS)


def values(name: str, data: tuple[Suite, Outputs], **parameters: Any) -> Mapping[Any, Any]:
    """Return the values of an evaluator by metric, label and average."""
    rows = run(name, data, **parameters).aggregates
    return {(row.metric, row.label, row.columns.get("average")): row.value for row in rows}


def test_classification_equals_scikit_learn_with_sample_weights() -> None:
    for seed in SETS:
        truth, scores, weights = random_scores(seed)
        data, guesses = weighted_classes(truth, scores, weights), scores.argmax(axis=1)
        found = values("classification", data, resamples=0)
        assert found["accuracy", None, None] == pytest.approx(sk.accuracy_score(truth, guesses, sample_weight=weights))
        for average in ("macro", "weighted", "micro", None):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                each = sk.precision_recall_fscore_support(
                    truth, guesses, average=average, sample_weight=weights, labels=[0, 1, 2], zero_division=np.nan
                )[:3]
            for metric, expected in zip(("precision", "recall", "f1"), each, strict=True):
                for label, value in zip((None,) if average else LABELS, np.atleast_1d(expected), strict=True):
                    own = found[metric, label, average]
                    assert (np.nan if own is None else own) == pytest.approx(value, nan_ok=True), (
                        seed,
                        metric,
                        average,
                    )


def test_scores_equal_scikit_learn_with_sample_weights() -> None:
    for seed in SETS:
        truth, scores, weights = random_scores(seed)
        data, one_hot = weighted_classes(truth, scores, weights), np.eye(3)[truth]
        areas = values("roc_auc", data, resamples=0)
        for code, label in enumerate(LABELS):
            expected = sk.roc_auc_score(truth == code, scores[:, code], sample_weight=weights)
            assert areas["roc_auc", label, None] == pytest.approx(expected), seed
        found = values("multilabel", data, resamples=0)
        precisions = [sk.average_precision_score(one_hot[:, k], scores[:, k], sample_weight=weights) for k in range(3)]
        assert found["map", None, None] == pytest.approx(np.mean(precisions)), seed
        for metric, function in {
            "label_ranking_ap": sk.label_ranking_average_precision_score, "coverage_error": sk.coverage_error,
            "ranking_loss": sk.label_ranking_loss,
        }.items():  # fmt: skip
            expected = function(one_hot, scores, sample_weight=weights)
            assert found[metric, None, None] == pytest.approx(expected), (seed, metric)
        found = values("calibration", data, resamples=0, bins=10)
        assert found["log_loss", None, None] == pytest.approx(
            sk.log_loss(truth, scores / scores.sum(axis=1, keepdims=True), sample_weight=weights), rel=1e-6
        )
        brier = ((scores - one_hot) ** 2).sum(axis=1)
        assert found["brier", None, None] == pytest.approx(np.average(brier, weights=weights))
        sure, right = scores.max(axis=1), scores.argmax(axis=1) == truth
        bins = np.searchsorted(np.linspace(0, 1, 11)[1:-1], sure)
        gaps = [abs(((sure - right) * weights)[bins == place].sum()) for place in range(10)]
        assert found["expected_calibration_error", None, None] == pytest.approx(sum(gaps) / weights.sum()), seed
        for k in (1, 2):
            expected = sk.top_k_accuracy_score(truth, scores, k=k, sample_weight=weights)
            hits = values("top_k_accuracy", data, resamples=0, ks=[1, 2])[f"top_{k}", None, None]
            assert seed % 2 or hits == pytest.approx(expected), seed  # of ties scikit-learn takes the last
        guesses = scores.argmax(axis=1)
        found = values("ordinal", data, resamples=0, levels=LABELS)
        for metric, kind in (("quadratic_kappa", "quadratic"), ("linear_kappa", "linear")):
            expected = sk.cohen_kappa_score(truth, guesses, weights=kind, sample_weight=weights, labels=[0, 1, 2])
            assert found[metric, None, None] == pytest.approx(expected), seed


def test_the_best_f1_is_that_of_weighted_counts() -> None:
    for seed in SETS:
        truth, scores, weights = random_scores(seed)
        found = values("classification_pr_curve", weighted_classes(truth, scores, weights), resamples=0)
        steps = np.arange(1, 20) / 20
        for code, label in enumerate(LABELS):
            own = truth == code
            expected = max(sk.f1_score(own, scores[:, code] >= s.round(2), sample_weight=weights) for s in steps)
            assert found["best_f1", label, None] == pytest.approx(expected), (seed, label)


def random_numbers(seed: int, whole: bool) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 30))
    truth = rng.integers(1, 6, n).astype(float) if seed % 3 == 0 else rng.normal(3.0, 1.0, n)
    truth[:2] = 1.0, 2.0
    made = truth + rng.normal(0, 1.0, n)
    made = made.round() if seed % 2 else made
    made[:2] = 1.0, 3.0
    weights = rng.integers(0, 4, n).astype(float) if whole else rng.gamma(1.0, 2.0, n)
    weights[:2] = 1.0, 2.0
    return truth, made, weights


def weighted_numbers(truth: Any, made: Any, weights: Any) -> tuple[Suite, Outputs]:
    cases = [
        {"case_id": str(place), "true_value": value, "weight": weight}
        for place, (value, weight) in enumerate(zip(truth.tolist(), weights.tolist(), strict=True))
    ]
    outputs = [
        {"case_id": str(place), "model": "m", "predicted_value": value, "predicted_low": value - 1.0,
         "predicted_high": value + 1.0}
        for place, value in enumerate(made.tolist())
    ]  # fmt: skip
    return Suite.from_rows("s", "regression", cases), Outputs.from_rows(outputs)


def test_regression_equals_scikit_learn_with_sample_weights() -> None:
    for seed in SETS:
        truth, made, weights = random_numbers(seed, whole=False)
        found = overall(run("regression", weighted_numbers(truth, made, weights), resamples=0))
        for metric, function in REGRESSION.items():
            expected = function(truth, made, sample_weight=weights)
            assert found[metric].value == pytest.approx(expected, rel=1e-9), (seed, metric)
        ends = [sk.mean_pinball_loss(truth, made + side, sample_weight=weights, alpha=0.5 + 0.45 * side)
                for side in (-1.0, 1.0)]  # fmt: skip
        found = overall(run("interval_coverage", weighted_numbers(truth, made, weights), level=0.9, resamples=0))
        assert found["pinball"].value == pytest.approx(np.mean(ends)), seed
        inside = np.abs(truth - made) <= 1
        assert found["coverage"].value == pytest.approx(np.average(inside, weights=weights))


def test_a_weight_is_as_many_cases_in_every_correlation_and_in_the_median() -> None:
    for seed in SETS:
        truth, made, weights = random_numbers(seed, whole=True)
        found = overall(run("regression", weighted_numbers(truth, made, weights), resamples=0))
        repeated = [np.repeat(column, weights.astype(int)) for column in (truth, made)]
        for metric, function in REPEATED.items():
            assert found[metric].value == pytest.approx(function(*repeated), abs=1e-9), (seed, metric)


@pytest.mark.parametrize(
    "name", ["classification", "roc_auc", "multilabel", "calibration", "ordinal", "top_k_accuracy"]
)
def test_an_interval_of_weighted_cases_is_wider_than_of_as_many_that_weigh_alike(name: str) -> None:
    """Of heavy and light cases at random: they tell as much as fewer of one weight."""
    rng = np.random.default_rng(2)
    truth = np.arange(300) % 3
    scores = rng.dirichlet(np.ones(3), 300) * 0.5 + np.eye(3)[truth] * 0.2
    scores /= scores.sum(axis=1, keepdims=True)
    parameters = {"levels": LABELS} if name == "ordinal" else {}
    widths = []
    for weights in (np.ones(300), rng.permutation(np.repeat([1.0, 20.0], [240, 60]))):
        row = run(name, weighted_classes(truth, scores, weights), **parameters).aggregates[0]
        assert row.low is not None
        assert row.high is not None
        assert row.low < row.value < row.high
        widths.append(row.high - row.low)
    assert 1.2 < widths[1] / widths[0] < 3.0
