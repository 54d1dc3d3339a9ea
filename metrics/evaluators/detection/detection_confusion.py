"""detection_confusion: which label objects are taken for, with what is background and what is missed."""

import math

import numpy as np
import pyarrow as pa
from pydantic import Field

from metrics.core.array_types import Bools, Floats, Int32s
from metrics.core.evaluator import Aggregate, Columns, Example, Findings, Metric
from metrics.core.suite import Outputs, Suite
from metrics.evaluators._objects import confusion_names, confusion_table
from metrics.evaluators.detection import _matched
from metrics.evaluators.detection._benchmarks import Matching, benchmark_of
from metrics.evaluators.detection._examples import CROWDED_STREET, TWO_CATS, ZOO, Shares, detection_evaluator
from metrics.vision.object_confusion import Cells, cells, match_any_label
from metrics.vision.outcomes import LOCALISED, Outcomes

NOTHING_MATCHED = "no prediction that reaches the score threshold matches a ground truth"


class DetectionConfusionParameters(_matched.OperatingParameters):
    """Where objects are matched."""

    iou_threshold: _matched.Iou = Field(
        0.5, description="IoU (of key points OKS) at and above which a prediction matches a ground truth of any label."
    )
    matching: Matching = "coco_summary"


@detection_evaluator(
    title="Detection confusion matrix",
    stand="aside",
    metrics=(
        Metric("agreement", "Share of all objects, predicted or true, that match with the right label.", primary=True),
        Metric.lower("confused", "Share of the matched objects whose label is wrong."),
        Metric.lower(
            "hallucinated", "Share of the predictions that match no ground truth of any label.", title="Background"
        ),
        Metric.lower(
            "missed",
            "Share of the ground truths that no prediction of any label matches.",
            twin_of=("detection_pr_curve_detailed.fn_no_prediction",),
        ),
        Metric.neutral(
            "count", "Objects in one cell of the confusion matrix.", high=math.inf, minor=True, unit="objects"
        ),
    ),
    sources=(
        "Valor metrics: Confusion Matrix; Detailed Precision-Recall Curves, detection tasks",
        "scikit-learn: confusion_matrix (truth down, prediction across)",
    ),
    examples=(
        Example(
            "two cats found at scores .9 and .7, one on background at .8",
            TWO_CATS,
            rows=(
                {"metric": "count", "label": "cat", "predicted": "cat", "value": 2},
                {"metric": "count", "label": "background", "predicted": "cat", "value": 1},
                {"metric": "agreement", "label": None, "value": 2 / 3, "n": 3},
                {"metric": "hallucinated", "label": "cat", "value": 1 / 3, "n": 3},
                {"metric": "missed", "label": None, "value": 0.0, "n": 2},
            ),
        ),
        Example(
            "from score .75 on the second cat is missed",
            TWO_CATS,
            rows=(
                {"metric": "count", "label": "cat", "predicted": "cat", "value": 1},
                {"metric": "count", "label": "cat", "predicted": "missed", "value": 1},
                {"metric": "agreement", "label": "cat", "value": 1 / 3},
            ),
            parameters={"score_threshold": 0.75},
        ),
        Example(
            "a dog taken for a cat: the wrong label scores higher, so it has the dog, and the right one is left over",
            ZOO,
            rows=(
                {"metric": "count", "label": "dog", "predicted": "cat", "value": 1},
                {"metric": "count", "label": "background", "predicted": "dog", "value": 1},
                {"metric": "count", "label": "cat", "predicted": "cat", "value": 1},
                {"metric": "count", "label": "fox", "predicted": "missed", "value": 1},
                {"metric": "confused", "label": "dog", "value": 1.0, "n": 1},
                {"metric": "confused", "label": None, "value": 0.5, "n": 2},
                {"metric": "agreement", "label": None, "value": 0.25, "n": 4},
            ),
        ),
        Example(
            "predictions inside a crowd of their label do not count",
            CROWDED_STREET,
            rows=(
                {"metric": "count", "label": "person", "predicted": "person", "value": 1},
                {"metric": "count", "label": "background", "predicted": "dog", "value": 1},
                {"metric": "hallucinated", "label": None, "value": 0.5, "n": 2},
            ),
        ),
    ),
    version=2,
    differs_from="detection_pr_curve and average_precision match within a label; here the label is compared after the "
    "match. detection_pr_curve_detailed calls a false positive a misclassification wherever another label's ground "
    "truth overlaps it, taken or not; here every object is in exactly one cell. classification's matrix has no "
    "margins.",
    differs_from_source="Valor's text has no formula for detections; matching by place first, then comparing labels, "
    "is Assay's choice, so that every object is in exactly one cell. The margins are called background and missed, "
    "Valor's words in its detailed curves. Rows are the truth, as in scikit-learn. The four shares and their intervals "
    "are Assay's.",
)
def detection_confusion(suite: Suite, outputs: Outputs, parameters: DetectionConfusionParameters) -> Findings:
    """The confusion matrix of detected objects: matched by geometry first, then compared by label.

    The predictions with score ≥ `score_threshold`, best score first (file order where scores tie), each take the free
    ground truth of their image with the highest IoU, if that is at least `iou_threshold`; of several with that same IoU
    one of their own label, then the last. Every object is in one cell (truth, predicted):

        matched                      (label of the ground truth, label of the prediction)
        prediction without a match   ("background", its label)
        ground truth without one     (its label, "missed")

    With D the objects on the diagonal, C matched with another label, B on background and M missed:

        agreement = D / (D + C + H + M)         confused = C / (D + C)
        hallucinated = B / (D + C + B)          missed = M / (D + C + M)

    Of a label: agreement = its diagonal cell / (all of its row and its column), confused and missed of its ground
    truths, hallucinated of its predictions. `count` (label = truth, predicted) is a cell; cells without objects are
    left out. Shares are 0 … 1; agreement is better higher, the others lower. The 95 % interval of a share is from
    half-samples of the images (of `cases.group` where given). The curve has the columns label, predicted, count; the
    matches have, beside the usual columns, truth and predicted, so that a cell opens exactly its objects.

    The diagonal is the tp of detection_pr_curve at the same thresholds unless labels compete: there a prediction can
    only take a ground truth of its own label, here a better-scored prediction of another label may have taken it, or
    the prediction itself may overlap a ground truth of another label more. Crowds are neither matched nor missed; a
    prediction that matches nothing else inside a crowd of its label does not count. Without any ground truth nothing is
    applicable. Should a label itself be called "background" or "missed", that margin is put in parentheses.

    With `matching` another evaluator's rules say how alike objects are (of key points by OKS in place of IoU) and which
    do not count: truths that it leaves aside, with what takes one, and predictions that it excuses if they take none.
    """
    iou, benchmark = parameters.iou_threshold, benchmark_of(None, {"matching": parameters.matching}, suite)
    scene = _matched.scene_of(suite, outputs, parameters.geometry, benchmark)
    found = match_confused(scene, iou, parameters.score_threshold)
    placed = cells(scene.objects, found)
    truths, predicted = confusion_names(scene.labels)
    curves = confusion_table(placed.count(len(scene.labels)), scene.labels)
    matches = _matched.outcomes_table(scene, found, iou)
    outside = placed.truth < 0
    columns = _matched.together(
        len(outside),
        lambda: truths.take(pa.array(placed.truth, mask=outside)),
        lambda: predicted.take(pa.array(placed.predicted, mask=outside)),
    )
    for name, column in zip(("truth", "predicted"), columns, strict=True):
        matches = matches.append_column(name, column)
    rows = _shares(scene, placed, parameters)
    if not (scene.objects.crowd if scene.ignored is None else scene.ignored).all():
        rows += [
            Aggregate("count", count, n=count, label=label, columns={"predicted": other})
            for label, other, count in zip(*curves.to_pydict().values(), strict=True)
        ]
    return Findings(rows, curves=curves, matches=matches)


