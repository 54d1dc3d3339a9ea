"""explain_map(): COCO's mAP of a model, what each choice of its trainer changes in it, and the trainer's own number."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metrics.core.array_types import Bools, Floats
from metrics.core.errors import InputError, InputProblem
from metrics.core.suite import Outputs, Suite
from metrics.evaluators.detection._matched import match_objects
from metrics.evaluators.detection.average_precision import NO_LIMIT
from metrics.evaluators.detection.voc_ap import POINTS, PascalVoc
from metrics.stats.float_tolerance import mean_over
from metrics.vision.boxes import paired_ious
from metrics.vision.compiled.match_states import ASIDE, RIGHT, WRONG
from metrics.vision.geometry import BOX, Geometry, whole
from metrics.vision.image_resampling import resample
from metrics.vision.matching import IOU_THRESHOLDS
from metrics.vision.precision_recall import RECALLS, Ranking

if TYPE_CHECKING:
    import pandas as pd

COCO, ULTRALYTICS = "COCO", "Ultralytics val"
LEAST, USUAL = 0.001, 0.25  # the confidences from which on Ultralytics validates, and predicts
MAX_DETS, MAX_IMAGE_DETS = 100, 300  # COCO's of an image and class, Ultralytics' of an image
NMS_IOU = 0.7  # Ultralytics'
OBJECT = "object"  # the only class where classes do not count
Data = tuple[Suite, Outputs]


class Step(NamedTuple):
    """A number of the table: what is done to the data, how AP is taken of the matches, and why somebody does so."""

    name: str
    changes: str
    prepare: Callable[[Data], Data] = lambda data: data
    max_dets: int = MAX_DETS
    recalls: Floats | None = RECALLS  # None: the trapezoid under the curve
    voc: bool = False
    all_classes: bool = False


def _numbers(data: Data, step: Step, geometry: Geometry) -> tuple[float | None, float | None]:
    """Return AP50 and AP of a step, None where no class has ground truth; VOC has no AP over IoU thresholds."""
    suite, outputs = step.prepare(data)
    benchmark = PascalVoc(False) if step.voc else None
    found = match_objects(suite, outputs, IOU_THRESHOLDS, geometry=geometry, benchmark=benchmark)
    if step.recalls is None:
        values = trapezoid_ap(found.ranking, step.max_dets)
    else:
        itself = np.ones((1, found.scene.objects.images), np.uint8)
        values = resample(found.ranking, itself, max_dets=step.max_dets, recalls=step.recalls)[0][0]
    if step.all_classes:
        predicted = np.diff(found.ranking.class_starts) > 0
        values[predicted & np.isnan(values).all(axis=1)] = 0
    at_50, mean = float(mean_over(values[:, 0], 0)), float(mean_over(mean_over(values, 1), 0))
    return (None if np.isnan(at_50) else at_50), (None if np.isnan(mean) or step.voc else mean)


def explain_map(
    suite: Suite, outputs: Outputs, *, confidence: float = USUAL, geometry: Geometry = "auto"
) -> "pd.DataFrame":
    """Return what the choices of trainers do to the mAP of each model: model, step, AP50, AP, change, why.

        table = explain_map(read_suite("set.zip"), read_outputs("predictions.zip", suite=suite))

    The first row of a model is COCO's, equal to `coco_summary`. Each row below changes one thing in it; `change` is the
    difference of AP (of AP50 where a row has no AP) from COCO's. The last rows are whole recipes: Ultralytics', which
    counts scores from .001 on and at most 300 predictions of an image, leaves crowds out of the ground truth and takes
    the trapezoid under a curve of 101 points; the same at `confidence`; and Pascal VOC's of 2010 and 2007.
    InputError for a suite of another task, or without predictions.
    """
    import pandas as pd

    if suite.task != "detection" or suite.annotations is None or outputs.predictions is None:
        found = f"a suite of {suite.task}" if suite.task != "detection" else "no objects, or no predictions"
        raise InputError([InputProblem(suite.name, found, "objects in images, and predictions of them")])
    return pd.DataFrame(
        [row for one in outputs.models for row in _rows(suite, outputs.restricted(one), one, confidence, geometry)]
    )


def _rows(
    suite: Suite, outputs: Outputs, model: str, confidence: float, geometry: Geometry
) -> Iterator[dict[str, Any]]:
    first: tuple[float | None, float | None] | None = None
    for step in steps(confidence):
        at_50, mean = _numbers((suite, outputs), step, geometry)
        first = first or (at_50, mean)
        pair = (mean, first[1]) if mean is not None else (at_50, first[0])
        change = None if None in pair else pair[0] - pair[1]  # type: ignore[operator]
        yield {"model": model, "step": step.name, "AP50": at_50, "AP": mean, "change": change, "why": step.changes}


def steps(confidence: float = USUAL) -> tuple[Step, ...]:
    """Return the rows of the table: COCO's, one change each, and whole recipes."""
    ultralytics = _compose(_without_crowds, _scored_from(LEAST), _best_of_image(MAX_IMAGE_DETS))
    deployed = _compose(ultralytics, _scored_from(confidence))
    least, usual = f"{LEAST:g}".lstrip("0"), f"{confidence:g}".lstrip("0") or "0"
    nms = f"NMS at IoU {NMS_IOU:g}".replace("0.", ".")
    area, eleven = POINTS["all_points"], POINTS["eleven_points"]
    return (
        Step(COCO, "101 recalls, IoU .50:.05:.95, 100 predictions of an image and class"),
        Step(f"scores from {least}", "validation leaves out what scores less", _scored_from(LEAST)),
        Step(f"scores from {usual}", "what predict() writes; it cuts the curve off", _scored_from(confidence)),
        Step("300 of an image", "Ultralytics' max_det, over all classes", _best_of_image(MAX_IMAGE_DETS), NO_LIMIT),
        Step("no limit of predictions", "Pascal VOC, and curves over all predictions", max_dets=NO_LIMIT),
        Step("trapezoid of 101 points", "precision between points is drawn as a line", recalls=None),
        Step("area under the curve", "all points, as VOC 2010", recalls=area),
        Step("11 points", "as VOC 2007", recalls=eleven),
        Step("without crowds", "YOLO labels have none: what is predicted on them is false", _without_crowds),
        Step(nms, "of boxes of one class, best score first", _suppress(NMS_IOU)),
        Step("one class for all", "class-agnostic: names do not count", _of_one_class),
        Step("classes without objects count", "a class that is only predicted has AP 0", all_classes=True),
        Step("images without objects left out", "false predictions on them do not count", _on_labelled_images),
        Step(ULTRALYTICS, "its scores, limit, crowds and trapezoid", ultralytics, NO_LIMIT, None),
        Step(f"{ULTRALYTICS}, conf={usual}", "the same of what predict() writes", deployed, NO_LIMIT, None),
        Step("Pascal VOC 2010", "at IoU .5; difficult objects do not count", max_dets=NO_LIMIT, recalls=area, voc=True),
        Step("Pascal VOC 2007", "the same at 11 points", max_dets=NO_LIMIT, recalls=eleven, voc=True),
    )


