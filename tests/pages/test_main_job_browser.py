"""The main job in a real browser: samples, upload, evaluate, leaderboard, a case, the report."""

from collections.abc import Iterator
from pathlib import Path

import pypdfium2
import pytest
from playwright.sync_api import Page, expect

from tests.pages.conftest import serving, settle

pytestmark = pytest.mark.browser
CHOSEN = "/evaluate?evaluator=rouge&evaluator=bleu&evaluator=looping_detection"


@pytest.fixture(scope="module")
def studio_address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A studio on an empty workspace, as after the very first `make run`."""
    with serving(tmp_path_factory.mktemp("fresh"), samples=True) as address:
        yield address


def test_the_first_leaderboard_is_there_within_half_a_minute(page: Page, studio_address: str) -> None:
    page.goto(studio_address)
    expect(page.locator("td a").first).to_be_visible(timeout=120_000)


def test_upload_evaluate_read_click_export(page: Page, studio_address: str, shared: Path, tmp_path: Path) -> None:
    page.goto(studio_address + CHOSEN)
    expect(page.get_by_role("heading", name="Evaluate")).to_be_visible(timeout=120_000)
    uploads = page.locator("input[type=file]")
    expect(uploads).to_have_count(2, timeout=120_000)
    uploads.first.set_input_files(shared / "data" / "mtrag" / "suite.csv")
    expect(page.get_by_text("suite.csv: 159 rows")).to_be_visible(timeout=120_000)
    expect(uploads).to_have_count(1, timeout=120_000)
    uploads.first.set_input_files(shared / "data" / "mtrag" / "outputs.csv")
    expect(page.get_by_text("3 evaluators chosen")).to_be_visible(timeout=120_000)
    settle(page)
    page.get_by_label("Name of the run").fill("Main job")
    page.keyboard.press("Enter")
    settle(page)
    page.get_by_role("button", name="Start").click()
    page.wait_for_url("**/leaderboard?run=**", timeout=120_000)  # it opens by itself when the run is done

    address = page.url
    expect(page.locator("tbody th")).to_have_count(3, timeout=120_000)
    headers = page.locator("thead button").all_inner_texts()
    assert {"ROUGE-L", "BLEU-4"} <= {header.split()[0] for header in headers}

    page.locator('tbody tr:has(th[title="gpt-4o"])').locator("td a").first.click()
    drawer = page.get_by_role("complementary", name="Worst cases")
    expect(drawer.locator(".case").first).to_be_visible(timeout=120_000)
    settle(page)
    drawer.locator(".case").first.click()
    expect(page.get_by_role("heading", name="Example")).to_be_visible(timeout=120_000)
    expect(page.get_by_text("Evidence: ROUGE")).to_be_visible()
    expect(page.get_by_text("ROUGE-1", exact=True).first).to_be_attached()  # a table is a canvas

    page.goto(address.replace("/leaderboard?", "/report?"))
    with page.expect_download(timeout=120_000) as download:
        page.get_by_role("button", name="Download the PDF").click()
    path = tmp_path / "report.pdf"
    download.value.save_as(path)
    document = pypdfium2.PdfDocument(path)
    assert len(document) >= 3
    for number in range(len(document)):
        image = document[number].render(scale=0.5).to_pil().convert("L")
        assert image.getextrema()[0] < 160, f"page {number + 1} is blank"
    document.close()
