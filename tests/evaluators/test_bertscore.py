"""BERTScore against an expected answer: a plain loop on the encoder's states, edges, the bundled model."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from metrics.core.evaluator import CaseScore, Status
from metrics.core.registry import evaluators
from metrics.core.suite import Case
from metrics.models.token_encoder import open_token_encoder
from tests.models import tiny
from tests.models.word_models import WordTokens


def scored(encoder: Any, answer: str, *expected: str, **parameters: Any) -> CaseScore:
    entry = evaluators()["bertscore"]
    [found] = entry(
        [Case(answer=answer, expected_answers=expected)], entry.parameters.model_validate(parameters), encoder
    )
    assert isinstance(found, CaseScore)
    return found


@pytest.mark.parametrize("layer", [None, 1])
def test_it_is_a_plain_loop_on_the_states(tmp_path: Path, layer: int | None) -> None:
    """Against transformers' states of each text alone, greedy matching in loops."""
    import torch

    encoder = open_token_encoder(str(tiny.classifier(tmp_path / "tiny")), tmp_path)
    model, tokenizer = encoder._loaded

    def states(text: str) -> list[np.ndarray]:
        with torch.no_grad():
            made = model(**tokenizer.own(text, return_tensors="pt"), output_hidden_states=True)
        rows = np.asarray(made.hidden_states[2 if layer is None else layer][0], np.float64)
        return list(rows / np.linalg.norm(rows, axis=1, keepdims=True))

    def mean_best(own: list[np.ndarray], other: list[np.ndarray]) -> float:
        return float(np.mean([max(float(row @ column) for column in other) for row in own[1:-1]]))

    answer, *expected = "the cat sat on a mat", "a dog ran home", "the cat ran"
    each = [(mean_best(states(answer), states(e)), mean_best(states(e), states(answer))) for e in expected]
    best = max(each, key=lambda pair: 2 * pair[0] * pair[1] / sum(pair))
    values = scored(encoder, answer, *expected, layer=layer).values
    assert (values["precision"], values["recall"]) == pytest.approx(best, abs=1e-5)
    assert values["bertscore"] == pytest.approx(2 * best[0] * best[1] / sum(best), abs=1e-5)


def test_the_evidence_names_the_expected_answer_and_the_model() -> None:
    found = scored(WordTokens(), "red cat", "blue dog", "", "red dog")
    assert found.evidence.facts["expected_answer"] == 3
    assert found.evidence.facts["f1"] == {"1": 0.0, "3": 0.5}
    assert found.evidence.facts["model"] == "words"


def test_a_script_that_the_model_does_not_know_is_not_applicable() -> None:
    from metrics.models.embedder import BUNDLED

    encoder = open_token_encoder(BUNDLED, Path())
    found = scored(encoder, "ሰላም ለዓለም", "Bangkok")
    assert found.status is Status.NOT_APPLICABLE
    assert "knows the script of the answer only in part" in str(found.reason)
    assert scored(encoder, "The cat sat.", "The cat sat.").values["bertscore"] == pytest.approx(1, abs=1e-5)
    near, far = (scored(encoder, "The cat sat.", other).values["bertscore"] for other in ("A cat was sitting.", "Tax."))
    assert (near or 0) > (far or 0)
