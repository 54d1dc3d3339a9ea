"""Evaluators of agents in a run: columns of cases and outputs reach them, and every number has its interval."""

import json
from pathlib import Path

import pytest

from metrics import Outputs, Suite, evaluate

pytestmark = pytest.mark.usefixtures("units_here")
CALLS = [[], [{"tool": "look"}], [{"tool": "look"}, {"tool": "book", "arguments": {"n": 2}}], [{"tool": "book"}]]


@pytest.fixture
def scene() -> tuple[Suite, Outputs]:
    """Four cases with 0 to 2 calls and 100 to 400 tokens; the third has a budget of its own, the last no tokens."""
    cases = [
        {"case_id": str(n), "question": "?", "expected_calls": '["look"]', "metadata.budget_tokens": budget}
        for n, budget in enumerate(["", "", "250", ""])
    ]
    outputs = [
        {
            "case_id": str(n), "model": "m", "answer": "a", "trace": json.dumps(calls), "duration_s": 1.0 + n / 3,
            "tokens": None if n == 3 else 100 * (n + 1), "cost_usd": n / 100,
        }
        for n, calls in enumerate(CALLS)
    ]  # fmt: skip
    return Suite.from_rows("s", "agent", cases), Outputs.from_rows(outputs)


def test_what_was_spent_and_the_budget(workspace: Path, scene: tuple[Suite, Outputs]) -> None:
    run = evaluate(*scene, evaluators=["agent_budget"], parameters={"agent_budget": {"tokens": 1000, "seconds": 2}})
    values = run.scores.set_index(["case_id", "metric"])["value"]
    assert [values[str(n), "within_budget"] for n in range(3)] == [1, 1, 0]
    reasons = run.scores.set_index(["case_id", "metric"])["reason"]
    assert (reasons["3", "within_budget"], reasons["3", "tokens"]) == ("the output does not tell tokens",) * 2
    found = run.aggregates.set_index("metric")
    assert found.loc[["steps", "tool_calls", "tokens", "seconds"], "value"].tolist() == [
        1.0, 1.0, 200.0, pytest.approx(1.5),
    ]  # fmt: skip
    assert found.loc["cost_usd", "value"] == pytest.approx(0.015)
    assert found.loc["within_budget", ["value", "n", "unscored"]].tolist() == pytest.approx([2 / 3, 3, 1])
    assert found[["low", "high"]].notna().all(axis=None)


def test_calls_and_the_expected_ones(workspace: Path, scene: tuple[Suite, Outputs]) -> None:
    run = evaluate(*scene, evaluators=["tool_calls"])
    found = run.aggregates.set_index("metric")
    assert found.loc[["accuracy", "recall", "superset", "subset"], "value"].tolist() == [0.25, 0.5, 0.5, 0.5]
    assert found.loc["precision", ["value", "n", "unscored"]].tolist() == [0.5, 3, 1]
    assert found.loc[["accuracy", "precision", "f1"], ["low", "high"]].notna().all(axis=None)
