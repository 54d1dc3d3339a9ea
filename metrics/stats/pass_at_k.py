"""pass@k and its relatives: the chance that enough of k samples are right, estimated from n samples of which c are."""

import math
from functools import lru_cache


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
