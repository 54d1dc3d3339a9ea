"""Short phrases."""

import pytest

from metrics.presentation import phrases
from metrics.reports.report import Column


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "–"),
        (float("nan"), "–"),
        (0.25, "+0.250"),
        (-0.25, "−0.250"),
        (0.0, "0.00"),
        (1e-9, "<+0.001"),
        (-1e-9, ">−0.001"),
    ],
)
def test_signed(value, text):
    assert phrases.signed(value) == text


@pytest.mark.parametrize(
    ("names", "text"),
    [("", ""), ("a", "a"), ("ab", "a and b"), ("abc", "a, b and c"), ("abcdefghi", "a, b, c, d, e, f and 3 more")],
)
def test_named(names, text):
    assert phrases.named(tuple(names)) == text


@pytest.mark.parametrize(
    ("evaluator", "title", "expected"),
    [("rouge", "rougeL", "ROUGE-L\u00a0↑"), ("rouge", "rouge", "ROUGE\u00a0↑")],
    ids=["another name", "the evaluator's name"],
)
def test_metric_title(evaluator, title, expected):
    column = Column("key", evaluator, "ROUGE", title)
    assert phrases.metric_title(column) == expected
    assert phrases.metric_title(column, arrow=False) == expected[:-2]


def test_limits_and_intervals():
    assert phrases.limit(0.5, "higher") == "≥ 0.5"
    assert phrases.limit(0.5, "lower") == "≤ 0.5"
    assert phrases.limit(None, "higher") == phrases.limit(0.5, "none") == ""
    assert phrases.with_interval(0.62, 0.55, 0.69) == "0.620 (0.550–0.690)"
    assert phrases.with_interval(0.62, None, None) == "0.620"
    assert phrases.with_interval(None, 0.1, 0.2) == "–"


def test_significance_names_its_correction():
    assert phrases.significance(14, "holm") == "significant after Holm correction (14 tests, 5 %)"
    assert phrases.significance(1, "none") == "significant at 5 % without correction (1 test)"


def test_paragraphs_run_and_formulas_keep_their_lines():
    text = "\nThe share of words\nthat agree.\n\n    P = a / b\n    R = a / c\n\n- one\n- two\n"
    shown = ["The share of words that agree.", "    P = a / b\n    R = a / c", "- one\n- two"]
    assert list(phrases.paragraphs(text)) == shown