def trapezoid_ap(ranking: Ranking, max_dets: int) -> Floats:
    """Return AP [K, T] as Ultralytics integrates it; NaN for a class without ground truth, 0 without predictions.

    With recall r_i and precision p_i after the i-th prediction, the curve goes through (0, 1), (r_i, the largest
    precision from i on), falls to 0 at the last recall and ends in (1, 0). It is read at 101 recalls, in straight lines
    between its points, and the trapezoids under these are summed.
    """
    truths, thresholds = ranking.truths(0), ranking.state.shape[2]
    values = np.where(truths[:, None] > 0, np.zeros((1, thresholds)), np.nan)
    for kind in np.flatnonzero(truths):
        rows = slice(ranking.class_starts[kind], ranking.class_starts[kind + 1])
        kept = ranking.rank[rows] < max_dets
        event, outside = ranking.event[rows][kept], ranking.outside[0, rows][kept].view(bool)
        for at in range(thresholds):
            state = np.full(len(event), WRONG, np.uint8)
            state[event >= 0] = ranking.state[event[event >= 0], 0, at]
            counted = (state != ASIDE) & ((state == RIGHT) | ~outside)
            if counted.any():
                values[kind, at] = _trapezoid(state[counted] == RIGHT, int(truths[kind]))
    return values


