"""Passages with their quotes marked."""

import pytest

from components.viewers.passages import marked


@pytest.mark.parametrize(
    ("text", "quotes", "parts"),
    [
        ("one two", ["two"], [("one ", False), ("two", True)]),
        ("one two three", ["two three", "one two"], [("one two three", True)]),
        ("one", ["four", ""], [("one", False)]),
        ("one one", ["one"], [("one", True), (" one", False)]),
        ("", ["one"], []),
    ],
    ids=["one", "overlapping", "absent", "the first", "empty"],
)
def test_marked(text: str, quotes: list[str], parts: list[tuple[str, bool]]) -> None:
    assert marked(text, quotes) == parts
