"""A detector of 80 classes in a real browser: board, curves, classes from the worst, confusion, objects of a class."""

from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image
from playwright.sync_api import Page, expect

from metrics.core.suite import Outputs, Suite
from metrics.store import Run, Workspace
from tests.engine.engine_scenes import finished
from tests.pages.conftest import choose, serving, settle

pytestmark = pytest.mark.browser
KINDS = "bus car van bike ship tram plane truck lorry canoe".split()
CLASSES = [f"{colour} {kind}" for colour in "red blue green white black amber grey pink".split() for kind in KINDS]
TAKEN = {"red bus": "red car", "blue ship": "blue canoe", "pink plane": "grey plane"}  # for another class


def run_of_many(folder: Path) -> Run:
    """Two images of each class, four objects in each; the model misses much of ten and takes three for others."""
    box = {"y": 20.0, "width": 30.0, "height": 30.0, "area": 900.0}
    media = folder / "pictures"
    media.mkdir()
    cases, annotations, predictions = [], [], []
    for place, name in enumerate(CLASSES * 2):
        case = f"p{place:03}"
        cases.append({"case_id": case, "image": f"{case}.png", "image_width": 200, "image_height": 100})
        Image.new("RGB", (200, 100), (40, 90, 80 + place)).save(media / f"{case}.png")
        for x in range(10, 170, 40):
            row = box | {"case_id": case, "x": float(x), "label": name}
            annotations.append(row | {"annotation_id": len(annotations)})
            if place % 8 or x > 100:
                score = 0.5 + (place * 7 + x) % 50 / 100
                predictions.append(row | {"model": "net", "score": score, "label": TAKEN.get(name, name)})
    suite = Suite.from_rows("vehicles", "detection", cases, annotations)
    suite = Suite(suite.name, suite.task, suite.cases, suite.annotations, suite.labels, media)
    outputs = Outputs.from_rows([{"case_id": case["case_id"], "model": "net"} for case in cases], predictions)
    chosen = ("coco_summary", "detection_pr_curve", "detection_confusion")
    return finished(Workspace(folder), suite, outputs, *chosen, name="Vehicles")


def view(page: Page, name: str) -> None:
    settle(page)
    page.get_by_role("radio", name=name).or_(page.get_by_role("button", name=name, exact=True)).first.click()


def test_eighty_classes(tmp_path: Path, page: Page, picture: Callable[[str], None]) -> None:
    run = run_of_many(tmp_path)
    assert len(set(CLASSES)) == 80
    with serving(tmp_path) as address:
        page.goto(f"{address}/leaderboard?run={run.id}")
        expect(page.locator("td a").first).to_be_visible()
        picture("board")
        page.goto(f"{address}/curves?run={run.id}")
        expect(page.locator(".js-plotly-plot .point").first).to_be_visible()
        picture("thresholds")
        view(page, "Classes")
        expect(page.get_by_text("On which classes is each model weak?")).to_be_visible()
        expect(page.locator(".js-plotly-plot .barlayer .point")).to_have_count(80)
        picture("classes")
        view(page, "Confusion")
        expect(page.get_by_text("Most frequent mistakes")).to_be_visible()
        picture("confusion")
        choose(page, "Around a class (80)", "blue ship")
        page.wait_for_url("**near=blue**")
        expect(page.locator(".js-plotly-plot .ytick")).to_have_count(4)
        picture("around-a-class")
        page.goto(f"{address}/gallery?run={run.id}")
        tiles = page.locator("a.tile")
        expect(tiles.first).to_be_visible()
        settle(page)
        field = page.get_by_role("combobox", name="True class (12)", exact=True)
        field.fill("blue ship")
        page.get_by_role("option").filter(has_text="blue ship (16)").click()  # 8 missed, 8 taken for a canoe
        page.wait_for_url("**truth=blue**")
        expect(tiles).to_have_count(16)
        expect(tiles.locator("svg image")).to_have_count(16)
        picture("gallery")
