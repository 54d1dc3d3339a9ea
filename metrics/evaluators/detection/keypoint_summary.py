"""keypoint_summary: the ten numbers that pycocotools prints for key points, for all labels and for each, and PCK."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np
import pyarrow as pa
from pydantic import Field

from metrics.core.array_types import Bytes, Floats, Int32s, Ints
from metrics.core.errors import InputError, InputProblem
from metrics.core.evaluator import Aggregate, Columns, Example, Findings, Metric
from metrics.core.sampling_design import SamplingDesign
from metrics.core.suite import Outputs, Suite, sizes_assumed
from metrics.evaluators._half_samples import Spread, number
from metrics.evaluators._objects import codes_of, object_labels, object_tables, reference_problems, refuse
from metrics.evaluators.detection._examples import detection_evaluator, label_rows
from metrics.evaluators.detection._matched import Iou, Matched, MaxDets, ResampledParameters, Scene
from metrics.evaluators.detection.average_precision import interpolated_curves
from metrics.stats.float_tolerance import mean_over, ratio
from metrics.stats.resample_intervals import has_enough_truths
from metrics.vision.coco_lines import Line
from metrics.vision.geometry import BOX, faults, keypoints_of, whole
from metrics.vision.keypoints import VALUES, Keypoints, oks_pairs, point_errors, sigmas_of
from metrics.vision.matching import AREAS, IOU_THRESHOLDS, has_threshold, match
from metrics.vision.objects import prepare
from metrics.vision.outcomes import LOCALISED, TP
from metrics.vision.precision_recall import Ranking

POINTS = "x y v of every key point in finite numbers"
NEVER = np.inf  # the area of what is to be ignored in every range


@dataclass(frozen=True, eq=False)
class KeypointMatches:
    """Objects matched by OKS, as Matched has them, with their key points and the areas [G] of the ground truths."""

    found: Matched
    points: Keypoints
    truths: Keypoints
    area: Floats

    @property
    def has_points(self) -> bool:
        """Whether a prediction has key points, or there is no prediction at all."""
        return not len(self.points) or bool(self.points.counts.any())


class KeyPoints(NamedTuple):
    """COCO's key points: objects are as alike as their key points (OKS). `sigmas` go before those of the classes."""

    sigmas: tuple[float, ...] = ()

    def applied(self, scene: Scene, suite: Suite, outputs: Outputs) -> Scene:  # noqa: ARG002 - Benchmark's signature
        """Return the scene of the same objects with OKS in place of IoU."""
        return _read_points(suite, outputs, self.sigmas)[0]


def keypoint_matches(
    suite: Suite, outputs: Outputs, thresholds: Sequence[float], sigmas: Sequence[float] = ()
) -> KeypointMatches:
    """Match one model's predictions by OKS at `thresholds`; InputError listing every record that cannot be used.

    A ground truth without labelled key points is ignored, and so is what is matched with it, but unlike a crowd it
    takes one prediction only. Boxes that predictions lack are those around their key points.
    """
    scene, points, truths, area = _read_points(suite, outputs, sigmas)
    ranges = tuple(AREAS.values())
    matches = match(scene.objects, thresholds, ranges, scene.overlaps(min(*thresholds, LOCALISED)))
    return KeypointMatches(Matched(scene, matches, Ranking.of(scene.objects, matches), ranges), points, truths, area)


def _read_points(suite: Suite, outputs: Outputs, sigmas: Sequence[float]) -> tuple[Scene, Keypoints, Keypoints, Floats]:
    """Return the objects as a scene, the key points of predictions and of ground truths, and the areas of these."""
    annotations, predictions = object_tables(suite, outputs)
    case_ids = whole(suite.cases["case_id"])
    labels = object_labels(suite, outputs)
    names = pa.array(labels, pa.string())
    truth_image, image = (codes_of(table["case_id"], case_ids) for table in (annotations, predictions))
    truth_class, kind = (codes_of(table["label"], names) for table in (annotations, predictions))
    score = whole(predictions["score"]).to_numpy(zero_copy_only=False)
    truths, points = (keypoints_of(table) for table in (annotations, predictions))
    counts = _counts(truths, truth_class)
    refuse(
        [
            *reference_problems("annotations", annotations, truth_image),
            *reference_problems("predictions", predictions, image),
            *_faults("annotations", annotations, truths, truth_class, counts),
            *_faults("predictions", predictions, points, kind, counts),
            *faults("predictions", "score", predictions["score"], ~np.isfinite(score), "a finite number"),
        ]
    )
    try:
        constants = sigmas_of(labels, suite.classes, {labels[code]: n for code, n in counts.items()}, sigmas)
    except ValueError as error:
        problem = InputProblem("keypoint_summary", str(error), "one, or one for each key point", column="sigmas")
        raise InputError([problem]) from None
    truth_box, box = _boxes(annotations, truths), _boxes(predictions, points)
    area = whole(annotations["area"]).to_numpy(zero_copy_only=False)
    area = np.where(np.isnan(area), truth_box[:, 2] * truth_box[:, 3], area)
    objects = prepare(
        images=len(case_ids),
        classes=len(labels),
        truth_image=truth_image,
        truth_class=truth_class,
        truth_box=truth_box,
        truth_area=np.where(truths.labelled > 0, area, NEVER),
        crowd=whole(annotations["is_crowd"].fill_null(False)).to_numpy(zero_copy_only=False),
        prediction_image=image,
        prediction_class=kind,
        prediction_box=box,
        score=score,
    )
    scene = Scene(
        objects, labels, case_ids, whole(annotations["annotation_id"]), whole(predictions["prediction_id"]),
        SamplingDesign.of(suite.cases).units.astype(np.int32), sized=not sizes_assumed(suite.cases),
        ignored=objects.crowd | (truths.labelled == 0),
        find=lambda floor: oks_pairs(objects, points, truths, area, constants, floor),
    )  # fmt: skip
    return scene, points, truths, area


