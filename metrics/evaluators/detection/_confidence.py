"""Detections as calibration needs them: each prediction's score, and whether it found an object."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from metrics.core.array_types import Bools, Floats, Int32s
from metrics.core.evaluator import Columns
from metrics.core.suite import Outputs, Suite
from metrics.evaluators._half_samples import NO_TRUTHS
from metrics.evaluators.detection._matched import grid_with, match_objects
from metrics.vision.geometry import Geometry
from metrics.vision.outcomes import IGNORED, TP

NOTHING_PREDICTED = "the model predicts nothing that counts"
NO_PROBABILITIES = "{} of {} scores are not within 0 … 1: they are no probabilities"


@dataclass(frozen=True, eq=False, slots=True)
class Confidences:
    """The n predictions that count: `confidence` and `right` [n], `clusters` [n] the images drawn together,
    `image` [n] their places in the suite.

    `ignored` counts the predictions left out because they match a crowd; `reason` says why none counts; `columns` are
    those of the aggregates; `matches` the table of all predictions and missed ground truths.
    """

    confidence: Floats
    right: Bools
    clusters: Int32s
    image: Int32s
    ignored: int
    reason: str | None
    columns: Columns
    matches: pa.Table


def confidences(suite: Suite, outputs: Outputs, iou: float, geometry: Geometry, lowest: float) -> Confidences:
    """Return one model's predictions that score at least `lowest`, matched as for AP at the IoU threshold `iou`."""
    found = match_objects(suite, outputs, grid_with(iou), geometry=geometry)
    scene = found.scene
    result, table = found.outcomes_at(iou)
    score = scene.objects.score
    asked = score >= lowest
    ignored = asked & (result.prediction == IGNORED)
    outside = int(np.count_nonzero(asked & ((score < 0) | (score > 1))))
    reason = None
    if not found.truths().any():
        reason = NO_TRUTHS
    elif outside:
        reason = NO_PROBABILITIES.format(f"{outside:,}", f"{np.count_nonzero(asked):,}")
    elif not (asked & ~ignored).any():
        reason = NOTHING_PREDICTED
    counted = asked & ~ignored & (reason is None)
    image = scene.objects.prediction_image[counted]
    right, left_out = result.prediction[counted] == TP, int(np.count_nonzero(ignored))
    columns: Columns = {"iou": iou, **scene.columns}
    return Confidences(score[counted], right, scene.clusters[image], image, left_out, reason, columns, table)
