"""Exact match and token F1 on whole cases: which rule held, what was compared, SQuAD's own numbers."""

import importlib.util
import re
from random import Random
from typing import Any

import pytest
from nltk.metrics.distance import edit_distance as nltk_distance

from metrics.core.evaluator import CaseScore
from metrics.core.suite import Outputs, Suite
from metrics.library.evaluator_choice import available_inputs
from tests.evaluators.asked import score
from tests.random_seeds import seeds


def facts(result: CaseScore) -> dict[str, Any]:
    return dict(result.evidence.facts)


@pytest.mark.parametrize(("answer", "expected", "rule", "number"), [
    ("PARIS!", ["Rome", "Paris"], "text", 2), ("a dozen", ["12"], None, None), ("twelve", ["12.0"], "number", 1),
    ("3 pm", ["15:00"], "time", 1), ("3:00", ["15:00"], None, None), ("4 July 1776", ["07/04/1776"], "date", 1),
    ("B) Paris", ["(B)"], "choice", 1), ("B) Rome", ["B) Paris"], None, None),
    ("1,000 m", ["5 m", "1 km"], "number", 2), ("1.5", ["15"], None, None),
    ("version 1.10", ["version 1.1"], None, None),
])  # fmt: skip
def test_the_evidence_names_the_rule_that_held(answer: str, expected: list[str], rule: str, number: int) -> None:
    found = score("exact_match", answer=answer, expected_answers=expected)
    assert (found.values["exact_match"], facts(found)["rule"]) == (float(rule is not None), rule)
    assert facts(found).get("expected_answer") == number


def matches(answer: str, expected: str) -> float | None:
    return score("exact_match", answer=answer, expected_answers=[expected]).values["exact_match"]


@pytest.mark.parametrize("number", [0, 9, 24, 99, 100, 105, 1000, 12.5])
@pytest.mark.parametrize(
    "sentence", ["The result is {}.", "3 + 4 = 7. So the answer is **{}**.", "Antwort: {}", "答案是 {}。"]
)
def test_a_number_that_is_said_to_be_the_answer_is_found_whatever_its_digits(number: float, sentence: str) -> None:
    assert matches(sentence.format(number), str(number)) == 1
    assert matches(sentence.format(number), str(number + 1)) == 0


@pytest.mark.parametrize(("answer", "expected"), [
    ("The answer is -5", "5"), ("The answer is 5 or 6", "5"), ("The answer is not 500", "500"), ("It took 500.", "500"),
    ("The answer is 120, 130 and 140", "120"), ("The answer is 250? No, the answer is 300.", "250"),
])  # fmt: skip
def test_another_number_is_not_said_to_be_the_answer(answer: str, expected: str) -> None:
    assert matches(answer, expected) == 0


def test_what_differs_is_shown_as_it_was_compared() -> None:
    found = score("exact_match", answer="It is PARIS.", expected_answers=["Paris", "the city"])
    assert facts(found) == {
        "rule": None, "answer_as_compared": "it is paris", "expected_as_compared": ["paris", "the city"],
    }  # fmt: skip


@pytest.mark.parametrize(("parameters", "answer", "expected", "equal"), [
    ({"rules": ["text"]}, "twelve", "12", 0), ({"ignore_case": False}, "paris", "Paris", 0),
    ({"punctuation": "keep"}, "Paris.", "Paris", 0), ({"ignore_white_space": False}, "a  b", "a b", 0),
    ({"unicode_form": "NFC"}, "ｘ²", "x2", 0), ({"unicode_form": "NFKC"}, "ｘ²", "x2", 1),
    ({"absolute_tolerance": 0.1}, "2.9", "3", 1), ({"absolute_tolerance": 0.1}, "2.89", "3", 0),
    ({"units": "written"}, "1000 m", "1 km", 0), ({"units": "ignore"}, "5", "5 km", 1),
    ({"decimal_mark": ","}, "1,5", "1,50", 1), ({"date_order": "day_first"}, "3/4/2024", "2024-03-04", 0),
    ({"rules": ["text", "number"]}, "3 pm", "15:00", 0), ({"extract": "[0-9]+"}, "from 3 to 4", "4", 1),
    ({"extract": "[0-9]+", "extract_match": "first"}, "from 3 to 4", "4", 0),
    ({"boxed": True}, "42", "42", 0), ({}, r"So \boxed{11 + 9a}", r"\boxed{9a+11}", 1),
    ({}, r"\boxed{Paris}", "Paris", 1),
    ({}, r"So \boxed{(1,2)}", r"\boxed{\{1,2\}}", 0), ({}, r"So \boxed{[2,5)}", r"\boxed{(2,5)}", 0),
    ({}, "[0, 1)", "[0,1)", 1),
    ({}, "(0,1]", "[0,1)", 0), ({}, r"\boxed{1/2}", "0.5", 1), ({}, "2-1", "1", 0), ({}, r"Thus $\frac{1}{2}$", "x", 0),
    ({"rules": ["text"]}, r"\boxed{11 + 9a}", r"\boxed{9a+11}", 0), ({}, '{"b": 1, "a": 2}', '{"a": 2, "b": 1.0}', 1),
    ({"boxed": True}, r"\boxed{42}", r"Twice 21 is \boxed{42}", 1),
])  # fmt: skip
def test_each_parameter_changes_what_counts(parameters: Any, answer: str, expected: str, equal: int) -> None:
    assert score("exact_match", parameters, answer=answer, expected_answers=[expected]).values["exact_match"] == equal


