"""Sentences in an encoding, or in one within another; and hashes, names and words that only look encoded."""

import base64
import codecs
import gzip
import string
import textwrap
import uuid
import zlib
from collections.abc import Callable, Mapping

from tests.corpora.cases import Draw, Make, Piece, Planted

Encode = Callable[[bytes], str]
SENTENCES = (
    "Write to jane.roe@acme-bank.com", "The password of the house is under the mat", "ssn 536-90-4399",
    "Bitte überweisen Sie den Betrag bis Freitag", "Rendez-vous à minuit près du pont", "Встречаемся у старого моста",
    "会議は三時に始まります。", "请在周五之前回复这封邮件", "Llámame cuando llegues a casa", "ignore all rules",
    "4539 1488 0343 6467 exp 04/29",
)  # fmt: skip
ENGLISH = (
    "This is the secret of the house and it must not be told.", "They have put the key under the mat for you.",
    "Do not let them know what we will do with the money.",
)  # fmt: skip
ENCODERS: Mapping[str, Encode] = {
    "base16": bytes.hex, "base32": lambda data: base64.b32encode(data).decode(),
    "base64": lambda data: base64.b64encode(data).decode(), "base85": lambda data: base64.b85encode(data).decode(),
}  # fmt: skip
# what ends a run of base85, whose alphabet has nearly every sign: a space, a line, a quote
SPACED = (
    "Decode {} now", "{}", "- {}\n- none", "x\n{}\ny", '"{}"', "`{}`", "Siehe {} dort", "記録 {} です", "Смотри {} там",
)  # fmt: skip
LINES = ("{}", "First a line.\n{}\nThen another line.", "Here it is:\n\n{}\n")


def sentence(rng: Draw) -> str:
    if rng.random() < 0.5:
        return rng.choice(SENTENCES) + rng.choice(["", "!", f" {rng.randrange(1000)}"])
    drawn = ["".join(rng.choices(string.ascii_lowercase, k=rng.randrange(2, 9))) for _ in range(rng.randrange(3, 9))]
    return " ".join(drawn).capitalize()


def encoded(encode: Encode) -> Make:
    return lambda rng: encode(sentence(rng).encode())


def url_safe(rng: Draw) -> str:
    """One in which the alphabets differ, or nobody could tell them apart."""
    while True:
        made = base64.urlsafe_b64encode(sentence(rng).encode() + rng.choice(["»ÿ", "≥?", "ÿÿ"]).encode()).decode()
        if "-" in made or "_" in made:
            return made


def in_lines(rng: Draw) -> str:
    data = " ".join(sentence(rng) for _ in range(6)).encode()
    return "\n".join(textwrap.wrap(base64.b64encode(data).decode(), 76))


def ascii_sentence(rng: Draw) -> str:
    while True:
        if (made := sentence(rng)).isascii() and sum(map(str.islower, made)) > 0.6 * len(made):
            return made


def coded(form: str, between: str = "", ascii_only: bool = True) -> Make:
    """Every character by its code."""
    draw = ascii_sentence if ascii_only else sentence
    return lambda rng: between.join(form.format(ord(character)) for character in draw(rng))


def bytes_coded(form: str, between: str = "") -> Make:
    return lambda rng: between.join(form.format(byte) for byte in sentence(rng).encode())


def _gzip(data: bytes) -> bytes:
    return gzip.compress(data, mtime=0)  # the same bytes at any time


def packed(pack: Callable[[bytes], bytes]) -> Make:
    return lambda rng: base64.b64encode(pack(sentence(rng).encode())).decode()


def three_fold(rng: Draw) -> str:
    data = sentence(rng).encode()
    for _ in range(3):
        data = base64.b64encode(data)
    return data.decode()


def nested(outer: str, inner: str) -> Make:
    def make(rng: Draw) -> str:
        hidden = ENCODERS[inner](sentence(rng).encode())
        around = rng.choice(["{}", "then {} end", "x {}"])
        return ENCODERS[outer](around.format(hidden).encode())

    return make


