r"""Text written as codes of its characters: \x41, \u0041, %41, &#65;, binary, decimal, octal, tag characters.

Each finder yields characters from–to of a text and what they stand for, in order. Linear in the text.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from html import unescape
from urllib.parse import unquote_to_bytes

Coded = Iterator[tuple[int, int, str]]

ESCAPE = re.compile(r"\\x[0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}|\\u\{[0-9A-Fa-f]{1,6}\}|\\U[0-9A-Fa-f]{8}")
PERCENT = re.compile(r"%[0-9A-Fa-f]{2}")
ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z]{2,10});")
BEFORE = re.compile(r"[\w.+~-]*\Z", re.ASCII)  # letters in the clear amid codes belong to the part
AFTER = re.compile(r"[\w.+~@-]{0,64}", re.ASCII)
MOST_PLAIN = 64  # of them at either end, and between two codes
BETWEEN = re.compile(r"[\w.+~@-]{0,64}|[ ]", re.ASCII)
BINARY = re.compile(r"(?<![0-9])[01]{8}(?:[ ,;]?[ ]?[01]{8}){5,}+(?![0-9])")
NUMBERS = re.compile(r"(?<![0-9.,-])[0-9]{2,3}(?:(?:, ?|; ?|[ .-])[0-9]{2,3}){7,}+(?![0-9.,-]*[0-9])")
OCTAL = re.compile(
    r"(?<![0-9])(?:\\[0-3][0-7]{2}){4,}+|(?<![0-9.,-])[01][0-7]{2}(?:(?:, ?|[ ])[01][0-7]{2}){7,}+(?![0-9])"
)
TAGS = re.compile("[\U000e0020-\U000e007e]{4,}")
FIRST_TAG = 0xE0000
LAST_ASCII = 126
LEAST_LOWER = 0.5  # small letters, of what decimal and octal numbers stand for: capitals are numbers by chance


def escapes(text: str) -> Coded:
    r"""Yield parts with \x41, \u0041, \u{41} or \U00000041 in them; \x is a byte of UTF-8 where that can be."""
    return _runs(text, ESCAPE, _unescaped)


def percents(text: str) -> Coded:
    """Yield parts with %41 in them, as in URLs, if their bytes are UTF-8."""
    return _runs(text, PERCENT, lambda run: unquote_to_bytes(run).decode())


def entities(text: str) -> Coded:
    """Yield parts with &#65;, &#x41; or &commat; in them."""
    return _runs(text, ENTITY, unescape)


def binary(text: str) -> Coded:
    """Yield runs of at least six bytes of eight binary digits that are UTF-8."""
    return _numbers(text, BINARY, r"[01]{8}", 2, None)


def decimal(text: str) -> Coded:
    """Yield runs of at least eight numbers that are codes of ASCII text in which small letters prevail."""
    return _numbers(text, NUMBERS, r"\d+", 10, LEAST_LOWER)


def octal(text: str) -> Coded:
    r"""Yield runs of \101 or of at least eight octal numbers of three digits, as `decimal`."""
    return _numbers(text, OCTAL, r"[0-7]{3}", 8, LEAST_LOWER)


def tags(text: str) -> Coded:
    """Yield runs of Unicode's tag characters, which are invisible copies of ASCII."""
    for run in TAGS.finditer(text):
        yield *run.span(), "".join(chr(ord(character) - FIRST_TAG) for character in run[0])


def _runs(text: str, code: re.Pattern[str], decode: Callable[[str], str]) -> Coded:
    """Yield codes that follow each other, with the letters between and around them that are in the clear."""
    start = end = -1
    for found in [*code.finditer(text), None]:
        if found and start >= 0 and found.start() - end <= MOST_PLAIN and BETWEEN.fullmatch(text, end, found.start()):
            end = found.end()
            continue
        if start >= 0:
            yield from _widened(text, start, end, decode)
        if found:
            start, end = found.span()


def _widened(text: str, start: int, end: int, decode: Callable[[str], str]) -> Coded:
    before = BEFORE.search(text, max(0, start - MOST_PLAIN), start)
    after = AFTER.match(text, end)
    first, last = before.start() if before else start, after.end() if after else end
    try:
        yield first, last, decode(text[first:last])
    except (ValueError, OverflowError):
        return


def _unescaped(run: str) -> str:
    def character(found: re.Match[str]) -> str:
        return chr(int(found[0][2:].strip("{}"), 16))

    plain = ESCAPE.sub(character, run)
    if "\\u" not in run.lower():
        try:
            return plain.encode("latin-1").decode()
        except ValueError:
            return plain
    return plain.encode("utf-16", "surrogatepass").decode("utf-16")


def _numbers(text: str, run: re.Pattern[str], digits: str, base: int, least_lower: float | None) -> Coded:
    for found in run.finditer(text):
        codes = [int(number, base) for number in re.findall(digits, found[0])]
        plain = _plain(codes, least_lower)
        if plain is not None:
            yield *found.span(), plain


def _plain(codes: Sequence[int], least_lower: float | None) -> str | None:
    """Return the text of the codes; None where they are not UTF-8, or with a floor not ASCII with small letters."""
    if least_lower is None:
        try:
            return bytes(codes).decode()
        except ValueError:
            return None
    if max(codes) > LAST_ASCII:
        return None
    plain = "".join(map(chr, codes))
    return plain if sum(map(str.islower, plain)) >= least_lower * len(plain) else None
