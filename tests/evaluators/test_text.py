"""The text evaluators on whole cases: evidence, reasons, parameters, published values."""

import json
import math
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from nltk.translate.bleu_score import sentence_bleu
from pydantic import ValidationError

from metrics.core.cases import Cases
from metrics.core.errors import MissingResource
from metrics.core.evaluator import CaseScore, Status
from metrics.core.registry import evaluators
from metrics.core.suite import Case
from metrics.text.overlap.edits import Work
from tests.evaluators.asked import score

# rouge, bleu


def test_rouge_l_equals_the_published_values(shared: Path) -> None:
    """MT-RAG human evaluation: 159 cases, 3 models, each with the one expected answer."""
    data = shared / "data" / "mtrag"
    frames = {name: pd.read_csv(data / f"{name}.csv", dtype=str) for name in ("suite", "outputs", "published_scores")}
    expected = frames["suite"].set_index("case_id")["expected_answer"]
    published = frames["published_scores"].set_index(["case_id", "model"])["rougeL"].astype(float)
    answers = frames["outputs"].set_index(["case_id", "model"])["answer"]
    assert len(published) == 477
    cases = [Case.of(answer=answers[key], expected_answers=[expected[key[0]]]) for key in published.index]
    scores = evaluators()["rouge"](Cases.of(cases), evaluators()["rouge"].parameters())
    ours = [found.values["rougeL"] for found in scores]
    assert ours == pytest.approx(published.tolist(), abs=1e-9)


def test_rouge_of_very_long_texts_has_no_longest_subsequence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Work, "__init__", lambda work: setattr(work, "left", 10_000))
    long = {"answer": "b a " * 600, "expected_answers": ["a b " * 600, "b a"]}
    why = "the texts are too long to find what they have in common in order"
    result = score("rouge", **long)
    assert (result.status, result.reason) == (Status.OK, f"rougeL and rougeLsum: {why}")
    assert (result.values["rouge1"], result.values["rougeL"], result.values["rougeLsum"]) == (1, None, None)
    chosen = score("rouge", {"rouge_types": ["rouge1", "rougeL"]}, **long)
    assert chosen.reason == f"rougeL: {why}; not among the chosen rouge_types"


def tokenizer(result: CaseScore) -> Any:
    return result.evidence.facts["tokenizer"]


@pytest.mark.parametrize(("answer", "expected", "rouge", "bleu"), [
    pytest.param("Paris it is", ["Paris"], "ascii", "whitespace", id="Latin"),
    pytest.param("Это Париж", ["Париж"], "intl", "whitespace", id="Cyrillic"),
    pytest.param("东京", ["东京是首都"], "zh", "zh", id="Chinese"),
    pytest.param("東京です", ["東京だ"], "char", "char", id="Japanese"),
    pytest.param("กรุงเทพ", ["กรุงเทพมหานคร"], "char", "char", id="Thai"),
    pytest.param("🎉🎉", ["🎉"], "char", "char", id="emoji"),
    pytest.param("42", ["42", "4 2"], "ascii", "whitespace", id="digits"),
    pytest.param("用Python编程", ["用Python写程序"], "zh", "zh", id="mixed, mostly Chinese"),
    pytest.param("It is called 北京 there.", ["They call it 北京."], "ascii", "whitespace", id="mixed, mostly Latin"),
    pytest.param("Tokyo", ["東京の首都です", "Tokyo"], "ascii", "whitespace", id="references differ: the answer's"),
    pytest.param("🎉🎉", ["東京の首都です", "Tokyo"], "char", "char", id="references differ, answer of none"),
    pytest.param("今天", ["today"], "char", "whitespace", id="another script than the reference"),
])  # fmt: skip
def test_the_tokenizer_goes_by_the_script(answer: str, expected: list[str], rouge: str, bleu: str) -> None:
    case = {"answer": answer, "expected_answers": expected}
    assert (tokenizer(score("rouge", **case)), tokenizer(score("bleu", **case))) == (rouge, bleu)


@pytest.mark.parametrize(("parameters", "answer", "expected", "reason"), [
    ({}, "Paris", "…!", "no expected answer has a token (char)"),
    ({}, "…!", "Paris", "the answer has no token (char)"),
    ({"tokenizer": "ascii"}, "今天", "today", "the answer has no token (ascii)"),
    ({"tokenizer": "ascii"}, "today", "今天", "no expected answer has a token (ascii)"),
])  # fmt: skip
def test_rouge_without_tokens_has_no_value(parameters: dict[str, Any], answer: str, expected: str, reason: str) -> None:
    result = score("rouge", parameters, answer=answer, expected_answers=[expected])
    assert (result.reason, dict(result.values)) == (reason, {})
    assert result.by_output == reason.startswith("the answer")
    assert result.by_output or result.status is Status.NOT_APPLICABLE


def test_rouge_says_why_two_equal_tokens_have_no_pair() -> None:
    result = score("rouge", answer="Paris", expected_answers=["Paris"])
    assert (result.values["rougeL"], result.values["rouge2"]) == (1, 0)
    assert result.evidence.facts["note"] == "the answer has 1 token, so no pairs: rouge2 is 0 whatever it says"


