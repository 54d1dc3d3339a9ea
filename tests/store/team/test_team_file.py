"""The team file: what is read, and every problem said at once."""

import re
from pathlib import Path

import pytest

from metrics.core.errors import InputError
from metrics.store.team import read_team

PROJECT = Path(__file__).resolve().parents[3]
AUTH = """
[auth]
redirect_uri = "https://assay.example.com/oauth2callback"
cookie_secret = "0123456789abcdef0123456789abcdef"
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


def test_the_documented_file_is_one(tmp_path):
    text = (PROJECT / "docs" / "team.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```text input: team.toml\n(.*?)```", text, re.DOTALL)
    file = tmp_path / "team.toml"
    file.write_text(block)
    file.chmod(0o600)
    assert set(read_team(file).roles.values()) == {"viewer", "editor", "admin"}


def problems(file: Path) -> list[str | None]:
    """Return the columns that the file's problems name."""
    with pytest.raises(InputError) as failure:
        read_team(file)
    return [problem.column for problem in failure.value.problems]


@pytest.mark.parametrize(("before", "after", "columns"), [
    pytest.param('redirect_uri = "https://assay.example.com/oauth2callback"\n', "", ["auth.redirect_uri"], id="none"),
    pytest.param("/oauth2callback", "/", ["auth.redirect_uri"], id="another path"),
    pytest.param("0123456789abcdef0123456789abcdef", "short", ["auth.cookie_secret"], id="short secret"),
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
