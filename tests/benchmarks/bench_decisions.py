"""Decisions within a margin, and looks at every time, simulated: python -m tests.benchmarks.bench_decisions

A model that is worse by just the margin may pass in 2.5 % of evaluations, shares beside Tango's score test. Two models
without a difference, compared at 20 looks while cases arrive, may be found to differ at any of them in 5 % of series;
beside it how often the tests of a single look are wrong at least once.
"""

import math
from collections.abc import Callable

import numpy as np

from metrics.core.array_types import Bools, Floats
from metrics.stats.noninferiority import Side, decide_noninferiority
from metrics.stats.paired_intervals import difference_intervals, newcombe_paired
from metrics.stats.paired_tests import paired_tests
from metrics.stats.sequential import anytime_p
from tests.benchmarks.table import Row, report

WITHIN = ("equivalent", "not_worse")
DRAWS, SERIES = 4_000, 3_000
SHARES = ((50, 0.8, 0.1, 0.2), (100, 0.8, 0.05, 0.1), (400, 0.95, 0.02, 0.03), (1_000, 0.8, 0.05, 0.05))
LOOKS = np.unique(np.geomspace(10, 1_000, 20).astype(int))
Draw = Callable[[np.random.Generator, tuple[int, int]], Floats]


def sparse(chance: float) -> Draw:
    """Cases that differ by all of the range with a chance, to either side."""
    return lambda rng, shape: np.where(rng.random(shape) < chance, np.where(rng.random(shape) < 0.5, 1.0, -1.0), 0.0)


MEANS: dict[str, tuple[Draw, float]] = {  # differences, and the mean that they fall short by
    "normal": (lambda rng, shape: rng.normal(-0.05, 0.2, shape), 0.05),
    "4 % of cases lose all": (lambda rng, shape: np.where(rng.random(shape) < 0.04, -1.0, 0.0), 0.04),
    "10 % of cases lose all": (lambda rng, shape: np.where(rng.random(shape) < 0.1, -1.0, 0.0), 0.1),
    "10 % of cases lose half": (lambda rng, shape: np.where(rng.random(shape) < 0.1, -0.5, 0.0), 0.05),
}
SERIES_OF: dict[str, tuple[Draw, bool]] = {  # differences of mean 0, and whether of values 0 or 1
    "normal": (lambda rng, shape: rng.normal(0, 1, shape), False),
    "right or wrong, 20 % differ": (sparse(0.2), True),
    "means, 3 % differ": (sparse(0.03), False),
    "skewed": (lambda rng, shape: rng.exponential(1, shape) - 1, False),
}


def tango(only_b: int, only_a: int, n: int, margin: float) -> float:
    """Tango's score statistic of a difference b − a of two shares on the same n cases that is above −margin."""
    linear = only_b + only_a + (2 * n - only_b + only_a) * margin
    share = (math.sqrt(linear**2 - 8 * n * only_a * margin * (margin + 1)) + linear) / (4 * n)
    return (only_b - only_a + n * margin) / math.sqrt(n * (2 * share - margin * (margin + 1)))


def side(sizes: Floats) -> Side:
    """Return the cases of a side, of which one can differ by all."""
    return Side(len(sizes), float(sizes.mean()) if len(sizes) else 0.0, 1.0)


def shares(n: int, share: float, margin: float, discordant: float) -> tuple[float, float]:
    """How often a share that is worse by the margin passes, by ours and by Tango's test."""
    only_a, only_b = (discordant + margin) / 2, (discordant - margin) / 2
    chances = [share - only_a, only_b, only_a, 1 - share - only_b]
    tables, times = np.unique(np.random.default_rng(1).multinomial(n, chances, DRAWS), axis=0, return_counts=True)
    passed = np.zeros(2)
    for (both, b, a, neither), count in zip(tables.tolist(), times, strict=True):
        low, high = newcombe_paired(both, b, a, neither)
        made = decide_noninferiority((b - a) / n, (low, high), margin, n, 0.1, 0, Side(a, 1.0, 1.0), Side(b, 1.0, 1.0))
        passed += count * np.array([made.verdict in WITHIN, tango(b, a, n, margin) > 1.959964])
    return float(passed[0] / DRAWS), float(passed[1] / DRAWS)


def means(draw: Draw, n: int, margin: float) -> tuple[float, float]:
    """How often a mean that is worse by the margin passes, and how often by the resampled interval alone."""
    apart = draw(np.random.default_rng(2), (n, 1_000))
    low, high = difference_intervals(apart, widest=1.0)
    passed = 0
    for k in range(apart.shape[1]):
        sides = (side(-apart[apart[:, k] < 0, k]), side(apart[apart[:, k] > 0, k]))
        mean, ends = float(apart[:, k].mean()), (float(low[k]), float(high[k]))
        passed += decide_noninferiority(mean, ends, margin, n, 0.1, 0, *sides).verdict in WITHIN
    return passed / apart.shape[1], float((low > -margin).mean())


def looks(draw: Draw, binary: bool) -> tuple[float, float]:
    """In what share of series a look finds a difference that is not there, by p of every look and of a single one."""
    drawn = draw(np.random.default_rng(3), (int(LOOKS[-1]), SERIES))
    always: Bools = np.zeros(SERIES, bool)
    once: Bools = np.zeros(SERIES, bool)
    for n in LOOKS.tolist():
        p = paired_tests(drawn[:n], binary=binary).p
        once |= p <= 0.05
        always |= np.array([anytime_p(one, n) <= 0.05 for one in p])
    return float(always.mean()), float(once.mean())


def main() -> None:
    rows = []
    for n, share, margin, discordant in SHARES:
        ours, theirs = shares(n, share, margin, discordant)
        title = f"{n:,} cases, a share of {share:g} worse by {margin:g}, {discordant:.0%} differ"
        rows.append(Row(f"{title}: passes", ours, "", theirs, "Tango's test", most=2.0))
    for name, (draw, margin) in MEANS.items():
        for n in (10, 50):
            ours, alone = means(draw, n, margin)
            rows.append(Row(f"{n} cases, {name}: passes", ours, "", alone or None, "interval alone", most=1.0))
    for name, (draw, binary) in SERIES_OF.items():
        always, once = looks(draw, binary)
        rows.append(Row(f"20 looks, {name}: a false finding", always, "", most=0.05))
        rows.append(Row(f"20 looks, {name}: a false finding by single-look tests", once, ""))
    report(rows)


if __name__ == "__main__":
    main()
