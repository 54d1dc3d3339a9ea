"""The one family of tests of a run: every pair of models in every metric, corrected together.

Ranks, headline, comparisons and insights read their p from here, so none of them calls a difference significant that
another one does not. The chance of even one false difference in all of them is at most 5 %: Holm's method with weights,
in which the main metric of each evaluator has at least four fifths of the weight, and the other metrics with what the
answers took the rest.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from metrics.analysis.leaderboard.cells import Column
from metrics.analysis.leaderboard.ranks import Ranks
from metrics.core.array_types import Floats
from metrics.stats.corrections import holm

MAIN_WEIGHT = 4.0  # of all main metrics, where all others together weigh at most 1


@dataclass(frozen=True, slots=True)
class MetricTests:
    """The tests of one metric: their `p`, how many more count that nobody ran, and whether it is a main metric."""

    p: Floats
    untested: int
    is_main: bool

    @property
    def count(self) -> int:
        """How many tests the metric brings into the family."""
        return len(self.p) + self.untested


def main_columns(columns: Iterable[Column]) -> list[Column]:
    """Return the first primary column with a better end of each evaluator, without those that repeat another one.

    Minor ones are left out beside others.
    """
    primary = [column for column in columns if column.primary and column.direction != "none"]
    found: dict[str, Column] = {}
    for column in [one for one in primary if not one.minor] or primary:
        found.setdefault(column.evaluator, column)
    chosen = {column.key for column in found.values()}
    return [column for column in found.values() if column.twin not in chosen]


def adjust_together(tests: Sequence[MetricTests]) -> list[Floats]:
    """Return the adjusted p of each metric's tests, all one family in which no other metric outweighs a main one.

    >>> [p.tolist() for p in adjust_together([MetricTests(np.array([0.01]), 0, True) for _ in range(3)])]
    [[0.03], [0.03], [0.03]]
    """
    main, other = (sum(one.count for one in tests if one.is_main is kind) for kind in (True, False))
    heavy, light = weigh_tests(main + other, main)
    p = [part for one in tests for part in (one.p, np.ones(one.untested))]
    weights = [np.full(one.count, heavy if one.is_main else light) for one in tests]
    if not p:
        return []
    adjusted = np.split(holm(np.concatenate(p), np.concatenate(weights)), np.cumsum([one.count for one in tests])[:-1])
    return [own[: len(one.p)] for own, one in zip(adjusted, tests, strict=True)]


def correct_family(columns: Sequence[Column], tests: Mapping[str, Ranks]) -> dict[str, Ranks]:
    """Return the ranks of a run by column key (or quantity of the answers) with p adjusted over all of them together.

    A column that repeats another one's number takes over its p.
    """
    main = {column.key for column in main_columns(columns)}
    twins = repeated_keys(columns, tests)
    own = {key: found for key, found in tests.items() if key not in twins}
    adjusted = adjust_together(
        [MetricTests(np.array([*found.p.values()]), found.untested, key in main) for key, found in own.items()]
    )
    corrected = {
        key: found.with_adjusted(dict(zip(found.p, p.tolist(), strict=True)))
        for (key, found), p in zip(own.items(), adjusted, strict=True)
    }
    for key, original in twins.items():
        same = corrected[original]
        corrected[key] = replace(tests[key], ranges=same.ranges, adjusted=same.adjusted)
    return {key: corrected[key] for key in tests}


def repeated_keys(columns: Iterable[Column], tests: Mapping[str, Ranks]) -> dict[str, str]:
    """Return the columns that repeat the number of another tested one of the same models, with that one's key."""
    twins = {column.key: column.twin for column in columns if column.twin is not None and column.key in tests}
    return {
        key: twin
        for key, twin in twins.items()
        if twin in tests and twin not in twins and tests[twin].ranges.keys() == tests[key].ranges.keys()
    }


def count_tests(columns: Iterable[Column], tests: Mapping[str, Ranks]) -> int:
    """Return how many tests the family of a run has."""
    twins = repeated_keys(columns, tests)
    return sum(len(found.p) + found.untested for key, found in tests.items() if key not in twins)


def count_main_tests(columns: Sequence[Column], tests: Mapping[str, Ranks]) -> int:
    """Return how many of them are of main metrics."""
    main = {column.key for column in main_columns(columns)}
    return count_tests(columns, {key: found for key, found in tests.items() if key in main})


def weigh_tests(tests: int, main: int) -> tuple[float, float]:
    """Return the weight of a main metric's test and of another one; equal where the main ones have enough of it."""
    others = tests - main
    return 1.0, min(1.0, main / (MAIN_WEIGHT * others)) if main and others else 1.0
