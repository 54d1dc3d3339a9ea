"""Whether a value passes a threshold: one rule for metrics, columns of the leaderboard and exports."""

import math

import pytest

from metrics.core.evaluator import Direction, Metric
from metrics.core.rounding import verdict


@pytest.mark.parametrize(("value", "threshold", "direction", "passes"), [
    ((0.7 + 0.8 + 0.9) / 3, 0.8, "higher", True),
    (0.1 + 0.2, 0.3, "lower", True),
    (0.799, 0.8, "higher", False),
    (0.301, 0.3, "lower", False),
    (None, 0.8, "higher", None),
    (math.nan, 0.8, "lower", None),
    (0.9, None, "higher", None),
    (0.9, 0.8, "none", None),
])  # fmt: skip
def test_a_value_passes_but_for_rounding(value, threshold, direction, passes):
    assert verdict(value, threshold, direction) is passes
    assert Metric("m", "M.", threshold=threshold, direction=Direction(direction)).verdict(value) is passes
