"""A run in a real browser: its numbers while it runs, when it is cancelled, and its leaderboard when it is done."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from metrics.judge.settings import JudgeSettings
from metrics.judge.workspace_judge import choose_judge
from metrics.store import Workspace
from tests.judge.server import JudgeServer
from tests.pages.conftest import serving, settle

pytestmark = pytest.mark.browser
CHOSEN = "/evaluate?evaluator=rouge&evaluator=answer_relevance"
SUITE = "case_id,question,expected_answer\n1,Capital of Peru?,Lima\n2,What is 6 × 7?,42\n"
OUTPUTS = "case_id,model,answer\n1,small,Lima\n2,small,41\n1,large,The capital is Lima.\n2,large,It is 42.\n"


@pytest.fixture(scope="module")
def judge() -> Iterator[JudgeServer]:
    with JudgeServer() as server:
        yield server


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, judge: JudgeServer) -> Path:
    """A workspace whose judge is the scripted server."""
    folder = tmp_path_factory.mktemp("runs")
    choose_judge(folder, JudgeSettings(model="scripted", base_url=judge.url))
    return folder


@pytest.fixture(scope="module")
def studio_address(folder: Path) -> Iterator[str]:
    with serving(folder) as address:
        yield address


def test_partial_board_cancel_resume_board(page: Page, studio_address: str, folder: Path, judge: JudgeServer) -> None:
    judge.latency = 3600  # it answers when the test lets it
    page.goto(studio_address + CHOSEN)
    uploads = page.locator("input[type=file]")
    expect(uploads).to_have_count(2)
    uploads.first.set_input_files({"name": "capitals.csv", "mimeType": "text/csv", "buffer": SUITE.encode()})
    expect(page.get_by_text("capitals.csv: 2 rows")).to_be_visible()
    expect(uploads).to_have_count(1)
    uploads.first.set_input_files({"name": "outputs.csv", "mimeType": "text/csv", "buffer": OUTPUTS.encode()})
    start = page.get_by_role("button", name="Start")
    expect(start).to_be_enabled()
    settle(page)
    start.click()
    page.wait_for_url("**/runs?run=**")
    run = Workspace(folder).run("latest")
    expect(page.get_by_text("capitals · 2 models", exact=True)).to_be_visible()
    page.get_by_role("button", name="See its numbers so far").click()

    expect(page.get_by_text("… running · unfinished: 1 of 2 evaluators done")).to_be_visible()
    expect(page.locator("tbody tr")).to_have_count(2)
    expect(page.get_by_text("So far, over 1 finished evaluator")).to_be_visible()
    assert run.state == "running"
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_text("– cancelled · unfinished: 1 of 2 evaluators done")).to_be_visible()
    expect(page.locator("tbody tr")).to_have_count(2)
    assert run.state == "cancelled"

    judge.latency = 0
    settle(page)
    page.get_by_test_id("stMain").get_by_role("link", name="Runs").click()
    expect(page.get_by_text("– cancelled", exact=True)).to_be_visible()
    settle(page)
    page.get_by_role("button", name="Resume").click()
    expect(page.get_by_text("– cancelled", exact=True)).to_have_count(0)
    expect(page.get_by_role("heading", name="Leaderboard")).to_be_visible()
    expect(page.locator("tbody tr")).to_have_count(2)
    assert run.id in page.url
    assert run.state == "finished"
    expect(page.get_by_text("unfinished")).to_have_count(0)
