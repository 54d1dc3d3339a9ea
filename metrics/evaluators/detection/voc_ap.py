"""voc_ap: Pascal VOC's average precision, of 11 points or of all."""

from pydantic import Field

from metrics.core.evaluator import Columns, Example, Findings, Metric
from metrics.core.evaluator_decorator import evaluator
from metrics.core.suite import Outputs, Suite
from metrics.evaluators.detection._examples import DIFFICULT_CATS
from metrics.evaluators.detection._interpolated import interpolated_curves
from metrics.evaluators.detection._label_rows import label_rows
from metrics.evaluators.detection._matched import MatchingIou, matched, shown
from metrics.evaluators.detection._voc import InterpolatedParameters, PascalVoc, average_precisions, bias_of
from metrics.stats.ratios import mean_over
from metrics.stats.resample_intervals import has_enough_truths
from metrics.vision.geometry import Geometry


class VocApParameters(InterpolatedParameters):
    """How VOC's average precision is taken."""

    iou_threshold: MatchingIou = 0.5
    inclusive_pixels: bool = Field(
        True,
        description="Count the last row and column of pixels, as VOC does: a box from xmin to xmax is xmax − xmin + 1 "
        "wide. Switch off for coordinates that are no pixels.",
    )
    geometry: Geometry = Field("box", description="What is compared; VOC compares boxes. See average_precision.")


@evaluator(
    id="voc_ap",
    title="Pascal VOC AP",
    tasks=("detection",),
    inputs=("annotations", "predictions"),
    metrics=(
        Metric("map", "Mean over labels of Pascal VOC's AP (mAP).", primary=True),
        Metric("ap", "Pascal VOC's AP of one label.", minor=True),
    ),
    has_thresholds=False,
    sources=("Everingham et al. 2010, The PASCAL Visual Object Classes (VOC) Challenge; VOC development kit 2012",),
    standards=("NIST AI RMF: valid and reliable", "SR 11-7: outcomes analysis"),
    examples=(
        Example(
            "a difficult cat is neither found nor missed; a second box on a cat is false",
            DIFFICULT_CATS,
            rows=(
                {"metric": "ap", "label": "cat", "value": 1 / 2 + 1 / 2 * 2 / 3},
                {"metric": "map", "label": None, "value": 1 / 2 + 1 / 2 * 2 / 3},
            ),
        ),
        Example(
            "the same at 11 points: recall 0 to .5 at precision 1, .6 to 1 at two thirds",
            DIFFICULT_CATS,
            rows=({"metric": "ap", "label": "cat", "value": (6 + 5 * 2 / 3) / 11},),
            parameters={"interpolation": "eleven_points"},
        ),
    ),
    version=1,
    differs_from=(
        "average_precision takes COCO's 101 recalls and 10 IoU thresholds, lets a prediction take the best free "
        "ground truth, and counts difficult objects."
    ),
    differs_from_source=(
        "Predictions of equal score keep the order of images and of the file; VOC's sort leaves it open. Of the 11 "
        "points, recalls of .3, .6 and .7 are reached by 3, 6 and 7 of 10. Where points are multiples of .1, rounding "
        "puts these three just above: podm and other versions in NumPy then give up to 1/11 less for each. MATLAB "
        "counts the upper points of VOC's script down from 1, which leaves .3. A label without ground truth has no "
        "AP. Crowds, which VOC does not have, are ignored as difficult objects are. Intervals are added."
    ),
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
    found = matched(suite, outputs, (iou,), geometry=parameters.geometry, benchmark=benchmark)
    values, truths = average_precisions(found, parameters)[:, :, 0], found.truths()
    columns: Columns = {"iou": shown(iou), "interpolation": parameters.interpolation, **found.scene.columns}
    enough = has_enough_truths(truths)
    bias = bias_of(parameters.interpolation)
    rows = label_rows(
        found.scene, "map", mean_over(values, 1), values, truths, columns, of_label="ap", enough=enough, bias=bias
    )
    return Findings(rows, curves=interpolated_curves(found), matches=found.outcomes_at(iou)[1])
