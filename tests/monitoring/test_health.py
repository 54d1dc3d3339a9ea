"""The status that the interval of a pass rate gives, after the one before."""

import pytest

from metrics.monitoring.health import Health, next_health
from metrics.stats.sequential import Bounds

H, W, C, N = Health.HEALTHY, Health.WARNING, Health.CRITICAL, Health.INSUFFICIENT_DATA


@pytest.mark.parametrize(("low", "high", "expected"), [
    pytest.param(0.4, 0.699, {N: C, H: C, W: C, C: C}, id="below critical"),
    pytest.param(0.6, 0.849, {N: W, H: W, W: W, C: C}, id="below warning, on either side of critical"),
    pytest.param(0.7, 0.849, {N: W, H: W, W: W, C: W}, id="between the limits"),
    pytest.param(0.7, 0.9, {N: N, H: H, W: W, C: W}, id="above critical, on either side of warning"),
    pytest.param(0.6, 0.9, {N: N, H: H, W: W, C: C}, id="on either side of both"),
    pytest.param(0.85, 0.9, {N: H, H: H, W: H, C: H}, id="above warning"),
])  # fmt: skip
def test_it_changes_only_where_the_interval_excludes_it(low, high, expected) -> None:
    assert {before: next_health(before, Bounds(low, high)) for before in expected} == expected