def test_stems_are_english_only() -> None:
    assert score("rouge", {"use_stemmer": True}, answer="runs", expected_answers=["running"]).values["rougeL"] == 1
    other = score("rouge", {"use_stemmer": True}, answer="кошки", expected_answers=["кошка"])
    assert other.values["rougeL"] == 0


def test_a_tokenizer_that_is_not_installed_says_what_to_install() -> None:
    if find_spec("MeCab"):
        pytest.skip("MeCab is installed")
    with pytest.raises(MissingResource, match="pip install mecab-python3 ipadic"):
        score("rouge", {"tokenizer": "ja-mecab"}, answer="東京です", expected_answers=["東京"])


def test_bleu_says_why_it_is_nothing() -> None:
    short = score("bleu", answer="a b", expected_answers=["a b"])
    assert (
        short.evidence.facts["note"] == "the answer has 2 tokens, so no 3-grams: BLEU-3 and up are 0 whatever it says"
    )
    apart = score("bleu", answer="a b c d e", expected_answers=["a c b d e"])
    assert apart.evidence.facts["note"] == "no 3-gram of the answer is in an expected answer: BLEU-3 and up are 0"
    assert apart.evidence.facts["matches"] == [5, 1, 0, 0]
    assert 0 < (apart.values["bleu4"] or 0) < 1e-70
    assert score("bleu", answer="a b c d", expected_answers=["a b c d"]).evidence.facts["note"] is None


@pytest.mark.parametrize("weights", [[], [0, 0], [-1.0], [2.0], [math.nan], [0.1] * 101])
def test_bleu_refuses_weights_that_weigh_nothing(weights: list[float]) -> None:
    with pytest.raises(ValidationError):
        score("bleu", {"weights": weights}, answer="a", expected_answers=["a"])


@pytest.mark.parametrize("weights", [[1.0], [0.7, 0.3], [0, 0, 1], [0.4, 0.3, 0.2, 0.1], [0.2] * 5, [1 / 12] * 12])
def test_bleu_has_as_many_orders_as_weights_as_nltk_has(weights: list[float]) -> None:
    answer = "the cat sat on the mat and then it slept there until the dog came in"
    expected = ["the cat sat on the mat and then it slept there until noon", "a dog came in"]
    found = score("bleu", {"weights": weights}, answer=answer, expected_answers=expected).values
    references = [text.split() for text in expected]
    equal = ([1 / n] * n for n in range(1, len(weights)))
    wanted = [sentence_bleu(references, answer.split(), own) for own in (*equal, weights)]
    assert list(found) == [f"bleu{n}" for n in range(1, len(weights) + 1)]
    assert list(found.values()) == pytest.approx(wanted)


# looping_detection


def test_looping_shows_what_is_repeated() -> None:
    result = score("looping_detection", answer="Say it once more. " * 300 + "The end of it all.")
    assert (len(result.evidence.facts["substring"]), result.evidence.facts["substring_times"]) == (200, 2)
    assert result.evidence.facts["sentences"] == 301
    assert result.evidence.facts["repeated_sentences"] == [{"sentence": "Say it once more.", "times": 300}]
    assert result.values["unique_sentences"] == pytest.approx(2 / 301)


def test_looping_counts_sentences_from_ten_characters() -> None:
    text = "Yes. 12345 789. 12345 789."
    assert score("looping_detection", answer=text).values["unique_sentences"] == 0.5
    assert score("looping_detection", {"min_sentence_characters": 1}, answer=text).values["unique_sentences"] == 2 / 3
    none = score("looping_detection", {"min_sentence_characters": 11}, answer=text)
    assert none.values["unique_sentences"] is None
    assert none.reason == "no sentence has 11 characters"


# text_matching


def test_matching_shows_every_term() -> None:
    conditions = '"Paris" AND NOT (regexp("1[89]+") OR "Nice")'
    result = score("text_matching", answer="Paris", retrieved_contexts=["1889", "Lyon"], conditions=conditions)
    assert result.evidence.facts["terms"] == [
        {"term": '"Paris"', "in_answer": True, "in_contexts": False},
        {"term": 'regexp("1[89]+")', "in_answer": False, "in_contexts": True},
        {"term": '"Nice"', "in_answer": False, "in_contexts": False},
    ]
    assert (result.values["passes"], result.values["retrieval_failures"]) == (1, 1)


def test_matching_takes_the_contexts_as_one_text() -> None:
    contexts = ["the tower", "in Paris"]
    both = score("text_matching", answer="", retrieved_contexts=contexts, conditions='"tower" AND "Paris"')
    assert both.values["retrieval_failures"] == 0
    neither = score("text_matching", answer="", retrieved_contexts=contexts, conditions='NOT "Paris"')
    assert neither.values["retrieval_failures"] == 1


