"""Summaries by COCO's rules: the twelve numbers that pycocotools prints, and average precision along contours."""

from dataclasses import replace
from typing import Literal, NamedTuple

from pydantic import Field

from metrics.core.evaluator import Aggregate, Example, Findings, Metric
from metrics.core.suite import Outputs, Suite
from metrics.evaluators.detection._examples import CROWDED_STREET, SHORT_POND, TWO_CATS, detection_evaluator, line_rows
from metrics.evaluators.detection._matched import Count, MatchParameters, MaxDets, Scene, match_objects, matches_at
from metrics.vision.coco_lines import summary_lines
from metrics.vision.masks import BoundaryOverlap, MaskOverlap
from metrics.vision.matching import AREAS, IOU_THRESHOLDS
from metrics.vision.precision_recall import MAX_DETS


class CocoSummaryParameters(MatchParameters):
    """What the summary's limits are."""

    max_dets: tuple[Count, ...] = Field(
        MAX_DETS,
        min_length=1,
        description="Predictions per image and label that count, best scores first. The largest is that of every AP "
        "and of AR_small, AR_medium, AR_large; one that is not 1, 10 or 100 gets a row AR of its own.",
    )


@detection_evaluator(
    title="COCO summary",
    stand="first",
    metrics=(
        Metric("AP", "AP averaged over IoU .50:.05:.95, mean over labels; COCO's primary number.", primary=True),
        Metric("AP50", "AP at IoU .50 (PASCAL VOC's)."),
        Metric("AP75", "AP at IoU .75 (strict)."),
        Metric("AP_small", "AP of objects up to 32² square pixels.", minor=True),
        Metric("AP_medium", "AP of objects from 32² to 96² square pixels.", minor=True),
        Metric("AP_large", "AP of objects from 96² square pixels.", minor=True),
        Metric("AR_1", "Average recall with 1 prediction per image and label.", minor=True),
        Metric("AR_10", "Average recall with 10 predictions per image and label.", minor=True),
        Metric("AR_100", "Average recall with 100 predictions per image and label."),
        Metric("AR_small", "Average recall of objects up to 32² square pixels.", minor=True),
        Metric("AR_medium", "Average recall of objects from 32² to 96² square pixels.", minor=True),
        Metric("AR_large", "Average recall of objects from 96² square pixels.", minor=True),
        Metric("AR", "Average recall at another maxDets, named in the column max_dets.", minor=True),
    ),
    sources=("Lin et al., Microsoft COCO: Common Objects in Context, 2014; pycocotools 2.0, COCOeval.summarize",),
    examples=(
        Example(
            "one of two cats found exactly, the other at IoU .667",
            TWO_CATS,
            expect={
                "AP": 51 / 101 + 50 / 101 * 2 / 3 * 0.4,
                "AP50": 51 / 101 + 50 / 101 * 2 / 3,
                "AP_small": None,
                "AR_1": 0.5,
                "AR_100": 0.7,
            },
            rows=(
                {"metric": "AP75", "label": "cat", "value": 51 / 101},
                {"metric": "AR_large", "label": "cat", "value": 0.7},
            ),
        ),
        Example(
            "a crowd absorbs predictions, a label without ground truth is left out",
            CROWDED_STREET,
            expect={"AP": 1.0},
            rows=(
                {"metric": "AP", "label": "dog", "value": None},
                {"metric": "AR_medium", "label": "person", "value": 1.0},
                {"metric": "AR", "label": None, "max_dets": 300, "value": 1.0},
            ),
            parameters={"max_dets": [1, 10, 300]},
        ),
    ),
    version=2,
    differs_from="average_precision and average_recall with COCO's grid of IoU, areas and maxDets fixed; its AR is "
    "COCO's, not Valor's, which has a score threshold.",
    differs_from_source="No number of pycocotools differs, to 1e-9. What it prints as −1 has no value here, any list "
    "of maxDets is summarised, and the area of a predicted mask is its number of pixels even if results bring a box. "
    "Objects are matched by their place: an annotation of id 0 is found like any other, where pycocotools reads id 0 "
    "as no match and counts a prediction on it as false. Intervals are added.",
)
def coco_summary(suite: Suite, outputs: Outputs, parameters: CocoSummaryParameters) -> Findings:
    """COCO's twelve numbers: average precision and recall over IoU .50:.05:.95, by area and by predictions per image.

    AP, AP50, AP75 and AP_small, AP_medium, AP_large are average precision (see average_precision); AR_1, AR_10, AR_100
    and AR_small, AR_medium, AR_large the mean over labels and IoU of the greatest recall (see average_recall). small is
    an area up to 32², medium 32² to 96², large from 96² square pixels, all bounds included: 1024 is small and medium.
    The area is the annotation's own, not its box's. 0 … 1, higher is better.

    Each number is that of all labels (the mean of those with ground truth) and, with `label`, of each. maxDets is a
    limit per image *and label*. Any list of `max_dets` works: AP and the recalls by area take its largest, AR_1, AR_10
    and AR_100 always have the limit in their name, and every other limit gives a row AR.

    Equal to pycocotools 2.0 to 1e-9, of boxes and of masks (see average_precision for `geometry`), except that what it
    prints as −1 has no value here, and that it cannot summarise every list of maxDets. The area of a predicted mask is
    its number of pixels; pycocotools takes the box's instead if the results bring boxes. The 95 % interval is from
    half-samples of the images (of `cases.group` where given); see average_precision for AP of rare labels.
    """
    found = match_objects(suite, outputs, IOU_THRESHOLDS, geometry=parameters.geometry)
    limits = sorted(set(parameters.max_dets))
    result: list[Aggregate] = []
    lines = summary_lines(limits)
    for area, limit in dict.fromkeys((line.area, line.max_dets) for line in lines):
        here = [line for line in lines if (line.area, line.max_dets) == (area, limit)]
        wanted = any(line.precision for line in here)
        estimates = found.estimates(parameters, AREAS[area], limit, precision=wanted)
        for line in here:
            result += line_rows(found, line, line.of(estimates, found.matches.thresholds))
    order = [line.metric for line in lines]
    result.sort(key=lambda row: (row.label is not None, order.index(row.metric)))
    table = matches_at(suite, outputs, found, parameters.match_iou_threshold, max_dets=limits[-1])
    return Findings(result, matches=table)


