"""Findings as spans of a text: which have precedence where they overlap, how they are shown, and the words beside them
that say what they are.
"""

from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol, TypeVar

from metrics.text.patterns import UNSPACED_CHARACTER, own_expression


class Span(Protocol):
    """Characters `start` to `end` of a text."""

    @property
    def start(self) -> int:
        """The first character."""

    @property
    def end(self) -> int:
        """The one after the last."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Characters `start` to `end` of a text that disclose something of this `kind`.

    `issuer` says who issues such keys or numbers, if that is known: "GitHub", "ES DNI". `dummy`: a published sample,
    which is nobody's.
    """

    kind: str
    start: int
    end: int
    issuer: str | None = None
    dummy: bool = False


Found = TypeVar("Found", bound=Span)


def by_precedence(groups: Iterable[Iterable[Found]]) -> list[Found]:
    """Return the spans by position, without those that overlap a span of an earlier group."""
    found: list[Found] = []
    for group in groups:
        spans = sorted(group, key=lambda span: (span.start, -span.end))
        taken = sorted((span.start, span.end) for span in found) if spans else []
        last = -1
        for span in spans:
            if span.start >= last and not overlaps(taken, span.start, span.end):
                found.append(span)
                last = span.end
    return sorted(found, key=lambda span: span.start)


def overlaps(taken: Sequence[tuple[int, int]], start: int, end: int) -> bool:
    """Return whether a span overlaps one of `taken`, which are in order and do not overlap."""
    place = bisect_left(taken, (end, -1))
    return place > 0 and taken[place - 1][1] > start


def stands_alone(text: str, start: int, end: int) -> bool:
    """Return whether no letter or digit touches the span, nor, without letters, a point or comma of a longer number.

    A comma between two values of a row does not count.
    """
    before, after = text[max(0, start - 2) : start], text[end : end + 2]
    if _joins(before[-1:]) and not (before[-2:-1] == "\\" and before[-1:] in "nrt"):
        return False
    if _joins(after[:1]):
        return False
    if any(map(str.isalpha, text[start:end])):
        return True
    fraction = before[-1:] in (".", ",") and before[:1].isdigit() and len(before) == 2
    in_a_row = before[-1:] == after[:1] == "," and not after[1:].isspace()
    return (in_a_row or not fraction) and not (after[:1] in (".", ",") and after[1:].isdigit())


def _joins(character: str) -> bool:
    """Return whether a character next to a number or a name makes it part of something longer."""
    return character.isalnum() and not UNSPACED_CHARACTER.match(character)


def redacted(text: str, span: Span, longest: int = 200) -> str:
    """Return the finding with all letters and digits but the first hidden: its shape is visible, its value is not."""
    raw = text[span.start : min(span.end, span.start + longest)]
    return raw[:1] + "".join("•" if character.isalnum() else character for character in raw[1:])


REACH = 48  # characters after such a word
REACH_BEFORE = 28  # characters before it, where it stands in brackets: 943 476 5919 (NHS number)
MOST_WORDS = 20_000  # of a text


def after_words(text: str, words: Collection[str]) -> Iterator[tuple[str, str, int]]:
    """Yield each of `words` (in small letters) in `text` with the text beside it and where that begins.

    First what follows up to the next line but one, at most 48 characters; then, if the word stands in brackets, what
    precedes.
    """
    for number, match in enumerate(_scanner(tuple(words)).finditer(text)):
        if number >= MOST_WORDS:
            return
        start, end = match.span()
        if _touches(text[start - 1 : start], text[start]) or _touches(text[end : end + 1], text[end - 1]):
            continue
        word = match[0].lower()
        yield word, text[end : end + REACH], end
        if text[start - 1 : start] in ("(", "[") or text[max(0, start - 3) : start].strip() in ("as", "–", "-", "is"):
            begin = max(0, start - REACH_BEFORE)
            yield word, text[begin:start], begin


def _touches(beside: str, inside: str) -> bool:
    """Return whether a character makes the word beside it part of a longer one."""
    letters = beside.isalpha() and inside.isalnum()
    return letters and not UNSPACED_CHARACTER.match(beside) and not UNSPACED_CHARACTER.match(inside)


@cache
def _scanner(words: tuple[str, ...]) -> Any:
    import re2  # on use

    pattern = "|".join(re2.escape(word) for word in sorted(words, key=len, reverse=True))
    return own_expression(pattern, case_sensitive=False)
