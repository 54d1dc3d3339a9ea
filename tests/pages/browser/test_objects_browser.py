"""Objects in a real browser: sliders, points and cells of charts, tiles, the viewer, keys, downloads, and Back."""

import re
from urllib.parse import parse_qsl, urlsplit

import pytest
from playwright.sync_api import Page, Response, expect

from tests.pages.browser.conftest import SIDE, Studio
from tests.pages.conftest import back, choose, click_chart, exported_coco, press, settle, tag_object

pytestmark = pytest.mark.browser
MARKER = """(wanted) => document.querySelector(".js-plotly-plot")?._fullData
  ?.filter((trace) => trace.mode == "markers").map((trace) => trace.customdata[0][2])[0] == wanted"""
CELL = """(wanted) => {
  const chart = document.querySelector(".js-plotly-plot"), box = chart.getBoundingClientRect();
  const cells = chart._fullData.find((trace) => trace.type == "scatter");
  const { _xaxis: x, _yaxis: y } = { _xaxis: chart._fullLayout.xaxis, _yaxis: chart._fullLayout.yaxis };
  const at = Array.from(cells.customdata).findIndex((cell) => cell[0] == wanted[0] && cell[1] == wanted[1]);
  return [
    box.x + x._offset + x.d2p(cells.x[at]), box.y + y._offset + y.d2p(cells.y[at]), cells.customdata[at][2],
  ];
}"""
POINT = """() => {
  const chart = document.querySelector(".js-plotly-plot"), box = chart.getBoundingClientRect();
  const line = chart._fullData.find((trace) => trace.mode == "lines+markers" && trace.customdata[0][1] == "dog");
  const axis = (name) => chart._fullLayout[name[0] + "axis" + name.slice(1)];
  const x = axis(line.xaxis), y = axis(line.yaxis);
  return [box.x + x._offset + x.d2p(line.x[0]), box.y + y._offset + y.d2p(line.y[0])];
}"""


def lower(page: Page, threshold: float) -> None:
    """Lower the score threshold to the next point of the curve, `threshold`; wait for its marker."""
    settle(page)
    page.get_by_role("slider").focus()
    page.keyboard.press("ArrowLeft")
    page.wait_for_function(MARKER, arg=threshold)


def point_at(page: Page, x: float, y: float) -> None:
    """Move the pointer to a place of the first stage, whose image has 120 × 90 pixels."""
    settle(page)
    box = page.locator(".stage").first.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] * x / 120, box["y"] + box["height"] * y / 90)


def test_slider_gallery_example_and_back_keep_the_state(studio: Studio, page: Page) -> None:
    """The slider moves marker, counts and pictures together; 0.3 is the run's own point, which no address repeats."""
    tiles = page.locator("a.tile")
    page.goto(studio.at("curves", "pictures", "&model=keen&label=dog&threshold=0.35&evaluator=detection_pr_curve"))
    expect(tiles).to_have_count(4)
    expect(page.get_by_text("✓ 8 found · ✗ 0 false · – 0 missed")).to_be_visible()
    lower(page, 0.3)
    lower(page, 0.25)
    page.wait_for_url(re.compile(r"threshold=0\.25(&|$)"))
    expect(page.get_by_text("✓ 8 found · ✗ 4 false · – 0 missed")).to_be_visible()
    expect(page.get_by_text("just above 0.25")).to_be_visible()
    expect(tiles).to_have_count(7)
    expect(tiles.filter(has_text="background")).to_have_count(4)
    settle(page)
    page.get_by_role("link", name="See all 8 as pictures").click()
    page.wait_for_url("**/gallery?**score=0.25**")
    expect(page.get_by_text("1–8 of 8 objects")).to_be_visible()
    expect(tiles).to_have_count(8)
    settle(page)
    before = page.url
    tiles.nth(4).click()
    page.wait_for_url("**/case?**score=0.25**")
    expect(page.locator(".stage")).to_have_count(1)
    settle(page)
    page.get_by_test_id("stMain").get_by_role("link", name="Gallery").last.click()
    page.wait_for_url("**/gallery?**score=0.25**")
    expect(page.get_by_text("1–8 of 8 objects")).to_be_visible()
    settle(page)
    assert sorted(parse_qsl(urlsplit(page.url).query)) == sorted(parse_qsl(urlsplit(before).query))
    back(page, "**/case?**score=0.25**")
    expect(page.locator(".stage")).to_have_count(1)
    back(page, before)
    expect(tiles.locator("svg image")).to_have_count(8)  # the page runs until all are there
    back(page, "**/curves?**threshold=0.25**")
    page.wait_for_function(MARKER, arg=0.25)
    expect(page.get_by_text("✓ 8 found · ✗ 4 false · – 0 missed")).to_be_visible()


