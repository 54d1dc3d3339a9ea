"""What a page draws of objects: the outlines of their masks, their polygons or their boxes, and their key points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from metrics.core.array_types import Floats
from metrics.core.classes import ClassFacts
from metrics.core.rounding import exact_sum
from metrics.vision.keypoints import skeleton_of
from metrics.vision.outlines import mask_rings

if TYPE_CHECKING:
    import pandas as pd

MANY = 60  # with more masks than that, outlines are coarser, so that all together stay small
DRAWN = ("x", "y", "width", "height", "polygons", "rle", "keypoints")
FINE, COARSE = 320, 96  # steps along the longer side of a mask

Rings = list[list[float]]
Bone = tuple[float, float, float, float]  # from x y to x y; of a key point, twice its place


def object_rings(table: pa.Table, height: int | None) -> list[Rings]:
    """Return the rings (x1 y1 x2 y2 …, pixels) of each object of an image of that height, in pixels.

    Of its run lengths, else of its polygons, else of its box, else of the box around its key points; none where it has
    nothing that can be drawn. Filled by the rule "nonzero" they cover the object: all rings go round one way, except
    those around the holes of a mask.
    """
    finest = FINE if len(table) <= MANY else COARSE
    held = table.select([name for name in DRAWN if name in table.column_names])
    return [_rings(row, height, finest) for row in held.to_pylist()]


def _rings(row: dict[str, object], height: int | None, finest: int) -> Rings:
    from metrics.vision import rle  # on use, as in mask_rings

    text, polygons = row.get("rle"), row.get("polygons")
    if isinstance(text, str) and text and height:
        try:
            return mask_rings(text, height, rle.box(rle.decode(text), height), finest)
        except ValueError:
            pass
    if isinstance(polygons, list):
        rings = [_clockwise(ring) for ring in polygons if _is_ring(ring)]
        if rings:
            return rings
    box = [value for value in map(row.get, ("x", "y", "width", "height")) if isinstance(value, float)]
    if len(box) < 4 or not all(map(isfinite, box)):
        points = row.get("keypoints")
        if not isinstance(points, list) or not points:
            return []
        left, top = min(points[0::3]), min(points[1::3])
        box = [left, top, max(points[0::3]) - left, max(points[1::3]) - top]
    x, y, across, down = box
    return [[x, y, x + across, y, x + across, y + down, x, y + down]]


def _is_ring(ring: list[float]) -> bool:
    return len(ring) >= 6 and len(ring) % 2 == 0 and all(map(isfinite, ring))


def _clockwise(ring: list[float]) -> list[float]:
    """Return the ring, turned round where it goes the other way (y points down)."""
    x, y = ring[::2], ring[1::2]
    doubled = exact_sum(x[i - 1] * y[i] - x[i] * y[i - 1] for i in range(len(x)))
    if doubled >= 0:
        return ring
    return [number for place in range(len(x) - 1, -1, -1) for number in (x[place], y[place])]


def bones(keypoints: Sequence[float] | None, facts: ClassFacts | None, guessed: bool) -> list[Bone]:
    """Return the lines of a skeleton between the key points that are labelled (`guessed`: all), then the points."""
    if keypoints is None or not len(keypoints):
        return []
    points = np.asarray(keypoints, np.float64).reshape(-1, 3).tolist()
    seen = [isfinite(x) and isfinite(y) and (guessed or v > 0) for x, y, v in points]
    pairs = [pair for pair in skeleton_of(facts, len(points)) if seen[pair[0]] and seen[pair[1]]]
    lines: list[Bone] = [(points[a][0], points[a][1], points[b][0], points[b][1]) for a, b in pairs]
    return [*lines, *((x, y, x, y) for (x, y, _), shown in zip(points, seen, strict=True) if shown)]


def pose_overlaps(
    annotations: pd.DataFrame, predictions: pd.DataFrame, sigmas: Mapping[str, Sequence[float]]
) -> Floats:
    """Return the OKS of every prediction with every ground truth of one image [D, G], as vision.keypoints.oks_pairs."""
    result = np.zeros((len(predictions), len(annotations)))
    for column, truth in enumerate(annotations.to_dict("records")):
        sigma = np.asarray(sigmas.get(str(truth["label"]), ()), np.float64)
        area = truth["area"] if truth["area"] == truth["area"] else truth["width"] * truth["height"]
        true = _points(truth)
        labelled = np.flatnonzero(true[:, 2] > 0)
        for row, guess in enumerate(predictions.to_dict("records")):
            points = _points(guess)
            if not len(points) or len(points) != len(sigma):
                continue
            if len(labelled):
                away, variance = points[labelled, :2] - true[labelled, :2], (2 * sigma[labelled]) ** 2
            else:  # as far as they are outside three times the box
                corner, size = np.array([truth["x"], truth["y"]]), np.array([truth["width"], truth["height"]])
                away = np.maximum(0, corner - size - points[:, :2]) + np.maximum(0, points[:, :2] - corner - 2 * size)
                variance = (2 * sigma) ** 2
            result[row, column] = np.exp(-(away**2).sum(axis=1) / variance / (area + np.spacing(1)) / 2).mean()
    return result


def unlabelled(annotations: pd.DataFrame) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Return which ground truths have no labelled key point: they are ignored [G]."""
    return np.array([not (_points(row)[:, 2] > 0).any() for row in annotations.to_dict("records")], np.bool_)


def _points(row: Mapping[Any, Any]) -> Floats:
    """Return the key points of an object, x y v [K, 3]."""
    given = row.get("keypoints")
    known = given is not None and not isinstance(given, float)
    return np.asarray(given if known else (), np.float64).reshape(-1, 3)
