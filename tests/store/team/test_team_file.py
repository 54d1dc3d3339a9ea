"""The team file: what is read, and every problem said at once."""

import base64
import hashlib
import json
import re
import secrets
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from metrics.core.errors import InputError
from metrics.core.exact_names import MAKE_SECRET, weakness_of
from metrics.store.team_file import read_team

PROJECT = Path(__file__).resolve().parents[3]
RANDOM = "c2f1a07be95d4836f0b7d21e6a3c984d"
AUTH = f"""
[auth]
redirect_uri = "https://assay.example.com/oauth2callback"
cookie_secret = "{RANDOM}"
client_id = "studio"
client_secret = "secret"
server_metadata_url = "https://login.example.com/.well-known/openid-configuration"
"""
TEAM = """
[team]
role_claim = "roles"
group_claim = "groups"
groups = ["vision", "rag"]
hours = 8

[team.roles]
engineers = "editor"
leads = "admin"
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "team.toml"
    path.write_text(AUTH + TEAM)
    path.chmod(0o600)
    return path


def written(tmp_path: Path, text: str) -> Path:
    """Return a team file that only its owner can read."""
    file = tmp_path / "team.toml"
    file.write_text(text, encoding="utf-8")
    file.chmod(0o600)
    return file


def documented() -> str:
    """Return the team file of docs/team.md."""
    text = (PROJECT / "docs" / "team.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```text input: team.toml\n(.*?)```", text, re.DOTALL)
    return block


@pytest.mark.attack(
    "network", "a studio runs with the documented secret, which signs anybody in", "what could be guessed is refused"
)
def test_the_documented_file_is_refused_until_its_secrets_are_filled_in(tmp_path):
    block = documented()
    with pytest.raises(InputError) as failure:
        read_team(written(tmp_path, block))
    assert [one.column for one in failure.value.problems] == [
        "auth.cookie_secret", "auth.client_id", "auth.client_secret",
    ]  # fmt: skip
    assert MAKE_SECRET in str(failure.value)
    filled = re.sub(r'cookie_secret = "[^"]*"', f'cookie_secret = "{secrets.token_hex(32)}"', block).replace("…", "x")
    assert set(read_team(written(tmp_path, filled)).roles.values()) == {"viewer", "editor", "admin"}


SECRET = re.compile(r"(?:cookie_secret|ASSAY_TOKEN)\s*[=:]\s*[\"']?([^\s\"'`,)]*)")


def test_no_example_of_a_secret_can_be_used():
    places = [
        *(PROJECT / "docs").rglob("*.md"),
        *(PROJECT / name for name in ("README.md", "compose.yaml", "Dockerfile")),
    ]
    examples = [text for place in places for text in SECRET.findall(place.read_text(encoding="utf-8"))]
    assert examples, "docs/team.md has one"
    assert [text for text in examples if not text.startswith("$") and not weakness_of(text, 16)] == []


@pytest.mark.parametrize("secret", [
    "replace this by 32 random characters or more", "c" * 40, "ab" * 20, "0123456789abcdef0123456789abcdef",
    "abcdefghijklmnopqrstuvwxyzabcdef", "98765432109876543210987654321098", "correct horse battery staple tonight",
    "ChangeMeChangeMeChangeMeChangeMe!", "my-very-own-cookie_secret-of-2026-xq", "c2f1a07b" * 4, "1" * 64,
    "pässwörter-für-unsere-studios-2026", "c2f1a07be95d4836f0b7d21e6a3c98", "",
])  # fmt: skip
def test_a_secret_that_could_be_guessed_is_refused_and_not_repeated(file, secret):
    file.write_text(file.read_text().replace(RANDOM, secret), encoding="utf-8")
    with pytest.raises(InputError) as failure:
        read_team(file)
    (problem,) = failure.value.problems
    assert problem.column == "auth.cookie_secret"
    assert MAKE_SECRET in problem.expected
    assert not secret or secret not in str(failure.value)


@given(st.binary(min_size=32, max_size=32))
def test_what_a_generator_makes_is_taken(data):
    key = hashlib.sha512(data).digest()  # random, and the same in each run
    for secret in (key[:16].hex(), key[:32].hex(), base64.b64encode(key[:32]).decode(), base64.b85encode(key).decode()):
        assert weakness_of(secret, 32) == "", secret


@pytest.mark.attack(
    "browser", "a row of roles that is empty, a wildcard, disguised or there twice", "the studio does not start"
)
@pytest.mark.parametrize(("row", "found"), [
    pytest.param('"" = "admin"', "an empty text", id="empty"),
    pytest.param('" " = "admin"', "white space at an end", id="blank"),
    pytest.param('"leads " = "admin"', "white space at an end", id="space at the end"),
    pytest.param('"*" = "admin"', "a wildcard", id="wildcard"),
    pytest.param('"*@x.example" = "admin"', "a wildcard", id="domain"),
    pytest.param('"own\\u200bers" = "admin"', "a character that is not shown", id="zero width"),
    pytest.param('"\\u202eowners" = "admin"', "a character that is not shown", id="right to left"),
    pytest.param('"owners\\u3164" = "admin"', "a character that is not shown", id="filler"),
    pytest.param('"\\uff4fwners" = "admin"', "a character that looks like another", id="full width"),
    pytest.param('"own\\u0335ers" = "admin"', "a character that looks like another", id="loose mark"),
    pytest.param('"\\u043ewners" = "admin"', "Latin and Cyrillic letters in one name", id="two scripts"),
    pytest.param('"LEADS" = "viewer"', "the same as 'leads'", id="twice"),
])  # fmt: skip
def test_a_row_that_passes_for_another_is_refused(file, row, found):
    file.write_text(f"{file.read_text()}{row}\n", encoding="utf-8")
    with pytest.raises(InputError) as failure:
        read_team(file)
    (problem,) = failure.value.problems
    assert (problem.file, problem.column) == (str(file), "team.roles")
    assert problem.found.endswith(found)
    assert problem.found.isascii()


@pytest.mark.parametrize(("before", "after", "column"), [
    ('["vision", "rag"]', '["vision", "Vision"]', "team.groups"), ('["vision", "rag"]', '[""]', "team.groups"),
    ('role_claim = "roles"', 'role_claim = "roles\\u200b"', "team.role_claim"),
    ('group_claim = "groups"', 'group_claim = " groups"', "team.group_claim"),
    ('client_id = "studio"', 'client_id = "studio\\u200b"', "auth.client_id"),
])  # fmt: skip
def test_every_name_of_the_file_is_looked_at(file, before, after, column):
    file.write_text(file.read_text().replace(before, after))
    assert problems(file) == [column]


UNSAFE = (
    "http://login.example.com/x", "javascript:alert(1)//", "data:text/html,x", "file:///etc/passwd",
    "//login.example.com", "https://", "https://user:word@login.example.com/x", "ftp://login.example.com/x",
    "https://login.example.com\\@x/", "http://127.0.0.1.login.example.com/x", "https://l\u043egin.example.com/x",
    "https://[::1", " https://login.example.com/x",
)  # fmt: skip


@pytest.mark.attack(
    "network", "the provider's address is one that anybody on the way answers for", "https, or http on this machine"
)
@pytest.mark.parametrize("address", UNSAFE)
@pytest.mark.parametrize("key", ["redirect_uri", "server_metadata_url"])
def test_an_address_that_others_could_answer_for_is_refused(file, key, address):
    line = f"{key} = {json.dumps(f'{address}/oauth2callback')}"
    file.write_text(re.sub(rf'{key} = ".*"', lambda _: line, file.read_text()), encoding="utf-8")
    assert set(problems(file)) == {f"auth.{key}"}


@pytest.mark.parametrize(("line", "column"), [
    ('authorize_url = "http://login.example.com/"', "auth.authorize_url"),
    ('[auth.other]\nserver_metadata_url = "http://login.example.com/"', "auth.other.server_metadata_url"),
    ("[auth.client_kwargs]\nverify = false", "auth.client_kwargs.verify"),
])  # fmt: skip
def test_nothing_else_of_the_sign_in_goes_unprotected(file, line, column):
    file.write_text(file.read_text().replace("[team]\n", f"{line}\n[team]\n", 1))
    assert problems(file) == [column]


def problems(file: Path) -> list[str | None]:
    """Return the columns that the file's problems name."""
    with pytest.raises(InputError) as failure:
        read_team(file)
    return [problem.column for problem in failure.value.problems]