def test_points_and_cells_of_charts_open_their_objects_and_the_chart_is_downloaded(studio: Studio, page: Page) -> None:
    page.goto(studio.at("curves", "pictures", "&evaluator=detection_pr_curve&model=keen"))
    chart = page.locator(".js-plotly-plot").first
    expect(chart.locator(".point").first).to_be_visible()
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

    click_chart(page, *page.evaluate(POINT))
    page.wait_for_url("**of=keen&of_class=dog&threshold=0.3**")
    expect(page.get_by_text("keen, dog, score ≥ 0.30")).to_be_visible()
    settle(page)
    page.get_by_role("radio", name="Confusion").or_(page.get_by_role("button", name="Confusion")).first.click()
    page.wait_for_url("**view=confusion**")
    expect(page.get_by_text("Which classes are confused?")).to_be_visible()
    expect(page.locator(".js-plotly-plot .heatmaplayer image").first).to_be_attached()
    settle(page)
    x, y, count = page.evaluate(CELL, ["dog", "dog"])
    assert count == 4
    click_chart(page, x, y)
    page.wait_for_url("**truth=dog**")
    expect(page.get_by_text(f"{count} objects", exact=True)).to_be_visible()
    settle(page)
    page.get_by_role("link", name="See them as pictures").click()
    page.wait_for_url("**/gallery?**truth=dog**")
    expect(page.locator("a.tile svg image")).to_have_count(count)
    back(page, "**/curves?**truth=dog**")
    expect(page.get_by_text(f"{count} objects", exact=True)).to_be_visible()
    settle(page)
    page.get_by_role("button", name="Open the first image").click()
    page.wait_for_url("**/case?**case=p**")
    assert "object=p" in page.url


def test_a_tile_opens_zoomed_is_walked_from_and_tagged_then_exported(studio: Studio, page: Page) -> None:
    page.goto(studio.at("gallery", "tagged", "&model=keen&kind=fp&score=0"))
    tiles, canvas = page.locator("a.tile"), page.locator(".stage svg")
    expect(tiles.locator("svg image")).to_have_count(4)
    choose(page, "Class (1)", "dog (4)")
    page.wait_for_url("**label=dog**")
    settle(page)
    before = page.url
    tiles.first.focus()
    page.keyboard.press("ArrowRight")
    expect(tiles.nth(1)).to_be_focused()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    page.wait_for_url("**/case?**case=p2**")
    expect(page.get_by_text("3 of 4 objects · dog 0.30, background")).to_be_visible()
    expect(canvas.locator(".marked")).to_have_count(2)
    expect(canvas).to_have_attribute("viewBox", "53 0 64 48")
    settle(page)
    page.get_by_role("button", name="Fit").click()
    expect(canvas).to_have_attribute("viewBox", "0 0 120 90")
    page.get_by_role("button", name="Object", exact=True).click()
    expect(canvas).to_have_attribute("viewBox", "53 0 64 48")
    back(page, before)
    expect(tiles).to_have_count(4)
    settle(page)
    tiles.nth(2).click()
    page.wait_for_url("**/case?**case=p2**")
    press(page, "ArrowRight", "4 of 4 objects")
    page.wait_for_url("**case=p3**")
    expect(page.get_by_role("button", name="Next object")).to_be_disabled()
    tag_object(page, "label error")
    settle(page)
    page.get_by_test_id("stMain").get_by_role("link", name="Gallery").last.click()
    page.wait_for_url("**/gallery?**")
    expect(tiles).to_have_count(4)
    expect(tiles.filter(has_text="label error")).to_have_count(1)
    settle(page)
    page.locator(".tick").nth(1).check()
    expect(page.get_by_role("button", name="Tag 1 ticked")).to_be_visible()
    settle(page)
    tiles.nth(2).focus()
    page.keyboard.press("x")
    settle(page)
    page.get_by_role("button", name="Tag 2 ticked").click()
    box = page.get_by_role("combobox", name="Tags for 2 ticked")
    box.fill("check")
    box.press("Enter")
    box.press("Escape")
    page.get_by_role("button", name="Add").click()
    expect(tiles.filter(has_text="check")).to_have_count(2)
    choose(page, "Your tag (2)", "label error (1)")
    page.wait_for_url("**mark=label**")
    expect(tiles).to_have_count(1)
    document = exported_coco(page)
    assert [image["width"] for image in document["images"]] == [120]
    assert len(document["annotations"]) == 2
    assert [(row["bbox"], row["outcome"]) for row in document["predictions"]] == [
        ([80.0, 5.0, 10.0, 10.0], "fp_hallucination")
    ]


