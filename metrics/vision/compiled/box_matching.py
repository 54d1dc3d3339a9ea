"""Pairs of predictions and ground truths that overlap, and the greedy matching of them."""

import numpy as np

from metrics.core.array_types import Bytes, Floats, Int32s
from metrics.vision.compiled.jit import compiled
from metrics.vision.compiled.match_states import ASIDE, RIGHT, WRONG


@compiled
def box_pairs(
    prediction_order: Int32s,
    prediction_image: Int32s,
    prediction_class: Int32s,
    prediction_box: Floats,
    truth_order: Int32s,
    truth_image: Int32s,
    truth_class: Int32s,
    truth_box: Floats,
    crowd: Bytes,
    floor: float,
) -> tuple[Int32s, Int32s, Int32s, Floats]:
    """Return the predictions with a ground truth of their image and class at IoU ≥ floor, and those ground truths.

    Both orders are by image, class. Returns (prediction [E], start [E + 1], truth [P], iou [P]): the candidates of
    prediction[e] are start[e] … start[e + 1]−1, in the order of truth_order.
    """
    n, m = len(prediction_order), len(truth_order)
    left, top, right, bottom = np.empty(m), np.empty(m), np.empty(m), np.empty(m)
    for j in range(m):
        g = truth_box[truth_order[j]]
        left[j], top[j], right[j], bottom[j] = g[0], g[1], g[2] + g[0], g[3] + g[1]
        if right[j] <= left[j] or bottom[j] <= top[j]:
            left[j] = np.inf  # overlaps nothing
    prediction = np.empty(n, np.int32)
    start = np.empty(n + 1, np.int32)
    size = max(16, 2 * m)
    truth, iou = np.empty(size, np.int32), np.empty(size, np.float64)
    start[0] = events = pairs = 0
    first = last = 0  # the ground truths of the current image and class
    image = kind = -1
    for i in range(n):
        row = prediction_order[i]
        if prediction_class[row] != kind or prediction_image[row] != image:
            kind, image = prediction_class[row], prediction_image[row]
            first = last
            while first < m:
                other = truth_order[first]
                if truth_image[other] > image or (truth_image[other] == image and truth_class[other] >= kind):
                    break
                first += 1
            last = first
            while last < m and truth_class[truth_order[last]] == kind and truth_image[truth_order[last]] == image:
                last += 1
        if first == last:
            continue
        d = prediction_box[row]
        x, y, x2, y2, own = d[0], d[1], d[2] + d[0], d[3] + d[1], d[2] * d[3]
        solid = x2 > x and y2 > y
        begin = pairs
        for j in range(first, last):
            # one test without branches: most boxes of an image do not touch
            if not (solid & (x2 > left[j]) & (right[j] > x) & (y2 > top[j]) & (bottom[j] > y)) and floor > 0:
                continue
            other = truth_order[j]
            across = min(x2, right[j]) - max(x, left[j])
            down = min(y2, bottom[j]) - max(y, top[j])
            value = 0.0
            if across > 0 and down > 0:
                overlap = across * down
                union = own if crowd[other] else own + truth_box[other, 2] * truth_box[other, 3] - overlap
                value = overlap / union
            if value >= floor:
                if pairs == size:
                    truth = np.concatenate((truth, np.empty(size, np.int32)))
                    iou = np.concatenate((iou, np.empty(size, np.float64)))
                    size *= 2
                truth[pairs] = other
                iou[pairs] = value
                pairs += 1
        if pairs > begin:
            prediction[events] = row
            events += 1
            start[events] = pairs
    return prediction[:events].copy(), start[: events + 1].copy(), truth[:pairs].copy(), iou[:pairs].copy()


