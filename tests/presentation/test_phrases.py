"""Short phrases."""

from dataclasses import replace

import pytest

from metrics.presentation import phrases
from tests.components.board_scenes import column

SAID = {
    phrases.signed: [
        ((None,), "–"), ((float("nan"),), "–"), ((0.25,), "+0.250"), ((-0.25,), "−0.250"), ((0.0,), "0.00"),
        ((1e-9,), "<+0.001"), ((-1e-9,), ">−0.001"),
    ],
    phrases.named: [
        (("",), ""), (("a",), "a"), ((("a", "b"),), "a and b"), ((("a", "b", "c"),), "a, b and c"),
        ((tuple("abcdefghi"),), "a, b, c, d, e, f and 3 more"),
    ],
    phrases.limit: [((0.5, "higher"), "≥ 0.5"), ((0.5, "lower"), "≤ 0.5"), ((None, "higher"), ""), ((0.5, "none"), "")],
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