def _counts(truths: Keypoints, truth_class: Int32s) -> dict[int, int]:
    """Return how many key points the objects of each class have: those of its first ground truth with some."""
    some = np.flatnonzero(truths.counts)
    classes, first = np.unique(truth_class[some], return_index=True)
    return dict(zip(classes.tolist(), truths.counts[some[first]].tolist(), strict=True))


def _faults(file: str, table: pa.Table, points: Keypoints, kind: Int32s, counts: dict[int, int]) -> list[InputProblem]:
    """Return the key points that are no finite numbers, or not as many as the first object of the class has."""
    owner = np.repeat(np.arange(len(points)), np.diff(points.start))
    broken = np.bincount(owner[~np.isfinite(points.values)], minlength=len(points)) > 0
    broken |= np.diff(points.start) % VALUES > 0
    expected = np.array([counts.get(code, -1) for code in kind.tolist()], np.int64)
    other = ~broken & (points.counts > 0) & (expected >= 0) & (points.counts != expected)
    return [
        *faults(file, "keypoints", table["keypoints"], broken, POINTS),
        *(
            InputProblem(file, f"{points.counts[row]} key points", f"{expected[row]}, as others of the class have",
                         row + 1, "keypoints")
            for row in np.flatnonzero(other).tolist()
        ),
    ]  # fmt: skip


def _boxes(table: pa.Table, points: Keypoints) -> Floats:
    """Return the boxes [N, 4], around the key points where an object has none; 0 0 0 0 without either."""
    boxes = np.column_stack([whole(table[name]).to_numpy(zero_copy_only=False) for name in BOX]).astype(np.float64)
    lacking = ~np.isfinite(boxes.sum(axis=1))
    if lacking.any():
        boxes[lacking] = np.nan_to_num(points.boxes()[lacking])
    return boxes


NO_POINTS = "the model's predictions have no key points"
NO_LABELLED = "no ground truth has a labelled key point and counts"
NONE_FOUND = "no labelled key point is of an object that was found"
Sigma = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class KeypointSummaryParameters(ResampledParameters):
    """The constants of OKS, the limits of the summary, and what is stored."""

    sigmas: tuple[Sigma, ...] = Field(
        (),
        description="OKS constant σ of each key point in order, or one for all. Empty: those that the classes bring, "
        "COCO's for 17 key points, .05 for others.",
    )
    max_dets: MaxDets = 20
    match_iou_threshold: Iou = Field(
        0.5, description="OKS at which the stored matches, and PCK, call a prediction right."
    )
    pck_threshold: float = Field(
        0.2,
        gt=0,
        allow_inf_nan=False,
        description="Largest distance of a correct key point, as a share of the square root of the object's area.",
    )


def _person(points: list[float], **more: Any) -> dict[str, Any]:
    return {"case_id": "a", "label": "person", "x": 0.0, "y": 0.0, "width": 100.0, "height": 100.0,
            "keypoints": points, **more}  # fmt: skip


# Two key points, the second one hidden; of the second person only the first point is labelled.
_PAIR = {
    "task": "detection",
    "cases": [{"case_id": "a"}],
    "annotations": [
        _person([20, 20, 2, 80, 80, 1], annotation_id=1, area=10_000.0),
        _person([220, 20, 2, 0, 0, 0], annotation_id=2, area=10_000.0, x=200.0),
    ],
    "outputs": [{"case_id": "a", "model": "m"}],
    "predictions": [
        _person([20, 20, 1, 80, 80, 1], model="m", score=0.9),
        _person([230, 20, 1, 280, 80, 1], model="m", score=0.8, x=200.0),
    ],
}


