"""Random LVIS data: boxes and masks in images that were checked for some classes; and LVIS's numbers, brute force."""

from collections import defaultdict
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from metrics.core.classes import ClassFacts
from metrics.core.suite import STRINGS, Outputs, Suite
from metrics.vision.boxes import box_iou
from metrics.vision.matching import AREAS, IOU_THRESHOLDS
from tests.evaluators.detected import suite_and_outputs
from tests.vision.coco_oracle import random_scene
from tests.vision.mask_oracle import Record, decoded, pixels, random_masks, rle_of

IMAGES = (10, 11, 101, 100)  # training images of classes, at the edges of LVIS's groups
RECALLS = np.linspace(0, 1, 101)
Checked = list[tuple[list[int], list[int]]]  # of each image the classes that it lacks, and those not exhaustive


def federated_scene(seed: int) -> tuple[Any, Checked]:
    """A random scene without crowds or objects of no area, which LVIS has not, and what its images were checked for."""
    images, classes, truths, predictions = random_scene(seed)
    truths = [truth | {"crowd": False} for truth in truths if truth["area"]]
    for row in predictions[::20]:
        row["box"][2] = 0.0
    return (images, classes, truths, predictions), _checked(seed, images, classes, truths)


def federated_masks(seed: int) -> tuple[Record, list[Record], Checked]:
    """Random masks as COCO records without crowds or objects of no area, compressed as lvis wants them of results."""
    truth, results = random_masks(seed)
    sizes = [(image["height"], image["width"]) for image in truth["images"]]
    kept = [record | {"iscrowd": 0} for record in truth["annotations"] if record["area"]]
    for record in results:
        shape = record["segmentation"]
        if isinstance(shape, list) or isinstance(shape["counts"], list):
            bitmap = _bitmap(shape, sizes[record["image_id"] - 1])
            size = list(bitmap.shape)
            record["segmentation"] = {"size": size, "counts": rle_of(bitmap, size)["counts"].decode()}
    truth |= {"annotations": kept}
    scene = mask_scene(truth, results)
    return truth, results, _checked(seed, *scene[:3])


def mask_scene(truth: Record, results: list[Record]) -> Any:
    """The records as a scene: objects have a bitmap in the place of a box."""
    sizes = [(image["height"], image["width"]) for image in truth["images"]]

    def flat(record: Record) -> dict[str, Any]:
        image = record["image_id"] - 1
        bitmap = _bitmap(record["segmentation"], sizes[image])
        return {"image": image, "label": record["category_id"] - 1, "bitmap": bitmap, "area": float(bitmap.sum())}

    truths = [flat(record) | {"area": record["area"]} for record in truth["annotations"]]
    return len(sizes), len(truth["categories"]), truths, [flat(row) | {"score": row["score"]} for row in results]


def with_lists(suite: Suite, checked: Checked) -> Suite:
    """The suite with the lists of its images and the frequencies of its classes."""
    cases = suite.cases
    for place, name in enumerate(("negative_labels", "not_exhaustive_labels")):
        lists = pa.array([[str(label) for label in lists[place]] for lists in checked], STRINGS)
        cases = cases.set_column(cases.schema.get_field_index(name), name, lists)
    facts = {label: ClassFacts(images=training_images(place)) for place, label in enumerate(suite.labels)}
    return replace(suite, cases=cases, classes=facts)


def training_images(label: int) -> int:
    return IMAGES[label % len(IMAGES)]


def federated_suite(scene: Any, checked: Checked) -> tuple[Suite, Outputs]:
    """The scene as a suite with the lists of its images and the frequencies of its classes."""
    suite, outputs = suite_and_outputs(scene)
    return with_lists(suite, checked), outputs


