"""The leaderboard in a real browser: links, keys, Back, sorting, forms, and 60 models in 15 metrics."""

from urllib.parse import parse_qs, urlparse

import pytest
from playwright.sync_api import Locator, Page, expect

from metrics.presentation.format import WHOLE, middle
from tests.pages.browser.conftest import WIDE_METRICS, WIDE_MODELS, Studio
from tests.pages.conftest import HOSTILE, back, click_chart, settle

pytestmark = pytest.mark.browser
INSIDE = """(cells, edge) => cells.filter((cell) => {
    const box = cell.getBoundingClientRect(), scroll = cell.closest(".scroll").getBoundingClientRect();
    return box.right <= scroll.right + 1 && box.bottom <= Math.min(scroll.bottom + 1, window.innerHeight);
}).length"""
CUT = """(boxes) => boxes.filter((box) => box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight)
    .map((box) => box.textContent)"""


def query(page: Page) -> dict[str, list[str]]:
    """Return the parameters of a page's address."""
    return parse_qs(urlparse(page.url).query)


def open_board(page: Page, address: str, cells: int) -> Locator:
    """Return the drawer of worst cases of a board that is drawn."""
    page.goto(address)
    expect(page.locator("tbody td")).to_have_count(cells)
    settle(page)
    return page.get_by_role("complementary", name="Worst cases")


@pytest.mark.attack("model", "a name of a model with markup and a script", "names are text")
def test_a_board_sorts_tells_and_keeps_hostile_names_text(studio: Studio, page: Page) -> None:
    open_board(page, studio.at("leaderboard", "animals"), 12)
    names, sort = page.locator("tbody th"), page.locator("thead button").nth(1)
    expect(names.last).to_have_attribute("title", HOSTILE)
    expect(names.last).to_have_text(middle(HOSTILE, WHOLE))
    assert page.locator("tbody img").count() == 0
    page.locator("td").first.hover()
    expect(page.get_by_role("tooltip")).to_contain_text("95 % interval")
    expect(page.get_by_role("tooltip")).to_contain_text("Range 0 … 1, higher is better")
    expect(page.locator("thead th[aria-sort=descending]")).to_be_visible()  # by what people choose by, unasked
    expect(names.first).to_have_text("sharp")
    sort.click()
    page.wait_for_url("**order=up**")
    expect(page.locator("thead th[aria-sort=ascending]")).to_be_visible()
    expect(names.first).to_have_attribute("title", HOSTILE)
    settle(page)
    page.reload()  # the address has the view
    expect(names.first).to_have_attribute("title", HOSTILE)
    page.goto(studio.at("leaderboard", "animals", "&form=bars"))
    bars = page.locator(".js-plotly-plot .barlayer .point path")
    expect(bars).to_have_count(9)  # three metrics of three models
    settle(page)
    bar = bars.nth(1).bounding_box()
    assert bar is not None
    click_chart(page, bar["x"] + bar["width"] / 2, bar["y"] + bar["height"] / 2)
    page.wait_for_url("**/cases?**")
    assert (query(page)["evaluator"], query(page)["metric"]) == (["classification"], ["accuracy"])
    assert query(page)["model"] == ["blunt"]


def test_a_cell_leads_to_a_case_to_all_its_cases_and_back(studio: Studio, page: Page) -> None:
    drawer = open_board(page, studio.at("leaderboard", "animals"), 12)
    case = drawer.locator(".case")
    before = page.url
    page.locator("td a").first.click()
    expect(case.first).to_contain_text("c0")
    expect(case.first).to_contain_text("dog")
    expect(page.locator("td.open")).to_have_count(1)
    assert urlparse(page.url).path == "/leaderboard"
    assert (query(page)["of"], query(page)["cell"]) == (["sharp"], ["classification/accuracy"])
    settle(page)
    opened = page.url
    case.nth(1).click()
    expect(page.get_by_role("heading", name="Case")).to_be_visible()
    assert query(page)["case"] == ["c10"]
    expect(page.get_by_role("button", name="Cases")).to_be_visible()
    back(page, opened)
    expect(case.first).to_be_visible()
    settle(page)
    drawer.get_by_role("link", name="All 120 cases").click()
    expect(page.get_by_role("heading", name="Cases")).to_be_visible()
    cases = page.get_by_test_id("stMain").locator(".case")
    expect(cases).to_have_count(100)
    expect(page.get_by_role("button", name="Next")).to_be_visible()  # is drawn after the list
    assert query(page)["model"] == ["sharp"]
    back(page, opened)
    expect(drawer).to_be_visible()
    settle(page)
    drawer.get_by_role("button", name="Close").click()
    expect(drawer).to_be_hidden()
    settle(page)
    assert page.url == before


def test_keys_walk_over_the_list_of_cases_and_enter_opens_one(studio: Studio, page: Page) -> None:
    page.goto(studio.at("cases", "animals", "&evaluator=classification&metric=accuracy&model=blunt&tag=night"))
    cases = page.locator(".case")
    expect(cases).to_have_count(40)
    settle(page)
    page.keyboard.press("j")
    expect(cases.first).to_be_focused()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("j")
    page.keyboard.press("k")
    expect(cases.nth(1)).to_be_focused()
    page.get_by_label("Case id or question").fill("jn")  # typed, not walked
    expect(cases.nth(1)).not_to_be_focused()
    page.get_by_label("Case id or question").fill("")  # else the search begins as the box is left
    cases.nth(1).focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Case")).to_be_visible()


