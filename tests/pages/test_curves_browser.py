"""Curves in a real browser: a slider moves marker, counts and pictures together, a cell opens exactly its objects."""

import re
from collections.abc import Iterator
from urllib.parse import parse_qsl, urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.pages.conftest import back, click_chart, serving, settle
from tests.pages.page_scenes import objects_run

pytestmark = pytest.mark.browser
MARKER = """() => document.querySelector(".js-plotly-plot")?._fullData
  ?.filter((trace) => trace.mode == "markers").map((trace) => trace.customdata[0][2])[0]"""
CELL = """(wanted) => {
  const chart = document.querySelector(".js-plotly-plot"), box = chart.getBoundingClientRect();
  const cells = chart._fullData.find((trace) => trace.type == "scatter");
  const { _xaxis: x, _yaxis: y } = { _xaxis: chart._fullLayout.xaxis, _yaxis: chart._fullLayout.yaxis };
  const at = Array.from(cells.customdata).findIndex((cell) => cell[0] == wanted[0] && cell[1] == wanted[1]);
  return [
    box.x + x._offset + x.d2p(cells.x[at]), box.y + y._offset + y.d2p(cells.y[at]), cells.customdata[at][2],
  ];
}"""


@pytest.fixture(scope="module")
def studio_of_objects(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a studio with a finished run of pictures."""
    folder = tmp_path_factory.mktemp("objects")
    objects_run(folder, "detection_confusion")
    with serving(folder) as address:
        yield address


@pytest.fixture(params=["light", "dark"])
def page(browser: Browser, request: pytest.FixtureRequest) -> Iterator[Page]:
    """A browser of either theme."""
    context = browser.new_context(viewport={"width": 1280, "height": 720}, color_scheme=request.param)
    context.set_default_timeout(120_000)
    yield context.new_page()
    context.close()


def lower_by_five(page: Page) -> None:
    """Lower the score threshold by five hundredths."""
    page.get_by_role("slider").focus()
    for _ in range(5):
        page.keyboard.press("ArrowLeft")


def test_a_slider_moves_the_marker_and_a_cell_opens_its_objects(studio_of_objects: str, page: Page) -> None:
    page.goto(f"{studio_of_objects}/curves?model=shy&model=keen&label=dog&threshold=0.5")
    expect(page.locator(".js-plotly-plot .point").first).to_be_visible(timeout=120_000)
    expect(page.get_by_test_id("stMultiSelect").filter(has_text="Models")).to_contain_text("shy")
    page.wait_for_function(f"() => ({MARKER})() == 0.5")
    settle(page)
    lower_by_five(page)
    page.wait_for_url(re.compile(r"threshold=0\.45"))
    page.wait_for_function(f"() => ({MARKER})() == 0.45")

    settle(page)
    page.get_by_role("radio", name="Confusion").or_(page.get_by_role("button", name="Confusion")).first.click()
    page.wait_for_url("**view=confusion**")
    expect(page.get_by_text("Which classes are confused?")).to_be_visible()
    expect(page.locator(".js-plotly-plot .heatmaplayer image").first).to_be_attached(timeout=120_000)
    settle(page)
    x, y, count = page.evaluate(CELL, ["dog", "dog"])
    assert count == 4
    click_chart(page, x, y)
    page.wait_for_url("**truth=dog**")
    expect(page.get_by_text(f"{count} objects", exact=True)).to_be_visible()
    expect(page.get_by_role("link", name="See them as pictures")).to_be_visible()
    page.get_by_role("link", name="See them as pictures").click()
    page.wait_for_url("**/gallery?**truth=dog**")
    expect(page.get_by_text(f"1–{count} of {count} objects")).to_be_visible(timeout=120_000)
    expect(page.locator("a.tile svg image")).to_have_count(count)
    back(page, "**/curves?**truth=dog**")
    expect(page.get_by_text(f"{count} objects", exact=True)).to_be_visible()
    settle(page)
    page.get_by_role("button", name="Open the first image").click()
    page.wait_for_url("**/example?**case=p**")
    assert "object=p" in page.url


def test_slider_gallery_example_and_back_keep_the_state(studio_of_objects: str, page: Page) -> None:
    tiles = page.locator("a.tile")
    page.goto(f"{studio_of_objects}/curves?model=keen&label=dog&threshold=0.35")
    expect(page.locator(".js-plotly-plot .point").first).to_be_visible(timeout=120_000)
    expect(tiles).to_have_count(4, timeout=120_000)
    expect(page.get_by_text("✓ 8 found · ✗ 0 false · – 0 missed")).to_be_visible()
    settle(page)
    lower_by_five(page)
    page.wait_for_function(f"() => ({MARKER})() == 0.3")  # the run's own point, which the address does not repeat
    settle(page)
    lower_by_five(page)
    page.wait_for_url(re.compile(r"threshold=0\.25(&|$)"))
    page.wait_for_function(f"() => ({MARKER})() == 0.25")
    expect(page.get_by_text("✓ 8 found · ✗ 4 false · – 0 missed")).to_be_visible()
    expect(page.get_by_text("just above 0.25")).to_be_visible()
    expect(tiles).to_have_count(7)
    expect(tiles.filter(has_text="nothing there")).to_have_count(4)
    settle(page)

    page.get_by_role("link", name="See all 8 as pictures").click()
    page.wait_for_url("**/gallery?**score=0.25**")
    expect(page.get_by_text("1–8 of 8 objects")).to_be_visible(timeout=120_000)
    expect(tiles).to_have_count(8)
    settle(page)
    before = page.url
    tiles.nth(4).click()
    page.wait_for_url("**/example?**score=0.25**")
    expect(page.locator(".stage")).to_have_count(1, timeout=120_000)
    expect(page.get_by_text("Score threshold")).to_be_visible()
    settle(page)
    page.get_by_test_id("stMain").get_by_role("link", name="Gallery").click()
    page.wait_for_url("**/gallery?**score=0.25**")
    expect(page.get_by_text("1–8 of 8 objects")).to_be_visible(timeout=120_000)
    settle(page)
    assert sorted(parse_qsl(urlsplit(page.url).query)) == sorted(parse_qsl(urlsplit(before).query))
    back(page, "**/example?**score=0.25**")
    expect(page.locator(".stage")).to_have_count(1, timeout=120_000)
    back(page, before)
    expect(tiles.locator("svg image")).to_have_count(8, timeout=120_000)  # the page runs until all are there
    back(page, "**/curves?**threshold=0.25**")
    page.wait_for_function(f"() => ({MARKER})() == 0.25")
    expect(page.get_by_text("✓ 8 found · ✗ 4 false · – 0 missed")).to_be_visible()


def test_a_chart_is_downloaded_as_a_picture(studio_of_pictures: str, page: Page) -> None:
    page.goto(f"{studio_of_pictures}/curves?evaluator=detection_pr_curve&model=keen")
    chart = page.locator(".js-plotly-plot").first
    expect(chart.locator(".point").first).to_be_visible(timeout=120_000)
    settle(page)
    (button,) = chart.locator(".modebar-btn").all()
    expect(button).to_have_attribute("data-title", "Download picture")
    box = button.bounding_box()
    assert box is not None
    data = chart.evaluate("(chart) => chart.getBoundingClientRect().y + chart._fullLayout._size.t")
    assert box["y"] + box["height"] <= data
    with page.expect_download() as started:
        button.click()
    assert re.fullmatch(r"precision-over-recall[\w-]*\.png", started.value.suggested_filename)
    assert started.value.path().read_bytes().startswith(b"\x89PNG")
