"""Agreement statistics in many resamples at once: κ, α, Spearman's ρ and rates.

`draws` [B, n] says how often each rated item occurs in each resample; a row of ones is the data itself. A statistic
that a resample does not have is NaN.
"""

from typing import Literal

import numpy as np

from metrics.core.array_types import Bools, Floats, Ints
from metrics.core.rounding import EQUAL, NEAR
from metrics.stats.bootstrap_draws import counted, draw_weights
from metrics.stats.ratios import ratio

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
