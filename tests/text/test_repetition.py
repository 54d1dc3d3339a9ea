"""Repeats in text against trying every substring, by hand, and in time."""

import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics.text.repetition import NO_REPEAT, Repeat, compression_ratio, longest_repeat


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
