"""Seconds from files dropped on the page Evaluate to a run that can be started, in Chromium.

    python -m tests.benchmarks.bench_upload

A COCO data set of 5,000 images and the results of three detectors, 136 MB in all: the suite is read, stored and
described, then the results are, then boxes are checked and images compared, until *Start* can be clicked.
"""

import json
import re
import tempfile
import time
from pathlib import Path

from playwright.sync_api import Page, expect, sync_playwright

from tests.benchmarks.coco_scene import coco_records, coco_scene
from tests.benchmarks.table import Row, report
from tests.chromium import FLAGS, find
from tests.pages.conftest import serving, settle

IMAGES, DETECTIONS, MODELS = 5_000, 90, 3
MOST = 20.0  # seconds, of all


def main() -> None:
    """Measure and report."""
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        truth, *results = files(folder)
        with serving(folder) as address:
            browser = playwright.chromium.launch(executable_path=find(), args=FLAGS)
            page = browser.new_page(viewport={"width": 1280, "height": 720})
            page.set_default_timeout(120_000)
            page.goto(f"{address}/evaluate?evaluator=coco_summary")
            expect(page.locator("input[type=file]")).to_have_count(2, timeout=60_000)
            settle(page)
            suite = dropped(page, [truth], truth.name)
            models = dropped(page, results, results[-1].name)
            browser.close()
        sizes = [file.stat().st_size / 1e6 for file in (truth, *results)]
    print(f"suite, {sizes[0]:.0f} MB: {suite:.1f} s; {MODELS} models, {sum(sizes[1:]):.0f} MB: {models:.1f} s")
    title = f"{sum(sizes):.0f} MB of COCO, {MODELS} detectors, dropped on the page, until the run can be started"
    report([Row(title, suite + models, "s", most=MOST)])


def files(folder: Path) -> list[Path]:
    """Write the ground truth and the results of each model; return their paths."""
    paths = []
    for model in range(MODELS):
        scene = coco_scene(IMAGES, detections=DETECTIONS + model)
        truth, found = coco_records(scene)
        documents = {f"detector-{model + 1}.json": found} | ({} if model else {"instances.json": truth})
        for name, document in documents.items():
            paths.append(folder / name)
            paths[-1].write_text(json.dumps(document))
    return sorted(paths, key=lambda path: path.name != "instances.json")


def dropped(page: Page, paths: list[Path], last: str) -> float:
    """Drop files on their place of the page; return the seconds until the page has said what the last one holds."""
    place = page.locator("input[type=file]").nth(0 if len(paths) == 1 else -1)
    began = time.perf_counter()
    place.set_input_files(paths)
    expect(page.get_by_text(re.compile(f"^{re.escape(last)}: [\\d,]+ rows")).first).to_be_visible(timeout=120_000)
    if len(paths) > 1:
        expect(page.get_by_role("button", name="Start", disabled=False)).to_have_count(1, timeout=120_000)
    settle(page)
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
