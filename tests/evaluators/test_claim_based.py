"""Worked numbers and laws of the evaluators that rest on claims, contexts and written questions."""

import asyncio
import random
from collections.abc import Callable, Mapping, Sequence
from statistics import harmonic_mean
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.typing import NDArray

from metrics.core.errors import InputError, MissingResource
from metrics.core.evaluator import CaseScore, Status
from metrics.core.evidence import Verdict
from metrics.core.registry import choose
from metrics.core.suite import Case
from tests.evaluators.asked import ask
from tests.judge.server import Request
from tests.models.word_models import WordClassifier, inferred
from tests.models.word_vectors import WordVectors


class Cosines(WordVectors):
    """Gives the texts that contain a key the cosine with all others that the key stands for."""

    def __init__(self, cosines: Mapping[str, float]) -> None:
        super().__init__()
        self.cosines = cosines

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        values = [next((value for key, value in self.cosines.items() if key in text), 1.0) for text in texts]
        return np.array([[value, np.sqrt(1 - value**2)] for value in values], np.float32)


def score(
    name: str, given: Mapping[str, Any], script: Mapping[str, Any], model: Any = None, **parameters: Any
) -> CaseScore:
    return ask(name, given, script, model, **parameters)[0]


def value(name: str, given: Mapping[str, Any], script: Mapping[str, Any], model: Any = None, **kw: Any) -> Any:
    return score(name, given, script, model, **kw).values.get(name)


def claimed(request: Request) -> Any:
    """Every sentence of a text is a claim."""
    return {"claims": [part for part in request.data["TEXT"].split(". ") if part]}


def lines(request: Request, name: str) -> list[str]:
    return [line.partition("] ")[2] for line in request.data[name].splitlines()]


def held(request: Request) -> Any:
    """A context supports the claims that it contains word for word."""
    return [
        {"supported_by": [number for number, text in enumerate(lines(request, "CONTEXTS"), 1) if claim in text]}
        for claim in lines(request, "CLAIMS")
    ]


WORD_FOR_WORD: dict[str, Any] = {"claims": claimed, "entailment": held}
LETTERS = {
    "question": "Which letters?", "answer": "a. b. c. d", "expected_answers": ["a. b. c. e. f"],
    "retrieved_contexts": ["a b x", "c y", "z"],
}  # fmt: skip


def test_correctness_of_3_1_2() -> None:
    result = score("answer_correctness", LETTERS, WORD_FOR_WORD)
    assert result.values["answer_correctness"] == pytest.approx(0.666667, abs=1e-6)
    evidence = result.evidence
    assert [evidence.facts[name] for name in ("expected_answer", "tp", "fp", "fn")] == [1, 3, 1, 2]
    assert evidence.verdicts["claims"][0] == Verdict("a", "yes", "supported", rests_on=(("reference_claims", 1),))
    assert [claim.holds for claim in evidence.verdicts["reference_claims"]] == ["yes"] * 3 + ["no"] * 2
    assert evidence.verdicts["reference_claims"][0].rests_on == (("claims", 1),)


NEAR, FAR = {"e. f": 0.9}, {"e. f": -0.2}
EVEN = {"factuality_weight": 2, "similarity_weight": 2}


@pytest.mark.parametrize(("name", "given", "cosines", "parameters", "expected"), [
    ("answer_correctness_weighted", {}, NEAR, {}, 0.725),
    ("answer_correctness_weighted", {}, NEAR, EVEN, (2 / 3 + 0.9) / 2),
    ("answer_correctness_weighted", {"answer": "q"}, FAR, {}, -0.05),  # no claim is right
    ("faithfulness", {"answer": "a. b. c. d. q"}, {}, {}, 0.6),
    ("hallucination_claims", {"answer": "a. b. c. d. q"}, {}, {}, 0.4),
    ("relevant_noise_sensitivity", {"answer": "a. q", "retrieved_contexts": ["a q", "q"]}, {}, {}, 0.5),
    ("irrelevant_noise_sensitivity", {"answer": "a. q", "retrieved_contexts": ["a q", "q"]}, {}, {}, 0.5),
])  # fmt: skip
def test_worked_numbers(name, given, cosines, parameters, expected):
    found = value(name, LETTERS | given, WORD_FOR_WORD, Cosines(cosines), **parameters)
    assert found == pytest.approx(expected, abs=1e-6)


