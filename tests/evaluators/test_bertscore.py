"""BERTScore against an expected answer, and of a case's runs: plain loops on the states, edges, real weights."""

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from metrics.core.evaluator import CaseScore, Findings, Status
from metrics.core.registry import evaluators
from metrics.core.suite import Case, Outputs, Suite
from metrics.evaluators.consistency import answers as consistency_of_answers
from metrics.models import provide
from metrics.models.token_encoder import open_token_encoder
from tests.models import tiny
from tests.models.word_models import WordTokens


def scored(encoder: Any, answer: str, *expected: str, **parameters: Any) -> CaseScore:
    entry = evaluators()["bertscore"]
    [found] = entry(
        [Case(answer=answer, expected_answers=expected)], entry.parameters.model_validate(parameters), encoder
    )
    return found


def consistencies(answers: list[list[str | None]], encoder: Any, **parameters: Any) -> Findings:
    """Return the findings of cases with these answers, a run each."""
    entry = evaluators()["consistency_bertscore"]
    suite = Suite.from_rows("s", "text", [{"case_id": str(place)} for place in range(len(answers))])
    rows = [
        {"case_id": str(place), "model": "m", "run": run, "answer": answer}
        for place, own in enumerate(answers)
        for run, answer in enumerate(own, 1)
    ]
    return entry(suite, Outputs.from_rows(rows), entry.parameters.model_validate(parameters), token_encoder=encoder)


def consistency(answers: list[str | None], encoder: Any, **parameters: Any) -> CaseScore:
    return consistencies([answers], encoder, **parameters).cases["0"]


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("encoder")
    return open_token_encoder(str(tiny.classifier(folder / "tiny")), folder)


@pytest.fixture(scope="module")
def bundled(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return provide(["token_encoder"], {}, tmp_path_factory.mktemp("bundled"))["token_encoder"]


def plain_matching(encoder: Any, layer: int | None) -> Callable[[str, str], tuple[float, float]]:
    """Return precision and recall of an answer and a reference by loops on transformers' states of each text alone."""
    import torch

    model, tokenizer = encoder._loaded

    def states(text: str) -> np.ndarray:
        with torch.no_grad():
            made = model(**tokenizer.own(text, return_tensors="pt"), output_hidden_states=True)
        rows = np.asarray(made.hidden_states[2 if layer is None else layer][0], np.float64)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    def mean_best(own: np.ndarray, other: np.ndarray) -> float:
        return float(np.mean([max(float(row @ column) for column in other) for row in own[1:-1]]))

    return lambda one, other: (mean_best(states(one), states(other)), mean_best(states(other), states(one)))


def f1(precision: float, recall: float) -> float:
    return 2 * precision * recall / (precision + recall)


@pytest.mark.parametrize("layer", [None, 1])
def test_it_is_a_plain_loop_on_the_states(encoder: Any, layer: int | None) -> None:
    answer, *expected = "the cat sat on a mat", "a dog ran home", "the cat ran"
    matched = plain_matching(encoder, layer)
    best = max((matched(answer, one) for one in expected), key=lambda pair: f1(*pair))
    values = scored(encoder, answer, *expected, layer=layer).values
    assert (values["precision"], values["recall"]) == pytest.approx(best, abs=1e-5)
    assert values["bertscore"] == pytest.approx(f1(*best), abs=1e-5)


@pytest.mark.parametrize("layer", [None, 1])
def test_of_runs_it_is_the_mean_over_all_pairs(encoder: Any, layer: int | None) -> None:
    answers = ["the cat sat on a mat", "a dog ran home", "the cat ran home", "cat"]
    matched = plain_matching(encoder, layer)
    pairs = [f1(*matched(*pair)) for pair in combinations(answers, 2)]
    found = consistency(answers, encoder, layer=layer)
    assert found.values["consistency_bertscore"] == pytest.approx(np.mean(pairs), abs=1e-5)
    rescaled = consistency(answers, encoder, layer=layer, baseline=0.4).values["consistency_bertscore"]
    assert rescaled == pytest.approx(np.mean([(pair - 0.4) / 0.6 for pair in pairs]), abs=1e-5)
    facts = found.evidence.facts
    assert facts["pairs"][0] == {"runs": [1, 2], "f1": pytest.approx(pairs[0], abs=1e-5)}
    assert (facts["model"], facts["weights_sha256"]) == ("tiny", encoder.weights)


def test_empty_answers_are_counted_and_long_ones_marked(encoder: Any) -> None:
    facts = consistency(["cat " * 40, " ", None, "cat"], encoder).evidence.facts
    assert (facts["runs"], facts["empty"], facts["texts_read_in_part"]) == ([1, 4], 2, 1)
    assert consistency(["cat", ""], encoder).reason == "needs two answers that are not empty of the case, has 1"


def test_portions_of_cases_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = [[" ".join(tiny.WORDS[number : number + run + 1]) for run in (1, 2, 3)] for number in range(5)]
    whole = consistencies(answers, WordTokens())
    monkeypatch.setattr(consistency_of_answers, "PORTION", 4)
    assert (dict(consistencies(answers, WordTokens()).cases), len(whole.cases)) == (dict(whole.cases), 5)


def test_an_answer_in_a_script_that_the_model_does_not_know_has_failed(bundled: Any) -> None:
    found = scored(bundled, "ሰላም ለዓለም", "Bangkok")
    assert (found.status, found.by_output) == (Status.SKIPPED, True)
    assert "knows the script of the answer only in part" in str(found.reason)


def test_the_bundled_model_finds_paraphrases_near(bundled: Any) -> None:
    assert scored(bundled, "The cat sat.", "The cat sat.").values["bertscore"] == pytest.approx(1, abs=1e-5)
    near, far = (scored(bundled, "The cat sat.", other).values["bertscore"] for other in ("A cat was sitting.", "Tax."))
    assert near > far
    alike = consistency(["The sun rose over the mill.", "Over the mill, the sun came up."], bundled)
    apart = consistency(["The sun rose over the mill.", "Interest rates fell by half a point."], bundled)
    assert alike.values["consistency_bertscore"] > 0.7 > apart.values["consistency_bertscore"]
    assert alike.evidence.facts["model"] == "all-MiniLM-L6-v2"