@pytest.mark.parametrize(("answer", "equal"), [
    ("B", 1), ("Answer: $B$", 1), ("B) Bern", 1), ("The answer is B) Basel", 0), ("B. It is the seat.", 1),
])  # fmt: skip
def test_a_letter_beside_the_text_of_another_choice_is_wrong(answer: str, equal: int) -> None:
    case = {"expected_answers": ["B"], "choices": ["Geneva", "Bern", "Basel"]}
    assert score("exact_match", answer=answer, **case).values["exact_match"] == equal


@pytest.mark.parametrize(("answer", "expected", "equal"), [
    ("B", "Bern", 1), ("The answer is (C).", "Bern", 0), ("Bern.", "B", 1), ("The answer is Bern.", "B", 1),
    ("Basel", "B", 0),
    ("B, Bern", "B", 1), ("| B | Bern |", "B", 1), ("B Basel", "B", 0), ("B\nBasel", "B", 0), ("B) Bern", "Bern", 1),
    ("The capital is Bern", "B", 0), ("E", "Bern", 0),
])  # fmt: skip
@pytest.mark.parametrize("choices", [["Geneva", "Bern", "Basel"], ["A) Geneva", "B) Bern", "C) Basel"]])
def test_a_choice_is_its_letter_or_its_text(answer: str, expected: str, equal: int, choices: list[str]) -> None:
    found = score("exact_match", answer=answer, expected_answers=[expected], choices=choices)
    assert found.values["exact_match"] == equal


@pytest.mark.parametrize(
    ("answer", "equal"), [(r"So \boxed{\text{yes}}.", 1), (r"\boxed{\mathrm{Yes}}", 1), (r"\boxed{\text{no}}", 0)]
)
def test_words_in_a_box_are_words(answer: str, equal: int) -> None:
    assert score("exact_match", answer=answer, expected_answers=["yes"]).values["exact_match"] == equal


def test_an_output_without_its_answer_is_wrong_and_says_so() -> None:
    found = score("exact_match", {"extract": "#### (.+)"}, answer="It is 42.", expected_answers=["#### 42"])
    assert found.values["exact_match"] == 0
    assert facts(found) == {"rule": None, "extracted": None, "answer_as_compared": None, "expected_as_compared": ["42"]}
    assert [verdict.label for verdict in found.evidence.verdicts["answer"]] == ["no answer in that form"]


@pytest.mark.parametrize(("parameters", "text"), [
    ({"extract": "("}, "an expression that RE2 can read: missing ): ("),
    ({"extract": r"(?<=a)b"}, "an expression that RE2 can read: invalid perl operator"),
    ({"extract": "a" * 1_001}, "it has 1,001 characters"),
    ({"extract": "a", "boxed": True}, "extract or boxed, not both"),
])  # fmt: skip
def test_expressions_that_cannot_be_used_are_refused(parameters: dict[str, Any], text: str) -> None:
    with pytest.raises(ValueError, match=re.escape(text)):
        score("exact_match", parameters, answer="a", expected_answers=["a"])


@pytest.mark.parametrize("extract", ["(a+)+$", "(a|a)*b", "(.*a){20}b", "a.*b|a"])
def test_hostile_expressions_end(extract: str) -> None:
    found = score("exact_match", {"extract": extract}, answer="a" * 200_000 + "!", expected_answers=["a"])
    assert found.values["exact_match"] in (0, 1)