def test_weighted_correctness_takes_the_best_sum_not_the_best_part() -> None:
    given = LETTERS | {"answer": "a", "expected_answers": ["a. b. c", "q"]}
    result = score("answer_correctness_weighted", given, WORD_FOR_WORD, Cosines({"b": 0.1, "q": 0.9}))
    assert result.values["answer_correctness_weighted"] == pytest.approx(0.75 * 0.5 + 0.25 * 0.1, abs=1e-6)
    assert result.evidence.facts["expected_answer"] == 1
    lighter = {"factuality_weight": 0.1, "similarity_weight": 0.9}
    result = score("answer_correctness_weighted", given, WORD_FOR_WORD, Cosines({"b": 0.1, "q": 0.9}), **lighter)
    assert result.evidence.facts["expected_answer"] == 2


def test_weights_of_nothing_are_refused() -> None:
    with pytest.raises(InputError, match="at least one must be above 0"):
        choose(
            ["answer_correctness_weighted"],
            {"answer_correctness_weighted": {"factuality_weight": 0, "similarity_weight": 0}},
        )


@pytest.mark.parametrize(("percents", "evasive", "expected"), [
    pytest.param((98, 99, 97), ["no", "no", "no"], 0.98, id="none is evasive"),
    pytest.param((98, 99, 97), ["yes", "no", "yes"], 0.98, id="not all"),
    pytest.param((98, 99, 97), ["yes", "yes", "yes"], 0.0, id="all"),
    pytest.param((20, 10, 15), ["no", "no", "no"], 0.15, id="far"),
])  # fmt: skip
def test_relevancy_is_the_mean_cosine(percents: tuple[int, ...], evasive: list[str], expected: float) -> None:
    written = [{"question": f"draw {number}", "evasive": said} for number, said in zip(percents, evasive, strict=True)]
    cosines = Cosines({str(number): number / 100 for number in percents})
    result = score("answer_relevancy", LETTERS, {"answer_relevancy.questions": written}, cosines)
    assert result.values["answer_relevancy"] == pytest.approx(expected, abs=1e-6)
    shown = result.evidence.verdicts["questions"]
    assert [question.facts["cosine"] for question in shown] == pytest.approx(np.array(percents) / 100)
    assert [question.holds == "no" for question in shown] == [said == "yes" for said in evasive]


def test_relevancy_can_be_negative_and_ragas_takes_that_for_0() -> None:
    written = {"answer_relevancy.questions": [{"question": "far", "evasive": "no"}] * 3}
    far = Cosines({"far": -0.3})
    assert value("answer_relevancy", LETTERS, written, far) == pytest.approx(-0.3, abs=1e-6)
    script = WORD_FOR_WORD | written | {"context_precision.useful": [{"verdict": "yes"}] * 3}
    assert value("ragas", LETTERS, script, far) == 0


def test_ragas_of_9_8_75_5() -> None:
    given = {
        "question": "Which?", "answer": ". ".join("abcdefghij"), "expected_answers": ["a. z"],
        "retrieved_contexts": ["abcdefghi", "-", "-", "-"],
    }  # fmt: skip
    useful = [{"verdict": verdict} for verdict in ("yes", "no", "no", "yes")]
    script = WORD_FOR_WORD | {
        "context_precision.useful": useful,
        "answer_relevancy.questions": [{"question": "written", "evasive": "no"}] * 3,
    }
    result = score("ragas", given, script, Cosines({"written": 0.8}))
    evidence = result.evidence
    parts = [
        evidence.facts[name] for name in ("faithfulness", "answer_relevancy", "context_precision", "context_recall")
    ]
    assert parts == pytest.approx([0.9, 0.8, 0.75, 0.5], abs=1e-6)
    assert result.values["ragas"] == pytest.approx(0.702439, abs=1e-6)
    assert result.values["ragas"] == pytest.approx(harmonic_mean([0.9, 0.8, 0.75, 0.5]), abs=1e-6)
    assert {"claims", "questions", "contexts", "reference_claims"} <= set(evidence.verdicts)


