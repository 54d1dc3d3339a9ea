r"""Text written as codes of its characters: \x41, \u0041, %41, &#65;, binary, decimal, octal, invisible characters.

Each finder yields characters from–to of a text and what they stand for, in order. Linear in the text.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from html import unescape
from urllib.parse import unquote_to_bytes

Coded = Iterator[tuple[int, int, str]]

ESCAPE = re.compile(
    r"\\x[0-9A-Fa-f]{2}|[\\%]u[0-9A-Fa-f]{4}|\\u\{[0-9A-Fa-f]{1,6}\}|\\U[0-9A-Fa-f]{8}|"
    r"U\+[0-9A-Fa-f]{4,6}(?:,? (?=U\+))?"
)
PAIRED = re.compile(r"[\\%]u", re.IGNORECASE)  # these are halves of UTF-16 where a character needs two
PERCENT = re.compile(r"%[0-9A-Fa-f]{2}")
ENTITY = re.compile(r"&(?:#[0-9]{1,7};?|#[xX][0-9A-Fa-f]{1,6};?|[A-Za-z]{2,10};)")
BEFORE = re.compile(r"[\w.+~-]*\Z", re.ASCII)  # letters in the clear amid codes belong to the part
AFTER = re.compile(r"[\w.+~@-]{0,64}", re.ASCII)
MOST_PLAIN = 64  # of them at either end, and between two codes
BETWEEN = re.compile(r"[\w.+~@-]{0,64}|[ ]", re.ASCII)
APART = r"\)?(?:\s?[,;/|.+-]\s?|\s{1,2})"  # between numbers in a list, a sum of chr(65), lines
BINARY = re.compile(
    rf"(?<![0-9])(?:(?P<joined>[01]{{8}}(?:[01]{{8}}){{5,}}+)|(?:0b)?[01]{{6,8}}(?:{APART}(?:0b)?[01]{{6,8}}){{5,}}+)(?![0-9])"
)
NUMBERS = re.compile(
    rf"(?<![0-9.,-])(?:chr\()?[0-9]{{2,3}}(?:{APART}(?:chr\()?[0-9]{{2,3}}){{7,}}+(?![0-9.,-]*[0-9])", re.IGNORECASE
)
OCTAL = re.compile(
    rf"(?<![0-9])(?:\\[0-3][0-7]{{2}}){{4,}}+|(?<![0-9.,-])(?:0o[0-7]{{2,3}}(?:{APART}0o[0-7]{{2,3}}){{7,}}+|"
    rf"[01][0-7]{{2}}(?:{APART}[01][0-7]{{2}}){{7,}}+)(?![0-9])"
)
TAGS = re.compile("[\U000e0020-\U000e007e]{4,}")
FIRST_TAG = 0xE0000
# A byte each: after a character there is one of them at most, unless they carry a text.
SELECTORS = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]{6,}")
FIRST_SELECTOR, SEVENTEENTH_SELECTOR = 0xFE00, 0xE0100
ZERO_WIDTH = re.compile("[\u200b-\u200f\u2060-\u2064\ufeff]{48,}")  # two of them as the bits of six bytes or more
LAST_ASCII = 126
MOST_WRONG = 0.1  # of the codes, where bytes are not UTF-8
LEAST_LOWER = 0.5  # small letters, of what decimal and octal numbers stand for: capitals are numbers by chance
LONG = 16  # characters of which half the letters will do, if they are all but words
WORD_SHARE = 0.75


def escapes(text: str) -> Coded:
    r"""Yield parts with \x41, \u0041, \u{41}, \U00000041, %u0041 or U+0041; \x is a byte of UTF-8 where it can be."""
    return _runs(text, ESCAPE, _unescaped)


def percents(text: str) -> Coded:
    """Yield parts with %41 in them, as in URLs: bytes of UTF-8, and + for a space."""
    return _runs(text, PERCENT, _unquoted)


def entities(text: str) -> Coded:
    """Yield parts with &#65;, &#x41; or &commat; in them."""
    return _runs(text, ENTITY, unescape)


def binary(text: str) -> Coded:
    """Yield runs of at least six bytes that are UTF-8, of eight binary digits, or six to eight with signs between."""
    return _numbers(text, BINARY, r"[01]{6,8}", 2, None)


def decimal(text: str) -> Coded:
    """Yield runs of at least eight numbers that are codes of ASCII text: small letters prevail."""
    return _numbers(text, NUMBERS, r"\d+", 10, LEAST_LOWER)


def octal(text: str) -> Coded:
    r"""Yield runs of \101 or of at least eight octal numbers of three digits, or with 0o, as `decimal`."""
    return _numbers(text, OCTAL, r"[0-7]{2,3}", 8, LEAST_LOWER)


def tags(text: str) -> Coded:
    """Yield what invisible characters carry: tags (copies of ASCII), variation selectors (bytes), two as bits."""
    found = [(*run.span(), "".join(chr(ord(sign) - FIRST_TAG) for sign in run[0])) for run in TAGS.finditer(text)]
    for form, read in ((SELECTORS, _selected), (ZERO_WIDTH, _bits)):
        for run in form.finditer(text):
            found += [(*run.span(), plain) for data in read(run[0]) if (plain := _utf_8(data)) is not None][:1]
    yield from sorted(found)


def _selected(run: str) -> list[bytes]:
    codes = map(ord, run)
    first = FIRST_SELECTOR
    return [bytes(code - first if code < SEVENTEENTH_SELECTOR else code - SEVENTEENTH_SELECTOR + 16 for code in codes)]


def _bits(run: str) -> list[bytes]:
    """Return the bytes of a run of two characters, either of which may be the 0."""
    signs = sorted(set(run))
    if len(signs) != 2 or len(run) % 8:
        return []
    numbers = (int(run.translate({ord(zero): "0", ord(one): "1"}), 2) for zero, one in (signs, signs[::-1]))
    return [number.to_bytes(len(run) // 8) for number in numbers]


def _utf_8(data: bytes) -> str | None:
    try:
        plain = data.decode()
    except ValueError:
        return None
    return plain if plain.isprintable() else None


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


def _unquoted(run: str) -> str:
    plain = unquote_to_bytes(run.replace("+", " ")).decode(errors="replace")
    if plain.count("\ufffd") > MOST_WRONG * run.count("%"):  # a wrong byte amid many hides nothing
        raise ValueError(run)
    return plain


def _unescaped(run: str) -> str:
    def character(found: re.Match[str]) -> str:
        return chr(int(found[0][2:].strip("{}, "), 16))

    plain = ESCAPE.sub(character, run)
    if not PAIRED.search(run):
        try:
            return plain.encode("latin-1").decode()
        except ValueError:
            return plain
    return plain.encode("utf-16", "surrogatepass").decode("utf-16")


def _numbers(text: str, run: re.Pattern[str], digits: str, base: int, least_lower: float | None) -> Coded:
    for found in run.finditer(text):
        joined = found.groupdict().get("joined")
        codes = [int(number, base) for number in re.findall("[01]{8}" if joined else digits, found[0])]
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
    small, letters = sum(map(str.islower, plain)), sum(map(str.isalpha, plain))
    words = sum(character.isalnum() or character == " " for character in plain)
    sentence = len(plain) >= LONG and small >= least_lower * letters and words >= WORD_SHARE * len(plain)
    return plain if sentence or small >= least_lower * len(plain) else None
