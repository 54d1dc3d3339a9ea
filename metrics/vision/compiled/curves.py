"""Precision and recall along the ranked predictions, of the data set and of its resamples."""

import numpy as np
from numpy.typing import NDArray

from metrics.core.array_types import Bytes, Floats, Int32s, Ints
from metrics.vision.compiled.jit import compiled, int64
from metrics.vision.compiled.match_states import ASIDE, RIGHT, WRONG

EPSILON = float(np.spacing(1))  # pycocotools adds it to the denominator of precision
ADDED = 256  # weights whose sum fits into 16 bits


@compiled
def select(
    class_starts: Ints,
    image: Int32s,
    rank: Int32s,
    score: Floats,
    outside: Bytes,
    event: Int32s,
    state: Bytes,
    area: int,
    limit: int,
    lowest: float,
) -> tuple[Int32s, Ints, Int32s, Floats, Int32s, Bytes, Ints]:
    """Return the predictions that count for one area range and maxDets, in the form that curves need.

    The columns (image, rank, score, outside, event) are by class and descending score; event is −1 without candidates.
    Most predictions match nothing at any threshold: of these only the images are kept, and only before the last event
    of the class. Returns (miss_image, miss_starts [K + 1], event_image, event_score, misses_before, event_state [T, S],
    event_starts [K + 1]); misses_before counts the class's misses that outscore the event.
    """
    classes, thresholds = len(class_starts) - 1, state.shape[2]
    miss_image = np.empty(len(score), np.int32)
    size = len(state)
    event_image, event_score = np.empty(size, np.int32), np.empty(size, np.float64)
    before, states = np.empty(size, np.int32), np.empty((thresholds, size), np.uint8)
    miss_starts, event_starts = np.zeros(classes + 1, np.int64), np.zeros(classes + 1, np.int64)
    misses = events = 0
    for k in range(classes):
        first = kept = misses
        for i in range(class_starts[k], class_starts[k + 1]):
            if rank[i] >= limit:
                continue
            if score[i] < lowest:
                break
            e = event[i]
            if e < 0:
                miss_image[misses] = image[i]
                misses += 1 - outside[i]
                continue
            counts = False
            for t in range(thresholds):
                states[t, events] = state[e, area, t]
                counts |= state[e, area, t] != ASIDE
            if counts:
                event_image[events] = image[i]
                event_score[events] = score[i]
                before[events] = misses - first
                kept = misses
                events += 1
        misses = kept
        miss_starts[k + 1], event_starts[k + 1] = misses, events
    return (
        miss_image[:misses].copy(), miss_starts, event_image[:events].copy(), event_score[:events].copy(),
        before[:events].copy(), states[:, :events].copy(), event_starts,
    )  # fmt: skip


@compiled
def _needed(truths: np.int64, recall: float) -> int:
    """Return the least number of true positives whose recall reaches `recall`, 1 for recall 0.

    With c = ⌊recall · truths⌋ as computed, c − 1 is too few and c + 1 enough, however the product was rounded.
    """
    count = int64(recall * truths)
    if count / truths < recall:
        count += 1
    return max(count, int64(1))


@compiled
def _climb(states: Bytes, misses: Int32s, hits: Ints, precision: Floats, event: Int32s) -> int:
    """Fill precision and true positives so far at each true positive, best score first; return how many there are."""
    wrong = count = int64(0)
    for i in range(len(states)):
        if states[i] == RIGHT:
            hits[count] = count + 1
            precision[count] = (count + 1) / (wrong + misses[i] + count + 1 + EPSILON)
            event[count] = i
            count += 1
        elif states[i] == WRONG:
            wrong += 1
    return count


@compiled
def _interpolate(count: int, hits: Ints, precision: Floats, needed: Ints, best: Floats, reached_at: Int32s) -> int:
    """Fill the largest precision at and beyond each recall that the `count` true positives reach, and which reaches it.

    Returns how many recalls are reached.
    """
    reached = len(needed) if count else 0
    while reached and needed[reached - 1] > hits[count - 1]:
        reached -= 1
    highest, r = 0.0, reached - 1
    for i in range(count - 1, -1, -1):
        highest = max(highest, precision[i])
        lower = hits[i - 1] if i else 0
        while r >= 0 and needed[r] > lower:
            best[r] = highest
            reached_at[r] = i
            r -= 1
    return reached


