"""pass@k: the chance that at least one of k samples is right, estimated from n samples of which c are."""

import math
from functools import lru_cache


@lru_cache(maxsize=4_096)  # cases share the same few numbers
def pass_at_k(n: int, c: int, k: int) -> float:
    """Return the unbiased estimate of the chance that one of `k` samples is right, 0 … 1.

        1 − C(n − c, k) / C(n, k) = 1 − Π (1 − k / i), i = n − c + 1 … n

    the share of the subsets of k samples that have a right one. The plain 1 − (1 − c/n)ᵏ is biased. Exact to a few
    units of the last place, for any n.

    Args:
        n: the samples, ≥ k.
        c: how many of them are right, 0 … n.
        k: the samples that are tried, ≥ 1.

    Raises:
        ValueError: where the numbers are not such.

    Source: Chen et al. 2021, Evaluating Large Language Models Trained on Code.
    """
    if not (0 <= c <= n and 1 <= k <= n):
        raise ValueError(f"pass@k needs 0 ≤ c ≤ n and 1 ≤ k ≤ n, not n = {n}, c = {c}, k = {k}")
    if n - c < k:
        return 1.0
    return 1.0 - math.prod(1.0 - k / i for i in range(n - c + 1, n + 1))
