"""Verbatim quotes: whether words that somebody quotes from a text stand in it, and where."""

import re
import unicodedata
from array import array
from collections.abc import Sequence
from functools import lru_cache

from metrics.text.relevance import UNSPACED

# joins pieces: "a … b", "a [...] b", "“a” and “b”"
AHEAD = r"(?:(?<!\s)\s++)?+"  # white space, from its beginning alone: a long run is not tried from every place in it
JOINT = re.compile(
    rf"{AHEAD}(?:[\[(<]\s*+)?+(?:\.\s?\.\s?\.[\s.]*+|…++)\s*+[\])>]?\s*+"
    r"|(?<=[”\"»])\s*+(?:(?:,|;|/|\||&|and)\s*+)?+(?=[“\"«])"
)
LABEL = re.compile(  # Context 2: …
    rf"{AHEAD}(?:(?:context|passage|document|source)\s*+)?+\(?\d{{1,3}}[.:)]\s++", re.IGNORECASE
)
# citations, targets of links, tags, marks of quoted lines
NO_WORDS = re.compile(r"\[\d{1,3}\]|\]\([^()\s]{1,500}\)|</?[a-zA-Z][^<>]{0,100}>|^[^\S\n]{0,9}>+", re.MULTILINE)
APART = frozenset("*_`#\u00ad")  # marks of emphasis, soft hyphens: a word may go on behind them
MEANING = frozenset("%‰&@§")  # punctuation that is said aloud
DASHES = frozenset("-‐‑–—−")
UNSPACED_SIGN = re.compile(f"[{UNSPACED}]")


def quoted(quote: str, text: str) -> str:
    """Return `quote` as it stands in `text`, in one piece; "" where it does not stand there.

    The same words and numbers must follow each other; white space, case, forms of characters (NFKC), punctuation,
    emphasis, citations and links may differ. A decimal point, a minus before a number, % and currencies count as words.

    >>> quoted("“the mill  was built”", "The mill\\nwas **built** in 1502.")
    'The mill\\nwas **built'
    """
    found, places = _plain(text)
    for given in dict.fromkeys((quote, LABEL.sub("", quote, count=1))):
        wanted, own_places = _plain(given)
        begin = found.find(wanted) if wanted else -1
        while begin >= 0:
            end = begin + len(wanted)
            if not (
                _goes_on(found[begin - 1 : begin + 1]) or _goes_on(found[end - 1 : end + 1], found[end + 1 : end + 2])
            ):
                marks = given[own_places[-1] + 1 :]
                last = places[end - 1] + 1
                same = next((n for n, mark in enumerate(marks) if text[last + n : last + n + 1] != mark), len(marks))
                return text[places[begin] : last + same].rstrip()
            begin = found.find(wanted, begin + 1)
    return ""


def quoted_in(quote: str, texts: Sequence[str]) -> tuple[str, ...]:
    """Return the pieces of `quote` as they stand in the texts, each in any of them; () where one stands in none.

    An ellipsis joins pieces, and so does what stands between two quotations.

    >>> quoted_in("built in 1502 … of oak", ["It was built in 1502.", "The wheel is of oak."])
    ('built in 1502', 'of oak')
    """
    pieces = [piece for piece in JOINT.split(quote) if _plain(piece)[0]]
    found = [next((there for text in texts if (there := quoted(piece, text))), "") for piece in pieces]
    return tuple(found) if all(found) else ()


def _goes_on(two: str, after: str = "0") -> bool:
    """Return whether two neighbouring characters are of one word or number; `after` follows them."""
    if len(two) < 2:
        return False
    one, other = two[0], two[1]
    if one.isdecimal() or other.isdecimal():
        return (one.isdecimal() or one in ".,-") and (other.isdecimal() or (other in ".," and after.isdecimal()))
    return one.upper() != one and other.upper() != other  # scripts without case join words


@lru_cache(maxsize=64)
def _plain(text: str) -> tuple[str, "array[int]"]:
    """Return the words of a text in their plainest form, one space apart, and the place in `text` of each character."""
    plain: list[str] = []
    places = array("L")
    left_out = {place for found in NO_WORDS.finditer(text) for place in range(*found.span())}
    apart = False
    for place, character in enumerate(text):
        if character in APART and place not in left_out:
            continue
        kept = "" if place in left_out else _plain_character(character) or _of_number(text, place)
        if not kept:
            apart |= unicodedata.category(character) != "Cf"
            continue
        if apart and plain and _spaced(plain[-1], kept[0]):
            plain.append(" ")
            places.append(place)
        apart = False
        for one in kept:
            plain.append(one)
            places.append(place)
    return "".join(plain), places


def _of_number(text: str, place: int) -> str:
    """Return a decimal point, a comma within a number or a minus before one; "" for any other character."""
    character, before = text[place], text[max(0, place - 1) : place]
    if not text[place + 1 : place + 2].isdecimal():
        return ""
    if character in ".,":
        return character if before.isdecimal() else ""
    return "-" if character in DASHES and not (before.isalnum() or before in DASHES) else ""


def _spaced(before: str, after: str) -> bool:
    """Return whether a space between two characters parts words: not beside signs, nor in scripts without spaces."""
    signs = not (before.isalnum() and after.isalnum())
    return not signs and not (UNSPACED_SIGN.match(before) and UNSPACED_SIGN.match(after))


@lru_cache(maxsize=4096)
def _plain_character(character: str) -> str:
    """Return a character decomposed and case-folded; "" for white space, punctuation and what is not seen."""
    if character in MEANING or unicodedata.category(character) == "Sk":  # as in ´
        return character if character in MEANING else ""
    # decomposed, so that é is the same in one character and in two
    folded = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", character).casefold())
    return "".join(one for one in folded if unicodedata.category(one)[0] not in "PZC" and one not in "|−")
