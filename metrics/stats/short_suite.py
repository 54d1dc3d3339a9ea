"""The fewest cases that keep the ranking of models, and the score over all cases, estimated from a few answers."""

from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

import numpy as np

from metrics.core.array_types import Floats, Ints
from metrics.core.rounding import NEAR, at_least
from metrics.stats.float_tolerance import highest_place, ratio
from metrics.stats.item_response import ItemResponse, two_parameter
from metrics.stats.student_t import student

BLOCKS, FEWER_BLOCKS = 8, 5  # of models; two at a time are held out
MANY = 20_000  # cells, beyond which there are fewer blocks
DRAWS = 50  # random suites of each size
KEEPS = 0.9  # Kendall's τ with the ranking by all cases
SIZES = (10, 15, 20, 30, 40, 60, 80, 100, 150, 200, 300, 400, 600, 800, 1_000)


class Size(NamedTuple):
    """How well `cases` cases keep the order of pairs of models that did not choose them.

    tau: Kendall's τ between the ranking by these cases and that by all of them, 1: the same; kept: how many of the
    `pairs` of models that differ over all cases keep their order, a tie counting half; random: the mean τ of as many
    cases drawn at random.
    """

    cases: int
    tau: float
    kept: float
    pairs: int
    random: float


def by_information(fitted: ItemResponse, most: int) -> Ints:
    """Return the indices of the `most` cases that together measure the abilities best, the most informative first.

    Greedy: each step takes the case that most lowers the mean variance of the abilities, 1 / (1 + information).
    """
    information, left = fitted.information(), np.arange(len(fitted.difficulty))
    gained, chosen = np.ones(len(fitted.ability)), np.empty(min(most, len(left)), np.int64)
    for step in range(len(chosen)):
        best = highest_place(-(1 / (gained + information[left])).sum(axis=1))
        chosen[step] = left[best]
        gained += information[left[best]]
        left = np.delete(left, best)
    return chosen


def cross_fitted(
    right: Floats, values: Floats, weights: Floats | None, fitted: ItemResponse, seed: int = 0
) -> tuple[Size, ...]:
    """Return how well suites of SIZES below n keep the ranking, the smallest first.

    The models are put into blocks at random; for every two blocks the cases are chosen by a fit to the models of the
    other ones, and judged by the pairs of models held out: no pair is judged by cases that it helped to choose. A pair
    that is held out several times counts as one.

    Args:
        right: [n, m] as of two_parameter. values: [n, m] higher is better, NaN for none: the ranking is that of their
            means, with `weights` [n] of the cases.
        fitted: the fit to all models, from which those without some of them start.
    """
    n, m = right.shape
    sizes = [size for size in SIZES if size < n]
    rng = np.random.default_rng(seed)
    mass = np.ones(n) if weights is None else weights
    whole = _order(values, mass, np.arange(n))
    blocks = np.array_split(rng.permutation(m), min(m, BLOCKS if n * m <= MANY else FEWER_BLOCKS))
    agreed, times = np.zeros((len(sizes), m, m)), np.zeros((m, m))
    for one, other in combinations(blocks, 2):
        held = np.concatenate([one, other])
        others = np.setdiff1d(np.arange(m), held)
        order = by_information(two_parameter(right[:, others], fitted), max(sizes, default=0))
        at = np.ix_(held, held)
        times[at] += 1
        for place, size in enumerate(sizes):
            agreed[place][at] += whole[at] * _order(values[:, held], mass, order[:size])
    told = np.triu(whole != 0, 1)
    pairs = int(told.sum())
    found = []
    for place, size in enumerate(sizes):
        tau = float(ratio(agreed[place], times)[told].mean()) if pairs else np.nan
        drawn = [
            (whole * _order(values, mass, some))[told].mean() if pairs else np.nan for some in _random(rng, n, size)
        ]
        found.append(Size(size, tau, (1 + tau) / 2 * pairs, pairs, float(np.mean(drawn))))
    return tuple(found)


def smallest(sizes: tuple[Size, ...]) -> Size | None:
    """Return the smallest size from which on τ stays at KEEPS or above; None where not even the largest reaches it."""
    found = None
    for size in reversed(sizes):
        if not at_least(size.tau, KEEPS):
            break
        found = size
    return found


def _random(rng: np.random.Generator, n: int, size: int) -> Iterator[Ints]:
    for _ in range(DRAWS):
        yield rng.permutation(n)[:size]