@detection_evaluator(
    stand="first",
    default_needs=("keypoints",),
    metrics=(
        Metric("AP", "AP averaged over OKS .50:.05:.95, mean over labels; COCO's primary number.", primary=True),
        Metric("AP50", "AP at OKS .50 (loose)."),
        Metric("AP75", "AP at OKS .75 (strict)."),
        Metric("AP_medium", "AP of objects from 32² to 96² square pixels.", minor=True),
        Metric("AP_large", "AP of objects from 96² square pixels.", minor=True),
        Metric("AR", "Average recall over OKS .50:.05:.95."),
        Metric("AR50", "Recall at OKS .50.", minor=True),
        Metric("AR75", "Recall at OKS .75.", minor=True),
        Metric("AR_medium", "Average recall of objects from 32² to 96² square pixels.", minor=True),
        Metric("AR_large", "Average recall of objects from 96² square pixels.", minor=True),
        Metric("PCK", "Share of the labelled key points of found objects that are close enough.", threshold=None),
        Metric.detail("keypoint_PCK", "PCK of one key point."),
    ),
    sources=(
        "Lin et al., Microsoft COCO: Common Objects in Context, 2014; COCO keypoint evaluation; pycocotools 2.0, "
        "COCOeval.computeOks and summarize",
        "Yang & Ramanan, Articulated human detection with flexible mixtures of parts, 2013 (PCK)",
    ),
    examples=(
        Example(
            "one pose exactly; one with its only labelled point 10 pixels off, OKS exp(−100/(2·10,000·.01)) = .607",
            _PAIR,
            expect={
                "AP": (3 * 1 + 7 * 51 / 101) / 10,
                "AP50": 1.0,
                "AR": (3 * 1 + 7 * 0.5) / 10,
                "AP_medium": None,
                "PCK": 1.0,
            },
            rows=({"metric": "AP75", "label": "person", "value": 51 / 101},),
        ),
        Example(
            "the same with σ .1 for both points: OKS exp(−100/(2·10,000·.04)) = .882",
            _PAIR,
            expect={"AP": (8 * 1 + 2 * 51 / 101) / 10},
            rows=(
                {"metric": "keypoint_PCK", "label": "person", "keypoint": "1", "value": 0.5},
                {"metric": "keypoint_PCK", "label": "person", "keypoint": "2", "value": 1.0},
            ),
            parameters={"sigmas": [0.1], "pck_threshold": 0.05},
        ),
    ),
    differs_from="coco_summary compares boxes or masks by IoU; here only key points count, by their similarity.",
    differs_from_source="No number of pycocotools differs, to 1e-9. What it prints as −1 has no value here. Labelled "
    "key points are counted (v > 0), where pycocotools trusts num_keypoints for what is ignored. Classes of any number "
    "of key points work, with constants of their own. PCK and intervals are added.",
)
def keypoint_summary(suite: Suite, outputs: Outputs, parameters: KeypointSummaryParameters) -> Findings:
    """COCO's ten numbers of key points: average precision and recall over OKS .50:.05:.95, and by area; and PCK.

    Poses are matched as boxes are in coco_summary, with object keypoint similarity (OKS) in the place of IoU. With d
    the distance of a predicted from the true key point, s² the annotation's area in square pixels, and σ the constant
    of that key point:

        OKS = mean over the labelled key points of exp(−d² / (2 · s² · (2σ)²))

    Key points with v = 0 are not labelled and count nowhere; hidden ones (1) and visible ones (2) count alike, and the
    v of a prediction is not looked at. A ground truth without any labelled key point is ignored: a prediction that lies
    in or near its box may be matched with it, and is then neither right nor wrong. A crowd is ignored likewise. σ is
    the spread of people's own clicks on a key point: 2σ away at the object's scale is an OKS of .61. `sigmas` sets it;
    else it is the class's own; COCO's for 17 key points; .05 for others. (Ultralytics takes 1/k for k key points that
    are not 17.)

    AP, AP50, AP75, AP_medium, AP_large, AR, AR50, AR75, AR_medium and AR_large are of all labels (the mean of those
    with ground truth) and, with `label`, of each; `max_dets` predictions of an image and label count, 20 in COCO.
    medium is an area of 32² to 96², large from 96² square pixels; of a prediction the area of its box, or of the box
    around its key points where it has none. 0 … 1, higher is better. A model without key points in its predictions has
    no value.

    PCK, the share of correct key points, is of the labelled key points of found objects (those matched at
    `match_iou_threshold`): those at most `pck_threshold` · √area away. `keypoint_PCK` is that of one key point, named
    in the column keypoint (by its number, from 1, where the class has no names): which joints are off.

    The curve has the columns label, iou (the OKS threshold), recall, precision and score, as average_precision's. In
    the matches, too, iou is the OKS; a prediction is background where no OKS reaches .1, which a pose with left
    and right swapped may not.

    Equal to pycocotools 2.0 to 1e-9. The 95 % interval is from half-samples of the images (of `cases.group` where
    given).
    """
    iou = parameters.match_iou_threshold
    grid = IOU_THRESHOLDS if has_threshold(IOU_THRESHOLDS, iou) else (*IOU_THRESHOLDS, iou)
    matches = keypoint_matches(suite, outputs, grid, parameters.sigmas)
    outcomes, table = matches.found.outcomes_at(iou, 0, parameters.max_dets)
    right = np.flatnonzero(outcomes.prediction == TP)
    lines = _lines(parameters.max_dets)
    aggregates = [row for line in lines for row in _rows(matches, parameters, line)]
    aggregates += _pck(suite, matches, parameters, right, outcomes.truth[right])
    aggregates.sort(key=lambda row: row.label is not None)
    curves = interpolated_curves(matches.found, AREAS["all"], parameters.max_dets)
    return Findings(aggregates, matches=table, curves=curves if matches.has_points else curves[:0])


