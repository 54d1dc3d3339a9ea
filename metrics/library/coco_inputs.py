"""Whatever coco_summary is given that is no plain pair of COCO files, as objects to match."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metrics.core.array_types import Int32s
from metrics.core.errors import InputError, InputProblem, refuse
from metrics.core.suite import ANNOTATIONS, PREDICTIONS, Outputs, Suite
from metrics.ingest import load_outputs, load_suite, outputs_from_frame, suite_from_frame
from metrics.ingest.formats.coco_results import is_results
from metrics.ingest.source import load_json, open_source
from metrics.store.remote.objects import local_file
from metrics.vision.coco_columns import IouType
from metrics.vision.geometry import Compared, read_sides, whole
from metrics.vision.objects import Objects, prepare


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
    return _objects(suite, outputs, iou_type, boxed), suite.labels


def _objects(suite: Suite, outputs: Outputs, iou_type: IouType, boxed: bool) -> Objects:
    truths = ANNOTATIONS.empty_table() if suite.annotations is None else suite.annotations
    predictions = PREDICTIONS.empty_table() if outputs.predictions is None else outputs.predictions
    labels, case_ids = pa.array(suite.labels, pa.string()), whole(suite.cases["case_id"])
    truth_image, image = (_codes(table["case_id"], case_ids) for table in (truths, predictions))
    compared: Compared = "mask" if iou_type == "segm" else "box"
    sides, problems = read_sides(compared, suite.cases, truths, predictions, truth_image, image)
    refuse(problems)
    area, wide, high = (
        whole(column).to_numpy(zero_copy_only=False)
        for column in (truths["area"], predictions["width"], predictions["height"])
    )
    return prepare(
        images=len(case_ids), classes=len(labels),
        truth_image=truth_image, truth_class=_codes(truths["label"], labels), truth_box=sides.truth_box,
        truth_area=np.where(np.isnan(area), sides.truth_area, area),
        crowd=whole(truths["is_crowd"].fill_null(False)).to_numpy(zero_copy_only=False),
        prediction_image=image, prediction_class=_codes(predictions["label"], labels),
        prediction_box=sides.prediction_box, prediction_area=wide * high if boxed else sides.prediction_area,
        score=whole(predictions["score"]).to_numpy(zero_copy_only=False), overlap=sides.overlap,
    )  # fmt: skip


def _codes(values: pa.ChunkedArray, names: pa.Array) -> Int32s:
    return np.asarray(pc.index_in(whole(values), value_set=names).fill_null(-1)).astype(np.int32)
