"""Counts of label scores by threshold, where every pair of case and class is its own yes or no."""

from collections.abc import Sequence

import numpy as np

from metrics.core.array_types import Floats, Ints

THRESHOLDS = tuple(round(step / 20, 2) for step in range(1, 20))  # .05 … .95: those of a curve by default


def threshold_counts(scores: Floats, truth: Ints, thresholds: Sequence[float]) -> tuple[Ints, Ints]:
    """Return true positives and predictions, each [k, thresholds], of every class at each of the rising thresholds.

    scores: [n, k]; a class is predicted where its score is at or above the threshold, NaN never is. truth: [n] codes
    0 … k−1.
    """
    n, k = scores.shape
    size = len(thresholds) + 1
    # how many thresholds each score reaches; NaN would sort above them all
    reached = np.searchsorted(thresholds, np.where(np.isnan(scores), -np.inf, scores), side="right")

    def count(cells: Ints) -> Ints:
        flat = np.bincount(cells, minlength=k * size).reshape(k, size)
        from_above: Ints = flat[:, ::-1].cumsum(axis=1)[:, ::-1]
        return from_above[:, 1:]

    return count(truth * size + reached[np.arange(n), truth]), count((reached + np.arange(k) * size).ravel())


def true_and_other(scores: Floats, truth: Ints) -> tuple[Floats, Floats]:
    """Return each case's [n] score of its true class, and the highest of the others; −inf where there is none."""
    rows = np.arange(len(scores))
    height = np.where(np.isnan(scores), -np.inf, scores)
    true = height[rows, truth]
    height[rows, truth] = -np.inf
    return true, height.max(axis=1, initial=-np.inf)


def f1(tp: Floats | Ints, predicted: Floats | Ints, truths: Floats | Ints) -> Floats:
    """Return 2·tp / (predicted + truths), NaN for a class without cases."""
    whole = np.asarray(predicted + truths, dtype=np.float64)
    known = np.broadcast_to(truths > 0, whole.shape)
    result: Floats = np.divide(2.0 * tp, whole, out=np.full(whole.shape, np.nan), where=known)
    return result
