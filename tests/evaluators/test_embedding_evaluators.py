"""The evaluators that need sentence embeddings alone, with words for axes, so that every cosine follows by hand."""

import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, strategies as st

from metrics.core.evaluator import CaseScore, Status
from metrics.core.evidence import Evidence, Verdict
from metrics.core.registry import evaluators
from metrics.core.suite import Case
from tests.models.word_vectors import WordVectors

CUTOFFS = {"context_mrr": {"mrr_relevant_chunk_threshold": 0.7}}  # that of a model is calibrated
HALF, THIRD = 1 / math.sqrt(2), 1 / math.sqrt(3)


def score(name: str, parameters: dict[str, Any] | None = None, **given: Any) -> CaseScore:
    entry = evaluators()[name]
    chosen = entry.parameters.model_validate(CUTOFFS.get(name, {}) | (parameters or {}))
    return entry([Case.of(**given)], chosen, embedder=WordVectors())[0]


@pytest.mark.parametrize(("name", "given", "expected"), [
    pytest.param("answer_semantic_similarity", {"answer": "a b", "expected_answers": ["", "c", "a"]},
        {"answer_semantic_similarity": HALF}, id="answer_semantic_similarity: the closest of those that are not blank"),
    pytest.param("answer_semantic_sentence_similarity",
        {"answer": "red sun.\nblue sea.", "expected_answers": ["red sun.\nblue sky."]},
        {"mean_similarity": 0.75, "min_similarity": 0.5},
        id="answer_semantic_sentence_similarity: one equal, one half"),
    pytest.param("answer_semantic_sentence_similarity",
        {"answer": "red sun.\nblue sea.", "expected_answers": ["red sun.", "red sky.\nblue sky."]},
        {"mean_similarity": 0.5, "min_similarity": 0.5},
        id="answer_semantic_sentence_similarity: mean and min each of their best expected answer"),
    pytest.param("answer_relevancy_sentence", {"question": "who paints", "answer": "Mary paints walls.\nwalls dry."},
        {"answer_relevancy_sentence": 1 / math.sqrt(6)}, id="answer_relevancy_sentence: the closest sentence"),
    pytest.param("groundedness",
        {"answer": "red sun.\nblue sea.\nred sea.", "retrieved_contexts": ["red sun.", "blue sky.\nblue sea salt"]},
        {"groundedness": 0.5}, id="groundedness: the worst of the best"),
    pytest.param("context_relevancy_soft",
        {"question": "red", "retrieved_contexts": ["blue.\nred sun.", "red hot sun.", "…", "blue."]},
        {"recall": HALF, "precision": (HALF + THIRD) / 4},
        id="context_relevancy_soft: the best and the mean, a blank chunk as 0"),
    pytest.param("context_mrr",
        {"question": "red", "retrieved_contexts": ["", "red hot sun.", "blue.\nred sun.", "red."]},
        {"context_mrr": 1 / 3}, id="context_mrr: .577 is below .7, .707 is not"),
])  # fmt: skip
def test_the_formula(name: str, given: dict[str, Any], expected: dict[str, float]) -> None:
    found = score(name, **given)
    assert found.status is Status.OK
    assert dict(found.values) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(("name", "given", "status", "words"), [
    pytest.param("answer_semantic_similarity", {"answer": "a", "expected_answers": ["", " "]}, Status.NOT_APPLICABLE,
        "every expected answer is blank", id="blank expected answers"),
    pytest.param("answer_semantic_sentence_similarity", {"answer": "a", "expected_answers": ["…"]},
        Status.NOT_APPLICABLE, "no expected answer has a sentence", id="no expected sentence"),
    pytest.param("answer_relevancy_sentence", {"question": "\n", "answer": "a"}, Status.NOT_APPLICABLE,
        "the question is blank", id="blank question"),
    pytest.param("groundedness", {"answer": "", "retrieved_contexts": ["a"]}, Status.NOT_APPLICABLE,
        "the answer is empty: it has no sentence to be grounded", id="nothing to ground"),
    pytest.param("context_relevancy_soft", {"question": "", "retrieved_contexts": ["a"]}, Status.NOT_APPLICABLE,
        "the question is blank", id="soft: blank question"),
    pytest.param("context_mrr", {"question": "", "retrieved_contexts": ["a"]}, Status.NOT_APPLICABLE,
        "the question is blank", id="mrr: blank question"),
])  # fmt: skip
def test_what_cannot_be_scored_says_why(name: str, given: dict[str, Any], status: Status, words: str) -> None:
    found = score(name, **given)
    assert (found.status, found.reason, dict(found.values)) == (status, words, {})


@pytest.mark.parametrize(("name", "given"), [
    ("answer_semantic_similarity", {"answer": " ", "expected_answers": ["a"]}),
    ("answer_semantic_sentence_similarity", {"answer": "…", "expected_answers": ["a"]}),
    ("answer_relevancy_sentence", {"question": "a", "answer": "***"}),
    ("groundedness", {"answer": "a", "retrieved_contexts": ["", "1."[:0]]}),
    ("context_relevancy_soft", {"question": "a", "retrieved_contexts": ["", "…"]}),
    ("context_mrr", {"question": "a", "retrieved_contexts": ["", "…"]}),
], ids=lambda value: value if isinstance(value, str) else "")  # fmt: skip
def test_silence_scores_nothing(name: str, given: dict[str, Any]) -> None:
    """An empty answer, or contexts without a word, are not left out of the mean: that would reward them."""
    assert set(score(name, **given).values.values()) == {0.0}


