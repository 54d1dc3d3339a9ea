"""Forms of answers: one for texts that are to count as equal, the part of an output that is its answer, equal JSON."""

import re
import string
import unicodedata
from collections import deque
from dataclasses import dataclass
from typing import Literal

from metrics.core.unicode_forms import normalized
from metrics.text.code_blocks import JSON, code_of
from metrics.text.json_text import JsonError, identity, read_json
from metrics.text.patterns import compiled

Punctuation = Literal["keep", "ends", "all"]
UnicodeForm = Literal["none", "NFC", "NFKC"]
Normalise = Literal["none", "basic"]
NORMALISED = (
    "none: texts count as they are; basic: as Whisper's evaluation compares them in all languages, lower case, without "
    "what stands in brackets, and without punctuation and symbols; numbers stay as they were written."
)
ARTICLES = re.compile(r"\b(?:a|an|the)\b", re.IGNORECASE)
# what may stand around a whole answer without being part of it: sentence ends, quotes, brackets, marks of emphasis
ENDS = ".,;:!?…。、，；：！？\"'`´‘’‚‛“”„‟«»‹›()[]{}（）「」『』【】《》*_ \t\r\n"
PAIRS = {")": "(", "]": "[", "}": "{"}  # which stay where the other half is within: f(x)


class _Without(dict[int, int | None]):
    """A table of str.translate that leaves out ASCII punctuation and what Unicode calls punctuation."""

    def __missing__(self, code: int) -> int | None:
        own = chr(code)
        left_out = own in string.punctuation or unicodedata.category(own).startswith("P")
        self[code] = None if left_out else code
        return self[code]


WITHOUT_PUNCTUATION = _Without()
WITHOUT_ASCII_PUNCTUATION = str.maketrans("", "", string.punctuation)
UNSEEN = dict.fromkeys(map(ord, "\u00ad\u200b\u200e\u200f\u2060\ufeff"))  # soft hyphens, marks and spaces without width


@dataclass(frozen=True, slots=True)
class AnswerForm:
    """What does not count when two answers are compared."""

    case: bool = True
    white_space: bool = True
    punctuation: Punctuation = "ends"
    articles: bool = False
    unicode: UnicodeForm = "NFKC"

    def of(self, text: str) -> str:
        """Return the form of `text` that is compared; a text of nothing but what is left out stays as it is.

        >>> AnswerForm(punctuation="all", articles=True).of("The  U.S. Senate!")
        'us senate'
        """
        made = text if self.unicode == "none" else normalized(self.unicode, text)
        if self.unicode == "NFKC":
            made = made.translate(UNSEEN)
        if self.case:
            made = made.casefold()
        if self.punctuation == "ends":
            made = without_ends(made)
        elif self.punctuation == "all":
            made = made.translate(WITHOUT_PUNCTUATION)
        if self.articles:
            made = ARTICLES.sub(" ", made)
        if self.white_space or self.articles:
            made = " ".join(made.split())
        return made or text.strip()


def without_ends(text: str) -> str:
    """Return `text` without white space, sentence ends, quotes, brackets and emphasis around it.

    A bracket stays where its other half is within, and so does a point before a digit.

    >>> [without_ends(text) for text in ("**Paris**.", "f(x)", "“.5”")]
    ['Paris', 'f(x)', '.5']
    """
    opened = {closing: text.find(opening, 1) for closing, opening in PAIRS.items()}  # the first one within
    end = len(text)
    while end and text[end - 1] in ENDS and not 0 < opened.get(text[end - 1], -1) < end:
        end -= 1
    closed = {opening: text.rfind(closing, 0, end) for closing, opening in PAIRS.items()}  # and the last one
    start = 0
    while start < end and text[start] in ENDS:
        point = text[start] == "." and text[start + 1 : start + 2].isdigit()
        if point or closed.get(text[start], -1) > start:
            break
        start += 1
    return text[start:end]


