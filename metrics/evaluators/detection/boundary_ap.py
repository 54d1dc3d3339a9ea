"""boundary_ap: COCO's average precision of masks by the lesser of mask IoU and boundary IoU."""

from typing import Literal

from pydantic import Field

from metrics.core.evaluator import Aggregate, Example, Findings, Metric
from metrics.core.evaluator_decorator import evaluator
from metrics.core.suite import Outputs, Suite
from metrics.evaluators.detection._boundary import Boundaries
from metrics.evaluators.detection._examples import SHORT_POND
from metrics.evaluators.detection._label_rows import line_rows
from metrics.evaluators.detection._matched import MatchParameters, MaxDets, matched, matches_at
from metrics.vision.coco_lines import summary_lines
from metrics.vision.matching import AREAS, IOU_THRESHOLDS


class BoundaryApParameters(MatchParameters):
    """How wide contours are, and how many predictions count."""

    dilation_ratio: float = Field(
        0.02, gt=0, le=0.5, description="Width of the band along contours, as a share of the image's diagonal."
    )
    max_dets: MaxDets = 100
    geometry: Literal["mask"] = Field("mask", description="Contours are those of masks at the image's resolution.")


@evaluator(
    id="boundary_ap",
    title="Boundary AP",
    tasks=("detection",),
    inputs=("annotations", "predictions"),
    metrics=(
        Metric("AP", "Boundary AP averaged over IoU .50:.05:.95, mean over labels.", primary=True),
        Metric("AP50", "Boundary AP at IoU .50."),
        Metric("AP75", "Boundary AP at IoU .75 (strict)."),
        Metric("AP_small", "Boundary AP of objects up to 32² square pixels.", minor=True),
        Metric("AP_medium", "Boundary AP of objects from 32² to 96² square pixels.", minor=True),
        Metric("AP_large", "Boundary AP of objects from 96² square pixels.", minor=True),
    ),
    has_thresholds=False,
    sources=(
        "Cheng et al., Boundary IoU: improving object-centric image segmentation evaluation, 2021",
        "boundary-iou-api 1.0",
    ),
    standards=("NIST AI RMF: valid and reliable", "SR 11-7: outcomes analysis"),
    examples=(
        Example(
            "a pond of 40 × 40 pixels, one row short: 39 / 40 of its mask, but 116 / 194 of its contour of one pixel",
            SHORT_POND,
            rows=(
                {"metric": "AP", "label": "pond", "value": 0.2},
                {"metric": "AP50", "label": None, "value": 1.0},
                {"metric": "AP75", "label": None, "value": 0.0},
            ),
        ),
    ),
    version=1,
    differs_from=(
        "coco_summary of masks takes mask IoU alone, which hardly sees the contours of large objects. boundary_iou of "
        "segmentation_iou is of the classes of pixels, not of objects."
    ),
    differs_from_source=(
        "No number of boundary-iou-api differs, to 1e-9; what it prints as −1 has no value here, and its recalls are "
        "left out. The area of a predicted mask is its number of pixels. Intervals are added."
    ),
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
    found = matched(suite, outputs, IOU_THRESHOLDS, geometry="mask", benchmark=benchmark)
    rows: list[Aggregate] = []
    for line in summary_lines([limit]):
        if line.precision:
            estimates = found.estimates(parameters, AREAS[line.area], limit)
            rows += line_rows(found, line, line.of(estimates, found.matches.thresholds))
    rows.sort(key=lambda row: row.label is not None)
    iou = parameters.match_iou_threshold
    return Findings(rows, matches=matches_at(suite, outputs, found, iou, max_dets=limit, benchmark=benchmark))
