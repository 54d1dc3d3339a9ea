"""keypoint_summary: pycocotools' ten numbers on random poses, PCK by hand, and poses that cannot be used."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from metrics.core.classes import ClassFacts
from metrics.core.errors import InputError
from metrics.core.suite import Outputs, Suite
from metrics.evaluators.detection.keypoint_summary import NO_LABELLED, NO_POINTS
from tests.evaluators.detected import of_rows, pick, run
from tests.random_seeds import seeds
from tests.vision.keypoint_oracle import NAMES, Scene, coco_poses, random_poses


def suite_and_outputs(scene: Scene) -> tuple[Suite, Outputs]:
    images, truths, results = scene
    cases = [{"case_id": str(image)} for image in range(1, images + 1)]
    annotations = [
        {"case_id": str(row["image_id"]), "annotation_id": row["id"], "label": "person", "area": row["area"],
         "is_crowd": bool(row["iscrowd"]), "keypoints": row["keypoints"],
         **dict(zip(("x", "y", "width", "height"), row["bbox"], strict=True))}
        for row in truths
    ]  # fmt: skip
    same = {"label": "person"}
    rows = [
        same | {"case_id": str(row["image_id"]), "score": row["score"], "keypoints": row["keypoints"]}
        for row in results
    ]
    return of_rows(cases, annotations, rows, ["person"])


@pytest.mark.parametrize("points", [17, 5])
def test_every_number_is_pycocotools(points: int) -> None:
    """On random data sets: COCO's 17 key points with its constants, and 5 with constants of the class."""
    sigmas = np.linspace(0.03, 0.12, points)
    compared = 0
    for seed in seeds(30, 120):
        scene = random_poses(np.random.default_rng([points, seed]), points)
        suite, outputs = suite_and_outputs(scene)
        if points != 17:
            suite = replace(suite, classes={"person": ClassFacts(sigmas=tuple(sigmas))})
        expected = coco_poses(*scene, None if points == 17 else sigmas)
        findings = run("keypoint_summary", suite, outputs)
        for name, value in zip(NAMES, expected, strict=True):
            found = pick(findings, name)
            assert found.value == (None if value is None else pytest.approx(value, abs=1e-9)), (seed, name)
            assert (found.value is None) == bool(found.reason)
            compared += value is not None
    assert compared > 5.8 * (seed + 1)


def test_the_limit_is_20_predictions_of_an_image() -> None:
    scene = random_poses(np.random.default_rng(1), images=2, most=3)
    images, truths, results = scene
    many = (images, truths, [row | {"score": row["score"] / (1 + copy)} for row in results for copy in range(9)])
    findings = run("keypoint_summary", *suite_and_outputs(many))
    expected = dict(zip(NAMES, coco_poses(*many), strict=True))
    assert {name: pick(findings, name).value for name in ("AP", "AR")} == pytest.approx(
        {name: expected[name] for name in ("AP", "AR")}, abs=1e-9
    )


def pose(case: str, *points: tuple[float, float, int], **more: Any) -> dict[str, Any]:
    flat = [float(number) for point in points for number in point]
    return {"case_id": case, "label": "person", "keypoints": flat, **more}


def posed(
    truths: list[dict[str, Any]], predictions: list[dict[str, Any]], classes: dict[str, ClassFacts] | None = None
) -> tuple[Suite, Outputs]:
    cases = [{"case_id": case} for case in "ab"]
    box = {"x": 0.0, "y": 0.0, "width": 100.0, "height": 100.0}
    annotations = [{"annotation_id": place, **box, **row} for place, row in enumerate(truths, 1)]
    suite = replace(Suite.from_rows("poses", "detection", cases, annotations, ["person"]), classes=classes or {})
    rows = [{"model": "m", "score": 0.9, **row} for row in predictions]
    return suite, Outputs.from_rows([case | {"model": "m"} for case in cases], rows)


def test_pck_says_which_joint_is_off() -> None:
    """Objects of 100 × 100 pixels: the wrist is 30 off in one of two images, and not labelled in a third object."""
    facts = {"person": ClassFacts(keypoints=("head", "wrist"))}
    truths = [
        pose("a", (10, 10, 2), (50, 50, 1)),
        pose("b", (10, 10, 2), (50, 50, 2)),
        pose("b", (90, 90, 2), (0, 0, 0), x=80.0),
    ]
    guesses = [
        pose("a", (10, 10, 1), (80, 50, 1)), pose("b", (10, 10, 1), (50, 50, 1)), pose("b", (90, 90, 1), (9, 9, 1)),
    ]  # fmt: skip
    findings = run("keypoint_summary", *posed(truths, guesses, facts), resamples=50)
    assert pick(findings, "keypoint_PCK", "person", keypoint="head").value == 1
    wrist = pick(findings, "keypoint_PCK", "person", keypoint="wrist")
    assert (wrist.value, wrist.n) == (0.5, 2)
    assert wrist.low is not None
    assert pick(findings, "PCK").value == pytest.approx(4 / 5)


@pytest.mark.parametrize(("truths", "guesses", "reason"), [
    pytest.param([pose("a", (1, 1, 2))], [pose("a", keypoints=None)], NO_POINTS, id="a model of boxes"),
    pytest.param([pose("a", (0, 0, 0))], [pose("a", (1, 1, 1))], NO_LABELLED, id="nothing is labelled"),
    pytest.param([], [pose("a", (1, 1, 1))], NO_LABELLED, id="no ground truth"),
])  # fmt: skip
def test_no_value_has_a_reason(truths: list[dict[str, Any]], guesses: list[dict[str, Any]], reason: str) -> None:
    findings = run("keypoint_summary", *posed(truths, guesses))
    row = pick(findings, "AP")
    assert (row.value, row.reason) == (None, reason)


def test_every_pose_that_cannot_be_used_is_listed() -> None:
    truths = [pose("a", (1, 1, 2), (2, 2, 2)), pose("a", (1, 1, 2))]
    guesses = [pose("a", (1, 1, 1), (float("inf"), 2, 1)), pose("a", (1, 1, 1))]
    with pytest.raises(InputError) as failure:
        run("keypoint_summary", *posed(truths, guesses))
    assert [(one.file, one.row, one.expected) for one in failure.value.problems] == [
        ("annotations", 2, "2, as others of the class have"),
        ("predictions", 1, "x y v of every key point in finite numbers"),
        ("predictions", 2, "2, as others of the class have"),
    ]
    with pytest.raises(InputError, match="3 sigmas for the 2 key points of 'person'"):
        run("keypoint_summary", *posed(truths[:1], []), sigmas=[0.1, 0.2, 0.3])


def test_matches_hold_the_oks() -> None:
    findings = run("keypoint_summary", *posed([pose("a", (10, 10, 2))], [pose("a", (20, 10, 1))]))
    assert findings.matches["kind"].to_pylist() == ["tp"]
    assert findings.matches["iou"].to_pylist() == pytest.approx([np.exp(-100 / (2 * 10_000 * 0.1**2))])
