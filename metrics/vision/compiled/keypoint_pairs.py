"""Pairs of predicted and true key points of one image, and their similarity."""

import math

import numpy as np

from metrics.core.array_types import Floats, Int32s, Ints
from metrics.vision.compiled.jit import compiled

SMALLEST = float(np.spacing(1))  # added to an area, as pycocotools does, so that none is 0


@compiled
def keypoint_pairs(
    prediction_order: Int32s,
    prediction_image: Int32s,
    truth_order: Int32s,
    truth_image: Int32s,
    truth_class: Int32s,
    points: Floats,
    start: Ints,
    truth_points: Floats,
    truth_start: Ints,
    truth_box: Floats,
    truth_area: Floats,
    sigma: Floats,
    sigma_start: Ints,
    floor: float,
) -> tuple[Int32s, Ints, Int32s, Floats]:
    """Return the pairs of the same image, of any classes, whose OKS is at least `floor`.

    Both orders are by image. Key points are x y v …: those of prediction i are points[start[i] : start[i + 1]]; the
    constants of class k are sigma[sigma_start[k] : sigma_start[k + 1]], and only a prediction of as many key points is
    compared with a ground truth of that class. Returns (prediction [E], start [E + 1], truth [P], oks [P]).
    """
    n, m = len(prediction_order), len(truth_order)
    prediction, first = np.empty(n, np.int32), np.empty(n + 1, np.int64)
    size = max(16, 2 * m)
    truth, oks = np.empty(size, np.int32), np.empty(size, np.float64)
    first[0] = events = pairs = begin = 0
    for i in range(n):
        row = prediction_order[i]
        image = prediction_image[row]
        while begin < m and truth_image[truth_order[begin]] < image:
            begin += 1
        known = pairs
        p, count = start[row], (start[row + 1] - start[row]) // 3
        for j in range(begin, m):
            other = truth_order[j]
            if truth_image[other] != image:
                break
            s = sigma_start[truth_class[other]]
            if count == 0 or sigma_start[truth_class[other] + 1] - s != count:
                continue
            t = truth_start[other]
            labelled = 0
            if truth_start[other + 1] > t:
                for k in range(count):
                    labelled += truth_points[t + 3 * k + 2] > 0
            left, right = truth_box[other, 0] - truth_box[other, 2], truth_box[other, 0] + 2 * truth_box[other, 2]
            top, bottom = truth_box[other, 1] - truth_box[other, 3], truth_box[other, 1] + 2 * truth_box[other, 3]
            total = 0.0
            for k in range(count):
                x, y = points[p + 3 * k], points[p + 3 * k + 1]
                if labelled:
                    if not truth_points[t + 3 * k + 2] > 0:
                        continue
                    across, down = x - truth_points[t + 3 * k], y - truth_points[t + 3 * k + 1]
                else:  # as far as they are outside three times the box
                    across = max(0.0, left - x) + max(0.0, x - right)
                    down = max(0.0, top - y) + max(0.0, y - bottom)
                variance = (2 * sigma[s + k]) ** 2
                total += math.exp(-((across**2 + down**2) / variance / (truth_area[other] + SMALLEST) / 2))
            value = total / (labelled if labelled else count)
            if value >= floor:
                if pairs == size:
                    truth = np.concatenate((truth, np.empty(size, np.int32)))
                    oks = np.concatenate((oks, np.empty(size, np.float64)))
                    size *= 2
                truth[pairs] = other
                oks[pairs] = value
                pairs += 1
        if pairs > known:
            prediction[events] = row
            events += 1
            first[events] = pairs
    return prediction[:events].copy(), first[: events + 1].copy(), truth[:pairs].copy(), oks[:pairs].copy()
