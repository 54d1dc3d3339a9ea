"""Where a text can be perturbed and how: sites, and the seeded choice among them.

A site is a span of the text with the texts that can replace it. Sites are ranked independently of how many are taken,
so the changes of a low intensity are among those of a higher one.
"""

import random
import re
import unicodedata
from functools import cache
from hashlib import sha256
from typing import NamedTuple

# a text's shape: one of these for each character
LETTER, DIGIT, IDEOGRAPH, MARK, JOINER, OTHER = "adkm' "
GRAPHEME = re.compile("[adk]m*")  # a letter with its combining marks: never separated
WORD = re.compile("km*|[ad]m*(?:'?[ad]m*)*")  # an ideograph or kana counts as a word: no spaces between them
NON_JOINERS = "\u200c\u200d"  # zero-width, inside words of Indic and Persian scripts


class Site(NamedTuple):
    """A span of a text and what can replace it; never what is there already."""

    start: int
    end: int
    choices: tuple[str, ...]


@cache
def _shape(character: str) -> str:
    kind = unicodedata.category(character)
    if character in "'’-‐":
        return JOINER
    if kind[0] == "M" or character in NON_JOINERS:
        return MARK
    if kind == "Nd":
        return DIGIT
    if kind[0] != "L":
        return OTHER
    name = unicodedata.name(character, "")
    return IDEOGRAPH if name.startswith(("CJK ", "HIRAGANA ", "KATAKANA ")) else LETTER


def shape(text: str) -> str:
    """Return the shape of each character of `text`: a letter, d digit, k ideograph or kana, m mark, …"""
    return "".join(map(_shape, text))


def graphemes(text: str, kinds: str = LETTER + IDEOGRAPH) -> list[tuple[int, int]]:
    """Return the spans of letters with their marks, or of characters of the given `kinds`."""
    seen = shape(text)
    return [found.span() for found in GRAPHEME.finditer(seen) if seen[found.start()] in kinds]


def words(text: str) -> list[tuple[int, int]]:
    """Return the spans of words; an apostrophe or hyphen inside a word belongs to it."""
    return [found.span() for found in WORD.finditer(shape(text))]


def seeded(seed: int, *names: str | int) -> random.Random:
    """Return random numbers that depend only on the seed and the names, the same on every machine."""
    text = "\x1f".join(map(str, (seed, *names)))
    return random.Random(int.from_bytes(sha256(text.encode("utf-8", "surrogatepass")).digest()))  # noqa: S311


def perturbed(text: str, sites: list[Site], share: float, draw: random.Random) -> str:
    """Return `text` with `share` of its sites changed, at least one; `text` itself where it has no site.

    Only random() is used: its numbers are the same in every version of Python. Sites that overlap one already taken are
    skipped.
    """
    ranked = sorted((draw.random(), draw.random(), site) for site in sites)
    wanted = max(1, round(share * len(sites)))
    taken: list[tuple[Site, str]] = []
    used: set[int] = set()  # characters, and ~place of insertions, of which there is at most one at a place
    for _, pick, site in ranked:
        if len(taken) == wanted:
            break
        span = range(site.start, site.end) or [~site.start]
        if used.isdisjoint(span):
            used.update(span)
            taken.append((site, site.choices[int(pick * len(site.choices))]))
    while taken:
        changed = _applied(text, taken)
        if changed != text:  # an insertion and a deletion can undo each other; one change alone cannot be undone
            return changed
        taken.pop()
    return text


def _applied(text: str, taken: list[tuple[Site, str]]) -> str:
    parts, position = [], 0
    for site, replacement in sorted(taken):
        parts += [text[position : site.start], replacement]
        position = site.end
    return "".join([*parts, text[position:]])
