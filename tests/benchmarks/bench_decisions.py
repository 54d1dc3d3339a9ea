"""Decisions within a margin, and looks at every time, simulated: python -m tests.benchmarks.bench_decisions

A model that is worse by just the margin may pass in 2.5 % of evaluations, shares beside Tango's score test. Two models
without a difference, compared at 20 looks while cases arrive, may be found to differ at any of them in 5 % of series;
beside it how often the tests of a single look are wrong at least once.
"""

import math
from collections.abc import Callable
from functools import partial
from itertools import product

import numpy as np

from metrics.core.array_types import Bools, Floats, Ints
from metrics.stats.paired_intervals import agreeing, decide_noninferiority, difference_intervals, newcombe_paired
from metrics.stats.paired_tests import PairedTests, paired_tests
from metrics.stats.rare_losses import Side, both_sides
from metrics.stats.sequential import anytime_p
from tests.benchmarks.table import Row, report

WITHIN = ("equivalent", "not_worse")
ALLOWING = (*WITHIN, "better")
NOISE = (0.0, 0.001, 0.05)
LOSSES = (  # chance and size of a loss, and the mean loss, which is the margin
    ((0.02, 1.0), 0.02), ((0.05, 1.0), 0.05), ((0.1, 1.0), 0.1), ((0.2, 0.25), 0.05), ((0.3, -1.0), 0.15),
)  # fmt: skip
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
    "normal": (lambda rng, shape: rng.normal(0, 0.2, shape), False),
    "right or wrong, 20 % differ": (sparse(0.2), True),
    "means, 3 % differ": (sparse(0.03), False),
    "skewed": (lambda rng, shape: rng.exponential(0.1, shape) - 0.1, False),
    "2 % of cases lose all, the others win": (lambda rng, shape: balanced(rng, shape, 0.02), False),
    "½ % of cases lose all, the others win": (lambda rng, shape: balanced(rng, shape, 0.005), False),
}


def tango(only_b: int, only_a: int, n: int, margin: float) -> float:
    """Tango's score statistic of a difference b − a of two shares on the same n cases that is above −margin."""
    linear = only_b + only_a + (2 * n - only_b + only_a) * margin
    share = (math.sqrt(linear**2 - 8 * n * only_a * margin * (margin + 1)) + linear) / (4 * n)
    return (only_b - only_a + n * margin) / math.sqrt(n * (2 * share - margin * (margin + 1)))


def differing(count: int, n: int) -> Side:
    """Return the side of so many of n cases that differ by all."""
    return Side.of(np.repeat([1.0, 0.0], [count, n - count]), 1.0)


def shares(n: int, share: float, margin: float, discordant: float) -> tuple[float, float]:
    """How often a share that is worse by the margin passes, by ours and by Tango's test."""
    only_a, only_b = (discordant + margin) / 2, (discordant - margin) / 2
    chances = [share - only_a, only_b, only_a, 1 - share - only_b]
    tables, times = np.unique(np.random.default_rng(1).multinomial(n, chances, DRAWS), axis=0, return_counts=True)
    passed = np.zeros(2)
    for (both, b, a, neither), count in zip(tables.tolist(), times, strict=True):
        low, high = newcombe_paired(both, b, a, neither)
        sides = differing(a, n), differing(b, n)
        made = decide_noninferiority((b - a) / n, (low, high), margin, n, 0.1, 0, *sides)
        passed += count * np.array([made.verdict in WITHIN, tango(b, a, n, margin) > 1.959964])
    return float(passed[0] / DRAWS), float(passed[1] / DRAWS)


def passed(apart: Floats, margin: float, weights: Floats | None = None, clusters: Ints | None = None) -> Bools:
    """Return which columns of differences [n, m] in −1 … 1 let b replace a, whatever the verdict is called."""
    tested = paired_tests(apart, weights, clusters)
    ends = agreeing(np.stack(difference_intervals(apart, weights, clusters, 1.0)), tested.difference, tested.p)
    found = []
    for k, mean in enumerate(tested.difference.tolist()):
        significant = int(np.sign(mean)) if tested.p[k] <= 0.05 else 0
        low, high = ends[:, k].tolist()
        units, error = int(tested.units[k]), float(tested.error[k])
        sides = both_sides(apart[:, k], 1.0, weights, clusters)
        made = decide_noninferiority(mean, (low, high), margin, units, error, significant, *sides)
        found.append(made.verdict in ALLOWING)
    return np.array(found)


def rare_losses(rng: np.random.Generator, shape: tuple[int, int], noise: float, chance: float, size: float) -> Floats:
    """Return differences that are noise but for rare losses of a size, below 0: drawn evenly up to it."""
    sizes = size if size > 0 else -size * rng.random(shape)
    return np.clip(rng.normal(0, noise, shape) - sizes * (rng.random(shape) < chance), -1, 1)


def balanced(rng: np.random.Generator, shape: tuple[int, int], chance: float) -> Floats:
    """Return differences of mean 0: a little better but for rare losses of all."""
    return rare_losses(rng, shape, 0.01, chance, 1.0) + chance


def means(draw: Draw, n: int, margin: float, rows: int = 1_000) -> tuple[float, float]:
    """How often a mean that is worse by the margin passes, and how often by the resampled interval alone."""
    apart = draw(np.random.default_rng(2), (n, rows))
    low, _ = difference_intervals(apart, widest=1.0)
    return float(passed(apart, margin).mean()), float((low > -margin).mean())


def rare_rows() -> list[Row]:
    """How often b passes that is worse by just the margin through rare losses in small noise: the most of them."""
    rows = []
    for n in (10, 20, 30, 50, 100):
        most = np.zeros(2)
        for noise, (loss, margin) in product(NOISE, LOSSES):
            draw = partial(rare_losses, noise=noise, chance=loss[0], size=loss[1])
            most = np.maximum(most, means(draw, n, margin, 400))
        title = f"{n} cases, rare losses in noise: passes"
        rows.append(Row(title, float(most[0]), "", float(most[1]), "interval alone", most=1.0))
    return rows


def found_at_every_look(apart: Floats, tested: PairedTests) -> Bools:
    """Return in which columns of differences [n, m] in −1 … 1 a look, one of many, finds a difference."""
    found = np.array([anytime_p(p, len(apart)) <= 0.05 for p in tested.p.tolist()])
    for k in np.flatnonzero(found).tolist():
        against = both_sides(apart[:, k], 1.0)[int(tested.difference[k] < 0)]
        found[k] = against.anytime_p(abs(float(tested.difference[k]))) <= 0.05
    return found


def looks(draw: Draw, binary: bool) -> tuple[float, float]:
    """In what share of series a look finds a difference that is not there, by p of every look and of a single one."""
    drawn = draw(np.random.default_rng(3), (int(LOOKS[-1]), SERIES))
    always: Bools = np.zeros(SERIES, bool)
    once: Bools = np.zeros(SERIES, bool)
    for n in LOOKS.tolist():
        tested = paired_tests(drawn[:n], binary=binary)
        once |= tested.p <= 0.05
        always |= found_at_every_look(drawn[:n], tested)
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
    rows += rare_rows()
    for name, (draw, binary) in SERIES_OF.items():
        always, once = looks(draw, binary)
        rows.append(Row(f"20 looks, {name}: a false finding", always, "", most=0.05))
        rows.append(Row(f"20 looks, {name}: a false finding by single-look tests", once, ""))
    report(rows)


if __name__ == "__main__":
    main()
