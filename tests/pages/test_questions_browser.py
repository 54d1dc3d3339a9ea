"""Approving questions in a real browser: by keyboard, the passage beside them with its words marked."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from metrics.questions import read_draft, save_draft
from tests.pages.conftest import serving, settle
from tests.pages.test_questions import HOSTILE, stored_draft

pytestmark = pytest.mark.browser


def test_approve_and_drop_by_keyboard(page: Page, tmp_path: Path) -> None:
    draft = save_draft(tmp_path, stored_draft())
    calls: list[str] = []
    page.on("request", lambda request: calls.append(request.url))
    with serving(tmp_path) as address:
        page.goto(f"{address}/suites?view=questions&questions={draft}")
        expect(page.locator(".prose mark")).to_have_text("It opens at nine.")
        expect(page.locator(".prose .words").first).to_contain_text(HOSTILE)
        settle(page)
        page.keyboard.press("a")
        expect(page.get_by_text("1 of 3 questions decided")).to_be_visible(timeout=120_000)
        settle(page)
        page.keyboard.press("d")
        expect(page.get_by_text("2 of 3 questions decided")).to_be_visible(timeout=120_000)
        settle(page)
        page.get_by_role("button", name="Make the suite of 1 approved question").click()
        expect(page.get_by_text("✓ stored as 'Rules': 1 case")).to_be_visible(timeout=120_000)
    assert {name: review.status for name, review in read_draft(tmp_path, draft)[1].items()} == {
        "a-0": "approved", "a-1": "dropped",
    }  # fmt: skip
    assert not [url for url in calls if "127.0.0.1:9/" in url], "what a document says is text"
