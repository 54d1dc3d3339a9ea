"""Encoded parts: found where they are and not where they are not, nested, in bounded time."""

import base64
import codecs
import gzip
import zlib
from collections.abc import Callable

import pytest
from hypothesis import given, strategies as st

from metrics.text.sensitive.encodings import ENCODINGS, MOST_DECODED, MOST_INFLATED, encoded_parts, in_the_clear

HIDDEN = "Write to jane.roe@acme-bank.com"
ENCODERS: dict[str, Callable[[bytes], str]] = {
    "base16": bytes.hex, "base16, capitals": lambda data: data.hex().upper(),
    "base16, spaced": lambda data: data.hex(" "), "base32": lambda data: base64.b32encode(data).decode(),
    "base64": lambda data: base64.b64encode(data).decode(),
    "base64, unpadded": lambda data: base64.b64encode(data).decode().rstrip("="),
    "base64, in lines": lambda data: base64.encodebytes(data).decode().strip(),
    "base64url": lambda data: base64.urlsafe_b64encode(data).decode(),
    "base85": lambda data: base64.b85encode(data).decode(),
    "ascii85, framed": lambda data: base64.a85encode(data, adobe=True).decode(),
}  # fmt: skip


@pytest.mark.parametrize("name", ENCODERS)
@pytest.mark.parametrize("around", ["{}", "Look: {} is it.", '"{}".', "(see {})", "x\n{}\ny"])
def test_each_encoding_is_found_in_prose(name: str, around: str) -> None:
    written = ENCODERS[name](HIDDEN.encode())
    text = around.format(written)
    (part,) = encoded_parts(text)
    assert (part.text, text[part.start : part.end].strip("<~>")) == (HIDDEN, written.strip("<~>"))
    assert in_the_clear(text, [part]).strip("<~>") == around.format(HIDDEN) or "framed" in name


def test_four_levels_are_decoded_and_the_fifth_is_not() -> None:
    nested = HIDDEN
    for level in range(1, 6):
        nested = base64.b64encode(nested.encode()).decode()
        (part,) = encoded_parts(f"See {nested}.")
        assert part.encodings == ("base64",) * min(level, 4)
        assert (part.text == HIDDEN) is (level < 5)


def codes(form: str, between: str = "") -> Callable[[str], str]:
    return lambda text: between.join(form.format(ord(character)) for character in text)


CODES: dict[str, tuple[str, Callable[[str], str]]] = {
    "\\x": ("escapes", codes(r"\x{:02x}")), "\\u": ("escapes", codes(r"\u{:04x}")),
    "\\u{}": ("escapes", codes(r"\u{{{:x}}}")), "\\U": ("escapes", codes(r"\U{:08X}")),
    "%": ("percent", codes("%{:02X}")), "U+": ("escapes", codes("U+{:04X}", " ")), "%u": ("escapes", codes("%u{:04X}")),
    "entities": ("entities", codes("&#{};")),
    "entities without a sign at the end": ("entities", codes("&#{}")),
    "hexadecimal entities": ("entities", codes("&#x{:x};")),
    "entities and spaces": ("entities", lambda text: " ".join(codes("&#{};")(word) for word in text.split())),
    "named entities": ("entities", lambda text: text.replace("@", "&commat;").replace(".", "&period;")),
    "one sign in %": ("percent", lambda text: text.split()[-1].replace("@", "%40")),
    "one sign in \\u": ("escapes", lambda text: text.split()[-1].replace("@", r"\u0040")),
    "binary": ("binary", codes("{:08b}", " ")), "binary, one number": ("binary", codes("{:08b}")),
    "binary, seven digits in lines": ("binary", codes("{:07b}", "\n")),
    "binary, 0b in a list": ("binary", codes("0b{:b}", ", ")), "decimal": ("decimal", codes("{}", " ")),
    "decimal, commas": ("decimal", codes("{}", ", ")), "decimal, lines": ("decimal", codes("{}", "\n")),
    "decimal, slashes": ("decimal", codes("{}", "/")), "decimal, chr()": ("decimal", codes("chr({})", "+")),
    "octal": ("octal", codes("{:03o}", " ")), "octal, 0o": ("octal", codes("0o{:o}", ", ")),
    "\\octal": ("octal", codes(r"\{:03o}")),
    "tags": ("tags", lambda text: "".join(chr(0xE0000 + ord(character)) for character in text)),
    "variation selectors": ("tags", lambda text: "".join(chr(0xE0100 - 16 + ord(character)) for character in text)),
    "zero-width bits": ("tags", lambda text: codes("{:08b}")(text).translate({48: 0x200B, 49: 0x200C})),
    "base16, groups": ("base16", lambda text: text.encode().hex(" ", -4)),
    "base16, lines": ("base16", lambda text: text.encode().hex("\n", -16)),
    "base16, 0x": ("base16", codes("0x{:02x}", ", ")), "base16, hyphens": ("base16", codes("{:02x}", "-")),
}  # fmt: skip


@pytest.mark.parametrize("name", CODES)
def test_codes_of_characters_are_read(name: str) -> None:
    encoding, encode = CODES[name]
    written = encode(HIDDEN)
    parts = encoded_parts(f"See ({written}) there")
    assert [part.encodings for part in parts] == [(encoding,)]
    assert parts[0].text in HIDDEN
    assert parts[0].text.endswith("jane.roe@acme-bank.com")