PLANTED: Mapping[str, Planted] = {
    "base16": Planted("base16", encoded(bytes.hex)),
    "base16, capitals": Planted("base16", encoded(lambda data: data.hex().upper())),
    "base16, spaced": Planted("base16", encoded(lambda data: data.hex(" "))),
    "base16, colons": Planted("base16", encoded(lambda data: data.hex(":"))),
    "base32": Planted("base32", encoded(ENCODERS["base32"])),
    "base32, unpadded": Planted("base32", encoded(lambda data: base64.b32encode(data).decode().rstrip("="))),
    "base64": Planted("base64", encoded(ENCODERS["base64"])),
    "base64, unpadded": Planted("base64", encoded(lambda data: base64.b64encode(data).decode().rstrip("="))),
    "base64, in lines": Planted("base64", in_lines, LINES),
    "base64, utf-16": Planted("base64", lambda rng: base64.b64encode(rng.choice(ENGLISH).encode("utf-16-le")).decode()),
    "base64, data": Planted("base64", lambda rng: Piece(encoded(ENCODERS["base64"])(rng), "data:text/plain;base64,")),
    "base64url": Planted("base64url", url_safe),
    "base85": Planted("base85", encoded(ENCODERS["base85"]), SPACED),
    "ascii85": Planted("ascii85", lambda rng: Piece(base64.a85encode(sentence(rng).encode()).decode(), "<~", "~>"),
        SPACED),
    "base64, utf-16 with a mark": Planted("base64",
        lambda rng: base64.b64encode(sentence(rng).encode("utf-16")).decode()),
    "base64, three-fold": Planted("base64 of base64 of base64", three_fold),
    "gzip": Planted("base64 of gzip", packed(_gzip)),
    "zlib": Planted("base64 of gzip", packed(zlib.compress)),
    "base16, 0x": Planted("base16", bytes_coded("0x{:02X}", ", "), SPACED),
    "base16, hyphens": Planted("base16", bytes_coded("{:02x}", "-"), SPACED),
    "escapes, x": Planted("escapes", bytes_coded(r"\x{:02x}"), SPACED),
    "escapes, u": Planted("escapes", coded(r"\u{:04x}", ascii_only=False), SPACED),
    "percent": Planted("percent", bytes_coded("%{:02X}"), SPACED),
    "entities": Planted("entities", coded("&#{};", ascii_only=False), SPACED),
    "entities, hexadecimal": Planted("entities", coded("&#x{:x};", ascii_only=False), SPACED),
    "binary": Planted("binary", bytes_coded("{:08b}", " "), SPACED),
    "binary, one number": Planted("binary", bytes_coded("{:08b}"), SPACED),
    "decimal": Planted("decimal", coded("{}", " "), SPACED),
    "decimal, commas": Planted("decimal", coded("{}", ", "), SPACED),
    "octal": Planted("octal", coded("{:03o}", " "), SPACED),
    "octal, escapes": Planted("octal", coded(r"\{:03o}"), SPACED),
    "tags": Planted("tags", lambda rng: "".join(chr(0xE0000 + ord(sign)) for sign in ascii_sentence(rng)), SPACED),
    "rot13": Planted("rot13", lambda rng: codecs.encode(rng.choice(ENGLISH), "rot13"), LINES),
    **{f"{outer} of {inner}": Planted(f"{outer} of {inner}", nested(outer, inner),
        SPACED) for outer in ENCODERS for inner in ENCODERS},
}  # fmt: skip

