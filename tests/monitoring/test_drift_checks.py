"""Drift: where scores are cut, what a shift says, and that chance alone seldom ever shows one."""

import numpy as np
import pytest

from metrics.core.evaluator import Metric
from metrics.monitoring.drift_checks import Cut, Event, cuts_of, shift_of
from metrics.stats.drift import exact_share
from tests.benchmarks.bench_monitor_evidence import drifted
from tests.random_seeds import seeds

SCORE = Metric("score", "")


@pytest.mark.parametrize(("reference", "expected"), [
    pytest.param([0.0, 1.0, 1.0, 1.0], [(0.0, True)], id="yes or no: one cut"),
    pytest.param([1.0] * 9, [(1.0, False)], id="all the best: less can be seen"),
    pytest.param([0.0] * 9, [(0.0, True)], id="all the worst: more can be seen"),
    pytest.param([0.7] * 9, [(0.7, False), (0.7, True)], id="all alike: both sides can be seen"),
    pytest.param(np.arange(1, 100) / 100, [
        (0.1, False), (0.25, False), (0.5, False), (0.75, False), (0.9, False),
    ], id="many: five"),
])  # fmt: skip
def test_cuts(reference: list[float], expected: list[tuple[float, bool]]) -> None:
    found = cuts_of(np.array(reference), SCORE)
    assert [(pytest.approx(cut.value), cut.inside) for cut in found] == expected


def test_a_shift_is_dated_and_measured() -> None:
    """Half of the lines up to the cut as in the reference, then, from the 1,000th on, 80 %."""
    rng = np.random.default_rng(0)
    event = Event(0, Cut(0.5, inside=True), np.repeat([0.0, 1.0], 200))
    values = np.concatenate([rng.random(1_000) < 0.5, rng.random(500) < 0.8]).astype(float)
    expected = exact_share(event.shares, 0.025)
    assert shift_of(np.arange(1_000), values[:1_000], event, expected, 0.025) is None
    found = shift_of(np.arange(1_500), values, event, expected, 0.025)
    assert found is not None
    _, shift = found
    assert 950 <= shift.since <= 1_050
    assert shift.units == 1_500 - shift.since
    assert shift.reference_high < shift.low < shift.share < shift.high
    assert (shift.reference, shift.reference_low, shift.reference_high) == (0.5, *expected)


@pytest.mark.parametrize("alike", [None, 0.5, 1.0])
def test_chance_alone_hardly_ever_shows_drift_in_ten_looks(alike: float | None) -> None:
    """Independent lines, and sessions of five with ICC .5 and 1; KS tests of windows said drift in 28, 96, 100 %."""
    rng = np.random.default_rng(1)
    cuts = [Cut(value, inside=False) for value in (0.63, 0.76, 0.87, 0.94, 0.98)]
    found = np.array([drifted(rng, cuts, alike, 5.0) for _ in seeds(6, 12)])
    assert found[:, 2].sum() == 0
    assert found[:, 1].sum() > 0, "the windows tested one by one"


def test_worse_scores_show_drift() -> None:
    rng = np.random.default_rng(2)
    cuts = [Cut(value, inside=False) for value in (0.63, 0.76, 0.87, 0.94, 0.98)]
    assert all(drifted(rng, cuts, 0.5, 2.5)[2] for _ in range(5))
