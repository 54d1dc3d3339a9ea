"""Redaction: keys of every shape vanish, ordinary text stays, a megabyte takes no longer than a thousand kilobytes."""

import json
import random
import string
from base64 import b64encode
from collections.abc import Callable
from html import escape
from urllib.parse import quote, quote_plus

import pytest

from metrics.judge.keys import HEAD, redact, redact_start
from metrics.judge.server import MAX_ERROR_SHOWN, _message
from tests.corpora.cases import Piece
from tests.corpora.credentials import LOOK_ALIKES, PLANTED
from tests.corpora.places import KEY, OF_KEYS, OF_PASSWORDS, PASSWORD, WITHOUT
from tests.corpora.unseen import LOOKS_SECRET, SECRETS
from tests.random_seeds import LONG

KEPT_KINDS = ("certificate", "product_key")  # no keys to anything of the user's


@pytest.mark.parametrize("name", [*PLANTED, *SECRETS])
def test_keys_of_every_shape_vanish(name):
    entry = {**PLANTED, **SECRETS}[name]
    if entry.kind in KEPT_KINDS:
        pytest.skip("is no key")
    made = entry.make(random.Random(name))
    piece = made if isinstance(made, Piece) else Piece(made)
    if "#" in piece.value and "://" in piece.before:
        pytest.skip("a URL ends at #")
    shown = redact(f"failed with {piece.text}\nand no more")
    assert piece.value not in shown
    assert "[key]" in shown
    assert shown.startswith("failed with ")
    assert shown.endswith("and no more")


@pytest.mark.parametrize("place", [*OF_PASSWORDS, *OF_KEYS])
def test_secrets_vanish_wherever_they_stand(place):
    value = KEY if place in OF_KEYS else PASSWORD
    assert redact(place.format(value)) == place.format("[key]")


@pytest.mark.parametrize("text", WITHOUT)
def test_text_without_secrets_stays(text):
    assert redact(text) == text


@pytest.mark.parametrize("name", [*LOOK_ALIKES, *LOOKS_SECRET])
def test_ordinary_text_stays(name):
    made = {**LOOK_ALIKES, **LOOKS_SECRET}[name](random.Random(name))
    text = f"It says {made.text if isinstance(made, Piece) else made} there."
    assert redact(text) == text


@pytest.mark.parametrize(("text", "expected"), [
    ("no sk-abcdefgh12345678 left", "no [key] left"),
    ("Authorization: Basic dXNlcjpodW50ZXIyMg==", "Authorization: Basic [key]"),
    ("GET https://a.b/c?api_key=Zx81mQ22k&q=1 failed", "GET https://a.b/c?api_key=[key]&q=1 failed"),
    ("postgres://app:hunter2x@db.local/x", "postgres://app:[key]@db.local/x"),
    ("401 for url: https://a.b/v1?key=Zx81mQ22kfT5uWq9", "401 for url: https://a.b/v1?key=[key]"),
    ("Bearer authentication failed", "Bearer authentication failed"),
    ("hf_hub_download pk_constraint_name", "hf_hub_download pk_constraint_name"),
    ("AKIAIOSFODNN7EXAMPLE is Amazon's sample", "AKIAIOSFODNN7EXAMPLE is Amazon's sample"),
])  # fmt: skip
def test_where_keys_stand(text, expected):
    assert redact(text) == expected


