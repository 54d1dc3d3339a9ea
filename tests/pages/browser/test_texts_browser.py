"""Texts of models in a real browser, drawn as text: side by side, claims and their contexts, and traces."""

from urllib.parse import parse_qs, urlparse

import pytest
from playwright.sync_api import Page, expect

from tests.pages.browser.conftest import Studio
from tests.pages.conftest import settle
from tests.pages.page_scenes import HOSTILE

pytestmark = pytest.mark.browser
IMAGES = "img[src*='127.0.0.1:9'], [onerror]"


def test_from_the_forest_to_the_answers_side_by_side(studio: Studio, page: Page) -> None:
    page.goto(studio.at("compare", "texts", "&a=exact&b=hostile"))
    expect(page.get_by_text("B better ▶")).to_be_in_viewport()
    settle(page)
    page.locator(".js-plotly-plot .points path").first.click(force=True)
    page.wait_for_url("**key=rouge**")
    expect(page.get_by_text("A · exact", exact=False)).to_be_visible()
    settle(page)
    expect(page.get_by_text("Word by word")).to_be_visible()
    expect(page.locator(".prose ins").first).to_contain_text("![x](http://127.0.0.1:9/x.png)")
    assert page.locator(IMAGES).count() == 0
    settle(page)
    page.get_by_role("button", name="Open this case").click()
    expect(page.get_by_role("heading", name="Case")).to_be_visible()
    asked = parse_qs(urlparse(page.url).query)
    assert {asked["model"][0], asked["baseline"][0].removeprefix("model:")} == {"exact", "hostile"}


def test_a_claim_lights_the_context_that_supports_it(studio: Studio, page: Page) -> None:
    page.goto(studio.at("case", "judged", "&case=gate&evaluator=faithfulness&metric=faithfulness&model=small"))
    claims = page.locator("button.row:not(.context)")
    expect(claims.filter(has_text=HOSTILE).first).to_contain_text("✗")
    supported = claims.filter(has_text="It opened in 1937.").first
    expect(supported).to_contain_text("✓")
    settle(page)
    supported.click()
    lit = page.locator(".context.lit")
    expect(lit).to_have_count(1)
    expect(lit).to_contain_text(f"It opened in 1937. {HOSTILE}")
    assert page.locator(IMAGES).count() == 0


def test_a_trace_is_text(studio: Studio, page: Page) -> None:
    page.goto(studio.at("case", "agents", "&case=t1"))
    expect(page.get_by_text("Plot the sales.").first).to_be_visible()
    settle(page)
    expect(page.get_by_text(HOSTILE).first).to_be_attached()
    assert page.locator(IMAGES).count() == 0
