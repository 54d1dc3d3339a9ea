"""Cases edited in a real browser: cells of the table, a list among them, the form by keyboard, and the history."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from metrics.core.suite import Suite
from metrics.store import Workspace
from tests.pages.conftest import serving, settle

pytestmark = pytest.mark.browser
HOSTILE = "<img src=x onerror=alert(1)> ![](http://127.0.0.1:9/x.png)"
HEAD, ROW = 32, 35  # pixels
PAUSE, TRIES = 80, 4  # milliseconds between keys; a change that the grid has dropped is typed again
QUESTION, EXPECTED = (2, 250), (3, 520)  # columns of the table: number, and pixels from its left edge


@pytest.fixture
def stored(tmp_path: Path) -> str:
    """The fingerprint of a stored suite."""
    rows = [{"case_id": f"c{n}", "question": f"{HOSTILE} {n}?", "expected_answers": ["one"]} for n in range(3)]
    return Workspace(tmp_path).save_suite(Suite.from_rows("desk", "text", rows))


@pytest.fixture
def address(tmp_path: Path, stored: str) -> Iterator[str]:
    with serving(tmp_path) as found:
        yield found


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


def test_cells_are_edited_a_case_is_opened_and_the_versions_compared(
    page: Page, address: str, stored: str, tmp_path: Path
) -> None:
    calls: list[str] = []
    page.on("request", lambda request: calls.append(request.url))
    page.goto(f"{address}/suites?suite={stored}&table=1")
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
    first = Workspace(tmp_path).suite(Workspace(tmp_path).suites()[0]["fingerprint"]).cases.to_pylist()[0]
    assert first["question"].endswith(" And why?")
    assert first["expected_answers"] == ["one", "two"]
    assert not [url for url in calls if "127.0.0.1:9/" in url], "what a suite says is text"
