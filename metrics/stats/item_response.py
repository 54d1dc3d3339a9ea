"""Item response theory: how hard each case is, and how well it tells models apart."""

from dataclasses import dataclass

import numpy as np

from metrics.core.array_types import Bools, Floats
from metrics.stats.float_tolerance import root
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
    return ItemResponse(
        hard,
        hard[:, None] + ends * of_hard[:, None],
        np.exp(log),
        np.exp(log[:, None] + ends * of_log[:, None]),
        mean,
        error,
    )


def _chance(log: Floats, hard: Floats, ability: Floats) -> Floats:
    """Return P [n, …] of log-discriminations and difficulties [n] at abilities of any shape."""
    shape = (-1,) + (1,) * ability.ndim
    found: Floats = 1 / (1 + np.exp(-np.exp(log).reshape(shape) * (ability - hard.reshape(shape))))
    return found


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
