"""keypoint_summary: the ten numbers that pycocotools prints for key points, for all labels and for each, and PCK."""

from typing import Annotated, Any

import numpy as np
from pydantic import Field

from metrics.core.array_types import Bytes, Floats, Int32s, Ints
from metrics.core.evaluator import Aggregate, Columns, Example, Findings, Metric
from metrics.core.evaluator_decorator import evaluator
from metrics.core.suite import Outputs, Suite
from metrics.evaluators._half_samples import Spread, number
from metrics.evaluators.detection._interpolated import interpolated_curves
from metrics.evaluators.detection._keypoints import KeypointMatches, keypoint_matches
from metrics.evaluators.detection._label_rows import label_rows
from metrics.evaluators.detection._matched import Iou, MaxDets, ResampledParameters
from metrics.stats.ratios import mean_over, ratio
from metrics.stats.resample_intervals import has_enough_truths
from metrics.vision.coco_lines import Line
from metrics.vision.keypoints import point_errors
from metrics.vision.matching import AREAS, IOU_THRESHOLDS, has_threshold
from metrics.vision.outcomes import TP

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
        0.2, gt=0, allow_inf_nan=False,
        description="Largest distance of a correct key point, as a share of the square root of the object's area.",
    )  # fmt: skip


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


@evaluator(
    id="keypoint_summary",
    title="Keypoint summary",
    tasks=("detection",),
    inputs=("annotations", "predictions"),
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
        Metric("keypoint_PCK", "PCK of one key point.", threshold=None, minor=True),
    ),
    has_thresholds=False,
    sources=(
        "Lin et al., Microsoft COCO: Common Objects in Context, 2014; COCO keypoint evaluation; pycocotools 2.0, "
        "COCOeval.computeOks and summarize",
        "Yang & Ramanan, Articulated human detection with flexible mixtures of parts, 2013 (PCK)",
    ),
    standards=("NIST AI RMF: valid and reliable", "SR 11-7: outcomes analysis"),
    examples=(
        Example(
            "one pose exactly; one with its only labelled point 10 pixels off, OKS exp(−100/(2·10,000·.01)) = .607",
            _PAIR,
            rows=(
                {"metric": "AP", "label": None, "value": (3 * 1 + 7 * 51 / 101) / 10},
                {"metric": "AP50", "label": None, "value": 1.0},
                {"metric": "AP75", "label": "person", "value": 51 / 101},
                {"metric": "AR", "label": None, "value": (3 * 1 + 7 * 0.5) / 10},
                {"metric": "AP_medium", "label": None, "value": None},
                {"metric": "PCK", "label": None, "value": 1.0},
            ),
        ),
        Example(
            "the same with σ .1 for both points: OKS exp(−100/(2·10,000·.04)) = .882",
            _PAIR,
            rows=(
                {"metric": "AP", "label": None, "value": (8 * 1 + 2 * 51 / 101) / 10},
                {"metric": "keypoint_PCK", "label": "person", "keypoint": "1", "value": 0.5},
                {"metric": "keypoint_PCK", "label": "person", "keypoint": "2", "value": 1.0},
            ),
            parameters={"sigmas": [0.1], "pck_threshold": 0.05},
        ),
    ),
    version=1,
    differs_from="coco_summary compares boxes or masks by IoU; here only key points count, by their similarity.",
    differs_from_source=(
        "No number of pycocotools differs, to 1e-9. What it prints as −1 has no value here. Labelled key points are "
        "counted (v > 0), where pycocotools trusts num_keypoints for what is ignored. Classes of any number of key "
        "points work, with constants of their own. PCK and intervals are added."
    ),
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
    the matches, too, iou is the OKS; a prediction is a hallucination where no OKS reaches .1, which a pose with left
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
