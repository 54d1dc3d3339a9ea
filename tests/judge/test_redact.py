"""Redaction: keys of every shape vanish, ordinary text stays, a megabyte takes no longer than a thousand kilobytes."""

import random

import pytest

from metrics.judge.redact import redact
from tests.corpora.cases import Piece
from tests.corpora.credentials import LOOK_ALIKES, PLANTED
from tests.corpora.places import KEY, OF_KEYS, OF_PASSWORDS, PASSWORD, WITHOUT
from tests.corpora.unseen import LOOKS_SECRET, SECRETS

KEPT_KINDS = ("certificate", "product_key")  # no keys to anything of the user's


@pytest.mark.parametrize("name", [*PLANTED, *SECRETS])
def test_keys_of_every_shape_vanish(name: str) -> None:
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
def test_secrets_vanish_wherever_they_stand(place: str) -> None:
    value = KEY if place in OF_KEYS else PASSWORD
    assert redact(place.format(value)) == place.format("[key]")


@pytest.mark.parametrize("text", WITHOUT)
def test_text_without_secrets_stays(text: str) -> None:
    assert redact(text) == text


@pytest.mark.parametrize("name", [*LOOK_ALIKES, *LOOKS_SECRET])
def test_ordinary_text_stays(name: str) -> None:
    made = {**LOOK_ALIKES, **LOOKS_SECRET}[name](random.Random(name))
    text = f"It says {made.text if isinstance(made, Piece) else made} there."
    assert redact(text) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("no sk-abcdefgh12345678 left", "no [key] left"),
        ("Authorization: Basic dXNlcjpodW50ZXIyMg==", "Authorization: Basic [key]"),
        ("GET https://a.b/c?api_key=Zx81mQ22k&q=1 failed", "GET https://a.b/c?api_key=[key]&q=1 failed"),
        ("postgres://app:hunter2x@db.local/x", "postgres://app:[key]@db.local/x"),
        ("401 for url: https://a.b/v1?key=Zx81mQ22kfT5uWq9", "401 for url: https://a.b/v1?key=[key]"),
        ("Bearer authentication failed", "Bearer authentication failed"),
        ("hf_hub_download pk_constraint_name", "hf_hub_download pk_constraint_name"),
        ("AKIAIOSFODNN7EXAMPLE is Amazon's sample", "AKIAIOSFODNN7EXAMPLE is Amazon's sample"),
    ],
)
def test_where_keys_stand(text: str, expected: str) -> None:
    assert redact(text) == expected


def test_values_of_the_environment_vanish_whatever_their_shape(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_ODD_KEY", "correct-horse-battery")
    monkeypatch.setenv("service_token", "plainwordsonly")
    monkeypatch.setenv("KEYBOARD", "dvorak-layout")
    assert redact("x correct-horse-battery, plainwordsonly, dvorak-layout") == "x [key], [key], dvorak-layout"
