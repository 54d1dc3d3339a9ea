"""Counts along ranked objects: which count at each score threshold, and what outscores what after a repair."""

import numpy as np

from metrics.core.array_types import Bytes, Floats, Int32s, Ints
from metrics.vision.compiled.jit import compiled


@compiled
def _reached(thresholds: Floats, value: float, guess: int) -> int:
    """Return how many of the rising thresholds are at most `value`; quick where `guess` is near."""
    while guess > 0 and thresholds[guess - 1] > value:
        guess -= 1
    while guess < len(thresholds) and thresholds[guess] <= value:
        guess += 1
    return guess


@compiled
def stand(label: Int32s, low: Floats, high: Floats, thresholds: Floats, labels: int, most: int) -> tuple[Ints, Ints]:
    """Return how many objects of each label count at each threshold, [L, T], and which come first, [L, T, `most`].

    Object i counts at the rising thresholds within low[i] < threshold ≤ high[i]. −1 where fewer than `most` count.
    """
    steps = len(thresholds)
    counts = np.zeros((labels, steps + 1), np.int64)
    chosen = np.full((labels, steps, most), -1, np.int64)
    held = np.zeros((labels, steps), np.int64)
    full = np.zeros(labels, np.int64)  # the steps before this one have as many as they may
    begin = end = 0
    for i in range(len(label)):
        k = label[i]
        begin, end = _reached(thresholds, low[i], begin), _reached(thresholds, high[i], end)
        if begin >= end:
            continue
        counts[k, begin] += 1
        counts[k, end] -= 1
        for step in range(max(begin, full[k]), end):
            if held[k, step] < most:
                chosen[k, step, held[k, step]] = i
                held[k, step] += 1
        while full[k] < steps and held[k, full[k]] >= most:
            full[k] += 1
    for k in range(labels):
        for step in range(1, steps):
            counts[k, step] += counts[k, step - 1]
    return counts[:, :steps], chosen


@compiled
def rank_right(
    by_score: Int32s, counts: Bytes, label: Int32s, right: Bytes, image: Int32s, classes: int
) -> tuple[Int32s, Ints, Int32s, Int32s, Ints]:
    """Return what is right and what is wrong among the predictions that count, by label, in the order of `by_score`.

    Returns (miss_image, miss_starts [K + 1], row, misses_before, row_starts [K + 1]): the images of the wrong ones, of
    each label as many as outscore its last right one; the right ones, and how many wrong ones of its label outscore it.
    """
    events, misses, kept = np.zeros(classes + 1, np.int64), np.zeros(classes, np.int64), np.zeros(classes + 1, np.int64)
    some, some_label, some_right = np.empty_like(by_score), np.empty_like(by_score), np.empty(len(by_score), np.uint8)
    size = 0  # of these columns, so that rows are looked up once
    for row in by_score:
        some[size], some_label[size], some_right[size] = row, label[row], right[row]
        if counts[row]:
            k = label[row]
            size += 1
            if right[row]:
                events[k + 1] += 1
                kept[k + 1] = misses[k]
            else:
                misses[k] += 1
    row_starts, miss_starts = np.zeros(classes + 1, np.int64), np.zeros(classes + 1, np.int64)
    for k in range(classes):
        row_starts[k + 1] = row_starts[k] + events[k + 1]
        miss_starts[k + 1] = miss_starts[k] + kept[k + 1]
    miss_image, before = np.empty(miss_starts[-1], np.int32), np.empty(row_starts[-1], np.int32)
    rows = np.empty(row_starts[-1], np.int32)
    next_row, next_miss = row_starts[:-1].copy(), miss_starts[:-1].copy()
    for i in range(size):
        k = some_label[i]
        if some_right[i]:
            rows[next_row[k]] = some[i]
            before[next_row[k]] = next_miss[k] - miss_starts[k]
            next_row[k] += 1
        elif next_miss[k] < miss_starts[k + 1]:
            miss_image[next_miss[k]] = image[some[i]]
            next_miss[k] += 1
    return miss_image, miss_starts, rows, before, row_starts