class Boundaries(NamedTuple):
    """Masks overlap as much as they or the bands along their contours do, whichever is less."""

    dilation_ratio: float

    def applied(self, scene: Scene, suite: Suite, outputs: Outputs) -> Scene:  # noqa: ARG002 - Benchmark's signature
        """Return the scene with this overlap; of boxes, as where the size of an image is unknown, there is no other."""
        overlap = scene.objects.overlap
        if not isinstance(overlap, MaskOverlap):
            return scene
        along = BoundaryOverlap.of(overlap, self.dilation_ratio)
        return replace(scene, objects=replace(scene.objects, overlap=along), _overlaps={})


class BoundaryApParameters(MatchParameters):
    """How wide contours are, and how many predictions count."""

    dilation_ratio: float = Field(
        0.02, gt=0, le=0.5, description="Width of the band along contours, as a share of the image's diagonal."
    )
    max_dets: MaxDets = 100
    geometry: Literal["mask"] = Field("mask", description="Contours are those of masks at the image's resolution.")


@detection_evaluator(
    title="Boundary AP",
    metrics=(
        Metric("AP", "Boundary AP averaged over IoU .50:.05:.95, mean over labels.", primary=True),
        Metric("AP50", "Boundary AP at IoU .50."),
        Metric("AP75", "Boundary AP at IoU .75 (strict)."),
        Metric("AP_small", "Boundary AP of objects up to 32² square pixels.", minor=True),
        Metric("AP_medium", "Boundary AP of objects from 32² to 96² square pixels.", minor=True),
        Metric("AP_large", "Boundary AP of objects from 96² square pixels.", minor=True),
    ),
    sources=(
        "Cheng et al., Boundary IoU: improving object-centric image segmentation evaluation, 2021",
        "boundary-iou-api 1.0",
    ),
    examples=(
        Example(
            "a pond of 40 × 40 pixels, one row short: 39 / 40 of its mask, but 116 / 194 of its contour of one pixel",
            SHORT_POND,
            expect={"AP50": 1.0, "AP75": 0.0},
            rows=({"metric": "AP", "label": "pond", "value": 0.2},),
        ),
    ),
    differs_from="coco_summary of masks takes mask IoU alone, which hardly sees the contours of large objects. "
    "boundary_iou of segmentation_iou is of the classes of pixels, not of objects.",
    differs_from_source="No number of boundary-iou-api differs, to 1e-9; what it prints as −1 has no value here, and "
    "its recalls are left out. The area of a predicted mask is its number of pixels. Intervals are added.",
)
def boundary_ap(suite: Suite, outputs: Outputs, parameters: BoundaryApParameters) -> Findings:
    """Boundary AP: COCO's average precision of masks that have to agree along their contours.

    The band of a mask are its pixels that have one outside it, or outside the image, within d pixels along each axis;
    d is `dilation_ratio` of the image's diagonal, rounded, at least 1. With masks P and G and their bands P_d and G_d,

        IoU = min( |P ∩ G| / |P ∪ G|,  |P_d ∩ G_d| / |P_d ∪ G_d| )

    and all else is as in coco_summary: AP is the mean over labels and IoU .50:.05:.95, AP50 and AP75 are at one IoU,
    AP_small, AP_medium, AP_large by the annotation's area; for all labels and, with `label`, for each. 0 … 1, higher is
    better. Small objects are all band: there it equals mask AP.

    Polygons and boxes are drawn at the image's resolution, so the size of every image must be known. Crowds absorb
    predictions by the same minimum, over the prediction's own pixels. The 95 % interval is from half-samples of the
    images (of `cases.group` where given); see average_precision for AP of rare labels.
    """
    benchmark, limit = Boundaries(parameters.dilation_ratio), parameters.max_dets
    found = match_objects(suite, outputs, IOU_THRESHOLDS, geometry="mask", benchmark=benchmark)
    rows: list[Aggregate] = []
    for line in summary_lines([limit]):
        if line.precision:
            estimates = found.estimates(parameters, AREAS[line.area], limit)
            rows += line_rows(found, line, line.of(estimates, found.matches.thresholds))
    rows.sort(key=lambda row: row.label is not None)
    iou = parameters.match_iou_threshold
    return Findings(rows, matches=matches_at(suite, outputs, found, iou, max_dets=limit, benchmark=benchmark))
