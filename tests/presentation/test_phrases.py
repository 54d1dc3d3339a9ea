"""Short phrases."""

from dataclasses import replace

import pytest

from metrics.core.conventions import limit
from metrics.presentation import phrases
from tests.components.board_scenes import board, column

SAID = {
    phrases.signed: [
        ((None,), "–"), ((float("nan"),), "–"), ((0.25,), "+0.250"), ((-0.25,), "−0.250"), ((0.0,), "0.00"),
        ((1e-9,), "<+0.001"), ((-1e-9,), ">−0.001"),
    ],
    phrases.named: [
        (("",), ""), (("a",), "a"), ((("a", "b"),), "a and b"), ((("a", "b", "c"),), "a, b and c"),
        ((tuple("abcdefghi"),), "a, b, c, d, e, f and 3 more"),
    ],
    limit: [
        ((0.5, "higher"), "≥ 0.5"), ((0.5, "lower", "user"), "≤ 0.5 (your own)"), ((None, "higher"), ""),
        ((0.5, "none"), ""),
    ],
    phrases.with_interval: [
        ((0.62, 0.55, 0.69), "0.620 (0.550–0.690)"), ((0.62, None, None), "0.620"), ((None, 0.1, 0.2), "–"),
    ],
    phrases.significance: [
        ((14, "holm"), "significant after Holm correction (14 tests, 5 %)"),
        ((1, "none"), "significant at 5 % without correction (1 test)"),
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("say", "arguments", "text"),
    [pytest.param(say, *row, id=f"{say.__name__} {row[0]}") for say, rows in SAID.items() for row in rows],
)
def test_said(say, arguments, text):
    assert say(*arguments) == text


@pytest.mark.parametrize(
    ("evaluator", "title", "expected"),
    [("rouge", "rougeL", "ROUGE-L\u00a0↑"), ("rouge", "rouge", "ROUGE\u00a0↑")],
    ids=["another name", "the evaluator's name"],
)
def test_metric_title(evaluator, title, expected):
    own = replace(column(f"{evaluator}/{title}"), evaluator=evaluator, evaluator_title="ROUGE", title=title)
    assert (phrases.metric_title(own), phrases.metric_title(own, arrow=False)) == (expected, expected[:-2])


def test_paragraphs_run_and_formulas_keep_their_lines():
    text = "\nThe share of words\nthat agree.\n\n    P = a / b\n    R = a / c\n\n- one\n- two\n"
    shown = ["The share of words that agree.", "    P = a / b\n    R = a / c", "- one\n- two"]
    assert list(phrases.paragraphs(text)) == shown


def test_every_interval_that_lacks_an_end_is_explained_below_the_table() -> None:
    """Law: of each number shown without a whole interval the reason stands in the notes, with its mark and model."""
    columns = [column("e/loss", "lower"), column("e/gap", "lower"), column("e/f1"), column("e/tail", minor=True)]
    keys = ("e/loss", "e/gap", "e/f1", "e/tail")
    few, heavy = "No 95 % interval: 2 are wrong.", "no upper end: one case makes 80 % of the variance"
    made = board({"a": dict.fromkeys(keys, 0.5), "b": dict.fromkeys(keys, 0.5)}, *columns)
    of_a = {"e/loss": {"low": 0.2, "reason": heavy}, "e/gap": {"reason": few}, "e/tail": {"reason": few}}
    of_b = {"e/loss": {"low": 0.2, "reason": "no upper end: 60 cases"}, "e/gap": {"reason": few}}
    given = {("a", key): own for key, own in of_a.items()} | {("b", key): own for key, own in of_b.items()}
    whole = {key: replace(one, low=0.1, high=0.9) for key, one in made.cells.items()}
    cells = whole | {key: replace(made.cells[key], **own) for key, own in given.items()}
    assert list(phrases.board_notes(replace(made, cells=cells))) == [
        f"E: Loss ≥: {heavy} (a); no upper end: 60 cases (b).", "E: Gap: No 95 % interval: 2 are wrong (a and b)."
    ]  # fmt: skip
