"""A seeded detection data set of COCO's size and habits, as columns and as COCO JSON records."""

from typing import Any

import numpy as np


def coco_scene(
    images: int = 5_000, classes: int = 80, per_image: float = 7.36, detections: int = 58, seed: int = 0
) -> dict[str, Any]:
    """Keyword arguments of metrics.kernels.objects.prepare: about 37k ground truths and 290k detections by default.

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
        "images": images,
        "classes": classes,
        "truth_image": image,
        "truth_class": kind,
        "truth_box": box,
        "truth_area": area,
        "crowd": crowd,
        "prediction_image": np.concatenate([image[repeats], where])[order],
        "prediction_class": np.concatenate([label, fill])[order],
        "prediction_box": np.concatenate([near, noise])[order].round(2),
        "score": np.concatenate([score, rng.beta(1, 8, rest).clip(0.001, 0.9)])[order].round(5),
    }


def coco_records(scene: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The ground truth and the results of `scene` as COCO JSON; ids count from 1."""
    truths = zip(
        scene["truth_image"],
        scene["truth_class"],
        scene["truth_box"].tolist(),
        scene["truth_area"],
        scene["crowd"],
        strict=True,
    )
    annotations = [
        {
            "id": index + 1,
            "image_id": int(image) + 1,
            "category_id": int(kind) + 1,
            "bbox": box,
            "area": float(area),
            "iscrowd": int(crowd),
        }
        for index, (image, kind, box, area, crowd) in enumerate(truths)
    ]
    columns = (scene["prediction_image"], scene["prediction_class"], scene["prediction_box"].tolist(), scene["score"])
    results = [
        {"image_id": int(image) + 1, "category_id": int(kind) + 1, "bbox": box, "score": float(score)}
        for image, kind, box, score in zip(*columns, strict=True)
    ]
    truth = {
        "info": {},
        "images": [
            {"id": image + 1, "file_name": f"{image + 1}.jpg", "width": 640, "height": 480}
            for image in range(scene["images"])
        ],
        "categories": [{"id": kind + 1, "name": f"class {kind + 1}"} for kind in range(scene["classes"])],
        "annotations": annotations,
    }
    return truth, results
