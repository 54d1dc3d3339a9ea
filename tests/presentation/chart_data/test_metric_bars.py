"""Numbers of classes and metrics."""

import pandas as pd
import pytest

from metrics.presentation.chart_data import metric_bars

NUMBERS = pd.DataFrame({"name": ["cat", "cat", "dog", "dog"], "value": [0.5, 0.7, None, 0.2]})


@pytest.mark.parametrize(("direction", "order"), [("higher", ["dog", "cat"]), ("lower", ["cat", "dog"])])
def test_worst_first(direction, order):
    assert metric_bars.worst_first(NUMBERS, direction) == order


@pytest.mark.parametrize(("direction", "low", "high", "fits"), [
    pytest.param("higher", 0.0, 1.0, True, id="range and direction"),
    pytest.param("none", 0.0, 1.0, False, id="no better end"),
    pytest.param("higher", 0.0, float("inf"), False, id="open range"),
    pytest.param("lower", -1.0, 1.0, True, id="negative"),
])  # fmt: skip
def test_only_metrics_with_a_range_and_a_better_end_are_spokes(direction, low, high, fits):
    assert metric_bars.can_be_spoke(direction, low, high) is fits
