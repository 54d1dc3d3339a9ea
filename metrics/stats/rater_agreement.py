"""Agreement of raters in many resamples at once (κ, α, Spearman's ρ, rates), whether a judge may take the place of one,
raters' errors without a known truth, and the thresholds that labels choose.

`draws` [B, n] says how often each rated item occurs in each resample; a row of ones is the data itself. A statistic
that a resample does not have is NaN.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from metrics.core.array_types import Bools, Floats, Ints
from metrics.core.rounding import EQUAL, NEAR, at_least
from metrics.core.sampling_design import cluster_codes
from metrics.stats.bootstrap import counted, draw_weights
from metrics.stats.cluster_variance import cluster_sums, cluster_variance
from metrics.stats.corrections import benjamini_yekutieli, is_significant
from metrics.stats.float_tolerance import ratio, weighted_mean
from metrics.stats.student_t import student_p

Level = Literal["nominal", "ordinal", "interval", "ratio"]
RESAMPLES = 1_000
CELLS = 40_000_000  # of the matrix of draws; with more items there are fewer resamples
FEWEST_RESAMPLES = 200


def draws_of(clusters: Ints, seed: int = 0, resamples: int = RESAMPLES) -> Floats:
    """Return the data itself, then resamples of whole clusters (codes 0 … c − 1 by item): [1 + B, n]."""
    least = min(resamples, FEWEST_RESAMPLES)
    drawn = draw_weights(clusters.astype(np.int32), max(least, min(resamples, CELLS // max(1, len(clusters)))), seed)
    return np.vstack([np.ones((1, len(clusters))), drawn.astype(np.float64)])


def kappas(tables: Floats, quadratic: bool = False, linear: bool = False) -> Floats:
    """Return Cohen's κ [B] of each table of counts [B, k, k] of two raters: agreement above chance.

        κ = 1 − Σ w·observed / Σ w·expected,  expected = rows × columns / n
        w = 1 off the diagonal, or with `linear` |i − j|, with `quadratic` (i − j)² of the labels' places

    From −1 to 1, 0 at chance; NaN where chance alone would always agree. Sources: Cohen 1960, 1968.
    """
    places = np.arange(tables.shape[1], dtype=np.float64)
    apart = places[:, None] - places[None, :]
    weight = apart**2 if quadratic else np.abs(apart) if linear else (apart != 0).astype(np.float64)
    expected = tables.sum(axis=2)[:, :, None] * tables.sum(axis=1)[:, None, :]
    with np.errstate(invalid="ignore", divide="ignore"):
        chance = (weight * expected).sum(axis=(1, 2)) / tables.sum(axis=(1, 2))
        return np.where(chance > 0, 1.0 - (weight * tables).sum(axis=(1, 2)) / chance, np.nan)


def fleiss_kappas(ratings: Floats, draws: Floats) -> Floats:
    """Return Fleiss' κ [B] of any number of raters, of `ratings` [n units, raters], NaN where a rater gave none.

        κ = (P − E) / (1 − E)
        P = mean over units of Σ h·(h − 1) / (m·(m − 1)),  E = Σ over values of (mean over units of h / m)²

    with h of a unit's m ratings on a value; units with fewer than two ratings are left out. At most 1, 0 at chance; NaN
    where chance alone would always agree, or no unit has two ratings. Sources: Fleiss 1971; with other numbers of
    ratings by unit Gwet 2014, Handbook of Inter-Rater Reliability.
    """
    paired = _paired(ratings)
    ratings, draws = ratings[paired], draws[:, paired]
    held = (ratings[:, :, None] == np.unique(ratings[~np.isnan(ratings)])).sum(axis=1).astype(np.float64)
    m = held.sum(axis=1)
    units = draws.sum(axis=1)
    agreed = ratio(draws @ (((held**2).sum(axis=1) - m) / (m * (m - 1))), units)
    chance = (ratio(draws @ (held / m[:, None]), units[:, None]) ** 2).sum(axis=1)
    return ratio(agreed - chance, np.where(chance < 1.0 - EQUAL, 1.0 - chance, 0.0))


def alphas(ratings: Floats, draws: Floats, level: Level) -> Floats:
    """Return Krippendorff's α [B] of `ratings` [n units, raters], NaN where a rater gave none.

    α = 1 − observed / expected disagreement over the coincidences of values within a unit; two values v, w disagree by

        nominal   1
        ordinal   (difference of their mid-ranks among all ratings)²
        interval  (v − w)²
        ratio     ((v − w) / (v + w))², of values from 0 up; ValueError below

    At most 1, 0 at chance; NaN where no unit has two ratings, or all are the same. Both kinds of disagreement are sums
    over units, so that a resample only adds them up again; mid-ranks are those of the resample.
    Source: Krippendorff 2011, "Computing Krippendorff's alpha-reliability".
    """
    paired = _paired(ratings)
    if not paired.any():
        return np.full(len(draws), np.nan)
    ratings, draws = ratings[paired], draws[:, paired]
    given = ~np.isnan(ratings)
    m = given.sum(axis=1).astype(np.float64)
    total = draws @ m
    if level == "interval":
        observed, expected = _squared(ratings, given, m, draws)
    else:
        kinds, codes = np.unique(ratings[given], return_inverse=True)
        held = np.zeros((len(ratings), len(kinds)))
        np.add.at(held, (np.nonzero(given)[0], codes), 1.0)
        sums = draws @ held
        if level == "nominal":
            observed = draws @ ((m**2 - (held**2).sum(axis=1)) / (m - 1.0))
            expected = total**2 - (sums**2).sum(axis=1)
        elif level == "ratio":
            apart = _ratio_differences(kinds)
            observed = draws @ (((held @ apart) * held).sum(axis=1) / (m - 1.0))
            expected = ((sums @ apart) * sums).sum(axis=1)
        else:
            ranks = ratio(sums.cumsum(axis=1) - sums / 2, total[:, None], 0.0)
            ranked = np.full(ratings.shape, np.nan)
            parts = []
            for own, row in zip(ranks, draws, strict=True):  # of each resample its own
                ranked[given] = own[codes]
                parts.append(_squared(ranked, given, m, row[None]))
            observed, expected = (np.concatenate(part) for part in zip(*parts, strict=True))
    with np.errstate(invalid="ignore", divide="ignore"):
        found = 1.0 - (total - 1.0) * observed / expected
    return np.where(expected > EQUAL * np.maximum(1.0, total**2), found, np.nan)


def _paired(ratings: Floats) -> Bools:
    """Return which units [n] have two ratings or more."""
    return np.asarray((~np.isnan(ratings)).sum(axis=1) > 1)


def _squared(ratings: Floats, given: Bools, m: Floats, draws: Floats) -> tuple[Floats, Floats]:
    """Return the observed and the expected sum [B] of squared differences of ratings [n, raters], `given` m a unit."""
    filled = np.where(given, ratings, 0.0)
    held = np.stack([filled.sum(axis=1), (filled**2).sum(axis=1)], axis=1)
    sums = draws @ held
    observed = draws @ (2.0 * (m * held[:, 1] - held[:, 0] ** 2) / (m - 1.0))
    return observed, 2.0 * ((draws @ m) * sums[:, 1] - sums[:, 0] ** 2)


def _ratio_differences(kinds: Floats) -> Floats:
    """Return ((v − w) / (v + w))² of all pairs of values [k], 0 of two zeros; ValueError where one is below 0."""
    if kinds.min() < 0:
        raise ValueError(f"α of ratios needs values from 0 up, not {kinds.min():g}")
    return ratio(kinds[:, None] - kinds, kinds[:, None] + kinds, 0.0) ** 2


def spearmans(x: Floats, y: Floats, draws: Floats) -> Floats:
    """Return Spearman's ρ [B], the correlation of mid-ranks, of x and y [n] in each resample.

    NaN where x or y is the same throughout; ranks are as large as the weights' sum, and so is what rounding leaves.
    """
    a, b = _ranks(x, draws), _ranks(y, draws)
    total = draws.sum(axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        a -= (draws * a).sum(axis=1, keepdims=True) / total
        b -= (draws * b).sum(axis=1, keepdims=True) / total
        wa, wb = draws * a, draws * b
        spread = np.sqrt((wa * a).sum(axis=1) * (wb * b).sum(axis=1))
        return np.where(spread > NEAR * total[:, 0] ** 3, (wa * b).sum(axis=1) / spread, np.nan)


def _ranks(values: Floats, draws: Floats) -> Floats:
    """Return the mid-rank of each item in each resample: [B, n]."""
    kinds, inverse = np.unique(values, return_inverse=True)
    times = counted(draws, inverse, len(kinds))
    return (times.cumsum(axis=1) - times / 2 + 0.5)[:, inverse]


def aucs(scores: Floats, passed: Bools, draws: Floats) -> Floats:
    """Return the AUC [B] in each resample: the chance that a passed item scores higher than a failed one, ties half.

    scores, passed: [n]. 0 … 1, ½ at chance; NaN in a resample of one kind only. Source: Hanley and McNeil 1982.
    """
    kinds, place = np.unique(scores, return_inverse=True)
    good, bad = (counted(draws[:, kind], place[kind], len(kinds)) for kind in (passed, ~passed))
    pairs = good.sum(axis=1) * bad.sum(axis=1)
    below = bad.cumsum(axis=1) - bad / 2
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(pairs > 0, (good * below).sum(axis=1) / pairs, np.nan))


FEWEST_RATERS = 3  # with two the test only says which of them the judge is closer to
FEWEST_ITEMS = 30  # of each rater, for the t test
SUFFICIENT = 0.5  # of the raters: the winning rate from which on the judge may replace a person


@dataclass(frozen=True, slots=True)
class AnnotatorTest:
    """The judge against one rater, on `n` items that other raters labelled, too.

    judge, rater: the share of items on which it agrees with the others at least as well as the other does; p: of the
    judge being behind by ε or more; adjusted: of all raters' p.
    """

    judge: float
    rater: float
    n: int
    p: float
    adjusted: float

    @property
    def wins(self) -> bool:
        """Whether the judge is significantly better than the rater less ε."""
        return is_significant(self.adjusted)


def alternative_annotator(passes: Floats, ratings: Floats, clusters: Ints, epsilon: float) -> list[AnnotatorTest]:
    """Return the test of a judge against each rater, of items in clusters (codes [n]).

    passes: [n] the judge's verdicts, 1, 0 or the share of its thresholds that an item passes; ratings: [n, k] 1 pass, 0
    fail, NaN none. Of each item of a rater, a_f and a_h are the shares of the other raters who say what judge and rater
    say:

        d = [a_h ≥ a_f] − [a_f ≥ a_h],  p of the t test of mean d ≥ ε, clustered (CR2), over the raters by
        Benjamini and Yekutieli

    Where d is the same throughout, p is that of so many clusters without a loss, (1 − ε)^c. Only items count of which
    another rater has a label; NaN and p = 1 of a rater without any. Source: Calderon, Reichart & Dror, "The Alternative
    Annotator Test for LLM-as-a-Judge", ACL 2025.
    """
    given = ~np.isnan(ratings)
    passed, counts = np.where(given, ratings, 0.0).sum(axis=1), given.sum(axis=1)
    found = []
    for own, there in zip(ratings.T, given.T, strict=True):
        rows = np.flatnonzero(there & (counts > 1) & ~np.isnan(passes))
        label, verdict = own[rows], passes[rows]
        others = counts[rows] - 1
        like_rater = np.where(label == 1, passed[rows] - 1, others - passed[rows])  # of the others
        alike = np.where(label == 1, verdict, 1 - verdict)  # how far the judge says what the rater says
        judge, rater = (alike + (1 - alike) * (2 * side >= others) for side in (others - like_rater, like_rater))
        means = (weighted_mean(judge), weighted_mean(rater))
        found.append((*means, len(rows), _p(rater - judge, clusters[rows], epsilon) if len(rows) else 1.0))
    adjusted = benjamini_yekutieli(np.array([p for *_, p in found])).tolist()
    return [AnnotatorTest(*one, value) for one, value in zip(found, adjusted, strict=True)]


def _p(d: Floats, clusters: Ints, epsilon: float) -> float:
    """Return the one-sided p of mean d ≥ ε."""
    codes = cluster_codes(clusters)
    residuals = cluster_sums(np.column_stack([d - d.mean(), np.ones(len(d))]), codes)
    if len(residuals) < 2 or not residuals[:, 0].any():
        return 1.0 if at_least(d.mean(), epsilon) else float((1 - epsilon) ** len(residuals))
    variance, freedom = cluster_variance(residuals[:, :1], residuals[:, 1:], residuals[:, 1:])
    t = (d.mean() - epsilon) / np.sqrt(variance)
    tail = float(student_p(np.abs(t), freedom)[0]) / 2
    return tail if t[0] < 0 else 1 - tail


SMOOTHING = 0.5  # pseudo-labels of each kind, so that a rater of a few labels is never infallible
ITERATIONS = 500
CHANGE = 1e-7  # of a probability, below which the estimates stand


def dawid_skene(ratings: Floats, draws: Floats, smoothing: float = SMOOTHING) -> Floats:
    """Return the share of items that truly pass, raters' sensitivities and specificities, in each resample [B, 1 + 2k].

    ratings: [n, k] 1 pass, 0 fail, NaN none; draws: [B, n] how often each item occurs. Given what an item truly is,
    raters err independently of each other; the estimates maximise

        Σ log(π·Π Se^y·(1 − Se)^(1 − y) + (1 − π)·Π (1 − Sp)^y·Sp^(1 − y)) + smoothing·Σ log θ(1 − θ)

    over θ = π, Se and Sp, by expectation and maximisation from the shares of raters who pass each item. They are
    determined for three raters or more whose labels overlap; see `connected_raters`. Where some items are hard for all
    raters, these err together, and are worse than the estimates say. Source: Dawid & Skene, Applied Statistics 28:20,
    1979.
    """
    kinds, which = np.unique(np.where(np.isnan(ratings), -1.0, ratings), axis=0, return_inverse=True)
    weight = counted(draws, which.ravel(), len(kinds))
    passed, failed = (kinds == 1).astype(np.float64), (kinds == 0).astype(np.float64)
    given = np.maximum(1.0, (passed + failed).sum(axis=1))
    chance = np.broadcast_to(passed.sum(axis=1) / given, weight.shape)
    for _ in range(ITERATIONS):
        good, bad = weight * chance, weight * (1 - chance)
        share, sensitivity, specificity = (
            (hits + smoothing) / (hits + misses + 2 * smoothing)
            for hits, misses in (
                (good.sum(axis=1, keepdims=True), bad.sum(axis=1, keepdims=True)),
                (good @ passed, good @ failed),
                (bad @ failed, bad @ passed),
            )
        )
        odds = np.log(share / (1 - share)) + np.log(sensitivity / (1 - specificity)) @ passed.T
        odds += np.log((1 - sensitivity) / specificity) @ failed.T
        before, chance = chance, 1 / (1 + np.exp(-np.clip(odds, -500, 500)))
        if np.abs(chance - before).max(initial=0.0) < CHANGE:
            break
    return np.concatenate([share, sensitivity, specificity], axis=1)


def connected_raters(ratings: Floats, enough: int) -> Bools:
    """Return which raters [k] are one of three of whom each two have `enough` items in common.

    Two raters alone determine no errors: who of them is wrong where they differ, nobody knows.
    """
    given = (~np.isnan(ratings)).astype(np.float64)
    pairs = (given.T @ given >= enough).astype(np.float64)
    np.fill_diagonal(pairs, 0.0)
    return np.asarray(np.diagonal(pairs @ pairs @ pairs) > 0, bool)


CANDIDATES = 200  # thresholds that are tried


def best_thresholds(scores: Floats, passed: Bools, draws: Floats) -> tuple[Floats, Floats]:
    """Return Youden's threshold t in each resample (pass: score ≥ t), and its balanced accuracy on the same items.

    scores, passed: [n]; draws: [B, n] how often each item is in each resample. Candidates lie half way between
    neighbouring scores, at most CANDIDATES of them. Of equally good ones the middle. NaN in a resample of one kind
    only. Balanced accuracy = (sensitivity + specificity) / 2. Source: Youden 1950.
    """
    kinds = np.unique(scores)
    if len(kinds) > CANDIDATES:
        kinds = np.unique(np.quantile(kinds, np.linspace(0, 1, CANDIDATES), method="nearest"))
    cuts = (kinds[1:] + kinds[:-1]) / 2
    if not len(cuts):
        nothing = np.full(len(draws), np.nan)
        return nothing, nothing
    place = np.searchsorted(cuts, scores, side="right")  # how many thresholds the item passes
    balanced = _balanced(place, passed, draws, len(cuts))
    top = np.nanmax(np.where(np.isnan(balanced), -np.inf, balanced), axis=1, keepdims=True)
    good = balanced >= top - EQUAL
    ranks = good.cumsum(axis=1)
    middle = (ranks == (ranks[:, -1:] + 1) // 2).argmax(axis=1)
    found, rows = np.isfinite(top[:, 0]), np.arange(len(draws))
    return np.where(found, cuts[middle], np.nan), np.where(found, balanced[rows, middle], np.nan)


def held_out_passes(scores: Floats, cuts: Floats, draws: Floats) -> Floats:
    """Return which share of the thresholds that were chosen without it each item passes: [n], NaN where there is none.

    scores: [n]; cuts: [B] the threshold that each resample chose, NaN for none; draws: [B, n] how often each item is in
    each resample. A threshold judged by the labels that chose it looks better than it is: with ten labels, a judge that
    knows nothing had a κ of .30 on average, and .00 out of the bag. Source: Efron & Tibshirani 1997.
    """
    outside = (draws == 0) & ~np.isnan(cuts)[:, None]
    with np.errstate(invalid="ignore"):
        return np.asarray((outside & (scores >= cuts[:, None])).sum(axis=0) / outside.sum(axis=0))


def _balanced(place: Ints, passed: Bools, draws: Floats, cuts: int) -> Floats:
    """Return the balanced accuracy at each threshold [B, cuts]; NaN in a resample of one kind only."""
    by_kind = [counted(draws[:, kind], place[kind], cuts + 1) for kind in (passed, ~passed)]
    totals = [kind.sum(axis=1, keepdims=True) for kind in by_kind]
    with np.errstate(invalid="ignore", divide="ignore"):
        sensitivity = 1.0 - by_kind[0].cumsum(axis=1)[:, :cuts] / totals[0]
        specificity = by_kind[1].cumsum(axis=1)[:, :cuts] / totals[1]
        return np.asarray((sensitivity + specificity) / 2)
