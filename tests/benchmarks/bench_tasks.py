"""Clicks and seconds of five tasks, from the leaderboard of a finished run of the bundled samples, in a real browser.

    python -m tests.benchmarks.bench_tasks

A click counts until its page is complete and its script rests. Each task is done twice: as the first visitor of a fresh
server, and again.
"""

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Locator, Page, expect, sync_playwright

from metrics.store import Workspace
from metrics.suites.samples import sample_runs
from tests import chromium
from tests.benchmarks.table import Row, report
from tests.pages.conftest import serving, settle

PATIENCE = 120_000  # ms
MODELS = {"rag": "kestrel-rag", "rag-judged": "kestrel-rag", "detection": "petrel-large"}


class Walk:
    """A visitor on a sample's leaderboard, who counts and times clicks."""

    def __init__(self, page: Page, address: str, sample: str):
        self.page, self.times = page, list[float]()
        page.goto(address)
        expect(page.locator("td a").first).to_be_visible()
        settle(page)
        self.cell = page.locator("tbody tr").filter(has_text=MODELS[sample]).locator("td a").first
        self.drawer = page.get_by_role("complementary", name="Worst cases")

    def click(self, target: Locator, shows: Locator) -> None:
        """Click, and wait for what it shows."""
        begun = time.perf_counter()
        target.click()
        expect(shows).to_be_visible()
        settle(self.page)
        self.times.append(time.perf_counter() - begun)

    def title(self, text: str) -> Locator:
        """Return the title of a page."""
        return self.page.get_by_role("heading", name=text, exact=True)

    def button(self, text: str) -> Locator:
        """Return a button."""
        return self.page.get_by_role("button", name=text)

    def worst_case(self) -> None:
        """Open the worst case of the model, with its evidence."""
        self.click(self.cell, self.drawer.locator(".case").first)
        self.click(self.drawer.locator(".case").first, self.title("Example"))

    def failing_box(self) -> None:
        """Open the first failing box of a class."""
        self.click(self.cell, self.drawer.locator(".case").first)
        self.click(self.drawer.locator(".drawer-links a").nth(1), self.title("Gallery"))
        self.click(self.button("Open the first"), self.title("Example"))

    def compare(self) -> None:
        """Read the paired differences of two models, with their intervals and tests."""
        self.click(self.button("Is it really better?"), self.title("Compare"))

    def overrule(self) -> None:
        """Read why the judge fails an answer, and overrule it."""
        self.worst_case()
        verdict = self.page.get_by_role("radio", name="✓ Pass").first
        self.click(verdict, verdict)
        expect(verdict).to_be_checked()
        self.click(verdict, verdict)  # taken back, for the next visitor
        self.times.pop()

    def report(self) -> None:
        """Download the report as PDF."""
        self.click(self.button("Export a report"), self.button("Download the PDF"))
        begun = time.perf_counter()
        with self.page.expect_download(timeout=PATIENCE) as download:
            self.button("Download the PDF").click()
        download.value.path()
        self.times.append(time.perf_counter() - begun)


TASKS: dict[str, tuple[str, Callable[[Walk], None], int]] = {  # a sample, the walk, its most clicks
    "find why model B fails": ("rag", Walk.worst_case, 2),
    "the first failing box of a class": ("detection", Walk.failing_box, 3),
    "is B better than A": ("rag", Walk.compare, 1),
    "correct the judge": ("rag-judged", Walk.overrule, 3),
    "hand over a PDF": ("rag", Walk.report, 2),
}


def main() -> None:
    """Measure and print."""
    expect.set_options(timeout=PATIENCE)
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "metrics", "samples", "--quiet", "--workspace", folder]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        found = chromium.find()
        runs = sample_runs(Workspace(folder))
        with serving(Path(folder)) as address, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=found, args=chromium.FLAGS)
            rows = []
            for task, (sample, steps, most) in TASKS.items():
                visits = []
                for _ in range(2):
                    page = browser.new_page(viewport={"width": 1280, "height": 720})
                    page.set_default_timeout(PATIENCE)
                    visit = Walk(page, f"{address}/leaderboard?run={runs[sample].id}", sample)
                    steps(visit)
                    page.close()
                    visits.append(visit.times)
                first, again = map(sum, visits)
                rows += [
                    Row(f"task: {task}", len(visits[0]), "clicks", most=most),
                    Row(f"task: {task}, first visit", first, "s"),
                    Row(f"task: {task}, again", again, "s"),
                ]
            browser.close()
    report(rows)


if __name__ == "__main__":
    main()
