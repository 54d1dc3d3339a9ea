"""A run's objects matched again by its evaluators' rules: one image at any thresholds, a model at another IoU."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metrics.analysis.objects.object_rings import pose_overlaps, unlabelled
from metrics.analysis.stored_outputs import outputs_where
from metrics.core.array_types import Floats
from metrics.core.label_keys import split_label
from metrics.core.suite import ANNOTATIONS, CASES, OUTPUTS, PREDICTIONS, Outputs, Suite, rows_table
from metrics.store import Run, cache_by_run
from metrics.vision.boxes import box_iou
from metrics.vision.geometry import BOX, SIDES, Compared, Geometry, compared_as, read_sides
from metrics.vision.keypoints import VALUES, sigmas_of
from metrics.vision.outcomes import KINDS, LOCALISED, match_image

if TYPE_CHECKING:
    import pandas as pd

    from metrics.evaluators.detection._matched import Benchmark

SHAPE = ("polygons", "rle")
GEOMETRY = pa.schema([ANNOTATIONS.field(name) for name in (*BOX, *SHAPE, "is_crowd")])
POSES = "keypoint_summary"
ANY_LABEL = "detection_confusion"  # matches by place first, whatever the label
ERRORS = "error_breakdown"
SEGMENTS = "panoptic_quality"
IOU = 0.5
IMAGE = "image"  # the id of a case that is matched by itself
THRESHOLDS = ("match_iou_threshold", "iou_threshold", "pr_curve_iou_threshold")  # under which evaluators keep theirs


Measured = Compared | Literal["keypoints"]  # by what objects are held against each other: IoU of shapes, or OKS


class Rules(NamedTuple):
    """An evaluator's IoU threshold, and how many predictions of an image and label count, best first (None: all).

    `keyed`: labels have keys, and only objects of one key are compared. `benchmark`: whose rules it goes by, None for
    COCO's. `sigmas`: the OKS constants of each label's key points, where these are compared.
    """

    iou: float = IOU
    max_dets: int | None = None
    keyed: bool = False
    benchmark: Benchmark | None = None
    sigmas: Mapping[str, tuple[float, ...]] | None = None

    @property
    def similarity(self) -> str:
        """By what objects are held against each other, in short: IoU, or OKS of key points."""
        return "IoU" if self.sigmas is None else "OKS"


BY_COCO = Rules()


def rules(run: Run, evaluator: str | None) -> Rules:
    """Return the rules of an evaluator of a run, the defaults if the run has no such evaluator or it has none."""
    from metrics.evaluators.detection._benchmarks import benchmark_of

    own = run.evaluators.get(evaluator or "", {})
    most = own.get("max_dets")
    iou = next((float(own[name]) for name in THRESHOLDS if own.get(name) is not None), IOU)
    keyed = bool(run.spec.suite.label_keys)
    benchmark = benchmark_of(evaluator, own, run.suite)
    sigmas = _sigmas(run, tuple(own.get("sigmas", ()))) if _by_points(run, evaluator) else None
    limit = max(most, default=None) if isinstance(most, list | tuple) else most
    return Rules(iou, limit, keyed, benchmark, sigmas)


def compared(run: Run, model: str, repeat: int = 1, evaluator: str | None = None) -> Measured:
    """Return as what a model's objects are compared: by that evaluator, or the first that does not leave it open."""
    if _by_points(run, evaluator):
        return "keypoints"
    own = run.evaluators.get(evaluator or "", {})
    every = [own] if "geometry" in own else run.evaluators.values()
    stated: Geometry = next((each["geometry"] for each in every if each.get("geometry", "auto") != "auto"), "auto")
    return _automatic(run, model, repeat) if stated == "auto" else stated


def _by_points(run: Run, evaluator: str | None) -> bool:
    """Return whether an evaluator of a run compares key points."""
    return POSES in (evaluator, run.evaluators.get(evaluator or "", {}).get("matching"))


