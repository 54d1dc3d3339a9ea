"""Whatever coco_summary is given that is no plain pair of COCO files, as objects to match."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from metrics.core.errors import InputError, InputProblem
from metrics.core.suite import Outputs, Suite
from metrics.evaluators.detection._matched import scene_of
from metrics.ingest import load_outputs, load_suite, outputs_from_frame, suite_from_frame
from metrics.ingest.formats.coco_results import is_results
from metrics.ingest.source import load_json, open_source
from metrics.store.remote.objects import local_file
from metrics.vision.coco_columns import IouType
from metrics.vision.geometry import whole
from metrics.vision.objects import Objects


def read_objects(ground_truth: Any, results: Any, iou_type: IouType) -> tuple[Objects, tuple[str, ...]]:
    """Return the objects of what `evaluate` takes, or of COCO's documents in memory, and the labels. InputError.

    With a box beside the mask of the first of COCO's results, every area is that of the box, as in pycocotools.
    """
    suite, outputs, boxed = ground_truth, results, False
    if isinstance(suite, str | Path):
        suite = load_suite(local_file(str(suite))).value
    elif not isinstance(suite, Suite):
        suite = suite_from_frame(suite)
    if suite.task not in ("detection", "segmentation"):
        raise InputError([InputProblem("coco_summary", f"a suite of {suite.task}", "objects in images")])
    if isinstance(outputs, list | tuple) and len(outputs) == 1 and isinstance(outputs[0], str | Path):
        (outputs,) = outputs
    if isinstance(outputs, str | Path):
        path = local_file(str(outputs))
        outputs = load_outputs(path, suite=suite).value
        masks = iou_type == "segm" and Path(path).suffix.lower() == ".json"
        results = load_json(open_source(path)) if masks else None
    elif not isinstance(outputs, Outputs):
        outputs = outputs_from_frame(outputs, suite=suite)
    if isinstance(results, list) and results and is_results(results):
        boxed = bool(results[0].get("bbox"))
    if len(outputs.models) > 1:
        found = f"{len(outputs.models)} models: {', '.join(outputs.models[:5])}"
        raise InputError([InputProblem("coco_summary", found, "the results of one model")])
    scene = scene_of(suite, outputs, "mask" if iou_type == "segm" else "box")
    objects, boxes = scene.objects, outputs.predictions if boxed else None
    if boxes is not None:
        area = np.multiply(*(whole(boxes[side]).to_numpy(zero_copy_only=False) for side in ("width", "height")))
        objects = replace(objects, prediction_area=area)
    return objects, scene.labels
