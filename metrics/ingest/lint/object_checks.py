"""Do objects contradict themselves or each other: their stated areas, objects that are there twice, other images?"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pyarrow as pa

from metrics.core.array_types import Bools, Floats, Ints
from metrics.ingest.arrays import codes_of
from metrics.ingest.lint.box_checks import READINGS
from metrics.ingest.lint.findings import Finding, example_cases, per_cent
from metrics.ingest.lint.scene import OVERLAPPING, Boxes, compared, in_any, leaving, overlaps
from metrics.vision.boxes import paired_ious
from metrics.vision.geometry import whole
from metrics.vision.masks import is_ring

CORRECT_IT = "Correct the file of the ground truth: every model is measured against it."
THINNEST, WIDEST = 0.01, 1.1  # a stated area over the box's: a thin object crosses it, and rounding widens it
NEAR = 1.5  # times that of the polygons a stated area may be
FEW_WRONG = 0.01  # share of the objects whose area may be wrong: a slip of an annotator
ALIKE, MOSTLY = 0.01, 0.9  # relative difference of areas that agree, and the share of objects that have to
FEWEST_CORNERS = 2  # objects whose areas prove a reading
WEIGHTS = (1.0, 0.7390851332, 1.6180339887, 2.7182818284, 3.1415926535, 4.6692016091, 0.5772156649)  # of no pattern
SHIFTS = (-1, 1, -2, 2)  # how many images names may be off by
SHIFT_SHARE, SHIFT_TIMES = 0.3, 4  # of the objects found with the shift, and how many times as many as without
FEWEST_SHIFTED = 6  # images and objects
SIZES = (32.0**2, 96.0**2)  # COCO's bounds of small, medium and large


def area_findings(truth: Boxes, annotations: pa.Table, case_ids: pa.Array) -> Iterator[Finding]:
    """Yield the finding that the stated areas contradict the boxes and polygons, or are those of x1 y1 x2 y2 boxes."""
    area, box = whole(annotations["area"]).to_numpy(zero_copy_only=False), truth.box
    looked = truth.plain & np.isfinite(area) & (box[:, 2:] > 0).all(axis=1)
    own = box[:, 2] * box[:, 3]
    corners = READINGS["xyxy"].convert(box, truth.sizes)
    fits_corners = _alike(area, corners[:, 2] * corners[:, 3]) & (corners[:, 2:] > 0).all(axis=1)
    count, fits = int(looked.sum()), int((looked & fits_corners & ~_alike(area, own)).sum())
    if fits >= FEWEST_CORNERS and fits >= MOSTLY * count:
        text = (
            f"The area of {fits:,} of {count:,} objects is that of x1 y1 x2 y2, and not of x y width height, as which "
            f"the boxes are read. {CORRECT_IT}"
        )
        yield Finding("convention", None, text, True, fits, count, example_cases(case_ids, truth.image, looked))
        return
    shaped = _polygon_areas(annotations)
    slack = 2 * (box[:, 2] + box[:, 3]) + 1  # a pixel of the outline, on both sides
    drawn = np.isfinite(shaped)
    low = np.where(drawn, np.fmin(shaped / NEAR - slack, own * THINNEST), own * THINNEST)
    high = np.fmax(WIDEST * (box[:, 2] + 1) * (box[:, 3] + 1), np.where(drawn, NEAR * shaped + slack, 0))
    few = drawn & (area < shaped / NEAR - slack) & ~_alike(area, own)
    wrong: Bools = looked & ((area < low) | (area > high) | few)
    if count and wrong.any() and wrong.mean() >= FEW_WRONG:
        at = int(wrong.argmax())
        moved = int((np.digitize(area, SIZES) != np.digitize(own, SIZES))[wrong].sum())
        text = (
            f"The area of {int(wrong.sum()):,} of {count:,} objects contradicts their box and mask, such as "
            f"{area[at]:,.6g} for a box of {own[at]:,.6g} square pixels: scores by size (small, medium, large) and of "
            f"key points (OKS) go by it. By their boxes {moved:,} would be of another size. {CORRECT_IT}"
        )
        shown = example_cases(case_ids, truth.image, wrong)
        yield Finding("area", None, text, False, int(wrong.sum()), count, shown)


def outline_finding(model: str | None, boxes: Boxes, table: pa.Table, case_ids: pa.Array) -> Finding | None:
    """Return the finding that polygons lie elsewhere than the boxes of their objects, as shares of the image do, or
    where the boxes are x1 y1 x2 y2.
    """
    points, of_ring, owner = _rings(table)
    if not len(points):
        return None
    low, high = np.full((len(table), 2), np.inf), np.full((len(table), 2), -np.inf)
    np.minimum.at(low, owner[of_ring], points)
    np.maximum.at(high, owner[of_ring], points)
    box, drawn = boxes.box, np.column_stack([low, high - low])
    looked = np.isfinite(np.column_stack([low, box])).all(axis=1) & (box[:, 2:] > 0).all(axis=1)
    apart = looked & (paired_ious(drawn, box) < OVERLAPPING)
    count, total = int(apart.sum()), int(looked.sum())
    if not count or count < FEW_WRONG * total:
        return None
    corners = READINGS["xyxy"].convert(box, boxes.sizes)
    fits = (paired_ious(drawn, corners) >= OVERLAPPING)[looked].mean() >= MOSTLY
    text = (
        f"The polygons of {count:,} of {total:,} objects lie elsewhere than their boxes"
        + (": these are x1 y1 x2 y2, and not x y width height, as which they are read" if fits else "")
        + f". Masks and boxes give different scores.{'' if model else ' ' + CORRECT_IT}"
    )
    serious = model is None and (bool(fits) or 2 * count >= total)
    return Finding("outline", model, text, serious, count, total, example_cases(case_ids, boxes.image, apart))


def repeated_finding(model: str | None, boxes: Boxes, table: pa.Table, case_ids: pa.Array) -> Finding | None:
    """Return the finding that objects are there twice: same image, class and box, of a model also the same score."""
    rows = np.flatnonzero(boxes.plain)
    columns = [boxes.image[rows], codes_of(table["label"])[0][rows], *boxes.box[rows].T]
    if model is not None:
        columns.append(whole(table["score"]).to_numpy(zero_copy_only=False)[rows])
    mixed = np.sum([column * weight for column, weight in zip(columns, WEIGHTS, strict=False)], axis=0)
    ordered = np.sort(mixed)  # equal rows are equal here, and others hardly ever
    if not (ordered[1:] == ordered[:-1]).any():
        return None
    order = np.argsort(mixed, kind="stable")
    same = np.logical_and.reduce([column[order][1:] == column[order][:-1] for column in columns])
    if not same.any():
        return None
    again = np.zeros(len(boxes), np.bool_)
    again[rows[order[1:][same]]] = True
    count, total = int(again.sum()), len(rows)
    text = (
        f"{count:,} of {total:,} objects are there again (same image, class and box): a prediction finds one of them, "
        f"so the others count as missed. {CORRECT_IT}"
        if model is None
        else f"{count:,} of {total:,} predictions are there again (same image, class, box and score): of each only one "
        "can be right, the others count as false."
    )
    return Finding("repeated", model, text, False, count, total, example_cases(case_ids, boxes.image, again))


def other_image_finding(model: str | None, boxes: Boxes, case_ids: pa.Array) -> Finding | None:
    """Return the finding that all boxes of some images leave them, the centre of one even lies outside."""
    rows = np.flatnonzero(boxes.plain)
    box, image, sizes = boxes.box[rows], boxes.image[rows], boxes.sizes[rows]
    centre = box[:, :2] + box[:, 2:] / 2
    beyond = in_any((centre < 0) | (centre > sizes))
    images = len(case_ids)
    count, out = np.bincount(image, minlength=images), np.bincount(image[leaving(box, sizes)], minlength=images)
    wrong = (count > 0) & (out == count) & (np.bincount(image[beyond], minlength=images) > 0)
    if not wrong.any():
        return None
    text = (
        f"In {int(wrong.sum()):,} of {int((count > 0).sum()):,} images every box leaves the image: are these boxes of "
        "another image, or of another size of it?"
    )
    shown = np.isin(boxes.image, np.flatnonzero(wrong)) & boxes.plain
    return Finding(
        "other_image", model, text, False, int(wrong.sum()), int((count > 0).sum()),
        example_cases(case_ids, boxes.image, shown),
    )  # fmt: skip


def shifted_finding(model: str, boxes: Boxes, truth: Boxes, case_ids: pa.Array) -> Finding | None:
    """Return the finding that the boxes of nearly all images fit the next or last images: every name is off by some."""
    images = len(case_ids)
    shares = {}
    for shift in (0, *SHIFTS):
        moved = np.where(boxes.image >= 0, (boxes.image + shift) % max(images, 1), -1).astype(np.int32)
        truths, rows = compared(truth, replace(boxes, image=moved))
        if len(truths) < FEWEST_SHIFTED or images < FEWEST_SHIFTED:
            return None
        found = overlaps(moved[rows], boxes.box[rows], truth.take(truths))[1]
        shares[shift] = len(np.unique(found)) / len(truths)
        if not shift and shares[0] > SHIFT_SHARE / SHIFT_TIMES:
            return None
    best = max(SHIFTS, key=shares.__getitem__)
    if shares[best] < max(SHIFT_SHARE, SHIFT_TIMES * shares[0]):
        return None
    first, to = int(boxes.image[boxes.plain][0]), case_ids.to_pylist()
    text = (
        f"The boxes find {per_cent(shares[0], 1)} of the objects in their own images, and "
        f"{per_cent(shares[best], 1)} of those in the image {abs(best)} {'after' if best > 0 else 'before'} each, such "
        f"as those of {to[first]} in {to[(first + best) % images]}: the names or ids of images are shifted. Correct "
        "the file of the predictions."
    )
    return Finding("other_image", model, text, True, images, images, example_cases(case_ids, boxes.image, boxes.plain))


def _alike(areas: Floats, others: Floats) -> Bools:
    return np.abs(areas - others) <= ALIKE * np.abs(others) + 1


def _rings(table: pa.Table) -> tuple[Floats, Ints, Ints]:
    """Return the points of all rings that are outlines [P, 2], the ring of each [P], and the object of each ring."""
    polygons = whole(table["polygons"])
    rings = polygons.flatten()
    lengths = np.asarray(rings.value_lengths(), np.int64)
    numbers = np.array(rings.flatten().to_numpy(zero_copy_only=False), np.float64)
    right = is_ring(lengths)
    points = numbers[np.repeat(right, lengths)].reshape(-1, 2)
    of_ring = np.repeat(np.arange(len(lengths)), np.where(right, lengths // 2, 0))
    counts = np.asarray(polygons.value_lengths().fill_null(0), np.int64)
    return points, of_ring, np.repeat(np.arange(len(table)), counts)


def _polygon_areas(table: pa.Table) -> Floats:
    """Return the summed area of each object's rings by the shoelace formula, NaN where it has none, or a wrong one."""
    points, of_ring, owner = _rings(table)
    result = np.full(len(table), np.nan)
    if not len(points):
        return result
    lengths = np.bincount(of_ring, minlength=len(owner))
    ends = np.cumsum(lengths)
    following = np.arange(len(points)) + 1
    following[ends[lengths > 0] - 1] = (ends - lengths)[lengths > 0]
    x, y = points.T
    cross = np.concatenate([[0.0], np.cumsum(x * y[following] - x[following] * y)])
    areas = np.bincount(owner, np.abs(cross[ends] - cross[ends - lengths]) / 2, len(table))
    complete = (np.bincount(owner, minlength=len(table)) > 0) & (np.bincount(owner, lengths == 0, len(table)) == 0)
    result[complete] = areas[complete]
    return result
