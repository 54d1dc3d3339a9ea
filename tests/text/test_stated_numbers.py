"""Numbers in texts: equal numbers are equal however they are written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics.text.stated_numbers import numbers


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("no digits, not even two", set(), id="none"),
        pytest.param("1,200 and 1200", {"1200"}, id="thousands"),
        pytest.param("1.200.000 or 1,200,000 or 1\u202f200\u202f000 or 1'200'000", {"1200000"}, id="separators"),
        pytest.param("3.20, 3,2 and 3.2", {"3.2"}, id="decimals"),
        pytest.param("1.200,50", {"1200.5"}, id="both"),
        pytest.param("€6 per item.", {"6"}, id="the full stop is none of its digits"),
        pytest.param("007", {"7"}, id="leading zeros"),
        pytest.param("0.50", {"0.5"}, id="below one"),
        pytest.param("10:30", {"10", "30"}, id="a time is two numbers"),
        pytest.param("٤٢ and ४२", {"42"}, id="digits of other scripts"),
        pytest.param("10²", {"10"}, id="a superscript is no digit"),
    ],
)  # fmt: skip
def test_the_numbers_of_a_text(text: str, expected: set[str]) -> None:
    assert numbers(text) == expected


@given(st.integers(0, 10**9))
def test_grouping_changes_nothing(number: int) -> None:
    assert numbers(f"about {number:,} of them") == numbers(str(number)) == {str(number)}
