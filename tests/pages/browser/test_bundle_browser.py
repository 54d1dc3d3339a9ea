"""A bundle in a browser, opened from a disk: no server, no request outside it, hostile texts as text, both themes."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from metrics.reports.bundles.bundle_files import write_bundle
from metrics.store import Run
from tests.pages.browser.conftest import serious_findings
from tests.pages.page_scenes import agents_run, judged_run, masks_run, objects_run
from tests.reports.bundles.bundle_scenes import HOSTILE, hostile_run

pytestmark = pytest.mark.browser
WIDTH = """node => new Promise((ready) => {
  const image = new Image();
  image.onload = () => ready(image.width);
  image.onerror = () => ready(0);
  image.src = node.getAttribute("href");
})"""
MADE_OF_TEXT = """() => {
  const found = [];
  const walk = (root) => {
    for (const node of root.querySelectorAll("*")) {
      if (["IMG", "IFRAME", "OBJECT", "EMBED"].includes(node.tagName) || node.hasAttribute("onerror")) found.push(node.outerHTML);
      if (node.shadowRoot) walk(node.shadowRoot);
    }
  };
  walk(document);
  return found;
}"""  # noqa: E501


@pytest.fixture(scope="module")
def bundles(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The folder of a bundle of each run."""
    runs: dict[str, Callable[[Path], Run]] = {
        "judged": judged_run, "objects": objects_run, "areas": masks_run, "agents": agents_run, "hostile": hostile_run,
    }  # fmt: skip
    found = {}
    for name, make in runs.items():
        folder = tmp_path_factory.mktemp(name)
        found[name] = folder / "bundle"
        write_bundle(make(folder), found[name])
    return found


@pytest.fixture
def open_bundle(page: Page, bundles: dict[str, Path]) -> Iterator[Callable[..., Page]]:
    """Opens a bundle from the disk; afterwards nothing outside it was asked for and nothing went wrong."""
    asked: list[str] = []
    said: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("dialog", lambda dialog: said.append(dialog.message))
    opened: list[str] = []

    def go(name: str, place: str = "") -> Page:
        opened.append(bundles[name].as_uri())
        page.goto(f"{opened[0]}/index.html{place}")
        expect(page.locator("main[data-drawn]")).to_be_attached()
        return page

    yield go
    assert [url for url in asked if not url.startswith(f"{opened[0]}/")] == []
    assert said == []
    assert page.evaluate(MADE_OF_TEXT) == []


def drawn(page: Page, name: str) -> None:
    expect(page.locator(f"main.page-{name}[data-drawn]")).to_be_attached()


def test_from_a_cell_to_the_claims_of_a_case(open_bundle: Callable[..., Page]) -> None:
    page = open_bundle("judged")
    expect(page.get_by_role("heading", name="Leaderboard")).to_be_visible()
    cell = page.locator("td a").first
    cell.hover()
    expect(page.get_by_role("tooltip").first).to_contain_text("95 % interval")
    cell.click()
    drawer = page.get_by_role("complementary", name="Worst cases")
    expect(drawer).to_contain_text("When did it open")
    drawer.get_by_role("link", name="All 2 cases").click()
    drawn(page, "cases")
    page.get_by_role("searchbox", name="Search").fill("who designed")
    expect(page.locator(".case")).to_have_count(1)
    expect(page.get_by_role("searchbox", name="Search")).to_be_focused()
    page.locator(".case").click()
    drawn(page, "case")
    expect(page.get_by_role("heading", name="gate")).to_be_visible()
    evidence = page.locator("details", has_text="Evidence: Faithfulness")
    claim = evidence.locator(".row", has_text="It opened in 1937.").first
    expect(claim).to_contain_text("✓")
    claim.click()
    expect(evidence.locator(".context.lit")).to_contain_text("It opened in 1937.")
    page.go_back()
    drawn(page, "cases")
    expect(page.locator(".case")).to_have_count(1)  # as it was searched
    page.go_back()
    drawn(page, "board")
    expect(drawer).to_contain_text("When did it open")  # the cell is still open


def test_the_board_sorts_and_chooses_columns(open_bundle: Callable[..., Page]) -> None:
    page = open_bundle("judged")
    names = page.locator("tbody th")
    before = names.all_inner_texts()
    model = page.get_by_role("button", name="Model (2)")
    model.click()
    expect(names).to_have_text(sorted(before, reverse=True) if before == sorted(before) else sorted(before))
    first = names.all_inner_texts()
    model.click()
    expect(names).to_have_text(first[::-1])
    page.get_by_role("button", name="Columns").click()
    heads = page.locator("thead th[data-column]")
    count = heads.count()
    page.locator(".options input:checked").first.click()
    expect(heads).to_have_count(count - 1)
    page.get_by_role("button", name="Compact").click()
    expect(page.locator(".board")).to_have_attribute("data-cells", "compact")


