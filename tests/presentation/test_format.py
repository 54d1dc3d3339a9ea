"""Numbers and words as the pages write them."""

import math

import pytest
from hypothesis import given, strategies as st

from metrics.presentation import format

WRITTEN = {
    format.number: [
        ((None,), "–"), ((math.nan,), "–"), ((math.inf,), "∞"), ((-math.inf,), "−∞"), ((0.0,), "0.00"),
        ((-0.0,), "0.00"), ((0.8421,), "0.842"), ((0.99951,), "1.00"), ((1.0,), "1.00"), ((-0.5,), "−0.500"),
        ((12.34,), "12.3"), ((99.96,), "100"), ((999.6,), "1.00k"), ((12_345_678,), "12.3M"), ((9.37e-155,), "<0.001"),
        ((-0.0004,), ">−0.001"),
    ],
    format.interval: [
        ((0.81, 0.87), "0.810–0.870"), ((None, 0.87), "≤ 0.870"), ((0.81, None), "≥ 0.810"), ((math.nan, None), ""),
        ((math.nan, 1.0), "≤ 1.00"), ((-0.2, 0.1), "−0.200 – 0.100"),
        ((0.0001, 0.0004), "<0.001"), ((-0.0001, -0.00005), ">−0.001"),
    ],
    format.duration: [
        ((None,), "–"), ((0.42,), "0.4 s"), ((9.96,), "10 s"), ((59.4,), "59 s"), ((185,), "3 min 05 s"),
        ((7800,), "2 h 10 min"),
    ],
    format.p_value: [((None,), "–"), ((1e-9,), "<0.001"), ((0.04999,), "0.050"), ((1.0,), "1.000")],
    format.p_words: [((1e-9,), "p < 0.001"), ((0.04999,), "p = 0.050"), ((1.0,), "p = 1.000")],
    format.amount: [
        ((7.33e-5,), "0.000073"), ((-7.33e-5,), "−0.000073"), ((0.00225,), "0.002"), ((2.4,), "2.40"), ((0.0,), "0.00"),
    ],
    format.exact: [((0.5,), "0.5"), ((-2.0,), "−2"), ((1e-6,), "1e−06")],
    format.plural: [((1, "case"), "1 case"), ((12345, "case"), "12,345 cases")],
    format.moment: [(("2026-11-21T10:28:00+00:00",), "21 Nov 2026, 10:28"), (("yesterday",), "yesterday")],
    format.range_text: [((0, math.inf), "0 … ∞"), ((-math.inf, 1), "−∞ … 1")],
    format.shorten: [(("a\n b" + "c" * 100, 10), "a bcccccc…")], format.share: [((1, 3), "33 %"), ((0, 0), "–")],
}  # fmt: skip


@pytest.mark.parametrize(
    ("write", "arguments", "text"),
    [pytest.param(write, *row, id=f"{write.__name__} {row[0]}") for write, rows in WRITTEN.items() for row in rows],
)
def test_written(write, arguments, text):
    assert write(*arguments) == text


@given(st.floats(1e-3, 9.9e11))
def test_a_number_has_at_most_three_significant_digits_and_is_that_close(value):
    text = format.number(value)
    bare = text.rstrip("kMG")
    shown = float(bare) * {"k": 1e3, "M": 1e6, "G": 1e9}.get(text[-1], 1.0)
    assert abs(shown - value) <= max(0.00051, value * 0.0051)
    assert len(bare.replace(".", "").lstrip("0")) <= 3


@given(st.lists(st.one_of(st.none(), st.floats(0, 5000)), max_size=8))
def test_aligned_numbers_end_equally_far_from_the_point(values):
    texts = format.aligned(values)
    plain = [text.rstrip(format.FIGURE_SPACE + format.POINT_SPACE) for text in texts]
    assert plain == [format.number(value) for value in values]
    tails = {
        len(text.partition(".")[2]) if "." in text else text.count(format.FIGURE_SPACE)
        for text in texts
        if "k" not in text and "e" not in text
    }
    assert "k" in "".join(texts) or "e" in "".join(texts) or len(tails) <= 1
