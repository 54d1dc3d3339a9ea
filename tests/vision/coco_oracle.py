"""pycocotools on plain records, and random data sets with everything that goes wrong in real ones."""

import contextlib
import io
from collections.abc import Sequence
from typing import Any

import numpy as np

from metrics.vision.image_resampling import resample
from metrics.vision.matching import Matches
from metrics.vision.objects import Objects, prepare
from metrics.vision.precision_recall import MAX_DETS, Ranking, precision_at_recalls


def coco_eval(
    images: int,
    classes: int,
    truths: Sequence[dict[str, Any]],
    predictions: Sequence[dict[str, Any]],
    thresholds: Sequence[float],
    areas: Sequence[tuple[float, float]],
    max_dets: Sequence[int],
) -> Any:
    """pycocotools' COCOeval after accumulate(); image and class codes become ids from 1."""
    from pycocotools.coco import COCO
    from pycocotools.cocoeval import COCOeval

    with contextlib.redirect_stdout(io.StringIO()):
        coco = COCO()
        coco.dataset = {
            "info": {},
            "images": [{"id": image + 1} for image in range(images)],
            "categories": [{"id": label + 1, "name": str(label)} for label in range(classes)],
            "annotations": [_record(truth) | {"id": index + 1} for index, truth in enumerate(truths)],
        }
        coco.createIndex()
        results = COCO()
        results.dataset = coco.dataset | {
            "annotations": [
                _record(row) | {"id": index + 1, "area": row["box"][2] * row["box"][3], "score": row["score"]}
                for index, row in enumerate(predictions)
            ]
        }
        results.createIndex()
        run = COCOeval(coco, results, "bbox")
        run.params.iouThrs = np.asarray(thresholds)
        run.params.areaRng = [list(area) for area in areas]
        run.params.areaRngLbl = [str(area) for area in areas]
        run.params.maxDets = list(max_dets)
        run.evaluate()
        run.accumulate()
    return run


def objects(
    images: int, classes: int, truths: Sequence[dict[str, Any]], predictions: Sequence[dict[str, Any]]
) -> Objects:
    """The same records as columns."""
    return prepare(
        images=images,
        classes=classes,
        truth_image=[row["image"] for row in truths],
        truth_class=[row["label"] for row in truths],
        truth_box=[row["box"] for row in truths],
        truth_area=[row["area"] for row in truths],
        crowd=[row["crowd"] for row in truths],
        prediction_image=[row["image"] for row in predictions],
        prediction_class=[row["label"] for row in predictions],
        prediction_box=[row["box"] for row in predictions],
        score=[row["score"] for row in predictions],
    )


def arrays(
    columns: Objects, found: Matches, limits: Sequence[int] = MAX_DETS, areas: Sequence[int] | None = None
) -> dict[str, Any]:
    """pycocotools' arrays: `precision` and `scores` [T, R, K, A, M], `recall` [T, K, A, M]; −1 without ground truth."""
    ranking, itself = Ranking.of(columns, found), np.ones((1, columns.images), np.uint8)
    wanted = range(len(found.truth_ignored)) if areas is None else areas
    limits = sorted(set(limits))
    curves = [[precision_at_recalls(ranking, area, limit) for limit in limits] for area in wanted]
    precision, scores = np.nan_to_num(np.moveaxis(np.array(curves), 2, 0), nan=-1.0).transpose(0, 4, 5, 3, 1, 2)
    recall = [[resample(ranking, itself, area=area, max_dets=limit)[1][0] for limit in limits] for area in wanted]
    return {
        "precision": precision,
        "scores": scores,
        "recall": np.nan_to_num(np.array(recall), nan=-1.0).transpose(3, 2, 0, 1),
    }


def random_scene(seed: int) -> tuple[int, int, list[dict[str, Any]], list[dict[str, Any]]]:
    """Crowds, empty classes and images, ties of score and IoU, areas at the edges of ranges, truths without area."""
    rng = np.random.default_rng(seed)
    images, classes = int(rng.integers(1, 7)), int(rng.integers(1, 5))
    coarse = rng.random() < 0.5  # a coarse grid of boxes and scores makes ties
    truths = []
    for _ in range(int(rng.integers(0, 25))):
        box = _box(rng, coarse)
        if rng.random() < 0.05:
            box[2] = 0.0
        area = box[2] * box[3] if rng.random() < 0.6 else float(rng.choice([0.0, 900.0, 1024.0, 9216.0, 1e4]))
        truths.append(_object(rng, images, classes, box) | {"area": area, "crowd": bool(rng.random() < 0.15)})
    predictions = []
    for _ in range(int(rng.integers(0, 60))):
        if truths and rng.random() < 0.7:
            truth = truths[int(rng.integers(len(truths)))]
            shift = rng.integers(-2, 3, 4) * 2.0 if coarse else rng.normal(0, 4, 4)
            box = [float(value) for value in np.array(truth["box"]) + shift * (rng.random() < 0.8)]
            row = {"image": truth["image"], "label": truth["label"], "box": [*box[:2], abs(box[2]), abs(box[3])]}
            if rng.random() < 0.15:
                row["label"] = int(rng.integers(classes))
        else:
            row = _object(rng, images, classes, _box(rng, coarse))
        row["score"] = float(rng.integers(0, 6) / 5) if coarse else float(rng.random())
        predictions.append(row)
    return images, classes, truths, predictions


def _object(rng: np.random.Generator, images: int, classes: int, box: list[float]) -> dict[str, Any]:
    return {"image": int(rng.integers(images)), "label": int(rng.integers(classes)), "box": box}


def _box(rng: np.random.Generator, coarse: bool) -> list[float]:
    if coarse:
        return [float(value) for value in (*rng.integers(0, 4, 2) * 10, *rng.choice([8, 16, 20, 32, 64, 96, 128], 2))]
    return [float(value) for value in (*rng.uniform(0, 60, 2), *rng.uniform(5, 150, 2))]


def _record(row: dict[str, Any]) -> dict[str, Any]:
    record = {"image_id": row["image"] + 1, "category_id": row["label"] + 1, "bbox": list(row["box"])}
    return record | ({"area": row["area"], "iscrowd": int(row["crowd"])} if "area" in row else {})
