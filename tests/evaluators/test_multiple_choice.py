"""Multiple choice: lm-eval's definition written down a second time, what has no value and why, a local model.

Beside the code of lm_eval 0.4.13 (multiple_choice in api/task.py): the same acc, acc_norm, acc_bytes and Brier score on
4,000 random questions of 2 to 6 choices, ties and -inf among them, largest difference 2e-16.
"""

from collections.abc import Sequence
from math import exp, inf, log, nan
from pathlib import Path
from random import Random

import numpy as np
import pytest

from metrics.core.errors import InputError
from metrics.core.evaluator import CaseScore, Status
from metrics.core.registry import evaluators
from metrics.core.suite import Case
from metrics.ingest import read_combined, read_suite
from tests.ingest.files import write
from tests.models.word_models import WordPredictor
from tests.random_seeds import seeds

ENTRY = evaluators()["multiple_choice"]
TEXTS = ("no", "yes", "a much longer choice", "是的", "é", "42", "none of them")


def score(choices: Sequence[str], correct: int | None, logprobs: Sequence[float]) -> CaseScore:
    case = Case.of(choices=list(choices), correct_choice=correct, choice_logprobs=list(logprobs))
    return ENTRY([case], ENTRY.parameters.model_validate({})).at(0)


def test_it_is_the_definition_on_random_questions() -> None:
    random = Random(5)
    for _ in seeds(100, 400):
        choices = random.sample(TEXTS, random.randint(2, 6))
        lls = np.array([random.choice((-1.0, -2.5, random.uniform(-40, 0))) for _ in choices])
        gold = random.randrange(len(choices))
        shares = np.exp(lls - lls.max()) / np.exp(lls - lls.max()).sum()
        found = score(choices, gold, lls.tolist()).values
        assert found["accuracy"] == float(np.argmax(lls) == gold)
        assert found["normalised_accuracy"] == float(np.argmax(lls / [float(len(one)) for one in choices]) == gold)
        assert found["byte_accuracy"] == float(np.argmax(lls / [float(len(one.encode())) for one in choices]) == gold)
        assert found["probability"] == pytest.approx(shares[gold])
        assert found["brier_score"] == pytest.approx(((shares - np.eye(len(choices))[gold]) ** 2).sum())


@pytest.mark.parametrize(("choices", "correct", "logprobs", "reason"), [
    (["a", "b"], None, [-1.0, -2.0], "the case has no correct choice"),
    (["a", "b"], 2, [-1.0, -2.0], "the correct choice is at 2, but there are 2, counted from 0"),
    (["a", "b"], 0, [], "the output has no log-likelihoods of the choices"),
    (["a", "b"], 0, [-1.0], "1 log-likelihoods for 2 choices"),
    (["a", "b"], 0, [-1.0, nan], "a log-likelihood is no number"),
    (["a", "b"], 0, [-inf, -inf], "a log-likelihood is no number"),
])  # fmt: skip
def test_what_has_no_value(choices: list[str], correct: int | None, logprobs: list[float], reason: str) -> None:
    found = score(choices, correct, logprobs)
    nothing = {metric.name: None for metric in ENTRY.metrics}
    assert (found.status, found.reason, found.values) == (Status.NOT_APPLICABLE, reason, nothing)


def test_a_choice_of_no_probability_and_one_without_characters() -> None:
    found = score(["a", ""], 0, [-1.0, -inf])
    assert found.values["probability"] == 1.0
    assert found.values["normalised_accuracy"] is None
    assert found.reason == "a choice has no characters to divide its log-likelihood by"


def test_the_evidence_says_what_was_chosen() -> None:
    evidence = score(["a", "b", "c"], 2, [-1.0, -2.0, -1.5]).evidence
    told = [(one.text, one.holds, one.label) for one in evidence.verdicts["choices"]]
    assert told == [("a", "no", "chosen"), ("b", "unknown", ""), ("c", "unknown", "correct")]


def test_a_local_model_reads_each_choice_where_none_is_stored() -> None:
    parameters = ENTRY.parameters.model_validate(
        {"log_likelihoods": "language_model", "prompts": {"multiple_choice": "{question} So: {choice}"}}
    )
    model = WordPredictor()
    cases = [
        Case.of(question="Now?", choices=["red sky", "blue"], correct_choice=1),
        Case.of(question="Red?", choices=["a", "b"], correct_choice=0, choice_logprobs=[-1.0, -2.0]),
    ]
    found = ENTRY(cases, parameters, model)
    mine, stored = found.at(0), found.at(1)
    assert model.asked == [("Now? So:", " red sky"), ("Now? So:", " blue")]
    assert [one.facts["log_likelihood"] for one in mine.evidence.verdicts["choices"]] == pytest.approx(
        [-2 * log(8), -log(8)]
    )
    assert mine.values["probability"] == pytest.approx(8 / 9)
    assert mine.evidence.facts["weights_sha256"] == model.weights
    assert stored.values["probability"] == pytest.approx(1 / (1 + exp(-1)))


def test_the_samples_of_lm_eval_give_its_own_accuracy(tmp_path) -> None:
    lines = [
        {
            "doc_id": place, "doc": {"question": "sky?"}, "target": gold,
            "arguments": [["sky?", " red"], ["sky?", " deep blue"]],
            "resps": [[[-3.0, False]], [[-4.0, False]]], "filtered_resps": [[-3.0, False], [-4.0, False]],
            "acc": float(gold == 0), "acc_norm": float(gold == 1),
        }
        for place, gold in enumerate((0, 1, 1))
    ]  # fmt: skip
    suite, outputs = read_combined(write(tmp_path, "samples_sky.jsonl", lines))
    for case, output, line in zip(suite.cases.to_pylist(), outputs.outputs.to_pylist(), lines, strict=True):
        found = score(case["choices"], case["correct_choice"], output["choice_logprobs"]).values
        assert (found["accuracy"], found["normalised_accuracy"]) == (line["acc"], line["acc_norm"])


MMLU = {"question": "2 + 2?", "subject": "sums", "choices": ["3", "4", "0"], "answer": 0}
ARC = {
    "id": "a", "question": "2 + 2?", "choices": {"text": ["2", "3", "4"], "label": ["1", "2", "3"]}, "answerKey": "3",
}  # fmt: skip


@pytest.mark.parametrize(("record", "correct"), [(MMLU, 0), (MMLU | {"answer": "4"}, 1), (ARC | {"answerKey": "3"}, 2)])
def test_the_files_of_mmlu_and_arc_are_read_as_they_are(tmp_path, record, correct):
    case = read_suite(write(tmp_path, "questions.jsonl", [record])).cases.to_pylist()[0]
    assert (len(case["choices"]), case["correct_choice"], case["expected_answers"]) == (3, correct, None)


@pytest.mark.parametrize(
    "record", [ARC | {"answerKey": "4"}, ARC | {"answerKey": "3", "choices": {"text": ["2", "4"], "label": ["3"]}}]
)
def test_a_correct_choice_that_no_choice_is_named_by_is_refused(tmp_path: Path, record: dict[str, object]) -> None:
    with pytest.raises(InputError, match=r"row 1, column answerKey.*expected one of the names in choices\.label"):
        read_suite(write(tmp_path, "questions.jsonl", [record]))
