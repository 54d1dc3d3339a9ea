"""detection_pr_curve: counts, precision, recall and F1 of each label by score threshold."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from metrics.core.array_types import Bools, Floats, Ints
from metrics.core.evaluator import Aggregate, Columns, Example, Findings
from metrics.core.suite import Outputs, Suite
from metrics.evaluators._half_samples import Spread, number
from metrics.evaluators._score_curve import ScoreThresholds, best_f1_metrics, curve_table
from metrics.evaluators.detection._examples import CROWDED_STREET, TWO_CATS, detection_evaluator
from metrics.evaluators.detection._matched import DetectionParameters, Matched, MatchingIou, grid_with, match_objects
from metrics.stats.classification.roc import THRESHOLDS, f1
from metrics.stats.float_tolerance import highest_place, highest_places, mean_over
from metrics.vision.objects import Objects
from metrics.vision.outcomes import IGNORED, TP

ALL = 0  # index of the area range that holds every object


class DetectionCurveParameters(DetectionParameters):
    """What the curve is taken at."""

    pr_curve_iou_threshold: MatchingIou = 0.5
    score_thresholds: ScoreThresholds = THRESHOLDS


@detection_evaluator(
    title="Detection precision–recall curve",
    stand="first",
    metrics=best_f1_metrics("labels"),
    sources=("Valor metrics: Precision-Recall Curves, detection tasks",),
    examples=(
        Example(
            "down to score .7 both cats are found, with one false alarm: 2·2 / (2·2 + 1 + 0)",
            TWO_CATS,
            expect={"best_f1": 0.8},
            rows=(
                {"metric": "best_f1", "label": "cat", "iou": 0.5, "value": 0.8},
                {"metric": "best_threshold", "label": "cat", "iou": 0.5, "value": 0.05},
            ),
        ),
        Example(
            "at IoU .7 only the exact box is right: 2·1 / (2·1 + 0 + 1) above the score of the false alarm",
            TWO_CATS,
            rows=(
                {"metric": "best_f1", "label": "cat", "iou": 0.7, "value": 2 / 3},
                {"metric": "best_threshold", "label": "cat", "iou": 0.7, "value": 0.85},
            ),
            parameters={"pr_curve_iou_threshold": 0.7},
        ),
        Example(
            "predictions inside a crowd do not count",
            CROWDED_STREET,
            rows=(
                {"metric": "best_f1", "label": "person", "value": 1.0},
                {"metric": "best_f1", "label": "dog", "value": None},
            ),
        ),
    ),
    version=2,
    differs_from="average_precision follows the predictions' own scores and interpolates precision at 101 recalls; "
    "this curve counts at score thresholds. Valor's own AP leaves out predictions on images without their label; here, "
    "as in COCO's AP, they are false positives.",
    differs_from_source="What counts does not differ. There are no true negatives of objects: Valor's table names "
    "them, its example has none. Precision of 0/0 has no value. The thresholds are a parameter; the default is Valor's "
    ".05 … .95. best_f1 and best_threshold are Assay's addition, with intervals.",
)
def detection_pr_curve(suite: Suite, outputs: Outputs, parameters: DetectionCurveParameters) -> Findings:
    """Precision, recall and F1 of each label at score thresholds: .05, .10, …, .95, or others.

    At score threshold s the predictions with score ≥ s count. Each, best score first, takes the free ground truth of
    its image and label with the highest IoU, if that is at least `pr_curve_iou_threshold`. Over all images:

        tp = predictions that took one      fp = those that took none      fn = ground truths that none took
        precision = tp / (tp + fp)      recall = tp / (tp + fn)      F1 = 2·tp / (2·tp + fp + fn)

    The curve has the columns label, threshold, tp, fp, tn, fn, precision, recall, f1. tn is empty: the number of
    objects that were rightly not predicted is unknown. Precision is empty where nothing counts, recall and F1 where the
    label has no ground truth. There is no limit on predictions per image. Crowds are neither found nor missed and
    absorb any number of predictions.

    `best_f1` is the largest F1 of a label, and `best_threshold` the lowest threshold that reaches it; without label the
    largest mean of F1 over labels with ground truth at one common threshold, and that threshold. 0 … 1, higher is
    better. The 95 % interval is from half-samples of the images (of `cases.group` where given) at that threshold.
    """
    iou = parameters.pr_curve_iou_threshold
    found = match_objects(suite, outputs, grid_with(iou), geometry=parameters.geometry)
    result, matches = found.outcomes_at(iou)
    counted, right = result.prediction != IGNORED, result.prediction == TP
    tp, predicted = _from_above(found.scene.objects, (right, counted), parameters.score_thresholds)
    table = curve_table(found.scene.labels, parameters.score_thresholds, found.truths(), tp, predicted, None)
    return Findings(_aggregates(found, tp, predicted, counted, right, parameters), curves=table, matches=matches)


def _from_above(objects: Objects, kinds: Sequence[Bools], thresholds: Sequence[float]) -> list[Ints]:
    """Return how many of the predictions of each kind [N] score at least each threshold, by label: each [K, S]."""
    starts, falling = objects.class_starts, -objects.score[objects.score_order]
    limits = -np.asarray(thresholds)
    ends = [first + np.searchsorted(falling[first:last], limits, side="right") for first, last in pairwise(starts)]
    stops = np.array(ends, np.int64).reshape(-1, len(limits))
    before = (np.append(0, rows[objects.score_order].cumsum()) for rows in kinds)
    return [counts[stops] - counts[starts[:-1], None] for counts in before]


def _aggregates(
    found: Matched, tp: Ints, predicted: Ints, counted: Bools, right: Bools, parameters: DetectionCurveParameters
) -> list[Aggregate]:
    """Return the best F1 and its threshold; of the predictions, `counted` and `right` [N]."""
    truths, drawn, thresholds = found.truths(), found.scene.drawn, np.array(parameters.score_thresholds)
    scores = f1(tp, predicted, truths[:, None])
    known = truths > 0
    best = np.where(known, highest_places(scores), 0)
    common = highest_place(mean_over(scores, 0))
    weights = found.scene.weights(parameters.resamples, parameters.seed).astype(np.float32)
    objects, totals, kept = found.scene.objects, found.scene.totals, ~found.matches.truth_ignored[ALL]
    true = totals(weights, kept, objects.truth_class, objects.truth_image)

    def resampled(at: NDArray[np.intp]) -> Floats:
        """Return F1 [1 + B, K] of each label at the score threshold of index `at` [K]."""
        reached = objects.score >= thresholds[at][objects.prediction_class]
        hit, made = (
            totals(weights, rows, objects.prediction_class, objects.prediction_image)
            for rows in (right & reached, counted & reached)
        )
        return f1(hit, made, true)

    by_label = Spread.of(resampled(best), truths, drawn)
    overall = Spread.of(mean_over(resampled(np.full_like(best, common)), 1), truths.sum(), drawn)
    columns: Columns = {"iou": parameters.pr_curve_iou_threshold, **found.scene.columns}
    n = truths.tolist()

    def rows(spread: Spread, place: tuple[int, ...], n: int, at: int, label: str | None) -> list[Aggregate]:
        threshold = Spread.of_none(np.where(np.isnan(spread.value[place]), np.nan, thresholds[at]))
        return [
            number("best_f1", spread, place, n=n, label=label, columns=columns),
            number("best_threshold", threshold, n=n, label=label, columns=columns),
        ]

    found_rows = rows(overall, (), sum(n), common, None)
    for k, label in enumerate(found.scene.labels):
        found_rows += rows(by_label, (k,), n[k], int(best[k]), label)
    return found_rows
