"""Raters' errors without a known truth: Dawid and Skene's model of labels that err independently."""

import numpy as np

from metrics.core.array_types import Bools, Floats
from metrics.stats.bootstrap_draws import counted

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
