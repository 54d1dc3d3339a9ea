"""The score over all cases of a suite, estimated from the answers to a few whose difficulty is known."""

from typing import NamedTuple

import numpy as np

from metrics.core.array_types import Floats, Ints
from metrics.stats.item_response import ItemResponse, two_parameter
from metrics.stats.short_suite import BLOCKS, FEWER_BLOCKS, MANY, by_information
from metrics.stats.student_t import student

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
