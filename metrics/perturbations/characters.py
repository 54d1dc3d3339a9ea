"""Perturbations of characters: where a text can be mistyped or misread.

Digits are left alone: another number asks another question, so a model that answers it differently is not wrong.
"""

import string
import unicodedata

from metrics.perturbations.kind import FOUND, LETTERS, Kind
from metrics.perturbations.sites import IDEOGRAPH, LETTER, Site, graphemes, shape

ROWS = (("qwertyuiop", 0.0), ("asdfghjkl", 0.25), ("zxcvbnm", 0.75))  # keys, and how far right a row begins
REACH = 1.01  # keys: those beside it, and the two above and below it
CONFUSED: dict[str, str | tuple[str, ...]] = {  # what optical character recognition mistakes letters for
    "a": "o", "b": "h6", "c": "eo", "e": "c", "f": "t", "g": "q9", "h": "b", "i": "l1", "j": "i", "l": "1I",
    "m": ("rn",), "n": "r", "o": "0c", "q": "g9", "r": "n", "s": "5", "t": "f", "u": "v", "v": "u",
    "w": ("vv",), "z": "2", "B": "8", "C": "G", "D": "O0", "E": "F", "F": "P", "G": "C6", "I": "l1", "O": "0Q",
    "Q": "O", "S": "5", "T": "I", "U": "V", "V": "U", "Z": "2", "rn": "m", "cl": "d", "vv": "w", "ri": "n", "li": "h",
}  # fmt: skip
EXCHANGED = str.maketrans("yzYZ", "zyZY")


def _neighbours() -> dict[str, str]:
    """Return each letter's neighbours on a QWERTY keyboard."""
    keys = {key: (offset + place, height) for height, (row, offset) in enumerate(ROWS) for place, key in enumerate(row)}
    return {
        key: "".join(
            other
            for other, (there, low) in keys.items()
            if other != key and abs(low - high) <= 1 and abs(there - here) < REACH
        )
        for key, (here, high) in keys.items()
    }


NEIGHBOURS = _neighbours()


def deletions(text: str) -> list[Site]:
    """Return each letter, to be deleted."""
    return [Site(start, end, ("",)) for start, end in graphemes(text)]


def insertions(text: str) -> list[Site]:
    """Return the place after each letter, where a letter of its script can be inserted."""
    return [Site(end, end, choices) for _, end, choices in _letters(text)]


def replacements(text: str) -> list[Site]:
    """Return each letter, with the other letters of its script that can replace it."""
    sites = []
    for start, end, choices in _letters(text):
        others = tuple(letter for letter in choices if letter != text[start:end])
        if others:
            sites.append(Site(start, end, others))
    return sites


def any_changes(text: str) -> list[Site]:
    """Return deletions, insertions and replacements together, a third each."""
    return [site for three in zip(deletions(text), insertions(text), strict=True) for site in three] + replacements(
        text
    )


def typos(text: str) -> list[Site]:
    """Return each letter that is on a QWERTY keyboard, with its neighbours there."""
    sites = []
    for place, letter in enumerate(text):
        if near := NEIGHBOURS.get(letter):
            sites.append(Site(place, place + 1, tuple(near)))
        elif near := NEIGHBOURS.get(letter.lower()):
            sites.append(Site(place, place + 1, tuple(near.upper())))
    return sites


def misreadings(text: str) -> list[Site]:
    """Return each letter or pair of letters that looks like another, with what it can be misread as."""
    return [
        Site(place, place + len(part), tuple(CONFUSED[part]))
        for place in range(len(text))
        for part in dict.fromkeys((text[place], text[place : place + 2]))
        if part in CONFUSED
    ]


def exchanges(text: str) -> list[Site]:
    """Return each y with z in its place, and each z with y: the key of the other layout, QWERTY or QWERTZ."""
    return [
        Site(place, place + 1, (letter.translate(EXCHANGED),)) for place, letter in enumerate(text) if letter in "yzYZ"
    ]


def _letters(text: str) -> list[tuple[int, int, tuple[str, ...]]]:
    """Return each letter's span and its replacements: a … z in its case, or the text's letters of its script."""
    seen = shape(text)
    own: dict[str, set[str]] = {LETTER: set(), IDEOGRAPH: set()}
    spans = [(start, end, _is_latin(text[start])) for start, end in graphemes(text)]
    for start, end, latin in spans:
        if not latin:
            own[seen[start]].add(text[start:end])
    alphabets = {kind: tuple(sorted(letters)) for kind, letters in own.items()}
    latins = {False: tuple(string.ascii_lowercase), True: tuple(string.ascii_uppercase)}
    return [
        (start, end, latins[text[start].isupper()] if latin else alphabets[seen[start]]) for start, end, latin in spans
    ]


def _is_latin(letter: str) -> bool:
    return unicodedata.normalize("NFD", letter)[0] in string.ascii_letters


CHARACTER_KINDS = (
    Kind(
        "character", "Any character", "Letters left out, put in or replaced, at random", any_changes,
        (LETTERS[0] / 3, LETTERS[1] / 3, LETTERS[2] / 3),
    ),
    Kind("character_delete", "Characters deleted", "Letters left out", deletions),
    Kind("character_insert", "Characters inserted", "Extra letters", insertions),
    Kind("character_replace", "Characters replaced", "Letters replaced by others", replacements),
    Kind("keyboard", "Keyboard typos", "Letters replaced by their neighbours on the keyboard", typos),
    Kind("ocr", "OCR errors", "Letters misread: l as 1, rn as m", misreadings),
)  # fmt: skip
LAYOUT = Kind("yz", "y and z exchanged", "y typed as z and z as y, as on the other layout", exchanges, FOUND)
