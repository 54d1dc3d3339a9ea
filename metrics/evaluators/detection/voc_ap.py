"""Average precision by Pascal VOC's rules: of boxes, and of outlines as DOTA has it."""

from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np
import pyarrow.compute as pc
from pydantic import Field

from metrics.core.array_types import Bools, Floats
from metrics.core.evaluator import Aggregate, Columns, Example, Findings, Metric
from metrics.core.suite import METADATA, Outputs, Suite
from metrics.evaluators.detection import _matched
from metrics.evaluators.detection._examples import DIFFICULT_CATS, ROTATED_SHIP, detection_evaluator, label_rows
from metrics.evaluators.detection.average_precision import NO_LIMIT, interpolated_curves
from metrics.stats.float_tolerance import mean_over
from metrics.stats.resample_intervals import BIAS, has_enough_truths
from metrics.vision.geometry import Geometry, whole
from metrics.vision.image_resampling import resample
from metrics.vision.matching import IOU_THRESHOLDS, threshold_index

OLD_DIFFICULT = METADATA + "difficult"  # "1" in suites stored before the column
INCLUSIVE = np.array([0.0, 0.0, 1.0, 1.0])  # pixels: from xmin to xmax there are xmax − xmin + 1
POINTS: dict[str, Floats] = {"all_points": np.zeros(0), "eleven_points": np.arange(11) / 10}

Interpolation = Literal["all_points", "eleven_points"]
INTERPOLATION = (
    "all_points: the area under the interpolated curve, as VOC since 2010; eleven_points: its mean at recall 0, .1, "
    "… 1, as VOC 2007."
)


class InterpolatedParameters(_matched.DetectionParameters):
    """How precision is averaged."""

    interpolation: Interpolation = Field("all_points", description=INTERPOLATION)


class PascalVoc(NamedTuple):
    """Pascal VOC: each prediction claims the object that it overlaps most; difficult objects are ignored."""

    inclusive_pixels: bool = False

    def applied(self, scene: _matched.Scene, suite: Suite, outputs: Outputs) -> _matched.Scene:  # noqa: ARG002 - Benchmark's signature
        """Return the scene without difficult objects, its boxes with their last pixels where these count."""
        objects = scene.objects
        ignored = objects.crowd | difficult_objects(suite)
        if self.inclusive_pixels and scene.geometry == "box":
            objects = replace(
                objects, truth_box=objects.truth_box + INCLUSIVE, prediction_box=objects.prediction_box + INCLUSIVE
            )
        return replace(scene, objects=objects, ignored=ignored, nearest=True, _overlaps={})


def difficult_objects(suite: Suite) -> Bools:
    """Return which annotations are marked as difficult [G]."""
    table = suite.annotations
    if table is None:
        return np.zeros(0, np.bool_)
    marked = whole(table["difficult"]).fill_null(False)
    if OLD_DIFFICULT in table.column_names:
        marked = pc.or_(marked, pc.equal(whole(table[OLD_DIFFICULT]), "1").fill_null(False))
    return np.array(marked, np.bool_)


def bias_of(interpolation: Interpolation, *, averaged: bool = False) -> float:
    """Return the bias that `resample_interval` takes off AP at one IoU threshold, or averaged over ten.

    A sample's recall passes each of 11 points or not, which moves AP by up to 1/11 either way and drowns the upward
    bias that half-samples show; averaged over thresholds the steps are smaller. Taken off as from a smooth AP, 95 %
    intervals held 74 to 99 % of the true values at one threshold and 67 to 100 % of those averaged; so they hold 89 to
    100 % of both: `python -m tests.benchmarks.bench_coverage interpolated`.
    """
    if interpolation == "all_points":
        return BIAS
    return 1.0 if averaged else 0.0


def average_precisions(found: _matched.Matched, parameters: InterpolatedParameters) -> Floats:
    """Return AP [1 + B, K, T] of all predictions: of the data set, then of its resamples."""
    weights = found.scene.weights(parameters.resamples, parameters.seed)
    return resample(found.ranking, weights, max_dets=NO_LIMIT, recalls=POINTS[parameters.interpolation])[0]


class VocApParameters(InterpolatedParameters):
    """How VOC's average precision is taken."""

    iou_threshold: _matched.MatchingIou = 0.5
    inclusive_pixels: bool = Field(
        True,
        description="Count the last row and column of pixels, as VOC does: a box from xmin to xmax is xmax − xmin + 1 "
        "wide. Switch off for coordinates that are no pixels.",
    )
    geometry: Geometry = Field("box", description="What is compared; VOC compares boxes. See average_precision.")