def squad_form(text: str) -> str:
    """Return the form that SQuAD's evaluation compares: lower case, without ASCII punctuation and English articles.

    >>> squad_form("The U.S. Senate,  a house")
    'us senate house'
    """
    bare = text.lower().translate(WITHOUT_ASCII_PUNCTUATION)
    return " ".join(_SQUAD_ARTICLES.sub(" ", bare).split())


_SQUAD_ARTICLES = re.compile(r"\b(?:a|an|the)\b")


def whisper_form(text: str) -> str:
    """Return the form of a transcript that Whisper's evaluation compares in all languages (BasicTextNormalizer).

    Lower case and NFKC, without what stands in brackets; marks, symbols and punctuation become blanks, which leaves
    numbers as they were written. Of scripts that write vowels as marks, such as Devanagari, this parts words.

    >>> whisper_form("[noise] Mr. Brown's (uh) café: 3.5 €")
    'mr brown s café 3 5'
    """
    spoken = _WHISPER_ASIDES.sub("", text.lower())
    plain = (" " if unicodedata.category(one)[0] in "MSP" else one for one in unicodedata.normalize("NFKC", spoken))
    return " ".join("".join(plain).lower().split())


_WHISPER_ASIDES = re.compile(r"[<\[][^>\]]*[>\]]|\([^)]+?\)")

Which = Literal["first", "last"]
SEARCHED = 10_000  # characters from the end for the last match: to find all can take a step for each pair of them
BOXED = ("\\boxed", "\\fbox")
WORDS = re.compile(r"\A\\(?:text(?:bf|it|rm)?|mathrm|mbox)\{([^{}]*[^\W\d_]{2}[^{}]*)\}\Z")  # of a box that holds words


def matched(pattern: str, text: str, which: Which = "last") -> str | None:
    """Return what the first or the last match of an expression (RE2) holds, without white space around it.

    That is its first group with a text, or the whole match where it has no groups; None without a match. Matches do not
    overlap. The last one is looked for in the last SEARCHED characters.

    >>> matched("#### (.+)", "6 · 7 is 42.\\n#### 42")
    '42'
    """
    expression = compiled(pattern)
    if which == "first":
        match = expression.search(text)
    else:
        match = next(iter(deque(expression.finditer(text[-SEARCHED:]), 1)), None)
    if match is None:
        return None
    return next(filter(None, match.groups() or [match.group()]), "").strip()


def boxed(text: str) -> str | None:
    r"""Return what is in the last \boxed{…} or \fbox{…} of a text, braces within it included; None without one.

    One that is not closed is none.

    >>> boxed(r"So it is \boxed{\frac{1}{2}}.")
    '\\frac{1}{2}'
    """
    end = text[-SEARCHED:]
    start = max(end.rfind(name + "{") for name in BOXED)
    if start < 0:
        return None
    start = end.index("{", start)
    depth = 0
    for place in range(start, len(end)):
        depth += {"{": 1, "}": -1}.get(end[place], 0)
        if not depth:
            return WORDS.sub(r"\1", end[start + 1 : place].strip())
    return None


def same_json(made: str, wanted: str) -> bool:
    """Return whether two texts hold equal JSON objects or arrays, with or without a fence and text around it.

    Numbers are equal by value, and texts in Unicode's form NFC.

    >>> same_json('Here: ```json {"b": 1.0, "a": "x"}```', '{"a": "x", "b": 1}')
    True
    """
    values = [_read(normalized("NFC", text)) for text in (wanted, made)]
    return None not in values and identity(values[0]) == identity(values[1])


def _read(text: str) -> object:
    bare = code_of(text, JSON, "last").strip()
    if not bare.endswith(("}", "]")) or not bare.startswith(("{", "[")):
        return None
    try:
        value = read_json(bare).value
    except JsonError:
        return None
    return value if isinstance(value, dict | list) else None
