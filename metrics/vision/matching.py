"""Matching of predictions to ground truths by COCO's greedy rule, for all IoU thresholds and area ranges at once."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike

from metrics.core.array_types import Bools, Bytes, Floats, Int32s
from metrics.vision.masks import starts
from metrics.vision.objects import Objects, Overlap

IOU_THRESHOLDS: tuple[float, ...] = tuple(np.linspace(0.5, 0.95, 10).tolist())
AREAS: dict[str, tuple[float, float]] = {
    "all": (0.0, 1e10), "small": (0.0, 32.0**2), "medium": (32.0**2, 96.0**2), "large": (96.0**2, 1e10),
}  # fmt: skip
LARGEST = 1 - 1e-10  # an IoU of 1 computed in floating point may fall this short
TOUCHING = float(np.finfo(np.float64).tiny)  # the least IoU of objects that overlap
WORTH_A_THREAD = 10_000  # predictions
SAME = 1e-9  # thresholds closer than this are one: the grid .5:.05:.95 holds 0.8999999999999999
Value = TypeVar("Value")


@dataclass(frozen=True, eq=False, slots=True)
class Pairs:
    """The candidates: predictions with ground truths of their image and class, and the IoU of each pair.

    `prediction` [E] in matching order (Objects.prediction_order); its candidates are `truth` and `iou` [P] from
    start[e] to start[e + 1]−1, in file order. Any geometry can make them; matching sees nothing else of it.
    """

    prediction: Int32s
    start: Int32s
    truth: Int32s
    iou: Floats


@dataclass(frozen=True, eq=False, slots=True)
class Matches:
    """What matching found for T IoU thresholds and A selections of the objects, such as area ranges.

    `matched` [E, A, T]: the ground truth's row or −1, for each prediction of `pairs`; `state` [E, A, T]: WRONG, RIGHT
    or ASIDE; `event_of` [N]: the place of a prediction in `pairs`, −1 where it has no candidate;
    `truth_ignored` [A, G]: crowds and what is out of the selection; `outside` [A, N]: predictions out of it, which are
    ignored unless they match.
    """

    thresholds: Floats
    pairs: Pairs
    matched: Int32s
    state: Bytes
    event_of: Int32s
    truth_ignored: Bools
    outside: Bools


def find_pairs(objects: Objects, floor: float, any_class: bool = False) -> Pairs:
    """Return the pairs of the same image and class, or of the same image, whose IoU is at least `floor`.

    Objects that are more than boxes are compared only where their boxes overlap.
    """
    from metrics.vision.compiled import box_matching

    prediction_class, truth_class = objects.prediction_class, objects.truth_class
    if any_class:
        prediction_class, truth_class = np.zeros_like(prediction_class), np.zeros_like(truth_class)

    def find(part: slice) -> Pairs:
        return Pairs(
            *box_matching.box_pairs(
                objects.prediction_order[part], objects.prediction_image, prediction_class, objects.prediction_box,
                objects.truth_order, objects.truth_image, truth_class, objects.truth_box,
                objects.crowd.view(np.uint8), floor if objects.overlap is None else min(floor, TOUCHING),
            )
        )  # fmt: skip

    parts = _share(find, _runs(objects.prediction_image[objects.prediction_order]))
    found = parts[0] if len(parts) == 1 else _joined(parts)
    return found if objects.overlap is None else _compared(found, objects.overlap, floor)


def _joined(parts: Sequence[Pairs]) -> Pairs:
    before = starts([len(part.truth) for part in parts])
    first = [part.start[:-1] + offset for part, offset in zip(parts, before[:-1], strict=True)]
    return Pairs(
        np.concatenate([part.prediction for part in parts]),
        np.concatenate([*first, before[-1:]]).astype(np.int32),
        np.concatenate([part.truth for part in parts]),
        np.concatenate([part.iou for part in parts]),
    )


def _runs(image: Int32s) -> list[slice]:
    """Return as many runs of ascending images as there are processors, of whole images and of about the same length."""
    count = max(1, min(os.cpu_count() or 1, len(image) // WORTH_A_THREAD))
    cuts = [np.searchsorted(image, image[len(image) * part // count]) for part in range(1, count)]
    ends = [0, *map(int, cuts), len(image)]
    return [slice(first, last) for first, last in pairwise(ends)]


def _share(work: Callable[[slice], Value], parts: Sequence[slice]) -> list[Value]:
    """Return what `work` returns for each part, in threads where there are several."""
    if len(parts) == 1:
        return [work(parts[0])]
    with ThreadPoolExecutor(len(parts)) as threads:
        return list(threads.map(work, parts))


def _compared(pairs: Pairs, overlap: Overlap, floor: float) -> Pairs:
    """Return the pairs whose IoU by `overlap` is at least `floor`."""
    prediction = np.repeat(pairs.prediction, np.diff(pairs.start))
    iou = overlap(prediction, pairs.truth, floor)
    kept = iou >= floor
    return _grouped(prediction[kept], pairs.truth[kept], iou[kept])


def _of_own_class(pairs: Pairs, objects: Objects, floor: float) -> Pairs:
    """Return the pairs of one class whose IoU is at least `floor`: those that `find_pairs` finds."""
    prediction = np.repeat(pairs.prediction, np.diff(pairs.start))
    kept = (pairs.iou >= floor) & (objects.prediction_class[prediction] == objects.truth_class[pairs.truth])
    return _grouped(prediction[kept], pairs.truth[kept], pairs.iou[kept])


def _grouped(prediction: Int32s, truth: Int32s, iou: Floats) -> Pairs:
    """Return pairs [P], those of one prediction next to each other, as Pairs."""
    first = np.flatnonzero(np.diff(prediction, prepend=-1))
    return Pairs(prediction[first], np.append(first, len(prediction)).astype(np.int32), truth, iou)


def match(
    objects: Objects,
    thresholds: Sequence[float] = IOU_THRESHOLDS,
    areas: Sequence[tuple[float, float]] = tuple(AREAS.values()),
    near: Pairs | None = None,
) -> Matches:
    """Match predictions to ground truths of their image and class, best score first (file order where scores tie).

    Each takes the free ground truth of the highest IoU at or above the threshold; of equal ones the last; an ignored
    one (crowd, or area out of the inclusive range) only where no other is left, and a crowd as often as asked. It is
    true positive, ignored, or false positive. There is no limit per image here: a prefix by `Objects.rank` gives the
    same matches, so one matching serves every maxDets. `near`: the pairs of one image and any classes where they are
    known, at a floor of at most any threshold. Source: pycocotools 2.0, `COCOeval.evaluateImg`.
    """
    return match_among(objects, thresholds, *by_area(objects, areas), near)


def by_area(
    objects: Objects, areas: Sequence[tuple[float, float]], ignored: Bools | None = None, spared: Bools | None = None
) -> tuple[Bools, Bools]:
    """Return for each area range which ground truths [A, G] and predictions [A, N] `match_among` leaves aside.

    Those out of the inclusive range, and everywhere `ignored` [G] (by default crowds) and `spared` [N] (none).
    """
    ranges = np.asarray(areas, np.float64).reshape(-1, 2)
    truths, predictions = _outside(objects.truth_area, ranges), _outside(objects.prediction_area, ranges)
    truths |= objects.crowd if ignored is None else ignored
    if spared is not None:
        predictions |= spared
    return truths, predictions


def match_among(
    objects: Objects,
    thresholds: Sequence[float],
    ignored: Bools,
    outside: Bools,
    near: Pairs | None = None,
    *,
    nearest: bool = False,
) -> Matches:
    """Match as `match` does, or `nearest` as `assign` has it, in A selections of the objects.

    ignored: [A, G] ground truths that neither reward nor punish; outside: [A, N] predictions that are ignored unless
    they match.
    """
    grid = np.minimum(np.asarray(thresholds, np.float64), LARGEST)
    floor = float(grid.min())
    found = find_pairs(objects, floor) if near is None else _of_own_class(near, objects, floor)
    of_pairs = np.ascontiguousarray(outside[:, found.prediction])
    matched, state = assign(objects, found, grid, ignored, of_pairs, nearest=nearest)
    event_of = np.full(len(objects.score), -1, np.int32)
    event_of[found.prediction] = np.arange(len(found.prediction), dtype=np.int32)
    return Matches(np.asarray(thresholds, np.float64), found, matched, state, event_of, ignored, outside)


def assign(
    objects: Objects, pairs: Pairs, grid: Floats, ignored: Bools, outside: Bools, *, nearest: bool = False
) -> tuple[Int32s, Bytes]:
    """Let the predictions of `pairs`, which are by image, take their ground truths in turn by the rule of `match`.

    nearest: by Pascal VOC's rule instead, see `box_matching.claim`. ignored: [A, G]; outside: [A, E] for each
    prediction of `pairs`. Returns the ground truth taken or −1, and the state, each [E, A, T]. Threads share images.
    """
    from metrics.vision.compiled import box_matching

    shape = (len(pairs.prediction), len(ignored), len(grid))
    matched, state = np.empty(shape, np.int32), np.empty(shape, np.uint8)

    loop = box_matching.claim if nearest else box_matching.greedy

    def fill(part: slice) -> None:
        loop(
            pairs.start[part.start : part.stop + 1], pairs.truth, pairs.iou, grid,
            ignored.view(np.uint8), objects.crowd.view(np.uint8), outside.view(np.uint8),
            part.start, matched[part], state[part],
        )  # fmt: skip

    _share(fill, _runs(objects.prediction_image[pairs.prediction]))
    return matched, state


def has_threshold(thresholds: ArrayLike, iou: float) -> bool:
    """Return whether `iou` is among `thresholds`, within 1e-9."""
    return bool(np.any(np.abs(np.asarray(thresholds) - iou) < SAME))


def threshold_index(thresholds: Floats, iou: float) -> int:
    """Return the place of `iou` in `thresholds`, within 1e-9; KeyError where it is not among them."""
    if not has_threshold(thresholds, iou):
        raise KeyError(f"IoU {iou} was not matched; matched were {thresholds.tolist()}")
    return int(np.argmin(np.abs(thresholds - iou)))


def _outside(area: Floats, ranges: Floats) -> Bools:
    return (area < ranges[:, :1]) | (area > ranges[:, 1:])