def test_the_evidence_of_groundedness_names_sentence_context_and_model() -> None:
    given = {"answer": "red sun.\nblue sea.", "retrieved_contexts": ["nothing.", "red sun.\nblue sky."]}
    model = {"model": "words", "weights_sha256": "0" * 64}
    rests_on = (("contexts", 2),)
    known = {"cosine": 1.0, "new_words": 0.0}, {"cosine": 0.5, "new_words": 0.5}  # “sea” is in no context
    first = Verdict("red sun.", "yes", "supported", "", rests_on, "red sun.", facts=known[0])
    second = Verdict("blue sea.", "no", "unsupported", "", rests_on, "blue sky.", facts=known[1])
    strict = Evidence({"sentences": [first, second]}, {"least_grounded": "blue sea.", **model})
    assert score("groundedness", {"threshold": 0.4}, **given).evidence == strict
    lenient = Evidence({"sentences": [first, replace(second, holds="yes", label="supported")]}, model)
    assert score("groundedness", {"threshold": 0.4, "new_words": 0}, **given).evidence == lenient


@pytest.mark.parametrize(("answer", "question", "compared", "value"), [
    ("sun", "red", "red sun", 1.0), ("sun", "red hot", "red hot sun", 2 / math.sqrt(6)), ("sun", None, None, HALF),
    ("sun", " ", None, HALF),
    ("red sun red sun red", "x", "x red sun red sun red", 5 / math.sqrt(28)),
    ("red sun red sun red sun", "x", None, 1.0),  # six words are no bare answer
    ("red.\nsun.", "x", None, HALF),  # nor are two sentences
])  # fmt: skip
def test_a_bare_answer_is_compared_together_with_the_question(answer, question, compared, value):
    found = score("groundedness", question=question, answer=answer, retrieved_contexts=["red sun"])
    assert found.values["groundedness"] == pytest.approx(value)
    assert found.evidence.facts.get("compared_as") == compared


def test_new_words_take_off_at_most_down_to_minus_one() -> None:
    given = {"answer": "a b c d e f", "retrieved_contexts": ["x"]}
    assert score("groundedness", **given).values["groundedness"] == -1.0
    assert score("groundedness", {"new_words": 0.25}, **given).values["groundedness"] == -0.25
    assert score("groundedness", {"new_words": 0}, **given).values["groundedness"] == 0.0


@pytest.mark.parametrize(("name", "given", "reason"), [
    ("context_mrr", {"question": "a", "retrieved_contexts": ["a"]}, "set mrr_relevant_chunk_threshold"),
    ("step_alignment", {"answer": "a", "expected_answers": ["a"]}, "set same_step"),
])  # fmt: skip
def test_without_a_calibrated_cutoff_no_case_is_scored(name: str, given: dict[str, Any], reason: str) -> None:
    entry = evaluators()[name]
    [found] = entry([Case.of(**given)], entry.parameters(), embedder=WordVectors())
    assert found.status is Status.NOT_APPLICABLE
    assert str(found.reason).endswith(reason)


def test_the_evidence_of_retrieval_names_each_chunk_s_sentence() -> None:
    given = {"question": "red", "retrieved_contexts": ["", "blue.\nred sun.", "red."]}
    found = score("context_mrr", **given).evidence
    half = {"cosine": pytest.approx(HALF)}
    chunks = [
        Verdict("Context 1", "no", "irrelevant", "", (("contexts", 1),), facts={"cosine": 0.0}),
        Verdict("Context 2", "yes", "relevant", "", (("contexts", 2),), "red sun.", facts=half),
        Verdict("Context 3", "yes", "relevant", "", (("contexts", 3),), "red.", facts={"cosine": 1.0}),
    ]
    facts = {"first_relevant_rank": 2, "model": "words", "weights_sha256": "0" * 64}
    assert found == Evidence({"chunks": chunks}, facts)


def test_texts_read_in_part_are_counted() -> None:
    entry = evaluators()["answer_semantic_similarity"]
    case = Case.of(answer="a b c d", expected_answers=["a b c d e", "a"])
    [found] = entry([case], entry.parameters(), embedder=WordVectors(window=3))
    assert found.evidence.facts["texts_read_in_part"] == 2


# Laws

TEXT = st.lists(st.sampled_from(["red", "blue", "sun.", "sea!", "\n", "1.", "…", "今天。", "ab"]), max_size=8).map(
    " ".join
)
TEXTS = st.lists(TEXT, min_size=1, max_size=3).map(tuple)
FIELDS = {"question": TEXT, "answer": TEXT, "expected_answers": TEXTS, "retrieved_contexts": TEXTS}
CASES = st.lists(st.fixed_dictionaries(FIELDS).map(lambda given: Case(**given)), max_size=4)


@given(cases=CASES, more=TEXT)
def test_another_expected_answer_never_lowers_a_score(cases: list[Case], more: str) -> None:
    for name in ("answer_semantic_similarity", "answer_semantic_sentence_similarity"):
        for case in cases:
            less = score(name, answer=case.answer, expected_answers=case.expected_answers)
            after = score(name, answer=case.answer, expected_answers=[*case.expected_answers, more])
            for metric, value in less.values.items():
                assert after.values[metric] >= value - 1e-9


@given(cases=CASES)
def test_soft_precision_never_exceeds_recall(cases: list[Case]) -> None:
    for case in cases:
        found = score("context_relevancy_soft", question=case.question, retrieved_contexts=case.retrieved_contexts)
        if found.values:
            assert found.values["precision"] <= found.values["recall"] + 1e-9