@detection_evaluator(
    title="Pascal VOC AP",
    stand="first",
    metrics=(
        Metric("map", "Mean over labels of Pascal VOC's AP (mAP).", primary=True),
        Metric("ap", "Pascal VOC's AP of one label.", minor=True),
    ),
    sources=("Everingham et al. 2010, The PASCAL Visual Object Classes (VOC) Challenge; VOC development kit 2012",),
    examples=(
        Example(
            "a difficult cat is neither found nor missed; a second box on a cat is false",
            DIFFICULT_CATS,
            expect={"map": 1 / 2 + 1 / 2 * 2 / 3},
            rows=({"metric": "ap", "label": "cat", "value": 1 / 2 + 1 / 2 * 2 / 3},),
        ),
        Example(
            "the same at 11 points: recall 0 to .5 at precision 1, .6 to 1 at two thirds",
            DIFFICULT_CATS,
            rows=({"metric": "ap", "label": "cat", "value": (6 + 5 * 2 / 3) / 11},),
            parameters={"interpolation": "eleven_points"},
        ),
    ),
    differs_from="average_precision takes COCO's 101 recalls and 10 IoU thresholds, lets a prediction take the best "
    "free ground truth, and counts difficult objects.",
    differs_from_source="Predictions of equal score keep the order of images and of the file; VOC's sort leaves it "
    "open. Of the 11 points, recalls of .3, .6 and .7 are reached by 3, 6 and 7 of 10. Where points are multiples of "
    ".1, rounding puts these three just above: podm and other versions in NumPy then give up to 1/11 less for each. "
    "MATLAB counts the upper points of VOC's script down from 1, which leaves .3. A label without ground truth has no "
    "AP. Crowds, which VOC does not have, are ignored as difficult objects are. Intervals are added.",
)
def voc_ap(suite: Suite, outputs: Outputs, parameters: VocApParameters) -> Findings:
    """Pascal VOC's average precision (AP) of each label at one IoU threshold, and its mean over labels (mAP).

    The predictions of a label are taken best score first over all images. Each claims the ground truth of its image and
    label that it overlaps most, whether that is free or not. It is

        true positive    if their IoU is at least `iou_threshold` and no better prediction claimed it
        ignored          if that ground truth is `difficult`
        false positive   otherwise

    With TP and FP so far and n ground truths that are not difficult, precision is TP / (TP + FP) and recall TP / n.
    The interpolated precision p(r) is the largest precision at any recall ≥ r, 0 where r is not reached:

        all_points       AP = ∫ p(r) dr = 1/n · Σ over true positives of p(its recall)
        eleven_points    AP = 1/11 · Σ over r in {0, .1, …, 1} of p(r)

    0 … 1, higher is better. VOC has counted all points since 2010, eleven in 2007; papers on VOC 2007 use either. VOC's
    boxes end at their last pixel: with `inclusive_pixels` a box from xmin to xmax is xmax − xmin + 1 wide, which raises
    the IoU of small boxes. There is no limit of predictions per image.

    A label without ground truth has no AP and is left out of the mean. `difficult` comes from Pascal VOC and DOTA
    files; other evaluators count such objects as all others. The 95 % interval is from half-samples of the images (of
    `cases.group` where given; of 11 points without their correction for bias); a mean over more than 5 labels has none
    with fewer than 6 ground truths per label.
    """
    benchmark, iou = PascalVoc(parameters.inclusive_pixels), parameters.iou_threshold
    found = _matched.match_objects(suite, outputs, (iou,), geometry=parameters.geometry, benchmark=benchmark)
    values, truths = average_precisions(found, parameters)[:, :, 0], found.truths()
    columns: Columns = {
        "iou": _matched.written_iou(iou),
        "interpolation": parameters.interpolation,
        **found.scene.columns,
    }
    enough = has_enough_truths(truths)
    bias = bias_of(parameters.interpolation)
    rows = label_rows(
        found.scene, "map", mean_over(values, 1), values, truths, columns, of_label="ap", enough=enough, bias=bias
    )
    return Findings(rows, curves=interpolated_curves(found), matches=found.outcomes_at(iou)[1])


LINES = {"AP50": 0.5, "AP75": 0.75, "AP": None}


class OrientedApParameters(_matched.MatchParameters, InterpolatedParameters):
    """How DOTA's average precision is taken."""

    interpolation: Interpolation = Field("eleven_points", description=INTERPOLATION)
    geometry: Geometry = Field(
        "polygon", description="What is compared: outlines exactly. See average_precision for the others."
    )


@detection_evaluator(
    title="Oriented boxes (DOTA AP)",
    stand="first",
    metrics=(
        Metric("AP50", "Mean over labels of AP of rotated boxes at IoU .50; DOTA's primary number.", primary=True),
        Metric("AP75", "AP of rotated boxes at IoU .75 (strict)."),
        Metric("AP", "AP of rotated boxes averaged over IoU .50:.05:.95."),
    ),
    sources=("Xia et al. 2018, DOTA: A Large-scale Dataset for Object Detection in Aerial Images; DOTA devkit",),
    examples=(
        Example(
            "a ship turned by 45° is found; the box around it, upright, has half of it",
            ROTATED_SHIP,
            expect={"AP75": 1.0, "AP": 1.0},
            rows=({"metric": "AP50", "label": "ship", "value": 1.0},),
        ),
    ),
    differs_from="voc_ap by the outlines of rotated boxes instead of upright boxes. average_precision with geometry "
    "polygon compares the same outlines by COCO's rule, and counts difficult objects.",
    differs_from_source="A prediction with an IoU of exactly the threshold is right, as VOC says, where DOTA's script "
    "wants more. Recalls of .3, .6 and .7 are reached by 3, 6 and 7 of 10, which rounding hides from its 11 points. "
    "Intersections are exact, by shapely. AP75 and AP average the same precision at other IoU. Intervals are added.",
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
    found = _matched.match_objects(suite, outputs, IOU_THRESHOLDS, geometry=parameters.geometry, benchmark=benchmark)
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
    table = _matched.matches_at(suite, outputs, found, parameters.match_iou_threshold, benchmark=benchmark)
    return Findings(rows, curves=interpolated_curves(found, only=(0.5, 0.75)), matches=table)
