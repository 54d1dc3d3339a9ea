"""Secrets: what is found and what is not, precision and recall on a seeded corpus, hostile text in bounded time."""

import base64
import json
import random
import re
import string
import uuid
from collections import Counter
from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metrics.kernels.personal_data import redacted
from metrics.kernels.secrets import entropy, looks_random, secrets
from tests.timing import quickest

BASE62 = string.ascii_letters + string.digits
URLSAFE = BASE62 + "-_"
CAPITALS = string.ascii_uppercase + string.digits
BASE24 = "BCDFGHJKMPQRTVWXY2346789"  # the alphabet of a well-known product key
HEX = "0123456789abcdef"
Make = Callable[[random.Random], str]


def found(text: str) -> list[tuple[str, str]]:
    return [(secret.kind, text[secret.start : secret.end]) for secret in secrets(text)]


def drawn(prefix: str, alphabet: str, length: int, suffix: str = "") -> Make:
    return lambda rng: prefix + "".join(rng.choices(alphabet, k=length)) + suffix


def pem(label: str, newline: str = "\n", foot: bool = True) -> Make:
    def make(rng: random.Random) -> str:
        body = base64.b64encode(rng.randbytes(rng.randrange(100, 900))).decode()
        lines = [f"-----BEGIN {label}-----", *re.findall(".{1,64}", body)]
        return newline.join([*lines, f"-----END {label}-----"] if foot else lines)

    return make


def jwt(rng: random.Random) -> str:
    parts = [{"alg": "RS256", "kid": str(rng.random())}, {"sub": str(rng.randrange(10**9)), "iat": 1_700_000_000}]
    encoded = [base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode() for part in parts]
    return ".".join([*encoded, base64.urlsafe_b64encode(rng.randbytes(32)).rstrip(b"=").decode()])


def product_key(rng: random.Random) -> str:
    return "-".join("".join(rng.choices(BASE24, k=5)) for _ in range(5))


def password(rng: random.Random) -> str:
    word = "".join(rng.choices(BASE62, k=rng.randrange(9, 20))) + rng.choice("!#%*_") + rng.choice(string.digits)
    return rng.choice(string.ascii_lowercase) + rng.choice(string.ascii_uppercase) + word


