"""A file of x1 y1 x2 y2 in a real browser: found, seen, converted, scored as the clean file is, and looked through."""

import io
import json
import re
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from metrics.store import Workspace
from tests.ingest.lint.spoiled import HARBOUR, SPOILED, ap, harbour, outputs_of, results
from tests.pages.conftest import choose, exported_coco, press, serving, settle, start_button, tag_object

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("checked")


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    with serving(folder) as place:
        yield place


def zipped_images() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for path in sorted((HARBOUR / "images").iterdir()):
            archive.write(path, path.name)
    return file.getvalue()


def test_corners_to_the_clean_ap_and_to_tagged_objects(
    page: Page, address: str, folder: Path, tmp_path: Path, picture: Callable[[str], None]
) -> None:
    corners = tmp_path / "net.json"
    corners.write_text(json.dumps([SPOILED["x1 y1 x2 y2"][0](record) for record in results()]))
    page.goto(f"{address}/evaluate?evaluator=coco_summary&evaluator=detection_pr_curve")
    uploads = page.locator("input[type=file]")
    expect(uploads).to_have_count(2, timeout=120_000)
    uploads.first.set_input_files(HARBOUR / "instances.json")
    expect(page.get_by_text("instances.json: 760 rows")).to_be_visible(timeout=120_000)
    settle(page)
    images = {"name": "images.zip", "mimeType": "application/zip", "buffer": zipped_images()}
    uploads.first.set_input_files(images)
    expect(page.get_by_text("images.zip")).to_be_visible()
    expect(uploads).to_have_count(1)
    settle(page)
    uploads.last.set_input_files(corners)
    expect(page.get_by_text("82 % of the boxes leave their image")).to_be_visible(timeout=120_000)
    expect(page.get_by_text("Fix or accept 1 serious finding")).to_be_visible(timeout=120_000)
    expect(start_button(page, disabled=True)).to_be_visible(timeout=120_000)
    expect(page.get_by_text("Fixed", exact=True)).to_be_visible()
    expect(page.get_by_text("✓ 0 found")).to_be_visible()
    picture("wrong-boxes")
    settle(page)
    page.get_by_role("button", name="Convert from x1 y1 x2 y2").click()
    expect(page.get_by_text("net: boxes converted from x1 y1 x2 y2")).to_be_visible(timeout=120_000)
    expect(start_button(page)).to_be_visible(timeout=120_000)
    picture("converted")
    settle(page)
    start_button(page).click()
    page.wait_for_url("**/runs?run=**", timeout=120_000)
    done = Workspace(folder).run(page.url.rpartition("run=")[2].partition("&")[0])
    while done.state not in ("finished", "failed", "cancelled"):  # its process is its own
        page.wait_for_timeout(200)
    numbers = done.aggregates.query("metric == 'AP' and slice.isna() and label.isna()")
    suite = harbour()
    assert numbers["value"].tolist() == [ap(suite, outputs_of(suite, tmp_path, results()))]

    page.wait_for_url("**/leaderboard?run=**")
    expect(page.locator("td a").first).to_be_visible()
    picture("board")
    page.goto(f"{address}/curves?run={done.id}")
    expect(page.locator(".js-plotly-plot .point").first).to_be_visible()
    settle(page)
    page.get_by_role("slider").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_url("**threshold=**")
    link = page.get_by_role("link", name=re.compile(r"See all \d+ as pictures"))
    expect(link).to_be_visible()
    picture("threshold")
    settle(page)
    link.click()
    page.wait_for_url("**/gallery?**")
    tiles = page.locator("a.tile")
    expect(tiles.locator("svg image").first).to_be_visible()
    picture("gallery")
    settle(page)
    tiles.first.click()
    page.wait_for_url("**/example?**gallery=**")
    of = page.get_by_text(re.compile(r"^1 of \d+ objects"))
    expect(of).to_be_visible()
    total = of.inner_text().split()[2]
    press(page, "ArrowRight", f"2 of {total} objects")  # in the gallery's filter
    picture("object")
    tag_object(page, "check")
    settle(page)
    page.get_by_test_id("stMain").get_by_role("link", name="Gallery").click()
    page.wait_for_url("**/gallery?**")
    choose(page, "Your tag (1)", "check (1)")
    expect(tiles).to_have_count(1)
    picture("tagged")
    document = exported_coco(page)
    assert (len(document["images"]), len(document["predictions"])) == (1, 1)
