"""Shares of cases on which one model is ahead: worked numbers, laws, and how often the intervals hold the truth."""

import numpy as np
import pytest

from metrics.core.array_types import Floats
from metrics.stats.intervals import wilson
from metrics.stats.paired_intervals import CaseShare, share_within, superiority, tango_interval, worth_of_cases
from metrics.stats.student_t import Z95


@pytest.mark.parametrize(("counts", "expected"), [
    pytest.param((1, 7, 21), (-0.517, -0.026), id="fagerland-2014-airways"),
    pytest.param((0, 0, 20), (-0.161, 0.161), id="ties-only"),
    pytest.param((0, 0, 0), (None, None), id="nothing"),
])  # fmt: skip
def test_tango_interval(counts: tuple[int, int, int], expected: tuple[float | None, float | None]) -> None:
    found = tango_interval(*counts)
    assert found == (expected if expected[0] is None else pytest.approx(expected, abs=6e-4))


def test_the_ends_are_where_the_score_statistic_is_1_96() -> None:
    """By the statistic with the likeliest chance found by search, not by its formula."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        n = int(rng.integers(5, 80))
        wins = int(rng.integers(1, n - 2))
        losses = int(rng.integers(1, n - wins + 1))
        for delta in tango_interval(wins, losses, n):
            assert delta is not None
            loss = np.linspace(max(0, -delta), (1 - delta) / 2, 200_001)[1:-1]
            likely = wins * np.log(loss + delta) + losses * np.log(loss) + (n - wins - losses) * np.log(
                np.maximum(1 - 2 * loss - delta, 1e-300))  # fmt: skip
            q = loss[np.argmax(likely)]
            statistic = (wins - losses - n * delta) / np.sqrt(n * (2 * q + delta * (1 - delta)))
            assert abs(statistic) == pytest.approx(Z95, abs=2e-3)


def test_ties_count_half_and_turning_the_models_turns_the_share() -> None:
    better = np.array([0.3, 0.1, -0.2, 0.0, 1e-17])
    found, turned = superiority(better), superiority(-better)
    assert found is not None
    assert turned is not None
    assert (found.value, turned.value) == (pytest.approx(0.6), pytest.approx(0.4))
    assert (found.low, found.high) == pytest.approx((1 - (turned.high or 0), 1 - (turned.low or 0)))
    assert share_within(better, 0.2) == CaseShare(1.0, *wilson(5, 5))
    assert share_within(better, 0.1) == CaseShare(0.8, *wilson(4, 5))
    assert superiority(np.zeros(0)) is None
    assert share_within(np.zeros(0), 0.1) is None


def test_cases_of_a_group_are_worth_less_and_never_more_than_their_number() -> None:
    rng = np.random.default_rng(1)
    clusters = np.repeat(np.arange(20), 5)
    alike, free = np.repeat(rng.choice([-1.0, 1.0], 20), 5), rng.choice([-1.0, 1.0], 100)
    assert 15 < worth_of_cases(alike, None, clusters) < 21
    assert 45 < worth_of_cases(free, None, clusters) <= 100
    assert worth_of_cases(free, np.ones(100) * 3) == pytest.approx(100, rel=0.05)
    assert worth_of_cases(free, None, np.zeros(100, int)) == 0
    whole = superiority(free, None, np.zeros(100, int))
    assert whole is not None
    assert (whole.low, whole.high) == (None, None)


def draw_values(rng: np.random.Generator, kind: str) -> Floats:
    if kind == "mostly ties":
        return rng.choice([1.0, -1.0, 0.0], 40, p=[0.15, 0.05, 0.8])
    return np.repeat(rng.normal(0.3, 1, 15), 4) + rng.normal(0, 1, 60) if kind == "groups" else rng.normal(0.5, 1, 12)


@pytest.mark.parametrize(("kind", "ahead", "within"), [
    ("mostly ties", 0.55, 0.95), ("groups", 0.5840, 0.7142), ("few", 0.6915, 0.8413),
])  # fmt: skip
def test_intervals_hold_the_truth(kind: str, ahead: float, within: float) -> None:
    """In at least 93 % of 400 samples, the Monte-Carlo error being 1.1 points."""
    rng, held = np.random.default_rng(3), np.zeros(2)
    clusters = np.repeat(np.arange(15), 4) if kind == "groups" else None
    for _ in range(400):
        better = draw_values(rng, kind)
        for place, (share, truth) in enumerate(
            ((superiority(better, None, clusters), ahead), (share_within(better, 0.5, None, clusters), within))
        ):
            assert share is not None
            assert share.low is not None
            assert share.high is not None
            held[place] += share.low <= truth <= share.high
    assert (held / 400 >= 0.925).all(), held / 400