def test_an_image_with_its_boxes(open_bundle: Callable[..., Page]) -> None:
    page = open_bundle("objects", "#/cases?evaluator=average_precision&model=keen")
    page.locator(".case").first.click()
    drawn(page, "case")
    stage = page.get_by_role("img", name="keen · score")
    expect(stage).to_have_attribute("aria-label", re.compile("keen · score ≥ .*: ✓ 2 found · ✗ 0 false · – 0 missed"))
    picture = stage.locator("image")
    assert picture.evaluate(WIDTH) == 120
    expect(stage.locator("path").first).to_be_attached()
    box = stage.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] * 25 / 120, box["y"] + box["height"] * 20 / 90)
    expect(page.get_by_role("tooltip")).to_contain_text("cat, score 0.900: true positive")
    page.get_by_role("button", name="shy").click()
    expect(page.get_by_role("img", name="shy: ")).to_have_count(0)
    page.keyboard.press("Tab")
    page.locator("main").focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("heading", level=1)).not_to_contain_text("p0")


def test_areas_as_mistakes_and_as_classes(open_bundle: Callable[..., Page]) -> None:
    page = open_bundle("areas", "#/cases")
    page.locator(".case").first.click()
    drawn(page, "case")
    expect(page.locator(".stage")).to_have_count(2)
    page.get_by_role("button", name="Classes").click()
    expect(page.get_by_role("img", name="Ground truth")).to_be_visible()


def test_curves_are_drawn_and_read_out(open_bundle: Callable[..., Page]) -> None:
    page = open_bundle("objects")
    page.get_by_role("navigation").get_by_role("link", name="Curves").click()
    drawn(page, "charts")
    chart = page.get_by_role("img", name="precision over recall").first
    expect(chart.locator("path").first).to_be_attached()
    expect(chart).to_contain_text("recall")
    lines = chart.locator("path").evaluate_all("paths => paths.map(path => getComputedStyle(path).stroke)")
    assert len(set(lines)) > 2  # the inks are there: grid, axis, a colour a model


def test_what_an_agent_did(open_bundle: Callable[..., Page]) -> None:
    page = open_bundle("agents", "#/case?case=t1")
    page.get_by_text("Trace: 3 steps").click()
    expect(page.locator(".trace li")).to_have_count(3)
    page.get_by_text("Trace: unreadable").click()
    expect(page.get_by_text("no JSON")).to_be_visible()


def test_hostile_texts_stay_text(open_bundle: Callable[..., Page]) -> None:
    for place in ("", "#/cases", "#/charts", "#/about"):
        page = open_bundle("hostile", place)
        if place == "":
            page.locator("td a").first.click()
            expect(page.locator(".drawer .case").first).to_contain_text(HOSTILE[:20])
        if place == "#/cases":
            page.locator(".case").first.click()
            drawn(page, "case")
            for summary in page.locator("summary").all():
                summary.click()
            expect(page.locator("main")).to_contain_text("<img src=x")
        assert page.evaluate(MADE_OF_TEXT) == [], place
        assert page.title() != "taken"
        page.goto("about:blank")


def test_an_address_that_names_nothing_breaks_nothing(open_bundle: Callable[..., Page]) -> None:
    for place in ("#/case?case=none", "#/case?case=__proto__", "#/nowhere", "?cell=x&of=y#/"):
        page = open_bundle("judged", place)
        assert page.locator("main").inner_text().strip(), place
        page.goto("about:blank")


def test_no_serious_finding_of_axe(browser: Browser, bundles: dict[str, Path]) -> None:
    """On a page of its own: axe asks for style sheets, which a bundle's policy refuses."""
    page = browser.new_page(viewport={"width": 1280, "height": 720})
    case = "#/case?case=gate&evaluator=faithfulness&metric=faithfulness&model=small"
    places = [("judged", place) for place in ("", "#/cases", case, "#/about")]
    for name, place in [*places, ("objects", "#/case?case=p1"), ("objects", "#/charts")]:
        page.goto("about:blank")
        page.goto(f"{bundles[name].as_uri()}/index.html{place}")
        expect(page.locator("main[data-drawn]")).to_be_attached()
        for theme in ("light", "dark"):
            page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
            assert serious_findings(page) == [], (name, place, theme)
    page.close()


def test_it_prints_light_and_whole(open_bundle: Callable[..., Page], page: Page) -> None:
    page.emulate_media(color_scheme="dark")
    open_bundle("judged", "#/case?case=gate")
    page.emulate_media(media="print", color_scheme="dark")
    assert page.locator("body").evaluate("node => getComputedStyle(node).backgroundColor") == "rgb(255, 255, 255)"
    expect(page.locator("nav")).to_be_hidden()
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    expect(page.locator("details:not([open])")).to_have_count(0)
    assert page.pdf()[:4] == b"%PDF"
