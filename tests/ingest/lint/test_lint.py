"""The checks of a detection upload: what each finds, what none may find, and that fixes restore the clean numbers."""

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from metrics.core.suite import Outputs, Suite
from metrics.ingest import read_outputs, read_suite
from metrics.ingest.lint import fix, fix_all, lint
from metrics.suites.samples import samples
from metrics.vision.geometry import BOX
from tests.ingest.files import read_refusal, write
from tests.ingest.lint.spoiled import MODEL, SPOILED, ap, harbour, outputs_of, results


@pytest.fixture(scope="module")
def suite():
    return harbour()


def seen(suite: Suite, outputs: Outputs) -> list[tuple[str, str | None]]:
    return [(finding.kind, finding.fix) for finding in lint(suite, outputs)]


@pytest.mark.parametrize("name", SPOILED)
def test_a_spoiled_file_is_found_and_the_fixes_restore_its_ap(suite, tmp_path, name):
    spoil, fixes = SPOILED[name]
    clean = outputs_of(suite, tmp_path, results())
    outputs = outputs_of(suite, tmp_path, [spoil(record) for record in results()])
    found = lint(suite, outputs)
    assert sorted(finding.fix or "" for finding in found) == sorted(fixes)
    assert all(a.serious >= b.serious for a, b in pairwise(found))
    assert {finding.where for finding in found} == {MODEL}
    if fixes not in (["percent"], ["sigmoid"]):  # what makes AP meaningless
        assert found[0].serious
        assert (ap(suite, outputs) or 0) < 0.25 * (ap(suite, clean) or 0)
    fixed = fix_all(suite, outputs)
    assert ap(suite, fixed) == ap(suite, clean)
    assert lint(suite, fixed) == ()
    assert [change["change"] for change in fixed.changes] == fixes
    assert all(change["model"] == MODEL and change["predictions"] == len(results()) for change in fixed.changes)


def test_no_sample_has_findings():
    for sample in samples():
        assert lint(*sample.read()) == (), sample.id


def test_only_the_spoiled_model_is_changed(suite, tmp_path):
    good = write(tmp_path, "good.json", results("petrel-large"))
    bad = write(tmp_path, "bad.json", [SPOILED["x1 y1 x2 y2"][0](record) for record in results()])
    outputs = read_outputs([bad, good], suite=suite)
    (finding,) = lint(suite, outputs)
    assert (finding.model, finding.kind, finding.fix, finding.serious) == ("bad", "convention", "xyxy", True)
    assert "x1 y1 x2 y2" in finding.text
    assert finding.cases
    fixed = fix(suite, outputs, [finding])
    assert fixed.restricted("good").fingerprint == outputs.restricted("good").fingerprint
    assert ap(suite, fixed.restricted("bad")) == ap(suite, outputs_of(suite, tmp_path, results()))
    assert fixed.changes == (
        {
            "model": "bad", "change": "xyxy", "predictions": 636,
            "text": "boxes converted from x1 y1 x2 y2 to x y width height",
        },
    )  # fmt: skip


def test_fixes_of_nothing_known_are_refused(suite, tmp_path):
    outputs = outputs_of(suite, tmp_path, results())
    said = read_refusal(fix, suite, outputs, [("nobody", "xyxy"), (MODEL, "upside-down")])
    assert "nobody" in said
    assert "upside-down" in said


def scene(boxes: list[list[float]], more: dict[str, Any] | None = None, count: int = 12) -> tuple[Suite, Outputs]:
    """`count` images of 100 × 80, in each an object; every model box of `boxes` [x, y, w, h, score] is in each."""
    cases = [{"case_id": f"i{index:02}", "image_width": 100, "image_height": 80} for index in range(count)]
    truth = {"label": "cat", "x": 10, "y": 20, "width": 30, "height": 25, **(more or {})}
    annotations = [{"case_id": case["case_id"], "annotation_id": n + 1, **truth} for n, case in enumerate(cases)]
    rows = [
        dict(zip(("x", "y", "width", "height", "score"), box, strict=True))
        | {"label": "cat", "case_id": case["case_id"]}
        for case in cases
        for box in boxes
    ]
    spread = [row | {"score": row["score"] - n / 1e6} for n, row in enumerate(rows)]
    answers = [{"case_id": case["case_id"], "model": "m"} for case in cases]
    return Suite.from_rows("scene", "detection", cases, annotations), Outputs.from_rows(
        answers, [row | {"model": "m"} for row in spread]
    )