def match_confused(scene: _matched.Scene, iou: float, score: float) -> Outcomes:
    """Return what `match_any_label` finds in a scene, by the rules of its benchmark."""
    pairs = scene.overlaps(min(iou, LOCALISED))
    return match_any_label(scene.objects, pairs, iou, score, scene.ignored, scene.spared, nearest=scene.nearest)


def _shares(scene: _matched.Scene, placed: Cells, parameters: DetectionConfusionParameters) -> list[Aggregate]:
    """Return the four shares over all labels, then of each."""
    weights = scene.weights(parameters.resamples, parameters.seed).astype(np.float32)
    none = len(scene.labels)

    def totals(rows: Bools, label: Int32s) -> Floats:
        return scene.totals(weights, rows, label, placed.image)

    matched = (placed.truth >= 0) & (placed.truth < none) & (placed.predicted < none)
    right = totals(matched & (placed.truth == placed.predicted), placed.truth)
    taken, given = totals(matched, placed.truth), totals(matched, placed.predicted)
    missed = totals(placed.predicted == none, placed.truth)
    hallucinated = totals(placed.truth == none, placed.predicted)
    truths, predictions = taken + missed, given + hallucinated
    columns: Columns = {"iou": parameters.iou_threshold, "score_threshold": parameters.score_threshold, **scene.columns}
    shares = Shares(scene, truths, columns)
    objects = np.where(truths > 0, truths + predictions - right, 0)
    return [
        *shares.rows("agreement", right, objects, of_all=(truths + hallucinated).sum(axis=1)),
        *shares.rows("confused", taken - right, taken, empty=NOTHING_MATCHED),
        *shares.rows("hallucinated", hallucinated, predictions, empty=_matched.NOTHING_PREDICTED),
        *shares.rows("missed", missed, truths),
    ]
