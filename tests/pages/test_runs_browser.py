"""Conversations with contexts in a real browser: upload, preset, the board while it fills, cancel, resume, board."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from metrics.judge.settings import JudgeSettings
from metrics.judge.workspace_judge import choose_judge
from metrics.store import Workspace
from tests.judge.server import Fault, JudgeServer
from tests.pages.conftest import serving, settle, start_button
from tests.pages.walk_scenes import csv_of, instruct, output_rows, suite_rows

pytestmark = pytest.mark.browser


@pytest.fixture
def judge() -> Iterator[JudgeServer]:
    with JudgeServer() as server:
        instruct(server)
        yield server


@pytest.fixture
def address(tmp_path: Path, judge: JudgeServer) -> Iterator[str]:
    """A studio whose judge is the scripted server."""
    choose_judge(tmp_path, JudgeSettings(model="scripted", base_url=judge.url))
    with serving(tmp_path) as found:
        yield found


def test_upload_preset_partial_board_cancel_resume_board(
    page: Page, address: str, tmp_path: Path, judge: JudgeServer, picture: Callable[[str], None]
) -> None:
    # what one evaluator asks is answered when the test lets it
    judge.fail_by(lambda request: Fault(delay=3600) if request.step == "answer_relevance_relevant" else None)
    page.goto(f"{address}/evaluate")
    uploads = page.locator("input[type=file]")
    expect(uploads).to_have_count(2)
    start = start_button(page, disabled=True)
    expect(start).to_be_visible()
    settle(page)
    assert start.locator("p").evaluate("(text) => getComputedStyle(text).color") != "rgb(255, 255, 255)"  # on white
    picture("evaluate")
    uploads.first.set_input_files({"name": "helpdesk.csv", "mimeType": "text/csv", "buffer": csv_of(suite_rows())})
    expect(page.get_by_text("helpdesk.csv: 6 rows")).to_be_visible()
    expect(uploads).to_have_count(1)
    uploads.first.set_input_files({"name": "answers.csv", "mimeType": "text/csv", "buffer": csv_of(output_rows())})
    expect(start_button(page)).to_be_visible()
    settle(page)
    page.get_by_role("radio", name="RAG with a judge").click()
    expect(page.get_by_text("Grounding, retrieval and answers, claim by claim")).to_be_visible()
    expect(page.get_by_text("judge calls")).to_be_visible()
    picture("preset")
    settle(page)
    start_button(page).click()
    page.wait_for_url("**/runs?run=**")
    run = Workspace(tmp_path).run("latest")
    count = len(run.evaluators)
    expect(page.get_by_text("helpdesk · 2 models", exact=True)).to_be_visible()
    expect(page.get_by_text("Faithfulness · 12 of 12")).to_be_visible()
    picture("running")
    page.get_by_role("button", name="See its numbers so far").click()

    expect(page.get_by_text(f"… running · unfinished: {count - 1} of {count} evaluators done")).to_be_visible()
    expect(page.locator("tbody tr")).to_have_count(2)
    expect(page.get_by_text(f"So far, over {count - 1} finished evaluators")).to_be_visible()
    cell = page.locator("tbody tr", has_text="small").locator("td a").first
    expect(cell).to_contain_text("0.750")  # 3 of 6 answers have one claim of two supported
    picture("partial-board")
    assert run.state == "running"
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_text(f"– cancelled · unfinished: {count - 1} of {count} evaluators done")).to_be_visible()
    expect(page.locator("tbody tr")).to_have_count(2)
    expect(page.get_by_role("combobox", name="Run (1)")).to_have_value("helpd…odels (cancelled)")
    assert run.state == "cancelled"
    picture("cancelled-board")

    judge.fail_by(None)
    settle(page)
    page.get_by_test_id("stMain").get_by_role("link", name="Runs").click()
    expect(page.get_by_text("– cancelled", exact=True)).to_be_visible()
    picture("cancelled-run")
    settle(page)
    page.get_by_role("button", name="Resume").click()
    expect(page.get_by_text("– cancelled", exact=True)).to_have_count(0)
    expect(page.get_by_role("heading", name="Leaderboard")).to_be_visible()
    expect(page.locator("tbody tr")).to_have_count(2)
    assert run.id in page.url
    assert run.state == "finished"
    expect(page.get_by_text("unfinished")).to_have_count(0)
    expect(cell).to_contain_text("0.750")
    picture("board")
