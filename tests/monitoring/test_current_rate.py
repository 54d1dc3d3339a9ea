"""The current pass rate: what it is after a change, what the status does meanwhile, and what is kept of it."""

import json

import numpy as np
import pytest

from metrics.core.array_types import Floats
from metrics.monitoring.current_rate import BLOCK, CurrentRate
from metrics.monitoring.health import USUAL, Health, Limits
from metrics.stats.sequential import bounds, thresholds
from tests.random_seeds import seeds


def watched(values: Floats | list[float], limits: Limits = USUAL) -> tuple[CurrentRate, list[tuple[int, str]]]:
    """The rate after these units, and each change of its status, with the number of units at which it was seen."""
    rate, changes = CurrentRate(limits), list[tuple[int, str]]()
    for number, value in enumerate(values):
        before = rate.health
        rate.add(float(value), number)
        if number % BLOCK == BLOCK - 1:
            rate.look()
        if rate.health != before:
            changes.append((number + 1, rate.health.value))
    return rate, changes


def test_a_drop_after_a_good_time_is_found_and_dated() -> None:
    rate, changes = watched([1.0] * 300 + [0.0] * 20)
    assert changes == [(50, "healthy"), (310, "warning"), (320, "critical")]
    assert (rate.since, rate.stretch) == (300, (0.0, 20))
    assert rate.bounds == pytest.approx(bounds(np.array([20]), np.array([0.0]), float(thresholds(np.array(30)))))


def test_it_recovers_by_as_much_evidence() -> None:
    rate, changes = watched([1.0] * 60 + [0.0] * 20 + [1.0] * 100)
    assert changes == [(50, "healthy"), (70, "warning"), (80, "critical"), (110, "warning"), (150, "healthy")]
    assert rate.since == 80


def test_a_change_within_a_status_is_followed_without_an_alert() -> None:
    rate, changes = watched(np.concatenate([np.ones(400), np.random.default_rng(0).random(600) < 0.93]))
    assert [status for _, status in changes] == ["healthy"]
    assert 380 <= rate.since <= 460
    assert rate.bounds.low < 0.93 < rate.bounds.high < 1


def test_as_long_as_the_interval_contains_the_limit_nothing_is_said() -> None:
    rate, changes = watched([1.0, 1.0, 1.0, 1.0, 0.0] * 40)
    assert (changes, rate.health) == ([], Health.INSUFFICIENT_DATA)
    assert rate.bounds.low < 0.8 < rate.bounds.high


def test_sessions_of_equal_lines_say_as_much_as_one_line_each() -> None:
    lines = (np.random.default_rng(1).random(200) < 0.7).astype(float)
    assert watched(lines)[0].as_json() == watched([np.mean([value] * 5) for value in lines])[0].as_json()


def test_what_is_kept_continues() -> None:
    values = (np.random.default_rng(2).random(400) < 0.8).astype(float)
    whole, _ = watched(values)
    half = CurrentRate(USUAL)
    for number, value in enumerate(values):
        if number == 215:
            half = CurrentRate(USUAL, json.loads(json.dumps(half.as_json())))
        half.add(value, number)
        if number % BLOCK == BLOCK - 1:
            half.look()
    assert half.as_json() == whole.as_json()


def test_of_a_long_time_few_starts_are_kept() -> None:
    rate, _ = watched(np.tile([1.0] * 9 + [0.0], 1_000))
    starts = [start for start, *_ in rate.as_json()["segments"]]
    assert (starts[0], starts[-16:], len(starts) < 75) == (0, list(range(984, 1_000)), True)
    assert (np.diff(starts) <= (1_000 - np.array(starts[:-1])) / 8 + 1).all(), "an eighth of the way apart, or closer"
    assert rate.stretch == (0.9, 10_000)


def test_a_stationary_pass_rate_above_its_limit_changes_its_status_once_at_most() -> None:
    """.88 with limits at .85 and .70, 2,000 samples, 15 times: by its point estimate it changed 14 times (median)."""
    rng = np.random.default_rng(3)
    found = [[status for _, status in watched(rng.random(2_000) < 0.88)[1]] for _ in seeds(6, 15)]
    assert sum(len(changes) > 1 or changes not in ([], ["healthy"]) for changes in found) == 0
    assert sum(changes == ["healthy"] for changes in found) > len(found) / 2
