"""The verdicts in a score's evidence, whatever evaluator made it."""

import asyncio
from typing import Any

import pytest

from metrics.analysis.evidence import FAILS, HOLDS, Row, holds, verdict_lists
from metrics.core.evaluator import Evaluator, Example, Status
from metrics.core.registry import evaluators
from metrics.core.suite import Case
from tests.judge.scripted import judge_of

IN_PART = {"partial", "partial_support", "acceptable", "unknown"}
JUDGED = [
    pytest.param(entry, example, id=f"{entry.id}: {example.name}")
    for entry in evaluators().values()
    if entry.resources == ("judge",)
    for example in entry.examples
    if example.judge and example.status is Status.OK
]
CASES: dict[str, tuple[dict[str, Any], list[tuple[Any, ...]]]] = {
    "claims rest on contexts": (
        {"claims": [{"claim": "A.", "verdict": "supported", "reason": "So 1.", "contexts": [1, 3]}], "supported": 1},
        [("A.", True, "supported", "So 1.", (("contexts", 1), ("contexts", 3)), ())],
    ),
    "claims rest on claims of the other side": (
        {
            "claims": [{"claim": "A.", "verdict": "unsupported", "reason": "", "reference_claims": []}],
            "reference_claims": [{"claim": "B.", "verdict": "supported", "reason": "", "answer_claims": [1]}],
        },
        [("A.", False, "unsupported", "", (), ()), ("B.", True, "supported", "", (("claims", 1),), ())],
    ),
    "a context is its own subject": (
        {"contexts": [{"context": 2, "verdict": "useless", "reason": "No.", "expected_answer": None}]},
        [("Context 2", False, "useless", "No.", (("contexts", 2),), ())],
    ),
    "a sentence of a context": (
        {"sentences": [{"sentence": "S.", "verdict": "relevant", "reason": "", "context": 2}]},
        [("S.", True, "relevant", "", (("contexts", 2),), ())],
    ),
    "a grade": (
        {"passages": [{"context": 1, "grade": 3, "intent": "a date"}, {"context": 2, "grade": None, "reason": "cut"}]},
        [
            ("Context 1", True, "grade 3", "", (("contexts", 1),), ("intent: a date",)),
            ("Context 2", None, "unreadable", "cut", (("contexts", 2),), ()),
        ],
    ),
    "a part is named by its text": (
        {"parts": [{"text": "P.", "contexts": [1]}], "citations": [{"part": 1, "contexts": [1], "verdict": "partial"}]},
        [("P.", None, "partial", "", (("contexts", 1),), ())],
    ),
    "a nugget in part": (
        {"nuggets": [{"nugget": "n", "importance": "vital", "verdict": "partial_support", "reason": ""}]},
        [("n", None, "partial support", "", (), ("importance: vital",))],
    ),
    "no verdict, no list": ({"questions": [{"question": "Q?", "cosine": 0.5}], "note": "x", "empty": []}, []),
}


@pytest.mark.parametrize("name", CASES)
def test_rows(name: str) -> None:
    evidence, expected = CASES[name]
    lists, rest = verdict_lists(evidence)
    rows = [row for entry in lists for row in entry.rows]
    assert [(row.text, row.holds, row.verdict, row.reason, row.rests_on, row.more) for row in rows] == expected
    assert [entry.name for entry in lists] + list(rest) == sorted(evidence, key=lambda key: key in rest)


@pytest.mark.parametrize(
    ("text", "rests", "words"),
    [
        ("A.", (), ""),
        ("A.", (("contexts", 1), ("contexts", 3), ("claims", 2)), "contexts 1, 3 · claim 2"),
        ("Context 1", (("contexts", 1),), ""),
    ],
    ids=["nothing", "two lists", "itself"],
)
def test_what_a_row_rests_on_in_words(text: str, rests: tuple[tuple[str, int], ...], words: str) -> None:
    assert Row(1, text, True, "supported", rests_on=rests).links == words


def test_what_is_held_against_what_is_expected_stands_beside_it() -> None:
    pairs = [
        {"expected": "Grind.", "step": "Mill.", "verdict": "match", "similarity": 0.87654},
        {"expected": "", "step": "Stir.", "verdict": "inserted"},
        {"expected": "Pour.", "step": "", "verdict": "deleted"},
    ]
    (listed,), _ = verdict_lists({"alignment": pairs})
    assert [(row.against, row.text, row.holds, row.more) for row in listed.rows] == [
        ("Grind.", "Mill.", True, ("similarity: 0.877",)), ("", "Stir.", False, ()), ("Pour.", "", False, ()),
    ]  # fmt: skip
    (plain,), _ = verdict_lists({"claims": [{"claim": "A.", "verdict": "supported"}]})
    assert plain.rows[0].against is None


@pytest.mark.parametrize(("entry", "example"), JUDGED)
def test_every_verdict_of_an_evaluator_is_known(entry: Evaluator, example: Example) -> None:
    """A word that is not known would be drawn as unknown."""
    parameters = entry.parameters.model_validate(dict(example.parameters))
    score = asyncio.run(entry(Case.of(**example.given), parameters, judge=judge_of(example)))
    for value in (score.evidence or {}).values():
        for record in value if isinstance(value, list) else []:
            word = record.get("verdict") if isinstance(record, dict) else None
            assert word is None or str(word).lower() in HOLDS | FAILS | IN_PART


@pytest.mark.parametrize(
    ("verdict", "expected"),
    [(True, True), (False, False), (None, None), (2, True), (1, False), ("Yes", True), ("", None)],
)
def test_holds(verdict: object, expected: bool | None) -> None:
    assert holds(verdict) is expected
