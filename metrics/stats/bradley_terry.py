"""Rankings from matches: Bradley–Terry strengths with Davidson's ties, and intervals that know which matches belong
together.
"""

from dataclasses import dataclass

import numpy as np

from metrics.core.array_types import Floats, Ints
from metrics.stats.float_tolerance import standard_errors, symmetric_inverse
from metrics.stats.linked_models import linked_groups
from metrics.stats.model_ranking import rank_ranges
from metrics.stats.student_t import student

STEPS = 100  # of Newton's method; some ten are enough
ENOUGH = 1e-12  # the largest slope at the maximum, per match
FAR = 12.0  # a difference of log-strengths beyond which it grows without end: odds of 160,000 to 1


@dataclass(frozen=True, eq=False, slots=True)
class Strengths:
    """The strengths of m models.

    log: [m] log-strengths λ of mean 0: i beats j with the odds exp(λi − λj) among their matches without ties; ties: ν,
    0 without any; covariance: [m, m] of λ; clusters: independent units that it rests on. score: [m] what a model gets
    on average from a match with one of strength 0, a tie counting half, low … high its 95 % interval, all in 0 … 1;
    best, worst: [m] the ranks that each may have, 1 the best.
    """

    log: Floats
    ties: float
    covariance: Floats
    clusters: int
    score: Floats
    low: Floats
    high: Floats
    best: Ints
    worst: Ints


def bradley_terry(
    first: Ints,
    second: Ints,
    outcome: Floats,
    models: int,
    weights: Floats | None = None,
    clusters: Ints | None = None,
    prior: float = 0.0,
) -> Strengths | None:
    """Return the strengths that make k matches likeliest.

    i beats j : tie : j beats i = exp(λi) : ν·exp((λi + λj) / 2) : exp(λj)

    Without ties ν is 0, which is the model of Bradley and Terry. The covariance is the sandwich A⁻¹·B·A⁻¹ with A the
    information and B the sum over clusters of the squared slopes, times c / (c − 1): matches on one case are not
    independent. Intervals are Student's with c − 1 degrees of freedom. Ranks: 1 + how many models are significantly
    stronger (Holm over all pairs, 5 %), and m − how many it is significantly stronger than.

    Args:
        first, second: [k] models 0 … m − 1 of each match.
        outcome: [k] 1 where the first wins, 0 where the second does, 0.5 for a tie.
        weights: [k] ≥ 0, default 1.
        clusters: [k] codes of what belongs together, such as the case; default each match its own.
        prior: how many matches of each model with one of strength 0 to add, half won and half lost. Without them a
            model that never loses has no finite strength; its matches say little of its error, so that with them the
            covariance is A⁻¹ where that is the larger one.

    Returns:
        None where no strengths are likeliest: fewer than two clusters; models that no chain of matches links, which
        `prior` would rank by chance; or, without `prior`, some models never lose to the others.

    Source: Davidson, Journal of the American Statistical Association 65:317, 1970.
    """
    mass = np.ones(len(outcome)) if weights is None else weights
    codes = np.arange(len(outcome)) if clusters is None else np.unique(clusters, return_inverse=True)[1]
    count = int(codes.max(initial=-1)) + 1
    won, tied = (_table(first, second, mass * (outcome == kind), models) for kind in (1.0, 0.5))
    won = won + _table(second, first, mass * (outcome == 0.0), models)
    tied = tied + tied.T
    played = won + won.T + tied
    if count < 2 or linked_groups(np.argwhere(played), models).any() or not (prior or _is_connected(won + tied)):
        return None
    fitted = _fit(won, tied, played, prior)
    if fitted is None:
        return None
    log, ties, information = fitted
    i, _, tie = _chances(log[first] - log[second], ties)
    slopes = np.zeros((count, models + 1))
    apart = mass * (outcome - i - tie / 2)
    for models_of, sign in ((first, 1.0), (second, -1.0)):
        np.add.at(slopes, (codes, models_of), sign * apart)
    if ties:
        np.add.at(slopes, (codes, np.full(len(codes), models)), mass * ((outcome == 0.5) - tie))
    inverse = symmetric_inverse(information)
    middle = slopes.T @ slopes * count / (count - 1)
    covariance = inverse @ middle @ inverse
    if prior and covariance.trace() < inverse.trace():
        covariance = inverse
    return _strengths(log, ties, covariance[:models, :models], count)


def _table(first: Ints, second: Ints, mass: Floats, models: int) -> Floats:
    """Return the mass [m, m] of each ordered pair."""
    found = np.bincount(first * models + second, mass, models * models)
    return np.asarray(found.reshape(models, models), np.float64)


def _is_connected(beats: Floats) -> bool:
    """Return whether every model can be reached from every other one by matches that it did not lose."""
    reach = (beats > 0) | np.eye(len(beats), dtype=bool)
    for _ in range(len(beats).bit_length()):
        reach = (reach.astype(np.int64) @ reach) > 0
    return bool(reach.all())


def _chances(apart: Floats, ties: float) -> tuple[Floats, Floats, Floats]:
    """Return the chances that the first wins, the second wins, neither; `apart`: how much stronger the first is."""
    ends = np.exp(np.clip(apart, -60, 60) / 2), np.exp(-np.clip(apart, -60, 60) / 2)
    total = ends[0] + ends[1] + ties
    return ends[0] / total, ends[1] / total, ties / total


def _fit(won: Floats, tied: Floats, played: Floats, prior: float) -> tuple[Floats, float, Floats] | None:
    """Return λ, ν and the information [m + 1, m + 1] by Newton's method; the likelihood has a single maximum."""
    m, any_tie = len(won), bool(tied.any())
    gained, total = won.sum(axis=1) + tied.sum(axis=1) / 2, played.sum()
    log, ties = np.zeros(m), float(tied.sum() / played.sum()) if any_tie else 0.0
    for _ in range(STEPS):
        i, _, tie = _chances(log[:, None] - log[None, :], ties)
        half = 1 / (1 + np.exp(-log))
        expected = i + tie / 2
        slope = np.append(gained - (played * expected).sum(axis=1) + prior * (0.5 - half), 0.0)
        spread = played * (i + tie / 4 - expected**2)
        information = np.zeros((m + 1, m + 1))
        information[:m, :m] = np.diag(spread.sum(axis=1) + prior * half * (1 - half)) - spread
        if any_tie:
            both = (played * (tie / 2 - expected * tie)).sum(axis=1)
            slope[m] = (tied - played * tie).sum() / 2
            information[:m, m] = information[m, :m] = both
            information[m, m] = (played * tie * (1 - tie)).sum() / 2
        if np.abs(slope).max() <= ENOUGH * total:
            return (log, ties, information) if np.ptp(log) < FAR else None
        step = np.clip(symmetric_inverse(information) @ slope, -2, 2)  # far from the maximum a whole step leaps over it
        log = log + step[:m]
        log, ties = log - log.mean() if not prior else log, ties * float(np.exp(step[m]))
    return None


def _strengths(log: Floats, ties: float, covariance: Floats, clusters: int) -> Strengths:
    centred = covariance - covariance.mean(axis=0) - covariance.mean(axis=1)[:, None] + covariance.mean()
    log = log - log.mean()
    half = student(clusters - 1) * standard_errors(centred)
    score, low, high = (_score(of, ties) for of in (log, log - half, log + half))
    return Strengths(log, ties, centred, clusters, score, low, high, *rank_ranges(log, centred, clusters - 1))


def _score(log: Floats, ties: float) -> Floats:
    wins, _, tie = _chances(log, ties)
    return wins + tie / 2
