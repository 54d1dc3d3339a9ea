"""The encoding of a text file: UTF-8 where it is valid, else the one chosen, or the likeliest by what it makes."""

import codecs
import re
import unicodedata
from collections.abc import Sequence

import pyarrow as pa

from metrics.core.errors import InputError, InputProblem
from metrics.core.receipt import FileQuestion

UTF8 = "UTF-8"
ENCODINGS: dict[str, str] = {  # name for people: Python's; in the order of the choice
    UTF8: "utf-8", "Windows-1252": "cp1252", "ISO-8859-1": "iso8859-1", "ISO-8859-15": "iso8859-15",
    "UTF-16": "utf-16", "UTF-16LE": "utf-16-le", "UTF-16BE": "utf-16-be", "UTF-32": "utf-32",
    "Mac Roman": "mac-roman", "Windows-1250": "cp1250", "Windows-1251": "cp1251", "KOI8-R": "koi8-r",
    "Windows-1253": "cp1253", "Windows-1254": "cp1254", "Windows-1255": "cp1255", "Windows-1256": "cp1256",
    "Shift JIS": "cp932", "EUC-JP": "euc_jp", "GB18030": "gb18030", "Big5": "big5", "EUC-KR": "cp949",
}  # fmt: skip
GUESSED = (
    "cp1252", "cp1250", "cp1251", "koi8_r", "cp1253", "cp1254", "cp1255", "cp1256", "mac_roman", "cp932", "euc_jp",
    "gb18030", "big5", "cp949",
)  # fmt: skip
WESTERN = ("cp1252", "cp1250", "cp1254", "mac_roman")
LETTERS = {  # the most frequent of the languages whose words have no letter of ASCII, without accents
    "cp1251": "оеаинтсрвлкмд", "cp1253": "αοιετσςνηυρκπ", "cp1255": "יוהלאתרמבשנםן", "cp1256": "اليمونترهبةسع",
    "koi8_r": "оеаинтсрвлкмд",
}  # fmt: skip
LATIN = re.compile("[A-Za-z]")
WORDS = re.compile(r"(?<![^\W\d_])(?=[A-Za-z]*[^\W\d_A-Za-z])[^\W\d_]{2,}")  # of at least one letter that is not ASCII
CENTRAL = ("Polish", "Czech", "Slovak", "Slovene", "Croatian", "Hungarian", "Romanian")
BOMS = {
    codecs.BOM_UTF32_LE: "UTF-32", codecs.BOM_UTF32_BE: "UTF-32", codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}  # fmt: skip
EXPECTED = "UTF-8, or another encoding of text"
SAMPLE = 1 << 16  # bytes of lines that are not ASCII
BLOCK = 1 << 20  # bytes decoded at a time
NOT_ASCII = re.compile(rb"^[^\n\x80-\xff]*+[\x80-\xff][^\n]*+", re.MULTILINE)  # a line
CONTROLS = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
BINARY = 0.01  # share of control characters from which a file is no text
NULS = 0.3  # share of zero bytes from which ASCII is UTF-16
CASED = 0.8  # share of words in small letters, in capitals or with one at their beginning, from which they are words
SHORT = 3  # letters of a word that may be one in several encodings
FREQUENT = 0.55  # share of the frequent letters of a language from which words are its
# What Windows-1252 makes of another encoding: a sign or a capital within a word.
BROKEN_WORD = re.compile("[a-z](?:[¡-¿×÷€‚ƒ„†‡ˆ‰‹‘“•˜›ÀÈÉÊÌÍÎÏÒÓÔÙÚÛŽŠŒ]|[A-Z][à-ÿ])[a-z]")


def named(encoding: str) -> str:
    """Return the name for people of an encoding given by any of its names; InputError for one that is not read."""
    for name in ENCODINGS:
        if encoding.casefold() == name.casefold():
            return name
    try:
        codec = codecs.lookup(encoding).name
    except (LookupError, ValueError):
        codec = ""
    for name, known in ENCODINGS.items():
        if codecs.lookup(known).name == codec:
            return name
    raise InputError([InputProblem("encoding", repr(encoding), "one of " + ", ".join(ENCODINGS))])


def as_utf8(file: str, data: pa.Buffer, chosen: str | None = None) -> tuple[pa.Buffer, str]:
    """Return a text as UTF-8 without byte-order mark, and the name of the encoding it had.

    `chosen` is the user's; without it the encoding is told by the byte-order mark, by validity as UTF-8, or by what
    the bytes would mean. InputError with the place of the first byte that does not belong to the encoding, and for
    data that are no text.
    """
    head = data[:4].to_pybytes()
    name = named(chosen) if chosen else next((name for bom, name in BOMS.items() if head.startswith(bom)), None)
    if name in (None, UTF8) and head.startswith(codecs.BOM_UTF8):
        data = data[len(codecs.BOM_UTF8) :]
    name = name or _utf16(data[:SAMPLE].to_pybytes())
    if name in (None, UTF8) and _is_utf8(data):
        return data, UTF8
    name = name or _guess(file, data)
    if name == UTF8:
        raise _not_utf8(file, data)
    try:
        text = data.to_pybytes().decode(ENCODINGS[name])
        return pa.py_buffer(text.removeprefix("\ufeff").encode()), name
    except UnicodeError as error:
        start = getattr(error, "start", 0)
        line = data[:start].to_pybytes().count(b"\n") + 1
        found = f"{name} that cannot be decoded at byte {start:,}"
        raise InputError([InputProblem(file, found, EXPECTED, line)]) from None


