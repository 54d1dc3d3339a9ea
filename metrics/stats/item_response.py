"""Item response theory: how hard cases are, how well they tell models apart, and cases only weak ones get right."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from metrics.core.array_types import Bools, Floats, Ints
from metrics.core.rounding import EQUAL, NEAR
from metrics.stats.float_tolerance import ratio, root
from metrics.stats.student_t import Z95

SPREAD = 0.5  # prior standard deviation of the log-discrimination, around 0
REACH = 2.0  # prior standard deviation of the difficulty, around 0
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(7)
STEPS = 400  # of EM; some 20 to 60 are enough
ENOUGH = 1e-4  # the largest change of a parameter in a step
LEAP = 1.0  # the largest change of a parameter in a step of Newton's method


@dataclass(frozen=True, eq=False, slots=True)
class ItemResponse:
    """The parameters of n cases and m models: P(model j is right on case i) = 1 / (1 + exp(−a_i·(θ_j − b_i))).

    difficulty: [n] b, the ability with an even chance; discrimination: [n] a > 0, how steeply the chance rises there;
    each with the ends low … high [n, 2] of its 95 % interval. ability: [m] θ, the mean of its posterior, in units of
    the standard deviation of the population of models; ability_error: [m] the posterior's standard deviation, with the
    cases' parameters taken as known.
    """

    difficulty: Floats
    difficulty_ends: Floats
    discrimination: Floats
    discrimination_ends: Floats
    ability: Floats
    ability_error: Floats

    def chance(self) -> Floats:
        """Return P [n, m] at the abilities."""
        return _chance(np.log(self.discrimination), self.difficulty, self.ability)

    def information(self) -> Floats:
        """Return Fisher's information a²·P·(1 − P) [n, m] that each case has about each model's ability."""
        chance = self.chance()
        return self.discrimination[:, None] ** 2 * chance * (1 - chance)


def two_parameter(right: Floats, start: ItemResponse | None = None) -> ItemResponse:
    """Return the two-parameter logistic (2PL) model of `right` by marginal maximum likelihood with weak priors.

    Abilities are drawn from N(0, 1) and integrated out by adaptive Gauss–Hermite quadrature; EM finds the parameters of
    the cases that are likeliest together with the priors log a ~ N(0, 0.5²) and b ~ N(0, 2²). Without them a case that
    every model gets right has no finite difficulty, and with few models many discriminations grow without end. The
    intervals are those of the normal curve at the maximum (for a on the log scale), from the information less what the
    unknown abilities take away (Louis 1982), for each case with the others' parameters as known.

    Args:
        right: [n, m] 0 … 1 of case and model, NaN without an answer; a share (of repeats) counts as one answer, since
            the repeats of a case tend to repeat each other.
        start: an earlier fit to the same n cases to start from.

    Sources: Bock & Aitkin, Psychometrika 46:443, 1981; Mislevy, Psychometrika 51:177, 1986 (priors); Naylor & Smith,
    Applied Statistics 31:214, 1982 (quadrature).
    """
    there = ~np.isnan(right)
    known = np.where(there, right, 0.0)
    if start is None:
        share = (known.sum(axis=1) + 0.5) / (there.sum(axis=1) + 1)
        log, hard = np.zeros(len(right)), -np.log(share / (1 - share))
    else:
        log, hard = np.log(start.discrimination), start.difficulty
    ability = np.zeros(right.shape[1])
    for _ in range(STEPS):
        ability, points, weights = _posterior(known, there, log, hard, ability)
        before = log, hard
        log, hard = _refit(known, there, points, weights, log, hard)
        if max(np.abs(log - before[0]).max(initial=0.0), np.abs(hard - before[1]).max(initial=0.0)) < ENOUGH:
            break
    _, points, weights = _posterior(known, there, log, hard, ability)
    mean = (weights * points).sum(axis=1)
    error = root((weights * (points - mean[:, None]) ** 2).sum(axis=1))
    of_log, of_hard = _errors(known, there, points, weights, log, hard)
    ends = np.array([-Z95, Z95])
    hard_ends, sharp_ends = hard[:, None] + ends * of_hard[:, None], np.exp(log[:, None] + ends * of_log[:, None])
    return ItemResponse(hard, hard_ends, np.exp(log), sharp_ends, mean, error)


def _chance(log: Floats, hard: Floats, ability: Floats) -> Floats:
    """Return P [n, …] of log-discriminations and difficulties [n] at abilities of any shape."""
    shape = (-1,) + (1,) * ability.ndim
    return 1 / (1 + np.exp(-np.exp(log).reshape(shape) * (ability - hard.reshape(shape))))


def _posterior(
    known: Floats, there: Bools, log: Floats, hard: Floats, ability: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return the mode [m] of each ability, and nodes [m, q] around it with the posterior's weights, of sum 1."""
    slope = np.where(there, np.exp(log)[:, None], 0.0)
    for _ in range(50):
        chance = _chance(log, hard, ability)
        curvature = 1 + (slope**2 * chance * (1 - chance)).sum(axis=0)
        step = ((slope * (known - chance)).sum(axis=0) - ability) / curvature
        ability = ability + np.clip(step, -LEAP, LEAP)
        if np.abs(step).max(initial=0.0) < 1e-6:
            break
    points = ability[:, None] + NODES / np.sqrt(curvature)[:, None]
    logit = np.exp(log)[:, None, None] * (points - hard[:, None, None])
    fit = np.where(there[:, :, None], known[:, :, None] * logit - np.logaddexp(0, logit), 0.0).sum(axis=0)
    height = fit - points**2 / 2 + NODES**2 / 2
    weights = WEIGHTS * np.exp(height - height.max(axis=1, keepdims=True))
    return ability, points, weights / weights.sum(axis=1, keepdims=True)


