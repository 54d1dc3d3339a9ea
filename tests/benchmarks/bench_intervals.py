"""Intervals of a whole leaderboard: 20 models × 60 metrics, 1,000 cases, 2,000 resamples; and the ranks of its models.

    python -m tests.benchmarks.bench_intervals

Printed is the quickest of five rounds, by the wall clock and of the processor: for all columns at once, metric by
metric as a run is sealed, with gaps and with clusters; and for every pair of models of each metric.
"""

import time
from collections.abc import Callable

import numpy as np

from metrics.stats.bootstrap import RESAMPLES, bootstrap_means
from metrics.stats.model_ranking import compare_pairs, rank_bounds
from tests.benchmarks.table import Row, report

MODELS, METRICS, CASES = 20, 60, 1_000
MOST_SECONDS = 1.0


def main() -> None:
    """Measure and print."""
    rng = np.random.default_rng(0)
    scores = rng.beta(5, 1, (METRICS, CASES, MODELS))
    gaps = np.where(rng.random(scores.shape) < 0.1, np.nan, scores)
    clusters = rng.integers(0, 200, CASES)
    weights = rng.uniform(0.5, 2, CASES)
    works: dict[str, Callable[[], object]] = {
        "means, all columns at once": lambda: bootstrap_means(
            scores.transpose(1, 0, 2).reshape(CASES, -1), low=0, high=1
        ),
        "means, metric by metric": lambda: [bootstrap_means(one, low=0, high=1) for one in scores],
        "means, a tenth unscored": lambda: [bootstrap_means(one, low=0, high=1) for one in gaps],
        "means, 200 clusters, weights, a tenth unscored": lambda: [
            bootstrap_means(one, weights, clusters, low=0, high=1) for one in gaps
        ],
        "ranks, all pairs": lambda: [rank_bounds(compare_pairs(one), MODELS) for one in scores],
        "ranks, 200 clusters, a tenth unscored": lambda: [
            rank_bounds(compare_pairs(one, None, clusters), MODELS) for one in gaps
        ],
        "ranks of 200 models": lambda: [
            rank_bounds(compare_pairs(np.tile(one, 10) + rng.random((CASES, 1))), 10 * MODELS) for one in scores
        ],
    }
    print(f"{CASES:,} cases, {RESAMPLES:,} resamples{'seconds':>42}{'processor':>14}")
    found = []
    for name, measured in works.items():
        rounds = [_seconds(measured) for _ in range(5)]
        wall, processor = (min(times) for times in zip(*rounds, strict=True))
        print(f"{name:<60}{wall:>8.2f}{processor:>14.2f}", flush=True)
        limit = MOST_SECONDS if name.startswith("means") else None
        found.append(Row(f"intervals of {MODELS} models × {METRICS} metrics: {name}", wall, "s", most=limit))
    report(found)


def _seconds(action: Callable[[], object]) -> tuple[float, float]:
    begun, spent = time.perf_counter(), time.process_time()
    action()
    return time.perf_counter() - begun, time.process_time() - spent


if __name__ == "__main__":
    main()
