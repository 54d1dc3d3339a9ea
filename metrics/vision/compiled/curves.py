"""Precision and recall along the ranked predictions, of the data set and of its resamples."""

import numpy as np

from metrics.core.array_types import Bytes, Floats, Int32s, Ints
from metrics.vision.compiled.jit import compiled
from metrics.vision.compiled.match_states import ASIDE, RIGHT, WRONG

EPSILON = float(np.spacing(1))  # pycocotools adds it to the denominator of precision


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
def _needed(truths: np.int64, recalls: Floats, needed: Ints) -> None:
    """Fill the least number of true positives whose recall reaches each of `recalls` (1 for recall 0: the first)."""
    for r in range(len(recalls)):
        count = np.int64(recalls[r] * truths)
        while count / truths < recalls[r]:
            count += 1
        while count > 0 and (count - 1) / truths >= recalls[r]:
            count -= 1
        needed[r] = count if count > 1 else 1


@compiled
def _climb(states: Bytes, weights: Int32s, misses: Int32s, hits: Ints, precision: Floats, event: Int32s) -> int:
    """Fill precision and true positives so far at each true positive, best score first; return how many there are."""
    right = wrong = np.int64(0)
    count = 0
    for i in range(len(states)):
        if states[i] == RIGHT:
            if weights[i]:
                right += weights[i]
                hits[count] = right
                precision[count] = right / (wrong + misses[i] + right + EPSILON)
                event[count] = i
                count += 1
        elif states[i] == WRONG:
            wrong += weights[i]
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
    ones = np.ones(most, np.int32)
    hits, precision, event = np.empty(most, np.int64), np.empty(most, np.float64), np.empty(most, np.int32)
    for k in range(len(truths)):
        if not truths[k]:
            continue
        _needed(truths[k], recalls, needed)
        begin, end = event_starts[k], event_starts[k + 1]
        for t in range(len(states)):
            count = _climb(states[t, begin:end], ones, before[begin:end], hits, precision, event)
            reached = _interpolate(count, hits, precision, needed, precision_out[k, t], reached_at)
            for r in range(len(recalls)):
                if r >= reached:
                    precision_out[k, t, r] = 0.0
                score_out[k, t, r] = event_score[begin + event[reached_at[r]]] if r < reached else 0.0
                if recalls[r] <= 0:
                    score_out[k, t, r] = first_score[k]


@compiled
def resampled_recall(
    event_image: Int32s,
    states: Bytes,
    event_starts: Ints,
    truth_image: Int32s,
    truth_starts: Ints,
    weights: Bytes,
    recall_out: Floats,
) -> None:
    """Fill recall [B, K, T] for B data sets in which image i occurs weights[b, i] times; NaN without truths."""
    here = np.empty(len(event_image), np.int32)
    for b in range(len(weights)):
        weight = weights[b]
        for i in range(len(event_image)):
            here[i] = weight[event_image[i]]
        for k in range(len(event_starts) - 1):
            truths = np.int64(0)
            for j in range(truth_starts[k], truth_starts[k + 1]):
                truths += weight[truth_image[j]]
            for t in range(len(states)):
                right = np.int32(0)
                for i in range(event_starts[k], event_starts[k + 1]):
                    right += here[i] * np.int32(states[t, i] == RIGHT)
                recall_out[b, k, t] = right / truths if truths else np.nan


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
    precision_out: Floats,
    recall_out: Floats,
) -> None:
    """Fill AP and recall [B, K, T] for B data sets in which image i occurs weights[b, i] times; NaN without truths."""
    needed, reached_at = np.empty(len(recalls), np.int64), np.empty(len(recalls), np.int32)
    best = np.empty(len(recalls))
    most = 0
    for k in range(len(event_starts) - 1):
        most = max(most, event_starts[k + 1] - event_starts[k])
    here, misses = np.empty(most, np.int32), np.empty(most, np.int32)
    hits, precision, event = np.empty(most, np.int64), np.empty(most, np.float64), np.empty(most, np.int32)
    for b in range(len(weights)):
        weight = weights[b]
        for k in range(len(event_starts) - 1):
            truths = np.int64(0)
            for j in range(truth_starts[k], truth_starts[k + 1]):
                truths += weight[truth_image[j]]
            if truths == 0:
                precision_out[b, k, :] = np.nan
                recall_out[b, k, :] = np.nan
                continue
            _needed(truths, recalls, needed)
            begin, size = event_starts[k], event_starts[k + 1] - event_starts[k]
            wrong, miss = np.int32(0), miss_starts[k]
            for i in range(size):
                stop = miss_starts[k] + before[begin + i]
                while miss < stop:
                    wrong += weight[miss_image[miss]]
                    miss += 1
                misses[i] = wrong
                here[i] = weight[event_image[begin + i]]
            for t in range(len(states)):
                count = _climb(states[t, begin : begin + size], here[:size], misses[:size], hits, precision, event)
                recall_out[b, k, t] = hits[count - 1] / truths if count else 0.0
                total = 0.0
                for r in range(_interpolate(count, hits, precision, needed, best, reached_at) - 1, -1, -1):
                    total += best[r]
                precision_out[b, k, t] = total / len(recalls)
