"""A wrong file in a real browser: it says what it is, its ids are one problem with a reason, then it is fixed."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.pages.conftest import serving, settle, start_button

pytestmark = pytest.mark.browser
IDS = [f"{number:03}" for number in range(1, 478)]
SUITE = "case_id,question,expected_answer\n" + "".join(f"{id},What is {id}?,{id}\n" for id in IDS)


def answers(ids: list[str]) -> bytes:
    return ("case_id,model,answer\n" + "".join(f"{id},small,{id}\n" for id in ids)).encode()


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    with serving(tmp_path) as found:
        yield found


def give(page: Page, place: int, name: str, content: bytes) -> None:
    settle(page)
    file = {"name": name, "mimeType": "text/csv", "buffer": content}
    page.locator("input[type=file]").nth(place).set_input_files(file)


def test_a_wrong_file_is_one_problem_and_is_fixed(page: Page, address: str, picture: Callable[[str], None]) -> None:
    page.goto(f"{address}/evaluate?evaluator=rouge")
    uploads = page.locator("input[type=file]")
    expect(uploads).to_have_count(2, timeout=120_000)
    give(page, 0, "suite.csv", b"\x89PNG\r\n\x1a\n")
    expect(page.get_by_text("✗ Not stored: suite.csv is a PNG image, not a CSV table")).to_be_visible(timeout=120_000)
    picture("not-a-table")
    give(page, 0, "suite.csv", SUITE.encode())
    expect(page.get_by_text("suite.csv: 477 rows")).to_be_visible(timeout=120_000)
    expect(uploads).to_have_count(1, timeout=120_000)

    wrong = [f"case-{id}" for id in IDS]
    give(page, 0, "outputs.csv", answers([*wrong, wrong[40]]))
    expect(page.get_by_role("heading", name="2 problems in the files")).to_be_visible(timeout=120_000)
    said = page.get_by_text("Found none of its 477 case ids in the suite, such as 'case-001' in row 2.")
    expect(said).to_contain_text(
        "They would match without the beginning 'case-': 'case-001' here is '001' in the suite"
    )
    expect(
        page.get_by_text("Found case 'case-041' of model 'small' again, first in outputs.csv, row 42.")
    ).to_be_visible()
    expect(start_button(page, disabled=True)).to_be_visible()
    picture("problems")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download all 2").click()
    assert len(download.value.path().read_text().splitlines()) == 3

    settle(page)
    page.get_by_role("button", name="Remove").nth(1).click()
    expect(page.get_by_role("heading", name="in the files")).to_have_count(0, timeout=120_000)
    expect(uploads).to_have_count(1, timeout=120_000)
    give(page, 0, "outputs.csv", answers([*IDS, IDS[40]]))
    expect(page.get_by_role("heading", name="1 problem in the files")).to_be_visible(timeout=120_000)
    settle(page)
    page.get_by_text("Keep the 954 good rows, skip 1").click()
    expect(page.get_by_role("heading", name="Ready to start")).to_be_visible(timeout=120_000)
    expect(start_button(page)).to_be_visible()
    picture("fixed")