@compiled
def curves(
    before: Int32s,
    event_score: Floats,
    states: Bytes,
    event_starts: Ints,
    first_score: Floats,
    truths: Ints,
    recalls: Floats,
    precision_out: Floats,
    score_out: Floats,
) -> None:
    """Fill interpolated precision and its score [K, T, R]; classes without truths stay."""
    needed, reached_at = np.empty(len(recalls), np.int64), np.empty(len(recalls), np.int32)
    most = 0
    for k in range(len(truths)):
        most = max(most, event_starts[k + 1] - event_starts[k])
    hits, precision, event = np.empty(most, np.int64), np.empty(most, np.float64), np.empty(most, np.int32)
    for k in range(len(truths)):
        if not truths[k]:
            continue
        for r in range(len(recalls)):
            needed[r] = _needed(truths[k], recalls[r])
        begin, end = event_starts[k], event_starts[k + 1]
        for t in range(len(states)):
            count = _climb(states[t, begin:end], before[begin:end], hits, precision, event)
            reached = _interpolate(count, hits, precision, needed, precision_out[k, t], reached_at)
            for r in range(len(recalls)):
                if r >= reached:
                    precision_out[k, t, r] = 0.0
                score_out[k, t, r] = event_score[begin + event[reached_at[r]]] if r < reached else 0.0
                if recalls[r] <= 0:
                    score_out[k, t, r] = first_score[k]


@compiled
def averages(
    before: Int32s,
    states: Bytes,
    event_starts: Ints,
    truths: Ints,
    recalls: Floats,
    precision_out: Floats,
    recall_out: Floats,
) -> None:
    """Fill AP and recall [K, T] of the data set itself, to the last bit those of `resampled`; NaN without truths.

    Without `recalls` AP is the area under the interpolated curve: the mean over truths of the precision at and beyond.
    """
    classes = len(truths)
    needed, reached_at, best = (
        np.empty(len(recalls), np.int64),
        np.empty(len(recalls), np.int32),
        np.empty(len(recalls)),
    )
    most = int64(0)
    for k in range(classes):
        most = max(most, event_starts[k + 1] - event_starts[k])
    hits, precision, event = np.empty(most, np.int64), np.empty(most, np.float64), np.empty(most, np.int32)
    for k in range(classes):
        begin, end = event_starts[k], event_starts[k + 1]
        for r in range(len(recalls)):
            needed[r] = _needed(max(truths[k], np.int64(1)), recalls[r])
        for t in range(len(states)):
            count = _climb(states[t, begin:end], before[begin:end], hits, precision, event)
            total = highest = 0.0
            if len(recalls):
                for r in range(_interpolate(count, hits, precision, needed, best, reached_at) - 1, -1, -1):
                    total += best[r]
            else:
                for i in range(count - 1, -1, -1):
                    highest = max(highest, precision[i])
                    total += highest
            precision_out[k, t] = total / (len(recalls) or truths[k]) if truths[k] else np.nan
            recall_out[k, t] = count / truths[k] if truths[k] else np.nan


@compiled
def _add(images: Int32s, first: int, last: int, weights: Bytes, some: NDArray[np.uint16], counts: Int32s) -> None:
    """Add to `counts` [L] how often images[first:last] occur; `some` [L] holds sums on the way, which are quicker."""
    lanes = len(counts)
    while first < last:
        stop = min(last, first + ADDED)
        for b in range(lanes):
            some[b] = 0
        for i in range(first, stop):
            image = images[i]
            for b in range(lanes):
                some[b] += weights[image, b]
        for b in range(lanes):
            counts[b] += some[b]
        first = stop


@compiled
def _levels(truths: Int32s, recalls: Floats, levels: Bytes) -> None:
    """Fill how many of `recalls` so many true positives reach [L, most + 1], in data sets of so many `truths` [L]."""
    for b in range(len(truths)):
        for right in range(levels.shape[1]):
            levels[b, right] = 0
        for r in range(len(recalls)):
            levels[b, _needed(max(np.int64(truths[b]), np.int64(1)), recalls[r])] += 1
        for right in range(1, levels.shape[1]):
            levels[b, right] += levels[b, right - 1]


