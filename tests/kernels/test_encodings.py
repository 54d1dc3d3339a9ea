"""Encoded parts: found where they are and not where they are not, nested, on a corpus, in bounded time."""

import base64
import codecs
import random
import string
import uuid
from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metrics.kernels.encodings import ENCODINGS, Encoding, encoded_parts, in_the_clear
from tests.timing import quickest

HIDDEN = "Write to jane.roe@acme-bank.com"
ENCODERS: dict[str, Callable[[bytes], str]] = {
    "base16": bytes.hex,
    "base16, capitals": lambda data: data.hex().upper(),
    "base16, spaced": lambda data: data.hex(" "),
    "base32": lambda data: base64.b32encode(data).decode(),
    "base64": lambda data: base64.b64encode(data).decode(),
    "base64, unpadded": lambda data: base64.b64encode(data).decode().rstrip("="),
    "base64, in lines": lambda data: base64.encodebytes(data).decode().strip(),
    "base64url": lambda data: base64.urlsafe_b64encode(data).decode(),
    "base85": lambda data: base64.b85encode(data).decode(),
    "ascii85, framed": lambda data: base64.a85encode(data, adobe=True).decode(),
}


@pytest.mark.parametrize("name", ENCODERS)
@pytest.mark.parametrize("around", ["{}", "Look: {} is it.", '"{}".', "(see {})", "x\n{}\ny"])
def test_each_encoding_is_found_in_prose(name: str, around: str) -> None:
    written = ENCODERS[name](HIDDEN.encode())
    text = around.format(written)
    (part,) = encoded_parts(text)
    assert part.text == HIDDEN
    assert text[part.start : part.end].strip("<~>") == written.strip("<~>")
    assert in_the_clear(text, [part]).strip("<~>") == around.format(HIDDEN) or "framed" in name


@pytest.mark.parametrize("outer", ENCODERS)
@pytest.mark.parametrize("inner", ENCODERS)
def test_two_levels_are_decoded_and_the_third_is_not(outer: str, inner: str) -> None:
    nested = ENCODERS[outer](f"then {ENCODERS[inner](HIDDEN.encode())} end".encode())
    (part,) = encoded_parts(nested)
    assert len(part.encodings) == 2
    assert HIDDEN in part.text
    assert not any(HIDDEN in part.text for part in encoded_parts(base64.b64encode(nested.encode()).decode()))


@pytest.mark.parametrize(
    ("hidden", "charset"),
    [
        ("Prüfung: 536-90-4399", "utf-8"),
        ("パスワードは秘密です", "utf-8"),
        ("4539 1488 0343 6467", "utf-8"),
        ("4539 1488 0343 6467", "utf-16-le"),
    ],
)
def test_other_scripts_and_numbers(hidden: str, charset: str) -> None:
    (part,) = encoded_parts(base64.b64encode(hidden.encode(charset)).decode())
    assert part.text == hidden


def test_rot13_is_told_by_english_words_and_only_on_demand() -> None:
    text = "A plain line with the words of it.\n" + codecs.encode("This is the secret of the house.", "rot13")
    assert not encoded_parts(text)
    (part,) = encoded_parts(text, ENCODINGS)
    assert (part.encodings, part.text) == (("rot13",), "This is the secret of the house.")


def secret_text(rng: random.Random) -> str:
    words = ["".join(rng.choices(string.ascii_lowercase, k=rng.randrange(2, 9))) for _ in range(rng.randrange(2, 9))]
    tail = rng.choice(
        ["", f" {rng.randrange(100, 900)}-{rng.randrange(10, 99)}-{rng.randrange(1000, 9999)}", " a@b.com."]
    )
    return " ".join(words).capitalize() + tail


LOOK_ALIKES: dict[str, Callable[[random.Random], str]] = {
    "md5": lambda rng: rng.randbytes(16).hex(),
    "sha256": lambda rng: rng.randbytes(32).hex(),
    "uuid": lambda rng: str(uuid.UUID(int=rng.getrandbits(128), version=4)),
    "number": lambda rng: str(rng.randrange(10**11, 10**22)),
    "random base64": lambda rng: base64.b64encode(rng.randbytes(rng.randrange(9, 60))).decode(),
    "word": lambda rng: rng.choice(["internationalization", "Verantwortungsbewusstsein", "counterrevolutionaries"]),
    "capitals": lambda rng: rng.choice(["INTERNATIONALIZATION", "ACKNOWLEDGEMENTS", "MISUNDERSTANDINGS"]),
    "identifier": lambda rng: f"getUserAccountSettings{rng.randrange(9999)}_handlerFactory",
    "path": lambda rng: f"/usr/local/lib/python3/site-packages/module{rng.randrange(999)}/index",
    "url": lambda rng: f"https://example.org/articles/{rng.randrange(9999)}/how-to-write-a-guardrail?page={rng.randrange(9)}",
    "mac address": lambda rng: ":".join(f"{rng.randrange(256):02x}" for _ in range(8)),
    "date and time": lambda rng: f"2024{rng.randrange(10, 13)}{rng.randrange(10, 29)}T{rng.randrange(10**6):06}Z",
}  # fmt: skip


def test_precision_and_recall_on_a_corpus() -> None:
    """2,400 texts, half with an encoded part of known span, half with something that looks like one."""
    rng = random.Random(7)
    right, wrong, missed = 0, Counter[str](), Counter[str]()
    for index in range(2_400):
        talk = rng.choice(["The value is", "Siehe auch:", "Run it with", "結果は"])
        if index % 2:
            name = list(ENCODERS)[index // 2 % len(ENCODERS)]
            hidden = secret_text(rng)
            text = f"{talk} {ENCODERS[name](hidden.encode())} and so on"
            seen = encoded_parts(text)
            ok = [part.text for part in seen] == [hidden]
            right, missed[name] = right + ok, missed[name] + (not ok)
        else:
            name = list(LOOK_ALIKES)[index // 2 % len(LOOK_ALIKES)]
            wrong[name] += len(encoded_parts(f"{talk} {LOOK_ALIKES[name](rng)} and so on"))
    assert right / 1_200 >= 0.97, missed
    assert right / (right + wrong.total()) >= 0.99, wrong


@settings(max_examples=150, deadline=None)
@given(st.text("ABCDabcd0123456789+/=-_<~> \n", max_size=120))
def test_parts_lie_in_the_text_in_order(text: str) -> None:
    end = 0
    for part in encoded_parts(text, ENCODINGS):
        assert end <= part.start < part.end <= len(text)
        assert part.text
        end = part.end


@pytest.mark.parametrize("unit", ["a", "A" * 60 + "\n", "zzzzzzzzzzzzzz ", "<~", "SGVsbG8gd29ybGQh ", "0x41 "])
@pytest.mark.parametrize("encoding", ["base16", "base64", "ascii85", "rot13"])
def test_a_megabyte_of_hostile_text_takes_seconds(unit: str, encoding: Encoding) -> None:
    assert quickest(lambda: encoded_parts(unit * (1_000_000 // len(unit)), [encoding]), 15) < 15