def test_ragas_names_what_is_missing() -> None:
    answers = {"answer_relevancy.questions": [{"question": "?", "evasive": "yes"}] * 3,
               "context_precision.useful": [{"verdict": "yes"}] * 3}  # fmt: skip
    result = score("ragas", LETTERS, WORD_FOR_WORD | {"claims": {"claims": []}} | answers)
    assert (result.status, result.values) == (Status.NOT_APPLICABLE, {})
    faithfulness, recall = "the answer makes no claim", "no expected answer makes a claim"
    assert result.reason == f"faithfulness has no value: {faithfulness}; context_recall has no value: {recall}"


def test_sentences_of_many_contexts_keep_their_context() -> None:
    def relevant(request: Request) -> Any:
        return [{"verdict": "yes" if "key" in line else "no"} for line in lines(request, "SENTENCES")]

    contexts = [f"Line {number} is dull.\nLine {number} is key." for number in range(30)]
    given = {"question": "?", "retrieved_contexts": contexts}
    result = score("context_relevancy_sentences", given, {"context_relevancy_sentences.relevant": relevant})
    assert result.values["context_relevancy_sentences"] == 0.5
    judged = result.evidence.verdicts["sentences"]
    assert [one.rests_on for one in judged] == [(("contexts", number),) for number in range(1, 31) for _ in range(2)]
    assert all(("key" in one.text) == (one.holds == "yes") for one in judged)


def test_a_classifier_checks_the_sentences_of_the_answer() -> None:
    """The rule: entailed where every word stands in the premise."""
    given = {
        "answer": "The tower is tall.\nIt is green.\nThe tower is not tall.",
        "retrieved_contexts": ["The tower is tall and old.", " ", "The tall tower is old; it is of iron."],
    }
    nli = WordClassifier(("entailment", "neutral", "contradiction"), False, inferred)
    supported = score("faithfulness", given, {}, nli, checker="classifier")
    assert supported.values == {"faithfulness": pytest.approx(1 / 3), "least_supported": 0.02}
    result = score("hallucination_claims", given, {}, nli, checker="classifier")
    assert result.values["hallucination_claims"] == pytest.approx(2 / 3)
    assert supported.evidence.verdicts == result.evidence.verdicts
    evidence = result.evidence
    assert [(claim.label, claim.rests_on, claim.facts) for claim in evidence.verdicts["claims"]] == [
        ("supported", (("contexts", 1), ("contexts", 3)), {"probability": 0.9}),
        ("unsupported", (), {"probability": 0.05}),
        ("unsupported", (), {"probability": 0.02}),
    ]
    assert evidence.facts == {"unsupported": 2, "model": "words", "weights_sha256": "0" * 64}


@pytest.mark.parametrize(("given", "expected"), [
    pytest.param({"answer": " ", "retrieved_contexts": ["The tower."]}, None, id="nothing said"),
    pytest.param({"answer": "The tower.", "retrieved_contexts": [" "]}, 1.0, id="blank contexts"),
])  # fmt: skip
def test_a_classifier_is_not_asked_without_two_texts(given: dict[str, Any], expected: float | None) -> None:
    nli = WordClassifier(("entailment", "neutral", "contradiction"), False, inferred)
    assert value("hallucination_claims", given, {}, nli, checker="classifier") == expected
    assert value("faithfulness", given, {}, nli, checker="classifier") == (
        expected if expected is None else 1 - expected
    )
    assert not nli.asked