@pytest.mark.parametrize(("written", "hidden"), [
    (r"im caf\xc3\xa9haus", "caféhaus"),
    (r"\xfcber Stra\xdfe", "Straße"),
    (r"\ud83d\ude00\u0020\u4f60\u597d\u4e16\u754c", "😀 你好世界"),
    ("%E6%97%A5%E6%9C%AC%E8%AA%9E%E3%81%AE%E7%89%88%E3%81%A7%E3%81%99", "日本語の版です"),
], ids=["bytes of UTF-8", "of Latin-1", "surrogates", "percent"])  # fmt: skip
def test_codes_beyond_ascii(written: str, hidden: str) -> None:
    assert hidden in in_the_clear(written, encoded_parts(written))


@pytest.mark.parametrize("pack", [gzip.compress, zlib.compress], ids=["gzip", "zlib"])
def test_compressed_parts_are_inflated(pack: Callable[[bytes], bytes]) -> None:
    (part,) = encoded_parts(f"See {base64.b64encode(pack(HIDDEN.encode())).decode()} there")
    assert (part.encodings, part.text) == (("base64", "gzip"), HIDDEN)
    assert not encoded_parts(base64.b64encode(pack(HIDDEN.encode())).decode(), ["base64"])


def test_a_bomb_is_read_only_at_its_beginning() -> None:
    bomb = base64.b64encode(gzip.compress(b"write to jane " * 3_000_000)).decode()
    (part,) = encoded_parts(bomb)
    assert len(part.text) == MOST_INFLATED
    many = base64.b64encode(gzip.compress(b"a dog " * 20_000)).decode()
    assert sum(len(part.text) for part in encoded_parts(" ".join([many] * 99))) <= MOST_DECODED


@pytest.mark.parametrize("disguise", [
    lambda text: text.translate({code: chr(code + 0xFEE0) for code in range(0x21, 0x7F)}),
    lambda text: "\u200b".join(text),
    str.lower,
], ids=["full width", "zero-width", "small letters"])  # fmt: skip
def test_disguises_of_base32(disguise: Callable[[str], str]) -> None:
    written = disguise(base64.b32encode(HIDDEN.encode()).decode())
    (part,) = encoded_parts(f"See {written} there")
    assert part.text == HIDDEN
    assert (part.start, part.end) == (4, 4 + len(written))


def test_a_wrong_byte_hides_nothing() -> None:
    (part,) = encoded_parts(base64.b64encode(b"\xff" + HIDDEN.encode()).decode())
    assert HIDDEN in part.text
    (part,) = encoded_parts("%FF" + codes("%{:02X}")(HIDDEN))
    assert HIDDEN in part.text


def test_decimal_codes_of_a_sentence_with_numbers() -> None:
    card = "My card is 4539 1488 0343 6467, please keep it"
    assert [part.text for part in encoded_parts(codes("{}", " ")(card))] == [card]
    assert encoded_parts("98, 97, 99, 95, 88, 76, 91, 84, 77, 69, 82, 90, 71, 66, 93, 80, 75") == []


@pytest.mark.parametrize(("hidden", "charset"), [
    ("Prüfung: 536-90-4399", "utf-8"), ("パスワードは秘密です", "utf-8"), ("4539 1488 0343 6467", "utf-8"),
    ("4539 1488 0343 6467", "utf-16-le"),
    *((HIDDEN, charset) for charset in ("utf-16", "utf-16-le", "utf-16-be", "utf-32-le")),
])  # fmt: skip
def test_other_scripts_and_numbers(hidden: str, charset: str) -> None:
    (part,) = encoded_parts(base64.b64encode(hidden.encode(charset)).decode())
    assert part.text == hidden


def test_rot13_is_told_by_english_words_and_only_on_demand() -> None:
    text = "A plain line with the words of it.\n" + codecs.encode("This is the secret of the house.", "rot13")
    assert not encoded_parts(text)
    (part,) = encoded_parts(text, ENCODINGS)
    assert (part.encodings, part.text) == (("rot13",), "This is the secret of the house.")


@pytest.mark.parametrize("text", [
    pytest.param("2f:3d:ad:96:87:b8:ab:14", id="bytes"),
    pytest.param("a0af no be or of up 7c80", id="frequent words among hexadecimal digits"),
    pytest.param("Jr unir gur", id="two words"),
])  # fmt: skip
def test_rot13_takes_more_than_a_chance_word(text: str) -> None:
    assert [part.text for part in encoded_parts(text, ENCODINGS)] == (["We have the"] if text.startswith("Jr") else [])


def test_what_decodes_to_signs_counts_where_they_hold_another_part() -> None:
    inner = base64.b85encode(b"ssn 536-90-4399").decode()
    (part,) = encoded_parts(base64.b64encode(inner.encode()).decode())
    assert (part.encodings, part.text) == (("base64", "base85"), "ssn 536-90-4399")
    assert not encoded_parts(base64.b64encode(b"!$%&/()=?+*~").decode())


@pytest.mark.parametrize("after", [" before Friday", " değerini", ":zz", " 7"])
def test_bytes_end_before_a_word_that_begins_like_one(after: str) -> None:
    written = HIDDEN.encode().hex(" ")
    (part,) = encoded_parts(written + after)
    assert (part.start, part.end, part.text) == (0, len(written), HIDDEN)


@given(st.text("ABCDabcd0123456789+/=-_<~> \n", max_size=120))
def test_parts_lie_in_the_text_in_order(text: str) -> None:
    end = 0
    for part in encoded_parts(text, ENCODINGS):
        assert end <= part.start < part.end <= len(text)
        assert part.text
        end = part.end
