"""Confusion counts and what follows from them, against scikit-learn."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import confusion_matrix, precision_recall_fscore_support

from metrics.stats.classification.confusion import AVERAGES, Confusion, label_scores, mean_scores, resampled

CODES = st.integers(0, 5)


@settings(deadline=None)
@given(st.lists(st.tuples(CODES, CODES), min_size=1, max_size=60))
def test_scores_equal_scikit_learn(pairs: list[tuple[int, int]]) -> None:
    truth, predicted = map(list, zip(*pairs, strict=True))
    confusion = Confusion.of(truth, predicted, 6)
    outcomes = confusion.outcomes()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        expected = precision_recall_fscore_support(truth, predicted, labels=range(6), zero_division=np.nan)
        np.testing.assert_allclose(label_scores(*outcomes), expected[:3], atol=1e-12)
        np.testing.assert_array_equal(outcomes[2], expected[3])
        for average in AVERAGES:
            expected = precision_recall_fscore_support(
                truth, predicted, labels=range(6), average=average, zero_division=np.nan
            )
            for mean, theirs in zip(mean_scores(*outcomes, average), expected[:3], strict=True):
                # where every class of weight is undefined, scikit-learn says 0
                assert mean == pytest.approx(theirs, abs=1e-12, nan_ok=True) or (np.isnan(mean) and theirs == 0)


@settings(deadline=None)
@given(st.lists(st.tuples(CODES, CODES), max_size=60))
def test_cells_are_those_of_the_matrix(pairs: list[tuple[int, int]]) -> None:
    truth, predicted = [true for true, _ in pairs], [guess for _, guess in pairs]
    confusion = Confusion.of(truth, predicted, 6)
    matrix = np.zeros((6, 6), dtype=int)
    matrix[confusion.truth, confusion.predicted] = confusion.count
    expected = confusion_matrix(truth, predicted, labels=range(6)) if pairs else np.zeros((6, 6))
    np.testing.assert_array_equal(matrix, expected)
    assert confusion.n == len(pairs)


def test_a_prediction_of_no_label_is_a_miss_of_the_truth_alone() -> None:
    right, predicted, truths = Confusion.of([0, 0, 1], [0, 2, 1], 2).outcomes()
    assert (right.tolist(), predicted.tolist(), truths.tolist()) == ([1, 1], [1, 1], [2, 1])


def test_resampling_agrees_with_resampling_the_cases() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, 200)
    predicted = np.where(rng.random(200) < 0.7, truth, rng.integers(0, 3, 200))
    f1, means = resampled(Confusion.of(truth, predicted, 3), resamples=2000)
    by_cases = []
    for _ in range(2000):
        drawn = rng.integers(0, 200, 200)
        by_cases.append(mean_scores(*Confusion.of(truth[drawn], predicted[drawn], 3).outcomes(), "macro").f1)
    assert f1.shape == (2000, 3)
    np.testing.assert_allclose(f1.mean(axis=1), means["macro"].f1)
    points = [0.025, 0.25, 0.5, 0.75, 0.975]
    np.testing.assert_allclose(np.quantile(means["macro"].f1, points), np.quantile(by_cases, points), atol=0.01)


def test_resampling_in_pieces_has_its_own_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("metrics.stats.classification.confusion.DRAWS_AT_ONCE", 40)
    f1, means = resampled(Confusion.of([0, 1, 1], [0, 1, 0], 2), resamples=11)
    assert f1.shape == (11, 2)
    assert {len(score) for scores in means.values() for score in scores} == {11}


def test_a_thousand_classes_take_a_moment() -> None:
    rng = np.random.default_rng(1)
    f1, _ = resampled(Confusion.of(rng.integers(0, 1000, 20_000), rng.integers(0, 1000, 20_000), 1000), resamples=50)
    assert f1.shape == (50, 1000)
