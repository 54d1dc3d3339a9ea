"""Precision, recall and score arrays equal pycocotools' on random data sets with everything that goes wrong."""

import numpy as np
import pytest

from metrics.vision.matching import AREAS, IOU_THRESHOLDS, match
from tests.vision.coco_oracle import arrays, coco_eval, objects, random_scene

COCO = tuple(AREAS.values())
LIMITS = [[1, 10, 100], [300], [1, 10, 300], [2], [3, 1], [1, 2, 3, 4, 100]]
EXACT = 1e-9


@pytest.mark.parametrize("block", range(10))
def test_arrays_equal_pycocotools(block):
    for seed in range(block * 30, block * 30 + 30):
        rng = np.random.default_rng(seed + 1_000_000)
        scene = random_scene(seed)
        some = rng.choice([0.0, 0.05, 0.1, 0.25, 1 / 3, 0.5, 0.6, 0.75, 0.9, 1.0], 4, replace=False)
        thresholds = IOU_THRESHOLDS if seed % 2 else tuple(np.sort(some).tolist())
        areas = COCO if seed % 3 else ((0.0, 1e10), (900.0, 9216.0), (1024.0, 1024.0))
        limits = LIMITS[seed % len(LIMITS)]
        run = coco_eval(*scene, thresholds, areas, limits)
        columns = objects(*scene)
        found = arrays(columns, match(columns, thresholds, areas), limits)
        for name in ("precision", "recall", "scores"):
            expected, values = run.eval[name], found[name]
            assert values.shape == expected.shape, (seed, name)
            assert np.abs(values - expected).max(initial=0) <= EXACT, (seed, name)


def test_arrays_equal_pycocotools_on_a_scene_of_coco_like_size():
    from metrics.vision.objects import prepare
    from tests.benchmarks.coco_scene import coco_scene

    scene = coco_scene(images=60, classes=8, detections=120, seed=3)
    truths = [
        {"image": int(image), "label": int(label), "box": box, "area": float(area), "crowd": bool(crowd)}
        for image, label, box, area, crowd in zip(
            scene["truth_image"], scene["truth_class"], scene["truth_box"].tolist(), scene["truth_area"],
            scene["crowd"], strict=True,
        )
    ]  # fmt: skip
    predictions = [
        {"image": int(image), "label": int(label), "box": box, "score": float(score)}
        for image, label, box, score in zip(
            scene["prediction_image"], scene["prediction_class"], scene["prediction_box"].tolist(), scene["score"],
            strict=True,
        )
    ]  # fmt: skip
    run = coco_eval(60, 8, truths, predictions, IOU_THRESHOLDS, COCO, [1, 10, 100])
    columns = prepare(**scene)
    found = arrays(columns, match(columns))
    for name in ("precision", "recall", "scores"):
        assert np.array_equal(found[name], run.eval[name]), name


def test_a_grid_of_99_thresholds():
    scene = random_scene(7)
    grid = tuple(np.linspace(0.01, 0.99, 99).tolist())
    run = coco_eval(*scene, grid, COCO, [100])
    columns = objects(*scene)
    assert np.array_equal(arrays(columns, match(columns, grid), (100,))["precision"], run.eval["precision"])


@pytest.mark.parametrize(
    ("truths", "predictions"), [pytest.param(0, 3, id="no truths"), pytest.param(3, 0, id="no predictions"), (0, 0)]
)
def test_one_side_is_empty(truths, predictions):
    box = {"image": 0, "label": 0, "box": [0.0, 0.0, 50.0, 50.0]}
    scene = (2, 2, [box | {"area": 2500.0, "crowd": False}] * truths, [box | {"score": 0.5}] * predictions)
    columns = objects(*scene)
    found = arrays(columns, match(columns))
    assert found["precision"].max() == (0.0 if truths else -1.0)
    assert np.array_equal(found["recall"], coco_eval(*scene, IOU_THRESHOLDS, COCO, [1, 10, 100]).eval["recall"])
