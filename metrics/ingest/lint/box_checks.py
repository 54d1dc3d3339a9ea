"""Do the numbers of the boxes mean what they were read as? Judged by the images' sizes and by the ground truth."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from metrics.core.array_types import Bools, Floats
from metrics.ingest.lint.findings import Finding, example_cases, per_cent
from metrics.ingest.lint.scene import Boxes, compared, in_any, leaving, overlaps

AT_MOST = 1.01  # of shares of an image, with rounding
LEAST_SIDE = 8  # pixels: in smaller images a box of at most 1 pixel may be meant
FEWEST = 5  # boxes from which on a reading can be called serious: fewer may be a trial
ERRORS = 3.0  # standard errors of a paired count by which another reading has to be better
GAIN, TIMES = 0.1, 1.5  # … and the share of the ground truth found that it has to add, and to multiply
MOST_OUT, FEW_OUT = 0.1, 0.01  # shares of boxes leaving their image: too many to be right, and few enough to be right
FEWEST_TINY, PER_CENT_SHARE = 3, 0.0101  # boxes, all of which lie in so small a share of their image's sides
HALF = 0.5  # of the boxes outside: no evaluation can be meant
Convert = Callable[[Floats, Floats], Floats]  # boxes [N, 4] as read, sizes [N, 2] (width, height) → boxes [N, 4]
PER_CENT = 100.0
MOSTLY = 0.5  # of the scores over 1: a few may be rounding
FEWEST_SCORES = 10  # predictions from which on one score for all is no coincidence


def is_normalised(boxes: Boxes) -> bool:
    """Return whether all boxes lie within 0 … 1 (and a rounding), in images that are larger."""
    box, sizes = boxes.box[boxes.plain], boxes.sizes[boxes.plain]
    known = sizes[~in_any(np.isnan(sizes))]
    if not len(box) or (len(known) and known.min() < LEAST_SIDE):
        return False
    return bool(np.abs(box).max() <= AT_MOST)


def reading_finding(
    model: str | None, boxes: Boxes, truth: Boxes, case_ids: pa.Array, others: Sequence[str] = ()
) -> Finding | None:
    """Return the finding that the boxes fit another convention better than x, y, width, height; None where not.

    Evidence is the ground truth: a paired count of the objects found in either reading, three standard errors apart
    and a tenth of all objects more; of a few objects, that all are found in place of at most half of them. Where hardly
    anything is found in any reading, that the boxes leave their images now and would not. `others` are the readings
    that are tried, by default all.
    """
    if not boxes.plain.any():
        return None
    truths, rows = compared(truth, boxes)
    near, objects = boxes.take(rows), truth.take(truths)

    def found(box: Floats) -> Bools:
        result = np.zeros(len(objects), np.bool_)
        # an object that is only ever the second best of its boxes does not count, in all readings alike
        result[overlaps(near.image, box, objects)[1]] = True
        return result

    now = found(near.box)
    if len(now) and TIMES * now.mean() >= 1:
        return None  # no reading can find as many more
    every = boxes.take(np.flatnonzero(boxes.plain))
    out = leaving(every.box, every.sizes)
    best: tuple[float, float, str, Bools, Bools] | None = None
    for name in others or CONVENTIONS:
        convert = READINGS[name].convert
        out_then, then = leaving(convert(every.box, every.sizes), every.sizes), found(convert(near.box, near.sizes))
        if not _better(now, then, float(out.mean()), float(out_then.mean())):
            continue
        rank = (float(then.mean()) if len(then) else 0.0, -float(out_then.mean()), name, out_then, then)
        if best is None or rank[:2] > best[:2]:
            best = rank
    if best is None:
        return None
    _, _, name, out_then, then = best
    count = len(every)
    text = (
        f"Read as x y width height, {per_cent(out.sum(), count)} of the boxes leave their image"
        + (f" and {per_cent(now.sum(), len(now))} of the objects are found" if len(now) else "")
        + f". As {READINGS[name].words} it would be {per_cent(out_then.sum(), count)}"
        + (f" and {per_cent(then.sum(), len(then))}." if len(now) else ".")
    )
    shown = out if out.any() else np.ones(count, np.bool_)
    return Finding(
        "convention", model, text, count >= FEWEST, int(shown.sum()), count,
        example_cases(case_ids, every.image, shown), name,
    )  # fmt: skip


def normalised_finding(model: str | None, boxes: Boxes, case_ids: pa.Array) -> Finding | None:
    """Return the finding that boxes are shares of the image and not pixels, a doubt where no size of one is known."""
    if not is_normalised(boxes):
        return None
    count, known = int(boxes.plain.sum()), bool(np.isfinite(boxes.sizes[boxes.plain]).any())
    where = "images of many pixels" if known else "images of unknown size"
    text = f"All {count:,} boxes have numbers of at most 1 in {where}: shares of the image's size."
    shown = example_cases(case_ids, boxes.image, boxes.plain)
    return Finding(NORMALISED, model, text, known, count, count, shown, NORMALISED if known else None)


def size_findings(model: str | None, boxes: Boxes, case_ids: pa.Array) -> Iterator[Finding]:
    """Yield what is wrong with boxes that no other reading explains: they leave their images, or have no area."""
    rows = np.flatnonzero(boxes.plain)
    box, count = boxes.box[rows], len(rows)
    out = leaving(box, boxes.sizes[rows])
    if out.mean() >= MOST_OUT:
        share = per_cent(out.sum(), count)
        text = f"{share} of the boxes leave their image: were they made for images of another size?"
        yield Finding(
            "outside", model, text, bool(out.mean() >= HALF) and count >= FEWEST, int(out.sum()), count,
            example_cases(case_ids, boxes.image[rows], out),
        )  # fmt: skip
    if count >= FEWEST_TINY and bool((box[:, :2] + box[:, 2:] <= PER_CENT_SHARE * boxes.sizes[rows]).all()):
        text = f"All {count:,} boxes lie in the upper left hundredth of their image: shares of it, read as per cent?"
        yield Finding("tiny", model, text, True, count, count, example_cases(case_ids, boxes.image[rows], ~out))
    flat = in_any(box[:, 2:] <= 0)
    if flat.mean() >= (FEW_OUT if model is not None else 0) and flat.any():
        text = f"{int(flat.sum()):,} of {count:,} boxes have no area: they overlap nothing."
        shown = example_cases(case_ids, boxes.image[rows], flat)
        yield Finding("no_area", model, text, False, int(flat.sum()), count, shown)


def _better(now: Bools, then: Bools, out: float, out_then: float) -> bool:
    """Return whether another reading is right beyond doubt: by the objects it finds, else by the images' borders."""
    gain, loss = int((then & ~now).sum()), int((now & ~then).sum())
    share, share_then = (float(found.mean()) if len(found) else 0.0 for found in (now, then))
    every = gain > 1 and not loss and share_then == 1 and share <= HALF
    certain = gain - loss >= ERRORS * np.sqrt(gain + loss) or (not now.any() and share_then >= HALF) or every
    if gain and certain:
        return share_then >= share + GAIN and share_then >= TIMES * share
    return gain >= loss and share < GAIN and out >= MOST_OUT and out_then <= FEW_OUT