def stored_at(run: Run, evaluator: str, iou: float | None) -> bool:
    """Return whether the matches that the run stored answer for this IoU threshold (None: the evaluator's own).

    Those of ANY_LABEL are stored for one score threshold only. Labels with keys are matched by the engine alone, and
    SEGMENTS match at one IoU only.
    """
    own = rules(run, evaluator)
    return own.keyed or evaluator == SEGMENTS or (evaluator != ANY_LABEL and (iou is None or abs(iou - own.iou) < 1e-9))


def matches_at(run: Run, evaluator: str, model: str, repeat: int, iou: float | None) -> pa.Table:
    """Return the matches of one model and repeat at an IoU threshold and any score (schema MATCHES)."""
    from metrics.evaluators.detection._matched import grid_with, match_objects as match_all, outcomes_table, scene_of
    from metrics.evaluators.detection.detection_confusion import match_confused
    from metrics.evaluators.detection.keypoint_summary import keypoint_matches
    from metrics.vision.error_breakdown import find_errors

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
        return outcomes_table(scene, match_confused(scene, iou, -np.inf), iou)
    every = match_all(suite, outputs, grid_with(iou), geometry=geometry, benchmark=own.benchmark)
    if evaluator == ERRORS:
        background = min(float(parameters.get("background_iou", LOCALISED)), iou)
        pairs = every.scene.overlaps(min(iou, background))
        errors = find_errors(every.scene.objects, every.matches, pairs, iou, background, own.max_dets or 100)
        return outcomes_table(every.scene, errors, iou)
    return every.outcomes_at(iou, 0, own.max_dets)[1]


def match_objects(
    annotations: pd.DataFrame,
    predictions: pd.DataFrame,
    iou: float = 0.5,
    score: float = 0.0,
    geometry: Measured = "box",
    size: tuple[int | None, int | None] = (None, None),
    rules: Rules = BY_COCO,
    case: Mapping[str, Any] | None = None,
) -> tuple[list[str], list[str]]:
    """Return what becomes of one model's objects in one image: the kinds of predictions, and of annotations.

    Kinds are those of core.evaluator.MATCHES: tp, fp_…, ignored; for annotations tp, fn_…, ignored; a prediction
    below `score` is `below_score`, one beyond the `max_dets` best of its label `ignored`. size: height and width of the
    image, pixels, which masks need; where it is unknown, or the geometry asked for is missing, the boxes are compared.
    rules: the evaluator's, all but its threshold, for which `iou` stands; those of a benchmark go by what `case` (a row
    of the suite) says of the image. Of key points, a ground truth without a labelled one is ignored with its match.
    """
    if geometry == "keypoints":
        overlaps = pose_overlaps(annotations, predictions, rules.sigmas or {})
        if len(annotations):
            annotations = annotations.assign(is_ignored=unlabelled(annotations))
    elif rules.benchmark is not None:
        here = {**(case or {}), "case_id": IMAGE}
        return _by_benchmark(rules.benchmark, here, annotations, predictions, iou, score, geometry, rules.max_dets)
    else:
        truths, found = (_table(frame, GEOMETRY) for frame in (annotations, predictions))
        overlaps = _overlaps(truths, found, geometry, size)
    if rules.keyed:
        keys = [
            np.array([split_label(str(label))[0] for label in table["label"]]) for table in (predictions, annotations)
        ]
        overlaps = np.where(keys[0][:, None] == keys[1][None, :], overlaps, 0.0)
    return match_image(annotations, predictions, overlaps, iou, score, rules.max_dets)


