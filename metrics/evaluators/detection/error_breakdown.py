"""error_breakdown: what each kind of error costs in average precision, after TIDE."""

import os
from concurrent.futures import ThreadPoolExecutor
from typing import Self

import numpy as np
from pydantic import Field, model_validator

from metrics.core.array_types import Floats
from metrics.core.evaluator import Aggregate, Columns, Example, Findings, Metric
from metrics.core.suite import Outputs, Suite
from metrics.evaluators.detection._benchmarks import Matching, benchmark_of
from metrics.evaluators.detection._examples import CROWDED_STREET, TWO_CATS, ZOO, detection_evaluator, label_rows
from metrics.evaluators.detection._matched import (
    DetectionParameters,
    Iou,
    MaxDets,
    Scene,
    grid_with,
    match_objects,
    outcomes_table,
)
from metrics.stats.float_tolerance import mean_over
from metrics.stats.resample_intervals import has_enough_truths
from metrics.vision import error_breakdown as tide

LEAST_FOR_GAINS = 25.0  # ground truths a label, harmonic mean: the bias of a gain is steady from there on
FEW_FOR_GAINS = (
    f"No 95 % interval: there are fewer than {LEAST_FOR_GAINS:g} ground truths per label (harmonic mean), and no "
    "interval of a mean gain is reliable with so few."
)
TITLES = {
    "classification": "ΔAP wrong class", "localisation": "ΔAP poor box", "both": "ΔAP wrong class and poor box",
}  # fmt: skip
DESCRIPTIONS = {
    "classification": "AP gained if predictions of the wrong class had the right one.",
    "localisation": "AP gained if predictions with a poor box fitted their object.",
    "both": "AP gained without the predictions of the wrong class with a poor box.",
    "duplicate": "AP gained without duplicates: predictions of objects that a better one found.",
    "background": "AP gained without the predictions on background.",
    "missed": "AP gained if the objects that no prediction is about did not count.",
    "false_positives": "AP gained without any false positive.",
    "false_negatives": "AP gained if only the objects that are found counted.",
}


class ErrorBreakdownParameters(DetectionParameters):
    """Where an object counts as found, and where as touched at all."""

    iou_threshold: Iou = Field(0.5, description="IoU at and above which a prediction matches: TIDE's foreground, t_f.")
    background_iou: Iou = Field(0.1, description="IoU below which a prediction is about nothing: TIDE's t_b.")
    max_dets: MaxDets = 100
    matching: Matching = "coco_summary"

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.background_iou >= self.iou_threshold:
            raise ValueError(f"background_iou is {self.background_iou}; expected less than {self.iou_threshold}")
        return self


