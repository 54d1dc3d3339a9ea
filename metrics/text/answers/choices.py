"""The letter that an answer to a multiple-choice question chooses."""

import re
from typing import NamedTuple

from metrics.text.answers.forms import without_ends

MAX_SEARCHED = 2_000  # characters of an answer that are searched, from either end
MARKED = r"[*_`]{0,3}[(\[]?\s?(?P<letter>[A-Z])\s?[)\]]?[*_`]{0,3}"
WHOLE = re.compile(r"[(\[]?\s?(?P<letter>[A-Za-z])\s?[)\]]?")
BEGINNING = re.compile(
    r"\s*[*_`]{0,3}(?:[(\[](?P<bracketed>[A-Za-z])[)\]]|(?P<letter>[A-Za-z])\s?[).:])(?P<text>.*)", re.DOTALL
)
STATED = re.compile(
    r"\b(?:answer|choice|option|choose|pick|select)\b(?:\s+(?:option|choice|answer|letter))?"
    rf"(?:\s+(?:is|was|must be|would be|should be))?\s*[:=]?\s*{MARKED}(?![\w'’])"
    r"|\\boxed\{\s*(?:\\text\{)?\(?(?P<boxed>[A-Z])\)?\s*\}",
    re.IGNORECASE,
)
NAMED = re.compile(rf"\s*{MARKED}\s+is\s+(?:the\s+)?(?:correct|right|best|answer)\b")
ANOTHER = re.compile(
    r"[*_`]{0,3}\s*(?:,\s*|/\s*|\bor\b\s*|\band\b\s*|&\s*)(?:or\s+|and\s+)?(?:option\s+)?[(\[]?[A-Za-z](?![\w'’])"
)


class Choice(NamedTuple):
    """The letter that is chosen, upper case, and the text given with it ("" for none)."""

    letter: str
    text: str = ""


def choice(answer: str) -> Choice | None:
    r"""Return the letter that a whole answer chooses; None where it chooses none, or several.

    It is the whole answer ("b", "(B)", "**B**."), stands at its beginning with a bracket, point or colon ("B) Paris"),
    or is said to be the answer ("The answer is B", "I choose option (B) because …", "B is correct", \boxed{B}); of
    several statements the last counts. Letters joined by "or", "and" or a comma choose nothing.

    >>> choice("The correct answer is (B).")
    Choice(letter='B', text='')
    """
    bare = without_ends(answer)
    if whole := WHOLE.fullmatch(bare):
        return Choice(whole["letter"].upper())
    end = answer[-MAX_SEARCHED:]
    stated = [
        letter
        for found in STATED.finditer(end)
        if (letter := found["boxed"] or found["letter"]).isupper() and not ANOTHER.match(end, found.end())
    ]
    if stated:
        return Choice(stated[-1])
    if named := NAMED.match(answer):
        return Choice(named["letter"])
    begun = BEGINNING.match(answer[:MAX_SEARCHED])
    if begun and not ANOTHER.match(begun["text"]):
        return Choice((begun["bracketed"] or begun["letter"]).upper(), without_ends(begun["text"]))
    return None