@pytest.mark.parametrize("id", ["faithfulness", "hallucination_claims"])
def test_a_classifier_without_such_a_label_is_refused(id: str) -> None:
    given = {"answer": "The tower.", "retrieved_contexts": ["The tower."]}
    sentiment = WordClassifier(("good", "bad"), False, lambda premise, claim: (0.5, 0.5))
    with pytest.raises(MissingResource, match=f"words has the labels good, bad; {id} needs one called"):
        score(id, given, {}, sentiment, checker="classifier")


@pytest.mark.parametrize("id", ["faithfulness", "hallucination_claims"])
@pytest.mark.parametrize("checker", ["judge", "classifier"])
def test_only_the_checker_is_needed(id: str, checker: str) -> None:
    entry, chosen = choose([id], {id: {"checker": checker}})[id]
    assert chosen.used(entry.resources) == (checker,)
    with pytest.raises(MissingResource, match=f"a {checker} is to check"):
        asyncio.run(entry(Case.of(answer="a", retrieved_contexts=["a"]), chosen))


def test_noise_is_told_by_the_context_it_comes_from() -> None:
    """Claims d and q are wrong; d stands in a context with truth in it, q in one without, r in none."""
    given = LETTERS | {"answer": "a. d. q. r", "retrieved_contexts": ["a d", "q", "w"]}
    found = {name: score(f"{name}_noise_sensitivity", given, WORD_FOR_WORD) for name in ("relevant", "irrelevant")}
    for name, expected in (("relevant", "d"), ("irrelevant", "q")):
        evidence = found[name].evidence
        claims = evidence.verdicts["claims"]
        assert found[name].values == {f"{name}_noise_sensitivity": 0.25}
        assert [claim.text for claim in claims if claim.facts["noise"]] == [expected]
        assert [claim.label for claim in claims] == ["correct", "incorrect", "incorrect", "incorrect"]
        assert [claim.holds for claim in claims] == ["yes", "no", "no", "no"]
        assert (evidence.facts["relevant_contexts"], evidence.facts["irrelevant_contexts"]) == ([1], [2, 3])


def test_useful_for_the_second_expected_answer_says_so() -> None:
    script = {
        "context_precision.useful": lambda request: [{"reason": request.data["EXPECTED"],
            "verdict": "yes" if request.data["EXPECTED"] in text else "no"} for text in lines(request, "CONTEXTS")],
    }  # fmt: skip
    given = LETTERS | {"expected_answers": ["p", "q"], "retrieved_contexts": ["p q", "q", "r"]}
    result = score("context_precision", given, script)
    assert result.evidence.verdicts["contexts"] == [
        Verdict("Context 1", "yes", "useful", "p", (("contexts", 1),), facts={"expected_answer": 1}),
        Verdict("Context 2", "yes", "useful", "q", (("contexts", 2),), facts={"expected_answer": 2}),
        Verdict("Context 3", "no", "useless", "p", (("contexts", 3),)),
    ]


# Laws: what must change nothing, what must not help


LETTER = st.sampled_from("abcdefgh")
TEXTS = st.lists(LETTER, min_size=1, max_size=5, unique=True).map(". ".join)
CASES = st.builds(
    lambda answer, expected, contexts: {
        "question": "Which?", "answer": answer, "expected_answers": expected, "retrieved_contexts": contexts,
    },
    TEXTS,
    st.lists(TEXTS, min_size=1, max_size=3),
    st.lists(TEXTS, min_size=1, max_size=4),
)  # fmt: skip
UNORDERED = (
    "faithfulness", "hallucination_claims", "context_recall", "relevant_noise_sensitivity",
    "irrelevant_noise_sensitivity", "context_relevance", "hallucination_contexts",
)  # fmt: skip


