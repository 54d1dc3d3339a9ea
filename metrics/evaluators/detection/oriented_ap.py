"""oriented_ap: DOTA's average precision of rotated boxes."""

from pydantic import Field

from metrics.core.evaluator import Aggregate, Columns, Example, Findings, Metric
from metrics.core.evaluator_decorator import evaluator
from metrics.core.suite import Outputs, Suite
from metrics.evaluators.detection._examples import ROTATED_SHIP
from metrics.evaluators.detection._interpolated import interpolated_curves
from metrics.evaluators.detection._label_rows import label_rows
from metrics.evaluators.detection._matched import MatchParameters, matched, matches_at
from metrics.evaluators.detection._voc import (
    INTERPOLATION,
    InterpolatedParameters,
    Interpolation,
    PascalVoc,
    average_precisions,
    bias_of,
)
from metrics.stats.ratios import mean_over
from metrics.stats.resample_intervals import has_enough_truths
from metrics.vision.geometry import Geometry
from metrics.vision.matching import IOU_THRESHOLDS, threshold_index

LINES = {"AP50": 0.5, "AP75": 0.75, "AP": None}


class OrientedApParameters(MatchParameters, InterpolatedParameters):
    """How DOTA's average precision is taken."""

    interpolation: Interpolation = Field("eleven_points", description=INTERPOLATION)
    geometry: Geometry = Field(
        "polygon", description="What is compared: outlines exactly. See average_precision for the others."
    )


@evaluator(
    id="oriented_ap",
    title="Oriented boxes (DOTA AP)",
    tasks=("detection",),
    inputs=("annotations", "predictions"),
    metrics=(
        Metric("AP50", "Mean over labels of AP of rotated boxes at IoU .50; DOTA's primary number.", primary=True),
        Metric("AP75", "AP of rotated boxes at IoU .75 (strict)."),
        Metric("AP", "AP of rotated boxes averaged over IoU .50:.05:.95."),
    ),
    has_thresholds=False,
    sources=("Xia et al. 2018, DOTA: A Large-scale Dataset for Object Detection in Aerial Images; DOTA devkit",),
    standards=("NIST AI RMF: valid and reliable", "SR 11-7: outcomes analysis"),
    examples=(
        Example(
            "a ship turned by 45° is found; the box around it, upright, has half of it",
            ROTATED_SHIP,
            rows=(
                {"metric": "AP50", "label": "ship", "value": 1.0},
                {"metric": "AP75", "label": None, "value": 1.0},
                {"metric": "AP", "label": None, "value": 1.0},
            ),
        ),
    ),
    version=1,
    differs_from=(
        "voc_ap by the outlines of rotated boxes instead of upright boxes. average_precision with geometry polygon "
        "compares the same outlines by COCO's rule, and counts difficult objects."
    ),
    differs_from_source=(
        "A prediction with an IoU of exactly the threshold is right, as VOC says, where DOTA's script wants more. "
        "Recalls of .3, .6 and .7 are reached by 3, 6 and 7 of 10, which rounding hides from its 11 points. "
        "Intersections are exact, by shapely. AP75 and AP average the same precision at other IoU. Intervals are "
        "added."
    ),
)
def oriented_ap(suite: Suite, outputs: Outputs, parameters: OrientedApParameters) -> Findings:
    """DOTA's average precision (AP) of rotated boxes: Pascal VOC's, by the IoU of outlines.

    Predictions of a label are taken best score first over all images. Each claims the ground truth of its image and
    label with the highest IoU, whether that is free or not, and is right if the IoU is at least the threshold and no
    better prediction claimed it; it is ignored if that ground truth is `difficult`. With rings P and G:

        IoU = area(P ∩ G) / area(P ∪ G)

    and AP as in voc_ap, by default the mean of the interpolated precision at recall 0, .1, … 1 as DOTA's script has it.
    AP50 is at IoU .5, AP75 at .75, AP the mean over .50:.05:.95; each for all labels (the mean of those with ground
    truth) and, with `label`, for each. 0 … 1, higher is better.

    Rings of any number of points are compared, boxes without a ring as upright boxes. Rings that cross themselves are
    repaired. A label without ground truth has no AP. The 95 % interval is from half-samples of the images (of
    `cases.group` where given; of 11 points with less of their correction for bias); a mean over more than 5 labels has
    none with fewer than 6 ground truths per label.
    """
    benchmark = PascalVoc()
    found = matched(suite, outputs, IOU_THRESHOLDS, geometry=parameters.geometry, benchmark=benchmark)
    estimates, truths = average_precisions(found, parameters), found.truths()
    enough = has_enough_truths(truths)
    rows: list[Aggregate] = []
    for metric, iou in LINES.items():
        at = found.matches.thresholds
        values = mean_over(estimates, 2) if iou is None else estimates[:, :, threshold_index(at, iou)]
        bias = bias_of(parameters.interpolation, averaged=iou is None)
        columns: Columns = {"iou": iou, "interpolation": parameters.interpolation, **found.scene.columns}
        rows += label_rows(found.scene, metric, mean_over(values, 1), values, truths, columns, enough=enough, bias=bias)
    rows.sort(key=lambda row: row.label is not None)
    table = matches_at(suite, outputs, found, parameters.match_iou_threshold, benchmark=benchmark)
    return Findings(rows, curves=interpolated_curves(found, only=(0.5, 0.75)), matches=table)
