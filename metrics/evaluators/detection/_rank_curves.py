"""Precision at each recall of the predictions ranked by score: the curves of average precision, of boxes or poses."""

import numpy as np
import pyarrow as pa

from metrics.evaluators.detection._matched import Matched, shown
from metrics.vision.precision_recall import RECALLS, precision_at_recalls


def rank_curves(found: Matched, area: tuple[float, float], limit: int) -> pa.Table:
    """Return interpolated precision at each recall, and the score at which it is reached (null where never)."""
    precision, score = precision_at_recalls(found.ranking, found.area(area), limit)
    known = np.flatnonzero(found.truths(area))
    precision, score = precision[known], score[known]  # [K, T, R]
    ious = np.array([shown(iou) for iou in found.matches.thresholds])
    shape = precision.shape
    return pa.table(
        {
            "label": pa.array(found.scene.labels, pa.string()).take(pa.array(np.repeat(known, shape[1] * shape[2]))),
            "iou": np.tile(np.repeat(ious, shape[2]), shape[0]),
            "recall": np.tile(RECALLS, shape[0] * shape[1]),
            "precision": precision.ravel(),
            "score": pa.array(np.where(precision > 0, score, np.nan).ravel(), from_pandas=True),
        }
    )
