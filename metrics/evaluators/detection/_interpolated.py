"""The curves behind average precision."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from metrics.evaluators.detection._matched import Matched, written_iou
from metrics.vision.matching import AREAS, threshold_index
from metrics.vision.precision_recall import RECALLS, precision_at_recalls

NO_LIMIT = 2**31 - 1  # no limit of predictions per image


def interpolated_curves(
    found: Matched, area: tuple[float, float] = AREAS["all"], limit: int = NO_LIMIT, only: Sequence[float] = ()
) -> pa.Table:
    """Return interpolated precision at each recall, and the score at which it is reached (null where never).

    only: the IoU thresholds that are wanted, among those matched; () for all of them.
    """
    precision, score = precision_at_recalls(found.ranking, found.area(area), limit)
    known = np.flatnonzero(found.truths(area))
    thresholds = found.matches.thresholds
    wanted = [threshold_index(thresholds, iou) for iou in only or thresholds]
    precision, score = precision[known][:, wanted], score[known][:, wanted]  # [K, T, R]
    ious = np.array([written_iou(iou) for iou in thresholds[wanted]])
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
