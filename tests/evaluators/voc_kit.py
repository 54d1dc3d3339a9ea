"""Pascal VOC's average precision by its development kit's definition, one prediction after the other."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np


def voc_iou(one: Sequence[float], other: Sequence[float], inclusive: bool = True) -> float:
    """IoU of two boxes x, y, width, height; inclusive: they end at their last pixel."""
    last = float(inclusive)
    across = min(one[0] + one[2], other[0] + other[2]) - max(one[0], other[0]) + last
    down = min(one[1] + one[3], other[1] + other[3]) - max(one[1], other[1]) + last
    if across <= 0 or down <= 0:
        return 0.0
    areas = [(box[2] + last) * (box[3] + last) for box in (one, other)]
    return across * down / (sum(areas) - across * down)


def voc_eval(
    truths: Sequence[dict[str, Any]],
    predictions: Sequence[dict[str, Any]],
    overlap: Callable[[Any, Any], float],
    iou: float,
    eleven: bool,
) -> float | None:
    """AP of one label; None without ground truth. Truths have image, box and difficult."""
    by_image = defaultdict(list)
    for truth in truths:
        by_image[truth["image"]].append(truth | {"found": False})
    positives = sum(not truth["difficult"] for truth in truths)
    if not positives:
        return None
    right, wrong = [], []
    for row in sorted(predictions, key=lambda row: (-row["score"], row["image"])):
        best, claimed = -np.inf, {"difficult": False, "found": True}
        for truth in by_image[row["image"]]:
            value = overlap(row["box"], truth["box"])
            if value > best:
                best, claimed = value, truth
        hit = best >= iou
        if hit and claimed["difficult"]:
            continue
        right.append(int(hit and not claimed["found"]))
        wrong.append(1 - right[-1])
        if hit:
            claimed["found"] = True
    tp, fp = np.cumsum(right), np.cumsum(wrong)
    recall, precision = tp / positives, tp / np.maximum(tp + fp, 1)
    if eleven:
        points = [precision[recall >= at / 10].max(initial=0.0) for at in range(11)]
        return float(np.mean(points))
    recall, precision = np.concatenate([[0], recall, [1]]), np.concatenate([[0], precision, [0]])
    envelope = np.maximum.accumulate(precision[::-1])[::-1]
    steps = np.flatnonzero(recall[1:] != recall[:-1]) + 1
    return float(((recall[steps] - recall[steps - 1]) * envelope[steps]).sum())