def _trapezoid(right: Bools, truths: int) -> float:
    found = np.cumsum(right)
    recall, precision = found / truths, found / np.arange(1, len(right) + 1)
    recalls = np.concatenate([[0.0], recall, [recall[-1], 1.0]])
    precisions = np.concatenate([[1.0], np.maximum.accumulate(precision[::-1])[::-1], [0.0, 0.0]])
    heights = np.interp(RECALLS, recalls, precisions)
    return float(((heights[1:] + heights[:-1]) / 2 * np.diff(RECALLS)).sum())


def _compose(*changes: Callable[[Data], Data]) -> Callable[[Data], Data]:
    def change(data: Data) -> Data:
        for one in changes:
            data = one(data)
        return data

    return change


def _keep(data: Data, rows: Bools | pa.ChunkedArray) -> Data:
    suite, outputs = data
    assert outputs.predictions is not None
    mask = rows if isinstance(rows, pa.ChunkedArray) else pa.array(rows)
    return suite, replace(outputs, predictions=outputs.predictions.filter(mask))


def _scored_from(least: float) -> Callable[[Data], Data]:
    return lambda data: _keep(data, np.asarray(_column(data, "score")) >= least)


def _best_of_image(count: int) -> Callable[[Data], Data]:
    """Keep the predictions of the highest scores in each image; of equal scores the first."""

    def change(data: Data) -> Data:
        images = np.unique(np.asarray(_column(data, "case_id"), object).astype(str), return_inverse=True)[1]
        order = np.lexsort((-np.asarray(_column(data, "score")), images))
        first = np.searchsorted(images[order], images[order])
        kept = np.zeros(len(order), bool)
        kept[order] = np.arange(len(order)) - first < count
        return _keep(data, kept)

    return change


def _suppress(iou: float) -> Callable[[Data], Data]:
    """Drop a box that overlaps one of its image and class, of a higher score and kept itself, by more than `iou`."""

    def change(data: Data) -> Data:
        groups: dict[tuple[str, str], list[int]] = {}
        keys = zip(_column(data, "case_id").to_pylist(), _column(data, "label").to_pylist(), strict=True)
        for row, key in enumerate(keys):
            groups.setdefault(key, []).append(row)
        box = np.column_stack([_column(data, side).to_numpy(zero_copy_only=False) for side in BOX])
        score = np.asarray(_column(data, "score"))
        kept = np.zeros(len(box), bool)
        for rows in groups.values():
            left = np.array(rows)[np.argsort(-score[rows], kind="stable")]
            while len(left):
                kept[left[0]] = True
                left = left[1:][paired_ious(box[left[0]], box[left[1:]]) <= iou]
        return _keep(data, kept)

    return change


def _without_crowds(data: Data) -> Data:
    suite, outputs = data
    assert suite.annotations is not None
    return replace(suite, annotations=suite.annotations.filter(pc.invert(suite.annotations["is_crowd"]))), outputs


def _on_labelled_images(data: Data) -> Data:
    suite, _ = data
    assert suite.annotations is not None
    labelled = pc.is_in(_column(data, "case_id"), whole(suite.annotations["case_id"]))
    return _keep(data, labelled.to_numpy(zero_copy_only=False))


def _of_one_class(data: Data) -> Data:
    suite, outputs = data
    assert suite.annotations is not None
    assert outputs.predictions is not None

    def renamed(table: pa.Table) -> pa.Table:
        place = table.column_names.index("label")
        return table.set_column(place, table.schema.field("label"), pa.array([OBJECT] * len(table), pa.string()))

    one = replace(suite, annotations=renamed(suite.annotations), labels=(OBJECT,), category_ids=(), classes={})
    return one, replace(outputs, predictions=renamed(outputs.predictions))


def _column(data: Data, name: str) -> pa.Array:
    assert data[1].predictions is not None
    return whole(data[1].predictions[name])
