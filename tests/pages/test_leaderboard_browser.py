"""The heatmap in a real browser: links, keys, Back, sorting; and that nothing is asked of the network."""

from collections.abc import Iterator
from urllib.parse import parse_qs, urlparse

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.pages.conftest import HOSTILE, back, settle

pytestmark = pytest.mark.browser


@pytest.fixture
def page(served: str, browser: Browser) -> Iterator[Page]:
    """The leaderboard, drawn; every request to another host than the studio's fails the test."""
    context = browser.new_context(viewport={"width": 1280, "height": 720})
    context.set_default_timeout(120_000)
    opened = context.new_page()
    strangers: list[str] = []
    opened.on("request", lambda request: None if _is_ours(request.url, served) else strangers.append(request.url))
    dialogs: list[str] = []
    opened.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    opened.goto(served)
    expect(opened.locator("td").first).to_be_visible(timeout=120_000)
    settle(opened)
    yield opened
    context.close()
    assert strangers == []
    assert dialogs == []


def _is_ours(address: str, served: str) -> bool:
    return address.startswith((served, served.replace("http:", "ws:"), "data:", "blob:"))


def test_a_click_opens_the_cases_and_back_returns_to_the_same_view(page: Page) -> None:
    page.locator("thead button").nth(1).click()
    page.wait_for_url("**sort=**")
    expect(page.locator("thead th[aria-sort=descending]")).to_be_visible(timeout=120_000)
    settle(page)  # what the script writes to the address is written
    before = page.url
    page.locator("td a").first.click()
    expect(page.get_by_role("heading", name="Cases")).to_be_visible(timeout=120_000)
    asked = parse_qs(urlparse(page.url).query)
    assert urlparse(page.url).path == "/cases"
    assert (asked["model"], asked["evaluator"]) == (["sharp"], ["classification"])
    back(page, before)
    expect(page.locator("td").first).to_be_visible(timeout=120_000)
    settle(page)
    assert page.url == before


def test_keys_walk_over_the_cells_and_enter_opens_one(page: Page) -> None:
    page.locator("td a").first.focus()
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("tooltip")).to_contain_text("blunt")
    page.keyboard.press("Enter")
    page.wait_for_url("**/cases?**model=blunt**")


def test_a_header_sorts_and_sorts_back(page: Page) -> None:
    names = page.locator("tbody th")
    page.locator("thead button").nth(1).click()
    page.wait_for_url("**sort=**")
    expect(page.locator("thead th[aria-sort=descending]")).to_be_visible()
    expect(names.first).to_have_text("sharp")
    settle(page)
    page.locator("thead button").nth(1).click()
    page.wait_for_url("**order=up**")
    expect(names.first).to_have_text(HOSTILE)


def test_hovering_tells_the_whole_number(page: Page) -> None:
    page.locator("td").first.hover()
    tip = page.get_by_role("tooltip")
    expect(tip).to_contain_text("95 % interval")
    expect(tip).to_contain_text("Range 0 … 1, higher is better")


def test_a_hostile_name_stays_text(page: Page) -> None:
    expect(page.locator("tbody th").last).to_have_text(HOSTILE)
    assert page.locator("tbody img").count() == 0


def test_the_address_reproduces_the_view_in_a_new_browser(page: Page, browser: Browser) -> None:
    page.locator("thead button").nth(2).click()
    page.wait_for_url("**sort=**")
    expect(page.locator("thead th[aria-sort=descending]")).to_be_visible()
    settle(page)
    names = page.locator("tbody th").all_inner_texts()
    other = browser.new_context()
    other.set_default_timeout(120_000)
    again = other.new_page()
    again.goto(page.url)
    expect(again.locator("tbody th")).to_have_text(names, timeout=120_000)
    other.close()


@pytest.mark.parametrize("path", ["/cases", "/problems", "/runs", "/catalogue"])
def test_a_deep_link_opens_its_page_with_the_menu(page: Page, served: str, path: str) -> None:
    page.goto(served + path)
    expect(page.get_by_text("Look inside", exact=True)).to_be_visible(timeout=120_000)
    expect(page.locator("h1")).to_be_visible(timeout=120_000)
    expect(page.get_by_test_id("stException")).to_have_count(0)
