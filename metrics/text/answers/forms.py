"""One form for texts that are to count as equal, whatever their case, white space, punctuation and articles."""

import re
import string
import unicodedata
from dataclasses import dataclass
from typing import Literal

from metrics.core.unicode_forms import normalized

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
