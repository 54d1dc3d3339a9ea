"""Encoded parts of a text, found and decoded, several deep: base16 to base85, codes of characters, rot13, gzip."""

import base64
import binascii
import codecs
import re
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from metrics.text.patterns import WORD
from metrics.text.sensitive import character_codes
from metrics.text.sensitive.character_codes import MOST_WRONG
from metrics.text.sensitive.plain_form import PlainForm
from metrics.text.sensitive.spans import overlaps

Encoding = Literal[
    "escapes", "percent", "entities", "tags", "binary", "octal", "decimal", "base16", "base32", "base64", "base64url",
    "base85", "ascii85", "gzip", "rot13",
]  # fmt: skip
ENCODINGS: tuple[Encoding, ...] = get_args(Encoding)
DEFAULT_ENCODINGS: tuple[Encoding, ...] = ENCODINGS[:-1]
DEPTH = 4
MOST_DECODED = 1_000_000  # characters decoded of one text, all levels together
MOST_INFLATED = 200_000  # bytes read of one compressed part
MOST_TRIES = 20_000  # runs of characters tried by one encoding in one text
SHORTEST = 6  # characters of a decoded part
SHORTEST_OF_DIGITS = 12  # the same where the encoded part is a number: shorter ones are letters by chance
WORD_SHARE = 0.75  # of the characters are letters, digits or white space, in what reads as text
CERTAIN = 24  # bytes that are not all printable by chance: one in 10¹⁰ of such runs of bytes
FREQUENT = frozenset(
    "the of and to in is that it for as with his on be at by this had not are but from or have an they which one you "
    "were her all she there would their we him been has when who will more no if out so said what up its about into "
    "than them can only other new some could time these two may then do first any my now such like our over man me "
    "even most made after also your password secret".split()
)

RUNS: dict[Encoding, tuple[re.Pattern[str], ...]] = {
    "base16": (
        re.compile(r"(?<![0-9A-Za-z])(?:0x)?((?:[0-9A-Fa-f]{2}){7,}+)(?![0-9A-Za-z])"),
        re.compile(  # the same between all bytes; the last byte is not the beginning of a word
            rf"(?<![0-9A-Za-z])((?:0x)?[0-9A-Fa-f]{{2}}(?P<apart>, ?|[ :-])(?:0x)?[0-9A-Fa-f]{{2}}(?!{WORD})"
            rf"(?:(?P=apart)(?:0x)?[0-9A-Fa-f]{{2}}(?!{WORD})){{5,}}+)"
        ),
        re.compile(  # groups and lines of several bytes
            rf"(?<![0-9A-Za-z])((?:[0-9A-Fa-f]{{2}}){{2,40}}+(?P<apart> |\r?\n)(?:[0-9A-Fa-f]{{2}}){{2,40}}+(?!{WORD})"
            rf"(?:(?P=apart)(?:[0-9A-Fa-f]{{2}}){{1,40}}+(?!{WORD}))*+)"
        ),
    ),
    "base32": (re.compile(r"(?<![A-Za-z0-9])([A-Z2-7]{12,}+={0,6}|[a-z2-7]{16,}+={0,6})(?![A-Za-z0-9=])"),),
    "base64": (
        re.compile(  # lines as e-mail breaks them
            r"(?<![A-Za-z0-9+/])([A-Za-z0-9+/]{60,76}(?:\r?\n[A-Za-z0-9+/]{60,76})*+"
            r"(?:\r?\n[A-Za-z0-9+/]{1,76}(?=={0,2}[ \t]*(?:\r?\n|\Z)))?+={0,2})(?![\w+/=-])"
        ),
        re.compile(r"(?<![\w+/-])([A-Za-z0-9+/]{10,}+={0,2})(?![\w+/=-])", re.ASCII),
    ),
    "base64url": (re.compile(r"(?<![\w-])([\w-]{10,}+={0,2})(?![\w=-])", re.ASCII),),
    "base85": (re.compile(r"(?<![!-~])([!-~]{12,}+)(?![!-~])"),),
    "ascii85": (re.compile(r"<~([!-uz\s]{8,}+)~>"), re.compile(r"(?<![!-~])([!-~]{12,}+)(?![!-~])")),
}
AROUND = "\"'`()[],.;:"  # what prose puts around a run of base85, and may be part of it
LAYERS = ((0, 0), (1, 1), (0, 1), (1, 0), (1, 2), (0, 2))  # how much of it at either end, the most likely first
LINE = re.compile(r"[^\n]+")
TOKENS = re.compile(r"\w+")
LEAST_FREQUENT = 2  # words in a line of rot13, decoded
FREQUENT_SHARE = 0.3  # of its words, as the least


