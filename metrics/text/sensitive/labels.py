"""Words that say what the number beside them is: "NHS number", "routing", "geboren am"."""

from collections.abc import Collection, Iterator
from functools import cache
from typing import Any

from metrics.text.patterns import UNSPACED_CHARACTER, own_expression

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
