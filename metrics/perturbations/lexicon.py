"""Words and their replacements: synonyms and antonyms of English, from two lists that are part of Assay.

The lists are short on purpose: a word is listed only where its group fits most of its uses, since the sense in which a
text uses a word is not known. Synonym databases that know senses are large, and have to be downloaded.
"""

from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent
NOUN, VERB = "n", "v"
HISSING = ("s", "x", "z", "ch", "sh")
VOWELS = "aeiou"

Lexicon = dict[str, tuple[str, ...]]  # a word in lower case in one of its forms → its replacements in the same form


@cache
def synonyms() -> Lexicon:
    """Return each form of each word of a group with the same form of the others."""
    found: Lexicon = {}
    for kind, text in _lines("synonyms.txt"):
        words = [_forms(kind, word) for word in text.split()]
        for word in words:
            for place, form in enumerate(word):
                # forms with the same spelling ("hurt") count as the first, the infinitive
                found.setdefault(form, tuple(other[place] for other in words if other is not word))
    return found


@cache
def antonyms() -> Lexicon:
    """Return each form of each word of one side with the same form of the words of the other."""
    found: Lexicon = {}
    for kind, text in _lines("antonyms.txt"):
        one, other = ([_forms(kind, word) for word in side.split()] for side in text.split("|"))
        for words, opposites in ((one, other), (other, one)):
            for word in words:
                for place, form in enumerate(word):
                    found.setdefault(form, tuple(opposite[place] for opposite in opposites))
    return found


def _lines(name: str) -> list[tuple[str, str]]:
    """Return the lines of a list: how its words are inflected, and the words."""
    lines = (FOLDER / name).read_text(encoding="utf-8").splitlines()
    return [(line[0], line[2:]) for line in lines if not line.startswith("#")]


def _forms(kind: str, word: str) -> tuple[str, ...]:
    """Return a noun's singular and plural; a verb's infinitive, third person, past and participle; or the word."""
    spelled = tuple(form.replace("_", " ") for form in word.split("/"))
    if kind == NOUN:
        return spelled if len(spelled) == 2 else (spelled[0], _with_s(spelled[0]))
    if kind == VERB and len(spelled) == 1:
        return (spelled[0], _with_s(spelled[0]), _past(spelled[0]), _participle(spelled[0]))
    return spelled


def _with_s(word: str) -> str:
    if word.endswith(HISSING):
        return word + "es"
    return word[:-1] + "ies" if _ends_in_consonant_y(word) else word + "s"


def _past(word: str) -> str:
    if word.endswith("e"):
        return word + "d"
    return word[:-1] + "ied" if _ends_in_consonant_y(word) else word + "ed"


def _participle(word: str) -> str:
    if word.endswith("e") and not word.endswith(("ee", "oe", "ye")):
        return word[:-1] + "ing"
    return word + "ing"


def _ends_in_consonant_y(word: str) -> bool:
    return word.endswith("y") and word[-2:-1] not in VOWELS
