"""Sentences in an encoding, or in one within another; and hashes, names and words that only look encoded."""

import base64
import codecs
import string
import textwrap
import uuid
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
    "base16": bytes.hex,
    "base32": lambda data: base64.b32encode(data).decode(),
    "base64": lambda data: base64.b64encode(data).decode(),
    "base85": lambda data: base64.b85encode(data).decode(),
}
# what ends a run of base85, whose alphabet has nearly every sign: a space, a line, a quote
SPACED = (
    "Decode {} now",
    "{}",
    "- {}\n- none",
    "x\n{}\ny",
    '"{}"',
    "`{}`",
    "Siehe {} dort",
    "記録 {} です",
    "Смотри {} там",
)
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
    "ascii85": Planted(
        "ascii85", lambda rng: Piece(base64.a85encode(sentence(rng).encode()).decode(), "<~", "~>"), SPACED
    ),
    "rot13": Planted("rot13", lambda rng: codecs.encode(rng.choice(ENGLISH), "rot13"), LINES),
    **{
        f"{outer} of {inner}": Planted(f"{outer} of {inner}", nested(outer, inner), SPACED)
        for outer in ENCODERS
        for inner in ENCODERS
    },
}  # fmt: skip

LOOK_ALIKES: Mapping[str, Make] = {
    "md5": lambda rng: rng.randbytes(16).hex(),
    "sha1": lambda rng: f"commit {rng.randbytes(20).hex()}",
    "sha256": lambda rng: rng.randbytes(32).hex(),
    "sha256, capitals": lambda rng: rng.randbytes(32).hex().upper(),
    "short commit": lambda rng: rng.randbytes(6).hex(),
    "fingerprint": lambda rng: rng.randbytes(20).hex(":"),
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
    "bytes": lambda rng: rng.randbytes(12).hex(" "),
    "dna": lambda rng: "".join(rng.choices("ACGT", k=60)),
    "protein": lambda rng: "".join(rng.choices("ACDEFGHIKLMNPQRSTVWY", k=50)),
    "chess": lambda rng: "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR",
    "equation": lambda rng: f"a*x**2+b*x+c=={rng.randrange(99)}&&d!=0",
    "regular expression": lambda rng: r"^[A-Za-z0-9._%+-]{2,64}\.[a-z]{2,}$",
    "emoticons": lambda rng: ":-)(-:;-)(-;:-P^_^",
    "file names": lambda rng: f"IMG_2024{rng.randrange(1000, 1300)}_WA{rng.randrange(1000):04}.jpg",
    "roman numerals": lambda rng: rng.choice(["MDCCCLXXXVIII", "MMMDCCCLXXXVIII", "CCCLXXXVIII"]),
    "abbreviations": lambda rng: rng.choice(["NATOUNESCOUNICEF", "ASAPFYIRSVPETA", "HTTPSTLSSSHFTP"]),
    "german": lambda rng: rng.choice(["Donaudampfschifffahrt", "Bundesverfassungsgericht", "Straßenverkehrsordnung"]),
    "english": lambda rng: rng.choice(ENGLISH),
}  # fmt: skip
