"""Step alignment with words for axes, so that every cosine follows by hand: what its worked examples leave out."""

from typing import Any

import pytest

from metrics.core.evaluator import CaseScore, Status
from metrics.core.evidence import Evidence, Verdict
from metrics.core.registry import evaluators
from metrics.core.suite import Case
from metrics.evaluators.agents import step_alignment
from tests.models.word_vectors import WordVectors


def score(parameters: dict[str, Any] | None = None, **given: Any) -> CaseScore:
    entry = evaluators()["step_alignment"]
    result: CaseScore = entry(
        [Case.of(**given)],
        entry.parameters.model_validate({"same_step": 0.6} | (parameters or {})),
        embedder=WordVectors(),
    )[0]
    return result


def values(result: CaseScore) -> tuple[float | None, ...]:
    return tuple(result.values[name] for name in ("edits", "insertions", "deletions", "mismatches", "edit_share"))


def test_the_alignment_is_the_evidence() -> None:
    result = score(answer="- grind beans now\n- stir", expected_answers=["- buy beans\n- grind beans\n- pour water"])
    assert values(result) == (2, 0, 1, 1, 2 / 3)
    alignment = [
        Verdict("", "no", "deleted", expected="buy beans"),
        Verdict("grind beans now", "yes", "match", expected="grind beans", facts={"similarity": 0.8165}),
        Verdict("stir", "no", "mismatch", expected="pour water", facts={"similarity": 0.0}),
    ]
    model = {"model": "words", "weights_sha256": "0" * 64}
    assert result.evidence == Evidence({"alignment": alignment}, {"expected_answer": 1, **model})


@pytest.mark.parametrize(("same_step", "edits"), [(0.8, 0), (0.81649, 0), (0.82, 1), (-1, 0), (1, 1)])
def test_what_counts_as_the_same_step(same_step: float, edits: int) -> None:
    given = {"answer": "grind beans now", "expected_answers": ["grind beans"]}
    assert score({"same_step": same_step}, **given).values["edits"] == edits


def test_the_closest_expected_answer_counts_for_every_number() -> None:
    expected = ["", "- a b\n- c d", "- a b\n- e f", "- a b\n- e f"]
    result = score(answer="- a b\n- e g", expected_answers=expected)
    assert values(result) == (1, 0, 0, 1, 0.5)
    assert result.evidence.facts["expected_answer"] == 3  # as few edits as 2, but more alike
    joined = score({"expected": "steps"}, answer="1. a b\n2. c d", expected_answers=["a  b", " ", "c d"])
    assert values(joined) == (0, 0, 0, 0, 0)


@pytest.mark.parametrize(("given", "expected"), [
    ({"answer": "", "expected_answers": ["- a\n- b"]}, (2, 0, 2, 0, 1)),
    ({"answer": "- a\n- b\n- c", "expected_answers": ["a"]}, (2, 2, 0, 0, 2 / 3)),
    ({"answer": "- b\n- a", "expected_answers": ["- a\n- b"]}, (2, 1, 1, 0, 1)),
    ({"answer": "x", "expected_answers": ["a"]}, (1, 0, 0, 1, 1)),
], ids=["an empty answer", "too many", "the wrong order", "another step"])  # fmt: skip
def test_edges(given: dict[str, Any], expected: tuple[float, ...]) -> None:
    assert values(score(**given)) == pytest.approx(expected)


def test_without_an_expected_step_it_does_not_apply() -> None:
    for expected in ([" "], ["***", ""]):
        result = score(answer="a", expected_answers=expected)
        assert (result.status, result.reason) == (Status.NOT_APPLICABLE, "no expected answer has a step")


def test_what_is_beyond_the_limit_counts_as_edits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(step_alignment, "MOST_STEPS", 2)
    result = score(answer="- a\n- b\n- c\n- d", expected_answers=["- a\n- b\n- c"])
    assert (values(result), result.evidence.facts["steps_not_aligned"]) == ((2, 1, 0, 1, 0.5), 3)
    assert values(score(answer="- x\n- y\n- c", expected_answers=["- a\n- b\n- c"])) == (3, 0, 0, 3, 1)
