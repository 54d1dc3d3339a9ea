"""Means and shares of a judge, corrected by a few people's labels: prediction-powered means, Rogan and Gladen's share,
and which outputs to draw for labelling.
"""

import math
from dataclasses import dataclass

import numpy as np

from metrics.core.array_types import Bools, Floats, Ints
from metrics.core.rounding import EQUAL, exact_sum
from metrics.stats.intervals import NONE, Interval, wilson
from metrics.stats.student_t import Z95, student, student_p

TINY = EQUAL**2
FEWEST = 4  # labelled clusters; with fewer neither the slope nor a variance is known
PSEUDO = 8.0  # residuals of half the labels' range that are added to the squared ones


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean of labels with its 95 % interval: from `n` labelled of `total` judged outputs in `clusters` clusters.

    `weight` is λ, how much the judge counts: 0 not at all (the mean of the labels alone). low, high: None with
    fewer than FEWEST labelled clusters.
    """

    value: float
    low: float | None
    high: float | None
    n: int
    total: int
    clusters: int
    weight: float


@dataclass(frozen=True, slots=True)
class ContrastEstimate:
    """The difference of two corrected means, b − a, with its 95 % interval and the p of no difference."""

    value: float
    low: float | None
    high: float | None
    p: float | None


@dataclass(frozen=True, eq=False, slots=True)
class Correction:
    """One corrected mean before its interval: `influence` [clusters] adds up to its error.

    labelled: clusters with a label; effective: how many equally weighted ones they are worth; freedom: degrees of the
    variance; floor: variance added because agreement with a few labels is not certainty.
    """

    value: float
    weight: float
    influence: Floats
    labelled: int
    effective: float
    freedom: int
    floor: float

    @property
    def variance(self) -> float:
        """The estimated variance of `value`."""
        return float(self.influence @ self.influence) * self.labelled / self.freedom + self.floor


def corrected_mean(
    judged: Floats,
    labels: Floats,
    weights: Floats | None = None,
    clusters: Ints | None = None,
    power: bool = True,
    chances: Floats | None = None,
) -> Estimate | None:
    """Return the mean that people would give such outputs, from labels of some and a judge's scores of all.

        θ = ȳ + β·(mean(f) of all − f̄),  ȳ and f̄ of the labelled, each with the weight w / π
        ψ = (w/π)·(y − ȳ − β·(f − f̄)) / Σ w/π of a labelled output, + β·w·(f − mean(f) of all) / Σ w of any output
        Var θ = Σ over clusters (Σ ψ)²
        β = b·max(0, 1 − c² / t²), b the slope of y on f over the labelled clusters, t its ratio to its error

    π are the `chances` with which the outputs were drawn for labelling, by default equal; only their ratios matter.
    λ = β·N / (n + N), of N outputs without a label, is the tuned λ of PPI++ and the regression estimator of two-phase
    sampling: with few outputs unlabelled the judge counts little, with all labelled not at all. The variance of f is
    that of the labelled, as one of a few others would say little. c is the 95 % point of Student's t, with as many
    degrees of freedom as labels tell, so a slope that may be chance is 0 and the mean that of the labels alone, as with
    `power` off. In θ and ψ each labelled cluster has the β of the other clusters, which leaves no bias.
    θ is of the population that the suite's cases were drawn from, like the leaderboard's intervals: with all outputs
    labelled it still has an interval.

    judged: [m] scores of any scale; labels: [m], NaN where there is no label; weights w: [m], default 1; clusters: [m]
    codes, default each its own; chances: [m] in (0, 1], read where there is a label. None without any label.

    The interval is Student's with labelled clusters − 2 degrees of freedom. Where every label is 0 or 1 it is Wilson's
    with the n that a plain share would need to be as sure, so it stays within [0, 1]. PSEUDO squared residuals of half
    the range of the labels are added, shared by the residuals that tell: agreement with a few labels is not certainty.
    Unbiased only if what is labelled was drawn at random, with these chances.
    Sources: Angelopoulos, Duchi & Zrnic 2023, "PPI++: Efficient Prediction-Powered Inference"; Zrnic & Candès 2024,
    "Active Statistical Inference"; Särndal, Swensson & Wretman 1992, 9.7; Korn & Graubard 1998.

    >>> estimate = corrected_mean(np.array([1.0, 1, 0, 0, 1, 1, 1, 0]), np.array([1.0, 1, 0, 0] + [np.nan] * 4))
    >>> round(estimate.value, 3), round(estimate.weight, 3)
    (0.625, 0.5)
    """
    fit = fit_correction(judged, labels, weights, clusters, power, chances)
    if fit is None:
        return None
    known = ~np.isnan(labels)
    low, high = NONE if fit.labelled < FEWEST else _interval(fit, labels[known])
    return Estimate(fit.value, low, high, int(known.sum()), len(labels), fit.labelled, fit.weight)


def fit_correction(
    judged: Floats,
    labels: Floats,
    weights: Floats | None = None,
    clusters: Ints | None = None,
    power: bool = True,
    chances: Floats | None = None,
) -> Correction | None:
    """Return a corrected mean and how each cluster moves it; see `corrected_mean`. None without any label."""
    known = ~np.isnan(labels)
    total = len(labels)
    weight = np.ones(total) if weights is None else weights
    groups: Ints = np.arange(total, dtype=np.int64) if clusters is None else clusters
    mine = np.where(known, weight if chances is None else weight / np.where(known, chances, 1.0), 0.0)
    if mine.sum() <= 0:
        return None
    mine, whole = mine / mine.sum(), weight / weight.sum()
    count = int(groups.max(initial=-1)) + 1

    def by_cluster(parts: Floats) -> Floats:
        return np.bincount(groups, parts, count).astype(np.float64)

    mass = by_cluster(mine)
    mine_too = mass > 0
    labelled = int(mine_too.sum())
    value = float(mine @ np.where(known, labels, 0.0))
    influence = by_cluster(mine * np.where(known, labels - value, 0.0))
    share = float(whole[~known].sum())
    slope = 0.0
    if power and share > 0 and labelled >= FEWEST:
        rest = float(whole[~known] @ judged[~known]) / share
        scores = by_cluster(mine * (judged - mine @ judged))
        slope, others = _slopes(influence[mine_too], scores[mine_too], mass[mine_too])
        slopes = np.full(count, slope)
        slopes[mine_too] = others
        value -= float(slopes @ by_cluster(np.where(known, mine - whole, 0.0) * (judged - rest)))
        influence -= slopes * (scores - by_cluster(whole * (judged - whole @ judged)))
    freedom = max(1, labelled - (2 if slope else 1))
    effective = float(1 / (mass @ mass))
    floor = 0.0
    if slope:
        squares = influence[mine_too] ** 2
        telling = float(squares.sum() ** 2 / (squares**2).sum()) if squares.sum() > TINY else 0.0
        size = effective * float(known.sum()) / labelled
        floor = share * PSEUDO * (float(np.ptp(labels[known])) / 2 / size) ** 2 / (1 + telling / 2)
    return Correction(value, slope * share, influence, labelled, effective, freedom, floor)


def _slopes(labels: Floats, scores: Floats, mass: Floats) -> tuple[float, Floats]:
    """Return the shrunk slope of labels on scores, sums by labelled cluster around their means, and without each one.

    Leaving one of n equal clusters out takes n / (n − 1) times its product from the sum, as the means move, too.
    """
    left = 1 / np.maximum(1 - mass, TINY)

    def with_and_without(parts: Floats, scale: Floats | float = 1.0) -> Floats:
        return np.append(parts.sum(), parts.sum() - parts * scale)

    product, square, spread = (
        with_and_without(a * b, left) for a, b in ((labels, scores), (scores, scores), (labels, labels))
    )
    slope = np.divide(product, square, out=np.zeros(len(square)), where=square > TINY)
    explained = slope * product
    shift = np.append(0.0, labels * (left - 1))  # of the others' deviations, as their mean is another
    third, fourth, second = (with_and_without(labels**power) for power in (3, 4, 2))
    fourth += 4 * shift * third + 6 * shift**2 * second - 4 * shift**3 * np.append(0.0, labels)
    fourth += shift**4 * (len(mass) - 1)
    telling = np.divide(spread**2, fourth, out=np.zeros(len(square)), where=fourth > TINY**2)
    freedom = np.minimum(len(mass) - np.append(2, np.full(len(mass), 3)), telling - 1)
    limits = np.array([student(one) ** 2 for one in freedom.tolist()])
    rest = np.maximum(spread - explained, 0.0) / np.maximum(len(mass) - 3, 1)
    doubt = np.divide(rest, explained, out=np.ones(len(square)), where=explained > TINY**2)
    clear = np.isfinite(limits)
    slope[clear] *= np.maximum(0.0, 1 - limits[clear] * doubt[clear])
    slope[~clear] = 0.0
    return float(slope[0]), slope[1:]


def corrected_difference(
    a: tuple[Floats, Floats],
    b: tuple[Floats, Floats],
    weights: Floats | None = None,
    clusters: Ints | None = None,
    chances: tuple[Floats, Floats] | None = None,
) -> ContrastEstimate | None:
    """Return the difference b − a of two models' corrected means on the same cases; see `corrected_mean`.

    a, b: scores and labels [m], case by case; outputs of both models of a case may be labelled, of one or of none.
    The variance is that of the clusters' influences on the difference, so labels of the same cases make it smaller
    where people's verdicts of both go together. Student's t with Satterthwaite's degrees of freedom. None where a model
    has no label; no interval with fewer than FEWEST labelled clusters of a model.
    """
    fits = [
        fit_correction(*pair, weights, clusters, True, None if chances is None else chances[place])
        for place, pair in enumerate((a, b))
    ]
    first, second = fits
    if first is None or second is None:
        return None
    value = second.value - first.value
    if min(first.labelled, second.labelled) < FEWEST:
        return ContrastEstimate(value, None, None, None)
    scaled = [fit.influence * math.sqrt(fit.labelled / fit.freedom) for fit in (first, second)]
    apart = scaled[1] - scaled[0]
    variance = float(apart @ apart) + first.floor + second.floor
    if variance <= TINY:
        return ContrastEstimate(value, None, None, None)
    squares = [fit.variance**2 / fit.freedom for fit in (first, second)]
    freedom = (first.variance + second.variance) ** 2 / max(exact_sum(squares), 1e-300)
    half, error = student(freedom) * math.sqrt(variance), math.sqrt(variance)
    p = float(student_p(np.array([abs(value) / error]), np.array([freedom]))[0])
    return ContrastEstimate(value, value - half, value + half, p)


def _interval(fit: Correction, labels: Floats) -> Interval:
    value, variance, t = fit.value, fit.variance, student(fit.freedom)
    if not np.isin(labels, (0.0, 1.0)).all():
        half = t * math.sqrt(variance)
        return (value - half, value + half) if variance > TINY else NONE
    share = min(1.0, max(0.0, value))
    spread = variance * (t / Z95) ** 2
    inside = EQUAL < share < 1 - EQUAL and spread > EQUAL**2
    known = share * (1 - share) / spread if inside else fit.effective
    return wilson(share * known, known)


def true_share(
    passed: float, size: float, sensitivity: float, positives: float, specificity: float, negatives: float
) -> tuple[float, Interval]:
    """Return the share that people would pass and its 95 % interval; NaN and none where the judge is near chance.

        π = (p + Sp − 1) / (Se + Sp − 1), within 0 … 1

    passed: p, the share of `size` outputs that the judge passes; sensitivity, specificity: Se of `positives` that
    people pass, Sp of `negatives` that they fail; sizes need not be whole (effective sizes). The interval is π' + d ±
    z·s of the shares p' = (p·n + z²/2) / (n + z²), Se' = (Se·m + 1) / (m + 2) and Sp' alike:

        s² = (p'(1 − p')/(n + z²) + π'²·Se'(1 − Se')/(m + 2) + (1 − π')²·Sp'(1 − Sp')/(k + 2)) / (Se' + Sp' − 1)²
        d = 2z²·(π'·Se'(1 − Se')/(m + 2) − (1 − π')·Sp'(1 − Sp')/(k + 2))

    Where Se' + Sp' − 1 is not significantly above 0, any share could be behind p, and there is no number.
    Sources: Rogan & Gladen, American Journal of Epidemiology 107:71, 1978; Lang & Reiczigel, Preventive Veterinary
    Medicine 113:13, 2014.

    >>> share, (low, high) = true_share(0.7, 400, 0.9, 60, 0.8, 40)
    >>> round(share, 3), round(low, 3), round(high, 3)
    (0.714, 0.6, 0.839)
    """
    if min(size, positives, negatives) <= 0:
        return math.nan, NONE
    n, m, k = size + Z95**2, positives + 2, negatives + 2
    p, se, sp = (passed * size + Z95**2 / 2) / n, (sensitivity * positives + 1) / m, (specificity * negatives + 1) / k
    of_se, of_sp, skill = se * (1 - se) / m, sp * (1 - sp) / k, se + sp - 1
    if skill <= Z95 * math.sqrt(of_se + of_sp) or sensitivity + specificity <= 1:
        return math.nan, NONE
    share = min(1.0, max(0.0, (passed + specificity - 1) / (sensitivity + specificity - 1)))
    middle = (p + sp - 1) / skill
    half = Z95 * math.sqrt(p * (1 - p) / n + middle**2 * of_se + (1 - middle) ** 2 * of_sp) / skill
    middle += 2 * Z95**2 * (middle * of_se - (1 - middle) * of_sp)
    return share, (max(0.0, min(share, middle - half)), min(1.0, max(share, middle + half)))


UNIFORM = 0.3  # share of the draws that do not depend on the score, so that no output has chance 0


def draw_sizes(scores: Floats, low: float, high: float, middle: float) -> Floats:
    """Return the relative chances [m] ≥ UNIFORM, of mean 1, with which outputs are drawn, from their scores [m].

        size = UNIFORM + (1 − UNIFORM)·s / mean(s),  s = √(p·(1 − p))

    p is the score as a chance to pass: 0 at `low`, ½ at `middle`, 1 at `high` (`low` < `middle` < `high`), linear
    between. So s is the error expected of the score, and chances in proportion to it make the variance of the corrected
    mean least. An output without a score (NaN) has size 1, as all do where no score leaves a doubt.
    Source: Zrnic & Candès 2024, "Active Statistical Inference".

    >>> draw_sizes(np.array([0.0, 0.5, 1.0]), 0.0, 1.0, 0.5).round(3).tolist()
    [0.3, 2.4, 0.3]
    """
    chance = np.interp(scores, (low, middle, high), (0.0, 0.5, 1.0))
    doubt = np.sqrt(chance * (1 - chance))
    known = ~np.isnan(doubt)
    mean = float(doubt[known].mean()) if known.any() else 0.0
    if mean <= 0:
        return np.ones(len(scores))
    sizes = np.ones(len(scores))
    sizes[known] = UNIFORM + (1 - UNIFORM) * doubt[known] / mean
    return sizes


def draw_chances(ranks: Floats, sizes: Floats, drawn: Bools, weighted: Bools, random: Bools) -> Floats:
    """Return the chance [m] with which each output was to be drawn; NaN for those that no draw reached.

    An output is reached where its place in the random order, as a share `ranks` [m] in (0, 1], is at most that of the
    last one of `drawn`; or at most its size times the highest rank / size of the `weighted` ones (sequential Poisson
    sampling); or where it is one of the `random` ones of another sample, of which each output has the same chance. So
    π = 1 − (1 − max(drawn, size·weighted))·(1 − random).
    Sources: Ohlsson, Journal of Official Statistics 14:149, 1998; Duffield, Lund & Thorup, Journal of the ACM 54(6),
    2007.
    """
    drawn_to = float(ranks[drawn].max(initial=0.0))
    weighted_to = float((ranks / sizes)[weighted].max(initial=0.0))
    chance = np.minimum(1.0, np.maximum(drawn_to, sizes * weighted_to))
    elsewhere = float(random.mean()) if len(random) else 0.0
    reached = (ranks <= drawn_to) | (ranks / sizes <= weighted_to) | random
    return np.where(reached, 1 - (1 - chance) * (1 - elsewhere), np.nan)
