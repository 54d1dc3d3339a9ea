"""Precision, recall and score arrays equal pycocotools' on random data sets with everything that goes wrong."""

import numpy as np
import pytest

from metrics.vision import matching
from metrics.vision.matching import AREAS, IOU_THRESHOLDS, Pairs, match
from metrics.vision.object_confusion import match_any_label
from metrics.vision.outcomes import image_pairs
from tests.vision.coco_oracle import arrays, coco_eval, objects, random_scene

COCO = tuple(AREAS.values())
LIMITS = [[1, 10, 100], [300], [1, 10, 300], [2], [3, 1], [1, 2, 3, 4, 100]]
EXACT = 1e-9


@pytest.mark.parametrize("block", range(10))
def test_arrays_equal_pycocotools(block):
    for seed in range(block * 10, block * 10 + 10):
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


@pytest.mark.parametrize("threads", [2, 5])
def test_threads_that_share_the_images_change_nothing(monkeypatch, threads):
    def found():
        pairs, of_any = image_pairs(columns, 0.1), match_any_label(columns, image_pairs(columns, 0.1), 0.5, 0.2)
        matches = match(columns)
        return [
            *(getattr(part, name) for part in (pairs, matches.pairs) for name in Pairs.__slots__),
            matches.matched, matches.state, matches.event_of, of_any.prediction, of_any.truth, of_any.iou,
            of_any.ground_truth,
        ]  # fmt: skip

    shared = 0
    for seed in range(20):
        columns = objects(*random_scene(seed))
        alone = found()
        with monkeypatch.context() as patch:
            patch.setattr(matching, "WORTH_A_THREAD", 1)
            patch.setattr(matching.os, "cpu_count", lambda: threads)
            for one, other in zip(alone, found(), strict=True):
                assert one.dtype == other.dtype
                assert one.tobytes() == other.tobytes(), seed
            shared += len(matching._runs(columns.prediction_image[columns.prediction_order])) > 1
    assert shared > 12


@pytest.mark.parametrize("thresholds", [IOU_THRESHOLDS, (0.3,), (1.0, 0.5)], ids=str)
def test_known_pairs_of_any_class_change_nothing(thresholds):
    for seed in range(20):
        columns = objects(*random_scene(seed))
        alone = match(columns, thresholds)
        other = match(columns, thresholds, near=image_pairs(columns, 0.1))
        for name in Pairs.__slots__:
            assert np.array_equal(getattr(alone.pairs, name), getattr(other.pairs, name)), (seed, name)
        for name in ("matched", "state", "event_of"):
            assert np.array_equal(getattr(alone, name), getattr(other, name)), (seed, name)


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