def _lines(limit: int) -> list[Line]:
    """Return the ten lines of the summary: all areas at all OKS, .50 and .75, then all OKS for two area ranges."""
    return [
        line
        for name, precision in (("AP", True), ("AR", False))
        for line in (
            *(
                Line(f"{name}{iou}", precision, "all", limit, int(iou) / 100 if iou else None)
                for iou in ("", "50", "75")
            ),
            *(Line(f"{name}_{area}", precision, area, limit) for area in ("medium", "large")),
        )
    ]


def _rows(matches: KeypointMatches, parameters: KeypointSummaryParameters, line: Line) -> list[Aggregate]:
    found, bounds, many = matches.found, AREAS[line.area], len(IOU_THRESHOLDS)
    ap, recall = found.estimates(parameters, bounds, line.max_dets)
    estimates = line.of((ap[..., :many], recall[..., :many]), found.matches.thresholds[:many])
    why = found.why_none(bounds) or NO_LABELLED
    if not matches.has_points:
        estimates, why = np.full_like(estimates, np.nan), NO_POINTS
    truths = found.truths(bounds)
    columns: Columns = {"oks": line.iou, "area": line.area, "max_dets": line.max_dets}
    enough = has_enough_truths(truths) or not line.precision
    overall = mean_over(estimates, 1)
    return label_rows(found.scene, line.metric, overall, estimates, truths, columns, enough=enough, why=why)


def _pck(
    suite: Suite, matches: KeypointMatches, parameters: KeypointSummaryParameters, right: Ints, truth: Int32s
) -> list[Aggregate]:
    """Return PCK of all labels, of each, and of each key point, from the predictions `right` [M] and their `truth`."""
    scene = matches.found.scene
    labels, objects = scene.labels, scene.objects
    match, place, error = point_errors(matches.points, matches.truths, right, truth.astype(np.int64), matches.area)
    label = objects.truth_class[truth[match]]
    most = int(place.max(initial=0)) + 1
    cell = label.astype(np.int64) * most + place
    weights = scene.weights(parameters.resamples, parameters.seed)
    close, counted = (
        _sums(weights, objects.prediction_image[right[match]][kept], cell[kept], len(labels) * most)
        for kept in (error <= parameters.pck_threshold, np.ones(len(error), np.bool_))
    )
    close, counted = (each.reshape(-1, len(labels), most) for each in (close, counted))
    part, whole = close.sum(axis=2), counted.sum(axis=2)
    columns: Columns = {"oks": parameters.match_iou_threshold, "max_dets": parameters.max_dets}
    why = NONE_FOUND if matches.has_points else NO_POINTS
    overall = ratio(part.sum(axis=1), whole.sum(axis=1))
    rows = label_rows(scene, "PCK", overall, ratio(part, whole), whole[0], columns, why=why)
    spread = Spread.of(ratio(close, counted), counted[0], scene.drawn)
    for code, joint in np.argwhere(counted[0] > 0).tolist():
        names = suite.classes[labels[code]].keypoints if labels[code] in suite.classes else ()
        named = {**columns, "keypoint": names[joint] if joint < len(names) else str(joint + 1)}
        n = int(counted[0, code, joint])
        rows.append(number("keypoint_PCK", spread, (code, joint), n=n, label=labels[code], columns=named))
    return rows


def _sums(weights: Bytes, image: Int32s, cell: Ints, cells: int) -> Floats:
    """Return how often each cell occurs in each data set [1 + B, C]; weights: [1 + B, I]."""
    counts = np.bincount(image * cells + cell, minlength=weights.shape[1] * cells).reshape(weights.shape[1], cells)
    return (weights.astype(np.float32) @ counts.astype(np.float32)).astype(np.float64)
