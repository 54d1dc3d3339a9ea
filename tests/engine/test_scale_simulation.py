"""The simulation behind docs/scale.md, where the answer is known."""

import pytest

from tests.benchmarks.scale_simulation import Costs, simulate


@pytest.mark.parametrize(
    ("costs", "workers", "seconds"),
    [
        pytest.param(Costs(0.0, 0.0, 0.0, [2.0]), 1, 200.0, id="one-worker-does-all"),
        pytest.param(Costs(0.0, 0.0, 0.0, [2.0]), 50, 4.0, id="two-rounds-of-many-workers"),
        pytest.param(Costs(0.5, 0.0, 0.5, [0.001]), 1000, 100.0, id="the-driver-is-the-limit"),
        pytest.param(Costs(0.0, 1.0, 0.0, [0.001]), 1000, 100.001, id="the-scheduler-is-the-limit"),
    ],
)
def test_the_slowest_part_decides(costs: Costs, workers: int, seconds: float) -> None:
    assert simulate(100, workers, costs).seconds == pytest.approx(seconds, rel=0.01)


def test_no_part_is_busier_than_the_run_is_long() -> None:
    found = simulate(500, 8, Costs(0.01, 0.02, 0.01, [0.1, 0.2, 0.4]))
    assert all(0 < share <= 1 for share in (found.driver, found.scheduler, found.workers))
