"""The gallery in a real browser: filter, tile, example, and Back to the same view."""

import pytest
from playwright.sync_api import Page, expect

from tests.pages.conftest import back, choose, settle

pytestmark = pytest.mark.browser


def test_filter_tile_example_and_back_keep_the_view(studio_of_pictures: str, page: Page) -> None:
    page.goto(f"{studio_of_pictures}/gallery?kind=tp")
    tiles = page.locator("a.tile")
    expect(tiles).to_have_count(8, timeout=120_000)
    expect(tiles.locator("svg image")).to_have_count(8)
    choose(page, "Class (2)", "dog (4)")
    page.wait_for_url("**label=dog**")
    expect(tiles).to_have_count(4)
    settle(page)  # what the script writes to the address is written
    before = page.url
    tiles.nth(1).click()
    page.wait_for_url("**/example?**case=p1**")
    expect(page.locator(".stage")).to_have_count(1, timeout=120_000)
    back(page, before)
    expect(tiles).to_have_count(4, timeout=120_000)
    settle(page)
    assert page.url == before


def test_arrow_keys_walk_and_enter_opens(studio_of_pictures: str, page: Page) -> None:
    page.goto(f"{studio_of_pictures}/gallery?kind=tp&view=images")
    tiles = page.locator("a.tile")
    expect(tiles).to_have_count(4, timeout=120_000)
    settle(page)
    tiles.first.focus()
    page.keyboard.press("ArrowRight")
    expect(tiles.nth(1)).to_be_focused()
    page.keyboard.press("Enter")
    page.wait_for_url("**/example?**case=p1**")
