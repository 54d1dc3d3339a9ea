"""The fewest cases that keep the ranking of models: chosen by information, judged by models that did not choose."""

from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

import numpy as np

from metrics.core.array_types import Floats, Ints
from metrics.core.rounding import NEAR, at_least
from metrics.stats.float_tolerance import highest_place
from metrics.stats.item_response import ItemResponse, two_parameter
from metrics.stats.ratios import ratio

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
