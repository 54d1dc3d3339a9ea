"""Cases that models get right the wrong way round, the weak ones right and the strong ones wrong, and how often chance
does that.
"""

from typing import NamedTuple

import numpy as np

from metrics.core.array_types import Bools, Floats, Ints
from metrics.core.rounding import EQUAL, NEAR
from metrics.stats.item_response import SPREAD
from metrics.stats.ratios import ratio

STEEP = np.exp(SPREAD * np.polynomial.hermite_e.hermegauss(9)[0])  # discriminations of a suite's cases …
SHARES = np.polynomial.hermite_e.hermegauss(9)[1] / np.sqrt(2 * np.pi)  # … and how frequent each is
HARD = np.linspace(-2, 2, 9)  # difficulties, in standard deviations around their mean
BINS = 512  # of the sum of abilities


class Patterns(NamedTuple):
    """What the patterns of right and wrong answers say of n cases and their models.

    p [n]: probability of a pattern at least as reversed as that of a case, given how many are right. excess: how far
    the patterns of the usual side, strong models right and weak ones wrong, spread, as a multiple of what they do where
    models answer independently: reversed labels are on the other side, families of models on both.
    """

    p: Floats
    excess: float


def reversed_patterns(right: Floats, ability: Floats, difficulty: Floats) -> Patterns:
    """Return how likely a pattern as reversed as that of each case is by chance, and how far all patterns spread.

    The statistic is T = Σ θ over the models that are right: small where the weak ones are. Its distribution is exact
    for cases of the 2PL model with as many models right, where the difficulty hardly counts; discriminations are drawn
    from their population, log a ~ N(0, 0.5²), so that a case which tells models apart badly is nothing unusual. A
    reversed label makes p small; all or none right give 1.

    Args:
        right: [n, m] 0 … 1, NaN without an answer; a share of ½ and more counts as right.
        ability: [m] θ of the models.
        difficulty: [n] b of the cases, for their mean and spread.
    """
    spread = np.ptp(ability)
    if spread <= EQUAL:
        return Patterns(np.ones(len(right)), 1.0)
    steps = (ability - ability.min()) / spread * min(64, BINS // len(ability))
    level = np.ceil(steps - 0.5 - NEAR).astype(np.int64)  # of a half, which rounding would decide, the lower one
    hard = difficulty.mean() + HARD * max(difficulty.std(), 0.1)
    there, hit = ~np.isnan(right), np.nan_to_num(right) >= 0.5
    answered, group = np.unique(there, axis=0, return_inverse=True)
    p, spread_seen, spread_usual = np.ones(len(right)), 0.0, 0.0
    for place, own in enumerate(answered):
        rows = np.flatnonzero(group.ravel() == place)
        below = _below(ability[own], level[own], hard)
        count, sums = hit[rows].sum(axis=1), (hit[rows] * level).sum(axis=1)
        p[rows] = below[count, sums]
        chance, t = np.diff(below, axis=1, prepend=0.0), np.arange(below.shape[1])
        mean = (chance * t).sum(axis=1, keepdims=True)
        variance = (chance * (t - mean) ** 2).sum(axis=1, keepdims=True)
        above = ratio(np.maximum(t - mean, 0.0) ** 2, variance)
        told = ((count > 0) & (count < own.sum()) & (variance[count, 0] > EQUAL)).nonzero()[0]
        spread_seen += float(above[count[told], sums[told]].sum())
        spread_usual += float((chance * above).sum(axis=1)[count[told]].sum())
    return Patterns(p, spread_seen / spread_usual if spread_usual > 0 else 1.0)


def _below(ability: Floats, level: Ints, hard: Floats) -> Floats:
    """Return P(T ≤ t | k right) [k, t], mixed over discriminations as they are likely with k right."""
    count, most = len(ability), int(level.sum())
    chance = 1 / (1 + np.exp(-STEEP[:, None] * ability))  # at difficulty 0
    table = np.zeros((len(STEEP), count + 1, most + 1))
    table[:, 0, 0] = 1.0
    for model in range(count):
        own, step = chance[:, model, None, None], int(level[model])
        taken = np.zeros_like(table)
        taken[:, 1:, step:] = table[:, :-1, : most + 1 - step]
        table = table * (1 - own) + taken * own
    k = np.arange(count + 1)
    # from difficulty 0 to b: every right answer is exp(−a·b) times as likely, up to a factor that k does not enter
    slope = STEEP[:, None, None]
    scale = (np.log1p(np.exp(slope * ability)) - np.log1p(np.exp(slope * (ability - hard[:, None])))).sum(axis=2)
    tilt = np.exp(np.minimum(scale[:, :, None] - slope * hard[:, None] * k, 600))  # beyond, the table holds no mass
    bell = np.exp(-(HARD**2) / 2)
    mixed = (table * (SHARES[:, None] * (tilt * (bell / bell.sum())[:, None]).sum(axis=1))[:, :, None]).sum(axis=0)
    found: Floats = np.minimum(1.0, np.cumsum(mixed, axis=1) / mixed.sum(axis=1, keepdims=True))
    return found


def item_rest(right: Floats) -> Floats:
    """Return the correlation [n] of each case with the models' shares right on the other cases, −1 … 1.

    NaN where a case has fewer than three answers, or they or the shares are all equal.
    """
    there: Bools = ~np.isnan(right)
    known = np.where(there, right, 0.0)
    rest = ratio(known.sum(axis=0) - known, there.sum(axis=0) - there)
    used = there & ~np.isnan(rest)
    count = used.sum(axis=1)
    x, y = np.where(used, right, 0.0), np.where(used, rest, 0.0)
    x = np.where(used, x - ratio(x.sum(axis=1), count)[:, None], 0.0)
    y = np.where(used, y - ratio(y.sum(axis=1), count)[:, None], 0.0)
    within = np.sqrt((x**2).sum(axis=1) * (y**2).sum(axis=1))
    return np.where((count >= 3) & (within > EQUAL), ratio((x * y).sum(axis=1), within), np.nan)