@compiled
def resampled(
    miss_image: Int32s,
    miss_starts: Ints,
    event_image: Int32s,
    before: Int32s,
    states: Bytes,
    event_starts: Ints,
    truth_image: Int32s,
    truth_starts: Ints,
    recalls: Floats,
    weights: Bytes,
    precision: int,
    precision_out: Floats,
    recall_out: Floats,
) -> None:
    """Fill AP and recall [L, K, T] of L data sets in which image i occurs weights[i, l] times; NaN without truths.

    AP only where `precision` is not 0; without `recalls` as `averages` has it. Every step is for all L data sets, as
    processors take many at once. Twice along the events of a class: forwards to count, backwards for the largest
    precision at and beyond each true positive. Where an event is not in a data set, the precision at it is at most that
    at the true positive before, so it may count there too.
    """
    lanes, thresholds = weights.shape[1], len(states)
    truths, seen_now, some = np.empty(lanes, np.int32), np.empty(lanes, np.int32), np.empty(lanes, np.uint16)
    hits, aside = np.empty((thresholds, lanes), np.int32), np.empty((thresholds, lanes), np.int32)
    level, lower = np.empty((thresholds, lanes), np.uint8), np.empty(lanes, np.uint8)
    gained = np.empty(lanes, np.uint8)
    best, total = np.empty((thresholds, lanes)), np.empty((thresholds, lanes))
    for k in range(len(event_starts) - 1):
        for b in range(lanes):
            truths[b] = seen_now[b] = 0
        for t in range(thresholds):
            for b in range(lanes):
                hits[t, b] = aside[t, b] = 0
                best[t, b] = total[t, b] = 0.0
        _add(truth_image, truth_starts[k], truth_starts[k + 1], weights, some, truths)
        begin, end, miss = event_starts[k], event_starts[k + 1], miss_starts[k]
        seen = np.empty((end - begin if precision else 0, lanes), np.int32)
        for i in range(begin, end):
            if precision:
                stop = miss_starts[k] + before[i]
                _add(miss_image, miss, stop, weights, some, seen_now)
                _add(event_image, i, i + 1, weights, some, seen_now)
                miss = stop
                for b in range(lanes):
                    seen[i - begin, b] = seen_now[b]
            image = event_image[i]
            for t in range(thresholds):
                if states[t, i] == RIGHT:
                    for b in range(lanes):
                        hits[t, b] += weights[image, b]
                elif states[t, i] == ASIDE:
                    for b in range(lanes):
                        aside[t, b] += weights[image, b]
        most = np.int64(1)
        for b in range(lanes):
            most = max(most, np.int64(truths[b]))
            for t in range(thresholds):
                most = max(most, np.int64(hits[t, b]))
                recall_out[b, k, t] = hits[t, b] / truths[b] if truths[b] else np.nan
        if not precision:
            continue
        levels = np.empty((lanes, most + 1), np.uint8)
        _levels(truths, recalls, levels)
        for t in range(thresholds):
            for b in range(lanes):
                level[t, b] = levels[b, hits[t, b]]
        for i in range(end - 1, begin - 1, -1):
            image = event_image[i]
            for t in range(thresholds):
                if states[t, i] == RIGHT:
                    for b in range(lanes):
                        made = np.int32(seen[i - begin, b] - aside[t, b])
                        here = hits[t, b] / (made + EPSILON)
                        best[t, b] = here if here > best[t, b] else best[t, b]
                    gains = np.uint8(0)
                    for b in range(lanes):
                        hits[t, b] -= weights[image, b]
                    for b in range(lanes):  # apart: the only step that processors take one by one
                        lower[b] = levels[b, hits[t, b]]
                    for b in range(lanes):
                        gained[b] = level[t, b] - lower[b]
                        level[t, b] = lower[b]
                        gains = gained[b] if gained[b] > gains else gains
                    for gain in range(gains):
                        for b in range(lanes):
                            total[t, b] += best[t, b] if gained[b] > gain else 0.0
                    if not len(recalls):
                        for b in range(lanes):
                            total[t, b] += best[t, b] * weights[image, b]
                elif states[t, i] == ASIDE:
                    for b in range(lanes):
                        aside[t, b] -= weights[image, b]
        for b in range(lanes):
            for t in range(thresholds):
                precision_out[b, k, t] = total[t, b] / (len(recalls) or truths[b]) if truths[b] else np.nan