@pytest.mark.parametrize(
    ("expected", "short"),
    [
        (["Paris"] * 3, True),
        (['{"name": "Ada", "born": 1815, "city": "London", "was": "here"}'] * 3, True),
        (["Paris", "word " * 20], False),
        (["Paris", "Rome", "word " * 20], True),
        ([], False),
    ],
)
def test_it_is_on_by_default_for_short_expected_answers(expected: list[str], short: bool) -> None:
    suite = Suite.from_rows("s", "text", [{"case_id": str(n), "expected_answers": [e]} for n, e in enumerate(expected)])
    outputs = Outputs.from_rows([{"case_id": "0", "model": "m", "answer": "x"}])
    present = available_inputs(suite, outputs)
    assert ("short_answers" in present) is short
    assert ("worded_answers" in present) is not any(answer.startswith("{") for answer in expected)


def test_math_verify_is_asked_only_where_it_is_installed() -> None:
    found = score("exact_match", {"math_verify": True}, answer="1", expected_answers=["1"])
    if importlib.util.find_spec("math_verify") is None:
        assert found.reason == "math_verify needs assay[math]: pip install 'assay[math]', in a clone '.[math]'"
    else:
        assert found.values["exact_match"] == 1


WORDS = ("the", "a", "An", "Paris", "paris,", "U.S.", "in", "1889", "well-known", "it's", "—", "!", "über", "\n")


def squad(answer: str, expected: list[str]) -> tuple[float, float]:
    """Return F1 and exact match by the definition of SQuAD v1.1, step by step; it reads texts of these WORDS."""

    def form(text: str) -> list[str]:
        kept = "".join(sign for sign in text.lower() if sign not in "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
        return [word for word in kept.split() if word not in ("a", "an", "the")]

    best, equal = 0.0, 0.0
    for one in expected:
        made, wanted = form(answer), form(one)
        shared, left = 0, list(wanted)
        for word in made:
            if word in left:
                left.remove(word)
                shared += 1
        if shared:
            precision, recall = shared / len(made), shared / len(wanted)
            best = max(best, 2 * precision * recall / (precision + recall))
        equal = max(equal, float(made == wanted))
    return best, equal


def test_token_f1_is_squads_definition() -> None:
    """Over 3,000 more texts it was within 1.2e-16 of the official evaluate-v1.1.py."""
    chance = Random(5)

    def text() -> str:
        return " ".join(chance.choice(WORDS) for _ in range(chance.randrange(7)))

    checked, rounds = 0, seeds(100, 400)
    for _ in rounds:
        answer, expected = text(), [text() for _ in range(chance.randrange(1, 4))]
        found = score("token_f1", {"tokenizer": "whitespace"}, answer=answer, expected_answers=expected).values
        if not found:
            assert squad(answer, expected)[0] == 0
            continue
        checked += 1
        assert (found["token_f1"], found["squad_exact_match"]) == pytest.approx(squad(answer, expected), abs=1e-12)
        strict = {"rules": ["text"], "punctuation": "all", "ignore_articles": True}
        if any(one.strip() for one in expected) and "—" not in answer + "".join(expected):
            match = score("exact_match", strict, answer=answer, expected_answers=expected).values["exact_match"]
            assert match == found["squad_exact_match"] or not found["token_f1"]
    assert checked > len(rounds) / 2


def test_anls_is_the_benchmarks_on_random_texts() -> None:
    """Its script written down again on nltk's distance: lower case, single blanks, below the threshold 0; 200 pairs."""
    chance = Random(9)
    for number in range(200):
        expected, [answer] = (
            ["".join(chance.choice("abAB  ") for _ in range(chance.randrange(1, 9))) + "x" for _ in range(many)]
            for many in (chance.randrange(1, 4), 1)
        )
        plain = " ".join(answer.lower().split())
        least = (0.5, 0.7)[number % 2]
        similar = max(
            1 - nltk_distance(plain, own) / max(len(plain), len(own))
            for own in (" ".join(one.lower().split()) for one in expected)
        )
        found = score("edit_distance", {"anls_threshold": least}, answer=answer, expected_answers=expected)
        assert found.values["anls"] == pytest.approx(similar if similar >= least - 1e-12 else 0.0)


def test_error_rates_are_those_of_jiwer() -> None:
    """jiwer 4.0.0 gives wer .5, cer 10 / 23 and these counts for the pair; over 2,000 pairs none differed."""
    found = score("edit_distance", answer="the red cat sat down here", expected_answers=["a red cat lay on a mat."])
    assert found.values["word_error_rate"] == pytest.approx(5 / 7)
    assert facts(found)["words"] == {
        "expected_answer": 1, "expected": 7, "answer": 6, "distance": 5, "substitutions": 4, "insertions": 0,
        "deletions": 1,
    }  # fmt: skip