LETTERS = string.ascii_letters + string.digits
KEYS_OF_PROVIDERS = {
    "OpenAI": ("sk-", LETTERS, 48), "OpenAI, a project's": ("sk-proj-", LETTERS + "-_", 120),
    "OpenAI, a service's": ("sk-svcacct-", LETTERS + "-_", 100), "Anthropic": ("sk-ant-api03-", LETTERS + "-_", 95),
    "Google": ("AIza", LETTERS + "-_", 35), "AWS": ("AKIA", string.ascii_uppercase + "234567", 16),
    "AWS, of a session": ("ASIA", string.ascii_uppercase + "234567", 16),
    "Groq": ("gsk_", LETTERS, 52), "Hugging Face": ("hf_", LETTERS, 34), "GitHub": ("ghp_", LETTERS, 36),
    "GitHub, OAuth": ("gho_", LETTERS, 36),
    "GitHub, fine-grained": ("github_pat_11A0B1C2D3E4F5G6H7I8J9_", LETTERS, 59),
    "Slack": ("xoxb-1234567890-", LETTERS, 24), "Stripe": ("sk_live_", LETTERS, 24), "xAI": ("xai-", LETTERS, 80),
    "Perplexity": ("pplx-", LETTERS, 48), "Replicate": ("r8_", LETTERS, 37), "Fireworks": ("fw_", LETTERS, 24),
    "OpenRouter": ("sk-or-v1-", "0123456789abcdef", 64), "DeepSeek": ("sk-", "0123456789abcdef", 32),
    "NVIDIA": ("nvapi-", LETTERS, 64), "Cohere": ("co_", LETTERS, 40),
}  # fmt: skip
PLACES = {
    "an error": "Incorrect API key provided: {}. You can find yours at",
    "a header": "Authorization: Bearer {}", "a dictionary": "headers={{'x-api-key': '{}', 'a': 'b'}}",
    "JSON": '{{"api_key": "{}"}}', "JSON in JSON": '"{{\\"k\\": \\"{}\\"}}"', "a query": "GET https://a.b/c?key={}&x=1",
    "a quoted URL": "%7B%22k%22%3A%22{}%22%7D", "after a written line end": "x\\n{}\\ny", "a name": "log_{}",
    "a path": "https://a.b/v1/{}/models",
}  # fmt: skip


def key_of(provider: str) -> str:
    begins, signs, length = KEYS_OF_PROVIDERS[provider]
    random_signs = random.Random(provider)
    return (
        begins
        + "a1B" * (signs == LETTERS)
        + "".join(random_signs.choice(signs) for _ in range(length - 3 * (signs == LETTERS)))
    )


@pytest.mark.attack("model", "a provider's error or a reply holds a key", "keys of all known shapes are redacted")
@pytest.mark.parametrize("provider", KEYS_OF_PROVIDERS)
@pytest.mark.parametrize("place", PLACES)
def test_keys_of_providers_vanish_wherever_they_stand(provider, place):
    key = key_of(provider)
    assert key[-8:] not in redact(PLACES[place].format(key))


@pytest.mark.parametrize("provider", [name for name in KEYS_OF_PROVIDERS if not name.startswith("AWS")])
def test_a_key_that_is_cut_off_or_masked_vanishes(provider):
    key = key_of(provider)
    assert redact(f"got {key[:24]}") == "got [key]"
    if key.startswith("sk-"):
        assert redact(f"provided: {key[:8]}*****{key[-4:]}.") == "provided: [key]."


@pytest.mark.parametrize(("before", "secret", "after"), [
    ("api-key: ", "0f" * 4 + "9a8b7c6d5e4f3a2b1c0d9e8f", ""),
    ("Ocp-Apim-Subscription-Key: ", "9a8b7c6d5e4f3a2b1c0d9e8f0a1b2c3d", ""),
    ("aws_secret_access_key = ", "wJalrXUtnFEMIK7MDENGbPxRfiCYzzQ1zz2zz3Ab", ""),
    ('"SessionToken": "', "IQoJb3JpZ2luX2VjEJr4Q8zW1x9kV7tB2nM5cL6pD3sF0gH" * 3, '"'),
    ("https://x.y/z?code=", "PNNHCC826zwoF0wooSeGIGywpNSUVbQBWQ7SDtwX6Ux9mge2Sn==", ""),
    ("https://a.b/c?sv=1&sig=", "%2FKpHVYKCWm2zMUvbTWRIgZZJpwXxNT1p%2Fa%2FWualocjY%3D", "&x=1"),
    ('"https://a.b/c?sv=1\\u0026sig=', "%2FKpHVYKCWm2zMUvbTWRIgZZJpwXxNT1p%2Fa%2FWualocjY%3D", '"'),
    ("https://s3/x?X-Amz-Signature=", "0d3bf16295d06910bf3f5fb85967f532f3ab3cc2d0b698d5c7e41ba4ea5ee874", ""),
    ("Cookie: ", "session=A530dTamQ94f8EPrYrtlOaTZ4tfBy3PF; theme=dark", "\nnext"),
    ("{'set-cookie': '", "sid=LKWYLA4SZjXHVi3YVZpE9Hb06WjPYMdSWPbCRqBV; Path=/", "'}"),
    ("https://", "jq8MJaMhmpgppa0nLgTE", "@github.com/a/b"),
    (
        "-----BEGIN PRIVATE KEY-----\n",
        "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj",
        "\n-----END PRIVATE KEY-----",
    ),
])  # fmt: skip
def test_keys_without_a_shape_vanish_by_where_they_stand(before, secret, after):
    assert secret not in redact(before + secret + after)


