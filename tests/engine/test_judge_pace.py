"""The time left of judged cases: measured in this session, whatever the cache answered before."""

import pytest

from metrics.engine.progress import JudgePace


@pytest.mark.parametrize(("noted", "cases", "left"), [
    pytest.param([(0.0, 0, 0, 0)], 0, 0.0, id="nothing left"),
    pytest.param([(0.0, 0, 0, 0)], 10, None, id="nothing done"),
    pytest.param([(1.0, 200, 0, 0)], 100, 0.5, id="all from the cache"),
    pytest.param([(1.0, 200, 0, 0), (1.5, 200, 4, 0)], 100, None, id="then a question: unknown"),
    pytest.param([(1.0, 200, 0, 0), (3.0, 200, 2, 0), (5.0, 202, 4, 2)], 100, None, id="two cases are too few"),
    pytest.param(
        [(1.0, 200, 0, 0), (3.0, 200, 2, 0), (7.0, 203, 6, 3)], 100, 200.0, id="the cached burst does not count"
    ),
    pytest.param([(0.0, 0, 0, 0), (8.0, 8, 8, 4)], 8, 8.0, id="the cache answers half of them"),
    pytest.param([(0.0, 0, 0, 0), (2.0, 0, 16, 0), (2.1, 16, 32, 16)], 160, 21.0, id="sixteen at once: no burst"),
])  # fmt: skip
def test_time_left(noted, cases, left):
    pace = JudgePace()
    for one in noted:
        pace.note(*one)
    assert pace.seconds_left(cases) == (None if left is None else pytest.approx(left))
