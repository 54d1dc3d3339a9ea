"""Perturbations of words: where a text can be reworded, with the same, another or the opposite meaning."""

import re
from itertools import pairwise

from metrics.perturbations.kind import FOUND, WORDS, Kind
from metrics.perturbations.lexicon import Lexicon, antonyms, synonyms
from metrics.perturbations.sites import Site, words

BLANKS = re.compile(r"[^\S\r\n]*")
WIDE_COMMA = "，"
NEAR = 3  # characters beside a place that bear on where its words end
ARTICLE = re.compile(r"\b(an?) $", re.IGNORECASE)
SOUNDS_LIKE_CONSONANT = ("uni", "use", "usu", "uti", "eu", "one")
SOUNDS_LIKE_VOWEL = ("hon", "hour", "heir")


def swaps(text: str) -> list[Site]:
    """Return each two neighbouring words in the other order, except across punctuation or where words would merge."""
    spans = words(text)
    sites = []
    for (start, end), (begin, stop) in pairwise(spans):
        one, between, other = text[start:end], text[end:begin], text[begin:stop]
        swapped = other + between + one
        beside = text[max(0, start - NEAR) : start], text[stop : stop + NEAR]
        if one != other and BLANKS.fullmatch(between) and _apart(beside[0], swapped, beside[1]):
            sites.append(Site(start, stop, (swapped,)))
    return sites


def _apart(*parts: str) -> bool:
    """Return whether the parts, joined, have only their own words: some scripts have no blanks between words."""
    return sum(len(words(part)) for part in parts) == len(words("".join(parts)))


def commas(text: str) -> list[Site]:
    """Return the place after each word that another follows after a blank, or directly in scripts without blanks."""
    spans = words(text)
    sites = []
    for (_, end), (begin, _) in pairwise(spans):
        if begin == end:
            sites.append(Site(end, end, (WIDE_COMMA,)))
        elif BLANKS.fullmatch(text[end:begin]):
            sites.append(Site(end, end, (",",)))
    return sites


def _exchanged(lexicon: Lexicon, text: str) -> list[Site]:
    """Return each word in the lexicon with its replacements, in its case; `a` or `an` before it is adapted."""
    sites = []
    for start, end in words(text):
        word = text[start:end]
        others = lexicon.get(word.casefold())
        if others is None:
            continue
        choices = [_in_case_of(word, other) for other in others]
        article = ARTICLE.search(text, max(0, start - 4), start)
        if article is not None:
            start = article.start()
            choices = [f"{_in_case_of(article[1], _article(other))} {other}" for other in choices]
        sites.append(Site(start, end, tuple(choices)))
    return sites


def synonym_sites(text: str) -> list[Site]:
    """Return each word that has a synonym."""
    return _exchanged(synonyms(), text)


def antonym_sites(text: str) -> list[Site]:
    """Return each word that has an antonym."""
    return _exchanged(antonyms(), text)


def _in_case_of(word: str, other: str) -> str:
    if len(word) > 1 and word.isupper():
        return other.upper()
    return other[:1].upper() + other[1:] if word[:1].isupper() else other


def _article(word: str) -> str:
    low = word.lower()
    vowel = low.startswith(("a", "e", "i", "o", "u")) and not low.startswith(SOUNDS_LIKE_CONSONANT)
    return "an" if vowel or low.startswith(SOUNDS_LIKE_VOWEL) else "a"


WORDING_KINDS = (
    Kind("word_swap", "Words swapped", "Neighbouring words in the other order", swaps, WORDS),
    Kind("comma", "Commas", "Commas where none belong", commas, WORDS),
    Kind("synonym", "Synonyms", "English words replaced by synonyms", synonym_sites, FOUND),
    Kind(
        "antonym", "Antonyms", "English words replaced by their opposites, which reverses the meaning",
        antonym_sites, FOUND, keeps_meaning=False,
    ),
)  # fmt: skip
