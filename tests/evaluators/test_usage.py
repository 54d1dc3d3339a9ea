"""Latency, cost and tokens: median and 95 % point lead, with intervals and tests that a heavy tail does not break."""

import numpy as np
import pytest

from metrics import analysis, evaluate
from metrics.core.suite import Outputs, Suite
from tests.evaluators.tabular import overall, run


def timed(values: list[float | None], column: str = "duration_s") -> tuple[Suite, Outputs]:
    cases = [{"case_id": str(n), "question": "?"} for n in range(len(values))]
    outputs = [{"case_id": str(n), "model": "m", "answer": "!", column: value} for n, value in enumerate(values)]
    return Suite.from_rows("s", "text", cases), Outputs.from_rows(outputs)


@pytest.mark.parametrize("evaluator", ["latency", "cost", "tokens"])
def test_the_numbers_are_numpys(evaluator: str) -> None:
    column = {"latency": "duration_s", "cost": "cost_usd", "tokens": "tokens"}[evaluator]
    values = np.random.default_rng(1).integers(1, 500, 81).astype(float)
    found = overall(run(evaluator, timed([int(one) for one in values], column)))
    assert found["median"].value == np.median(values)
    assert found["p95"].value == np.quantile(values, 0.95, method="averaged_inverted_cdf")
    assert found["mean"].value == pytest.approx(values.mean())
    assert found["median"].interval == found["p95"].interval == "order statistics"


def test_an_end_that_is_not_known_is_said_and_not_ranked() -> None:
    found = overall(run("latency", timed([1.0] * 20 + [2.0] * 20 + [500.0])))
    assert (found["p95"].high, found["p95"].reason) == (None, "no upper end with fewer than 59 cases")
    assert found["p95"].replicates is None
    assert found["mean"].high is None
    assert "one case makes" in str(found["mean"].reason)
    assert (found["median"].low, found["median"].high) == (1.0, 2.0)


def test_two_models_are_compared_by_their_medians_on_the_same_resamples(workspace: object) -> None:
    rng = np.random.default_rng(0)
    fast = rng.lognormal(0, 1, 80)
    cases = [{"case_id": str(n), "question": f"{n}?"} for n in range(80)]
    outputs = [
        {"case_id": str(n), "model": model, "answer": "!", "duration_s": factor * float(fast[n])}
        for model, factor in (("fast", 1.0), ("slow", 3.0))
        for n in range(80)
    ]
    made = evaluate(cases, outputs, ["latency"])
    rows = {row.column.metric: row for row in analysis.compare(made, "fast", "slow").resampled}
    assert set(rows) == {"median", "p95"}
    assert rows["median"].adjusted is not None
    assert rows["median"].adjusted < 0.01
    assert rows["median"].difference == pytest.approx(2 * np.median(fast))
    assert 0 < rows["median"].low < rows["median"].difference < rows["median"].high
    board = analysis.leaderboard(made)
    assert [board.cells[model, "latency/median"].rank for model in ("fast", "slow")] == [1, 2]
    assert board.columns[0].primary
    front = analysis.pareto_front(made, ["duration_s"])
    assert [one.model for one in front.placings if one.on_front] == ["fast"]
