"""The page New evaluation as a browser lays it out: what starts the run stands beside the files."""

from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from tests.pages.browser.conftest import Studio
from tests.pages.conftest import settle, start_button

LONG = "answers_of_a_model_whose_name_is_so_long_that_its_line_would_not_hold_it.csv"
ANSWERS = "case_id,answer\n1,Lima\n2,42\n"
FILES = {"suite.csv": "case_id,question,expected_answer\n1,Capital of Peru?,Lima\n2,6 × 7?,42\n", LONG: ANSWERS,
         "s.csv": ANSWERS}  # fmt: skip


def places_of(found: Locator, side: str) -> list[float]:
    """Return a side of the box of each element."""
    return [box[side] for each in found.all() if (box := each.bounding_box())]  # type: ignore[literal-required]


def test_files_are_lines_and_the_start_stands_beside_them(studio: Studio, page: Page, tmp_path: Path) -> None:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    page.set_viewport_size({"width": 1280, "height": 720})
    page.goto(f"{studio.address}/evaluate")
    page.locator("input[type=file]").set_input_files([tmp_path / name for name in FILES])
    start = start_button(page)
    expect(start).to_be_visible()
    settle(page)
    files, understood = page.locator(".st-key-files"), page.get_by_text("suite: 2 cases, text")
    for controls in (page.get_by_role("button", name="✕"), files.locator('[data-testid="stSelectbox"]')):
        expect(controls).to_have_count(len(FILES))
        assert len(set(places_of(controls, "x"))) == 1
        assert len(set(places_of(controls, "y"))) == len(FILES)
    [top], [beside] = places_of(files, "y"), places_of(understood, "y")
    assert top < beside < top + 40
    assert places_of(start, "y")[0] < 600, "above the fold"
    line = files.get_by_text("2 answers").first
    assert LONG not in line.inner_text()
    files.locator('[data-testid="stText"] [data-testid="stTooltipIcon"]').hover()
    expect(page.get_by_role("tooltip")).to_have_text(LONG, timeout=10_000)