@pytest.mark.parametrize(("before", "after", "columns"), [
    pytest.param('redirect_uri = "https://assay.example.com/oauth2callback"\n', "", ["auth.redirect_uri"], id="none"),
    pytest.param("/oauth2callback", "/", ["auth.redirect_uri"], id="another path"),
    pytest.param(RANDOM, "short", ["auth.cookie_secret"], id="short secret"),
    pytest.param('client_id = "studio"', "client_id = 7", ["auth.client_id"], id="no text"),
    pytest.param("[auth]", "[oauth]", ["auth"], id="no auth"),
    pytest.param('"editor"', '"owner"', ["team.roles.engineers"], id="unknown role"),
    pytest.param("hours = 8", "hours = 0", ["team.hours"], id="no hours"),
    pytest.param("hours = 8", "days = 8", ["team.days"], id="unknown key"),
    pytest.param(TEAM, "", ["team"], id="no team"),
    pytest.param('engineers = "editor"\nleads = "admin"', "", ["team"], id="a role for nobody"),
])  # fmt: skip
def test_a_mistake_is_named(file, before, after, columns):
    file.write_text(file.read_text().replace(before, after))
    assert problems(file) == columns


def test_all_mistakes_are_said_at_once(file):
    text = (
        file.read_text()
        .replace("/oauth2callback", "/")
        .replace('"editor"', '"owner"')
        .replace("hours = 8", "hours = 0")
    )
    file.write_text(text)
    file.chmod(0o644)
    assert problems(file) == [None, "auth.redirect_uri", "team.roles.engineers", "team.hours"]


@pytest.mark.parametrize(("text", "found"), [("[auth", "TOML that cannot be read"), (None, "No such file")])
def test_a_file_that_cannot_be_read(tmp_path, text, found):
    if text is not None:
        (tmp_path / "team.toml").write_text(text)
    with pytest.raises(InputError, match=found):
        read_team(tmp_path / "team.toml")


def test_a_port_may_be_left_to_the_studio(file):
    file.write_text(file.read_text().replace("https://assay.example.com/", "http://127.0.0.1:{port}/"))
    assert read_team(file).hours == 8
