"""What an evaluator needs: its own settings, the models that the engine gives it, the message where one is missing."""

from typing import Any

import pytest

from metrics import engine
from metrics.core.cases import Cases
from metrics.core.errors import MissingResource
from metrics.core.evaluator import Status
from metrics.core.registry import evaluators
from metrics.core.suite import Case, Outputs, Suite
from metrics.engine.load_resources import Resources, missing_inputs, missing_resources
from metrics.engine.plan import plan
from metrics.store import Run, Workspace
from tests.engine.engine_scenes import finished


def test_an_output_that_is_an_error_is_an_error_of_every_evaluator_and_no_empty_answer():
    case = Case.of(answer="", expected_answers=["a"], error="HTTP 503 after 3 tries")
    score = missing_inputs(evaluators()["rouge"], Cases.of([case]))[0]
    assert (score.status, score.reason) == (Status.ERROR, "the model gave no answer: HTTP 503 after 3 tries")


@pytest.mark.parametrize(("evaluator", "given", "reason"), [
    ("rouge", {"answer": "a"}, "the case has no expected answers"),
    ("agent_sanity", {"answer": "a"}, "the case has no trace or artifacts"),
    ("agent_sanity", {"artifacts": ["out.json"]}, None),
    ("context_recall", {"retrieved_contexts": ["a"], "reference_contexts": ["a"]}, None),
    ("context_recall", {"retrieved_contexts": ["a"], "expected_answers": ["a"]}, None),
    (
        "context_recall", {"answer": "a"},
        "the case has no expected answers or reference contexts and no retrieved contexts",
    ),
])  # fmt: skip
def test_an_input_may_have_another_in_its_place(evaluator, given, reason):
    cases = Cases.of([Case.of(**given), Case.of(**given, error="HTTP 503")])
    missing = missing_inputs(evaluators()[evaluator], cases)
    assert [score.reason for score in missing.values()] == [
        *([] if reason is None else [reason]), "the model gave no answer: HTTP 503",
    ]  # fmt: skip


def test_an_evaluator_s_own_model_goes_before_the_run_s():
    entry = evaluators()["toxicity_classifier"]
    own = entry.parameters.model_validate({"classifier": "some/own"})
    settings = {"classifier": "the/run", "embedder": "other"}
    assert entry.settings(own, settings) == {"classifier": "some/own", "embedder": "other"}
    assert entry.settings(entry.parameters(), settings) == settings


@pytest.mark.parametrize(("name", "parameters", "settings", "reason"), [
    ("rouge", {}, {}, None),
    ("groundedness", {}, {}, None),
    ("consistency_bertscore", {}, {}, None),
    ("answer_semantic_similarity", {}, {}, None),
    (
        "answer_semantic_similarity", {"method": "cross_encoder"}, {},
        "no classifier is chosen: set classifier to a local folder or the name of a model on the hub, such as "
        "cross-encoder/stsb-distilroberta-base",
    ),
    ("answer_semantic_similarity", {"method": "cross_encoder"}, {"classifier": "a/b"}, None),
    (
        "perplexity", {"language_model": "/no/such"}, {"language_model": "a/b"},
        "there is no folder '/no/such'; name one with a causal language model (config.json, its tokenizer and "
        "model.safetensors), or a GGUF file, or a model of the hub",
    ),
    (
        "summarization_completeness_faithfulness", {}, {"embedder": "/no/such"},
        "no classifier is chosen: set classifier to a local folder or the name of a model on the hub, such as "
        "cross-encoder/nli-deberta-v3-small; there is no folder '/no/such'; name one with a "
        "sentence-transformers model, or choose 'bundled'",
    ),
])  # fmt: skip
def test_missing_resources_are_named_with_how_to_get_them(name, parameters, settings, reason, tmp_path):
    entry = evaluators()[name]
    values = entry.parameters.model_validate(parameters)
    assert missing_resources(entry, values, settings) == reason
    if reason is not None:
        with pytest.raises(MissingResource) as failure:
            Resources(settings, tmp_path).models(entry, values)
        assert str(failure.value) == reason


SUN = "The sun rose over the mill."


@pytest.fixture
def suite_and_outputs(workspace):
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


def test_a_missing_model_skips_its_cases_and_nothing_else(suite_and_outputs):
    run = finished(*suite_and_outputs, "groundedness", "rouge", resources={"embedder": "/no/such/model"})
    assert run.state == "finished"
    grounded = run.scores[run.scores["evaluator"] == "groundedness"]
    assert grounded["status"].tolist() == ["skipped", "skipped", "not_applicable"]
    assert grounded["reason"][0].startswith("there is no folder '/no/such/model'; name one with a sentence-transf")
    [total] = run.aggregates[run.aggregates["evaluator"] == "groundedness"].to_dict("records")
    assert (total["n"], total["skipped"], total["error"]) == (0, 2, 0)
    assert "there is no folder '/no/such/model'" in total["reason"]
    assert run.scores[run.scores["evaluator"] == "rouge"]["status"].eq("ok").all()


def test_another_model_is_other_work(suite_and_outputs):
    """What was computed with one model is never taken for another's."""
    plain, chosen = (
        engine.create(*suite_and_outputs, ["groundedness"], resources=resources)
        for resources in (None, {"embedder": "/some/model"})
    )
    assert chosen.spec.resources == {"embedder": "/some/model"}
    assert {unit.name for unit in plan(plain)}.isdisjoint(unit.name for unit in plan(chosen))
