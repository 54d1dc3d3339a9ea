"""Two runs of one suite in a real browser: from the newer one to what got worse, word by word, and to the case."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from metrics.core.suite import Outputs
from metrics.store import Workspace
from tests.engine.engine_scenes import dated, finished, text_outputs, text_suite
from tests.pages.conftest import serving, settle

pytestmark = pytest.mark.browser
CASES = 24


def outputs(*poor: int) -> Outputs:
    """Of one model, `desk`: these answers have only half of what is expected."""
    rows = text_outputs(CASES).outputs.to_pylist()
    return Outputs.from_rows(
        row | {"model": "desk"} for row in rows if (row["model"] == "poor") == (int(row["case_id"][1:]) in poor)
    )


def test_two_runs_lead_to_the_regressions(tmp_path: Path, page: Page, picture: Callable[[str], None]) -> None:
    for day, (name, poor) in enumerate((("Before", (3, 7)), ("After", (3, *range(10, 20)))), 1):
        dated(finished(Workspace(tmp_path), text_suite(CASES), outputs(*poor), "rouge", "bleu", name=name), day)
    with serving(tmp_path) as address:
        page.goto(f"{address}/runs")
        expect(page.get_by_text("2 finished")).to_be_visible()
        picture("runs")
        settle(page)
        page.get_by_role("button", name="Compare with the run before").click()
        expect(page.get_by_text("No: A is better in 2 of 2 metrics, and B in none")).to_be_visible()
        expect(
            page.get_by_text("A  desk (Before, 1 Mar 2026, 12:00)    B  desk (After, 2 Mar 2026, 12:00)")
        ).to_be_visible()
        expect(page.locator(".js-plotly-plot .point").first).to_be_visible()
        picture("compared")
        settle(page)
        page.get_by_role("button", name="See where B does worse (10)").click()
        expect(page.get_by_text("Regressions (10)")).to_be_visible()
        expect(page.get_by_text("Wins (1)")).to_be_visible()
        expect(page.get_by_text("Ties (13)")).to_be_visible()
        expect(page.get_by_text("A · desk · 1.00")).to_be_visible()
        picture("regressions")
        settle(page)
        page.get_by_text("Word by word", exact=True).click()
        expect(page.get_by_text("From A (struck out) to B (underlined)")).to_be_visible()
        picture("word-by-word")
        settle(page)
        page.get_by_role("button", name="Open in the run of B").click()
        expect(page.get_by_role("heading", name="Example")).to_be_visible()
        expect(page.get_by_text("Evidence: ROUGE")).to_be_visible()
        picture("example")