@dataclass(frozen=True, slots=True)
class EncodedPart:
    """Characters `start` to `end` of a text, and their decoded text; `encodings` from the outermost inwards."""

    start: int
    end: int
    encodings: tuple[Encoding, ...]
    text: str


def encoded_parts(
    text: str, encodings: Sequence[Encoding] = DEFAULT_ENCODINGS, depth: int = DEPTH
) -> list[EncodedPart]:
    """Return the parts of `text` that decode to readable text, by position, without overlaps, nested down to `depth`.

    Readable is UTF-8 or UTF-16 of at least six printable characters; in fewer than 24 bytes three quarters of them must
    be letters, digits or spaces. Hashes, UUIDs and plain words decode to bytes that are not readable. A part encoded
    twice is decoded twice, and its text has every inner part decoded; a part that decodes to signs alone counts if they
    contain another part. `gzip` is gzip or zlib within base16 to base85, of which the first 200,000 bytes are read. For
    the codes of characters see `character_codes`. rot13 changes only letters and is recognised by English words: whole
    lines in which three of ten words are frequent after decoding, and fewer before.

    Limits: 20,000 runs per encoding, and 1,000,000 decoded characters on all levels together: what is beyond is cut.
    Time is linear in the text.
    """
    return _parts(text, encodings, depth, [MOST_DECODED])


def _parts(text: str, encodings: Sequence[Encoding], depth: int, left: list[int]) -> list[EncodedPart]:
    """Return the parts of `text`; `left` [1] is how many characters may still be decoded."""
    if not depth:
        return []
    form = PlainForm(text)
    found: list[EncodedPart] = []
    taken: list[tuple[int, int]] = []
    for encoding in ENCODINGS:
        if encoding not in encodings or encoding == "gzip":
            continue
        new: list[EncodedPart] = []
        hidden = encoding == "tags"  # in characters that the plain form lacks
        written = text if hidden else form.text
        for first, last, layers, decoded in _candidates(written, encoding, "gzip" in encodings, left):
            start, end = (first, last) if hidden else form.place(first, last)
            if overlaps(taken, start, end) or (new and start < new[-1].end) or left[0] <= 0:
                continue
            decoded = decoded[: left[0]]
            left[0] -= len(decoded)
            inner = _parts(decoded, encodings, depth - 1, left)
            if not inner and not _reads(decoded, text[start:end]):
                continue
            nested = max((part.encodings for part in inner), key=len, default=())
            new.append(EncodedPart(start, end, (*layers, *nested), in_the_clear(decoded, inner)))
        found += new
        taken = sorted((part.start, part.end) for part in found)
    return sorted(found, key=lambda part: part.start)


def in_the_clear(text: str, parts: Sequence[EncodedPart]) -> str:
    """Return `text` with each of its parts, which are in order, replaced by its decoded text."""
    pieces, place = [], 0
    for part in parts:
        pieces += [text[place : part.start], part.text]
        place = part.end
    return "".join([*pieces, text[place:]])


def _candidates(
    text: str, encoding: Encoding, inflate: bool, left: list[int]
) -> Iterator[tuple[int, int, tuple[Encoding, ...], str]]:
    """Yield the parts of one encoding: characters from–to, its layers (with `inflate` also gzip), the decoded text."""
    if encoding in CODES:
        for start, end, meant in CODES[encoding](text):
            if _is_shown(meant, text[start:end]):
                yield start, end, (encoding,), meant
        return
    spans = (match.span(1) for pattern in RUNS[encoding] for match in pattern.finditer(text))
    runs = sorted(spans, key=lambda span: (span[0], -span[1]))
    for start, end in runs[:MOST_TRIES]:
        for first, last in _trimmed(text, start, end) if encoding.endswith("85") else [(start, end)]:
            run = text[first:last]
            data = _bytes(run, DECODERS[encoding])
            inflated = _inflated(data) if inflate and left[0] > 0 else None
            left[0] -= len(inflated or b"")
            plain = _printable(data if inflated is None else inflated, run)
            if plain is not None:
                yield first, last, (encoding,) if inflated is None else (encoding, "gzip"), plain
                break