@detection_evaluator(
    stand="aside",
    metrics=(
        Metric(
            "ap",
            "Mean over labels of AP at the IoU threshold, to which the gains would add.",
            primary=True,
            twin_of=("coco_summary.AP50", "coco_summary.AP75"),
        ),
        *(
            Metric.lower(f"d_ap_{error}", description, minor=error not in tide.ERRORS, title=TITLES.get(error, ""))
            for error, description in DESCRIPTIONS.items()
        ),
    ),
    sources=(
        "Bolya et al., TIDE: A General Toolbox for Identifying Object Detection Errors, 2020; tidecv 1.0.1",
        "Lin et al., Microsoft COCO: Common Objects in Context, 2014 (average precision)",
    ),
    examples=(
        Example(
            "one false alarm between two found cats costs all that is missing of AP 1",
            TWO_CATS,
            rows=(
                {"metric": "ap", "label": None, "value": 51 / 101 + 50 / 101 * 2 / 3, "n": 2},
                {"metric": "d_ap_background", "label": None, "value": 50 / 101 / 3, "n": 1},
                {"metric": "d_ap_false_positives", "label": "cat", "value": 50 / 101 / 3, "n": 1},
                {"metric": "d_ap_missed", "label": None, "value": 0.0, "n": 0},
            ),
        ),
        Example(
            "at IoU .7 the second cat is found, but placed too poorly",
            TWO_CATS,
            expect={"ap": 51 / 101},
            rows=(
                {"metric": "d_ap_localisation", "label": None, "value": 50 / 101 * 2 / 3, "n": 1},
                {"metric": "d_ap_missed", "label": None, "value": 0.0, "n": 0},
                {"metric": "d_ap_false_negatives", "label": None, "value": 50 / 101, "n": 1},
            ),
            parameters={"iou_threshold": 0.7},
        ),
        Example(
            "a cat predicted on a found dog halves the cats' precision; the fox that scores low is found all the same",
            ZOO,
            expect={"ap": 5 / 6},
            rows=(
                {"metric": "d_ap_classification", "label": "cat", "value": 0.5, "n": 1},
                {"metric": "d_ap_classification", "label": None, "value": 1 / 6, "n": 1},
                {"metric": "d_ap_duplicate", "label": None, "value": 0.0, "n": 0},
            ),
        ),
        Example(
            "predictions inside a crowd are no errors; a label without ground truth has no AP to lose",
            CROWDED_STREET,
            expect={"ap": 1.0},
            rows=(
                {"metric": "d_ap_background", "label": None, "value": 0.0, "n": 1},
                {"metric": "d_ap_background", "label": "dog", "value": None},
            ),
        ),
    ),
    version=2,
    differs_from="detection_confusion and detection_pr_curve_detailed count objects at a score threshold; here every "
    "prediction counts, weighted by what it costs in AP. ap is average_precision's map at that IoU.",
    differs_from_source="From tidecv: labels without ground truth do not enter the mean, where tidecv gives one that "
    "is predicted AP 0; a label all of whose objects are missed keeps its place in it. Recall points are COCO's, so "
    "that AP is coco_summary's: .35, .41, .47, .57, .69, .7, .82, .83, .94 and .95 lie a rounding error above "
    "tidecv's, and a recall of exactly .7 reaches 70 of the 101 points, in tidecv 71. maxDets is per image and label, "
    "and predictions matched to a crowd are no errors. Intervals are added.",
)
def error_breakdown(suite: Suite, outputs: Outputs, parameters: ErrorBreakdownParameters) -> Findings:
    """What each of TIDE's six kinds of error costs: the AP gained if that kind alone were repaired.

    Matched as for average precision at IoU ≥ t_f = `iou_threshold`. A false positive, whose best IoU with ground truths
    of its label is o and with those of other labels p, is the first of these that fits, with t_b = `background_iou`:

        localisation    t_b ≤ o < t_f
        classification  p ≥ t_f
        duplicate       o ≥ t_f: a better prediction took the object
        both            t_b ≤ p < t_f
        background      what is left: it is about nothing

    A ground truth that was not found is missed unless a localisation or classification error is about it. The repairs:

        classification  the prediction gets the ground truth's label and is right
        localisation    the prediction gets the ground truth's box and is right
        both, duplicate, background    the prediction is dropped
        missed          the ground truth no longer counts

    Of several classification and localisation errors about one ground truth the best-scored is made right, the others
    are dropped, as are those about one that was found. Then

        d_ap_error = AP after the repair − AP

    with AP of 101 recall points; over all labels the difference of the means over labels with ground truth. Also for
    false positives as a whole (all dropped) and false negatives (only the ground truths found count). The gains
    do not add up: AP is not a sum over errors. With all six repaired AP is 1.

    Only crowds are left out: the difficult objects of Pascal VOC are ground truth like all others, as they are for
    tidecv. With `matching` it is what that evaluator leaves aside, and of key points IoU is OKS.

    0 … 1; a gain is a cost now, so lower is better. n of a gain is the number of its errors, of a label those of its
    predictions or, for missed and false negatives, ground truths; n of `ap` counts ground truths. A label whose ground
    truths are all missed has AP 1 without them if it has no false positive, else 0. The 95 % interval is from
    half-samples of the images (of `cases.group` where given), with AP before and after in the same one; means over
    labels need 25 ground truths per label (harmonic mean). The matches have the kinds fp_misclassification
    (classification), fp_localisation, fp_both, fp_duplicate, fp_hallucination (background), fn_no_prediction (missed),
    and fn_misclassification or fn_localisation for what such an error is about.
    """
    iou = parameters.iou_threshold
    benchmark = benchmark_of(None, {"matching": parameters.matching}, suite)
    found = match_objects(suite, outputs, grid_with(iou), geometry=parameters.geometry, benchmark=benchmark)
    background = parameters.background_iou
    pairs = found.scene.overlaps(background)
    errors = tide.find_errors(found.scene.objects, found.matches, pairs, iou, background, parameters.max_dets)
    return Findings(_aggregates(found.scene, errors, parameters), matches=outcomes_table(found.scene, errors, iou))


def _aggregates(scene: Scene, errors: tide.Errors, parameters: ErrorBreakdownParameters) -> list[Aggregate]:
    objects = scene.objects
    weights = scene.weights(parameters.resamples, parameters.seed)
    repairs = {
        **{error: tide.repair(objects, errors, (code,)) for error, code in tide.ERRORS.items()},
        "false_positives": tide.without_false_positives(objects, errors),
        "false_negatives": tide.without_false_negatives(objects, errors),
    }

    def average(repaired: tide.Repaired) -> Floats:
        return tide.repaired_ap(objects, errors, repaired, weights)

    with ThreadPoolExecutor(os.cpu_count()) as threads:
        base, *after = threads.map(average, [tide.repair(objects, errors, ()), *repairs.values()])
    counts = tide.count_errors(objects, errors)
    truths = counts["truths"]
    columns: Columns = {"iou": parameters.iou_threshold, **scene.columns}
    enough = has_enough_truths(truths)
    rows = label_rows(scene, "ap", mean_over(base, 1), base, truths, columns, enough=enough)
    enough = has_enough_truths(truths, LEAST_FOR_GAINS, few=1)
    for error, repaired in zip(repairs, after, strict=True):
        overall = np.maximum(mean_over(repaired, 1) - mean_over(base, 1), 0.0)
        by_label = np.maximum(repaired - base, 0.0)
        name, own = f"d_ap_{error}", counts[error]
        rows += label_rows(
            scene, name, overall, by_label, truths, columns, counts=own, enough=enough, few=FEW_FOR_GAINS
        )
    return rows
