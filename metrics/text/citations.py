"""Which passages the parts of an answer cite, by markers such as [1], [1, 2] or [1][2]."""

import re
from typing import Literal, NamedTuple

LONGEST_RANGE = 20  # passages that [1-20] may stand for; [1990-2020] is no marker
NUMBER = r"\^?\d{1,6}(?:\s{0,3}[-–—]\s{0,3}\d{1,6})?"
MARKER = re.compile(
    rf"[\[［【]\s{{0,3}}({NUMBER}(?:\s{{0,3}}[,，、;；،؛]\s{{0,3}}{NUMBER})*)\s{{0,3}}[\]］】](?:\([^()\s]{{1,2000}}\))?"
)
CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)
BULLET = re.compile(r"(?:\A|\n)\s*(?:[-*•·]|\d{1,3}[.)])\s*$")  # of the item that the next marker begins
ENTRY = re.compile(r"(\d+)(?:\s*[-–—]\s*(\d+))?")
AFTER_A_MARKER = " \t\r\n.,;:!?…)。．，、；：！？）।।؟،؛۔"  # closes what was cited, does not begin what follows

Reading = Literal["trailing", "leading", "none"]


class CitedPart(NamedTuple):
    """A stretch of an answer, without its markers, and the numbers of the passages it cites, each once, as written."""

    text: str
    citations: tuple[int, ...]


class CitedAnswer(NamedTuple):
    """The parts of an answer, how its markers were read, and the numbers of markers without text."""

    parts: tuple[CitedPart, ...]
    reading: Reading
    stray: tuple[int, ...] = ()


def cited_parts(answer: str) -> CitedAnswer:
    """Return the parts into which citation markers divide an answer.

    A part is the text up to its markers (*trailing*). If the answer begins with a marker and every marker to its end is
    followed by text, a part is a marker's text up to the next marker (*leading*). Text without a following marker, or
    all of it if there is none, is a part without citations. Adjacent markers form one group.

    A marker contains numbers, in the digits of any script, separated by commas or semicolons, or short ranges.
    Fullwidth and lenticular brackets, [^1] and [1](link) count as well; brackets in code do not. A stretch without a
    letter or digit is no text. Linear in the length of the answer.

    >>> cited_parts("Paris is in France [1][2]. It rains [2, 3].").parts
    (CitedPart(text='Paris is in France', citations=(1, 2)), CitedPart(text='It rains', citations=(2, 3)))
    >>> cited_parts("[1] Paris is in France. [2] It rains.").reading
    'leading'
    """
    pieces = _pieces(answer)
    if not any(isinstance(piece, tuple) for piece in pieces):
        return CitedAnswer(tuple(CitedPart(piece, ()) for piece in pieces if isinstance(piece, str)), "none")
    leading = isinstance(pieces[0], tuple) and isinstance(pieces[-1], str)
    ordered = pieces if leading else pieces[::-1]  # each group of markers, then its text
    parts: list[CitedPart] = []
    waiting: tuple[int, ...] = ()
    for piece in ordered:
        if isinstance(piece, tuple):
            waiting = piece
        else:
            parts.append(CitedPart(piece, waiting))
            waiting = ()
    return CitedAnswer(tuple(parts if leading else parts[::-1]), "leading" if leading else "trailing", waiting)


def _pieces(answer: str) -> list[str | tuple[int, ...]]:
    """Return texts and groups of numbers, in the answer's order."""
    code = [match.span() for match in CODE.finditer(answer)]
    markers = []
    for match in MARKER.finditer(answer):
        while code and code[0][1] <= match.start():
            code.pop(0)
        numbers = _numbers(match[1])
        if numbers and not (code and code[0][0] < match.end()):
            markers.append((*match.span(), numbers))
    pieces: list[str | tuple[int, ...]] = []
    begin = 0
    for start, end, numbers in [*markers, (len(answer), len(answer), ())]:
        text = BULLET.sub("", answer[begin:start]).lstrip(AFTER_A_MARKER if begin else None).strip()
        if any(map(str.isalnum, text)):
            pieces.append(text)
        if pieces and isinstance(pieces[-1], tuple):
            pieces[-1] = tuple(dict.fromkeys(pieces[-1] + numbers))
        elif numbers:
            pieces.append(tuple(dict.fromkeys(numbers)))
        begin = end
    return pieces


def _numbers(inside: str) -> tuple[int, ...]:
    """Return the numbers of one marker; none if a range runs backwards or is too long."""
    numbers: list[int] = []
    for match in ENTRY.finditer(inside):
        first = int(match[1])
        last = int(match[2]) if match[2] else first
        if not first <= last < first + LONGEST_RANGE:
            return ()
        numbers += range(first, last + 1)
    return tuple(numbers)