def _trimmed(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the run as it is, then without characters that prose may have put around it."""
    run = text[start:end]
    before, after = len(run) - len(run.lstrip(AROUND)), len(run) - len(run.rstrip(AROUND))
    for first, last in dict.fromkeys([*LAYERS, (before, after)]):
        if first <= before and last <= after and start + first < end - last:
            yield start + first, end - last


def _bytes(run: str, decode: Callable[[str], bytes]) -> bytes:
    """Return the bytes of a run; none where it is a word or not of the encoding."""
    if run.isalpha() and run[1:].islower():
        return b""
    try:
        return decode(run)
    except (ValueError, binascii.Error):
        return b""


def _inflated(data: bytes) -> bytes | None:
    """Return what gzip or zlib data holds, its beginning where it is large; None where the bytes are neither."""
    gzip = data.startswith(b"\x1f\x8b\x08")
    if not gzip and not (len(data) > 8 and data[0] == 0x78 and int.from_bytes(data[:2]) % 31 == 0):
        return None
    try:
        return zlib.decompressobj(zlib.MAX_WBITS | 32).decompress(data, MOST_INFLATED)
    except zlib.error:
        return None


def _printable(data: bytes, run: str) -> str | None:
    try:
        text = data.decode(_charset(data))
    except UnicodeDecodeError:
        text = data.decode(errors="replace")  # a wrong byte amid the others hides nothing
        if text.count("\ufffd") > MOST_WRONG * len(text):
            return None
    return text if _is_shown(text, run) else None


def _charset(data: bytes) -> str:
    """Return UTF-16 or 32 where a mark says so, or by the zeros among the first bytes; else UTF-8."""
    if len(data) > 7 and not any(data[2:4] + data[6:8]):
        return "utf-32-le"
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "utf-16"
    if len(data) > 3 and not any(data[1:8:2]):
        return "utf-16-le"
    return "utf-16-be" if len(data) > 3 and not any(data[0:8:2]) else "utf-8"


def _is_shown(text: str, run: str) -> bool:
    """Return whether a decoded text is long enough and has only characters that are printed."""
    shown = text.strip()
    if text == run or len(shown) < (SHORTEST_OF_DIGITS if _is_number(run, shown) else SHORTEST):
        return False
    return all(character.isprintable() or character in "\n\r\t" for character in shown)


def _reads(decoded: str, run: str) -> bool:
    """Return whether the printable characters that a run decodes to are text, by their length or their words."""
    shown = decoded.strip()
    words = sum(character.isalnum() or character.isspace() for character in shown)
    certain = len(shown.encode()) >= CERTAIN and not _is_number(run, shown)
    return certain or words >= WORD_SHARE * len(shown)


def _is_number(run: str, shown: str) -> bool:
    return run.isdecimal() and not shown.isdecimal()


def _rot13(text: str) -> Iterator[tuple[int, int, str]]:
    for line in LINE.finditer(text):
        plain = codecs.encode(line[0], "rot13")
        frequent = _frequent(plain)
        enough = max(LEAST_FREQUENT, FREQUENT_SHARE * len(TOKENS.findall(plain)))
        if frequent >= enough and frequent > _frequent(line[0]):
            yield *line.span(), plain


def _frequent(text: str) -> int:
    return sum(word in FREQUENT for word in TOKENS.findall(text.lower()))


def _padded(run: str, block: int) -> str:
    """Return the digits of a run with as much padding as they need."""
    digits = re.sub(r"\s|=", "", run)
    return digits + "=" * (-len(digits) % block)


CODES: Mapping[Encoding, Callable[[str], Iterator[tuple[int, int, str]]]] = {
    "escapes": character_codes.escapes,
    "percent": character_codes.percents,
    "entities": character_codes.entities,
    "tags": character_codes.tags,
    "binary": character_codes.binary,
    "octal": character_codes.octal,
    "decimal": character_codes.decimal,
    "rot13": _rot13,
}
DECODERS: dict[Encoding, Callable[[str], bytes]] = {
    "base16": lambda run: bytes.fromhex(re.sub(r"0x|[\s:,-]", "", run)),
    "base32": lambda run: base64.b32decode(_padded(run.upper(), 8)),
    "base64": lambda run: base64.b64decode(_padded(run, 4), validate=True),
    "base64url": lambda run: base64.b64decode(_padded(run, 4), altchars=b"-_", validate=True),
    "base85": base64.b85decode,
    "ascii85": base64.a85decode,
}
