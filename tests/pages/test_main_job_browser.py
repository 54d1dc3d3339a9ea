"""The main job in a real browser: from the samples, and from an upload, to a cell, its worst case and the report."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pypdfium2
import pytest
from playwright.sync_api import Locator, Page, expect

from tests.pages.conftest import serving, settle, start_button

pytestmark = pytest.mark.browser
CHOSEN = "/evaluate?evaluator=rouge&evaluator=bleu&evaluator=looping_detection"


@pytest.fixture(scope="module")
def studio_address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A studio on an empty workspace, as after the very first `make run`."""
    with serving(tmp_path_factory.mktemp("fresh"), samples=True) as address:
        yield address


def test_sample_cell_case_and_report(
    page: Page, studio_address: str, tmp_path: Path, picture: Callable[[str], None]
) -> None:
    page.goto(studio_address)
    expect(page.locator("td a").first).to_be_visible(timeout=120_000)  # without any click
    cell_to_case(page, page.locator("td a").first, picture)
    # the sample that is done first is shown, of texts or of images
    expect(page.get_by_text("Evidence: ").or_(page.get_by_role("figure")).first).to_be_visible(timeout=120_000)
    case_to_report(page, tmp_path / "report.pdf", picture)


def test_upload_evaluate_read_click_export(
    page: Page, studio_address: str, shared: Path, tmp_path: Path, picture: Callable[[str], None]
) -> None:
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
    start_button(page).click()
    page.wait_for_url("**/leaderboard?run=**", timeout=120_000)  # it opens by itself when the run is done

    expect(page.locator("tbody th")).to_have_count(3, timeout=120_000)
    headers = page.locator("thead button").all_inner_texts()
    assert {"ROUGE-L", "BLEU-4"} <= {header.split()[0] for header in headers}
    cell = page.locator('tbody tr:has(th[title="gpt-4o"])').locator("td a").first
    cell_to_case(page, cell, picture)
    expect(page.get_by_text("Evidence: ROUGE")).to_be_visible()
    expect(page.get_by_text("ROUGE-1", exact=True).first).to_be_attached()  # a table is a canvas
    case_to_report(page, tmp_path / "report.pdf", picture)


def cell_to_case(page: Page, cell: Locator, picture: Callable[[str], None]) -> None:
    """Open the worst case of a cell."""
    picture("board")
    settle(page)
    cell.click()
    drawer = page.get_by_role("complementary", name="Worst cases")
    expect(drawer.locator(".case").first).to_be_visible(timeout=120_000)
    picture("worst-cases")
    settle(page)
    drawer.locator(".case").first.click()
    expect(page.get_by_role("heading", name="Example")).to_be_visible(timeout=120_000)


def case_to_report(page: Page, path: Path, picture: Callable[[str], None]) -> None:
    """Download the PDF of the run of a case, and see that none of its pages is blank."""
    picture("case")
    settle(page)
    page.get_by_role("link", name="Report").click()
    page.wait_for_url("**/report?**")
    expect(page.get_by_text("What is in it")).to_be_visible()
    picture("report")
    with page.expect_download(timeout=120_000) as download:
        page.get_by_role("button", name="Download the PDF").click()
    download.value.save_as(path)
    document = pypdfium2.PdfDocument(path)
    assert len(document) >= 3
    for number in range(len(document)):
        image = document[number].render(scale=0.5).to_pil().convert("L")
        assert image.getextrema()[0] < 160, f"page {number + 1} is blank"
    document.close()
