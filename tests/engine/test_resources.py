"""Evaluators that need a model: the engine gives it to them, and says what is missing without failing the run."""

import json
from typing import Any

import pytest

from metrics import engine
from metrics.core.suite import Outputs, Suite
from metrics.engine.plan import plan
from metrics.store import Run, Workspace
from tests.engine.engine_scenes import finished

SUN = "The sun rose over the mill."


@pytest.fixture
def made(workspace: Any) -> tuple[Workspace, Suite, Outputs]:
    suite = Suite.from_rows(
        "s", "text", [{"case_id": name, "question": "When?", "expected_answers": [SUN]} for name in ("a", "b", "c")]
    )
    rows = [
        {"case_id": "a", "answer": SUN, "retrieved_contexts": [f"{SUN} It was cold."]},
        {"case_id": "b", "answer": "Bread needs yeast.", "retrieved_contexts": [SUN]},
        {"case_id": "c", "answer": SUN, "retrieved_contexts": None},
    ]
    return Workspace(workspace), suite, Outputs.from_rows([{"model": "m", **row} for row in rows])


def by_case(run: Run) -> dict[str, dict[str, Any]]:
    return {row["case_id"]: row for row in run.scores.to_dict("records")}


def test_an_evaluator_gets_the_embedder(made: tuple[Workspace, Suite, Outputs]) -> None:
    run = finished(*made, "groundedness")
    found = by_case(run)
    assert found["a"]["value"] == pytest.approx(1, abs=1e-6)
    assert found["b"]["value"] < 0.3
    assert (found["c"]["status"], found["c"]["reason"]) == ("not_applicable", "the case has no retrieved contexts")
    evidence = json.loads(found["b"]["evidence"])
    assert (evidence["model"], evidence["weights_sha256"][:12]) == ("all-MiniLM-L6-v2", "53aa51172d14")
    assert list((made[0].path / "cache" / "vectors").glob("*.sqlite3"))


def test_a_missing_model_skips_its_cases_and_nothing_else(made: tuple[Workspace, Suite, Outputs]) -> None:
    run = finished(*made, "groundedness", "rouge", resources={"embedder": "/no/such/model"})
    assert run.state == "finished"
    grounded = run.scores[run.scores["evaluator"] == "groundedness"]
    assert grounded["status"].tolist() == ["skipped", "skipped", "not_applicable"]
    assert grounded["reason"][0].startswith("there is no folder '/no/such/model'; name one with a sentence-transf")
    [total] = run.aggregates[run.aggregates["evaluator"] == "groundedness"].to_dict("records")
    assert (total["n"], total["skipped"], total["error"]) == (0, 2, 0)
    assert "there is no folder '/no/such/model'" in total["reason"]
    assert run.scores[run.scores["evaluator"] == "rouge"]["status"].eq("ok").all()


def test_another_model_is_other_work(made: tuple[Workspace, Suite, Outputs]) -> None:
    """What was computed with one model is never taken for another's."""
    plain, chosen = (
        engine.create(*made, ["groundedness"], resources=resources) for resources in (None, {"embedder": "/some/model"})
    )
    assert chosen.spec["resources"] == {"embedder": "/some/model"}
    assert {unit.name for unit in plan(plain)}.isdisjoint(unit.name for unit in plan(chosen))
