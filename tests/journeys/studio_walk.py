"""The studio as somebody uses it: files into its boxes, evaluators, start, the board's cells, the report's files."""

import io
import itertools
import json
import re
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import pypdf
from playwright.sync_api import Locator, Page, expect

from tests.pages.conftest import settle, start_button

DROP = "Drop your files"

READ_BOARD = """table => {
  const heads = [...table.tHead.rows[0].cells].slice(1).flatMap(cell => cell.dataset.column ? [cell.textContent]
    : Array.from({length: cell.colSpan}, () => cell.textContent + ": "));
  for (const cell of table.tHead.rows[1].cells) heads[cell.dataset.column] += cell.textContent;
  return [...table.tBodies[0].rows].map(row => [row.cells[0].title,
    [...row.querySelectorAll("td b")].map((value, place) => [heads[place], value.lastChild.textContent])]);
}"""


def clean(text: str) -> str:
    """Return a text of the board without arrows and soft hyphens."""
    return re.sub(r"[\u00ad↑↓▲▼]", "", text).replace("\u00a0", " ").replace("−", "-").strip()


class StudioWalk:
    """A walk in one tab; `pictures`: the folder of its screenshots, if any are kept."""

    def __init__(self, page: Page, address: str, folder: Path, pictures: Path | None) -> None:
        self.page, self.address, self.folder, self._pictures = page, address, folder, pictures
        self._numbers = itertools.count(1)

    def keep_picture(self, name: str, whole: bool = False) -> None:
        """Keep a numbered screenshot of the page as it is; of its `whole` length on request."""
        if self._pictures:
            settle(self.page)
            self.page.mouse.move(0, 0)  # off everything that shows a tip
            path = self._pictures / f"{next(self._numbers):02}-{name}.png"
            self.page.screenshot(path=path, full_page=whole, animations="disabled")

    def open(self, place: str = "evaluate") -> None:
        """Open a page of the studio."""
        self.page.goto(f"{self.address}/{place}")
        expect(self.page.get_by_test_id("stHeading").first).to_be_visible()
        settle(self.page)

    def upload(self, box: str, *files: Path) -> None:
        """Put files into a box of the page at once, as a person who selects them all."""
        settle(self.page)
        self.page.get_by_label(box, exact=True).locator("input[type=file]").set_input_files(files)
        for file in files:
            named = re.compile(rf"^[✓✗] {re.escape(file.name)}( ·|:)")
            expect(self.page.get_by_text(named).first).to_be_visible()
        settle(self.page)

    def bring(self, suite: Path, outputs: Sequence[Path]) -> None:
        """Drop the files of an evaluation at once, those of the suite last."""
        self.upload(DROP, *outputs, suite)
        self.keep_picture("uploaded")

    def tick(self, label: str) -> None:
        """Tick the box of that label."""
        settle(self.page)
        self.page.get_by_text(label).first.click()
        settle(self.page)

    def press(self, button: str) -> None:
        """Press the button or the choice of that name, once nothing moves."""
        settle(self.page)
        self.named(button).click()
        settle(self.page)

    def named(self, button: str) -> Locator:
        """Return the button or the choice of that name."""
        radio = self.page.get_by_role("radio", name=button)
        return self.page.get_by_role("button", name=button).or_(radio).first

    def write(self, label: str, text: str) -> None:
        """Write into a field."""
        settle(self.page)
        field = self.page.get_by_label(label, exact=True)
        field.fill(text)
        field.blur()
        settle(self.page)
        expect(field).to_have_value(text)

    def sees(self, *texts: str | re.Pattern[str]) -> None:
        """Expect texts on the page."""
        for text in texts:
            expect(self.page.get_by_text(text).first).to_be_visible()

    def lacks(self, *missing: str) -> None:
        """Expect that nothing can be started, and why."""
        self.sees("Not ready yet", *missing)
        expect(start_button(self.page, disabled=True)).to_be_visible()
        self.keep_picture("not-ready")

    def choose_evaluators(self, *titles: str) -> None:
        """Choose these evaluators and no others: clear every family, then search for each and tick it."""
        self.sees("Ready to start")
        settle(self.page)
        self.page.get_by_text(re.compile("^All evaluators")).click()
        settle(self.page)
        none = self.page.get_by_role("button", name="None", exact=True, disabled=False)
        while left := none.count():
            none.first.click()
            expect(none).to_have_count(left - 1)
            settle(self.page)
        for title in titles:
            self.page.get_by_placeholder(re.compile("^Search: ")).fill(title)
            self.page.keyboard.press("Enter")
            row = self.page.get_by_test_id("stCheckbox").locator("strong", has_text=re.compile(f"^{re.escape(title)}$"))
            row.click()
            settle(self.page)
        self.sees(f"{len(titles)} evaluator{'s' * (len(titles) > 1)} chosen")

    def start(self) -> str:
        """Start the run and watch its leaderboard fill until it is finished; return its id."""
        self.sees("Ready to start")
        self.keep_picture("ready", whole=True)
        settle(self.page)
        start_button(self.page).click()
        self.page.wait_for_url("**/leaderboard?run=**")
        expect(self.page.locator("tbody th").first).to_be_visible()
        expect(self.page.get_by_text("unfinished:")).to_have_count(0)
        settle(self.page)
        self.keep_picture("board")
        return self.page.url.partition("run=")[2].partition("&")[0]

    def board(self) -> dict[str, dict[str, str]]:
        """Return what the board shows, by model and by column: `Evaluator: metric`, or its name where it is alone."""
        rows = self.page.locator("table:has(tbody th)").evaluate(READ_BOARD)
        return {model: {clean(head): clean(text) for head, text in cells} for model, cells in rows}

    def export(self, button: str) -> bytes:
        """Download a file from the page Report and return it."""
        if "/report" not in self.page.url:
            self.press("Export a report")
            self.sees("What is in it")
            self.keep_picture("report")
        settle(self.page)
        with self.page.expect_download() as started:
            self.page.get_by_role("button", name=button, exact=True).click()
        return started.value.path().read_bytes()


def numbers_in(table: pd.DataFrame) -> dict[tuple[str, str], float]:
    """Return the numbers of a table of aggregates that are of all labels: (model, evaluator.metric) → value."""
    rows = table[table.label.isna()] if "label" in table else table
    keys = rows.model.astype(str), rows.evaluator + "." + rows.metric
    return dict(rows.set_index([*keys]).value.groupby(level=[0, 1], sort=False).first())


def open_csv(content: bytes) -> dict[tuple[str, str], float]:
    """Return the numbers of the exported zip of CSV tables."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return numbers_in(pd.read_csv(io.BytesIO(archive.read("aggregates.csv"))))


def open_parquet(content: bytes) -> dict[tuple[str, str], float]:
    """Return the numbers of the exported zip of Parquet tables."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return numbers_in(pd.read_parquet(io.BytesIO(archive.read("aggregates.parquet"))))


def open_json(content: bytes) -> dict[str, object]:
    """Return the exported report as data."""
    return dict(json.loads(content))


def open_pdf(content: bytes) -> str:
    """Return the text of an exported PDF."""
    return "\n".join(page.extract_text() for page in pypdf.PdfReader(io.BytesIO(content)).pages)
