"""The switch of the leaderboard's forms in a real browser: drawn, kept by a reload, and a bar that opens its cases."""

from urllib.parse import parse_qs, urlparse

import pytest
from playwright.sync_api import Page, expect

from tests.pages.conftest import click_chart, settle

pytestmark = pytest.mark.browser


def test_a_form_is_kept_by_the_address_and_its_bars_open_cases(served: str, page: Page) -> None:
    page.goto(served)
    expect(page.locator("td").first).to_be_visible(timeout=120_000)
    settle(page)
    page.get_by_role("radio", name="Bars", exact=True).click()
    page.wait_for_url("**form=bars**")
    bars = page.locator(".js-plotly-plot .barlayer .point path")
    expect(bars).to_have_count(9, timeout=120_000)  # three metrics of three models
    page.reload()
    expect(bars).to_have_count(9, timeout=120_000)
    settle(page)
    bar = bars.nth(1).bounding_box()
    assert bar is not None
    click_chart(page, bar["x"] + bar["width"] / 2, bar["y"] + bar["height"] / 2)
    page.wait_for_url("**/cases?**", timeout=120_000)
    asked = parse_qs(urlparse(page.url).query)
    assert (asked["evaluator"], asked["metric"]) == (["classification"], ["accuracy"])
    assert asked["model"] == ["blunt"]