def of_contexts(holds: Callable[[str, str], object], yes: str = "yes", no: str = "no") -> Callable[[Request], Any]:
    """A judge that says yes of the contexts of which it holds, beside the expected answer."""
    return lambda request: [
        {"verdict": yes if holds(text, request.data.get("EXPECTED", "")) else no} for text in lines(request, "CONTEXTS")
    ]


SCRIPT = WORD_FOR_WORD | {
    "context_relevance.relevant": of_contexts(lambda text, _: "a" in text),
    "hallucination_contexts.contradiction": of_contexts(lambda text, _: "h" in text, "contradict", "agree"),
    "context_precision.useful": of_contexts(lambda text, expected: set(expected) & set(text) - set(". ")),
}


@pytest.mark.parametrize("name", UNORDERED)
@given(case=CASES, seed=st.integers(0, 99))
def test_the_order_of_the_contexts_changes_nothing(name: str, case: dict[str, Any], seed: int) -> None:
    contexts = list(case["retrieved_contexts"])
    random.Random(seed).shuffle(contexts)
    assert value(name, case, SCRIPT) == value(name, case | {"retrieved_contexts": contexts}, SCRIPT)


@given(case=CASES)
def test_useful_contexts_first_is_the_best_order(case: dict[str, Any]) -> None:
    given = case | {"expected_answers": case["expected_answers"][:1]}
    useful = set(given["expected_answers"][0]) - set(". ")
    ranked = sorted(given["retrieved_contexts"], key=lambda text: not useful & set(text))
    best = value("context_precision", given | {"retrieved_contexts": ranked}, SCRIPT)
    assert value("context_precision", given, SCRIPT) <= best
    assert best in (0.0, 1.0)


@pytest.mark.parametrize("name", ["answer_correctness", "context_recall", "context_precision"])
@given(case=CASES, more=TEXTS)
def test_another_expected_answer_never_hurts(name: str, case: dict[str, Any], more: str) -> None:
    wider = case | {"expected_answers": [*case["expected_answers"], more]}
    if name == "context_precision":  # a context more that is useful can come late
        verdicts = [
            [one.holds == "yes" for one in score(name, given, SCRIPT).evidence.verdicts["contexts"]]
            for given in (case, wider)
        ]
        assert all(after >= before for before, after in zip(*verdicts, strict=True))
    else:
        assert value(name, wider, SCRIPT) >= value(name, case, SCRIPT)


@given(case=CASES)
def test_correctness_is_symmetric_where_support_is(case: dict[str, Any]) -> None:
    given = case | {"expected_answers": case["expected_answers"][:1]}
    turned = given | {"answer": given["expected_answers"][0], "expected_answers": [given["answer"]]}
    assert value("answer_correctness", given, SCRIPT) == value("answer_correctness", turned, SCRIPT)


@given(case=CASES)
def test_correctness_is_the_f1_of_sets(case: dict[str, Any]) -> None:
    """Where claims are letters, tp, fp and fn are those of sets of letters."""
    answer, *expected = (set(text.split(". ")) for text in (case["answer"], *case["expected_answers"]))
    best = max(2 * len(answer & truth) / (len(answer) + len(truth)) for truth in expected)
    assert value("answer_correctness", case, SCRIPT) == pytest.approx(best)


@given(case=CASES)
def test_more_contexts_never_lower_faithfulness(case: dict[str, Any]) -> None:
    fewer = case | {"retrieved_contexts": case["retrieved_contexts"][:1]}
    assert value("faithfulness", case, SCRIPT) >= value("faithfulness", fewer, SCRIPT)


@given(case=CASES)
def test_noise_is_a_part_of_what_is_wrong(case: dict[str, Any]) -> None:
    parts = [value(f"{name}_noise_sensitivity", case, SCRIPT) for name in ("relevant", "irrelevant")]
    wrong = set(case["answer"].split(". ")) - {letter for text in case["expected_answers"] for letter in text}
    assert max(parts) <= len(wrong) / len(case["answer"].split(". "))
