"""Repeated answers to one question: the spread of their values, and pass@k, the chance that enough of k are right."""

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np


class Dispersion(NamedTuple):
    """Mean, median, population variance and standard deviation, coefficient of variation (None where the mean is 0),
    range and interquartile range of some values.
    """

    mean: float
    median: float
    variance: float
    standard_deviation: float
    coefficient_of_variation: float | None
    range: float
    interquartile_range: float


def dispersion(values: Sequence[float]) -> Dispersion:
    """Return mean μ, median, variance σ² = Σ(x − μ)² / n, σ, σ / |μ|, max − min and q(.75) − q(.25) of `values`.

    All of the population. The quantile q(p) stands at place (n − 1) · p of the sorted values, counted from 0, between
    two of them on the line that joins them (Hyndman and Fan 1996, type 7; NumPy's default). ValueError without values.

    >>> [round(number, 6) for number in dispersion([0.8, 0.9, 0.7])]
    [0.8, 0.8, 0.006667, 0.08165, 0.102062, 0.2, 0.1]
    """
    if not values:
        raise ValueError("no values to describe")
    mean = math.fsum(values) / len(values)
    variance = math.fsum((value - mean) ** 2 for value in values) / len(values)
    deviation = math.sqrt(variance)
    variation = deviation / abs(mean) if mean else None
    lower, median, upper = np.quantile(values, (0.25, 0.5, 0.75)).tolist()
    return Dispersion(mean, median, variance, deviation, variation, max(values) - min(values), upper - lower)


@lru_cache(maxsize=4_096)  # cases share the same few numbers
def pass_at_k(n: int, c: int, k: int, least: int = 1) -> float:
    """Return the unbiased estimate of the chance that at least `least` of `k` samples are right, 0 … 1.

        Σ C(c, i) · C(n − c, k − i) / C(n, k),  i = least … k

    the share of the subsets of k samples that have as many right ones: pass@k with `least` = 1, where it is
    1 − C(n − c, k) / C(n, k); pass^k with `least` = k, where it is C(c, k) / C(n, k); G-Pass@k of a share τ with
    ⌈τ·k⌉. The plain 1 − (1 − c/n)ᵏ and (c/n)ᵏ are biased. Whole numbers up to the last division, so it is exact.

    Args:
        n: the samples, ≥ k.
        c: how many of them are right, 0 … n.
        k: the samples that are tried, ≥ 1.
        least: how many of those are to be right, 1 … k.

    Raises:
        ValueError: where the numbers are not such.

    Sources: Chen et al. 2021, Evaluating Large Language Models Trained on Code; Yao et al. 2024, τ-bench (pass^k); Liu
    et al. 2024, Are Your LLMs Capable of Stable Reasoning? (G-Pass@k).
    """
    if not (0 <= c <= n and 1 <= least <= k <= n):
        raise ValueError(
            f"pass@k needs 0 ≤ c ≤ n and 1 ≤ least ≤ k ≤ n, not n = {n}, c = {c}, k = {k}, least = {least}"
        )
    few = 2 * least <= k  # fewer terms
    terms = range(least) if few else range(least, k + 1)
    subsets, counted = math.comb(n, k), sum(math.comb(c, i) * math.comb(n - c, k - i) for i in terms)
    return (subsets - counted if few else counted) / subsets
