"""explain_map: COCO's number is coco_summary's, each step and recipe a number worked by hand."""
# ruff: noqa: E501 - a table reads better with one line a case

import json

import numpy as np
import pytest

from metrics import explain_map, read_outputs, read_suite
from metrics.cli.main import main
from metrics.core.errors import InputError
from metrics.core.suite import Outputs, Suite
from metrics.evaluators.detection.coco_summary import CocoSummaryParameters, coco_summary
from metrics.evaluators.detection.voc_ap import VocApParameters, voc_ap
from tests.ingest.files import write
from tests.ingest.one_scene import PREDICTIONS, TRUTHS, coco

TWO_OF_THREE = 51 / 101 + 50 / 101 * 2 / 3  # a cat found, a false alarm, the other cat found
CAT, OTHER, FAR = (0, 0, 10, 10), (50, 50, 10, 10), (80, 0, 10, 10)


def scene(truths, predictions):
    """Objects and predictions: image, label, box, and crowd or score."""
    names = ("x", "y", "width", "height")
    objects = [
        {
            "case_id": image,
            "annotation_id": place,
            "label": label,
            "is_crowd": crowd,
            **dict(zip(names, map(float, box), strict=True)),
        }
        for place, (image, label, box, crowd) in enumerate(truths)
    ]
    found = [
        {
            "case_id": image,
            "model": "m",
            "run": 1,
            "prediction_id": place,
            "label": label,
            "score": score,
            **dict(zip(names, map(float, box), strict=True)),
        }
        for place, (image, label, box, score) in enumerate(predictions)
    ]
    cases = [{"case_id": image, "image_width": 100, "image_height": 100} for image in "ab"]
    outputs = [{"case_id": image, "model": "m", "run": 1} for image in "ab"]
    return Suite.from_rows("s", "detection", cases, objects), Outputs.from_rows(outputs, found)


CATS = [("a", "cat", CAT, False), ("a", "cat", OTHER, False)]
FOUND = [("a", "cat", CAT, 0.9), ("a", "cat", FAR, 0.6), ("a", "cat", OTHER, 0.2)]
LOW = [*FOUND[:2], ("a", "cat", OTHER, 0.0005)]
SCENES = {  # objects, predictions, step → AP50
    "COCO": (CATS, FOUND, "COCO", TWO_OF_THREE),
    "from .001": (CATS, LOW, "scores from .001", 51 / 101),
    "from .25": (CATS, FOUND, "scores from .25", 51 / 101),
    # to .49 at 1, to .5 a line to 2/3, to .99 at 2/3, to 1 a line to 0
    "trapezoid": (CATS, FOUND, "trapezoid of 101 points", 0.49 + 0.01 * 5 / 6 + 0.49 * 2 / 3 + 0.01 / 3),
    "trapezoid that ends early": (CATS, FOUND[:1], "trapezoid of 101 points", 0.49 + 0.005),
    "all points": (CATS, FOUND, "area under the curve", 1 / 2 + 1 / 2 * 2 / 3),
    "11 points": (CATS, FOUND, "11 points", (6 + 5 * 2 / 3) / 11),
    "of an image": (CATS, [*[("a", "dog", FAR, 0.95)] * 299, *FOUND], "300 of an image", 51 / 101),
    "no limit": ([("a", "cat", CAT, False)], [*[("a", "cat", FAR, 0.9)] * 100, ("a", "cat", CAT, 0.5)], "no limit of predictions", 1 / 101),
    "the limit": ([("a", "cat", CAT, False)], [*[("a", "cat", FAR, 0.9)] * 100, ("a", "cat", CAT, 0.5)], "COCO", 0),
    "crowds absorb": ([*CATS, ("a", "cat", FAR, True)], FOUND, "COCO", 1),
    "crowds left out": ([*CATS, ("a", "cat", FAR, True)], FOUND, "without crowds", TWO_OF_THREE),
    "a second box": (CATS, [FOUND[0], ("a", "cat", (0, 0, 10, 9), 0.8), FOUND[2]], "COCO", TWO_OF_THREE),
    "suppressed": (CATS, [FOUND[0], ("a", "cat", (0, 0, 10, 9), 0.8), FOUND[2]], "NMS at IoU .7", 1),
    "suppressed in its image alone": (CATS, [FOUND[0], ("b", "cat", CAT, 0.8), FOUND[2]], "NMS at IoU .7", TWO_OF_THREE),
    "another name": ([("a", "cat", CAT, False), ("b", "dog", CAT, False)], [("a", "dog", CAT, 0.9), ("b", "dog", CAT, 0.8)], "COCO", 1 / 4),
    "one class": ([("a", "cat", CAT, False), ("b", "dog", CAT, False)], [("a", "dog", CAT, 0.9), ("b", "dog", CAT, 0.8)], "one class for all", 1),
    "classes": (CATS, [*FOUND, ("b", "dog", CAT, 0.5)], "classes without objects count", TWO_OF_THREE / 2),
    "empty images": (CATS, [FOUND[0], ("b", "cat", CAT, 0.8), FOUND[2]], "images without objects left out", 1),
    "Ultralytics": (CATS, LOW, "Ultralytics val", 0.49 + 0.005),
    "Ultralytics, deployed": (CATS, FOUND, "Ultralytics val, conf=.25", 0.49 + 0.005),
}  # fmt: skip


