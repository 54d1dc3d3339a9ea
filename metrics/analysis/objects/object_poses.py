"""Key points of objects on a page: what is drawn of them, and their similarity for a slider."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from metrics.core.array_types import Floats
from metrics.core.classes import ClassFacts
from metrics.vision.keypoints import skeleton_of

if TYPE_CHECKING:
    import pandas as pd

Bone = tuple[float, float, float, float]  # from x y to x y; of a key point, twice its place


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
