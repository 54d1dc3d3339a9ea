"""open_images_ap: the Open Images challenge's average precision: groups, a hierarchy of classes, verified labels."""

from pydantic import Field

from metrics.core.evaluator import Columns, Example, Findings, Metric
from metrics.core.evaluator_decorator import evaluator
from metrics.core.suite import Outputs, Suite
from metrics.evaluators.detection._examples import OPEN_IMAGES_STREET
from metrics.evaluators.detection._interpolated import EVERY, interpolated_curves
from metrics.evaluators.detection._label_rows import label_rows
from metrics.evaluators.detection._matched import DetectionParameters, MatchingIou, matched, shown
from metrics.evaluators.detection._open_images import OpenImages, is_verified, parents_of
from metrics.evaluators.detection._voc import POINTS
from metrics.stats.ratios import mean_over
from metrics.stats.resample_intervals import has_enough_truths
from metrics.vision.geometry import Geometry
from metrics.vision.image_resampling import resample


class OpenImagesApParameters(DetectionParameters):
    """How Open Images' average precision is taken."""

    iou_threshold: MatchingIou = 0.5
    expand_hierarchy: bool = Field(
        True, description="Count each object for the labels above its own, too, where the suite has a hierarchy."
    )
    geometry: Geometry = Field(
        "box", description="What is compared; boxes in the detection challenge. See average_precision."
    )


@evaluator(
    id="open_images_ap",
    title="Open Images AP",
    tasks=("detection",),
    inputs=("annotations", "predictions"),
    metrics=(
        Metric("map", "Mean over labels of Open Images' AP (mAP).", primary=True),
        Metric("ap", "Open Images' AP of one label.", minor=True),
    ),
    has_thresholds=False,
    sources=(
        "Kuznetsova et al. 2020, The Open Images Dataset V4",
        "TensorFlow Object Detection API, Open Images Challenge evaluation",
    ),
    standards=("NIST AI RMF: valid and reliable", "SR 11-7: outcomes analysis"),
    examples=(
        Example(
            "one box finds a group, others inside it are ignored; a label that nobody looked for is ignored",
            OPEN_IMAGES_STREET,
            rows=(
                {"metric": "ap", "label": "person", "value": 1 / 2 + 1 / 2 * 2 / 3},
                {"metric": "ap", "label": "dog", "value": None},
                {"metric": "map", "label": None, "value": 1 / 2 + 1 / 2 * 2 / 3},
            ),
        ),
    ),
    version=1,
    differs_from=(
        "voc_ap has neither groups, hierarchy nor verified labels; coco_summary's crowds absorb predictions but need "
        "not be found."
    ),
    differs_from_source=(
        "Predictions of equal score keep the order of images and of the file, where the API turns it round. A label "
        "has one label above it, where the challenge's hierarchy has a few with several. A group found only by "
        "predictions of score 0 counts as found. Positive image-level labels without a box are not known to the "
        "suite: predictions of them are ignored. Without any list of labels that images lack, every image counts as "
        "checked for every label. Intervals are added."
    ),
)
def open_images_ap(suite: Suite, outputs: Outputs, parameters: OpenImagesApParameters) -> Findings:
    """The Open Images challenge's average precision (AP) of each label at one IoU threshold, and its mean (mAP).

    Three rules set it apart from Pascal VOC's AP of all points (see voc_ap):

        groups       A box around a group of objects (`is_crowd`, IsGroupOf) is one ground truth. A prediction that
                     takes no single object is inside the group if intersection ÷ area of the prediction is at least
                     `iou_threshold`: the best such prediction is a true positive, the others are ignored. A group
                     without any is missed.
        hierarchy    With `expand_hierarchy` an object counts for every label above its own, too: a car is a vehicle.
                     A model has to predict each of these labels itself.
        verified     A prediction counts only if its image was checked for its label: the label is annotated there, or
                     among the image's `negative_labels` or below one of them. Others are ignored.

    The predictions of a label are taken best score first; each claims the ground truth of the highest IoU, whether that
    is free or not. AP is the area under the interpolated curve. 0 … 1, higher is better. There is no limit of
    predictions per image.

    The hierarchy is that of the suite's class facts, which Open Images' reader takes from *hierarchy*.json beside the
    table. A label without ground truth has no AP and is left out of the mean. The 95 % interval is from half-samples of
    the images (of `cases.group` where given); a mean over more than 5 labels has none with fewer than 6 ground truths
    per label.
    """
    benchmark = OpenImages(parents_of(suite.classes) if parameters.expand_hierarchy else ())
    iou = parameters.iou_threshold
    found = matched(suite, outputs, (iou,), geometry=parameters.geometry, benchmark=benchmark)
    weights = found.scene.weights(parameters.resamples, parameters.seed)
    values = resample(found.ranking, weights, max_dets=EVERY, recalls=POINTS["all_points"])[0][:, :, 0]
    truths = found.truths()
    columns: Columns = {
        "iou": shown(iou),
        "checked": "listed labels" if is_verified(suite) else "all labels",
        **found.scene.columns,
    }
    enough = has_enough_truths(truths)
    rows = label_rows(found.scene, "map", mean_over(values, 1), values, truths, columns, of_label="ap", enough=enough)
    return Findings(rows, curves=interpolated_curves(found), matches=found.outcomes_at(iou)[1])
