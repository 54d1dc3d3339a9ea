"""Agreement statistics in many resamples at once: κ, α, Spearman's ρ and rates.

`draws` [B, n] says how often each rated item occurs in each resample; a row of ones is the data itself. A statistic
that a resample does not have is NaN.
"""

import numpy as np

from metrics.core.array_types import Bools, Floats, Ints
from metrics.core.rounding import EQUAL, NEAR
from metrics.stats.bootstrap_draws import counted, draw_weights

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


def alphas(ratings: Floats, draws: Floats, nominal: bool) -> Floats:
    """Return Krippendorff's α [B], nominal or interval, of `ratings` [n units, raters], NaN where a rater gave none.

    α = 1 − observed / expected disagreement over the coincidences of values within a unit; two values v, w disagree by
    1 (nominal) or (v − w)² (interval). At most 1, 0 at chance; NaN where no unit has two ratings, or all are the same.
    Both kinds of disagreement are sums over units, so that a resample only adds them up again.
    Source: Krippendorff 2011, "Computing Krippendorff's alpha-reliability".
    """
    given = ~np.isnan(ratings)
    sizes = given.sum(axis=1)
    paired = sizes > 1
    if not paired.any():
        return np.full(len(draws), np.nan)
    ratings, given, draws = ratings[paired], given[paired], draws[:, paired]
    m = sizes[paired].astype(np.float64)
    if nominal:
        kinds = np.unique(ratings[given])
        held = np.stack([((ratings == kind) & given).sum(axis=1) for kind in kinds], axis=1).astype(np.float64)
    else:
        filled = np.where(given, ratings, 0.0)
        held = np.stack([filled.sum(axis=1), (filled**2).sum(axis=1)], axis=1)
    own = m**2 - (held**2).sum(axis=1) if nominal else 2.0 * (m * held[:, 1] - held[:, 0] ** 2)
    observed, total, sums = draws @ (own / (m - 1.0)), draws @ m, draws @ held
    expected = total**2 - (sums**2).sum(axis=1) if nominal else 2.0 * (total * sums[:, 1] - sums[:, 0] ** 2)
    with np.errstate(invalid="ignore", divide="ignore"):
        found = 1.0 - (total - 1.0) * observed / expected
    return np.where(expected > EQUAL * np.maximum(1.0, total**2), found, np.nan)


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