def _refit(
    known: Floats, there: Bools, points: Floats, weights: Floats, log: Floats, hard: Floats
) -> tuple[Floats, Floats]:
    """Return log-discriminations and difficulties after a step of Fisher's scoring at these weights."""
    mass = there[:, :, None] * weights
    chance, slope = _chance(log, hard, points), np.exp(log)
    apart, lever = mass * (known[:, :, None] - chance), points - hard[:, None, None]
    of_log = slope * (apart * lever).sum(axis=(1, 2)) - log / SPREAD**2
    of_hard = -slope * apart.sum(axis=(1, 2)) - hard / REACH**2
    step_log, step_hard = _solve(*_information(mass, chance, slope, lever), of_log, of_hard)
    return log + np.clip(step_log, -LEAP, LEAP), hard + np.clip(step_hard, -LEAP, LEAP)


def _information(mass: Floats, chance: Floats, slope: Floats, lever: Floats) -> tuple[Floats, Floats, Floats]:
    """Return Fisher's information [n] with the priors': of the log-discrimination, of both, of the difficulty."""
    spread = mass * chance * (1 - chance) * (slope**2)[:, None, None]
    both = (spread * lever).sum(axis=(1, 2))
    return (spread * lever**2).sum(axis=(1, 2)) + SPREAD**-2, -both, spread.sum(axis=(1, 2)) + REACH**-2


def _solve(of_log: Floats, of_both: Floats, of_hard: Floats, first: Floats, second: Floats) -> tuple[Floats, Floats]:
    """Return the solution of n systems of two equations."""
    determinant = of_log * of_hard - of_both**2
    return (of_hard * first - of_both * second) / determinant, (of_log * second - of_both * first) / determinant


def _errors(
    known: Floats, there: Bools, points: Floats, weights: Floats, log: Floats, hard: Floats
) -> tuple[Floats, Floats]:
    """Return the standard errors [n] of the log-discriminations and the difficulties."""
    slope = np.exp(log)
    chance = _chance(log, hard, points)
    lever = points - hard[:, None, None]
    of_log, of_both, of_hard = _information(there[:, :, None] * weights, chance, slope, lever)
    apart = np.where(there[:, :, None], known[:, :, None] - chance, 0.0) * slope[:, None, None]
    scores = apart * lever, -apart
    means = [(weights * score).sum(axis=2, keepdims=True) for score in scores]
    centred = [score - mean for score, mean in zip(scores, means, strict=True)]
    lost = [
        (weights * one * other).sum(axis=(1, 2))
        for one, other in ((centred[0], centred[0]), (centred[0], centred[1]), (centred[1], centred[1]))
    ]
    least = 0.5  # of the information stays, whatever the abilities leave open
    of_log, of_hard = np.maximum(of_log - lost[0], least * of_log), np.maximum(of_hard - lost[2], least * of_hard)
    of_both = of_both - lost[1]
    of_both = np.clip(of_both, -0.95 * np.sqrt(of_log * of_hard), 0.95 * np.sqrt(of_log * of_hard))
    determinant = of_log * of_hard - of_both**2
    return np.sqrt(of_hard / determinant), np.sqrt(of_log / determinant)


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
    return np.asarray(np.minimum(1.0, np.cumsum(mixed, axis=1) / mixed.sum(axis=1, keepdims=True)))


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
