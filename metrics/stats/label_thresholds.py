"""Thresholds that labels choose, and verdicts by thresholds that a label had no part in choosing."""

import numpy as np

from metrics.core.array_types import Bools, Floats, Ints
from metrics.core.rounding import EQUAL
from metrics.stats.bootstrap_draws import counted

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
