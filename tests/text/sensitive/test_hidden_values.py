"""A value of the environment is redacted in every encoding, however it is broken; ordinary text stays as it is."""

import base64
import json
import quopri
import random
import re
import string
from collections.abc import Callable
from html import escape
from pathlib import Path
from urllib.parse import quote

import pytest

from metrics.judge.keys import redact
from metrics.text.sensitive.hidden_values import hidden_places

SIGNS = string.ascii_letters + string.digits
RANDOM = random.Random(5)
KEYS = {
    "plain": "".join(RANDOM.choices(SIGNS, k=40)),
    "with a beginning": "sk-proj-" + "".join(RANDOM.choices(SIGNS + "-_", k=48)),
    "hexadecimal": RANDOM.randbytes(32).hex(),
    "base64": base64.b64encode(RANDOM.randbytes(33)).decode(),
    "parts": "-".join("".join(RANDOM.choices(SIGNS, k=8)) for _ in range(4)),
    "signs": "".join(RANDOM.choices(SIGNS + "+/=.~!$", k=44)),
}
ENCODED: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "in capitals": str.upper,
    "in small letters": str.lower,
    "reversed": lambda key: key[::-1],
    "hex": lambda key: key.encode().hex(),
    "HEX": lambda key: key.encode().hex().upper(),
    "hex dump": lambda key: key.encode().hex(" "),
    "hex with colons": lambda key: key.encode().hex(":"),
    "0x": lambda key: ", ".join(f"0x{byte:02x}" for byte in key.encode()),
    "decimal": lambda key: str(list(key.encode())),
    "percent": lambda key: "".join(f"%{byte:02X}" for byte in key.encode()),
    "some in percent": lambda key: "".join(f"%{ord(one):02x}" if n % 3 else one for n, one in enumerate(key)),
    "percent twice": lambda key: quote("".join(f"%{byte:02X}" for byte in key.encode())),
    "URL": lambda key: quote(key, safe=""),
    "entities": lambda key: "".join(f"&#{ord(one)};" for one in key),
    "hex entities": lambda key: "".join(f"&#x{ord(one):x};" for one in key),
    "HTML": escape,
    "unicode escapes": lambda key: "".join(f"\\u{ord(one):04x}" for one in key),
    "some unicode escapes": lambda key: "".join(f"\\u{ord(one):04X}" if n % 2 else one for n, one in enumerate(key)),
    "JSON in JSON": lambda key: json.dumps(json.dumps("".join(f"\\u{ord(one):04x}" for one in key))),
    "byte escapes": lambda key: "".join(f"\\x{byte:02x}" for byte in key.encode()),
    "octal escapes": lambda key: "".join(f"\\{byte:03o}" for byte in key.encode()),
    "repr of bytes": lambda key: repr(key.encode()),
    "base64": lambda key: base64.b64encode(key.encode()).decode(),
    "base64 for URLs": lambda key: base64.urlsafe_b64encode(b"user:" + key.encode()).decode(),
    "base64, not aligned": lambda key: base64.b64encode(b"ab" + key.encode() + b"c").decode(),
    "base64, a part": lambda key: base64.b64encode(key.encode()[5:]).decode(),
    "base32": lambda key: base64.b32encode(key.encode()).decode(),
    "base32, not aligned": lambda key: base64.b32encode(b"abc" + key.encode()).decode().lower(),
    "quoted-printable": lambda key: quopri.encodestring(key.encode(), quotetabs=True).decode(),
    "all quoted-printable": lambda key: "".join(f"={byte:02X}" for byte in key.encode()),
    "the first half": lambda key: key[: len(key) // 2 + 4],
    "the last half": lambda key: key[-len(key) // 2 - 4 :],
    "the middle": lambda key: key[4:32],
}
BETWEEN = {
    "nothing": "", "line ends": "\n", "line ends and spaces": "\r\n    ", "spaces": " ", "zero-width": "\u200b",
    "soft hyphens": "\u00ad", "escaped line ends": "\\n", "encoded line ends": "%0A", "soft line ends": "=\n",
    "dots": "…", "tags": "<br>", "quotes": "' + '",
}  # fmt: skip


def break_text(text: str, between: str, every: int) -> str:
    """Return a text with `between` after every so many characters; an escaped character stays whole."""
    signs = re.findall(
        r"\\u[0-9A-Fa-f]{4}|\\x..|\\[0-7]{3}|&#x?[0-9a-f]+;|%(?:25)?[0-9A-Fa-f]{2}|=[0-9A-F]{2}|.", text, re.S
    )
    return between.join("".join(signs[start : start + every]) for start in range(0, len(signs), every))


@pytest.mark.attack(
    "model",
    "a message repeats a key in hex, base32, escapes, reversed or broken in any place",
    "letters and digits are compared, in every encoding and without what stands between them",
)
@pytest.mark.parametrize("between", BETWEEN)
@pytest.mark.parametrize("encoded", ENCODED)
def test_a_key_vanishes_in_every_encoding_however_it_is_broken(encoded, between, monkeypatch):
    for name, key in KEYS.items():
        monkeypatch.setenv("MY_TEST_KEY", key)
        text = ENCODED[encoded](key)
        for every in (1, 3, 7, 16) if between != "nothing" else (10**9,):
            broken = break_text(text, BETWEEN[between], every)
            assert hidden_places(broken, [key]), (name, every, broken)
            left = redact(f"x {broken} y")
            rest = left.replace("[key]", "")
            letters = re.sub(r"[^A-Za-z0-9]", "", re.sub(r"\\[nrt]|%0A|<br>", "", rest))
            assert len(letters) <= 24, (name, every, left)


def test_ordinary_text_keeps_every_character(monkeypatch):
    monkeypatch.setattr("os.environ", {f"{name.upper().replace(' ', '_')}_KEY": key for name, key in KEYS.items()})
    corpora = Path(__file__).parents[2] / "corpora"
    texts = [path.read_text() for path in sorted(corpora.iterdir()) if path.suffix in (".txt", ".tsv", ".jsonl")]
    assert sum(map(len, texts)) > 50_000
    assert [hidden_places(text, list(KEYS.values())) for text in texts] == [[] for _ in texts]


def test_what_stands_around_a_key_stays(monkeypatch):
    monkeypatch.setenv("MY_TEST_KEY", KEYS["plain"])
    hidden = " ".join(f"%{byte:02X}" for byte in KEYS["plain"].encode())
    assert redact(f"A <b> & \u200b é 50% {hidden}, and 3 = 3.") == "A <b> & \u200b é 50% [key], and 3 = 3."
