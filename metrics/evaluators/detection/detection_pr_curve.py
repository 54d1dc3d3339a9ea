"""detection_pr_curve: counts, precision, recall and F1 of each label by score threshold."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from metrics.core.evaluator import Aggregate, Direction, Example, Findings, Metric, evaluator
from metrics.core.suite import Outputs, Suite
from metrics.evaluators._half_samples import Columns, Spread, number, ratio
from metrics.evaluators.detection._examples import CROWDED_STREET, TWO_CATS
from metrics.evaluators.detection._matched import DetectionParameters, Matched, MatchingIou, grid_with, matched
from metrics.stats.classification.score_counts import THRESHOLDS, f1
from metrics.vision.arrays import Bytes, Floats, Longs
from metrics.vision.match_states import ASIDE, RIGHT, WRONG
from metrics.vision.matching import threshold_index
from metrics.vision.precision_recall import mean_over

ALL = 0  # index of the area range that holds every object


class DetectionCurveParameters(DetectionParameters):
    """What the curve is taken at."""

    pr_curve_iou_threshold: MatchingIou = 0.5


@evaluator(
    id="detection_pr_curve",
    title="Detection precision–recall curve",
    tasks=("detection",),
    inputs=("annotations", "predictions"),
    metrics=(
        Metric("best_f1", "Largest F1 over score thresholds: the mean over labels, at one threshold.", primary=True),
        Metric(
            "best_threshold",
            "Score threshold of the largest F1, the lowest of several.",
            direction=Direction.NONE,
            threshold=None,
            minor=True,
        ),
    ),
    sources=("Valor metrics: Precision-Recall Curves, detection tasks",),
    standards=("NIST AI RMF: valid and reliable", "SR 11-7: outcomes analysis"),
    examples=(
        Example(
            "down to score .7 both cats are found, with one false alarm: 2·2 / (2·2 + 1 + 0)",
            TWO_CATS,
            rows=(
                {"metric": "best_f1", "label": "cat", "iou": 0.5, "value": 0.8},
                {"metric": "best_threshold", "label": "cat", "iou": 0.5, "value": 0.05},
                {"metric": "best_f1", "label": None, "value": 0.8},
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
    differs_from=(
        "average_precision follows the predictions' own scores and interpolates precision at 101 recalls; this curve "
        "counts at 19 fixed score thresholds. Valor's own AP leaves out predictions on images without their label; "
        "here, as in COCO's AP, they are false positives."
    ),
)
def detection_pr_curve(suite: Suite, outputs: Outputs, parameters: DetectionCurveParameters) -> Findings:
    """Precision, recall and F1 of each label at the score thresholds .05, .10, …, .95.

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
    found = matched(suite, outputs, grid_with(iou), geometry=parameters.geometry)
    curve = _curve(found, iou)
    _, matches = found.outcomes_at(iou)
    return Findings(_aggregates(found, curve, parameters), curves=_table(found, curve), matches=matches)


@dataclass(frozen=True, eq=False, slots=True)
class Curve:
    """Longs [K, S] by label and score threshold, F1 NaN without ground truth; the state of each prediction [N]."""

    tp: Longs
    fp: Longs
    truths: Longs
    state: Bytes

    @property
    def f1(self) -> Floats:
        """F1 [K, S]."""
        return f1(self.tp, self.tp + self.fp, self.truths[:, None])


def _curve(found: Matched, iou: float) -> Curve:
    objects, matches = found.scene.objects, found.matches
    state = np.where(matches.outside[ALL], ASIDE, WRONG).astype(np.uint8)
    state[matches.pairs.prediction] = matches.state[:, ALL, threshold_index(matches.thresholds, iou)]
    reached = np.searchsorted(THRESHOLDS, objects.score, side="right")  # how many thresholds a score reaches

    def count(kind: int) -> Longs:
        rows = state == kind
        size = len(THRESHOLDS) + 1
        flat = np.bincount(objects.prediction_class[rows] * size + reached[rows], minlength=objects.classes * size)
        from_above: Longs = flat.reshape(objects.classes, size)[:, ::-1].cumsum(axis=1)[:, ::-1]
        return from_above[:, 1:]

    return Curve(count(RIGHT), count(WRONG), found.truths[:, ALL], state)


def _aggregates(found: Matched, curve: Curve, parameters: DetectionCurveParameters) -> list[Aggregate]:
    scores = curve.f1
    known = curve.truths > 0
    best = np.where(known, np.nan_to_num(scores).argmax(axis=1), 0)
    common = int(mean_over(scores, 0).argmax()) if known.any() else 0
    weights = found.scene.weights(parameters.resamples, parameters.seed).astype(np.float32)
    drawn = found.scene.drawn
    by_label = Spread.of(_resampled_f1(found, curve, weights, best), curve.truths, drawn)
    at_common = _resampled_f1(found, curve, weights, np.full_like(best, common))
    overall = Spread.of(mean_over(at_common, 1), curve.truths.sum(), drawn)
    columns: Columns = {"iou": parameters.pr_curve_iou_threshold, **found.scene.columns}
    n = curve.truths.tolist()

    def rows(spread: Spread, place: tuple[int, ...], n: int, at: int, label: str | None) -> list[Aggregate]:
        threshold = Spread.of_none(np.where(np.isnan(spread.value[place]), np.nan, THRESHOLDS[at]))
        return [
            number("best_f1", spread, place, n=n, label=label, columns=columns),
            number("best_threshold", threshold, n=n, label=label, columns=columns),
        ]

    found_rows = rows(overall, (), sum(n), common, None)
    for k, label in enumerate(found.scene.labels):
        found_rows += rows(by_label, (k,), n[k], int(best[k]), label)
    return found_rows


def _resampled_f1(found: Matched, curve: Curve, weights: NDArray[np.float32], at: NDArray[np.intp]) -> Floats:
    """Return F1 [1 + B, K] of each label at the score threshold of index `at` [K]."""
    objects, totals = found.scene.objects, found.scene.totals
    counted = objects.score >= np.array(THRESHOLDS)[at][objects.prediction_class]

    right, wrong = counted & (curve.state == RIGHT), counted & (curve.state == WRONG)
    tp = totals(weights, objects.prediction_class[right], objects.prediction_image[right])
    fp = totals(weights, objects.prediction_class[wrong], objects.prediction_image[wrong])
    kept = ~found.matches.truth_ignored[ALL]
    return f1(tp, tp + fp, totals(weights, objects.truth_class[kept], objects.truth_image[kept]))


def _table(found: Matched, curve: Curve) -> pa.Table:
    tp, fp = curve.tp.ravel(), curve.fp.ravel()
    truths = np.repeat(curve.truths, len(THRESHOLDS))

    def share(part: Longs, whole: Longs) -> pa.Array:
        return pa.array(ratio(part, whole), from_pandas=True)

    return pa.table(
        {
            "label": np.repeat(np.array(found.scene.labels, dtype=object), len(THRESHOLDS)),
            "threshold": np.tile(THRESHOLDS, len(found.scene.labels)),
            "tp": tp,
            "fp": fp,
            "tn": pa.nulls(len(tp), pa.int64()),
            "fn": truths - tp,
            "precision": share(tp, tp + fp),
            "recall": share(tp, truths),
            "f1": pa.array(curve.f1.ravel(), from_pandas=True),
        }
    )
