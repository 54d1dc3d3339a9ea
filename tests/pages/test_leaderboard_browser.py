"""The heatmap in a real browser: links, keys, Back, sorting; and that nothing is asked of the network."""

from collections.abc import Iterator
from urllib.parse import parse_qs, urlparse

import pytest
from playwright.sync_api import Browser, Page, expect

from metrics.presentation.names import middle
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
    drawer = page.get_by_role("complementary", name="Worst cases")
    expect(drawer.locator(".case").first).to_be_visible(timeout=120_000)
    asked = parse_qs(urlparse(page.url).query)
    assert urlparse(page.url).path == "/leaderboard"
    assert (asked["of"], asked["cell"]) == (["sharp"], ["classification/accuracy"])
    expect(page.locator("td.open")).to_have_count(1)
    back(page, before)
    expect(drawer).to_be_hidden(timeout=120_000)
    settle(page)
    assert page.url == before


def test_a_cell_leads_to_a_case_to_all_its_cases_and_back(page: Page) -> None:
    before = page.url
    page.locator("td a").first.click()
    drawer = page.get_by_role("complementary", name="Worst cases")
    expect(drawer.locator(".case").first).to_contain_text("c0")
    expect(drawer.locator(".case").first).to_contain_text("dog")
    settle(page)
    opened = page.url
    drawer.locator(".case").nth(1).click()
    expect(page.get_by_role("heading", name="Example")).to_be_visible(timeout=120_000)
    assert parse_qs(urlparse(page.url).query)["case"] == ["c10"]
    expect(page.get_by_role("button", name="Cases")).to_be_visible(timeout=120_000)
    back(page, opened)
    expect(drawer.locator(".case").first).to_be_visible(timeout=120_000)
    settle(page)
    drawer.get_by_role("link", name="All 120 cases").click()
    expect(page.get_by_role("heading", name="Cases")).to_be_visible(timeout=120_000)
    expect(page.locator(".case")).to_have_count(100, timeout=120_000)
    assert parse_qs(urlparse(page.url).query)["model"] == ["sharp"]
    back(page, opened)
    expect(drawer).to_be_visible(timeout=120_000)
    settle(page)
    drawer.get_by_role("button", name="Close").click()
    expect(drawer).to_be_hidden(timeout=120_000)
    settle(page)
    assert page.url == before


def test_keys_walk_over_the_cells_and_enter_opens_one(page: Page) -> None:
    page.locator("td a").first.focus()
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("tooltip")).to_contain_text("blunt")
    page.keyboard.press("k")
    expect(page.get_by_role("tooltip")).to_contain_text("sharp")
    page.keyboard.press("n")
    expect(page.get_by_role("tooltip")).to_contain_text("On the wrong side of its threshold")
    page.keyboard.press("Enter")
    drawer = page.get_by_role("complementary", name="Worst cases")
    expect(drawer.locator(".case").first).to_be_focused(timeout=120_000)
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
    expect(drawer).to_be_hidden(timeout=120_000)
    expect(page.locator("td a:focus")).to_have_count(1)


def test_keys_walk_over_the_list_of_cases_and_enter_opens_one(page: Page, served: str) -> None:
    page.goto(f"{served}/cases?evaluator=classification&metric=accuracy&model=blunt&tag=night")
    cases = page.locator(".case")
    expect(cases).to_have_count(40, timeout=120_000)
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
    expect(page.get_by_role("heading", name="Example")).to_be_visible(timeout=120_000)


def test_a_header_sorts_and_sorts_back(page: Page) -> None:
    names = page.locator("tbody th")
    page.locator("thead button").nth(1).click()
    page.wait_for_url("**sort=**")
    expect(page.locator("thead th[aria-sort=descending]")).to_be_visible()
    expect(names.first).to_have_text("sharp")
    settle(page)
    page.locator("thead button").nth(1).click()
    page.wait_for_url("**order=up**")
    expect(names.first).to_have_attribute("title", HOSTILE)


def test_hovering_tells_the_whole_number(page: Page) -> None:
    page.locator("td").first.hover()
    tip = page.get_by_role("tooltip")
    expect(tip).to_contain_text("95 % interval")
    expect(tip).to_contain_text("Range 0 … 1, higher is better")


@pytest.mark.attack("model", "a name of a model with markup and a script", "names are text")
def test_a_hostile_name_stays_text(page: Page) -> None:
    expect(page.locator("tbody th").last).to_have_attribute("title", HOSTILE)
    expect(page.locator("tbody th").last).to_have_text(middle(HOSTILE, 22))
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


@pytest.mark.parametrize("path", ["/cases", "/problems", "/runs", "/evaluators"])
def test_a_deep_link_opens_its_page_with_the_menu(page: Page, served: str, path: str) -> None:
    page.goto(served + path)
    expect(page.get_by_role("button", name="Look inside")).to_be_visible(timeout=120_000)
    expect(page.locator("h1")).to_be_visible(timeout=120_000)
    expect(page.get_by_test_id("stException")).to_have_count(0)


@pytest.mark.parametrize(
    ("path", "leads_to"), [("/?run=latest", "/leaderboard"), ("/catalogue?search=bleu", "/evaluators?search=bleu")]
)
def test_the_root_and_a_former_address_lead_to_their_page(page: Page, served: str, path: str, leads_to: str) -> None:
    page.goto(served + path)
    page.wait_for_url(f"{served}{leads_to}**", timeout=120_000)
    expect(page.get_by_text("Page not found")).to_have_count(0)


def test_the_menu_says_where_one_is(page: Page, served: str) -> None:
    expect(page.get_by_test_id("stTopNavSection").first).to_have_text("Results · Leaderboard")
    page.goto(f"{served}/judge")
    expect(page.get_by_test_id("stTopNavSection").nth(3)).to_contain_text("Judge · Judge", timeout=120_000)