def _order(values: Floats, mass: Floats, chosen: Ints) -> Floats:
    """Return 1, 0 or −1 [m, m] where the mean of one model over some cases is above, equal to or below another's."""
    known = ~np.isnan(values[chosen])
    means = ratio(
        (np.where(known, values[chosen], 0.0) * mass[chosen, None]).sum(axis=0),
        (known * mass[chosen, None]).sum(axis=0),
    )
    apart = means[:, None] - means[None, :]
    return np.where(np.abs(apart) > NEAR, np.sign(apart), 0.0)


GRID = np.linspace(-5.0, 5.0, 201)  # abilities, in standard deviations of the models
PRIOR = np.exp(-(GRID**2) / 2)


class FullScore(NamedTuple):
    """The share right of all cases, estimated from some, 0 … 1, with its 95 % interval low … high.

    rmse: of the same estimate of earlier models that were held out; random_rmse: of the mean of as many random cases.
    """

    value: float
    low: float
    high: float
    rmse: float
    random_rmse: float


def predict_score(fitted: ItemResponse, chosen: Ints, answers: Floats) -> tuple[float, float]:
    """Return the mean and the variance of a model's share right of all n cases, given its answers to some (p-IRT).

    (Σ answers + Σ over the other cases of P(right | θ)) / n, over the posterior of the ability θ from N(0, 1), on a
    grid. The variance is that of the posterior and of the other cases' answers; the parameters of the cases are taken
    as known.

    Args:
        chosen: [k] indices of cases. answers: [k] 0 … 1 of these, NaN for none.

    Source: Polo et al., tinyBenchmarks, ICML 2024.
    """
    logit = fitted.discrimination[:, None] * (GRID - fitted.difficulty[:, None])
    there = ~np.isnan(answers)
    seen, given = chosen[there], answers[there]
    fit = (given[:, None] * logit[seen] - np.logaddexp(0, logit[seen])).sum(axis=0)
    weights = PRIOR * np.exp(fit - fit.max())
    weights /= weights.sum()
    chance = np.delete(1 / (1 + np.exp(-logit)), seen, axis=0)
    rest = chance.sum(axis=0)
    mean = float(weights @ rest)
    variance = float(weights @ (rest - mean) ** 2 + weights @ (chance * (1 - chance)).sum(axis=0))
    n = len(fitted.difficulty)
    return (float(given.sum()) + mean) / n, variance / n**2


def full_scores(right: Floats, chosen: Ints, answers: Floats, seed: int = 0) -> list[FullScore]:
    """Return the full score of each new model, with an interval that holds what the model of the cases gets wrong.

    The earlier models are held out in blocks: cases are chosen and parameters fitted without them, and their share
    right is estimated by as many cases. What their squared errors exceed the variances by is added to the variance of a
    new model; the interval is Student's with as many degrees of freedom as there are earlier models, and ends at what
    the other cases can make of the answers.

    Args:
        right: [n, m] 0 … 1 of n cases and m earlier models, NaN without an answer. chosen: [k] the cases that the new
            models answered, chosen by `by_information`. answers: [k, models] 0 … 1, NaN for none.
    """
    n, m = right.shape
    fitted = two_parameter(right)
    whole = np.nanmean(right, axis=0)
    blocks = np.array_split(np.random.default_rng(seed).permutation(m), BLOCKS if n * m <= MANY else FEWER_BLOCKS)
    errors, variances = np.empty(m), np.empty(m)
    for held in blocks:
        without = two_parameter(np.delete(right, held, axis=1), fitted)
        own = by_information(without, len(chosen))
        for model in held:
            mean, variances[model] = predict_score(without, own, right[own, model])
            errors[model] = mean - whole[model]
    rmse = float(np.sqrt((errors**2).mean()))
    excess = max(0.0, float((errors**2 - variances).mean()))
    random_rmse = float(np.sqrt((whole * (1 - whole)).mean() * (n - len(chosen)) / ((n - 1) * len(chosen))))
    quantile = student(m)
    found = []
    for column in answers.T:
        mean, variance = predict_score(fitted, chosen, column)
        half = quantile * float(np.sqrt(variance + excess))
        least, most = np.nansum(column) / n, (np.nansum(column) + n - (~np.isnan(column)).sum()) / n
        found.append(FullScore(mean, max(mean - half, least), min(mean + half, most), rmse, random_rmse))
    return found
