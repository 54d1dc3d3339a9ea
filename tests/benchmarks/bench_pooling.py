"""Partial pooling of slices, simulated: python -m tests.benchmarks.bench_pooling

Shares of slices of 5 to 200 cases, with true shares apart by some standard deviation: how far the raw and the pooled
values are from the truth (root mean squared error), and how often their 95 % intervals, Wilson's and Morris's, hold it.
Half a minute.
"""

import numpy as np

from metrics.core.array_types import Floats
from metrics.stats.intervals import wilson
from metrics.stats.slice_means import pooled, sampling_variances
from tests.benchmarks.table import Row, report

TIMES = 800
DESIGNS = (  # slices, their sizes, mean share, standard deviation of the true shares
    (4, (10, 20), 0.7, 0.15), (5, (5, 10, 20), 0.8, 0.1), (8, (5, 10, 20, 50), 0.8, 0.0),
    (8, (5, 10, 20, 50), 0.8, 0.1), (8, (5, 10, 400), 0.7, 0.25), (15, (5, 10, 20, 50, 200), 0.9, 0.05),
    (15, (5, 10, 20, 50, 200), 0.7, 0.15),
)  # fmt: skip


def simulate(slices: int, sizes: tuple[int, ...], mean: float, spread: float) -> Floats:
    """Squared errors raw and pooled, and shares of intervals that hold the truth, raw and pooled."""
    rng, found = np.random.default_rng(slices), []
    scale = mean * (1 - mean) / spread**2 - 1 if spread else 1e9
    for _ in range(TIMES):
        n = rng.choice(sizes, slices)
        truth = rng.beta(mean * scale, (1 - mean) * scale, slices)
        owner = np.repeat(np.arange(slices), n)
        values = (rng.random(len(owner)) < truth[owner]).astype(np.float64)
        masks = owner == np.arange(slices)[:, None]
        raw = np.array([values[mask].mean() for mask in masks])
        made = pooled(raw, sampling_variances(values, masks), (0.0, 1.0))
        if made is None:  # every value is equal
            continue
        ends = np.array([wilson(hits, size) for hits, size in zip((raw * n).tolist(), n.tolist(), strict=True)], float)
        held = (
            ((ends[:, 0] <= truth) & (truth <= ends[:, 1])).mean(),
            ((made.low <= truth) & (truth <= made.high)).mean(),
        )
        found.append([((raw - truth) ** 2).mean(), ((made.means - truth) ** 2).mean(), *held])
    return np.mean(found, axis=0)


def main() -> None:
    rows = []
    for slices, sizes, mean, spread in DESIGNS:
        raw, drawn, wilsons, morris = simulate(slices, sizes, mean, spread).tolist()
        title = f"{slices} slices of {min(sizes)}–{max(sizes)} cases, {mean:.0%} ± {spread:.0%}"
        rows.append(Row(f"{title}: error", drawn**0.5, "", raw**0.5, "raw", most=1.0))
        rows.append(Row(f"{title}: coverage", morris, "", wilsons, "raw", least=None))
    report(rows)


if __name__ == "__main__":
    main()
