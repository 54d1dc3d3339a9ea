"""Confusion counts and what follows from them, against scikit-learn."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import confusion_matrix, precision_recall_fscore_support

from metrics.stats.classification.confusion import AVERAGES, confusion_cells, label_scores, mean_scores
from metrics.stats.float_tolerance import mean_over

CODES = st.integers(0, 5)


@settings(deadline=None)
@given(st.lists(st.tuples(CODES, CODES), min_size=1, max_size=60))
def test_scores_equal_scikit_learn(pairs: list[tuple[int, int]]) -> None:
    truth, predicted = map(list, zip(*pairs, strict=True))
    hits = [true for true, guess in pairs if true == guess]
    outcomes = [np.bincount(codes, minlength=6) for codes in (hits, predicted, truth)]
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
    truth, predicted = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    cells = confusion_cells(truth, predicted, 6)
    matrix = np.zeros((6, 6), dtype=int)
    matrix[cells.truth, cells.predicted] = cells.times
    expected = confusion_matrix(truth, predicted, labels=range(6)) if pairs else np.zeros((6, 6))
    np.testing.assert_array_equal(matrix, expected)
    assert (cells.times > 0).all()


def test_a_mean_leaves_out_what_is_not_known() -> None:
    means = mean_over(np.array([[0.5, np.nan, 1.0], [np.nan] * 3]), -1, weights=np.array([1, 5, 3]))
    np.testing.assert_array_equal(means, [3.5 / 4, np.nan])
