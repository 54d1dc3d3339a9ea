"""A file of x1 y1 x2 y2 in a real browser: found, seen, converted, and scored as the clean file is."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from metrics.store import Workspace
from tests.ingest.lint.spoiled import HARBOUR, SPOILED, ap, harbour, outputs_of, results
from tests.pages.conftest import serving, settle

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("checked")


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    with serving(folder) as place:
        yield place


def test_corners_to_the_clean_ap(page: Page, address: str, folder: Path, tmp_path: Path) -> None:
    corners = tmp_path / "net.json"
    corners.write_text(json.dumps([SPOILED["x1 y1 x2 y2"][0](record) for record in results()]))
    page.goto(f"{address}/evaluate?evaluator=coco_summary")
    uploads = page.locator("input[type=file]")
    expect(uploads).to_have_count(2, timeout=120_000)
    uploads.first.set_input_files(HARBOUR / "instances.json")
    expect(page.get_by_text("instances.json: 760 rows")).to_be_visible(timeout=120_000)
    settle(page)
    page.locator("input[type=file]").last.set_input_files(corners)
    expect(page.get_by_text("82 % of the boxes leave their image")).to_be_visible(timeout=120_000)
    expect(page.get_by_text("Fix or accept 1 serious finding")).to_be_visible(timeout=120_000)
    start = page.get_by_role("button", name="Start")
    expect(start).to_have_count(1, timeout=120_000)
    expect(start).to_be_disabled()
    expect(page.get_by_text("Fixed", exact=True)).to_be_visible()
    expect(page.get_by_text("✓ 0 found")).to_be_visible()
    settle(page)
    page.get_by_role("button", name="Convert from x1 y1 x2 y2").click()
    expect(page.get_by_text("net: boxes converted from x1 y1 x2 y2")).to_be_visible(timeout=120_000)
    expect(start).to_have_count(1, timeout=120_000)  # that of the script before stays until this one has ended
    expect(start).to_be_enabled(timeout=120_000)
    settle(page)
    start.click()
    page.wait_for_url("**/runs?run=**", timeout=120_000)
    done = Workspace(folder).run(page.url.rpartition("run=")[2].partition("&")[0])
    while done.state not in ("finished", "failed", "cancelled"):  # its process is its own
        page.wait_for_timeout(200)
    numbers = done.aggregates.query("metric == 'AP' and slice.isna() and label.isna()")
    suite = harbour()
    assert numbers["value"].tolist() == [ap(suite, outputs_of(suite, tmp_path, results()))]
