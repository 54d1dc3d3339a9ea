"""Effects of models and prompts, simulated: python -m tests.benchmarks.bench_two_factors

How often the 95 % intervals of effects hold the truth, and how often Holm's p finds any effect where there is none,
for cases of shared difficulty, right or wrong answers and groups of four cases with half of the noise in common.
"""

from collections.abc import Callable
from itertools import product

import numpy as np

from metrics.core.array_types import Floats, Ints
from metrics.stats.corrections import LEVEL, holm
from metrics.stats.two_factors import effects_of_cases, grid_contrasts
from tests.benchmarks.table import Row, report

DRAWS = 400  # ± 2 points
SIZES, SHAPES = (12, 40, 200), ((2, 2), (3, 3))
GROUP = 4
Draw = Callable[[np.random.Generator, int, Floats], tuple[Floats, Ints | None]]


def graded(rng: np.random.Generator, n: int, means: Floats) -> tuple[Floats, Ints | None]:
    """Cases of different difficulty, to which some respond twice as much as others."""
    hard, own = rng.normal(0, 0.2, (n, 1, 1)), rng.uniform(0.5, 1.5, (n, 1, 1))
    return hard + own * means + rng.normal(0, 0.1, (n, *means.shape)), None


def right_or_wrong(rng: np.random.Generator, n: int, means: Floats) -> tuple[Floats, Ints | None]:
    """Answers of which as many are right as the means say, easy cases in all cells."""
    return (0.7 * rng.random((n, 1, 1)) + 0.3 * rng.random((n, *means.shape)) < 0.5 + means).astype(float), None


def grouped(rng: np.random.Generator, n: int, means: Floats) -> tuple[Floats, Ints | None]:
    """Groups of cases that respond alike."""
    common = np.repeat(rng.normal(0, 0.1, (-(-n // GROUP), *means.shape)), GROUP, axis=0)[:n]
    return means + common + rng.normal(0, 0.1, (n, *means.shape)), np.arange(n) // GROUP


def simulate(draw: Draw, n: int, shape: tuple[int, int], widest: float) -> tuple[float, float]:
    """Return the share of intervals that hold the truth, and of grids without an effect in which one is found."""
    rng, contrasts, none = np.random.default_rng(n), grid_contrasts(*shape), np.zeros(shape)
    means = 0.1 * np.arange(shape[0] * shape[1]).reshape(shape) / 4
    means = means - means.mean()
    many, _ = draw(rng, 400_000, means)  # right or wrong answers round the means off
    truth = np.array([(one.weights * many.mean(axis=0)).sum() for one in contrasts])
    held, false = 0.0, 0
    for _ in range(DRAWS):
        values, clusters = draw(rng, n, means)
        found = effects_of_cases(values, contrasts, None, clusters, widest)
        held += float(((found.low <= truth) & (truth <= found.high)).mean()) / DRAWS
        values, clusters = draw(rng, n, none)
        p = effects_of_cases(values, contrasts, None, clusters, widest)
        false += bool((holm(p.p[p.differs]) <= LEVEL).any())
    return held, false / DRAWS


def main() -> None:
    rows = []
    kinds: dict[str, tuple[Draw, float]] = {
        "graded": (graded, np.inf), "right or wrong": (right_or_wrong, 1.0), "in groups": (grouped, np.inf),
    }  # fmt: skip
    for (name, (draw, widest)), shape, n in product(kinds.items(), SHAPES, SIZES):
        held, false = simulate(draw, n, shape, widest)
        title = f"{name}, {shape[0]} × {shape[1]}, {n} cases"
        rows.append(Row(f"{title}: intervals that hold the truth", held, ""))
        rows.append(Row(f"{title}: a false finding", false, "", most=0.07))
    report(rows)


if __name__ == "__main__":
    main()
