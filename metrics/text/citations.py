"""Which passages the parts of an answer cite, by markers such as [1], [1, 2], [1][2] or, by its id, [doc-3]."""

import re
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

LONGEST_RANGE = 20  # passages that [1-20] may stand for; [1990-2020] is no marker
LONGEST_ID = 200  # characters; no marker is longer
BLANKS = r"[\s\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]{0,3}"  # marks of writing direction are no text
OPEN, CLOSE, BETWEEN = r"[\[［【]", r"[\]］】]", r"[,，、;；،؛]"
NUMBERS = rf"\^?(\d{{1,6}})(?:{BLANKS}[-–—]{BLANKS}(\d{{1,6}}))?"  # one, or a range
MOST_ENTRIES = 1_000  # of a marker
CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)
BULLET = re.compile(r"(?:\A|\n)[^\S\n]*(?:[-*•·]|\d{1,3}[.)])\s*$")  # of the item that the next marker begins
AFTER_A_MARKER = " \t\r\n.,;:!?…)。．，、；：！？）।।؟،؛۔"  # closes what was cited, does not begin what follows

Reading = Literal["trailing", "leading", "none"]


class CitedPart(NamedTuple):
    """A stretch of an answer, without its markers, and the names of the passages it cites, each once, in order."""

    text: str
    citations: tuple[str, ...]


class CitedAnswer(NamedTuple):
    """The parts of an answer, how its markers were read, and the names in markers without text."""

    parts: tuple[CitedPart, ...]
    reading: Reading
    stray: tuple[str, ...] = ()


def passage_names(count: int, ids: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the name of each of `count` passages: its id without brackets around it, or its number where none has one.

    A passage without an id among others that have one is "": no marker can name it.
    """
    names = [_bare(id) for id in ids[:count]]
    if not any(names):
        return tuple(str(number) for number in range(1, count + 1))
    return (*names, *[""] * (count - len(names)))


def cited_parts(answer: str, ids: Sequence[str] = ()) -> CitedAnswer:
    """Return the parts into which citation markers divide an answer.

    A part is the text up to its markers (*trailing*). If the answer begins with a marker and every marker to its end is
    followed by text, a part is a marker's text up to the next marker (*leading*). Text without a following marker, or
    all of it if there is none, is a part without citations. Adjacent markers form one group.

    A marker contains `ids` of passages, or numbers in the digits of any script, separated by commas or semicolons, or
    short ranges of numbers. A number means the passage with that id, however many zeros begin it; where no id has it,
    it is a name of its own, "7". Fullwidth and lenticular brackets, [^1] and [1](link) count as well; brackets in code
    do not, nor do those around anything but ids and numbers. A stretch without a letter or digit is no text. Linear in
    the length of the answer.

    >>> cited_parts("Paris is in France [1][2]. It rains [2, 3].").parts
    (CitedPart(text='Paris is in France', citations=('1', '2')), CitedPart(text='It rains', citations=('2', '3')))
    >>> cited_parts("[1] Paris is in France. [2] It rains.").reading
    'leading'
    >>> cited_parts("Seven [doc-3], and more [see above].", ["doc-3"]).parts[0]
    CitedPart(text='Seven', citations=('doc-3',))
    """
    pieces = _pieces(answer, _Markers(ids))
    if not any(isinstance(piece, tuple) for piece in pieces):
        return CitedAnswer(tuple(CitedPart(piece, ()) for piece in pieces if isinstance(piece, str)), "none")
    leading = isinstance(pieces[0], tuple) and isinstance(pieces[-1], str)
    ordered = pieces if leading else pieces[::-1]  # each group of markers, then its text
    parts: list[CitedPart] = []
    waiting: tuple[str, ...] = ()
    for piece in ordered:
        if isinstance(piece, tuple):
            waiting = piece
        else:
            parts.append(CitedPart(piece, waiting))
            waiting = ()
    return CitedAnswer(tuple(parts if leading else parts[::-1]), "leading" if leading else "trailing", waiting)


class _Markers:
    """The markers that an answer may contain, given the ids of its passages."""

    def __init__(self, ids: Iterable[str]):
        known = [name for name in dict.fromkeys(map(_bare, ids)) if 0 < len(name) <= LONGEST_ID]
        self._numbered: dict[int, str] = {}
        for name in known:
            if name.isdecimal():
                self._numbered.setdefault(int(name), name)
        spelled = "|".join(map(re.escape, sorted(known, key=len, reverse=True))) or "(?!)"
        # the longest id counts, and what was read as an entry is not read in another way: linear in the answer
        entry = rf"(?>\^?({spelled})(?={BLANKS}(?:{BETWEEN}|{CLOSE}|\Z))|{NUMBERS})"
        self.pattern = re.compile(
            rf"{OPEN}{BLANKS}(?P<inside>{entry}(?:{BLANKS}{BETWEEN}{BLANKS}{entry}){{0,{MOST_ENTRIES}}}+){BLANKS}{CLOSE}"
            r"(?:\([^()\s]{1,2000}\))?"
        )
        self._entry = re.compile(entry)

    def names(self, inside: str) -> tuple[str, ...]:
        """Return the names in one marker; none if a range runs backwards or is too long."""
        names: list[str] = []
        for match in self._entry.finditer(inside):
            id, begin, end = match.groups()
            first = 0 if id else int(begin)
            last = int(end) if end else first
            if not first <= last < first + LONGEST_RANGE:
                return ()
            names += [id] if id else [self._numbered.get(number, str(number)) for number in range(first, last + 1)]
        return tuple(names)


def _bare(id: str | None) -> str:
    """Return an id as a marker holds it: without blanks around it and one pair of brackets."""
    text = (id or "").strip()
    return text[1:-1].strip() if re.fullmatch(rf"{OPEN}.*{CLOSE}", text, re.DOTALL) else text


def _pieces(answer: str, markers_of: _Markers) -> list[str | tuple[str, ...]]:
    """Return texts and groups of names, in the answer's order."""
    code = [match.span() for match in CODE.finditer(answer)]
    markers = []
    for match in markers_of.pattern.finditer(answer):
        while code and code[0][1] <= match.start():
            code.pop(0)
        names = markers_of.names(match["inside"])
        if names and not (code and code[0][0] < match.end()):
            markers.append((*match.span(), names))
    pieces: list[str | tuple[str, ...]] = []
    begin = 0
    for start, end, names in [*markers, (len(answer), len(answer), ())]:
        text = BULLET.sub("", answer[begin:start]).lstrip(AFTER_A_MARKER if begin else None).strip()
        if any(map(str.isalnum, text)):
            pieces.append(text)
        if pieces and isinstance(pieces[-1], tuple):
            pieces[-1] = tuple(dict.fromkeys(pieces[-1] + names))
        elif names:
            pieces.append(tuple(dict.fromkeys(names)))
        begin = end
    return pieces
