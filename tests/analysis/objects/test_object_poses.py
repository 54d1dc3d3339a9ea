"""Key points on the pages: what is drawn of them, and that a slider matches as the evaluator does."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from metrics import analysis
from metrics.analysis.objects.object_filter import ObjectFilter
from metrics.analysis.objects.object_rings import bones
from metrics.core.classes import ClassFacts
from metrics.presentation.viewers import object_panels
from metrics.store import Run, Workspace
from metrics.vision.keypoints import COCO_SKELETON
from tests.engine.engine_scenes import finished
from tests.evaluators.test_keypoints import suite_and_outputs
from tests.vision.keypoint_oracle import random_poses

FACTS = ClassFacts(keypoints=("a", "b", "c"), skeleton=((0, 1), (1, 2)))


def test_lines_join_what_is_labelled() -> None:
    points = [1, 2, 2, 3, 4, 1, 0, 0, 0]
    assert bones(points, FACTS, guessed=False) == [(1, 2, 3, 4), (1, 2, 1, 2), (3, 4, 3, 4)]
    assert len(bones(points, FACTS, guessed=True)) == 5  # of a model every key point counts
    assert len(bones([1, 2, 2] * 17, None, guessed=False)) == len(COCO_SKELETON) + 17
    assert bones(None, FACTS, guessed=True) == []


@pytest.fixture(scope="module")
def poses(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Poses of 17 key points in 12 images, with crowds and some without a labelled key point."""
    images, truths, results = random_poses(np.random.default_rng(3), images=12)
    suite, outputs = suite_and_outputs((images, truths, results))
    folder: Path = tmp_path_factory.mktemp("poses")
    return finished(Workspace(folder), replace(suite, classes={"person": ClassFacts()}), outputs, "keypoint_summary")


@pytest.mark.parametrize("oks", [0.5, 0.8])
def test_a_slider_matches_as_the_evaluator(poses: Run, oks: float) -> None:
    rules = analysis.rules(poses, "keypoint_summary")
    assert analysis.compared(poses, "m", 1, "keypoint_summary") == "keypoints"
    found: dict[str, int] = {}
    for case_id in poses.suite.cases["case_id"].to_pylist():
        view = analysis.example(poses, case_id)
        kinds, missed = analysis.match_objects(view.annotations, view.predictions, oks, 0.0, "keypoints", rules=rules)
        for kind in [*kinds, *(kind for kind in missed if kind.startswith("fn"))]:
            found[kind] = found.get(kind, 0) + 1
    assert found == analysis.object_counts(poses, "keypoint_summary", ObjectFilter(model="m", iou=oks))["kind"]
    assert {"tp", "fn_no_prediction", "ignored"} <= found.keys()


def test_a_truth_without_labelled_points_excuses_one_prediction(tmp_path: Path) -> None:
    """The evaluator and the view excuse the better of two predictions in its box, as pycocotools does."""
    place = {"image_id": 1, "category_id": 1, "bbox": [10.0, 10.0, 40.0, 40.0], "area": 1600.0}
    truth = place | {"id": 1, "iscrowd": 0, "num_keypoints": 0, "keypoints": [0.0, 0.0, 0] * 17}
    guesses = [place | {"keypoints": [30.0, 30.0, 2] * 17, "score": score} for score in (0.9, 0.8)]
    suite, outputs = suite_and_outputs((1, [truth], guesses))
    run = finished(Workspace(tmp_path), suite, outputs, "keypoint_summary")
    view = analysis.example(run, str(suite.cases["case_id"][0]))
    rules = analysis.rules(run, "keypoint_summary")
    kinds, missed = analysis.match_objects(view.annotations, view.predictions, 0.5, 0.0, "keypoints", rules=rules)
    by_score = dict(zip(view.predictions["score"], kinds, strict=True))
    assert (by_score, missed) == ({0.9: "ignored", 0.8: "fp_hallucination"}, ["ignored"])
    counted = analysis.object_counts(run, "keypoint_summary", ObjectFilter(model="m"))["kind"]
    assert counted == {"ignored": 1, "fp_hallucination": 1}


def test_the_gallery_and_the_example_draw_skeletons(poses: Run) -> None:
    page = analysis.objects(poses, "keypoint_summary", ObjectFilter(model="m", kinds=("tp",)))
    (entry,) = page.tiles[0].objects
    assert entry.prediction.bones is not None
    assert len(entry.prediction.bones) == len(COCO_SKELETON) + 17
    view = analysis.example(poses, page.tiles[0].case_id)
    kinds = ["tp"] * len(view.annotations), ["tp"] * len(view.predictions)
    drawn = object_panels.image_objects(view.annotations, view.predictions, *kinds, "keypoints")
    panel = object_panels.panel("m", drawn, geometry="keypoints")
    assert panel["posed"]
    assert all(len(shape["bones"]) == len(COCO_SKELETON) + 17 for shape in panel["objects"]["tp"])
