"""Families: models that share mistakes, so that several of them are worth little more than one."""

from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from metrics.core.array_types import Bools, Floats, Ints
from metrics.core.rounding import EQUAL
from metrics.stats.float_tolerance import ratio, root
from metrics.stats.item_response import REACH, SPREAD, ItemResponse, reversed_patterns, two_parameter

FEWEST = 8  # models, or families, whose patterns tell a wrong label
EXCESS = 1.55  # spread of the patterns beyond which they are not those of independent models: those reach some 1.5
USUAL = 0.05  # p above which a case counts for the dependence: a reversed label would make strong models alike
LEVEL = 0.01  # chance that independent models are taken for dependent, over all their pairs
JOIN = 1.0  # mean z between two families from which on they are one


class CheckedLabels(NamedTuple):
    """The cases of m models, with models that share mistakes as one.

    fitted: the model of all models; cases: that of the families, whose parameters of cases and their errors hold;
    codes [m]: each model's family; p [n]: of a pattern as reversed, None where the models answer too much alike to tell
    a wrong label from a mistake that they share.
    """

    fitted: ItemResponse
    cases: ItemResponse
    codes: Ints
    p: Floats | None


def check_labels(right: Floats) -> CheckedLabels:
    """Return the two-parameter model of answers and the p of each case's pattern, after models that share mistakes.

    A family that is wrong on a case where another is right looks like a reversed label. Where models are dependent,
    each family is one model with the mean of its answers; with fewer than FEWEST families, or where these still spread
    by more than EXCESS, no label is judged.

    Args:
        right: [n, m] 0 … 1, NaN without an answer.
    """
    fitted, codes = two_parameter(right), np.arange(right.shape[1])
    found = reversed_patterns(right, fitted.ability, fitted.difficulty)
    z = residual_dependence(right, fitted, found.p > USUAL)
    if not is_dependent(z) and found.excess <= EXCESS:
        return CheckedLabels(fitted, fitted, codes, found.p)
    codes = families(z)
    if codes.max() + 1 < FEWEST:
        return CheckedLabels(fitted, fitted, codes, None)
    answers = family_answers(right, codes)
    cases = two_parameter(answers)
    found = reversed_patterns(answers, cases.ability, cases.difficulty)
    return CheckedLabels(fitted, cases, codes, found.p if found.excess <= EXCESS else None)


def residual_dependence(right: Floats, fitted: ItemResponse, cases: Bools) -> Floats:
    """Return z [m, m] of the correlation of models' residuals over some cases: N(0, 1) where they are independent, 0
    where nothing tells and on the diagonal.

    Yen's Q3 with cases as persons: S = Σᵢ rᵢⱼ·rᵢₖ with r = right − P, standardised by what the fit leaves where answers
    are independent. Each case's two parameters take the models' own residuals up, which makes Q3 of eight models −0.14
    on average: Cov(rᵢ) = V − V·X·(A⁻¹ + A⁻¹·Λ·A⁻¹)·Xᵀ·V with V = P·(1 − P), X the slopes of the logit, Λ the
    information of the priors and A = Xᵀ·V·X + Λ.

    Args:
        right: [n, m] 0 … 1, NaN without an answer. cases: [n] those that count.

    Source: Yen, Applied Psychological Measurement 8:125, 1984.
    """
    there, chance = ~np.isnan(right[cases]), fitted.chance()[cases]
    residual = np.where(there, np.nan_to_num(right[cases]) - chance, 0.0)
    variance = np.where(there, chance * (1 - chance), 0.0)
    steep, hard = fitted.discrimination[cases, None], fitted.difficulty[cases, None]
    slopes = np.stack([steep * (fitted.ability - hard), np.broadcast_to(-steep, chance.shape)], axis=2)
    prior = np.diag([SPREAD**-2, REACH**-2])
    inverse = np.linalg.inv(np.einsum("nma,nm,nmb->nab", slopes, variance, slopes) + prior)
    taken = (variance[:, :, None] * slopes) @ np.linalg.cholesky(inverse + inverse @ prior @ inverse)
    left = variance - (taken**2).sum(axis=2)
    own = taken.transpose(1, 0, 2)
    squares = (own[:, :, :, None] * own[:, :, None, :]).reshape(len(own), -1)
    flat = own.reshape(len(own), -1)
    error = root(left.T @ left + squares @ squares.T)
    told = (error > EQUAL) & ~np.eye(len(own), dtype=bool)
    return np.where(told, ratio(residual.T @ residual + flat @ flat.T, error), 0.0)


def is_dependent(z: Floats) -> bool:
    """Return whether two of the models share more mistakes than independent ones would: Bonferroni over the pairs."""
    pairs = max(1.0, len(z) * (len(z) - 1) / 2)
    return bool(z.max() > NormalDist().inv_cdf(1 - LEVEL / pairs))


def families(z: Floats) -> Ints:
    """Return the code [m] of each model's family: joined by the mean z of their pairs, the highest first, down to JOIN.

    Means of several pairs are more certain than one: JOIN finds families whose single pairs are not significant; of
    independent models it would make some, hence `is_dependent` first.
    """
    members = [[model] for model in range(len(z))]
    mean = np.where(np.eye(len(z), dtype=bool), -np.inf, z)
    while len(members) > 1 and mean.max() >= JOIN:
        one, other = sorted(divmod(int(mean.argmax()), len(members)))
        sizes = len(members[one]), len(members[other])
        mean[one] = mean[:, one] = (sizes[0] * mean[one] + sizes[1] * mean[other]) / sum(sizes)
        mean[one, one] = -np.inf
        mean = np.delete(np.delete(mean, other, axis=0), other, axis=1)
        members[one] += members.pop(other)
    codes = np.empty(len(z), np.int64)
    for code, own in enumerate(members):
        codes[own] = code
    return codes


def family_answers(right: Floats, codes: Ints) -> Floats:
    """Return the mean answer [n, families] of the models of each family; NaN where none has answered."""
    there = ~np.isnan(right)
    member = (codes[:, None] == np.arange(codes.max() + 1)).astype(np.float64)
    counts = there @ member
    return np.where(counts > 0, ratio(np.where(there, right, 0.0) @ member, counts), np.nan)
