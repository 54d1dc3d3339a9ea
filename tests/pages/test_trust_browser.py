"""A judged run in a real browser: a claim and what supports it, ten labels by keyboard, the agreement."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.pages.conftest import serving, settle
from tests.pages.walk_scenes import INVENTED, helpdesk_run

pytestmark = pytest.mark.browser


def test_claims_ten_labels_and_how_many_more_a_corrected_mean_takes(
    tmp_path: Path, page: Page, picture: Callable[[str], None]
) -> None:
    run = helpdesk_run(tmp_path)
    with serving(tmp_path) as address:
        page.goto(f"{address}/leaderboard?run={run.id}")
        cell = page.locator("tbody tr", has_text="small").locator("td a").first
        expect(cell).to_contain_text("0.750")  # of three of six answers one claim of two is supported
        settle(page)
        cell.click()
        case = page.get_by_role("complementary", name="Worst cases").locator(".case").first
        expect(case).to_contain_text("help-")
        picture("worst-cases")
        settle(page)
        case.click()
        claims = page.locator("button.row:not(.context)")
        supported = claims.filter(has_text="A library card is free for residents.").first  # of small, then of large
        expect(supported).to_contain_text("✓")
        expect(claims.filter(has_text=INVENTED["cards"])).to_contain_text("✗")
        settle(page)
        supported.click()
        lit = page.locator(".context.lit")
        expect(lit.locator("mark")).to_have_text("A library card is free for residents.")
        picture("claim-and-context")

        page.go_back()
        doubt = page.get_by_role("button", name="Can I trust the judge?")
        expect(doubt).to_be_visible()
        settle(page)
        doubt.click()
        expect(page.get_by_text("No labels yet")).to_be_visible()
        picture("no-labels")
        settle(page)
        page.get_by_role("button", name="Label outputs").click()
        name = page.get_by_test_id("stForm").get_by_label("Your name")
        expect(name).to_be_visible()
        settle(page)
        name.fill("Ann")
        page.get_by_role("button", name="Begin").click()
        expect(page.get_by_text("Ann · faithfulness: 0 of 12 outputs labelled")).to_be_visible()
        page.goto(f"{page.url}&mode=drawn")
        label_ten(page, picture)
        page.get_by_role("button", name="See the agreement").click()
        expect(page.get_by_text("agreement with people on “faithfulness”")).to_be_visible()
        picture("agreement")
        settle(page)
        page.get_by_role("radio", name="Corrected means").or_(
            page.get_by_role("button", name="Corrected means")
        ).first.click()
        expect(page.get_by_text("labelled outputs are a random sample")).to_be_visible()
        cells = page.locator("[role=gridcell]")  # a table is a canvas
        expect(cells.filter(has_text="small")).to_be_attached()
        expect(cells).to_have_count(14)
        small, large = zip(*[iter(cells.all_text_contents())] * 7, strict=True)
        assert small[:2] == ("small", "0.750 (0.422–0.925)")
        assert small[2].startswith("too few: ")  # five labels of its six outputs
        assert (large[0], large[2]) == ("large", small[2])
        picture("corrected-means")


def label_ten(page: Page, picture: Callable[[str], None]) -> None:
    """Fail what tells an invented fact, by key; of the outputs drawn at random."""
    for done in range(10):
        expect(page.get_by_text(f"Ann · faithfulness: {done} of 12 outputs labelled")).to_be_visible()
        if done in (0, 7):
            picture(f"label-{done + 1}")
        settle(page)
        shown = page.get_by_test_id("stMain").inner_text()
        page.keyboard.press("f" if any(text in shown for text in INVENTED.values()) else "p")
    expect(page.get_by_text("Ann · faithfulness: 10 of 12 outputs labelled")).to_be_visible()
    settle(page)
