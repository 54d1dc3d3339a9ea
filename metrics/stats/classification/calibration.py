"""How far stated confidences are from observed frequencies, and proper scores of probabilities."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from metrics.stats.intervals import Interval
from metrics.stats.resampled_sums import resampled_sums
from metrics.stats.student_t import Z95

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
SMALLEST = float(np.finfo(np.float64).eps)  # the probability that log loss takes for 0, as scikit-learn does


class Reliability(NamedTuple):
    """A reliability diagram of b bins: edges [b + 1], and for each bin [b] its count, confidence and accuracy.

    `confidence` and `accuracy` are means, NaN in an empty bin; `place` [n] is the bin of each case.
    """

    edges: Floats
    n: Ints
    confidence: Floats
    accuracy: Floats
    place: NDArray[np.intp]


def reliability(confidence: Floats, right: NDArray[np.bool_], bins: int) -> Reliability:
    """Return the diagram of `confidence` [n], 0 … 1, against whether the prediction is `right` [n].

    Bins are of equal width and hold their upper edge, the first both: equal to scikit-learn's calibration_curve.
    """
    edges = np.linspace(0.0, 1.0, bins + 1)
    place = np.searchsorted(edges[1:-1], confidence, side="left")
    n = np.bincount(place, minlength=bins)
    stated, hits = (
        np.divide(np.bincount(place, values, bins), n, out=np.full(bins, np.nan), where=n > 0)
        for values in (confidence, right)
    )
    return Reliability(edges, n, stated, hits, place)


def calibration_errors(diagram: Reliability) -> tuple[float, float]:
    """Return the expected and maximum calibration error: the mean, weighted by count, and maximum of the bins' gaps.

    The gap is |accuracy − confidence|. Both 0 … 1, NaN without cases. Source: Naeini, Cooper & Hauskrecht 2015.
    """
    filled = diagram.n > 0
    if not filled.any():
        return float("nan"), float("nan")
    gaps = np.abs(diagram.accuracy - diagram.confidence)[filled]
    return float(np.average(gaps, weights=diagram.n[filled])), float(gaps.max())


def expected_error_interval(
    diagram: Reliability, confidence: Floats, right: NDArray[np.bool_], clusters: Ints
) -> Interval:
    """Return the 95 % interval of the expected calibration error, by a bootstrap over clusters [n] (codes 0 … c−1).

    Noise turns signed gaps of 0 into absolute ones, so the estimate is too large, and resamples of it again: their
    percentiles miss the truth on one side. The lower bound is the value less the 97.5 % point of what noise adds to
    gaps that are shrunk by their own variance; the upper one the value plus 1.96 standard errors. In simulations with
    100 to 2,000 cases and true errors of .02 to .1 it held the truth in 93–97 %; percentiles in 16 % at .05 with 350.
    """
    bins, count = len(diagram.n), int(clusters.max(initial=-1)) + 1
    sums = np.empty((count, bins + 1))
    cells = clusters * bins + diagram.place
    sums[:, :-1] = np.bincount(cells, confidence - right, count * bins).reshape(count, bins)
    sums[:, -1] = np.bincount(clusters, minlength=count)  # clusters differ in size, so resamples do
    gaps = sums[:, :-1].sum(axis=0) / len(confidence)
    drawn = resampled_sums(sums, np.arange(count))
    noise = drawn[:, :-1] / drawn[:, -1:] - gaps
    shrunk = np.sign(gaps) * np.sqrt(np.maximum(0.0, gaps**2 - noise.var(axis=0)))
    samples = np.abs(shrunk + noise).sum(axis=1)
    value, added = np.abs(gaps).sum(), samples - np.abs(shrunk).sum()
    low = value - max(0.0, np.quantile(added, 0.975))
    return max(0.0, float(low)), min(1.0, float(value + Z95 * samples.std()))


def brier(probabilities: Floats, truth: Ints) -> Floats:
    """Return each case's Brier score [n]: Σ over classes of (p − [class is true])², 0 … 2. probabilities: [n, k].

    Two classes: twice the score of the probability of one of them. Source: Brier 1950.
    """
    true = probabilities[np.arange(len(truth)), truth]
    scores: Floats = np.einsum("nk,nk->n", probabilities, probabilities) - true**2 + (1.0 - true) ** 2
    return scores


def log_loss(probabilities: Floats, truth: Ints) -> Floats:
    """Return each case's −ln of the probability of its true class [n], cut to SMALLEST … 1 − SMALLEST: 0 … 36.04.

    probabilities: [n, k]. Equal to scikit-learn's log_loss.
    """
    true = probabilities[np.arange(len(truth)), truth]
    losses: Floats = -np.log(np.clip(true, SMALLEST, 1.0 - SMALLEST))
    return losses
