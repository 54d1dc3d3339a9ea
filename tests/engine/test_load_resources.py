"""What an evaluator needs: its own settings, and the message where something is missing."""

from pathlib import Path
from typing import Any

import pytest

from metrics.core.cases import Cases
from metrics.core.errors import MissingResource
from metrics.core.evaluator import Status
from metrics.core.registry import evaluators
from metrics.core.suite import Case
from metrics.engine.load_resources import Resources, missing_inputs, missing_resources


def test_an_output_that_is_an_error_is_an_error_of_every_evaluator_and_no_empty_answer() -> None:
    case = Case.of(answer="", expected_answers=["a"], error="HTTP 503 after 3 tries")
    score = missing_inputs(evaluators()["rouge"], Cases.of([case]))[0]
    assert (score.status, score.reason) == (Status.ERROR, "the model gave no answer: HTTP 503 after 3 tries")


@pytest.mark.parametrize(
    ("evaluator", "given", "reason"),
    [
        ("rouge", {"answer": "a"}, "the case has no expected answer"),
        ("agent_sanity", {"answer": "a"}, "the case has no trace or artifacts"),
        ("agent_sanity", {"artifacts": ["out.json"]}, None),
        ("context_recall", {"retrieved_contexts": ["a"], "reference_contexts": ["a"]}, None),
        ("context_recall", {"retrieved_contexts": ["a"], "expected_answers": ["a"]}, None),
        (
            "context_recall", {"answer": "a"},
            "the case has no expected answer or reference contexts and no retrieved contexts",
        ),
    ],
)  # fmt: skip
def test_an_input_may_have_another_in_its_place(evaluator: str, given: dict[str, Any], reason: str | None) -> None:
    cases = Cases.of([Case.of(**given), Case.of(**given, error="HTTP 503")])
    missing = missing_inputs(evaluators()[evaluator], cases)
    assert [score.reason for score in missing.values()] == [
        *([] if reason is None else [reason]),
        "the model gave no answer: HTTP 503",
    ]


def test_an_evaluator_s_own_model_goes_before_the_run_s() -> None:
    entry = evaluators()["toxicity_classifier"]
    own = entry.parameters.model_validate({"classifier": "some/own"})
    settings = {"classifier": "the/run", "embedder": "other"}
    assert entry.settings(own, settings) == {"classifier": "some/own", "embedder": "other"}
    assert entry.settings(entry.parameters(), settings) == settings


@pytest.mark.parametrize(
    ("name", "parameters", "settings", "reason"),
    [
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
    ],
)  # fmt: skip
def test_missing_resources_are_named_with_how_to_get_them(
    name: str, parameters: dict[str, str], settings: dict[str, str], reason: str | None, tmp_path: Path
) -> None:
    entry = evaluators()[name]
    values = entry.parameters.model_validate(parameters)
    assert missing_resources(entry, values, settings) == reason
    if reason is not None:
        with pytest.raises(MissingResource) as failure:
            Resources(settings, tmp_path).models(entry, values)
        assert str(failure.value) == reason
