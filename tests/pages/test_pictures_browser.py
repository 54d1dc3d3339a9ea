"""Curves and the image viewer in a real browser: clicks on points and cells, zoom that outlives a slider."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.pages.conftest import click_chart, press, settle

pytestmark = pytest.mark.browser
POINT = """() => {
  const chart = document.querySelector(".js-plotly-plot"), box = chart.getBoundingClientRect();
  const line = chart._fullData.find((trace) => trace.mode == "lines+markers" && trace.customdata[0][1] == "dog");
  const axis = (name) => chart._fullLayout[name[0] + "axis" + name.slice(1)];
  const x = axis(line.xaxis), y = axis(line.yaxis);
  return [box.x + x._offset + x.d2p(line.x[0]), box.y + y._offset + y.d2p(line.y[0])];
}"""


def test_a_click_on_a_point_lists_the_objects_behind_it(studio_of_pictures: str, page: Page) -> None:
    page.goto(f"{studio_of_pictures}/curves?evaluator=detection_pr_curve&model=keen")
    expect(page.locator(".js-plotly-plot .point").first).to_be_visible(timeout=120_000)
    settle(page)
    click_chart(page, *page.evaluate(POINT))
    page.wait_for_url("**of=keen&of_class=dog&threshold=0.3**")
    expect(page.get_by_text("keen, dog, score ≥ 0.30")).to_be_visible()
    settle(page)
    page.get_by_role("button", name="Open the first image").click()
    page.wait_for_url("**/example?**case=p0**")
    assert "score=0.3" in page.url


def test_the_zoom_outlives_a_slider_and_is_shared(studio_of_pictures: str, page: Page) -> None:
    page.goto(f"{studio_of_pictures}/example?case=p1")
    drawings = page.locator(".stage svg")
    expect(drawings).to_have_count(2, timeout=120_000)
    settle(page)
    page.get_by_role("button", name="+", exact=True).click()
    expect(drawings.first).not_to_have_attribute("viewBox", "0 0 120 90")
    zoomed = drawings.first.get_attribute("viewBox") or ""
    page.get_by_role("slider").first.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_url(re.compile(r"score=0\.32"))  # a step above the operating point
    settle(page)
    expect(page.locator(".counts").first).to_have_text("✓ 2 found · ✗ 0 false · – 0 missed")
    for drawing in (drawings.first, drawings.last):
        expect(drawing).to_have_attribute("viewBox", zoomed)
    page.get_by_role("button", name="Fit").click()
    expect(drawings.first).to_have_attribute("viewBox", "0 0 120 90")


def test_the_pointer_is_told_what_is_there(studio_of_pictures: str, page: Page) -> None:
    page.goto(f"{studio_of_pictures}/example?case=p1&compare=keen&score=0.3")
    stage = page.locator(".stage")
    expect(stage).to_be_visible(timeout=120_000)
    settle(page)
    box = stage.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] * 85 / 120, box["y"] + box["height"] * 10 / 90)
    expect(page.get_by_role("tooltip")).to_contain_text("dog, score 0.300: false positive")


def test_the_arrow_keys_walk_through_the_cases(studio_of_pictures: str, page: Page) -> None:
    page.goto(f"{studio_of_pictures}/example")
    expect(page.get_by_text("1 of 4")).to_be_visible(timeout=120_000)
    expect(page.locator(".stage")).to_have_count(2)
    press(page, "ArrowRight", "2 of 4")
    press(page, "ArrowLeft", "1 of 4")