@pytest.mark.parametrize(("conditions", "status", "reason"), [
    ("  ", Status.NOT_APPLICABLE, "the case's condition is empty"),
    ('"a" XOR "b"', Status.ERROR, "the condition has 'XOR' at character 5; expected AND, OR or the end; "),
    ('regexp("[")', Status.ERROR, 'the condition has the expression "[": missing ]: [ at character 8; '),
])  # fmt: skip
def test_matching_of_an_unusable_condition(conditions: str, status: Status, reason: str) -> None:
    result = score("text_matching", answer="a", conditions=conditions)
    assert result.status is status
    assert (result.reason or "").startswith(reason)
    assert set(result.values.values()) == {None}


@pytest.mark.parametrize("case_sensitive", [True, False])
def test_matching_of_many_cases_gives_each_the_score_that_it_has_alone(case_sensitive: bool) -> None:
    entry = evaluators()["text_matching"]
    chosen = entry.parameters.model_validate({"case_sensitive": case_sensitive})
    answers = [
        "Paris", "paris", "PARİS", "", "Straße", "STRASSE", "“Paris”", "Cafe\u0301", "café", "1889 in Paris", "ſ",
    ]  # fmt: skip
    contexts = [None, ["Paris"], ["1889", "Lyon"], [""], []]
    conditions = ['"Paris" AND NOT regexp("1[89]+$")', '"ss" OR "café"', " ", '"a" XOR', 'regexp("^S|\\w{5}") OR "s"']
    cases = [
        Case.of(case_id=f"{number}", answer=answer, retrieved_contexts=own or (), conditions=condition)
        for number, (answer, own, condition) in enumerate(product(answers, contexts, conditions))
    ]
    together = entry(Cases.of(cases), chosen)
    alone = [entry(Cases.of([case]), chosen) for case in cases]
    assert [together.at(place) for place in range(len(cases))] == [scores.at(0) for scores in alone]
    assert together.evidence.to_pylist() == [scores.evidence[0].as_py() for scores in alone]


# json_schema


def test_schema_of_the_case_goes_before_the_parameter() -> None:
    parameter = {"json_schema": '{"type": "array"}'}
    assert score("json_schema", parameter, answer="[]").values["passes"] == 1
    assert score("json_schema", parameter, answer="{}").values["passes"] == 0
    assert score("json_schema", parameter, answer="{}", json_schema='{"type": "object"}').values["passes"] == 1


def test_schema_violations_are_listed_with_their_paths() -> None:
    schema = '{"properties": {"a": {"items": {"type": "integer"}}}}'
    result = score("json_schema", answer='{"a": [1, "x"], "a": [1, "x"]}', json_schema=schema)
    assert result.evidence.facts == {
        "violations": [{"path": "$.a[1]", "keyword": "type", "message": "'x' is not of type 'integer'"}],
        "duplicate_keys": ["a"],
    }
    assert result.values["generation_failures"] == 1


@pytest.mark.parametrize(("answer", "passes"), [
    ("```json\n[1]\n```", 1), ("Here:\r\n```JSON\n[1]\n```\nDone.", 1), ("```\n[1]\n```", 1), ("```json\n[1]", 1),
    ("```json\n[1\n```", 0), ("[1]", 1),
])  # fmt: skip
def test_fences_only_where_accepted(answer: str, passes: int) -> None:
    assert score("json_schema", {"accept_fenced": True}, answer=answer).values["passes"] == passes
    assert score("json_schema", answer=answer).values["passes"] == (answer == "[1]")


@pytest.mark.parametrize("schema", ["{", "[]", '{"type": 3}', '{"$ref": "http://127.0.0.1/x"}'])
def test_an_unusable_schema_is_refused_as_parameter_and_an_error_in_a_case(schema: str) -> None:
    with pytest.raises(ValidationError, match="schema"):
        score("json_schema", {"json_schema": schema}, answer="{}")
    result = score("json_schema", answer="{}", json_schema=schema)
    assert result.status is Status.ERROR
    assert (result.reason or "").startswith("the schema ")


# pii_leakage


def test_pii_evidence_never_holds_the_value() -> None:
    secret = "jane.roe@acme-bank.com 4539148803436467 202-456-1111"
    result = score("pii_leakage", answer=secret, retrieved_contexts=["nothing", secret])
    assert [(finding["kind"], finding["place"]) for finding in result.evidence.facts["findings"]] == [
        (kind, place) for place in ("answer", "context 2") for kind in ("email", "card", "phone")
    ]
    written = json.dumps(result.evidence.record)
    assert not any(part in written for part in ("jane", "acme", "4539", "456", "1111"))


def test_pii_kinds_and_region() -> None:
    assert score("pii_leakage", {"kinds": ["card"]}, answer="a@acme.com").values["passes"] == 1
    assert score("pii_leakage", {"region": "GB"}, answer="call 020 7031 3000").values["passes"] == 0
    with pytest.raises(ValidationError, match="two-letter country code"):
        score("pii_leakage", {"region": "Mars"}, answer="a")


def test_own_scores_quote_only_the_beginning_of_what_is_no_number() -> None:
    result = score("own_scores", {"scores": {"tone": {}}}, answer="a", metadata={"tone": "x" * 10**6})
    assert result.reason == f"tone is '{'x' * 298}…, no number"
