"""Outcomes of boxes: a drawn scene, and the columnar way against the way of one image at a time."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from metrics.vision.boxes import box_iou
from metrics.vision.geometry import BOX
from metrics.vision.matching import match
from metrics.vision.outcomes import KINDS, LOCALISED, image_pairs, match_image, outcomes
from tests.vision.coco_oracle import objects, random_scene


def frame(rows: Any, image: int | None = None) -> pd.DataFrame:
    """Records as the frame that `match_image` takes."""
    names = {"crowd": "is_crowd"}
    flat = [
        {names.get(key, key): value for key, value in row.items() if key != "box"}
        | dict(zip(("x", "y", "width", "height"), row["box"], strict=True))
        for row in rows
        if image in (None, row["image"])
    ]
    return pd.DataFrame(flat)


def matched_image(
    annotations: pd.DataFrame, predictions: pd.DataFrame, iou: float = 0.5, score: float = 0.0, limit: int | None = None
) -> tuple[list[str], list[str]]:
    """`match_image` by the IoU of boxes."""
    truths, boxes = (frame.reindex(columns=list(BOX)).to_numpy(np.float64) for frame in (annotations, predictions))
    crowd = annotations["is_crowd"].to_numpy(np.bool_) if len(annotations) else np.zeros(0, np.bool_)
    return match_image(annotations, predictions, box_iou(boxes, truths, crowd), iou, score, limit)


def truth(label: int, *box: float, crowd: bool = False) -> dict[str, Any]:
    return {"image": 0, "label": label, "box": list(map(float, box)), "area": box[2] * box[3], "crowd": crowd}


def predicted(label: int, score: float, *box: float) -> dict[str, Any]:
    return {"image": 0, "label": label, "box": list(map(float, box)), "score": score}


SCENE = [
    [
        truth(0, 0, 0, 100, 100), truth(1, 200, 0, 100, 100), truth(0, 400, 0, 100, 100),
        truth(0, 600, 0, 200, 200, crowd=True),
    ],
    [
        (predicted(0, 0.9, 0, 0, 100, 100), "tp", 0),
        (predicted(0, 0.8, 0, 10, 100, 100), "fp_duplicate", 0),
        (predicted(0, 0.7, 200, 0, 100, 90), "fp_misclassification", 1),
        (predicted(0, 0.6, 460, 0, 100, 100), "fp_localisation", 2),
        (predicted(0, 0.5, 620, 20, 50, 50), "ignored", 3),
        (predicted(0, 0.4, 900, 0, 50, 50), "fp_hallucination", -1),
        (predicted(1, 0.3, 0, 0, 100, 100), "fp_misclassification", 0),
    ],
]  # fmt: skip


def test_the_kinds():
    truths, rows = SCENE[0], SCENE[1]
    columns = objects(1, 2, truths, [row for row, _, _ in rows])
    found = outcomes(columns, match(columns), image_pairs(columns, LOCALISED), 0.5)
    assert [KINDS[code] for code in found.prediction] == [kind for _, kind, _ in rows]
    assert found.truth.tolist() == [partner for _, _, partner in rows]
    assert [KINDS[code] for code in found.ground_truth] == ["tp", "fn_misclassification", "fn_no_prediction", "ignored"]
    assert found.iou[:4] == pytest.approx([1, 9 / 11, 0.9, 0.25])
    assert np.isnan(found.iou[5])


@pytest.mark.parametrize(
    ("iou", "score", "predictions", "truths"),
    [
        pytest.param(
            0.5, 0.0, [kind for _, kind, _ in SCENE[1]],
            ["tp", "fn_misclassification", "fn_no_prediction", "ignored"], id="as stored",
        ),
        pytest.param(
            0.95, 0.65, ["tp", "fp_localisation", "fp_hallucination", *["below_score"] * 4],
            ["tp", "fn_no_prediction", "fn_no_prediction", "ignored"], id="stricter",
        ),
    ],
)  # fmt: skip
def test_one_image_at_other_thresholds(iou, score, predictions, truths):
    rows = [row for row, _, _ in SCENE[1]]
    assert matched_image(frame(SCENE[0]), frame(rows), iou, score) == (predictions, truths)


def test_an_image_without_objects():
    assert matched_image(pd.DataFrame(), pd.DataFrame()) == ([], [])
    assert matched_image(frame(SCENE[0][:1]), pd.DataFrame()) == ([], ["fn_no_prediction"])
    assert matched_image(pd.DataFrame(), frame([SCENE[1][0][0]])) == (["fp_hallucination"], [])


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("limit", [None, 2])
def test_one_image_agrees_with_the_whole(seed, limit):
    scene = random_scene(seed)
    columns = objects(*scene)
    for iou in (0.5, 0.75):
        found = match(columns, (0.5, 0.75), ((0.0, 1e10),))
        whole = outcomes(columns, found, image_pairs(columns, LOCALISED), iou, max_dets=limit)
        for image in range(scene[0]):
            predictions, truths = matched_image(frame(scene[2], image), frame(scene[3], image), iou, 0.0, limit)
            assert predictions == [KINDS[code] for code in whole.prediction[columns.prediction_image == image]]
            assert truths == [KINDS[code] for code in whole.ground_truth[columns.truth_image == image]]


def test_a_threshold_that_was_not_matched_is_refused():
    columns = objects(*random_scene(1))
    with pytest.raises(KeyError, match=r"IoU 0\.3 was not matched"):
        outcomes(columns, match(columns), image_pairs(columns, LOCALISED), 0.3)
