"""Resources by name: what can be had, and what is said where it cannot."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from metrics.core.errors import MissingResource
from metrics.core.registry import evaluators
from metrics.models import chosen, equip, lacking, provide, unavailable
from metrics.models.embedder import Embedder


def test_the_embedder_needs_no_choice_and_is_opened_once(tmp_path: Path) -> None:
    first, second = (
        provide(["embedder"], settings, tmp_path)["embedder"] for settings in ({}, {"embedder": "bundled"})
    )
    assert isinstance(first, Embedder)
    assert first is second
    assert provide([], {}, tmp_path) == {}


def test_threads_that_ask_at_once_get_one_model(tmp_path: Path) -> None:
    with ThreadPoolExecutor(6) as threads:
        found = list(threads.map(lambda _: provide(["embedder"], {}, tmp_path)["embedder"], range(6)))
    assert len({id(embedder) for embedder in found}) == 1


def test_what_is_missing_is_listed_with_the_way_out(tmp_path: Path) -> None:
    settings = {"embedder": "/no/such/folder"}
    assert list(lacking(["embedder", "telepathy"], settings)) == ["embedder", "telepathy"]
    with pytest.raises(
        MissingResource, match=r"^there is no folder '/no/such/folder'; name one .*; no telepathy is chosen$"
    ):
        provide(["embedder", "telepathy"], settings, tmp_path)


def test_an_evaluator_s_own_model_goes_before_the_run_s() -> None:
    entry = evaluators()["toxicity_classifier"]
    own = entry.parameters.model_validate({"classifier": "some/own"})
    settings = {"classifier": "the/run", "embedder": "other"}
    assert chosen(entry, own, settings) == {"classifier": "some/own", "embedder": "other"}
    assert chosen(entry, entry.parameters(), settings) == settings


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
def test_what_an_evaluator_lacks_is_said_with_a_way_out(
    name: str, parameters: dict[str, str], settings: dict[str, str], reason: str | None, tmp_path: Path
) -> None:
    entry = evaluators()[name]
    values = entry.parameters.model_validate(parameters)
    assert unavailable(entry, values, settings) == reason
    if reason is not None:
        with pytest.raises(MissingResource) as failure:
            equip(entry, values, settings, tmp_path)
        assert str(failure.value) == reason
