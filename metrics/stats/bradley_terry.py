"""Rankings from matches: Bradley–Terry strengths with Davidson's ties, and intervals by groups of matches."""

from dataclasses import dataclass

import numpy as np

from metrics.core.array_types import Floats, Ints
from metrics.core.rounding import EQUAL, NEAR
from metrics.stats.float_tolerance import distance_in_errors, standard_errors, symmetric_inverse
from metrics.stats.model_ranking import linked_groups, rank_ranges
from metrics.stats.student_t import student, student_p

STEPS = 100  # of Newton's method; some ten are enough
ENOUGH = 1e-12  # the largest slope at the maximum, per match
FLIPS = 499  # draws of the signs
MAX_SIGNS = 4_000_000  # held at once
MAX_TESTED = 1_000_000  # cells of clusters and pairs
MANY_CLUSTERS = 5  # clusters a parameter, from which on the sandwich holds
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


def misfit_p(
    first: Ints,
    second: Ints,
    outcome: Floats,
    models: int,
    found: Strengths,
    weights: Floats | None = None,
    clusters: Ints | None = None,
) -> float | None:
    """Return the p of matches that one strength a model describes: who beats whom is transitive.

    A score test of an effect of each pair beside the strengths: the clusters' sums of observed less expected scores a
    pair, after what strengths and ties take up, are as likely of either sign. T = Sᵀ·(Σ s·sᵀ)⁻¹·S with S their sum is
    compared with FLIPS draws of the signs. None where no pair is free (two models, a tree of pairs), where there are
    not twice as many clusters as free pairs, or more than MAX_TESTED cells of clusters and pairs.

    Args:
        found: what bradley_terry gives of these matches without a prior; the rest as there.
    """
    mass = np.ones(len(outcome)) if weights is None else weights
    codes = np.arange(len(outcome)) if clusters is None else np.unique(clusters, return_inverse=True)[1]
    forward = first < second
    low, high = np.minimum(first, second), np.maximum(first, second)
    score = np.where(forward, outcome, 1 - outcome)
    met, pair = np.unique(low * models + high, return_inverse=True)
    count, pairs = int(codes.max(initial=-1)) + 1, len(met)
    free = pairs - (models - 1)
    if free < 1 or count < 2 * free or count * pairs > MAX_TESTED:
        return None
    incidence = np.zeros((pairs, models + 1))
    incidence[np.arange(pairs), met // models], incidence[np.arange(pairs), met % models] = 1.0, -1.0
    win, _, tie = _chances(incidence[:, :models] @ found.log, found.ties)
    expected, played = win + tie / 2, np.bincount(pair, mass, pairs)
    spread, both = played * (win + tie / 4 - expected**2), played * (tie / 2 - expected * tie)
    information = incidence.T @ (spread[:, None] * incidence)
    information[-1, :-1] = information[:-1, -1] = incidence[:, :-1].T @ both
    information[-1, -1] = (played * tie * (1 - tie)).sum()
    apart = np.zeros((count, pairs))
    np.add.at(apart, (codes, pair), mass * (score - expected[pair]))
    taken = apart @ incidence
    taken[:, -1] = np.bincount(codes, mass * ((outcome == 0.5) - tie[pair]), count)
    slopes = spread[:, None] * incidence
    slopes[:, -1] = both
    left = apart - taken @ symmetric_inverse(information) @ slopes.T
    inverse = symmetric_inverse(left.T @ left)
    rng, step = np.random.default_rng(0), max(1, MAX_SIGNS // count)
    flips = (rng.choice((-1.0, 1.0), (min(step, FLIPS - start), count)) for start in range(0, FLIPS, step))
    sums = np.vstack([left.sum(axis=0), *(signs @ left for signs in flips)])
    t = np.einsum("bp,pq,bq->b", sums, inverse, sums)
    return float((1 + (t[1:] >= t[0] - NEAR).sum()) / (1 + FLIPS))


@dataclass(frozen=True, eq=False, slots=True)
class StyledStrengths:
    """The strengths of models at equal style, and what style adds: log-odds `value` [p] of a win for a difference of
    one standard deviation, low … high its 95 % interval, `p_value` [p] of no effect.
    """

    strengths: Strengths
    value: Floats
    low: Floats
    high: Floats
    p_value: Floats


def styled_strengths(
    first: Ints,
    second: Ints,
    outcome: Floats,
    style: Floats,
    models: int,
    weights: Floats | None = None,
    clusters: Ints | None = None,
) -> StyledStrengths | None:
    """Return the strengths of matches whose answers differ in style by `style` [k, p], the first's less the second's.

    As bradley_terry with the log-odds λi − λj + style·β, errors by the same sandwich; `style` is divided by its root
    mean square. None where strengths have no maximum, or fewer clusters than MANY_CLUSTERS times the parameters.

    Source: Li, Angelopoulos & Chiang, Does style matter? Disentangling style and substance in Chatbot Arena, 2024.
    """
    mass = np.ones(len(outcome)) if weights is None else weights
    codes = np.arange(len(outcome)) if clusters is None else np.unique(clusters, return_inverse=True)[1]
    count, q = int(codes.max(initial=-1)) + 1, models + style.shape[1]
    plain = bradley_terry(first, second, outcome, models, weights, clusters)
    if plain is None or count < MANY_CLUSTERS * q:
        return None
    scale = np.sqrt((mass[:, None] * style**2).sum(axis=0) / mass.sum())
    if (scale <= EQUAL).any():
        return None
    design = np.zeros((len(outcome), q + 1))  # the last column is that of the ties
    design[np.arange(len(outcome)), first], design[np.arange(len(outcome)), second] = 1.0, -1.0
    design[:, models:q] = style / scale
    beta, ties, is_tie = np.append(plain.log, np.zeros(style.shape[1])), plain.ties, outcome == 0.5
    for _ in range(STEPS):
        win, _, tie = _chances(design[:, :q] @ beta, ties)
        expected = win + tie / 2
        slopes = (mass * (outcome - expected))[:, None] * design
        slopes[:, q] = mass * (is_tie - tie) if ties else 0.0
        information = design.T @ ((mass * (win + tie / 4 - expected**2))[:, None] * design)
        if ties:
            information[:q, q] = information[q, :q] = design[:, :q].T @ (mass * (tie / 2 - expected * tie))
            information[q, q] = (mass * tie * (1 - tie)).sum()
        inverse, slope = symmetric_inverse(information), slopes.sum(axis=0)
        if np.abs(slope).max() <= NEAR * mass.sum():
            break
        step = np.clip(inverse @ slope, -2, 2)
        beta, ties = beta + step[:q], ties * float(np.exp(step[q]))
    if np.abs(slope).max() > NEAR * mass.sum() or np.ptp(beta) > FAR:
        return None
    sums = np.zeros((count, q + 1))
    np.add.at(sums, codes, slopes)
    covariance = inverse @ (sums.T @ sums) @ inverse * count / (count - 1)
    value, error = beta[models:], np.sqrt(np.diag(covariance)[models:q])
    half, freedom = student(count - 1) * error, np.full(len(value), count - 1.0)
    p = student_p(distance_in_errors(value, error), freedom)
    strengths = _strengths(beta[:models], ties, covariance[:models, :models], count)
    return StyledStrengths(strengths, value, value - half, value + half, p)


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
