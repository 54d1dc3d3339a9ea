"""Every page in one walk: at the width of a tablet, then wide in both themes before axe, then at that of a phone."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from components.widgets.url import FORMER, PAGES, PLACES
from tests.pages.browser.conftest import Studio, serious_findings
from tests.pages.conftest import settle

pytestmark = pytest.mark.browser
OF_PICTURES = ("curves", "gallery")
ONE_LINE = ("problems", "judge_agreement")  # a short head, and the longest
NARROW, WIDE, PHONE = ({"width": 820, "height": 1180}, {"width": 1280, "height": 720}, {"width": 420, "height": 800})
TEXT = {"light": "rgb(11, 19, 27)", "dark": "rgb(232, 237, 242)"}  # .streamlit/config.toml
# Streamlit's own: its data frames are canvases with a table for readers that axe takes for a scrolling region.
OF_STREAMLIT = ("[data-testid='stDataFrame']", ".stDataFrame", ".js-plotly-plot")
OUTSIDE = """width => [...document.querySelectorAll(`[data-testid=stMain] :is(button, a, input, textarea, h1)`)]
  .filter((element) => {
    const box = element.getBoundingClientRect();
    return box.width && !element.closest(".scroll") && (box.left < 0 || box.right > width);
  }).map((element) => element.textContent || element.getAttribute("aria-label"))"""
INKS = """() => [...document.querySelectorAll("[data-testid=stMain] button:disabled p")].map((words) =>
  [words, document.querySelector("[data-testid=stApp]")].map((box, index) =>
    getComputedStyle(box)[index ? "backgroundColor" : "color"]))"""


def in_one_line(page: Page, width: int) -> bool:
    """Return whether title, palette and link of a page stand in one line, the last one inside the window."""
    parts = (page.locator("h1"), page.get_by_text("Go to …"), page.get_by_role("button", name="Copy link"))
    boxes = [box for part in parts if part.count() and (box := part.bounding_box()) is not None]
    middles = [box["y"] + box["height"] / 2 for box in boxes]
    inside = boxes[-1]["x"] + boxes[-1]["width"] <= width
    return len(boxes) >= 2 and inside and all(abs(middle - middles[0]) < 20 for middle in middles)


def brightness(ink: str, paper: str) -> float:
    """How far a text's grey is from the paper's, 0 to 1; both are CSS colours, the first may let the paper through."""
    *inks, papers = (list(map(float, re.findall(r"[\d.]+", colour))) for colour in (ink, paper))
    red_green_blue, opacity = inks[0][:3], (inks[0][3:] or [1.0])[0]
    return abs(sum(red_green_blue) - sum(papers[:3])) * opacity / (3 * 255)


def fades(table: Locator, sideways: int, below: int) -> None:
    """Wait until a table fades at its right edge and at its end over so many pixels."""
    expect(table).to_have_css("background-size", f"{sideways}px 100%, 100% {below}px")


@pytest.mark.attack(
    "browser", "what a model wrote runs as a script of the page", "a Content-Security-Policy without eval"
)
@pytest.mark.parametrize("name", [*PAGES, "example of pictures"])
def test_each_page_is_whole_narrow_and_wide_light_and_dark(studio, page, name, picture):
    """The page fixture sees what breaks the policy and what is asked of other hosts; the runs hold hostile texts."""
    run = "pictures" if name in OF_PICTURES or "pictures" in name else "judged"
    page.set_viewport_size(NARROW)
    page.goto(studio.at(name.partition(" ")[0], run))
    expect(page.locator("h1")).to_be_visible()
    opens = page.get_by_test_id("stExpandSidebarButton")
    if name == "leaderboard":
        expect(opens).to_be_visible()  # the sidebar is folded
    settle(page)
    picture(f"{name}-narrow")
    assert page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]
    assert page.evaluate(OUTSIDE, NARROW["width"]) == []
    assert name not in ONE_LINE or in_one_line(page, NARROW["width"])
    expect(page.get_by_test_id("stException")).to_have_count(0)
    if opens.is_visible():
        opens.click()
    page.set_viewport_size(WIDE)
    for theme, colour in TEXT.items():
        page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
        expect(page.locator("h1")).to_have_css("color", colour)
        settle(page)
        picture(f"{name}-{theme}")
        assert not serious_findings(page, *OF_STREAMLIT), theme
        assert [inks for inks in page.evaluate(INKS) if brightness(*inks) <= 0.1] == [], "a disabled button is read"
    assert name not in ONE_LINE or in_one_line(page, WIDE["width"])
    page.set_viewport_size(PHONE)
    settle(page)
    picture(f"{name}-phone")
    assert page.locator("h1").bounding_box()["y"] < 160  # what the page is about is not wrapped letter by letter


def test_former_addresses_lead_and_what_is_forbidden_is_refused(studio: Studio, page: Page) -> None:
    for former, leads_to in FORMER.items():
        page.goto(f"{studio.address}/{former}?search=bleu")
        page.wait_for_url(f"{studio.address}/{leads_to}?search=bleu**")
        expect(page.get_by_text("Page not found")).to_have_count(0)
    expect(page.get_by_test_id("stTopNavLink")).to_have_text([re.compile(f"{place}$") for place in PLACES])
    page.set_content("<html lang='en'><title>x</title><main><p style='color: #ccc; background: #fff'>pale</p></main>")
    assert [found.partition(":")[0] for found in serious_findings(page)] == ["color-contrast"], "axe sees what is wrong"


def test_a_table_that_is_cut_fades_until_it_is_scrolled_to_its_end(studio: Studio, page: Page) -> None:
    page.set_viewport_size(NARROW)
    page.goto(studio.at("compare", "texts"))
    table = page.locator(".st-key-metrics .dvn-scroller")
    fades(table, 44, 0)
    settle(page)
    table.evaluate("table => table.scrollLeft = table.scrollWidth")
    fades(table, 0, 0)
    table.evaluate("table => table.scrollLeft = 0")
    fades(table, 44, 0)
    page.set_viewport_size(NARROW | {"width": 2400})  # nothing overflows
    fades(table, 0, 0)
    page.goto(studio.at("compliance", "texts"))
    table = page.locator(".st-key-standards .dvn-scroller")
    fades(table, 0, 26)
    settle(page)
    table.evaluate("table => table.scrollTop = table.scrollHeight")
    fades(table, 0, 0)