def test_pictures_below_the_window_wait_until_they_are_seen(studio: Studio, page: Page) -> None:
    page.set_viewport_size({"width": 1280, "height": 500})
    page.goto(studio.at("gallery", "many", "&model=keen&kind=fp&score=0"))
    tiles = page.locator("a.tile")
    expect(tiles).to_have_count(40)
    expect(tiles.first.locator("svg image")).to_have_count(1)
    settle(page)
    expect(tiles.nth(39).locator("svg image")).to_have_count(0)
    tiles.nth(39).scroll_into_view_if_needed()
    expect(tiles.locator("svg image")).to_have_count(40)


def test_the_zoom_outlives_a_slider_and_is_shared_and_keys_walk_through_the_cases(studio: Studio, page: Page) -> None:
    page.goto(studio.at("case", "pictures", "&case=p1&evaluator=average_precision"))
    drawings = page.locator(".stage svg")
    expect(drawings).to_have_count(2)
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
    point_at(page, 20, 15)
    expect(page.get_by_role("tooltip")).to_contain_text("cat, score 0.900: true positive")
    page.mouse.move(0, 0)
    press(page, "ArrowRight", "3 of 4")
    press(page, "ArrowLeft", "2 of 4")


def test_wrong_areas_and_classes_are_translucent_surfaces(studio: Studio, page: Page) -> None:
    page.goto(studio.at("case", "masks", "&case=p1&model=late"))
    stages = page.locator(".stage")
    expect(stages).to_have_count(2)
    late = stages.first
    expect(late.locator("path.surface")).to_have_count(2)  # ignored pixels, and the sky taken for road
    assert late.locator("path.surface").last.evaluate("path => getComputedStyle(path).fillOpacity") == "0.3"
    expect(late.locator("text")).to_have_text(["road"])
    point_at(page, 70, 30)
    expect(page.locator(".tip")).to_contain_text("sky predicted as road, 1,600 pixels")
    page.get_by_role("radio", name="Classes").click()
    page.wait_for_url("**show=classes**")
    expect(stages).to_have_count(3)
    expect(page.locator(".name")).to_have_text(["Ground truth", "late", "exact"])
    expect(stages.first.locator("text")).to_have_text(["road", "sky"])


def test_a_large_image_is_sharp_where_it_is_looked_at(studio: Studio, page: Page) -> None:
    """An image of 10,000 × 10,000 pixels is small at first, then tiles of what is zoomed into are fetched."""

    def is_tile(address: str) -> bool:
        return "/media/" in address and "/static/" not in address

    media: list[Response] = []
    page.on("response", lambda response: media.append(response) if is_tile(response.url) else None)
    page.goto(studio.at("case", "large", "&case=a"))
    expect(page.locator(".stage svg image")).to_have_count(1)
    settle(page)
    assert media == []
    with page.expect_response(lambda response: is_tile(response.url)):
        for _ in range(10):  # 1.5¹⁰ = 58 times, of which the viewer allows 40: 250 pixels across
            page.get_by_role("button", name="+", exact=True).click()
    tiles = page.locator(".stage svg image[href*='/media/']")
    expect(tiles.first).to_be_attached()
    settle(page)
    expect(page.locator(".stage svg")).to_have_attribute("viewBox", re.compile(r"^4875\S* 4875\S* 250 250$"))
    assert 1 <= len(media) <= 9, "only the tiles in view are fetched"
    assert all(response.ok for response in media)
    assert sum(len(response.body()) for response in media) < 2_000_000
    for tile in tiles.all():  # each is drawn at its own place and size
        assert [float(tile.get_attribute(side) or 0) % 1024 for side in ("x", "y", "width", "height")] == [0] * 4
    page.get_by_role("button", name="Fit").click()
    expect(page.locator(".stage svg")).to_have_attribute("viewBox", f"0 0 {SIDE} {SIDE}")