@compiled
def greedy(
    start: Int32s,
    truth: Int32s,
    iou: Floats,
    thresholds: Floats,
    truth_ignored: Bytes,
    crowd: Bytes,
    outside: Bytes,
    first: int,
    matched: Int32s,
    state: Bytes,
) -> None:
    """Match E predictions of `box_pairs` in their order (best score first within image and class).

    start: [E + 1] of those from place `first` on; truth_ignored: [A, G]; outside: [A, all], 1 where the prediction's
    area is out of the range. Fills the matched truth or −1, and the state (WRONG, RIGHT, ASIDE), each [E, A, T].
    """
    events, areas, count = len(start) - 1, len(truth_ignored), len(thresholds)
    matched[:] = -1
    taken = np.zeros((truth_ignored.shape[1], areas, count), np.uint8)
    for e in range(events):
        for a in range(areas):
            unmatched = ASIDE if outside[a, first + e] else WRONG
            for t in range(count):
                best = spare = thresholds[t]
                match = fallback = -1  # the last of the best wins; an ignored one only where there is no other
                for pair in range(start[e], start[e + 1]):
                    g = truth[pair]
                    if taken[g, a, t] and not crowd[g]:
                        continue
                    if truth_ignored[a, g]:
                        if iou[pair] >= spare:
                            spare = iou[pair]
                            fallback = g
                    elif iou[pair] >= best:
                        best = iou[pair]
                        match = g
                if match >= 0:
                    state[e, a, t] = RIGHT
                elif fallback >= 0:
                    match = fallback
                    state[e, a, t] = ASIDE
                else:
                    state[e, a, t] = unmatched
                    continue
                matched[e, a, t] = match
                taken[match, a, t] = 1


@compiled
def claim(
    start: Int32s,
    truth: Int32s,
    iou: Floats,
    thresholds: Floats,
    truth_ignored: Bytes,
    crowd: Bytes,
    outside: Bytes,
    first: int,
    matched: Int32s,
    state: Bytes,
) -> None:
    """Match as Pascal VOC and Open Images do; arguments as in `greedy`.

    Each prediction claims the ground truth of the highest IoU, the first of equal ones, taken or not. It is RIGHT where
    that is free, ASIDE where that is ignored. What is neither, and lies inside a crowd that is not ignored, is RIGHT
    where the crowd is free and ASIDE where it is taken.
    """
    events, areas, count = len(start) - 1, len(truth_ignored), len(thresholds)
    matched[:] = -1
    taken = np.zeros((truth_ignored.shape[1], areas, count), np.uint8)
    for e in range(events):
        for a in range(areas):
            for t in range(count):
                own = around = -1
                best = most = 0.0
                for pair in range(start[e], start[e + 1]):
                    g = truth[pair]
                    if iou[pair] < thresholds[t]:
                        continue
                    if crowd[g]:
                        if iou[pair] > most:
                            most = iou[pair]
                            around = g
                    elif iou[pair] > best:
                        best = iou[pair]
                        own = g
                state[e, a, t] = ASIDE if outside[a, first + e] else WRONG
                if own >= 0 and truth_ignored[a, own]:
                    state[e, a, t] = ASIDE
                    matched[e, a, t] = own
                elif own >= 0 and not taken[own, a, t]:
                    state[e, a, t] = RIGHT
                    matched[e, a, t] = own
                    taken[own, a, t] = 1
                elif around >= 0:
                    free = not truth_ignored[a, around] and not taken[around, a, t]
                    state[e, a, t] = RIGHT if free else ASIDE
                    matched[e, a, t] = around
                    taken[around, a, t] = 1


@compiled
def any_class_candidates(
    order: Int32s,
    event_of: Int32s,
    start: Int32s,
    truth: Int32s,
    iou: Floats,
    prediction_class: Int32s,
    truth_class: Int32s,
    crowd: Bytes,
    floor: float,
) -> tuple[Int32s, Int32s, Int32s, Floats]:
    """Return the pairs at IoU ≥ floor of the predictions in `order`, in the form of `box_pairs`, without other crowds.

    event_of: [N] the place of a prediction in the pairs of any classes (start, truth, iou), −1 for none. Candidates
    come last that are of the prediction's class; else by row.
    """
    prediction, first = np.empty_like(order), np.empty(len(order) + 1, np.int32)
    chosen, overlap = np.empty_like(truth), np.empty_like(iou)
    first[0] = events = pairs = 0
    for row in order:
        e = event_of[row]
        if e < 0:
            continue
        begin = pairs
        for pair in range(start[e], start[e + 1]):
            g = truth[pair]
            own = truth_class[g] == prediction_class[row]
            if iou[pair] < floor or (crowd[g] and not own):
                continue
            place = pairs
            while place > begin:
                before = chosen[place - 1]
                known = truth_class[before] == prediction_class[row]
                if known < own or (known == own and before < g):
                    break
                chosen[place], overlap[place] = before, overlap[place - 1]
                place -= 1
            chosen[place], overlap[place] = g, iou[pair]
            pairs += 1
        if pairs > begin:
            prediction[events] = row
            events += 1
            first[events] = pairs
    return prediction[:events].copy(), first[: events + 1].copy(), chosen[:pairs].copy(), overlap[:pairs].copy()