def lvis_numbers(scene: Any, checked: Checked, most: int) -> dict[str, float | None]:
    """LVIS's thirteen numbers by their definition, one image, label, threshold and area range after the other."""
    _, classes, truths, predictions = scene
    truths = [truth | {"place": place} for place, truth in enumerate(truths)]
    predictions = [
        {"area": row["box"][2] * row["box"][3] if "box" in row else None, **row, "overlaps": overlap}
        for row, overlap in zip(predictions, _overlaps(predictions, truths), strict=True)
    ]
    kept, count = [], defaultdict(int)
    for row in sorted(predictions, key=lambda row: -row["score"]):  # stable: ties keep the order of the file
        count[row["image"]] += 1
        if count[row["image"]] <= most:
            kept.append(row)
    shown = {(truth["image"], truth["label"]) for truth in truths}
    kept = [row for row in kept if (row["image"], row["label"]) in shown or row["label"] in checked[row["image"]][0]]
    kept = [row for row in kept if row["area"]]
    ap, ar = defaultdict(dict), defaultdict(dict)
    for label in range(classes):
        own = [truth for truth in truths if truth["label"] == label]
        found = sorted((row for row in kept if row["label"] == label), key=lambda row: (-row["score"], row["image"]))
        for area, bounds in AREAS.items():
            for iou in IOU_THRESHOLDS:
                ap[area, iou][label], ar[area, iou][label] = _curve(own, found, checked, bounds, iou)
    groups = {
        "APr": [label for label in range(classes) if training_images(label) <= 10],
        "APc": [label for label in range(classes) if 10 < training_images(label) <= 100],
        "APf": [label for label in range(classes) if training_images(label) > 100],
    }
    every = list(range(classes))
    return {
        "AP": _mean(ap, "all", every), "AP50": _mean(ap, "all", every, 0.5), "AP75": _mean(ap, "all", every, 0.75),
        **{f"AP{area[0]}": _mean(ap, area, every) for area in AREAS if area != "all"},
        **{name: _mean(ap, "all", labels) for name, labels in groups.items()},
        "AR": _mean(ar, "all", every),
        **{f"AR{area[0]}": _mean(ar, area, every) for area in AREAS if area != "all"},
    }  # fmt: skip


def _curve(own: Any, found: Any, checked: Checked, bounds: tuple[float, float], iou: float) -> tuple[float, float]:
    """AP and recall of one label; NaN without ground truth."""
    ignored = [not bounds[0] <= truth["area"] <= bounds[1] for truth in own]
    number = len(own) - sum(ignored)
    if not number:
        return np.nan, np.nan
    taken, marks = set(), []
    for row in found:
        best, match = min(iou, 1 - 1e-10), None
        for aside in (False, True):
            for place, truth in enumerate(own):
                if truth["image"] != row["image"] or place in taken or ignored[place] != aside:
                    continue
                overlap = row["overlaps"][truth["place"]]
                if overlap >= best:
                    best, match = overlap, place
            if match is not None:
                break
        if match is not None:
            taken.add(match)
            if not ignored[match]:
                marks.append(1)
        elif bounds[0] <= row["area"] <= bounds[1] and row["label"] not in checked[row["image"]][1]:
            marks.append(0)
    right = np.cumsum(marks)
    precision, recall = right / np.arange(1, len(marks) + 1), right / number
    reached = [precision[recall >= at].max() if (recall >= at).any() else 0.0 for at in RECALLS]
    return float(np.mean(reached)), float(recall[-1]) if marks else 0.0


def _mean(values: Any, area: str, labels: list[int], only: float | None = None) -> float | None:
    listed = [
        value
        for (of, iou), by_label in values.items()
        for label, value in by_label.items()
        if of == area and label in labels and (only is None or iou == only) and not np.isnan(value)
    ]
    return float(np.mean(listed)) if listed else None


def _overlaps(predictions: Any, truths: Any) -> list[list[float]]:
    """The IoU of each prediction with each ground truth of its image."""
    if any("box" in row for row in predictions):
        boxes = (np.array([row["box"] for row in rows]).reshape(-1, 4) for rows in (predictions, truths))
        return box_iou(*boxes).tolist()
    return [[_iou(row, truth) if row["image"] == truth["image"] else 0.0 for truth in truths] for row in predictions]


def _iou(one: Any, other: Any) -> float:
    shared = int((one["bitmap"] & other["bitmap"]).sum())
    return shared / max(int((one["bitmap"] | other["bitmap"]).sum()), 1)


def _bitmap(shape: Any, size: tuple[int, int]) -> Any:
    """The pixels of a COCO segmentation."""
    if isinstance(shape, dict):
        if isinstance(shape["counts"], str):
            return decoded(shape)
        ones = np.arange(len(shape["counts"])) % 2
        return np.repeat(ones, shape["counts"]).astype(np.uint8).reshape(shape["size"], order="F")
    return pixels(shape, size)


def _checked(seed: int, images: int, classes: int, truths: Any) -> Checked:
    rng = np.random.default_rng([seed, 1])
    checked: Checked = []
    for image in range(images):
        shown = {truth["label"] for truth in truths if truth["image"] == image}
        lacking = [label for label in range(classes) if label not in shown and rng.random() < 0.5]
        checked.append((lacking, [label for label in range(classes) if rng.random() < 0.2]))
    return checked
