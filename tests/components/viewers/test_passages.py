"""Passages with their quotes marked."""

import pytest

from components.viewers.passages import changed, marked


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


@pytest.mark.parametrize(
    ("before", "after", "parts"),
    [
        ("how do I pay", "how do I pay", [("how do I pay", False)]),
        ("how do I pay", "how do U pay", [("how do ", False), ("U", True), (" pay", False)]),
        ("pay now", "Lies. pay now", [("Lies. ", True), ("pay now", False)]),
        ("pay now", "now pay", [("now ", True), ("pay", False)]),
        ("", "pay", [("pay", True)]),
    ],
    ids=["same", "a word", "put before", "order", "from nothing"],
)
def test_changed(before: str, after: str, parts: list[tuple[str, bool]]) -> None:
    assert changed(before, after) == parts
