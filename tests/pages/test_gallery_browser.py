"""The gallery in a real browser: filter, tile, example, and Back to the same view."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.pages.conftest import back, choose, exported_coco, press, serving, settle, tag_object
from tests.pages.page_scenes import objects_run

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


def test_a_tile_opens_zoomed_on_its_object_and_next_stays_in_the_filter(studio_of_pictures: str, page: Page) -> None:
    page.goto(f"{studio_of_pictures}/gallery?kind=fp&score=0")
    tiles = page.locator("a.tile")
    expect(tiles).to_have_count(4, timeout=120_000)
    settle(page)
    tiles.nth(1).click()
    page.wait_for_url("**/example?**case=p1**")
    canvas = page.locator(".stage svg")
    expect(page.get_by_text("2 of 4 objects · dog 0.30, nothing there")).to_be_visible(timeout=120_000)
    expect(canvas.locator(".marked")).to_have_count(2)
    expect(canvas).to_have_attribute("viewBox", "53 0 64 48")
    settle(page)
    page.get_by_role("button", name="Fit").click()
    expect(canvas).to_have_attribute("viewBox", "0 0 120 90")
    page.get_by_role("button", name="Object", exact=True).click()
    expect(canvas).to_have_attribute("viewBox", "53 0 64 48")
    press(page, "ArrowRight", "3 of 4 objects")
    page.wait_for_url("**case=p2**")
    page.get_by_test_id("stMain").get_by_role("link", name="Gallery").click()
    page.wait_for_url("**/gallery?**kind=fp**")
    expect(tiles).to_have_count(4, timeout=120_000)


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


def test_walk_from_the_filter_over_the_object_and_its_tag_to_the_export(tmp_path: Path, page: Page) -> None:
    run = objects_run(tmp_path)
    with serving(tmp_path) as address:
        tiles = page.locator("a.tile")
        page.goto(f"{address}/gallery?run={run.id}&model=keen&kind=fp&label=dog&score=0")
        expect(tiles).to_have_count(4, timeout=120_000)
        expect(tiles.locator("svg image")).to_have_count(4)
        settle(page)
        tiles.nth(2).click()
        page.wait_for_url("**/example?**case=p2**")
        expect(page.get_by_text("3 of 4 objects · dog 0.30, nothing there")).to_be_visible(timeout=120_000)
        expect(page.locator(".stage svg")).to_have_attribute("viewBox", "53 0 64 48")
        press(page, "ArrowRight", "4 of 4 objects")
        expect(page.get_by_role("button", name="Next object")).to_be_disabled()

        tag_object(page, "label error")
        settle(page)
        page.get_by_test_id("stMain").get_by_role("link", name="Gallery").click()
        page.wait_for_url("**/gallery?**")
        expect(tiles).to_have_count(4, timeout=120_000)
        expect(tiles.filter(has_text="label error")).to_have_count(1)
        choose(page, "Your tag (1)", "label error (1)")
        page.wait_for_url("**mark=label**")
        expect(tiles).to_have_count(1)

        document = exported_coco(page)
        assert [image["width"] for image in document["images"]] == [120]
        assert len(document["annotations"]) == 2
        assert [(row["bbox"], row["outcome"]) for row in document["predictions"]] == [
            ([80.0, 5.0, 10.0, 10.0], "fp_hallucination")
        ]


def test_ticked_tiles_are_tagged(studio_of_pictures: str, page: Page) -> None:
    page.goto(f"{studio_of_pictures}/gallery?kind=tp&score=0")
    ticks = page.locator(".tick")
    expect(ticks).to_have_count(8, timeout=120_000)
    settle(page)
    ticks.nth(1).check()
    expect(page.get_by_role("button", name="Tag 1 ticked")).to_be_visible()
    settle(page)
    page.locator("a.tile").nth(2).focus()
    page.keyboard.press("x")
    expect(page.get_by_role("button", name="Tag 2 ticked")).to_be_visible()
    settle(page)
    page.get_by_role("button", name="Tag 2 ticked").click()
    box = page.get_by_role("combobox", name="Tags for 2 ticked")
    box.fill("check")
    box.press("Enter")
    box.press("Escape")
    page.get_by_role("button", name="Add").click()
    expect(page.locator("a.tile").filter(has_text="check")).to_have_count(2)
    expect(page.get_by_role("combobox", name="Your tag (1)")).to_be_visible()


def test_pictures_below_the_window_wait_until_they_are_seen(tmp_path: Path, page: Page) -> None:
    run = objects_run(tmp_path, images=40)
    with serving(tmp_path) as address:
        page.set_viewport_size({"width": 1280, "height": 500})
        page.goto(f"{address}/gallery?run={run.id}&model=keen&kind=fp&score=0")
        tiles = page.locator("a.tile")
        expect(tiles).to_have_count(40, timeout=120_000)
        expect(tiles.first.locator("svg image")).to_have_count(1)
        settle(page)
        expect(tiles.nth(39).locator("svg image")).to_have_count(0)
        tiles.nth(39).scroll_into_view_if_needed()
        expect(tiles.locator("svg image")).to_have_count(40)
