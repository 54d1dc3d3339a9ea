"""Numbers and words as the pages write them."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics.presentation import format


@pytest.mark.parametrize(
    ("value", "text"),
    [
        pytest.param(None, "–", id="none"),
        pytest.param(math.nan, "–", id="nan"),
        pytest.param(math.inf, "∞", id="infinite"),
        pytest.param(0.0, "0.00", id="zero"),
        pytest.param(0.8421, "0.842", id="share"),
        pytest.param(0.99951, "1.00", id="rounds-up-to-one"),
        pytest.param(1.0, "1.00", id="one"),
        pytest.param(-0.5, "−0.500", id="negative"),
        pytest.param(-0.0, "0.00", id="negative-zero"),
        pytest.param(-math.inf, "−∞", id="minus-infinity"),
        pytest.param(12.34, "12.3", id="tens"),
        pytest.param(99.96, "100", id="rounds-up-to-hundred"),
        pytest.param(999.6, "1.00k", id="rounds-up-to-thousand"),
        pytest.param(12_345_678, "12.3M", id="millions"),
        pytest.param(9.37e-155, "<0.001", id="tiny"),
        pytest.param(-0.0004, ">−0.001", id="tiny-negative"),
    ],
)
def test_number(value, text):
    assert format.number(value) == text


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


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        pytest.param(0.81, 0.87, "0.810–0.870", id="both"),
        pytest.param(None, 0.87, "", id="none"),
        pytest.param(-0.2, 0.1, "−0.200 – 0.100", id="negative"),
        pytest.param(math.nan, 1.0, "", id="nan"),
        pytest.param(0.0001, 0.0004, "<0.001", id="both-tiny"),
        pytest.param(-0.0001, -0.00005, ">−0.001", id="both-tiny-negative"),
    ],
)
def test_interval(low, high, text):
    assert format.interval(low, high) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(None, "–"), (0.42, "0.4 s"), (9.96, "10 s"), (59.4, "59 s"), (185, "3 min 05 s"), (7800, "2 h 10 min")],
)
def test_duration(seconds, text):
    assert format.duration(seconds) == text


@pytest.mark.parametrize(("p", "text"), [(None, "–"), (1e-9, "<0.001"), (0.04999, "0.050"), (1.0, "1.000")])
def test_p_value(p, text):
    assert format.p_value(p) == text
    if p is not None:
        assert format.p_words(p) == ("p < 0.001" if text.startswith("<") else f"p = {text}")


@pytest.mark.parametrize(
    ("value", "text"),
    [(7.33e-5, "0.000073"), (-7.33e-5, "−0.000073"), (0.00225, "0.002"), (2.4, "2.40"), (0.0, "0.00")],
)
def test_amounts_are_never_only_less_than(value, text):
    assert format.amount(value) == text


@pytest.mark.parametrize(("value", "text"), [(0.5, "0.5"), (-2.0, "−2"), (1e-6, "1e−06")])
def test_chosen_numbers_stay_as_chosen(value, text):
    assert format.exact(value) == text


def test_words():
    assert format.plural(1, "case") == "1 case"
    assert format.plural(12345, "case") == "12,345 cases"
    assert format.moment("2026-11-21T10:28:00+00:00") == "21 Nov 2026, 10:28"
    assert format.moment("yesterday") == "yesterday"
    assert format.range_text(0, math.inf) == "0 … ∞"
    assert format.range_text(-math.inf, 1) == "−∞ … 1"
    assert format.shorten("a\n b" + "c" * 100, 10) == "a bcccccc…"
    assert format.share(1, 3) == "33 %"
    assert format.share(0, 0) == "–"
