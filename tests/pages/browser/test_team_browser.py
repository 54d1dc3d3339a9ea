"""A studio of a team in a browser: people sign in at a real OpenID provider, and see what is theirs."""

import json
import shutil
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from metrics.store import Workspace
from metrics.store.team import AuditLog, folder_of
from tests.engine.engine_scenes import finished
from tests.pages.conftest import choose, labels_outputs, labels_suite, own_page, place_samples, serving, settle
from tests.pages.team_scenes import provider, sign_in, team_file

pytestmark = pytest.mark.browser
GROUPS = ("vision", "text")


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A studio's workspace whose groups have a run each."""
    folder = tmp_path_factory.mktemp("team")
    placed = place_samples(tmp_path_factory.mktemp("placed"))
    for group in GROUPS:
        shutil.copytree(placed, folder_of(folder, group), dirs_exist_ok=True)
        own = Workspace(folder_of(folder, group))
        finished(own, labels_suite(), labels_outputs(), "classification", name=f"Animals of {group}")
    return folder


@pytest.fixture(scope="module")
def team_studio(workspace: Path) -> Iterator[str]:
    """The address of a studio on it where people sign in."""
    with provider() as identity:
        file = team_file(workspace, identity, group_claim="groups", groups=list(GROUPS))
        with serving(workspace, options=["--secrets.files", str(file)]) as address:
            yield address


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page of a person."""
    yield from own_page(browser)


@pytest.fixture
def other(browser: Browser) -> Iterator[Page]:
    """A page of another person."""
    yield from own_page(browser)


def latest(workspace: Path, group: str) -> str:
    """Return the id of a group's own run."""
    return Workspace(folder_of(workspace, group)).run("latest").id


def opened(page: Page, run: str) -> None:
    """Wait for a run on the page that was asked for: the sign-in itself ends on the start page, which goes on to it."""
    page.wait_for_url("**/runs?*")
    expect(page.get_by_text(run, exact=True)).to_be_visible()
    settle(page)


@pytest.mark.attack("browser", "a viewer changes a run", "every function asks for its role")
def test_a_viewer_is_led_to_the_link_after_the_sign_in_and_finds_no_control_that_changes(team_studio, workspace, page):
    page.goto(f"{team_studio}/runs?search=vision")
    expect(page.get_by_text("Sign in to see them")).to_be_visible()
    assert "Animals" not in page.content()
    sign_in(page, "vera")
    page.wait_for_url("**/runs?*search=vision*")
    expect(page.get_by_text(latest(workspace, "vision"))).to_be_visible()
    opened(page, "Animals of vision")
    page.get_by_role("button", name="Vera").click()
    expect(page.get_by_text("Role: viewer")).to_be_visible()
    expect(page.get_by_role("link", name="Audit log")).to_have_count(0)
    page.keyboard.press("Escape")
    settle(page)
    page.get_by_role("button", name="More").first.click()
    expect(page.get_by_role("menuitem", name="Archive").or_(page.get_by_role("option", name="Archive"))).to_be_visible()
    for name in ("Move to the bin", "Name, notes and tags", "Clone with changes", "Evaluate a suite"):
        expect(page.get_by_text(name)).to_have_count(0)


@pytest.mark.attack("browser", "the address of another group's run", "a group reads its own workspace alone")
def test_a_group_sees_nothing_of_another_and_what_people_do_is_noted(team_studio, workspace, page, other):
    run = latest(workspace, "text")
    page.goto(f"{team_studio}/leaderboard?run={run}")
    sign_in(page, "vera")
    expect(page.get_by_text(f"This workspace has no run '{run}'")).to_be_visible()
    page.goto(f"{team_studio}/leaderboard?group=text&run={run}")
    expect(page.get_by_text("is not in the group 'text'")).to_be_visible()
    page.get_by_role("button", name="Open your own workspace").click()
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()
    other.goto(f"{team_studio}/leaderboard?group=text&run={run}")
    sign_in(other, "ada")
    other.wait_for_url(f"**/leaderboard?*run={run}*")
    expect(other.get_by_role("heading", name="Overview")).to_be_visible()
    expect(other.get_by_text("has no run")).to_have_count(0)
    settle(other)
    other.get_by_role("button", name="Ada").click()
    other.get_by_role("link", name="Audit log").click()
    expect(other.get_by_text("Audit log, the last")).to_be_visible()
    lines = AuditLog(workspace).last(100)
    assert lines[0].what == "read the audit log"
    assert {
        ("ada@team.example", "admin", "sign in", "", "allowed"),
        ("vera@team.example", "viewer", "open a group", "text", "refused"),
    } <= {(line.who, line.role, line.what, line.about, line.outcome) for line in lines}


def test_who_is_in_two_groups_chooses(team_studio: str, workspace: Path, page: Page) -> None:
    page.goto(f"{team_studio}/runs")
    sign_in(page, "edith")
    opened(page, "Animals of vision")
    page.get_by_role("button", name="Edith").click()
    choose(page, "Group", "text")
    expect(page.get_by_text("Animals of text", exact=True)).to_be_visible()
    expect(page.get_by_text("Animals of vision")).to_have_count(0)
    page.wait_for_url("**/runs?*group=text*")


@pytest.mark.attack("browser", "somebody signs in who is not of the team", "nothing is read")
def test_a_stranger_stays_out(team_studio: str, workspace: Path, page: Page) -> None:
    page.goto(team_studio)
    sign_in(page, "stranger")
    expect(page.get_by_text("has no role here")).to_be_visible()
    assert "Animals" not in page.content()
    assert AuditLog(workspace).last(1)[0].outcome == "refused"
    page.get_by_role("button", name="Sign out").click()
    page.get_by_role("button", name="End session").click()  # the provider asks
    expect(page.get_by_text("Sign in to see them")).to_be_visible()


@pytest.mark.attack("browser", "a forged cookie", "cookies are signed")
def test_a_forged_cookie_is_no_sign_in(team_studio: str, page: Page) -> None:
    claims = {"is_logged_in": True, "origin": team_studio, "email": "ada@team.example", "groups": ["owners", "text"]}
    forged = "2|1:0|10:1800000000|15:_streamlit_user|8:" + json.dumps(claims)
    page.context.add_cookies([{"name": "_streamlit_user", "value": forged, "url": team_studio}])
    page.goto(f"{team_studio}/runs")
    expect(page.get_by_text("Sign in to see them")).to_be_visible()


@pytest.mark.attack("network", "requests past the pages", "no request is answered before the sign-in")
def test_the_server_answers_nothing_of_a_run_without_a_sign_in(team_studio: str, workspace: Path) -> None:
    for path in ("", "/runs", f"/leaderboard?run={latest(workspace, 'text')}", "/_stcore/host-config"):
        with urllib.request.urlopen(team_studio + path) as reply:
            assert b"Animals" not in reply.read()
