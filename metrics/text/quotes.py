"""Verbatim quotes: whether words that somebody quotes from a text stand in it, and where."""

import re
import unicodedata
from array import array
from collections.abc import Sequence
from functools import lru_cache

ELLIPSIS = re.compile(r"\s*[\[(<]?\s*(?:\.{3,}|…+)\s*[\])>]?\s*")  # joins pieces: "a … b", "a [...] b"
QUOTATION_MARKS = " \"'"
EDGES = " \"'.,;:!?-"  # around a quote: marks that often are the quoting person's own
DROPPED = frozenset("*_`#\u00ad")  # marks of emphasis, which quotes often leave out; soft hyphens
QUOTATION = {ord(mark): '"' for mark in "“”„‟«»″〝〞「」『』"}
APOSTROPHES = {ord(mark): "'" for mark in "‘’‚‛′‹›`´"}
DASHES = {ord(mark): "-" for mark in "‐‑‒–—―−"}
PLAIN = QUOTATION | APOSTROPHES | DASHES


def quoted(quote: str, text: str) -> str:
    """Return `quote` as it stands in `text`, in one piece; "" where it does not stand there.

    White space, case, forms of characters (NFKC), quotation marks, dashes, marks of emphasis and the marks at either
    end may differ.

    >>> quoted("“the mill  was built”", "The mill\\nwas **built** in 1502.")
    'The mill\\nwas **built'
    """
    plain, _ = _plain(quote)
    found, places = _plain(text)
    for marks in (QUOTATION_MARKS, EDGES):
        wanted = plain.strip(marks)
        begin = found.find(wanted) if plain.strip(EDGES) else -1
        if begin >= 0:
            return text[places[begin] : places[begin + len(wanted) - 1] + 1]
    return ""


def quoted_in(quote: str, texts: Sequence[str]) -> tuple[str, ...]:
    """Return the pieces of `quote` as they stand in the texts, each in any of them; () where one stands in none.

    An ellipsis joins pieces.

    >>> quoted_in("built in 1502 … of oak", ["It was built in 1502.", "The wheel is of oak."])
    ('built in 1502', 'of oak')
    """
    pieces = [piece for piece in ELLIPSIS.split(quote) if piece.strip(EDGES)]
    found = [next((there for text in texts if (there := quoted(piece, text))), "") for piece in pieces]
    return tuple(found) if all(found) else ()


@lru_cache(maxsize=64)
def _plain(text: str) -> tuple[str, "array[int]"]:
    """Return the text in its plainest form, and the place in `text` of each of its characters."""
    plain: list[str] = []
    places = array("L")
    for place, character in enumerate(text):
        if character in DROPPED:
            continue
        for one in _plain_character(character):
            if one != " " or (plain and plain[-1] != " "):
                plain.append(one)
                places.append(place)
    return "".join(plain), places


@lru_cache(maxsize=4096)
def _plain_character(character: str) -> str:
    if character.isspace():
        return " "
    if unicodedata.category(character) == "Cf":
        return ""
    # decomposed, so that é is the same in one character and in two
    folded = unicodedata.normalize("NFKD", character.translate(PLAIN)).casefold()
    return unicodedata.normalize("NFKD", folded).translate(PLAIN)
