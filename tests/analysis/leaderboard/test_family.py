"""The one family of tests of a run: weights, what counts in it, and how often it finds what is not there."""

from itertools import chain, combinations

import numpy as np
import pytest

from metrics.analysis.leaderboard.family import MetricTests, adjust_together, correct_family, count_tests, main_columns
from metrics.analysis.leaderboard.ranks import Ranks
from metrics.stats.corrections import holm, is_significant
from tests.analysis.leaderboard.test_headline import column


def ranks(**p: float) -> Ranks:
    """The ranks of a and b by p of `ab`, each alone."""
    pairs = {(pair[0], pair[1]): own for pair, own in p.items()}
    return Ranks({"a": (1, 2), "b": (1, 2)}, pairs, p=pairs)


def test_weighted_holm_is_the_closed_test_of_weighted_bonferroni() -> None:
    rng = np.random.default_rng(0)
    for _ in range(40):
        p, weights = rng.random(5) ** 3, rng.choice([0.25, 1.0, 2.0], 5)
        every = chain.from_iterable(combinations(range(5), size) for size in range(1, 6))
        closed = np.zeros(5)
        for some in map(list, every):
            closed[some] = np.maximum(closed[some], min(1.0, (p[some] / weights[some]).min() * weights[some].sum()))
        assert holm(p, weights) == pytest.approx(closed)
    assert holm(p, np.full(5, 0.25)) == pytest.approx(holm(p))


def test_others_weigh_a_quarter_of_the_main_metrics_and_none_more_than_one_of_them() -> None:
    main, other = MetricTests(np.array([0.01]), 0, True), MetricTests(np.array([0.01]), 0, False)
    assert [*map(float, adjust_together([main, *[other] * 10])[0])] == pytest.approx([0.0125])
    assert [*map(float, adjust_together([*[main] * 8, other])[8])] == pytest.approx([0.09])  # one of nine alike
    assert [*map(float, adjust_together([other, other])[0])] == pytest.approx([0.02])
    assert [*map(float, adjust_together([MetricTests(np.array([0.01]), 3, True)])[0])] == pytest.approx([0.04])
    assert adjust_together([]) == []


def test_all_metrics_and_pairs_are_one_family_and_a_repeated_number_counts_once() -> None:
    columns = [column("e/m"), column("twin/m", twin="e/m"), column("f/m"), column("f/other", primary=False)]
    tests = {"e/m": ranks(ab=0.01), "twin/m": ranks(ab=0.3), "f/m": ranks(ba=0.03), "f/other": ranks(ab=0.5)}
    found = correct_family(columns, tests)
    assert [one.key for one in main_columns(columns)] == ["e/m", "f/m"]
    assert [one.adjusted for one in found.values()] == [
        {("a", "b"): pytest.approx(0.025)}, {("a", "b"): pytest.approx(0.025)},
        {("b", "a"): pytest.approx(0.045)}, {("a", "b"): 0.5},
    ]  # fmt: skip
    assert found["twin/m"].ranges == found["e/m"].ranges == {"a": (1, 1), "b": (2, 2)}
    assert count_tests(columns, tests) == 3


@pytest.mark.parametrize("others", [0, 6])
def test_a_run_without_a_difference_finds_one_in_at_most_one_of_twenty(others: int) -> None:
    """Of 2,000 runs with eight main metrics of three pairs; corrected metric by metric a third would find one."""
    rng, together, alone = np.random.default_rng(others), 0, 0
    for _ in range(2_000):
        tests = [MetricTests(rng.random(3), 0, place < 8) for place in range(8 + others)]
        together += any(is_significant(p).any() for p in adjust_together(tests))
        alone += any(is_significant(holm(one.p)).any() for one in tests)
    assert together / 2_000 <= 0.05 + 2.6 * np.sqrt(0.05 * 0.95 / 2_000)
    assert alone / 2_000 > 0.28
