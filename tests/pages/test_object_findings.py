"""Evaluate: the boxes of a detection upload are checked before a run can be started."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from metrics.store import Run
from tests.ingest.lint.spoiled import HARBOUR, SPOILED, results
from tests.pages.conftest import Open
from tests.pages.reading import give, labelled, words
from tests.pages.test_evaluate import headings, start

TRUTH = (HARBOUR / "instances.json").read_bytes()
MORE = [{"image_id": n, "category_id": 90, "bbox": [5, 5, 50, 50], "score": 0.9} for n in (1, 2)]


@pytest.fixture
def upload(workspace: Path, open_page: Open) -> Callable[[list[dict[str, Any]]], AppTest]:
    """The page after the upload of the harbour's ground truth and of records of a model `net`."""

    def uploaded(records: list[dict[str, Any]]) -> AppTest:
        page = give(open_page("evaluate", evaluator="coco_summary"), 0, "truth.json", TRUTH)
        return give(page, 0, "net.json", json.dumps(records))

    return uploaded


def spoiled(name: str) -> list[dict[str, Any]]:
    return [SPOILED[name][0](record) for record in results()]


def click(page: AppTest, label: str) -> AppTest:
    labelled(page.button, label).click().run()
    assert not page.exception
    return page


def changes(run: Run) -> list[str]:
    return [change["change"] for change in run.spec.outputs.changes]


def test_right_boxes_need_no_answer(upload: Any, started: list[Run]) -> None:
    page = upload(results())
    assert "✓ The boxes, scores and classes look right." in words(page)
    start(page).click().run()
    assert changes(started[0]) == []


def test_corners_are_held_back_until_they_are_converted(upload: Any, started: list[Run]) -> None:
    page = upload(spoiled("x1 y1 x2 y2"))
    assert "Check the boxes" in headings(page)
    assert "✗ net: Read as x y width height, 82 % of the boxes leave their image" in words(page)
    assert "Fix or accept 1 serious finding about the boxes." in words(page)
    assert start(page).disabled
    click(page, "Convert from x1 y1 x2 y2")
    assert "✓ net: boxes converted from x1 y1 x2 y2 to x y width height (636 predictions)" in words(page)
    start(page).click().run()
    assert changes(started[0]) == ["xyxy"]


def test_all_fixes_and_back(upload: Any, started: list[Run]) -> None:
    page = upload(spoiled("everything"))
    assert "does not have" not in words(page)  # classes are asked about once their numbers are right
    click(page, "Apply all 4 fixes")
    assert not start(page).disabled
    click(page, "Undo the fixes")
    assert start(page).disabled
    click(page, "Apply all 4 fixes")
    start(page).click().run()
    assert changes(started[0]) == ["normalised", "xyxy", "percent", "classes+1"]


def test_accepted_as_they_are(upload: Any, started: list[Run]) -> None:
    page = upload(spoiled("x1 y1 x2 y2"))
    next(box for box in page.checkbox if box.label.startswith("Evaluate the boxes as they are")).check().run()
    start(page).click().run()
    assert changes(started[0]) == []


def test_an_answer_is_of_the_files_it_was_given_for(upload: Any) -> None:
    page = click(upload(spoiled("x1 y1 x2 y2")), "Convert from x1 y1 x2 y2")
    removed = [button for button in page.button if (button.key or "").startswith("remove-")][-1]
    removed.click().run()
    give(page, 0, "net.json", json.dumps(results()))
    assert "✓ The boxes, scores and classes look right." in words(page)


@pytest.mark.parametrize(("answer", "change", "told"), [
    ("ignore", "ignore", "net: predictions of classes that the suite does not have ignored (2 predictions)"),
    ("false", "false", "net: predictions of classes that the suite does not have kept as false positives"),
])  # fmt: skip
def test_unknown_classes_are_asked_about(upload: Any, started: list[Run], answer: str, change: str, told: str) -> None:
    page = upload([*results(), *MORE])
    assert "? 2 predictions of 1 class that the suite does not have: category_id 90 (2)" in words(page)
    assert start(page).disabled
    (question,) = page.radio
    assert question.value is None  # nothing is chosen for the user
    question.set_value(answer).run()
    assert told in words(page)
    start(page).click().run()
    assert changes(started[0]) == [change]


def test_unknown_classes_are_mapped(upload: Any, started: list[Run]) -> None:
    page = upload([*results(), *MORE])
    page.radio[0].set_value("map").run()
    box = next(box for box in page.selectbox if box.label.startswith("category_id 90"))
    box.set_value("gull").run()
    assert "net: class category_id 90 taken for gull (2 predictions)" in words(page)
    start(page).click().run()
    assert changes(started[0]) == ["class"]


@pytest.mark.parametrize(("answer", "kept"), [("ignore", 3), ("false", 4), ("map", 4)])
def test_unknown_classes_of_classification_are_asked_about(
    workspace: Path, open_page: Open, started: list[Run], answer: str, kept: int
) -> None:
    """The question is that of detection, without a word about boxes."""
    page = give(
        open_page("evaluate", evaluator="classification"), 0, "truth.csv", "case_id,label\n1,cat\n2,dog\n3,cat\n4,dog\n"
    )
    page = give(page, 0, "net.csv", "case_id,predicted_label\n1,cat\n2,Dog\n3,dog\n4,dog\n")
    assert "Check the classes" in headings(page)
    assert "? 1 prediction of 1 class that the suite does not have: Dog (1)" in words(page)
    assert "Only spelled otherwise: 'Dog' = 'dog'" in words(page)
    assert start(page).disabled
    question = labelled(page.radio, "What becomes of them?")
    assert question.options[0] == "Take them for classes of the suite"  # the likely answer first
    question.set_value(answer).run()
    assert not page.exception
    assert "✓ 1 prediction of 1 class that the suite does not have: Dog (1)" in words(page)
    start(page).click().run()
    assert started[0].outputs.predictions.num_rows == kept
    assert changes(started[0]) == ["class" if answer == "map" else answer]