class Reading(NamedTuple):
    """A reading of boxes: what the file has, in words, and the conversion."""

    words: str
    convert: Convert


def _corners(boxes: Floats, _: Floats) -> Floats:
    return np.column_stack([boxes[:, :2], boxes[:, 2:] - boxes[:, :2]])


def _moved(boxes: Floats, share: float) -> Floats:
    return np.column_stack([boxes[:, :2] + share * boxes[:, 2:], boxes[:, 2:]])


def _swap_axes(boxes: Floats, _: Floats) -> Floats:
    return boxes[:, [1, 0, 3, 2]]


def score_findings(model: str, score: Floats) -> Iterator[Finding]:
    """Yield what is wrong with the scores [N] of a model; those that are NaN are not looked at."""
    known = score[~np.isnan(score)]
    count = len(known)
    if not count:
        return
    low, high, over = float(known.min()), float(known.max()), int((known > 1).sum())
    span = f"Scores go from {low:.3g} to {high:.3g}"
    if low < 0:
        text = f"{span}: logits? Rankings use only their order, but score thresholds go from 0 to 1."
        yield Finding("negative_scores", model, text, False, int((known < 0).sum()), count, fix="sigmoid")
    elif over and high <= PER_CENT and over >= MOSTLY * count:
        text = f"{span}: per cent? Score thresholds go from 0 to 1."
        yield Finding("scores_over_1", model, text, False, over, count, fix="percent")
    elif over:
        text = f"{span}, {per_cent(over, count)} over 1. Score thresholds go from 0 to 1."
        yield Finding("scores_over_1", model, text, False, over, count)
    if count >= FEWEST_SCORES and low == high:
        text = f"All {count:,} scores are {low:.3g}: AP needs scores that rank the predictions."
        yield Finding("equal_scores", model, text, False, count, count)


def sigmoid(score: Floats) -> Floats:
    """Return 1 / (1 + e^−score), computed without overflow."""
    small = np.exp(-np.abs(score))
    return np.where(score >= 0, 1 / (1 + small), small / (1 + small))


NORMALISED = "normalised"
READINGS: Mapping[str, Reading] = MappingProxyType(
    {
        NORMALISED: Reading("shares of the image", lambda boxes, sizes: boxes * np.tile(sizes, 2)),
        "xyxy": Reading("x1 y1 x2 y2", _corners),
        "cxcywh": Reading("centre x, centre y, width, height", lambda boxes, _: _moved(boxes, -0.5)),
        # a file with x, y of the top left corner where the format has the centre: YOLO
        "top-left": Reading("top left corner, width, height", lambda boxes, _: _moved(boxes, 0.5)),
        "yxhw": Reading("y x height width", _swap_axes),
        "xyhw": Reading("x y height width", lambda boxes, _: boxes[:, [0, 1, 3, 2]]),
        "yxyx": Reading("y1 x1 y2 x2", lambda boxes, sizes: _corners(_swap_axes(boxes, sizes), sizes)),
    }
)
CONVENTIONS = tuple(name for name in READINGS if name != NORMALISED)