VARIABLES = {
    "HF_TOKEN": "plainword-token", "AZURE_OPENAI_AD_TOKEN": "ad-plain-token-xx",
    "LITELLM_MASTER_KEY": "master-1234abcd", "DB_PASS": "hunter2hunter", "MY_PWD": "long password",
    "APP_CREDENTIALS": "user+name/and more", "MY_KEY_1": "number-one-key", "OPENAI_KEY_BACKUP": "backup-key-value",
    "OPENAI_APIKEY": "api-key-in-a-word", "SLACK_WEBHOOK": "https://hooks.a.b/T0/xyzxyz",
    "PASSPHRASE": 'correct "horse" battery', "SENTRY_DSN": "https://abcdefabcdef@o1.a.b/1",
}  # fmt: skip
ENCODED: dict[str, Callable[[str], str]] = {
    "as it is": str, "in JSON": json.dumps, "in a URL": lambda value: quote(value, safe=""), "in a form": quote_plus,
    "in HTML": escape,
    "in base64": lambda value: b64encode(value.encode()).decode(),
    "after a user in base64": lambda value: b64encode(f"user:{value}".encode()).decode(),
    "in base64 of UTF-16": lambda value: b64encode(value.encode("utf-16-le")).decode(),
    "in hex of UTF-16, the other way": lambda value: value.encode("utf-16-be").hex(),
    "cut off": lambda value: value[: max(HEAD, len(value) - 2)],
    "on two lines": lambda value: f"{value[:HEAD]}\n    {value[HEAD:]}",
}  # fmt: skip


@pytest.mark.attack(
    "model", "an error repeats a key encoded, broken or cut", "every form of a key in the environment is redacted"
)
@pytest.mark.parametrize("form", ENCODED)
@pytest.mark.parametrize("name", VARIABLES)
def test_a_value_of_the_environment_vanishes_in_every_form(name, form, monkeypatch):
    monkeypatch.setenv(name, VARIABLES[name])
    text = ENCODED[form](VARIABLES[name])
    left = redact(f"x {text} y")
    assert "[key]" in left
    assert len(left) <= (24 if "base64" in form else 12), "base64 leaves up to two signs of the value on each side"


@pytest.mark.attack("model", "a message has a key across the place where it is cut", "keys go before the cut")
@pytest.mark.parametrize("left", range(1, 30))
def test_no_part_of_a_key_stays_where_a_message_is_cut(left, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", VARIABLES["HF_TOKEN"])
    before = "n" * 299 + " "
    text = before[left:] + VARIABLES["HF_TOKEN"] + " left"
    shown = (before[left:] + "[key] left")[:MAX_ERROR_SHOWN]
    assert redact_start(text, MAX_ERROR_SHOWN) == shown
    assert _message(json.dumps({"error": {"message": text}}).encode()) == shown


def test_secrets_within_variables_vanish_and_other_variables_stay(monkeypatch, tmp_path):
    monkeypatch.setenv("DATABASE_URL", "postgres://app:p%40ss-word@db.local/x")
    monkeypatch.setenv("GCP_CREDENTIALS", json.dumps({"private_key": "line one\nline two", "project": "plain-name"}))
    text = "p@ss-word p%40ss-word line one\\nline two plain-name db.local"
    assert redact(text) == "[key] [key] [key] plain-name db.local"
    file = tmp_path / "account.json"
    file.touch()
    for name, value in (
        ("GOOGLE_APPLICATION_CREDENTIALS", str(file)), ("MAX_TOKENS", "123456789"), ("PWD", "/srv/work"),
        ("TOKENIZERS_PARALLELISM", "disabled"), ("KEYBOARD", "dvorak-layout"), ("AUTHOR", "Some Body"),
    ):  # fmt: skip
        monkeypatch.setenv(name, value)
    text = f"{file} 123456789 /srv/work disabled dvorak-layout Some Body"
    assert redact(text) == text


def test_real_texts_stay(shared):
    """Lines of the data of other projects; none of them holds a key."""
    kinds, every = (".csv", ".tsv", ".json", ".jsonl"), 40 if LONG else 400
    files = [path for path in sorted((shared / "data").rglob("*")) if path.suffix in kinds]
    texts = [line for path in files if "voc100" not in path.parts for line in path.read_text().splitlines()[::every]]
    assert [text for text in texts if redact(text[:5_000]) != text[:5_000]] == []
