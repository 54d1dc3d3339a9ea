"""Where a text holds a known value, such as a key: encoded, in another case, reversed, broken, or in part."""

import base64
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from html import unescape
from itertools import accumulate
from math import ceil

ANCHOR = 12  # letters and digits in a row by which a value is known: any piece of twice as many has one
LONG_WORDS = 20  # letters of a value without a digit, which may be words, from which its pieces are known
# Characters that are written in another way, whatever the text they stand in; however often it was escaped.
ESCAPED = re.compile(
    r"%(?:25)*(?P<percent>[0-9A-Fa-f]{2})|=(?P<printable>[0-9A-F]{2})|\\+x(?P<byte>[0-9A-Fa-f]{2})"
    r"|\\+u(?P<unicode>[0-9A-Fa-f]{4})|\\+u\{0*(?P<point>[0-9A-Fa-f]{1,5})\}|&(?:amp;)*\#[xX]0*(?P<hex>[0-9A-Fa-f]{1,5});?"
    r"|&(?:amp;)*\#0*(?P<decimal>[0-9]{1,6});?|\\+(?P<octal>[0-7]{3})|(?P<entity>&[A-Za-z]{2,30};)"
    r"|(?P<end>\\+[nrt]|<br ?/?>)"
)
BASES = {"percent": 16, "printable": 16, "byte": 16, "unicode": 16, "point": 16, "hex": 16, "decimal": 10, "octal": 8}
RUN = re.compile(r"[A-Za-z0-9]+")


def hidden_places(text: str, values: Sequence[str]) -> list[tuple[int, int]]:
    """Return where `text` [start, end) holds one of these values or a long piece of one, in order, without overlaps.

    Letters and digits are compared, in any case, with whatever signs, spaces and line ends between them, and with the
    characters as they are or escaped (of URLs, HTML, JSON, Python, quoted-printable): those of the value, of the value
    reversed, and of its hexadecimal, decimal, base32 and base64 forms, in UTF-8 and UTF-16. Time is linear in the text.
    """
    forms = _forms(tuple(values))
    found: set[tuple[int, int]] = set()
    for letters in _readings(text) if forms else ():
        for form in forms:
            found.update(letters.place(first, last) for first, last in _occurrences(letters.text, form))
    merged: list[tuple[int, int]] = []
    for start, end in sorted(found):
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return merged


class _Letters:
    """The letters and digits of a text, in small letters, and the places that they have there.

    pieces: each the letters, and its start and end in the text; an escaped character is a piece of its own.
    """

    def __init__(self, pieces: Sequence[tuple[str, int, int]]):
        self.text = "".join(letters for letters, _, _ in pieces).lower()
        self._pieces = pieces
        self._starts = [0, *accumulate(len(letters) for letters, _, _ in pieces)]

    def place(self, first: int, last: int) -> tuple[int, int]:
        """Return where the letters from `first` to before `last` stand in the text."""
        return self._place(first)[0], self._place(last - 1)[1]

    def _place(self, letter: int) -> tuple[int, int]:
        piece = bisect_right(self._starts, letter) - 1
        letters, start, end = self._pieces[piece]
        if end - start != len(letters):
            return start, end
        return start + letter - self._starts[piece], start + letter - self._starts[piece] + 1


def _readings(text: str) -> Iterator[_Letters]:
    """Yield the letters of a text as it is, and with what is escaped in it read."""
    yield _Letters([(run[0], run.start(), run.end()) for run in RUN.finditer(text)])
    if ESCAPED.search(text):
        yield _Letters(list(_unescaped(text)))


def _unescaped(text: str) -> Iterator[tuple[str, int, int]]:
    begin = 0
    for match in (*ESCAPED.finditer(text), None):
        stop = len(text) if match is None else match.start()
        yield from ((run[0], run.start(), run.end()) for run in RUN.finditer(text, begin, stop))
        if match is not None:
            begin, kind = match.end(), match.lastgroup or "end"
            code = int(match[kind], BASES[kind]) if kind in BASES else 0
            letter = chr(code) if 0 < code < 128 else unescape(match[0]) if kind == "entity" else ""
            if RUN.fullmatch(letter):
                yield letter, *match.span()


def _occurrences(text: str, form: str) -> Iterator[tuple[int, int]]:
    """Yield where `text` holds pieces of a form, found by its first, last and every ANCHOR characters."""
    for at in sorted({*range(0, len(form) - ANCHOR + 1, ANCHOR), len(form) - ANCHOR}):
        place = 0
        while (first := text.find(form[at : at + ANCHOR], place)) >= 0:
            last, before, after = first + ANCHOR, at, at + ANCHOR
            while before and first and form[before - 1] == text[first - 1]:
                first, before = first - 1, before - 1
            while after < len(form) and last < len(text) and form[after] == text[last]:
                last, after = last + 1, after + 1
            yield first, last
            place = last


@lru_cache(maxsize=8)
def _forms(values: tuple[str, ...]) -> list[str]:
    """Return the letters and digits of what stands for values that are neither short nor plain words."""
    found: dict[str, None] = {}
    for value in values:
        data = value.encode("utf-8", "surrogateescape")
        plain = _letters(value)
        if any(map(str.isdigit, plain)) or len(plain) >= LONG_WORDS:
            found |= dict.fromkeys((plain, plain[::-1]))
        found |= dict.fromkeys(("".join(map(str, data)), "".join(f"0x{byte:02x}" for byte in data)))
        for units in (data, value.encode("utf-16-le", "surrogatepass")):  # big-endian ones are the same but for an end
            encoded = (*_windows(units, base64.b32encode, 5, 5), *_windows(units, base64.b64encode, 6, 3))
            found |= dict.fromkeys((units.hex(), *map(_letters, encoded)))
    return [form for form in found if len(form) >= ANCHOR]


def _letters(text: str) -> str:
    return "".join(RUN.findall(text)).lower()


def _windows(data: bytes, encode: Callable[[bytes], bytes], bits: int, group: int) -> Iterator[str]:
    """Yield what an encoding of so many bits a character makes of bytes, wherever in a group of bytes they begin."""
    for before in range(group):
        whole = encode(b"\0" * before + data).decode()
        yield whole[ceil(8 * before / bits) : 8 * (before + len(data)) // bits]