@pytest.mark.parametrize(("truths", "predictions", "step", "expected"), SCENES.values(), ids=SCENES.keys())
def test_steps_worked_by_hand(truths, predictions, step, expected):
    rows = explain_map(*scene(truths, predictions)).set_index("step")
    assert rows.loc[step, "AP50"] == pytest.approx(expected, abs=1e-9)
    assert rows.loc[step, "change"] == pytest.approx((rows.loc[step, "AP"] - rows.loc["COCO", "AP"]), abs=1e-12)


@pytest.fixture
def files(tmp_path):
    results = [
        {
            "image_id": "ab".index(row[0]) + 1,
            "category_id": ["cat", "dog"].index(row[1]) + 1,
            "bbox": list(row[2:6]),
            "score": row[6],
        }
        for row in PREDICTIONS
    ]
    return write(tmp_path, "gt.json", coco(TRUTHS)), write(tmp_path, "m.json", results)


def test_the_first_row_is_coco_summary_and_the_last_are_voc_ap(files):
    suite = read_suite(files[0])
    outputs = read_outputs(files[1], suite=suite)
    rows = explain_map(suite, outputs).set_index("step")
    own = {
        row.metric: row.value
        for row in coco_summary(suite, outputs, CocoSummaryParameters(resamples=1)).aggregates
        if row.label is None
    }
    assert (rows.loc["COCO", "AP"], rows.loc["COCO", "AP50"]) == (own["AP"], own["AP50"])
    assert rows.loc["COCO", "change"] == 0
    for year, points in (("2010", "all_points"), ("2007", "eleven_points")):
        parameters = VocApParameters(resamples=1, interpolation=points, inclusive_pixels=False)
        [voc] = [row.value for row in voc_ap(suite, outputs, parameters).aggregates if row.metric == "map"]
        assert rows.loc[f"Pascal VOC {year}", "AP50"] == pytest.approx(voc, abs=1e-12)
        assert np.isnan(rows.loc[f"Pascal VOC {year}", "AP"])


def test_the_command(files, tmp_path, capsys):
    assert main(["explain-map", *map(str, files), "--confidence", ".6", "-o", str(tmp_path / "t.csv")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "m"
    assert any(line.startswith("  scores from .6 ") for line in lines)
    assert (tmp_path / "t.csv").read_text().startswith("model,step,AP50,AP,change,why\nm,COCO,")
    assert main(["explain-map", *map(str, files), "--confidence", "60"]) == 2


def test_other_suites_are_refused():
    suite, outputs = scene(CATS, FOUND)
    with pytest.raises(InputError, match="no objects, or no predictions"):
        explain_map(suite, Outputs.from_rows(json.loads('[{"case_id": "a", "model": "m", "run": 1}]')))
    with pytest.raises(InputError, match="a suite of text; expected objects in images"):
        explain_map(Suite.from_rows("t", "text", [{"case_id": "a"}]), outputs)
    assert suite.task == "detection"