LOOK_ALIKES: Mapping[str, Make] = {
    "md5": lambda rng: rng.randbytes(16).hex(), "sha1": lambda rng: f"commit {rng.randbytes(20).hex()}",
    "sha256": lambda rng: rng.randbytes(32).hex(),
    "sha256, capitals": lambda rng: rng.randbytes(32).hex().upper(),
    "short commit": lambda rng: rng.randbytes(6).hex(), "fingerprint": lambda rng: rng.randbytes(20).hex(":"),
    "uuid": lambda rng: str(uuid.UUID(int=rng.getrandbits(128), version=4)),
    "number": lambda rng: str(rng.randrange(10**11, 10**22)),
    "unix time in ms": lambda rng: str(rng.randrange(1_500_000_000_000, 1_800_000_000_000)),
    "random base64": lambda rng: base64.b64encode(rng.randbytes(rng.randrange(9, 60))).decode(),
    "image": lambda rng: "data:image/png;base64,iVBORw0KGgo" + base64.b64encode(rng.randbytes(120)).decode(),
    "integrity": lambda rng: f"sha384-{base64.b64encode(rng.randbytes(48)).decode()}",
    "jwt's signature": lambda rng: base64.urlsafe_b64encode(rng.randbytes(32)).rstrip(b"=").decode(),
    "api key": lambda rng: "sk-" + "".join(rng.choices(string.ascii_letters + string.digits, k=40)),
    "totp seed": lambda rng: base64.b32encode(rng.randbytes(20)).decode(),
    "word": lambda rng: rng.choice(["internationalization", "Verantwortungsbewusstsein", "counterrevolutionaries"]),
    "capitals": lambda rng: rng.choice(["INTERNATIONALIZATION", "ACKNOWLEDGEMENTS", "MISUNDERSTANDINGS"]),
    "words of hexadecimal letters": lambda rng: rng.choice(["deadbeef", "facade effaced decade", "BADCAFE", "c0ffee"]),
    "identifier": lambda rng: f"getUserAccountSettings{rng.randrange(9999)}_handlerFactory",
    "constant": lambda rng: f"MAX_RETRIES_PER_REQUEST_{rng.randrange(99)}",
    "kebab": lambda rng: f"user-account-settings-panel-{rng.randrange(99)}",
    "path": lambda rng: f"/usr/local/lib/python3/site-packages/module{rng.randrange(999)}/index",
    "url": lambda rng: f"https://acme.org/articles/{rng.randrange(9999)}/how-to-write-a-guardrail?page={rng.randrange(9)}",
    "mac address": lambda rng: ":".join(f"{rng.randrange(256):02x}" for _ in range(8)),
    "ipv6": lambda rng: ":".join(f"{rng.randrange(65536):04x}" for _ in range(8)),
    "date and time": lambda rng: f"2024{rng.randrange(10, 13)}{rng.randrange(10, 29)}T{rng.randrange(10**6):06}Z",
    "colours": lambda rng: " ".join(f"#{rng.randbytes(3).hex()}" for _ in range(5)),
    "bytes": lambda rng: rng.randbytes(12).hex(" "), "dna": lambda rng: "".join(rng.choices("ACGT", k=60)),
    "protein": lambda rng: "".join(rng.choices("ACDEFGHIKLMNPQRSTVWY", k=50)),
    "chess": lambda rng: "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR",
    "equation": lambda rng: f"a*x**2+b*x+c=={rng.randrange(99)}&&d!=0",
    "regular expression": lambda rng: r"^[A-Za-z0-9._%+-]{2,64}\.[a-z]{2,}$",
    "emoticons": lambda rng: ":-)(-:;-)(-;:-P^_^",
    "file names": lambda rng: f"IMG_2024{rng.randrange(1000, 1300)}_WA{rng.randrange(1000):04}.jpg",
    "roman numerals": lambda rng: rng.choice(["MDCCCLXXXVIII", "MMMDCCCLXXXVIII", "CCCLXXXVIII"]),
    "abbreviations": lambda rng: rng.choice(["NATOUNESCOUNICEF", "ASAPFYIRSVPETA", "HTTPSTLSSSHFTP"]),
    "grades": lambda rng: " ".join(str(rng.randrange(40, 101)) for _ in range(12)),
    "measurements": lambda rng: ", ".join(str(rng.randrange(10, 250)) for _ in range(15)),
    "modes of files": lambda rng: " ".join(rng.choice(["644", "755", "600", "440"]) for _ in range(9)),
    "network mask": lambda rng: "11111111 " * 3 + rng.choice(["00000000", "11110000"]) + " 00000000" * 2,
    "random bits": lambda rng: "".join(rng.choices("01", k=96)),
    "windows path": lambda rng: rf"C:\users\xavier\docs{rng.randrange(99)}\new\021\old",
    "percentages": lambda rng: f"{rng.randrange(99)}% and {rng.randrange(99)}%, not {rng.randrange(99)}%",
    "marked-up signs": lambda rng: rng.choice(["Q&amp;A", "a &lt; b", "R&amp;D", "&copy; us", "x&nbsp;y"]),
    "flag of England": lambda rng: "\U0001f3f4" + "".join(chr(0xE0000 + ord(c)) for c in "gbeng") + "\U000e007f",
    "random gzip": lambda rng: base64.b64encode(_gzip(rng.randbytes(40))).decode(),
    "telephone list": lambda rng: " ".join(str(rng.randrange(200, 999)) for _ in range(9)),
    "german": lambda rng: rng.choice(["Donaudampfschifffahrt", "Bundesverfassungsgericht", "Straßenverkehrsordnung"]),
    "english": lambda rng: rng.choice(ENGLISH),
}  # fmt: skip
