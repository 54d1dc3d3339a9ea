"""Repeats in text against trying every substring, by hand, and in time."""

import zlib

import pytest
from hypothesis import given, strategies as st

from metrics.text.loops import NO_REPEAT, Repeat, compression_ratio, longest_repeat


def tried(text: str) -> Repeat:
    """Every substring, longest first."""
    for length in range(len(text) // 2, 0, -1):
        repeats = []
        for start in range(len(text) - length + 1):
            times = text.count(text[start : start + length])
            if times >= 2 and text.find(text[start : start + length]) == start:
                repeats.append((times, -start))
        if repeats:
            times, start = max(repeats)
            return Repeat(-start, length, times)
    return NO_REPEAT


@given(st.one_of(st.text("ab", max_size=40), st.text("abc \n🙂", max_size=40), st.text(max_size=40)))
def test_longest_repeat_is_the_one_found_by_trying(text: str) -> None:
    assert longest_repeat(text) == tried(text)


def test_compression_ratio() -> None:
    assert (compression_ratio("I am stuck in a loop. " * 10), compression_ratio("a")) == (0.15, 9)
    assert compression_ratio("é" * 50) == len(zlib.compress("é".encode() * 50, 9)) / 100
    with pytest.raises(ValueError, match="empty"):
        compression_ratio("")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("", NO_REPEAT, id="empty"),
        pytest.param("a", NO_REPEAT, id="one"),
        pytest.param("abc", NO_REPEAT, id="no-repeat"),
        pytest.param("aaa", Repeat(0, 1, 3), id="no-overlap"),
        pytest.param("abXcdYab Zcd cd", Repeat(3, 2, 3), id="the-most-frequent-of-equal-length"),
        pytest.param("I am stuck in a loop. " * 10, Repeat(0, 110, 2), id="loop"),
        pytest.param("\ud800x\ud800x", Repeat(0, 2, 2), id="lone-surrogates"),
    ],
)
def test_longest_repeat_by_hand(text: str, expected: Repeat) -> None:
    assert longest_repeat(text) == expected