def _is_utf8(data: pa.Buffer) -> bool:
    offsets = pa.array([0, data.size]).buffers()[1]
    try:
        pa.Array.from_buffers(pa.large_string(), 1, [None, offsets, data]).validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def _utf16(head: bytes) -> str | None:
    """Return the kind of UTF-16 without byte-order mark that the bytes are: every other byte of its ASCII is zero."""
    even, odd = head[0::2].count(0), head[1::2].count(0)
    if max(even, odd) < NULS * len(head) or min(even, odd) > 0.1 * max(even, odd):
        return None
    return "UTF-16LE" if odd > even else "UTF-16BE"


def _guess(file: str, data: pa.Buffer) -> str:
    """Return the likeliest encoding of data that are not UTF-8; UTF-8 where only a few bytes are not."""
    sample = b""
    for match in NOT_ASCII.finditer(memoryview(data)):
        sample += bytes(match[0]) + b"\n"
        if len(sample) > SAMPLE:  # cut where no character can be: not within one of two bytes
            sample = re.split(rb"[\n ,][^\n ,]*$", sample[:SAMPLE], maxsplit=1)[0]
            break
    controls = len(CONTROLS.findall(sample)) + len(CONTROLS.findall(data[:SAMPLE].to_pybytes()))
    if controls > BINARY * (len(sample) + min(data.size, SAMPLE)):
        raise InputError([InputProblem(file, "binary data", "a text file or a table")])
    read = sample.decode("utf-8", "replace")
    bad = read.count("\ufffd")
    if sum(character > "\x7f" for character in read) - bad > bad:
        return UTF8
    western = _decoded(sample, "cp1252")
    if western is not None and not any(character.isalpha() for character in western if character > "\x7f"):
        return "Windows-1252"  # quotes, dashes, signs such as €: others have letters in their places
    told = _find_by_words(file, sample, western or "")
    if len(told) == 1:
        return _name_of(told[0])
    from charset_normalizer import from_bytes

    found = [match for match in from_bytes(sample, cp_isolation=list(told)) if _plausible(sample, match.encoding)]
    best = found[0].encoding if found else ""
    if best in ("", "cp1250", "cp1252", "mac_roman") and western is not None:
        central = best == "cp1250" and found[0].language in CENTRAL
        if not central and not (best == "mac_roman" and BROKEN_WORD.search(western)):
            best = "cp1252"
    if not best:
        return UTF8
    return _name_of(best)


def _name_of(codec: str) -> str:
    return next(name for name, own in ENCODINGS.items() if codecs.lookup(own).name == codecs.lookup(codec).name)


def _find_by_words(file: str, sample: bytes, western: str) -> Sequence[str]:
    """Return the encodings that words leave: those with letters of ASCII are Latin. InputError where all are short."""
    words = WORDS.findall(western)
    latin = [word for word in words if LATIN.search(word)]
    plain = not any(character > "\x7f" and not character.isalnum() for character in western)
    if len(latin) * 2 > len(words):
        return WESTERN if plain and all(map(_is_cased, latin)) else GUESSED
    texts = {codec: _decoded(sample, codec) or "" for codec in LETTERS}
    shares = {codec: _share_of(LETTERS[codec], text) for codec, text in texts.items()}
    best = max(shares, key=lambda codec: shares[codec])
    if shares[best] >= FREQUENT:
        return (best,)
    if plain and words and not latin and all(len(word) <= SHORT for word in words):
        question = FileQuestion("encoding", "Its words are too short to tell.", ("Windows-1252", _name_of(best)))
        found = f"a text of {words[0]!r}, or of {''.join(WORDS.findall(texts[best])[:1])!r} in {_name_of(best)}"
        raise InputError([InputProblem(file, found, question.expected, fatal=True, question=question)])
    return GUESSED


def _is_cased(word: str) -> bool:
    return word in (word.lower(), word.capitalize()) or word.replace("ß", "SS") == word.upper()


def _share_of(letters: str, text: str) -> float:
    """Return the share of these letters, whatever their accents, in what is not ASCII; 0 where that is no words."""
    words = [word for word in WORDS.findall(text) if not LATIN.search(word)]
    there = [unicodedata.normalize("NFD", character.lower())[0] for character in text if character > "\x7f"]
    share = sum(character in letters for character in there) / len(there) if there else 0.0
    told = max(map(len, words), default=0) >= SHORT and (share == 1 or len(there) > SHORT)
    return share if told and sum(map(_is_cased, words)) >= CASED * len(words) else 0.0


def _plausible(sample: bytes, encoding: str) -> bool:
    """Return whether an East Asian encoding makes the script of its language: others' bytes often make rare signs."""
    if encoding not in ("cp932", "euc_jp", "cp949"):
        return True
    signs = [character for character in (_decoded(sample, encoding) or "") if character > "\x7f"]
    script = "HANGUL" if encoding == "cp949" else ("HIRAGANA", "KATAKANA")
    share = sum(unicodedata.name(sign, "").startswith(script) for sign in signs) / max(1, len(signs))
    return share >= (0.7 if encoding == "cp949" else 0.1)


def _decoded(sample: bytes, encoding: str) -> str | None:
    try:
        return sample.decode(encoding)
    except UnicodeDecodeError:
        return None


def _not_utf8(file: str, data: pa.Buffer) -> InputError:
    view, start, line = memoryview(data).cast("B"), 0, 1
    while True:
        end = start + BLOCK
        try:
            text, used = codecs.utf_8_decode(view[start:end], "strict", end >= len(view))
        except UnicodeDecodeError as error:
            place = start + error.start
            line += bytes(view[start:place]).count(b"\n")
            found = f"byte 0x{view[place]:02x} at offset {place:,}, which is not UTF-8"
            return InputError([InputProblem(file, found, EXPECTED, line)])
        start += used
        line += text.count("\n")
