"""Why a monitor has its status, and what has drifted, in a sentence."""

import pytest

from metrics.monitoring import Health, MetricDrift, Standing
from metrics.monitoring.drift_checks import Cut, Shift
from metrics.presentation.monitor_words import drift_words, reason

RISK = ", with at most 5 % risk of a false alarm, however often you look."


@pytest.mark.parametrize(("health", "low", "high", "expected"), [
    ("critical", 0.5, 0.69, f"The pass rate is below 0.7{RISK}"),
    ("critical", 0.5, 0.75, "The pass rate was below 0.7, and is not yet known to be above it."),
    ("warning", 0.6, 0.84, f"The pass rate is below 0.85{RISK}"),
    ("warning", 0.6, 0.9, "The pass rate was below 0.85, and is not yet known to be above it."),
    ("healthy", 0.86, 0.9, f"The pass rate is 0.85 or more{RISK}"),
    ("healthy", 0.8, 0.9, "The pass rate was 0.85 or more, and is not known to be below it."),
    ("insufficient_data", 0.8, 0.9, "Not yet sure: the pass rate may be on either side of 0.85."),
    ("insufficient_data", None, None, "Not yet sure: the pass rate may be on either side of 0.85."),
])  # fmt: skip
def test_the_reason_of_a_status(health, low, high, expected):
    since = None if low is None else 0
    standing = Standing("", "", 0, 0, 0, low, low, high, Health(health), since=since, units=20)
    assert reason(standing, 0.85, 0.7) == expected


def test_an_earlier_version_judged_by_the_window():
    old = Standing("", "", 69, 100, 0, 0.69, 0.59, 0.77, Health.CRITICAL)
    assert reason(old, 0.85, 0.7).startswith("An earlier version judged the latest window alone")


@pytest.mark.parametrize(("inside", "side"), [(True, "at most"), (False, "below")])
def test_a_drift_names_shares_and_stretch(inside, side):
    shift = Shift(Cut(0.8, inside), 0.32, 0.25, 0.39, 1_233, 400, 0.12, 0.08, 0.17)
    row = MetricDrift("rubric", "rubric", 100, 200, 0.7, 0.8, shift=shift)
    assert drift_words(row) == (
        f"0.320 (0.250–0.390) of scores {side} 0.800, reference 0.120 (0.080–0.170); since sample 1,234"
    )
    assert drift_words(MetricDrift("rubric", "rubric", 100, 200, 0.7, 0.8)) == ""
