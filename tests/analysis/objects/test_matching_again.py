"""Objects matched anew on the example page and in the report: as the stored matches have them."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from metrics import analysis
from metrics.analysis.objects.object_rings import object_rings
from metrics.core.suite import ANNOTATIONS, Outputs, Suite
from metrics.evaluators.detection._federated import Federated
from metrics.evaluators.detection._matched import match_objects, matches_at
from metrics.evaluators.detection.open_images_ap import OpenImages
from metrics.evaluators.detection.voc_ap import PascalVoc
from metrics.store import Run, Workspace
from metrics.vision.masks import Shapes, draw, encode
from tests.engine.engine_scenes import finished
from tests.evaluators.challenge import challenge_scene
from tests.evaluators.detected import numbered, suite_and_outputs
from tests.evaluators.federated import federated_scene, federated_suite
from tests.evaluators.test_detection_masks import tables
from tests.evaluators.test_open_images_ap import challenge_suite
from tests.evaluators.test_voc import voc_scene, voc_suite
from tests.random_seeds import seeds
from tests.vision.coco_oracle import random_scene
from tests.vision.mask_oracle import random_masks

EVERYTHING = (0.0, 1e10)

KEYED = analysis.Rules(keyed=True)


def assert_as_stored(
    suite: Suite, outputs: Outputs, geometry: Any, iou: float, max_dets: int | None = None, benchmark: Any = None
) -> None:
    found = match_objects(suite, outputs, (iou,), (EVERYTHING,), geometry, benchmark)
    stored = matches_at(suite, outputs, found, iou, EVERYTHING, max_dets, benchmark).to_pandas()
    annotations, predictions = suite.annotations.to_pandas(), outputs.predictions.to_pandas()
    for case in suite.cases.to_pylist():
        true, here = (frame[frame["case_id"] == case["case_id"]] for frame in (annotations, predictions))
        size = (case["image_height"], case["image_width"])
        kinds, true_kinds = analysis.match_objects(
            true, here, iou, 0.0, found.scene.geometry, size, analysis.Rules(iou, max_dets, benchmark=benchmark), case
        )
        expected = stored[stored["case_id"] == case["case_id"]]
        of_predictions = expected[expected["prediction_id"].notna()].set_index("prediction_id")["kind"]
        assert kinds == of_predictions.loc[here["prediction_id"]].tolist()
        missed = expected[expected["prediction_id"].isna()]["kind"].tolist()
        assert [kind for kind in true_kinds if kind.startswith("fn")] == missed  # both in the order of the file


@pytest.mark.parametrize("seed", seeds(12, 40))
def test_masks_are_matched_as_stored(seed):
    suite, outputs = tables(*random_masks(seed))
    for geometry, iou in (("mask", 0.5), ("mask", 0.75), ("auto", 0.5), ("box", 0.5)):
        assert_as_stored(suite, outputs, geometry, iou)


@pytest.mark.parametrize("seed", seeds(8, 20))
def test_objects_are_matched_as_stored_by_lvis(seed):
    suite, outputs = federated_suite(*federated_scene(seed))
    assert_as_stored(numbered(suite), outputs, "box", 0.5, 5, Federated())


@pytest.mark.parametrize("seed", seeds(6, 12))
def test_objects_are_matched_as_stored_by_pascal_voc(seed):
    suite, outputs = voc_suite(voc_scene(seed))
    assert_as_stored(numbered(suite), outputs, "box", 0.5, None, PascalVoc(bool(seed % 2)))


@pytest.mark.parametrize("seed", seeds(6, 12))
def test_objects_are_matched_as_stored_by_open_images(seed):
    suite, outputs = challenge_suite(*challenge_scene(seed))
    assert_as_stored(numbered(suite), outputs, "box", 0.5, None, OpenImages())


def test_predictions_below_the_score_take_no_part_by_lvis():
    case = {"case_id": "0", "negative_labels": ["0"], "image_height": None, "image_width": None}
    cat = pd.DataFrame([{"label": "1", "x": 0.0, "y": 0.0, "width": 10.0, "height": 10.0, "annotation_id": 1}])
    found = pd.concat([cat.assign(score=0.9, label="0"), cat.assign(score=0.2), cat.assign(score=0.8, label="2")])
    for score, kinds, truth in ((0.5, ["fp_misclassification", "below_score", "ignored"], "fn_misclassification"),
                                (0.0, ["fp_misclassification", "tp", "ignored"], "tp")):  # fmt: skip
        given = analysis.match_objects(cat, found, 0.5, score, rules=analysis.Rules(benchmark=Federated()), case=case)
        assert given == (kinds, [truth])


@pytest.mark.parametrize("seed", seeds(8, 20))
def test_outlines_are_matched_as_stored(seed):
    rng = np.random.default_rng(seed)

    def turned(count: int) -> list[dict[str, Any]]:
        angle, length, width = rng.uniform(0, np.pi, count), rng.uniform(20, 50, count), rng.uniform(8, 20, count)
        along = np.column_stack([np.cos(angle), np.sin(angle)])
        across = np.column_stack([-along[:, 1], along[:, 0]])
        middle = rng.uniform(30, 70, (count, 1, 2))
        sides = [(a * length[:, None] * along + b * width[:, None] * across) / 2 for a, b in CORNERS]
        corners = middle + np.stack(sides, axis=1)
        return [
            {"polygons": [one.ravel().tolist()], "label": "ab"[row % 2], "case_id": "c"}
            for row, one in enumerate(corners)
        ]

    case = {"case_id": "c", "image_width": 100, "image_height": 100}
    truths = [row | {"annotation_id": place, "is_crowd": place == 7} for place, row in enumerate(turned(12))]
    near = [row | {"polygons": [[n + 2.0 for n in row["polygons"][0]]]} for row in truths[:6]]
    rows = [
        {name: row[name] for name in ("case_id", "label", "polygons")} | {"model": "m", "score": float(rng.random())}
        for row in [*near, *turned(12)]
    ]
    suite = Suite.from_rows("s", "detection", [case], truths)
    assert_as_stored(suite, Outputs.from_rows([{"case_id": "c", "model": "m"}], rows), "polygon", 0.5)


CORNERS = ((1, 1), (1, -1), (-1, -1), (-1, 1))


@pytest.mark.parametrize("most", [None, 1, 2, 5], ids=["all", "1", "2", "5"])
@pytest.mark.parametrize("seed", seeds(5, 10))
def test_boxes_are_matched_as_stored_and_what_is_beyond_max_dets_is_ignored(seed, most):
    suite, outputs = suite_and_outputs(random_scene(seed))
    assert_as_stored(suite, outputs, "auto", 0.5, most)


@pytest.mark.parametrize(("evaluator", "parameters", "expected"), [
    pytest.param("average_precision", {"max_dets": 7, "match_iou_threshold": 0.75}, (0.75, 7), id="of one limit"),
    pytest.param("coco_summary", {"max_dets": [1, 300, 10]}, (0.5, 300), id="the largest of several"),
    pytest.param("error_breakdown", {"iou_threshold": 0.6}, (0.6, 100), id="by default"),
    pytest.param("detection_pr_curve", {"pr_curve_iou_threshold": 0.3}, (0.3, None), id="without a limit"),
])  # fmt: skip
def test_the_rules_of_an_evaluator(tmp_path, evaluator, parameters, expected):
    suite, outputs = suite_and_outputs(random_scene(1))
    run = finished(Workspace(tmp_path), suite, outputs, evaluator, parameters={evaluator: parameters})
    assert analysis.rules(run, evaluator) == (*expected, False, None, None)
    assert analysis.rules(run, "unknown") == analysis.rules(run, None) == (0.5, None, False, None, None)


def test_without_the_size_of_the_image_masks_fall_back_to_boxes():
    ring = [[10.0, 10.0, 30.0, 10.0, 30.0, 30.0, 10.0, 30.0]]
    case = {"case_id": "c", "image_width": 40, "image_height": 40}
    suite = Suite.from_rows(
        "s", "detection", [case], [{"case_id": "c", "label": "a", "annotation_id": 1, "polygons": ring}]
    )
    frame = suite.annotations.to_pandas().assign(score=0.5)
    assert analysis.match_objects(frame, frame, 0.5, 0.0, "mask") == (["tp"], ["tp"])


def mask_run(folder: Path, **parameters: Any) -> Run:
    """One image; `round` has polygons, `square` boxes only."""
    ring = [20.0, 10.0, 60.0, 10.0, 60.0, 50.0, 20.0, 50.0]
    case = {"case_id": "c", "image_width": 80, "image_height": 60}
    box = {"x": 20.0, "y": 10.0, "width": 40.0, "height": 40.0}
    object_ = {"case_id": "c", "label": "a"}
    suite = Suite.from_rows("s", "detection", [case], [object_ | box | {"annotation_id": 1, "polygons": [ring]}])
    rows = [
        object_ | box | {"model": "square", "score": 0.9},
        object_ | {"model": "round", "polygons": [ring], "score": 0.9},
    ]
    outputs = Outputs.from_rows([{"case_id": "c", "model": model} for model in ("round", "square")], rows)
    return finished(
        Workspace(folder), suite, outputs, "average_precision", parameters={"average_precision": parameters}
    )


def test_what_a_run_compares(tmp_path):
    run = mask_run(tmp_path)
    assert {model: analysis.compared(run, model) for model in run.models} == {"round": "mask", "square": "box"}
    assert analysis.compared(run, "square", 1, "average_precision") == "box"
    mute = Outputs.from_rows([{"case_id": "c", "model": "none"}])
    run = finished(Workspace(tmp_path / "none"), run.suite, mute, "average_precision")
    assert analysis.compared(run, "none") == "box"


@pytest.mark.parametrize("geometry", ["box", "mask", "polygon"])
def test_what_a_run_was_told_to_compare(tmp_path, geometry):
    run = mask_run(tmp_path, geometry=geometry)
    assert [analysis.compared(run, "square", 1, name) for name in ("average_precision", None, "unknown")] == [
        geometry
    ] * 3


def test_rings_to_draw():
    hole = draw(Shapes.of(polygons=[[[2.0, 2.0, 10.0, 2.0, 10.0, 10.0, 2.0, 10.0]]]), 12, 14)
    counter = [0.0, 0.0, 0.0, 4.0, 4.0, 4.0]
    table = pa.Table.from_pylist([
        {"rle": encode(hole)[0], "polygons": [[0.0] * 6]},
        {"polygons": [counter, [1.0, 2.0], [float("nan")] * 6], "x": 1.0},
        {"x": 1.0, "y": 2.0, "width": 3.0, "height": 4.0}, {"x": 1.0, "y": None, "width": 3.0, "height": 4.0},
        {"rle": "\x01", "x": 1.0, "y": 2.0, "width": 3.0, "height": 4.0},
    ], ANNOTATIONS)  # fmt: skip
    rings = object_rings(table, 12)
    assert sorted(zip(rings[0][0][::2], rings[0][0][1::2], strict=True)) == [(2, 2), (2, 10), (10, 2), (10, 10)]
    assert rings[1] == [[4.0, 4.0, 0.0, 4.0, 0.0, 0.0]]
    square = [[1.0, 2.0, 4.0, 2.0, 4.0, 6.0, 1.0, 6.0]]
    assert (rings[2:], object_rings(table.slice(0, 1), None)) == ([square, [], square], [[[0.0] * 6]])
    assert object_rings(pa.table({"label": ["a"]}), 12) == [[]]


def test_objects_of_different_keys_do_not_meet() -> None:
    box = {"x": [0.0], "y": [0.0], "width": [9.0], "height": [9.0]}
    truth, made = (
        pd.DataFrame({"label": ["class=car"], **box}),
        pd.DataFrame({"label": ["colour=red"], "score": [0.9], **box}),
    )
    assert analysis.match_objects(truth, made) == (["fp_misclassification"], ["fn_misclassification"])
    assert analysis.match_objects(truth, made, rules=KEYED) == (["fp_hallucination"], ["fn_no_prediction"])
    assert analysis.match_objects(truth.assign(label=["colour=red"]), made, rules=KEYED) == (["tp"], ["tp"])
    other = truth.assign(label=["colour=blue"])
    assert analysis.match_objects(other, made, rules=KEYED) == (["fp_misclassification"], ["fn_misclassification"])


@pytest.mark.parametrize(("width", "kinds"), [(9.0, ["tp"]), (8.0, ["tp"]), (7.9, ["fp_localisation"])])
def test_objects_match_from_an_iou_of_one_half_on(width: float, kinds: list[str]) -> None:
    """The predicted box lies inside one of 16 × 10 pixels; its IoU is its width / 16."""
    box = {"label": ["cat"], "x": [0.0], "y": [0.0], "height": [10.0]}
    truth, made = pd.DataFrame({**box, "width": [16.0]}), pd.DataFrame({**box, "width": [width], "score": [0.9]})
    assert analysis.match_objects(truth, made)[0] == kinds