def _overlaps(
    truths: pa.Table, predictions: pa.Table, geometry: Compared, size: tuple[int | None, int | None]
) -> Floats:
    """Return the IoU of every prediction with every ground truth of one image: [D, G]."""
    image = pa.table({name: pa.array([side], pa.int64()) for name, side in zip(SIDES, size, strict=True)})
    rows = [np.zeros(len(table), np.int32) for table in (truths, predictions)]
    sides, problems = read_sides(geometry, image, truths, predictions, *rows)
    if problems and geometry != "box":
        return _overlaps(truths, predictions, "box", size)
    crowd = truths["is_crowd"].fill_null(False).to_numpy()
    boxes = box_iou(sides.prediction_box, sides.truth_box, crowd)
    if sides.overlap is None:
        return boxes
    result = np.zeros_like(boxes)
    near = np.nonzero(boxes)  # what does not overlap as boxes does not overlap
    if len(near[0]):
        result[near] = sides.overlap(near[0].astype(np.int32), near[1].astype(np.int32), 0.0)
    return result


def _by_benchmark(
    benchmark: Benchmark, case: Mapping[str, Any], annotations: pd.DataFrame, predictions: pd.DataFrame, iou: float,
    score: float, geometry: Compared, max_dets: int | None,
) -> tuple[list[str], list[str]]:  # fmt: skip
    """Return what `match_objects` does, from the engine's matching of this image alone."""
    from metrics.evaluators.detection._matched import match_objects

    truths, rows = _table(annotations, ANNOTATIONS), _table(predictions, PREDICTIONS)
    reached = np.array(rows["score"], np.float64) >= score
    cases = rows_table([{name: case[name] for name in CASES.names if name in case}], CASES)
    suite = Suite(IMAGE, "detection", cases, _of_image(truths))
    answer = rows_table([{"case_id": IMAGE, "model": IMAGE, "run": 1}], OUTPUTS)
    outputs = Outputs(answer, _of_image(rows.filter(pa.array(reached))))
    if geometry != "box" and None in (case.get("image_height"), case.get("image_width")):
        geometry = "box"
    found, _ = match_objects(suite, outputs, (iou,), geometry=geometry, benchmark=benchmark).outcomes_at(
        iou, 0, max_dets
    )
    kinds = np.full(len(rows), "below_score", object)
    kinds[reached] = [KINDS[code] for code in found.prediction]
    return kinds.tolist(), [KINDS[code] for code in found.ground_truth[: len(truths)]]


def _of_image(table: pa.Table) -> pa.Table:
    place = table.schema.get_field_index("case_id")
    return table.set_column(place, "case_id", pa.repeat(IMAGE, len(table)))


def _table(frame: pd.DataFrame, schema: pa.Schema) -> pa.Table:
    """Return the columns of a frame that a schema has, null where it lacks them."""
    columns: list[Any] = [
        pa.array(frame[field.name], field.type, from_pandas=True)
        if field.name in frame
        else pa.nulls(len(frame), field.type)
        for field in schema
    ]
    return pa.table(columns, schema=schema)


@cache_by_run(maxsize=64)
def _sigmas(run: Run, given: tuple[float, ...]) -> dict[str, tuple[float, ...]]:
    """Return the OKS constants of each label, as the evaluator takes them."""
    table, labels = run.suite.annotations, run.suite.labels
    posed = ANNOTATIONS.empty_table() if table is None else table.filter(pc.is_valid(table["keypoints"]))
    numbers = zip(posed["label"].to_pylist(), pc.list_value_length(posed["keypoints"]).to_pylist(), strict=True)
    counts = {label: number // VALUES for label, number in numbers}
    return dict(zip(labels, sigmas_of(labels, run.suite.classes, counts, given), strict=True))


@cache_by_run(maxsize=64)
def _automatic(run: Run, model: str, repeat: int) -> Compared:
    annotations, predictions = run.stored("suite/annotations.parquet"), run.stored("outputs/predictions.parquet")
    if annotations is None or predictions is None:
        return "box"
    this = [("model", "==", model), ("run", "==", repeat)]
    return compared_as("auto", annotations.rows([*SHAPE]), predictions.rows([*SHAPE], this))
