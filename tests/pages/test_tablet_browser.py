"""The studio at the width of a tablet: no page scrolls sideways, nothing that can be used lies outside."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.pages.conftest import serving, settle
from tests.pages.page_scenes import objects_run
from tests.pages.walk_scenes import helpdesk_run

pytestmark = pytest.mark.browser
WIDTH, HEIGHT = 820, 1180
OUTSIDE = """([tags, width]) => [...document.querySelectorAll(`[data-testid=stMain] :is(${tags})`)]
  .filter((element) => {
    const box = element.getBoundingClientRect();
    return box.width && !element.closest(".scroll") && (box.left < 0 || box.right > width);
  }).map((element) => element.textContent || element.getAttribute("aria-label"))"""


@pytest.fixture
def page(page: Page) -> Iterator[Page]:
    page.set_viewport_size({"width": WIDTH, "height": HEIGHT})
    return page


def fits(page: Page) -> None:
    """Assert that the page is as wide as the window, and so is what one can click or type in."""
    settle(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= WIDTH
    assert page.evaluate(OUTSIDE, ["button, a, input, textarea, h1", WIDTH]) == []


def test_from_the_board_to_a_case_and_over_the_pages(
    tmp_path: Path, page: Page, picture: Callable[[str], None]
) -> None:
    pictures = objects_run(tmp_path, "detection_confusion")
    run = helpdesk_run(tmp_path)

    def station(name: str) -> None:
        fits(page)
        picture(name)

    with serving(tmp_path) as address:
        page.goto(f"{address}/leaderboard?run={run.id}")
        expect(page.locator("td a").first).to_be_visible()
        opens = page.get_by_test_id("stExpandSidebarButton")
        expect(opens).to_be_visible()  # the sidebar is folded
        station("board")
        opens.click()
        expect(page.get_by_role("combobox", name="Run (2)")).to_be_visible()
        picture("sidebar")
        page.get_by_test_id("stSidebarCollapseButton").get_by_role("button").click()
        expect(opens).to_be_visible()
        settle(page)  # the board moves with the sidebar
        page.locator("tbody tr", has_text="small").locator("td a").first.click()
        case = page.get_by_role("complementary", name="Worst cases").locator(".case").first
        expect(case).to_be_visible()
        station("worst-cases")
        case.click()
        expect(page.get_by_text("Evidence: Faithfulness")).to_be_visible()
        station("example")
        for place, shown in (
            ("compare", "Is B really better than A?"), ("problems", "No model is on the wrong side"),
            ("report", "What is in it"), ("evaluate", "Test cases"), ("judge", "No judge set up"),
            ("runs", "2 finished"),
        ):  # fmt: skip
            page.goto(f"{address}/{place}")
            expect(page.get_by_text(shown).first).to_be_visible()
            station(place)
        page.goto(f"{address}/gallery?run={pictures.id}&model=keen&kind=fp&score=0")
        expect(page.locator("a.tile svg image")).to_have_count(4)
        station("gallery")
        page.goto(f"{address}/curves?run={pictures.id}")
        expect(page.locator(".js-plotly-plot .point").first).to_be_visible()
        station("curves")


def test_a_table_wider_than_its_place_fades_until_it_is_scrolled_to_its_end(tmp_path: Path, page: Page) -> None:
    run = helpdesk_run(tmp_path)
    with serving(tmp_path) as address:
        page.goto(f"{address}/compare?run={run.id}")
        table = page.locator(".st-key-metrics .dvn-scroller")
        expect(table).to_have_css("background-size", "44px 100%, 100% 0px", timeout=120_000)
        settle(page)
        table.evaluate("table => table.scrollLeft = table.scrollWidth")
        expect(table).to_have_css("background-size", "0px 100%, 100% 0px")
        table.evaluate("table => table.scrollLeft = 0")
        expect(table).to_have_css("background-size", "44px 100%, 100% 0px")
        page.set_viewport_size({"width": 2400, "height": HEIGHT})  # nothing overflows
        expect(table).to_have_css("background-size", "0px 100%, 100% 0px")


def test_a_table_longer_than_its_place_fades_until_it_is_scrolled_to_its_end(tmp_path: Path, page: Page) -> None:
    run = helpdesk_run(tmp_path)
    with serving(tmp_path) as address:
        page.goto(f"{address}/compliance?run={run.id}")
        page.set_viewport_size({"width": 2400, "height": HEIGHT})
        table = page.locator(".st-key-standards .dvn-scroller")
        expect(table).to_have_css("background-size", "0px 100%, 100% 26px", timeout=120_000)
        settle(page)
        table.evaluate("table => table.scrollTop = table.scrollHeight")
        expect(table).to_have_css("background-size", "0px 100%, 100% 0px")
