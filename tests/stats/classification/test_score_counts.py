"""Counts by threshold, against scikit-learn on every class and threshold."""

import numpy as np
from hypothesis import given, settings, strategies as st
from sklearn.metrics import multilabel_confusion_matrix, precision_recall_fscore_support

from metrics.stats.classification.roc import THRESHOLDS, f1, threshold_counts, true_and_other
from tests.random_seeds import seeds

NAN = float("nan")
CELL = st.sampled_from([0.0, 0.05, 0.15, 0.3, 0.35, 0.5, 0.95, 1.0, NAN]) | st.floats(0, 1)
CASES = st.lists(st.tuples(st.integers(0, 2), st.tuples(CELL, CELL, CELL)), min_size=1, max_size=30)


@settings(deadline=None, max_examples=len(seeds(6, 25)))  # 38 calls of scikit-learn an example
@given(CASES)
def test_counts_equal_scikit_learn(cases: list[tuple[int, tuple[float, ...]]]) -> None:
    truth, scores = np.array([code for code, _ in cases]), np.array([row for _, row in cases])
    tp, predicted = threshold_counts(scores, truth, THRESHOLDS)
    truths = np.bincount(truth, minlength=3)
    found = f1(tp, predicted, truths[:, None])
    real = np.eye(3, dtype=int)[truth]
    for step, threshold in enumerate(THRESHOLDS):
        made = (scores >= threshold).astype(int)
        (tn, fp), (fn, hits) = multilabel_confusion_matrix(real, made).transpose(1, 2, 0)
        np.testing.assert_array_equal([tp[:, step], predicted[:, step], truths], [hits, hits + fp, hits + fn])
        np.testing.assert_array_equal(len(truth) - truths - predicted[:, step] + tp[:, step], tn)
        theirs = precision_recall_fscore_support(real, made, average=None, zero_division=np.nan)[2]
        np.testing.assert_allclose(found[:, step], np.where(truths > 0, theirs, np.nan), atol=1e-12)


def test_true_and_other() -> None:
    true, other = true_and_other(np.array([[0.2, 0.7, NAN], [NAN, NAN, NAN], [NAN, 0.4, NAN]]), np.array([0, 1, 1]))
    assert (true.tolist(), other.tolist()) == ([0.2, -np.inf, 0.4], [0.7, -np.inf, -np.inf])
