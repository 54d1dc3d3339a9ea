"""Suites in a real browser: rows chosen by hand, cells of the table edited, keys between cases, what was changed."""

from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from metrics.core.suite import Suite
from metrics.ingest import read_suite
from metrics.store import Workspace
from tests.pages.browser.conftest import Studio
from tests.pages.conftest import HOSTILE, settle

pytestmark = pytest.mark.browser
TICK = (17, 17)  # pixels within a row, from its left upper corner, where the table draws its box
HEAD, ROW = 32, 35  # pixels
PAUSE, TRIES = 80, 4  # milliseconds between keys; a change that the grid has dropped is typed again
QUESTION, EXPECTED = (2, 250), (3, 520)  # columns of the table: number, and pixels from its left edge


def stored_suite(studio: Studio, name: str, size: int) -> str:
    """Return the fingerprint of a stored suite of hostile questions."""
    rows = [
        {"case_id": f"c{n}", "question": f"{HOSTILE} {n}?", "expected_answers": ["one"], "tags": [HOSTILE]}
        for n in range(size)
    ]
    return Workspace(studio.folder).save_suite(Suite.from_rows(name, "text", rows))


def tick(page: Page, row: int, then: str) -> None:
    """Click the box of a row and wait until the button reads `then`."""
    table, button = page.get_by_test_id("stDataFrame").first, page.get_by_role("button", name=then)
    expect(table.locator("td").filter(has_text=f"c{row}").first).to_be_attached()  # what it tells screen readers
    settle(page)
    table.click(position={"x": TICK[0], "y": HEAD + ROW * row + TICK[1]})
    expect(button).to_be_visible()


def open_cell(page: Page, column: tuple[int, int]) -> Locator:
    """Open the cell of the first row with the keyboard; return the field that is typed into."""
    settle(page)
    number, x = column
    # a field that a try before left open, as its Enter was dropped, would never have the focus again
    page.evaluate("() => document.querySelector('#portal textarea, #portal input')?.focus()")
    page.keyboard.press("Escape")
    page.get_by_test_id("stDataFrame").first.click(position={"x": x, "y": HEAD + ROW // 2})
    expect(page.get_by_test_id(f"glide-cell-{number}-0")).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Enter")
    field = page.locator("#portal").locator("textarea, input").first
    expect(field).to_be_focused()
    return field


def type_into(page: Page, column: tuple[int, int], typed: str, items: bool = False) -> None:
    """Add to the text of the cell, or an item to its list."""
    field = open_cell(page, column)
    if items:
        field.press_sequentially(typed, delay=PAUSE)
        expect(page.locator(f'#portal [data-value="{typed}"]')).to_be_attached()
    else:  # at once: of keys that come one by one the grid drops some while it is busy
        field.fill(field.input_value() + typed)
    page.keyboard.press("Enter")


def test_rows_are_ticked_tagged_and_downloaded(studio: Studio, page: Page, tmp_path: Path) -> None:
    """The buttons beside the table stay free of its toolbar, and of the help of what was pressed last."""
    page.goto(f"{studio.address}/suites?suite={stored_suite(studio, 'ticked', 250)}")
    following = page.get_by_role("button", name="Next")
    expect(following).to_be_visible()
    tick(page, 1, "Apply to the 1 chosen case")
    tick(page, 3, "Apply to the 2 chosen cases")
    toolbar = page.get_by_test_id("stElementToolbar").first
    page.get_by_test_id("stDataFrame").first.hover()
    expect(toolbar).to_be_visible()
    button, bar = following.bounding_box(), toolbar.bounding_box()
    assert button is not None
    assert bar is not None
    assert button["x"] + button["width"] <= bar["x"] or button["y"] + button["height"] <= bar["y"]
    page.get_by_role("textbox", name="Tag", exact=True).fill("audit")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Apply to the 2 chosen cases")).to_be_enabled()
    settle(page)
    page.get_by_role("button", name="Apply to the 2 chosen cases").click()
    expect(page.get_by_text("2 cases: tagged audit")).to_be_visible()
    settle(page)
    with page.expect_download() as download:
        page.get_by_role("button", name="JSONL").click()
    download.value.save_as(tmp_path / "ticked.jsonl")
    assert read_suite(tmp_path / "ticked.jsonl").filter(tag="audit").cases["case_id"].to_pylist() == ["c1", "c3"]
    page.mouse.move(300, 300)  # the help of the button would lie on the one above it
    expect(page.get_by_text("All cases with edits")).to_have_count(0)
    page.get_by_role("button", name="Save as a new suite").click()
    expect(page.get_by_text("✓ stored as 'ticked, edited': 250 cases")).to_be_visible()
    settle(page)
    following.click()
    expect(page.get_by_text("101–200 of 250 cases").or_(page.get_by_text("51–100 of 250 cases"))).to_be_visible()


def test_cells_are_edited_a_case_is_opened_and_the_versions_compared(studio: Studio, page: Page) -> None:
    stored = stored_suite(studio, "desk", 3)
    page.goto(f"{studio.address}/suites?suite={stored}&table=1")
    expect(page.get_by_test_id("stDataFrame").locator("td").filter(has_text="c2")).to_be_attached()
    changed = page.get_by_text("1 case: question changed")
    for _ in range(TRIES):
        type_into(page, QUESTION, " And why?")
        settle(page)
        if changed.is_visible():
            break
    expect(changed).to_be_visible()
    type_into(page, EXPECTED, "two", items=True)
    expect(page.locator("#portal").get_by_text("two", exact=True)).to_be_visible()
    page.get_by_text("desk: 3 cases, text").click()  # leaves the cell
    expect(page.get_by_text("1 case: question, expected answers changed")).to_be_visible()
    settle(page)
    page.get_by_role("button", name="Apply the changes").click()
    expect(page.get_by_text("1 edit, not saved")).to_be_visible()
    page.goto(f"{page.url}&case=c1")
    expect(page.get_by_text("2 of 3 cases")).to_be_visible()
    settle(page)
    page.keyboard.press("Alt+ArrowDown")
    expect(page.get_by_text("3 of 3 cases")).to_be_visible()
    settle(page)
    page.get_by_role("button", name="Save as a new suite").click()
    expect(page.get_by_text("✓ stored as 'desk, edited': 3 cases")).to_be_visible()
    settle(page)
    page.get_by_text("History", exact=True).click()
    expect(page.get_by_text("1 case changed")).to_be_visible()
    expect(page.get_by_text("Expected answers", exact=True)).to_be_visible()
    first = Workspace(studio.folder).suite(Workspace(studio.folder).suites()[0]["fingerprint"]).cases.to_pylist()[0]
    assert first["question"].endswith(" And why?")
    assert first["expected_answers"] == ["one", "two"]