def test_keys_walk_over_the_cells_and_enter_opens_one(studio: Studio, page: Page) -> None:
    drawer = open_board(page, studio.at("leaderboard", "animals"), 12)
    before, tip = page.url, page.get_by_role("tooltip")
    page.locator("td a").first.focus()
    for key, said in (("ArrowDown", "blunt"), ("k", "sharp"), ("n", "On the wrong side of its threshold")):
        page.keyboard.press(key)
        expect(tip).to_contain_text(said)
    page.keyboard.press("Enter")
    expect(drawer.locator(".case").first).to_be_focused()
    settle(page)
    page.keyboard.press("j")
    expect(drawer.locator(".case").nth(1)).to_be_focused()
    page.keyboard.press("?")
    help = page.get_by_role("dialog", name="Keyboard")
    expect(help).to_contain_text("next failing cell or case")
    page.keyboard.press("Escape")
    expect(help).to_be_hidden()
    expect(drawer).to_be_visible()
    page.keyboard.press("Escape")
    expect(drawer).to_be_hidden()
    expect(page.locator("td a:focus")).to_have_count(1)
    settle(page)
    page.locator("td a").first.click()
    expect(drawer.locator(".case").first).to_be_visible()
    back(page, before)
    expect(drawer).to_be_hidden()


def test_a_wide_board_is_whole_and_counts_the_columns_out_of_sight(studio, page, picture):
    """Compact cells are the usual ones; of full cells, those out of sight are counted at the edge."""
    whole, cells = page.locator("tbody td a, thead button"), page.locator("tbody tr:first-child td")
    drawer = open_board(page, studio.at("leaderboard", "wide"), len(WIDE_MODELS) * len(WIDE_METRICS))
    picture("board")
    assert cells.evaluate_all(INSIDE) == len(WIDE_METRICS)
    assert page.locator("tbody td:nth-child(2)").evaluate_all(INSIDE) >= 12  # below tabs and headline
    assert whole.evaluate_all(CUT) == []
    expect(page.locator(".further")).to_be_hidden()
    expect(page.locator(".prefix")).to_have_text("acme-labs/llama-3-…")
    row = page.locator('tbody th[title="acme-labs/llama-3-7b-instruct-q4_k_m-gguf-preview"]')
    expect(row).to_have_text("7b-instruct-…guf-preview")
    lies_inside(page, drawer, 1280)
    drawer.get_by_role("button", name="Close").click()
    expect(drawer).to_be_hidden()
    choose_cells(page, "Intervals")
    assert page.locator("tbody td a").evaluate_all(CUT) == []  # intervals with a sign included
    further = page.locator(".further")
    expect(further).to_have_text(f"{len(WIDE_METRICS) - cells.evaluate_all(INSIDE)} more ›")
    expect(page.locator(".fade.right.on")).to_have_count(1)
    further.scroll_into_view_if_needed()
    names = page.locator("tbody th").first.bounding_box()
    further.click()
    expect(page.locator(".fade.right.on")).to_have_count(0)
    assert page.locator("tbody th").first.bounding_box() == names  # the first column stays


def test_a_wide_board_is_whole_at_the_width_of_a_tablet(studio, page, picture):
    page.set_viewport_size({"width": 820, "height": 720})
    drawer = open_board(page, studio.at("leaderboard", "wide", "&cells=fit"), len(WIDE_MODELS) * len(WIDE_METRICS))
    assert page.locator("tbody td a").evaluate_all(CUT) == []
    choose_cells(page, "Compact")
    assert page.locator("tbody td a").evaluate_all(CUT) == []
    lies_inside(page, drawer, 820)
    picture("drawer")


def choose_cells(page: Page, form: str) -> None:
    """Choose the form of the board's cells."""
    settle(page)
    button = page.get_by_role("button", name=form, exact=True)
    button.click()
    expect(button).to_have_attribute("aria-pressed", "true")
    settle(page)


def lies_inside(page: Page, drawer: Locator, width: int) -> None:
    """Open the drawer of the first cell, and assert that it lies inside the window."""
    page.locator("tbody td a").first.click()
    expect(drawer.locator(".case")).to_have_count(6)
    settle(page)
    box = drawer.bounding_box()
    assert box is not None
    assert 0 <= box["x"] <= box["x"] + box["width"] <= width
    assert box["width"] >= 300
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_columns_are_found_hidden_and_kept_in_the_address(studio: Studio, page: Page) -> None:
    open_board(page, studio.at("leaderboard", "wide", "&cells=fit"), len(WIDE_MODELS) * len(WIDE_METRICS))
    assert page.locator("tbody tr:first-child td").evaluate_all(INSIDE) == len(WIDE_METRICS)
    page.get_by_role("button", name="Columns (15 of 15)").click()
    page.get_by_placeholder("Find a column").fill("toxi")
    expect(page.locator(".options label:visible")).to_have_count(1)
    page.get_by_label("Toxicity").uncheck()
    expect(page.get_by_role("button", name="Columns (14 of 15)")).to_be_visible()
    expect(page.locator("thead", has_text="Toxicity")).to_have_count(0)
    settle(page)
    assert query(page)["column"] == [f"{name}/{name}" for name in WIDE_METRICS if name != "toxicity"]
    page.get_by_role("button", name="Default").click()
    expect(page.get_by_role("button", name="Columns (15 of 15)")).to_be_visible()
    page.wait_for_url(lambda url: "column=" not in url)


def test_a_link_to_the_page_that_it_is_on_changes_the_address(studio: Studio, page: Page) -> None:
    """As that from a run to the board of its suite, which stays after a reload."""
    open_board(page, studio.at("leaderboard", "animals", "&order=up"), 12)
    page.locator(".st-key-tabs").get_by_role("link", name="Overview").click()
    page.wait_for_url(lambda address: "order" not in address)
    back(page, "**order=up**")
