"""The Open Images challenge's average precision by its definition, image after image; and random scenes for it."""

from collections import Counter, defaultdict
from typing import Any

import numpy as np

from metrics.vision.boxes import box_iou
from tests.vision.coco_oracle import random_scene

PARENTS = {"0": "9", "1": "0", "2": "9"}  # 9 is above 0 and 2, 0 above 1


def challenge_scene(seed: int) -> tuple[Any, list[list[str]]]:
    """A random scene without ties of score, some of whose predictions are of classes above; what its images lack."""
    images, classes, truths, predictions = random_scene(seed)
    rng = np.random.default_rng([seed, 3])
    names = [str(label) for label in range(classes)]
    truths = [truth | {"label": str(truth["label"])} for truth in truths]
    predictions = [
        row | {"label": "9" if rng.random() < 0.2 else str(row["label"]), "score": float(score)}
        for row, score in zip(predictions, rng.permutation(len(predictions)) + 1.0, strict=True)
    ]
    lacking = [[name for name in [*names, "9"] if rng.random() < 0.3] for _ in range(images)]
    return (images, classes, truths, predictions), lacking


def challenge_ap(scene: Any, lacking: list[list[str]], iou: float) -> dict[str, float]:
    """AP of every label that has ground truth."""
    images, _, truths, predictions = scene
    truths = [truth | {"label": label} for truth in truths for label in _above(truth["label"])]
    below, count = defaultdict(set), Counter(truth["label"] for truth in truths)
    for label in {row["label"] for row in (*truths, *predictions)} | {*PARENTS, *PARENTS.values()}:
        for ancestor in _above(label):
            below[ancestor].add(label)
    own, boxes, found = defaultdict(lambda: defaultdict(list)), defaultdict(list), defaultdict(list)
    for truth in truths:
        own[truth["image"]][truth["label"]].append(truth)
    for row in predictions:
        boxes[row["image"], row["label"]].append(row)
    for image in range(images):
        for label in own[image].keys() | set().union(*(below[absent] for absent in lacking[image])):
            found[label] += _image(boxes[image, label], own[image][label], iou)
    return {label: _area(sorted(found[label], reverse=True), number) for label, number in count.items()}


def _above(label: str) -> list[str]:
    return [label, *(_above(PARENTS[label]) if label in PARENTS else [])]


def _image(predictions: Any, truths: Any, iou: float) -> list[tuple[float, int]]:
    """Score and whether it is right of each prediction of one image and label that counts."""
    predictions = sorted(predictions, key=lambda row: -row["score"])
    single, groups = ([truth for truth in truths if truth["crowd"] == crowd] for crowd in (False, True))
    boxes = np.array([row["box"] for row in predictions]).reshape(-1, 4)
    overlap = box_iou(boxes, np.array([truth["box"] for truth in single]).reshape(-1, 4))
    inside = box_iou(boxes, np.array([g["box"] for g in groups]).reshape(-1, 4), np.ones(len(groups), bool))
    right, taken = [False] * len(predictions), set()
    for place in range(len(predictions)):
        if single:
            best = int(overlap[place].argmax())
            if overlap[place, best] >= iou and best not in taken:
                right[place] = True
                taken.add(best)
    in_group = defaultdict(list)
    for place in range(len(predictions)):
        if groups and not right[place]:
            best = int(inside[place].argmax())
            if inside[place, best] >= iou:
                in_group[best].append(place)
    absorbed = {place for places in in_group.values() for place in places}
    result = [(row["score"], int(right[place])) for place, row in enumerate(predictions) if place not in absorbed]
    return result + [(max(predictions[place]["score"] for place in places), 1) for places in in_group.values()]


def _area(ranked: list[tuple[float, int]], number: int) -> float:
    right = np.cumsum([hit for _, hit in ranked])
    precision = right / np.arange(1, len(ranked) + 1)
    recall = np.concatenate([[0], right / number, [1]])
    envelope = np.maximum.accumulate(np.concatenate([[0], precision, [0]])[::-1])[::-1]
    return float((np.diff(recall) * envelope[1:]).sum())