# kind, what stands before it, the secret itself
PLANTED: dict[str, tuple[str, str, Make]] = {
    "rsa key": ("private_key", "", pem("RSA PRIVATE KEY")),
    "pkcs8 key in JSON": ("private_key", '"private_key": "', pem("PRIVATE KEY", "\\n")),
    "openssh key, windows": ("private_key", "", pem("OPENSSH PRIVATE KEY", "\r\n")),
    "pgp key": ("private_key", "", pem("PGP PRIVATE KEY BLOCK")),
    "key cut short": ("private_key", "", pem("EC PRIVATE KEY", foot=False)),
    "certificate": ("certificate", "", pem("CERTIFICATE")),
    "aws": ("cloud_key", "id ", drawn("AKIA", CAPITALS, 16)),
    "aws secret": ("cloud_key", "aws_secret_access_key = ", drawn("", BASE62 + "/+", 40)),
    "google": ("cloud_key", "key=", drawn("AIza", URLSAFE, 34, "q")),
    "azure": ("cloud_key", "AccountKey=", lambda rng: base64.b64encode(rng.randbytes(64)).decode()),
    "openai": ("llm_token", "export K=", drawn("sk-proj-", URLSAFE, 47, "x")),
    "openai, old": ("llm_token", "'", drawn("sk-", BASE62, 48)),
    "anthropic": ("llm_token", "", drawn("sk-ant-api03-", URLSAFE, 92, "A")),
    "hugging face": ("llm_token", "token ", drawn("hf_", BASE62, 34)),
    "github": ("git_token", "https://", drawn("ghp_", BASE62, 36)),
    "github, fine-grained": ("git_token", "", drawn("github_pat_11ABCDEFG0aBcDeFgHiJkL_", BASE62, 59)),
    "gitlab": ("git_token", "", drawn("glpat-", URLSAFE, 19, "z")),
    "slack": ("service_token", "", lambda rng: f"xoxb-{rng.randrange(10**11, 10**12)}-" + drawn("", BASE62, 24)(rng)),
    "slack webhook": ("service_token", "", drawn("https://hooks.slack.com/services/T0AB12CD3/B0AB12CD3/", BASE62, 24)),
    "stripe": ("service_token", "", drawn("sk_live_", BASE62, 24)),
    "sendgrid": ("service_token", "", lambda rng: drawn("SG.", BASE62, 22)(rng) + drawn(".", BASE62, 43)(rng)),
    "npm": ("service_token", "_authToken=", drawn("npm_", BASE62, 36)),
    "jwt": ("jwt", "Authorization: Bearer ", jwt),
    "product key": ("product_key", "Key: ", product_key),
    "hexadecimal api key": ("credential", "api_key = ", drawn("", HEX, 32)),
    "api key in JSON": ("credential", '{"apiKey": "', drawn("", BASE62, 24)),
    "client secret": ("credential", "client-secret: ", drawn("", BASE62, 40)),
    "bearer": ("credential", "Authorization: Bearer ", drawn("", BASE62, 40)),
    "password": ("password", "password: ", password),
    "password in prose": ("password", "your password is ", password),
    "password in a URL": ("password", "postgres://app:", lambda rng: drawn("", BASE62, 14)(rng)),
}  # fmt: skip
AFTER = {
    "password in a URL": "@db.internal/shop",
    "pkcs8 key in JSON": '"',
    "api key in JSON": '"}',
    "openai, old": "'",
}
LOOK_ALIKES: dict[str, Make] = {
    "sha256": lambda rng: "digest " + drawn("", HEX, 64)(rng),
    "commit": lambda rng: "commit " + drawn("", HEX, 40)(rng),
    "uuid": lambda rng: f"request id: {uuid.UUID(int=rng.getrandbits(128))}",
    "base64 image": lambda rng: "data:image/png;base64," + base64.b64encode(rng.randbytes(90)).decode(),
    "placeholder": lambda rng: f"api_key = \"YOUR_API_KEY_{'X' * rng.randrange(8, 20)}\"",
    "masked": lambda rng: f"sk-{'x' * rng.randrange(32, 48)} and token=****************{rng.randrange(9999)}",
    "variable": lambda rng: f"api_key = os.environ[\"SERVICE_{rng.randrange(99)}_API_KEY\"]",
    "call": lambda rng: f"token = create_access_token(user_{rng.randrange(99)}.identity, expires=3600)",
    "model name": lambda rng: f"token: gpt-4o-mini-2024-{rng.randrange(1, 13):02}-18",
    "counts": lambda rng: f"token_count: {rng.randrange(10**17)}, max_tokens={rng.randrange(10**6)}",
    "class name": lambda rng: f"sk-admin-panel-sidebar-container-{rng.choice(['left', 'right', 'bottom'])}",
    "words in groups": lambda rng: "-".join(rng.sample(["HELLO", "WORLD", "THESE", "WORDS", "MATCH", "NEVER"], 5)),
    "numbers in groups": lambda rng: "-".join(f"{rng.randrange(10**5):05}" for _ in range(5)),
    "talk of a key": lambda rng: f"line {rng.randrange(99)} reads -----BEGIN PRIVATE KEY-----, then base64 follows",
    "public key": pem("PUBLIC KEY"),
    "password advice": lambda rng: f"password: at least {rng.randrange(8, 20)} characters; it is case-sensitive",
    "url": lambda rng: f"https://example.org:8080/a/{drawn('', HEX, 32)(rng)}?page={rng.randrange(99)}",
    "three dotted parts": lambda rng: "eyJust.kidding.here eyJvdGhlciI6IDF9." + drawn("", BASE62, 40)(rng),
    "not quite aws": lambda rng: "AKIA" + drawn("", CAPITALS, 15)(rng) + " " + drawn("AKIA", CAPITALS, 18)(rng),
    "database without password": lambda rng: f"postgres://app:${{DB_PASSWORD}}@db{rng.randrange(99)}/shop",
}  # fmt: skip
TALK = [
    "The service starts.",
    "Bitte nicht weitergeben:",
    "See section 4.2 of the manual.",
    "答えは次のとおりです。",
    "ok,",
]


