"""A model's objects matched again at another IoU threshold, as an evaluator of the run matches them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from metrics.analysis.objects.rematch import POSES, rules
from metrics.analysis.stored_outputs import outputs_where
from metrics.store import Run

ANY_LABEL = "detection_confusion"  # matches by place first, whatever the label
ERRORS = "error_breakdown"
SEGMENTS = "panoptic_quality"


def stored_at(run: Run, evaluator: str, iou: float | None) -> bool:
    """Return whether the matches that the run stored answer for this IoU threshold (None: the evaluator's own).

    Those of ANY_LABEL are stored for one score threshold only. Labels with keys are matched by the engine alone, and
    SEGMENTS match at one IoU only.
    """
    own = rules(run, evaluator)
    return own.keyed or evaluator == SEGMENTS or (evaluator != ANY_LABEL and (iou is None or abs(iou - own.iou) < 1e-9))


def matches_at(run: Run, evaluator: str, model: str, repeat: int, iou: float | None) -> pa.Table:
    """Return the matches of one model and repeat at an IoU threshold and any score (schema MATCHES)."""
    from metrics.evaluators.detection._matched import grid_with, matched, outcomes_table, scene_of
    from metrics.evaluators.detection.detection_confusion import confused_objects
    from metrics.evaluators.detection.keypoint_summary import keypoint_matches
    from metrics.vision.error_breakdown import find_errors
    from metrics.vision.outcomes import LOCALISED

    own, parameters = rules(run, evaluator), run.evaluators[evaluator]
    iou = own.iou if iou is None else iou
    geometry = parameters.get("geometry", "auto")
    suite, this = run.suite, [("model", "==", model), ("run", "==", repeat)]
    outputs = outputs_where(run, this)
    if evaluator == POSES:
        given = tuple(parameters.get("sigmas", ()))
        return keypoint_matches(suite, outputs, grid_with(iou), given).found.outcomes_at(iou, 0, own.max_dets)[1]
    if evaluator == ANY_LABEL:
        scene = scene_of(suite, outputs, geometry, own.benchmark)
        return outcomes_table(scene, confused_objects(scene, iou, -np.inf), iou)
    every = matched(suite, outputs, grid_with(iou), geometry=geometry, benchmark=own.benchmark)
    if evaluator == ERRORS:
        background = min(float(parameters.get("background_iou", LOCALISED)), iou)
        pairs = every.scene.overlaps(min(iou, background))
        errors = find_errors(every.scene.objects, every.matches, pairs, iou, background, own.max_dets or 100)
        return outcomes_table(every.scene, errors, iou)
    return every.outcomes_at(iou, 0, own.max_dets)[1]
