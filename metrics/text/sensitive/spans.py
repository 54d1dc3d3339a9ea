"""Findings as spans of a text: which of them have precedence where they overlap, and how they are shown."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import Protocol, TypeVar


class Span(Protocol):
    """Characters `start` to `end` of a text."""

    @property
    def start(self) -> int:
        """The first character."""

    @property
    def end(self) -> int:
        """The one after the last."""


Found = TypeVar("Found", bound=Span)


def by_precedence(groups: Iterable[Iterable[Found]]) -> list[Found]:
    """Return the spans by position, without those that overlap a span of an earlier group."""
    found: list[Found] = []
    for group in groups:
        taken = sorted((span.start, span.end) for span in found)
        found += [span for span in group if not overlaps(taken, span.start, span.end)]
    return sorted(found, key=lambda span: span.start)


def overlaps(taken: Sequence[tuple[int, int]], start: int, end: int) -> bool:
    """Return whether a span overlaps one of `taken`, which are in order and do not overlap."""
    place = bisect_left(taken, (end, -1))
    return place > 0 and taken[place - 1][1] > start


def redacted(text: str, span: Span, longest: int = 200) -> str:
    """Return the finding with all letters and digits but the first hidden: its shape is visible, its value is not."""
    raw = text[span.start : min(span.end, span.start + longest)]
    return raw[:1] + "".join("•" if character.isalnum() else character for character in raw[1:])