def corpus(size: int = 2_400) -> list[tuple[str, str, list[tuple[str, str]]]]:
    """Texts with what is hidden in them: as many look-alikes as secrets, every kind equally often."""
    rng = random.Random(20)
    made = []
    for index in range(size):
        names = list(PLANTED if index % 2 else LOOK_ALIKES)
        name = names[index // 2 % len(names)]
        if index % 2:
            kind, before, make = PLANTED[name]
            secret = make(rng)
            text, hidden = before + secret + AFTER.get(name, ""), [(kind, secret)]
        else:
            text, hidden = LOOK_ALIKES[name](rng), []
        made.append((name, f"{rng.choice(TALK)}\n{text}\n{rng.choice(TALK)}", hidden))
    return made


def test_precision_and_recall_on_a_corpus() -> None:
    """Spans must be exact; the share found and the share right are both high, and of every kind."""
    wrong, missed, right = Counter[str](), Counter[str](), 0
    for name, text, hidden in corpus():
        seen = found(text)
        right += len(set(seen) & set(hidden))
        wrong[name] += len(set(seen) - set(hidden))
        missed[name] += len(set(hidden) - set(seen))
    assert right / (right + wrong.total()) >= 0.98, wrong
    assert right / (right + missed.total()) >= 0.98, missed
    assert max(missed.values()) <= 4, missed  # of some 39


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("", [], id="empty"),
        pytest.param("\\nAKIAZ7XQ2M4LP9RT3VWB\\n", [("cloud_key", "AKIAZ7XQ2M4LP9RT3VWB")], id="after-a-written-break"),
        pytest.param("xAKIAZ7XQ2M4LP9RT3VWB", [], id="inside-a-word"),
        pytest.param("The password is Tr0ub4dor&3.", [("password", "Tr0ub4dor&3")], id="full-stop-left-out"),
        pytest.param("ftp://me:password@host", [], id="the-word-password-in-a-url"),
        pytest.param("-----BEGIN CERTIFICATE-----\nabc\n-----END CERTIFICATE-----", [], id="no-body"),
    ],
)
def test_what_is_found(text: str, expected: list[tuple[str, str]]) -> None:
    assert found(text) == expected


@pytest.mark.parametrize(
    "text", ["AKIAIOSFODNN7EXAMPLE", "aws_secret_access_key=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"]
)
def test_published_samples_are_dummies(text: str) -> None:
    (secret,) = secrets(text)
    assert secret.dummy


def test_kinds_may_be_chosen_and_never_overlap() -> None:
    rng = random.Random(1)
    text = " ".join(before + make(rng) + AFTER.get(name, " ") for name, (_, before, make) in PLANTED.items())
    every = secrets(text)
    assert all(left.end <= right.start for left, right in pairwise(every))
    assert secrets(text, ["jwt"]) == [secret for secret in every if secret.kind == "jwt"]


def test_entropy() -> None:
    assert [entropy("aaaa"), entropy("ab"), entropy("abcd"), entropy("")] == [0, 1, 2, 0]
    assert looks_random("9f8e7d6c5b4a39281706")
    assert not looks_random("bert-base-uncased-2024")


@settings(max_examples=200, deadline=None)
@given(st.text("sk-AKIA019xyz=: \n.eyJ@/password", max_size=80))
def test_findings_lie_in_the_text_and_hide_it(text: str) -> None:
    for secret in secrets(text):
        assert 0 <= secret.start < secret.end <= len(text)
        assert not any(character.isalnum() for character in redacted(text, secret)[1:])


HOSTILE = [
    "a",
    "eyJhbGciOiJIUzI1NiJ9.",
    "-----BEGIN PRIVATE KEY-----",
    "://a:",
    "password is ",
    "token = ",
    "ABCD1-",
    "\n",
]


@pytest.mark.parametrize("unit", HOSTILE)
def test_a_megabyte_of_hostile_text_takes_seconds(unit: str) -> None:
    assert quickest(lambda: secrets(unit * (1_000_000 // len(unit))), 15) < 15
