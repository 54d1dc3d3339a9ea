"""How far stated confidences are from observed frequencies, and proper scores of probabilities."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from metrics.core.array_types import Bools, Floats, Ints
from metrics.stats.bootstrap import Draws
from metrics.stats.float_tolerance import ratio, root
from metrics.stats.intervals import NONE, Interval
from metrics.stats.student_t import Z95, student

SMALLEST = float(np.finfo(np.float64).eps)  # the probability that log loss takes for 0, as scikit-learn does
HALVINGS = 20  # of the range of a bound


class Reliability(NamedTuple):
    """A reliability diagram of b bins: edges [b + 1], and for each bin [b] its count, confidence and accuracy.

    `mass` is the weight of a bin's cases, by default their count; `confidence` and `accuracy` are weighted means, NaN
    in an empty bin; `place` [n] is the bin of each case.
    """

    edges: Floats
    n: Ints
    mass: Ints | Floats
    confidence: Floats
    accuracy: Floats
    place: NDArray[np.intp]


def reliability(confidence: Floats, right: Bools, bins: int, weights: Floats | None = None) -> Reliability:
    """Return the diagram of `confidence` [n], 0 … 1, against whether the prediction is `right` [n]; weights: [n].

    Bins are of equal width and hold their upper edge, the first both: equal to scikit-learn's calibration_curve.
    """
    edges = np.linspace(0.0, 1.0, bins + 1)
    place = np.searchsorted(edges[1:-1], confidence, side="left")
    mass = np.bincount(place, weights, bins)
    own = (values if weights is None else values * weights for values in (confidence, right))
    stated, hits = (ratio(np.bincount(place, values, bins), mass) for values in own)
    return Reliability(edges, np.bincount(place, minlength=bins), mass, stated, hits, place)


def calibration_errors(diagram: Reliability) -> tuple[float, float]:
    """Return the expected and maximum calibration error: the mean, weighted by mass, and maximum of the bins' gaps.

    The gap is |accuracy − confidence|. Both 0 … 1, NaN without cases. Source: Naeini, Cooper & Hauskrecht 2015.
    """
    filled = diagram.mass > 0
    if not filled.any():
        return float("nan"), float("nan")
    gaps = np.abs(diagram.accuracy - diagram.confidence)[filled]
    return float(np.average(gaps, weights=diagram.mass[filled])), float(gaps.max())


def resampled_error(diagram: Reliability, confidence: Floats, right: Bools, draws: Draws) -> tuple[Interval, Floats]:
    """Return the 95 % interval of the expected calibration error, and the error in each resample [B], NaN of no cases.

    Cases are resampled within the bins of `diagram`, whose edges are fixed; how many fall into each varies.

    Noise turns signed gaps of 0 into absolute ones, so the error is too large, and that of resamples more so. The noise
    of the gaps, wider by Student's t for few units, is therefore added to gaps that are shrunk by its variance, and the
    samples are moved to vary about the error. The lower bound is λ·error for the λ at which noise added to λ·gaps
    exceeds the error in 2.5 %, 0 where noise alone does; the upper one is the error plus 1.96 standard deviations of
    the samples. Neither interval nor samples of one unit alone. Measured coverage and level:
    `python -m tests.benchmarks.bench_coverage classification`.
    """
    if len(draws.times) < 2 or draws.units < 2:
        return NONE, np.zeros(0)
    units, bins = draws.units, len(diagram.n)
    sums = draws.sums(diagram.place, bins, confidence - right)
    sizes = draws.sums(np.zeros_like(diagram.place), 1)
    gaps = sums[0] / sizes[0]
    known = sizes[1:, 0] > 0
    noise = (sums[1:][known] / sizes[1:][known] - gaps) * (student(units - 1) / Z95)
    shrunk = np.sign(gaps) * root(gaps**2 - noise.var(axis=0))
    drawn = np.abs(shrunk + noise).sum(axis=1)
    value = float(np.abs(gaps).sum())
    samples = np.full(len(known), np.nan)
    samples[known] = value + drawn - drawn.mean()
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        below = np.quantile(np.abs(middle * gaps + noise).sum(axis=1), 0.975) < value
        low, high = (middle, high) if below else (low, middle)
    return (low * value, min(1.0, value + Z95 * float(drawn.std()))), samples


def brier(probabilities: Floats, truth: Ints) -> Floats:
    """Return each case's Brier score [n]: Σ over classes of (p − [class is true])², 0 … 2. probabilities: [n, k].

    Of two classes half of that, 0 … 1: the squared error of the probability of one of them. Equal to scikit-learn's
    brier_score_loss. Source: Brier 1950.
    """
    true = probabilities[np.arange(len(truth)), truth]
    scores: Floats = np.einsum("nk,nk->n", probabilities, probabilities) - true**2 + (1.0 - true) ** 2
    return scores / 2 if probabilities.shape[1] == 2 else scores


def log_loss(probabilities: Floats, truth: Ints) -> Floats:
    """Return each case's −ln of the probability of its true class [n], cut to SMALLEST … 1 − SMALLEST: 0 … 36.04.

    probabilities: [n, k]. Equal to scikit-learn's log_loss.
    """
    return log_losses(probabilities[np.arange(len(truth)), truth])


def log_losses(true: Floats) -> Floats:
    """Return −ln of probabilities [n] of what is true, cut to SMALLEST … 1 − SMALLEST."""
    losses: Floats = np.clip(true, SMALLEST, 1.0 - SMALLEST)
    np.log(losses, out=losses)
    np.negative(losses, out=losses)
    return losses
