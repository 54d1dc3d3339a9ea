"""A team for the studio: a real OpenID provider on loopback, the file that names it, and people who sign in there."""

import contextlib
import json
import secrets
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, expect

MEMBERS = {
    "vera": ["readers", "vision"], "edith": ["makers", "vision", "text"], "ada": ["owners", "text"],
    "stranger": ["elsewhere"],
}  # fmt: skip
PEOPLE = tuple(
    {"sub": sub, "email": f"{sub}@team.example", "email_verified": True, "groups": groups}
    | ({} if sub == "stranger" else {"name": sub.title()})
    for sub, groups in MEMBERS.items()
)
ROLES = {"readers": "viewer", "makers": "editor", "owners": "admin"}


@contextlib.contextmanager
def provider() -> Iterator[str]:
    """The address of an OpenID provider that knows PEOPLE, while it runs in a process of its own."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    people = [text for person in PEOPLE for text in ("--user-claims", json.dumps(person))]
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-m", "oidc_provider_mock", "--port", str(port), *people],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(300):
            with contextlib.suppress(OSError), urllib.request.urlopen(configuration(address), timeout=1):
                break
            time.sleep(0.1)
        yield address
    finally:
        process.terminate()
        process.wait()


def configuration(provider: str) -> str:
    """Return where a provider says how to sign in."""
    return f"{provider}/.well-known/openid-configuration"


def team_file(folder: Path, provider: str, cookie_secret: str | None = None, **team: Any) -> Path:
    """Write the file of a team that signs in at a provider; `team` are settings of [team] beside the roles."""
    auth = {
        "redirect_uri": "http://127.0.0.1:{port}/oauth2callback",
        "cookie_secret": cookie_secret or secrets.token_hex(32),
        "client_id": "studio", "client_secret": "secret", "server_metadata_url": configuration(provider),
    }  # fmt: skip
    file = folder / "team.toml"
    file.write_text(f"[auth]\n{_lines(auth)}\n[team]\n{_lines(team)}\n[team.roles]\n{_lines(ROLES)}")
    file.chmod(0o600)
    return file


def sign_in(page: Page, person: str) -> None:
    """Sign in as one of PEOPLE, on the page that asks for it."""
    page.route("**/*", lambda route: route.continue_() if "127.0.0.1" in route.request.url else route.abort())
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.get_by_role("button", name=person, exact=True).click()
    expect(page.get_by_test_id("stMainBlockContainer")).to_be_visible()


def _lines(values: Mapping[str, Any]) -> str:
    return "".join(f"{name} = {json.dumps(value)}\n" for name, value in values.items())
