"""BERTScore of a case's runs: against a plain loop on the encoder's states, edges, and the bundled model."""

from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from metrics.core.evaluator import CaseScore
from metrics.core.registry import evaluators
from metrics.core.suite import Outputs, Suite
from metrics.models import provide
from metrics.models.token_encoder import open_token_encoder
from tests.models import tiny
from tests.models.word_models import (
    WordTokens,
)


def outputs_of(answers: list[str | None]) -> tuple[Suite, Outputs]:
    suite = Suite.from_rows("one", "text", [{"case_id": "1"}])
    rows = [{"case_id": "1", "model": "m", "run": run, "answer": answer} for run, answer in enumerate(answers, 1)]
    return suite, Outputs.from_rows(rows)


def consistency(answers: list[str | None], encoder: Any, **parameters: Any) -> CaseScore:
    entry = evaluators()["consistency_bertscore"]
    found: CaseScore = entry(
        *outputs_of(answers), entry.parameters.model_validate(parameters), token_encoder=encoder
    ).cases["1"]
    return found


@pytest.mark.parametrize("layer", [None, 1])
def test_bertscore_is_that_of_a_plain_loop_on_the_states(tmp_path: Path, layer: int | None) -> None:
    """Against transformers' states of each answer alone and loops in plain numpy."""
    import torch

    encoder = open_token_encoder(str(tiny.classifier(tmp_path / "tiny")), tmp_path)
    model, tokenizer = encoder._loaded
    answers = ["the cat sat on a mat", "a dog ran home", "the cat ran home", "cat"]

    def states(text: str) -> np.ndarray:
        with torch.no_grad():
            made = model(**tokenizer.own(text, return_tensors="pt"), output_hidden_states=True)
        rows = np.asarray(made.hidden_states[2 if layer is None else layer][0], np.float64)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    def f1(first: np.ndarray, second: np.ndarray) -> float:
        recall = np.mean([max(float(row @ other) for other in second) for row in first[1:-1]])
        precision = np.mean([max(float(row @ other) for other in first) for row in second[1:-1]])
        return 2 * precision * recall / (precision + recall)

    pairs = [f1(states(first), states(second)) for first, second in combinations(answers, 2)]
    found = consistency(answers, encoder, layer=layer)
    assert found.values["consistency_bertscore"] == pytest.approx(np.mean(pairs), abs=1e-5)
    rescaled = consistency(answers, encoder, layer=layer, baseline=0.4)
    assert rescaled.values["consistency_bertscore"] == pytest.approx(
        np.mean([(f - 0.4) / 0.6 for f in pairs]), abs=1e-5
    )
    assert found.evidence.facts["pairs"][0] == {"runs": [1, 2], "f1": pytest.approx(pairs[0], abs=1e-5)}
    assert (found.evidence.facts["model"], found.evidence.facts["weights_sha256"]) == ("tiny", encoder.weights)


def test_empty_answers_are_counted_and_long_ones_marked(tmp_path: Path) -> None:
    encoder = open_token_encoder(str(tiny.classifier(tmp_path / "tiny")), tmp_path)
    found = consistency(["cat " * 40, " ", None, "cat"], encoder)
    assert (
        found.evidence.facts["runs"],
        found.evidence.facts["empty"],
        found.evidence.facts["texts_read_in_part"],
    ) == ([1, 4], 2, 1)
    lonely = consistency(["cat", ""], encoder)
    assert lonely.reason == "needs two answers that are not empty of the case, has 1"


def test_portions_of_cases_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = evaluators()["consistency_bertscore"]
    suite = Suite.from_rows("many", "text", [{"case_id": str(number)} for number in range(5)])
    rows = [
        {"case_id": str(number), "model": "m", "run": run, "answer": " ".join(tiny.WORDS[number : number + run + 1])}
        for number in range(5)
        for run in (1, 2, 3)
    ]
    whole = entry(suite, Outputs.from_rows(rows), entry.parameters(), token_encoder=WordTokens())
    monkeypatch.setattr("metrics.evaluators.consistency.consistency_bertscore.PORTION", 4)
    parted = entry(suite, Outputs.from_rows(rows), entry.parameters(), token_encoder=WordTokens())
    assert dict(parted.cases) == dict(whole.cases)
    assert len(parted.cases) == 5


def test_the_bundled_model_finds_paraphrases_consistent(tmp_path: Path) -> None:
    encoder = provide(["token_encoder"], {}, tmp_path)["token_encoder"]
    alike = consistency(["The sun rose over the mill.", "Over the mill, the sun came up."], encoder)
    apart = consistency(["The sun rose over the mill.", "Interest rates fell by half a point."], encoder)
    assert alike.values["consistency_bertscore"] > 0.7 > apart.values["consistency_bertscore"]
    assert alike.evidence.facts["model"] == "all-MiniLM-L6-v2"
