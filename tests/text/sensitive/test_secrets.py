"""Secrets: what is found and what is not, hostile text in bounded time; see test_rules_corpora for the kinds."""

import random
import string
from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given, strategies as st

from metrics.text.sensitive.secret_tokens import entropy, looks_random
from metrics.text.sensitive.secrets import secrets
from metrics.text.sensitive.spans import redacted
from tests.corpora.cases import Piece
from tests.corpora.credentials import PLANTED
from tests.corpora.places import KEY, OF_KEYS, OF_PASSWORDS, PASSWORD, WITHOUT


def found(text: str) -> list[tuple[str, str]]:
    return [(secret.kind, text[secret.start : secret.end]) for secret in secrets(text)]


@pytest.mark.parametrize(("text", "expected"), [
    pytest.param("", [], id="empty"),
    pytest.param("\\nAKIAZ7XQ2M4LP9RT3VWB\\n", [("cloud_key", "AKIAZ7XQ2M4LP9RT3VWB")], id="after-a-written-break"),
    pytest.param("xAKIAZ7XQ2M4LP9RT3VWB", [], id="inside-a-word"),
    pytest.param("The password is Tr0ub4dor&3.", [("password", "Tr0ub4dor&3")], id="full-stop-left-out"),
    pytest.param("ftp://me:password@host", [], id="the-word-password-in-a-url"),
    pytest.param("-----BEGIN CERTIFICATE-----\nabc\n-----END CERTIFICATE-----", [], id="no-body"),
    pytest.param("pwd: /home/anna/Proj2, PWD=C:\\Work\\App1", [], id="paths"),
    pytest.param("password: <your password 1>, token=YOUR_TOKEN_1234567", [], id="placeholders"),
    pytest.param("order A1B2C-3D4E5-F6G7H-8I9J0-K1L2M", [], id="an-order"),
    pytest.param("legal winner thank year wave sausage worth useful legal winner thank yellow",
        [("recovery_phrase", "legal winner thank year wave sausage worth useful legal winner thank yellow")],
        id="recovery-phrase"),
    pytest.param("legal winner thank year wave sausage worth useful legal winner thank thank", [], id="wrong-checksum"),
    pytest.param("Authorization: Basic dXNlcjpodW50ZXIyMg==", [("password", "dXNlcjpodW50ZXIyMg==")],
        id="basic-authorization"),
    pytest.param("gh\u200bp_9XbW2kLmQ7vTzR4pYc8NfD3hJ6sA1gE5uH0o",
        [("git_token", "gh\u200bp_9XbW2kLmQ7vTzR4pYc8NfD3hJ6sA1gE5uH0o")], id="invisible-character"),
    pytest.param("Passwort: Tr0ub4dor&3", [("password", "Tr0ub4dor&3")], id="in-german"),
    pytest.param("パスワード：Tr0ub4dor&3です", [("password", "Tr0ub4dor&3")], id="in-japanese-without-spaces"),
    pytest.param("[password: Tr0ub4dor&3]", [("password", "Tr0ub4dor&3")], id="bracket-left-out"),
    pytest.param("Use glpat-9XbW2kLmQ7vTzR4pYc8N.", [("git_token", "glpat-9XbW2kLmQ7vTzR4pYc8N")], id="its-full-stop"),
])  # fmt: skip
def test_what_is_found(text: str, expected: list[tuple[str, str]]) -> None:
    assert found(text) == expected


@pytest.mark.parametrize(
    ("place", "kind", "value"),
    [(place, "password", PASSWORD) for place in OF_PASSWORDS] + [(place, "credential", KEY) for place in OF_KEYS],
)
def test_a_secret_is_found_where_it_stands(place: str, kind: str, value: str) -> None:
    assert found(place.format(value)) == [(kind, value)]


@pytest.mark.parametrize("text", WITHOUT)
def test_nothing_is_found_where_none_stands(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(("before", "after"), [
    ("> ", ""), (">> ", ""), ("# ", ""), ("// ", ""), (" * ", ""), ("-- ", ""), ("'", "\\n' +"), ('"', '\\n"'),
    ("", "\r"),
])  # fmt: skip
def test_private_keys_in_quoted_mail_comments_and_strings(before: str, after: str) -> None:
    rng = random.Random(before + after)
    body = ["".join(rng.choices(string.ascii_letters + string.digits + "+/", k=64)) for _ in range(8)]
    lines = ["-----BEGIN RSA PRIVATE KEY-----", *body, "-----END RSA PRIVATE KEY-----"]
    written = "\n".join(before + line + after for line in lines)
    ((kind, text),) = found(f"see\n{written}\nend")
    assert kind == "private_key"
    assert text.startswith("-----BEGIN")
    assert text.endswith("KEY-----")


@pytest.mark.parametrize("written", [str.upper, str.title, lambda phrase: " - ".join(phrase.split())])
def test_recovery_phrases_in_capitals_and_between_dashes(written: Callable[[str], str]) -> None:
    phrase = written("legal winner thank year wave sausage worth useful legal winner thank yellow")
    assert found(f"1. {phrase}") == [("recovery_phrase", phrase)]


@pytest.mark.parametrize(
    "text", ["AKIAIOSFODNN7EXAMPLE", "aws_secret_access_key=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"]
)
def test_published_samples_are_dummies(text: str) -> None:
    (secret,) = secrets(text)
    assert secret.dummy


def test_kinds_may_be_chosen_and_never_overlap() -> None:
    rng = random.Random(1)
    made = [entry.make(rng) for entry in PLANTED.values()]
    text = " ".join(piece.text if isinstance(piece, Piece) else piece for piece in made)
    every = secrets(text)
    assert all(left.end <= right.start for left, right in pairwise(every))
    assert secrets(text, ["jwt"]) == [secret for secret in every if secret.kind == "jwt"]


def test_entropy() -> None:
    assert [entropy("aaaa"), entropy("ab"), entropy("abcd"), entropy("")] == [0, 1, 2, 0]
    assert looks_random("9f8e7d6c5b4a39281706")
    assert not looks_random("bert-base-uncased-2024")


@given(st.text("sk-AKIA019xyz=: \n.eyJ@/password", max_size=80))
def test_findings_lie_in_the_text_and_hide_it(text: str) -> None:
    for secret in secrets(text):
        assert 0 <= secret.start < secret.end <= len(text)
        assert not any(character.isalnum() for character in redacted(text, secret)[1:])
