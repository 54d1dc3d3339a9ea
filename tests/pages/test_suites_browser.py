"""Suites in a real browser: rows chosen by hand, edited, saved, downloaded, and on to Evaluate."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from metrics.core.suite import Suite
from metrics.ingest import read_suite
from metrics.store import Workspace
from tests.pages.conftest import serving, settle

pytestmark = pytest.mark.browser
HOSTILE = "<img src=x onerror=alert(1)> ![](http://127.0.0.1:9/x.png)"
TICK = (17, 17)  # pixels within a row, from its left upper corner, where the table draws its box
HEAD, ROW = 32, 35


@pytest.fixture
def stored(tmp_path: Path) -> str:
    """The fingerprint of a stored suite."""
    rows = [{"case_id": f"c{n}", "question": f"{HOSTILE} {n}?", "tags": [HOSTILE]} for n in range(4)]
    return Workspace(tmp_path).save_suite(Suite.from_rows("desk", "text", rows))


@pytest.fixture
def address(tmp_path: Path, stored: str) -> Iterator[str]:
    with serving(tmp_path) as found:
        yield found


def tick(page: Page, row: int, then: str) -> None:
    """Click the box of a row and wait until the button reads `then`."""
    table, button = page.get_by_test_id("stDataFrame").first, page.get_by_role("button", name=then)
    expect(table.locator("td").filter(has_text=f"c{row}")).to_be_attached()  # what it tells screen readers
    settle(page)
    table.click(position={"x": TICK[0], "y": HEAD + ROW * row + TICK[1]})
    expect(button).to_be_visible(timeout=120_000)


def test_choose_rows_tag_them_save_and_evaluate(page: Page, address: str, stored: str, tmp_path: Path) -> None:
    calls: list[str] = []
    page.on("request", lambda request: calls.append(request.url))
    page.goto(f"{address}/suites?suite={stored}")
    expect(page.get_by_role("button", name="Apply to all 4 cases shown")).to_be_visible()
    tick(page, 1, "Apply to the 1 chosen case")
    tick(page, 3, "Apply to the 2 chosen cases")
    page.get_by_role("textbox", name="Tag", exact=True).fill("audit")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Apply to the 2 chosen cases")).to_be_enabled()
    settle(page)
    page.get_by_role("button", name="Apply to the 2 chosen cases").click()
    expect(page.get_by_text("2 cases: tagged audit")).to_be_visible()
    settle(page)
    with page.expect_download() as download:
        page.get_by_role("button", name="JSONL").click()
    download.value.save_as(tmp_path / "desk.jsonl")
    assert read_suite(tmp_path / "desk.jsonl").filter(tag="audit").cases["case_id"].to_pylist() == ["c1", "c3"]
    page.mouse.move(300, 300)  # the help of the button would lie on the one above it
    expect(page.get_by_text("All cases with edits")).to_have_count(0)
    page.get_by_role("button", name="Save as a new suite").click()
    expect(page.get_by_text("✓ stored as 'desk, edited': 4 cases")).to_be_visible()
    settle(page)
    page.get_by_role("button", name="Evaluate this suite").click()
    page.wait_for_url("**/evaluate?from=stored&suite=**")
    expect(page.get_by_text("What the models answered", exact=True).first).to_be_visible()
    assert Workspace(tmp_path).suites()[0]["fingerprint"] in page.url
    assert not [url for url in calls if "127.0.0.1:9/" in url], "what a suite says is text"


def test_next_is_never_under_the_toolbar_of_the_table(page: Page, tmp_path: Path) -> None:
    rows = [{"case_id": f"c{n:03d}", "question": "Why?"} for n in range(250)]
    many = Workspace(tmp_path).save_suite(Suite.from_rows("many", "text", rows))
    with serving(tmp_path) as address:
        page.goto(f"{address}/suites?suite={many}")
        following = page.get_by_role("button", name="Next")
        expect(following).to_be_visible()
        settle(page)
        page.get_by_test_id("stDataFrame").first.hover()
        toolbar = page.get_by_test_id("stElementToolbar").first
        expect(toolbar).to_be_visible()
        button, bar = following.bounding_box(), toolbar.bounding_box()
        assert button is not None
        assert bar is not None
        assert button["x"] + button["width"] <= bar["x"] or button["y"] + button["height"] <= bar["y"]
        following.click()
        expect(page.get_by_text("101–200 of 250 cases").or_(page.get_by_text("51–100 of 250 cases"))).to_be_visible()