GOOD = [10, 20, 30, 25, 0.9]
HALF = [[10.0, 20.0, 40.0, 20.0, 10.0, 45.0]]  # a triangle, half of the box
CASES: dict[str, tuple[tuple[Suite, Outputs], list[tuple[str, bool]]]] = {
    # scene, and the kinds found with whether they are serious
    "right boxes": (scene([GOOD]), []),
    "right boxes and as many wrong ones": (scene([GOOD, [60, 40, 30, 30, 0.8], [5, 60, 90, 20, 0.7]]), []),
    "boxes that are poor": (scene([[18, 22, 45, 30, 0.9], [50, 20, 20, 20, 0.3]]), []),
    "boxes a little over the border": (scene([GOOD, [70, 40, 31.5, 41, 0.8]]), []),
    "nothing": (scene([]), [("no_predictions", True)]),
    "boxes of larger images": (scene([[130, 260, 390, 325, 0.9], [400, 300, 100, 90, 0.5]]), [("outside", True)]),
    "every fifth box outside": (
        scene([GOOD, [90, 70, 40, 40, 0.5], [40, 20, 30, 25, 0.4], [10, 40, 30, 25, 0.4], [60, 40, 30, 30, 0.4]]),
        [("outside", False)],
    ),
    "boxes without area": (scene([GOOD, [10, 20, 0, 25, 0.5]]), [("no_area", False)]),
    "scores a little over 1": (scene([GOOD, [10, 20, 30, 25, 1.2]]), [("scores_over_1", False)]),
    "truth as shares": (scene([GOOD], {"x": 0.1, "y": 0.25, "width": 0.3, "height": 0.3}), [("normalised", True)]),
    "ground truth as x1 y1 x2 y2": (
        scene([[50, 40, 30, 30, 0.9]], {"x": 50, "y": 40, "width": 80, "height": 70}),
        [("outside", True), ("convention", True)],
    ),
    "ground truth without area": (scene([GOOD], {"width": 0}), [("no_area", False)]),
    "a stated area of 0": (scene([GOOD], {"area": 0}), [("area", False)]),
    "a stated area larger than the box": (scene([GOOD], {"area": 2_000}), [("area", False)]),
    "a stated area of a thin object": (scene([GOOD], {"area": 20}), []),
    "a stated area that is the mask's": (scene([GOOD], {"area": 375, "polygons": HALF}), []),
    "a stated area that is the box's beside a mask": (scene([GOOD], {"area": 750, "polygons": HALF}), []),
    "a stated area of neither mask nor box": (scene([GOOD], {"area": 90, "polygons": HALF}), [("area", False)]),
    "polygons that are shares of the image": (
        scene([GOOD], {"polygons": [[0.1, 0.2, 0.3, 0.2, 0.3, 0.4]]}), [("outline", True)],
    ),
    "boxes that are x1 y1 x2 y2 beside polygons": (
        scene([GOOD], {"width": 40, "height": 45, "polygons": HALF}), [("outline", True)],
    ),
    "a stated area of x1 y1 x2 y2": (
        scene([GOOD], {"width": 40, "height": 45, "area": 750}), [("convention", True)],
    ),
    "predictions twice": (scene([GOOD, [*GOOD[:4], 0.9 + 1e-06]]), [("repeated", False)]),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_findings_of_a_scene(name):
    (suite, outputs), expected = CASES[name]
    assert [(finding.kind, finding.serious) for finding in lint(suite, outputs)] == expected


Box = tuple[float, float, float, float]
THREE: list[Box] = [(10, 10, 100, 100), (200, 50, 30, 30), (50, 50, 40, 40)]


def corners(box: Box) -> Box:
    return box[0], box[1], box[0] + box[2], box[1] + box[3]


def as_is(box: Box) -> Box:
    return box


@pytest.mark.parametrize(
    ("of_truth", "of_model", "twice", "expected"),
    [
        pytest.param(as_is, as_is, False, [], id="right"),
        pytest.param(as_is, corners, False, [("convention", "m", False)], id="three predictions as x1 y1 x2 y2"),
        pytest.param(corners, as_is, False, [("convention", None, False)], id="three objects as x1 y1 x2 y2"),
        pytest.param(as_is, as_is, True, [("repeated", None, False)], id="an object twice"),
    ],
)
def test_findings_of_three_boxes(of_truth, of_model, twice, expected):
    cases = [{"case_id": f"{n}", "image_width": 640, "image_height": 480} for n in range(3)]
    truths = [
        {"case_id": f"{n}", "annotation_id": n, "label": "cat", **dict(zip(BOX, of_truth(box), strict=True))}
        for n, box in enumerate(THREE)
    ]
    truths += [truths[0] | {"annotation_id": 9}] * twice
    found = [
        {"case_id": f"{n}", "model": "m", "label": "cat", "score": 0.9 - n / 10}
        | dict(zip(BOX, of_model((box[0] + 2, *box[1:])), strict=True))
        for n, box in enumerate(THREE)
    ]
    suite = Suite.from_rows("three", "detection", cases, truths)
    outputs = Outputs.from_rows([{"case_id": case["case_id"], "model": "m"} for case in cases], found)
    assert [(finding.kind, finding.model, finding.serious) for finding in lint(suite, outputs)] == expected


def sized(pair: tuple[Suite, Outputs], width: int | None, height: int | None) -> tuple[Suite, Outputs]:
    """The scene, its images of another size or of none."""
    suite, outputs = pair
    cases = [row | {"image_width": width, "image_height": height} for row in suite.cases.to_pylist()]
    return Suite.from_rows("scene", "detection", cases, suite.annotations.to_pylist()), outputs


def test_boxes_in_a_hundredth_of_their_image_and_shares_of_images_of_unknown_size():
    """A tool that writes shares where the format has per cent; the same boxes are shares where no size is known."""
    small = {"x": 1, "y": 2, "width": 3, "height": 2.5}
    found = lint(*sized(scene([GOOD], small), 1000, 800))
    assert ("tiny", True) in [(finding.kind, finding.serious) for finding in found]
    for truth, boxes in (({"x": 0.1, "y": 0.2, "width": 0.3, "height": 0.25}, GOOD), ({}, [0.1, 0.2, 0.3, 0.25, 0.9])):
        found = lint(*sized(scene([boxes], truth), None, None))
        assert [finding.serious for finding in found if finding.kind == "normalised"] == [False]


@pytest.mark.parametrize(("count", "serious"), [(1, []), (2, [False]), (12, [True])])
def test_few_boxes_of_another_class_raise_a_doubt(count, serious):
    suite, outputs = scene([GOOD], count=count)
    numbered = replace(suite, labels=("ant", "cat"), category_ids=(0, 1))
    column = outputs.predictions.schema.get_field_index("label")
    ants = pa.array(["ant"] * count, pa.string())
    found = lint(numbered, replace(outputs, predictions=outputs.predictions.set_column(column, "label", ants)))
    assert [finding.serious for finding in found if finding.kind == "class_numbers"] == serious


def test_boxes_of_another_image_are_found():
    suite, outputs = scene([GOOD], count=20)
    rows = outputs.predictions.to_pylist()
    rows[3] |= {"x": 130.0}  # beyond the 100 pixels of the image
    moved = Outputs(outputs.outputs, pa.Table.from_pylist(rows, outputs.predictions.schema))
    (finding,) = lint(suite, moved)
    assert (finding.kind, finding.count, finding.total, finding.cases) == ("other_image", 1, 20, ("i03",))


def test_equal_scores_and_no_objects_are_found():
    suite, outputs = scene([GOOD])
    table = outputs.predictions
    place = table.schema.get_field_index("score")
    same = table.set_column(place, "score", [np.ones(len(table))])
    assert seen(suite, Outputs(outputs.outputs, same)) == [("equal_scores", None)]
    suite, outputs = scene([GOOD])
    empty = Suite(suite.name, suite.task, suite.cases, suite.annotations.slice(0, 0), ("cat",))
    assert seen(empty, outputs)[0] == ("no_objects", None)


def test_most_images_without_predictions():
    suite, outputs = scene([GOOD])
    few = Outputs(outputs.outputs, outputs.predictions.slice(0, 5))
    (finding,) = lint(suite, few)
    assert (finding.kind, finding.count, finding.total, finding.serious) == ("images_without_predictions", 7, 12, False)
    assert finding.text.startswith("No predictions in 7 of 12 images that have objects (58 %)")


def test_some_images_without_predictions_are_said():
    suite, outputs = scene([GOOD])
    (finding,) = lint(suite, Outputs(outputs.outputs, outputs.predictions.slice(0, 8)))
    assert (finding.kind, finding.count, finding.total, finding.serious) == ("images_without_predictions", 4, 12, False)
    assert finding.text.startswith("No predictions in 4 of 12 images that have objects: a detector that found nothing")


def test_cases_without_a_class_are_said():
    suite = Suite.from_rows("s", "classification", [{"case_id": str(n), "label": "ab"[n % 2]} for n in range(6)])
    rows = [{"case_id": str(n), "model": "m"} for n in range(4)]
    outputs = Outputs.from_rows(rows, [{**row, "label": "a"} for row in rows])
    (finding,) = lint(suite, outputs)
    assert (finding.kind, finding.count, finding.total, finding.serious) == ("cases_without_predictions", 2, 6, False)
    assert str(finding) == "m: No prediction for 2 of 6 cases: its numbers are of the others alone."


def test_masks_keep_their_geometry(suite):
    """Boxes of polygons follow from the polygons: they are not converted, but named where they lie elsewhere."""
    small, outputs = scene([[10, 20, 0.5, 0.5, 0.9]])
    ring = [[[10.0, 20.0, 40.0, 20.0, 40.0, 45.0]]] * len(outputs.predictions)
    place = outputs.predictions.schema.get_field_index("polygons")

    shaped = outputs.predictions.set_column(
        place, "polygons", pa.array(ring, outputs.predictions.schema.field(place).type)
    )
    assert seen(small, Outputs(outputs.outputs, shaped)) == [("outline", None)]


@pytest.mark.parametrize("shift", [-2, -1, 1, 2])
def test_boxes_of_the_next_images_are_found(suite, tmp_path, shift):
    cases = suite.cases["case_id"].to_pylist()
    ids = [int(case) for case in cases]
    moved = [{**record, "image_id": ids[(ids.index(record["image_id"]) + shift) % len(ids)]} for record in results()]
    found = lint(suite, outputs_of(suite, tmp_path, moved))
    (finding,) = [each for each in found if each.kind == "other_image" and each.serious]
    assert f"image {abs(shift)} {'before' if shift > 0 else 'after'} each" in finding.text


def test_logits_of_several_classes_become_probabilities(tmp_path):
    rows = [("1", "no", -3.0, 1.0), ("2", "yes", -9.0, -5.0), ("3", "no", 8.0, 4.0), ("4", "yes", 2.0, 3.0)]
    suite = read_suite(write(tmp_path, "s.csv", "case_id,label\n" + "\n".join(f"{c},{t}" for c, t, *_ in rows)))
    path = write(tmp_path, "m.csv", "case_id,no,yes\n" + "\n".join(f"{c},{a},{b}" for c, _, a, b in rows))
    outputs = read_outputs(path, suite=suite)
    (finding,) = lint(suite, outputs)
    assert (finding.kind, finding.fix, finding.serious) == ("negative_scores", "softmax", False)
    fixed = fix_all(suite, outputs)
    expected = [value for _, _, a, b in rows for value in (1 / (1 + np.exp(b - a)), 1 / (1 + np.exp(a - b)))]
    assert fixed.predictions["score"].to_pylist() == pytest.approx(expected)
    assert lint(suite, fixed) == ()


def masks(labels):
    """Regions of a case for each pair of labels, side by side."""
    sides = [{"x": 10.0 * (place % 2), "y": 0.0, "width": 9.0, "height": 9.0} for place in range(len(labels))]
    return [
        {"case_id": str(place // 2), "label": label, **side}
        for place, (label, side) in enumerate(zip(labels, sides, strict=True))
    ]


@pytest.mark.parametrize(
    ("labels", "found", "kinds"),
    [
        (["1", "2"], ["1", "2"], []), (["1", "2"], ["2", "3"], ["class_numbers"]),
        (["road", "sky"], ["road", "sky"], []), (["road", "Unlabeled"], ["road", "Unlabeled"], ["void_class"]),
    ],
)  # fmt: skip
def test_classes_of_masks(labels, found, kinds):
    cases = [{"case_id": str(place), "image_width": 20, "image_height": 10} for place in range(8)]
    suite = Suite.from_rows("s", "segmentation", cases, masks(labels * 8))
    predictions = [{"model": "m", "run": 1, "score": 1.0, **row} for row in masks(found * 8)]
    outputs = Outputs.from_rows([{"case_id": row["case_id"], "model": "m", "run": 1} for row in cases], predictions)
    assert [finding.kind for finding in lint(suite, outputs)] == kinds
