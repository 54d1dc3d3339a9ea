"""A seeded detection data set like COCO's, as columns, as COCO JSON records, as suite and outputs."""

from typing import Any

import numpy as np
import pyarrow as pa

from metrics.core.suite import ANNOTATIONS, CASES, OUTPUTS, PREDICTIONS, Outputs, Suite, conform
from metrics.vision.masks import Shapes, draw, encode

HEIGHT, WIDTH = 480, 640
CORNERS = 40


def coco_scene(
    images: int = 5_000, classes: int = 80, per_image: float = 7.36, detections: int = 58, seed: int = 0
) -> dict[str, Any]:
    """Keyword arguments of metrics.vision.objects.prepare: about 37k ground truths and 290k detections by default.

    An image shows a few classes (frequent ones often), objects of COCO's mix of sizes, 1 % crowds. A detector finds
    most of them, large ones better, repeats itself, mistakes classes, and fills up with low scores.
    """
    rng = np.random.default_rng(seed)
    frequency = 1 / np.arange(1, classes + 1) ** 0.8
    frequency /= frequency.sum()
    shown = rng.choice(classes, size=(images, 4), p=frequency)
    count = rng.geometric(1 / (per_image + 1), images) - 1
    image = np.repeat(np.arange(images), count)
    size = len(image)
    kind = shown[image, rng.integers(0, 4, size) * rng.integers(0, 2, size)]
    side = np.exp(rng.normal(4.0, 1.0, size)).clip(4, 500)
    ratio = np.exp(rng.normal(0, 0.4, size))
    box = np.column_stack([rng.uniform(0, 600, size), rng.uniform(0, 440, size), side * ratio, side / ratio]).round(2)
    area = (box[:, 2] * box[:, 3] * rng.uniform(0.5, 1, size)).round(4)
    crowd = rng.random(size) < 0.01

    found = np.flatnonzero(rng.random(size) < 0.55 + 0.4 * (side > 40))
    repeats = np.concatenate([found, found[rng.random(len(found)) < 0.6], found[rng.random(len(found)) < 0.3]])
    jitter = rng.normal(0, rng.choice([0.03, 0.08, 0.2], len(repeats)), (4, len(repeats))).T
    near = box[repeats] + jitter * np.tile(box[repeats, 2:], 2)
    near[:, 2:] = np.abs(near[:, 2:]) + 1
    label = kind[repeats]
    wrong = rng.random(len(repeats)) < 0.08
    label[wrong] = rng.choice(classes, int(wrong.sum()), p=frequency)
    score = (0.95 - 2 * np.abs(jitter).mean(axis=1) - rng.exponential(0.15, len(repeats))).clip(0.01, 0.999)

    rest = max(0, images * detections - len(repeats))
    where = rng.integers(0, images, rest)
    fill = np.where(
        rng.random(rest) < 0.6, shown[where, rng.integers(0, 4, rest)], rng.choice(classes, rest, p=frequency)
    )
    extent = np.exp(rng.normal(4.2, 1.0, (rest, 2))).clip(4, 500)
    noise = np.column_stack([rng.uniform(0, 600, rest), rng.uniform(0, 440, rest), extent])
    order = np.argsort(np.concatenate([image[repeats], where]), kind="stable")
    return {
        "images": images, "classes": classes, "truth_image": image, "truth_class": kind, "truth_box": box,
        "truth_area": area, "crowd": crowd, "prediction_image": np.concatenate([image[repeats], where])[order],
        "prediction_class": np.concatenate([label, fill])[order],
        "prediction_box": np.concatenate([near, noise])[order].round(2),
        "score": np.concatenate([score, rng.beta(1, 8, rest).clip(0.001, 0.9)])[order].round(5),
    }  # fmt: skip


def coco_records(scene: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The ground truth and the results of `scene` as COCO JSON; ids count from 1."""
    columns = (scene[name].tolist() for name in ("truth_image", "truth_class", "truth_box", "truth_area", "crowd"))
    annotations = [
        {"id": index, "image_id": image + 1, "category_id": kind + 1, "bbox": box, "area": area, "iscrowd": int(crowd)}
        for index, (image, kind, box, area, crowd) in enumerate(zip(*columns, strict=True), 1)
    ]
    columns = (scene[name].tolist() for name in ("prediction_image", "prediction_class", "prediction_box", "score"))
    results = [
        {"image_id": image + 1, "category_id": kind + 1, "bbox": box, "score": score}
        for image, kind, box, score in zip(*columns, strict=True)
    ]
    numbers = range(1, scene["images"] + 1)
    images = [{"id": n, "file_name": f"{n}.jpg", "width": WIDTH, "height": HEIGHT} for n in numbers]
    categories = [{"id": kind + 1, "name": f"class {kind + 1}"} for kind in range(scene["classes"])]
    return {"info": {}, "images": images, "categories": categories, "annotations": annotations}, results


def mask_records(scene: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The ground truth and the results of `scene` as COCO JSON, with a mask in place of every box."""
    truth, results = coco_records(scene)
    sides = ((truth["annotations"], "truth", 0.05, 1), (results, "prediction", 0.15, 2))
    for records, side, rough, seed in sides:
        for record, text in zip(records, run_lengths(scene, side, rough, seed), strict=True):
            del record["bbox"]
            record["segmentation"] = {"size": [HEIGHT, WIDTH], "counts": text}
    return truth, results


def run_lengths(scene: dict[str, Any], side: str, rough: float, seed: int) -> list[str]:
    """A blob of many corners in every box, as compressed run lengths."""
    rng = np.random.default_rng(seed)
    boxes = scene[f"{side}_box"]
    angle = np.linspace(0, 2 * np.pi, CORNERS, endpoint=False)
    reach = 1 - rough * rng.random((len(boxes), CORNERS))
    middle, half = boxes[:, None, :2] + boxes[:, None, 2:] / 2, boxes[:, None, 2:] / 2
    points = middle + half * np.stack([np.cos(angle) * reach, np.sin(angle) * reach], axis=2)
    count = len(boxes)
    rings = np.arange(count + 1)
    shapes = Shapes(boxes, points.ravel(), rings * 2 * CORNERS, rings, np.zeros(0, np.uint8), np.zeros_like(rings))
    return encode(draw(shapes, HEIGHT, WIDTH))


def tables(scene: dict[str, Any]) -> tuple[Suite, Outputs]:
    def boxes(side: str) -> dict[str, Any]:
        corners = dict(zip(("x", "y", "width", "height"), scene[f"{side}_box"].T.copy(), strict=True))
        names = {"case_id": scene[f"{side}_image"].astype(str), "label": scene[f"{side}_class"].astype(str)}
        return {**names, **corners}

    cases = {"case_id": np.arange(scene["images"]).astype(str)}
    truth = {**boxes("truth"), "area": scene["truth_area"], "is_crowd": scene["crowd"]}
    model = {"model": np.full(len(scene["score"]), "m"), "prediction_id": np.arange(len(scene["score"]))}
    suite = Suite(
        "bench", "detection", conform(pa.table(cases), CASES), conform(pa.table(truth), ANNOTATIONS),
        tuple(str(label) for label in range(scene["classes"])),
    )  # fmt: skip
    answered = conform(pa.table({**cases, "model": np.full(scene["images"], "m")}), OUTPUTS)
    predicted = conform(pa.table({**boxes("prediction"), **model, "score": scene["score"]}), PREDICTIONS)
    return suite, Outputs(answered, predicted)
