"""calibration: whether scores are the probability of being right."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import Field

from metrics.core.array_types import Bools, Floats
from metrics.core.evaluator import Aggregate, CaseScore, Example, Findings, Metric, Status
from metrics.core.evaluator_decorator import evaluator
from metrics.core.evidence import Evidence
from metrics.core.suite import Outputs, Suite
from metrics.evaluators._classification import LEAST, ResamplingParameters, aggregate, count_rarer
from metrics.evaluators.classification._examples import scored_cases
from metrics.evaluators.classification._score_matrix import read_scores
from metrics.evaluators.classification.classification import top_predictions
from metrics.evaluators.detection._confidence import confidences
from metrics.evaluators.detection._examples import CROWDED_STREET, TWO_CATS
from metrics.evaluators.detection._matched import Iou
from metrics.stats.bootstrap import Draws
from metrics.stats.classification.calibration import (
    Reliability,
    brier,
    calibration_errors,
    log_loss,
    log_losses,
    reliability,
    resampled_error,
)
from metrics.stats.float_tolerance import ratio, weighted_mean
from metrics.stats.intervals import NONE, wilson
from metrics.vision.geometry import Geometry

CURVES = pa.schema(
    [
        ("bin_low", pa.float64()),
        ("bin_high", pa.float64()),
        ("n", pa.int64()),
        ("mean_confidence", pa.float64()),
        ("accuracy", pa.float64()),
        ("low", pa.float64()),  # Wilson's 95 % interval of the accuracy
        ("high", pa.float64()),
    ]
)
SUM_TOLERANCE = 0.01  # scores rounded in a file do not add up to 1 exactly
PER_CASE = ("brier", "log_loss")
LISTED = "the cases have lists of true classes: it is for one true class a case"
FEW = (
    f"No 95 % interval and no rank: fewer than {LEAST:g} predictions are right, or fewer are wrong; what is that rare "
    "does not show how far the error varies."
)
TWO_CASES = scored_cases(("cat", {"cat": 0.8, "dog": 0.2}), ("cat", {"cat": 0.4, "dog": 0.6}))
TOP_LABEL_ALONE = scored_cases(("cat", {"cat": 0.9}), ("dog", {"cat": 0.7}))


class CalibrationParameters(ResamplingParameters):
    """How fine the reliability diagram is; of detections also what is right, and which predictions count."""

    bins: int = Field(15, ge=1, le=1_000, description="Bins of equal width from 0 to 1 of the score.")
    iou_threshold: Iou = Field(0.5, description="Detections: IoU at and above which a prediction is right.")
    score_threshold: float = Field(
        0.0, ge=0, le=1, allow_inf_nan=False, description="Detections: least score of the predictions that count."
    )
    geometry: Geometry = Field(
        "auto",
        description="Detections: what is compared: boxes, masks or polygons. auto: masks where ground truth and "
        "predictions both have polygons or masks, else boxes.",
    )


@dataclass(frozen=True, eq=False, slots=True)
class Stated:
    """n things with a stated confidence: whether each is `right`, its proper scores (`values` [n, 2] in the order of
    PER_CASE, NaN for none), and the resamples. `unscored` counts what has no confidence;
    `reason` says why there is nothing, `left_out` what the things without proper scores lack.
    """

    confidence: Floats
    right: Bools
    values: Floats
    draws: Draws
    unscored: int
    reason: str | None
    left_out: str = ""
    worst: float = 1.0  # Brier score


@evaluator(
    stand="last",
    tasks=("classification", "detection"),
    inputs=("predictions",),
    default_needs=("scored_predictions", "single_truths"),
    version=2,
    metrics=(
        Metric.lower(
            "expected_calibration_error",
            "Mean gap between the score of what is predicted and how often that is right, over bins of the score.",
            primary=True,
        ),
        Metric.lower(
            "maximum_calibration_error",
            "Largest gap of a bin between the score of what is predicted and how often that is right.",
            threshold=None,
            minor=True,
        ),
        Metric.lower(
            "brier",
            "Squared distance of the scores from 1 for the true class and 0 for the others; 0 … 2, of two classes half "
            "of it, 0 … 1. Of detections: of the score from 1 where the prediction is right, else from 0; 0 … 1.",
            high=2.0,
            threshold=None,
        ),
        Metric.amount(
            "log_loss",
            "Negative natural logarithm of the true class's score. Of detections: of the score where the prediction is "
            "right, else of 1 less the score.",
            unit="nats",
        ),
    ),
    sources=(
        "Guo et al. 2017: On Calibration of Modern Neural Networks",
        "Brier 1950",
        "Küppers et al. 2020: Multivariate Confidence Calibration for Object Detection (D-ECE of the score alone)",
    ),
    standards=("valid and reliable", "accountable and transparent"),
    differs_from_source="The expected and the maximum error do not differ from Guo et al.: 15 bins of equal width, "
    "upper edges included. Brier is summed over three or more classes, as Brier has it, and halved for two, as is "
    "usual. The error of detections is that of the score alone; Küppers et al. also use the place and size of the box. "
    "Thresholds are Assay's.",
    examples=(
        Example(
            "right at .8, wrong at .6: gaps .2 and .6",
            TWO_CASES,
            expect={
                "maximum_calibration_error": 0.6,
                "brier": (0.04 + 0.36) / 2,
                "log_loss": -(math.log(0.8) + math.log(0.4)) / 2,
            },
            rows=({"metric": "expected_calibration_error", "value": 0.4, "n": 2},),
        ),
        Example(
            "both in one bin: right half of the time at a mean score of .7",
            TWO_CASES,
            expect={"expected_calibration_error": 0.2},
            parameters={"bins": 1},
        ),
        Example(
            "the top label alone has no scores of the other classes",
            TOP_LABEL_ALONE,
            rows=(
                {"metric": "expected_calibration_error", "value": 0.4, "n": 2, "unscored": 0},
                {"metric": "brier", "value": None, "n": 0, "unscored": 2},
                {"metric": "log_loss", "value": None, "n": 0, "unscored": 2},
            ),
        ),
        Example(
            "detections, in one bin: two of three are right at a mean score of .8",
            TWO_CATS,
            expect={"log_loss": -(math.log(0.9) + math.log(0.2) + math.log(0.7)) / 3},
            rows=(
                {"metric": "expected_calibration_error", "iou": 0.5, "value": 0.8 - 2 / 3, "n": 3},
                {"metric": "brier", "value": (0.1**2 + 0.8**2 + 0.3**2) / 3, "n": 3},
            ),
            parameters={"bins": 1},
        ),
        Example(
            "at IoU .7 and from score .75 on: right at .9, wrong at .8",
            TWO_CATS,
            expect={"maximum_calibration_error": 0.8},
            rows=({"metric": "expected_calibration_error", "iou": 0.7, "value": (0.1 + 0.8) / 2, "n": 2},),
            parameters={"iou_threshold": 0.7, "score_threshold": 0.75},
        ),
        Example(
            "detections inside a crowd are neither right nor wrong",
            CROWDED_STREET,
            rows=({"metric": "expected_calibration_error", "value": (0.1 + 0.8) / 2, "n": 2, "unscored": 2},),
        ),
    ),
)
def calibration(suite: Suite, outputs: Outputs, parameters: CalibrationParameters) -> Findings:
    """Whether a score is the probability of being right: of what is predicted with score .8, 80 % should be right.

    The confidence of a case is the score of its highest-scored label, the first in the file where several tie. The
    cases go into `bins` bins of equal width by confidence, a bin holding its upper edge. With gap_b = |share right in b
    − mean confidence in b| and n_b of the n cases in bin b:

        expected calibration error = Σ_b n_b/n · gap_b        maximum calibration error = max_b gap_b

    both 0 … 1, lower is better. The first grows with the number of bins and shrinks with the number of cases: compare
    at the same of both. The second is often that of a bin with a handful of cases. Of each case, with score p_c for
    class c and true class t:

        brier = Σ_c (p_c − [c = t])²        log_loss = −ln p_t

    and their means. Brier is that of scikit-learn's brier_score_loss: summed over classes, 0 … 2; of two classes half
    of it, 0 … 1, which is the squared error of the probability of one of them. A p_t of 0 counts as 2.2e-16 in the log
    loss, which makes 36.04, as in scikit-learn. Both need probabilities: a class without a score has probability 0, and
    a case whose scores do not add up to 1 (within .01, for rounding) has neither, with the reason; its confidence still
    counts.

    Of detections every prediction that scores at least `score_threshold` counts, not every case. It is right if it
    takes a ground truth of its label, best score first, at IoU ≥ `iou_threshold`, as for AP, without a limit per
    image; second predictions of one object are wrong, those that match a crowd are left out and count as unscored.
    The error is the D-ECE of the score alone. With r = 1 where the prediction is right, else 0:

        brier = (p − r)², 0 … 1        log_loss = −ln of p where it is right, else of 1 − p

    What is not predicted has no confidence: a model that misses objects can be calibrated. Most detectors write many
    predictions of low scores, which weigh the most in every mean; `score_threshold` limits it to those that are shown.
    Scores outside 0 … 1, of classes or of detections, are no probabilities: no value.

    Cases without a true label or without scores are unscored. Curve: the reliability diagram, one row per bin, with
    bin_low, bin_high, n, mean_confidence, accuracy and Wilson's interval of it, low and high.

    95 % intervals over cases or images, or over `cases.group` where given: bootstrap for brier, log_loss and the
    expected error, whose lower bound allows for noise alone making gaps: the better calibrated, the more of it is
    noise. The maximum error has none. Two models are tested on the same resamples; the edges of the bins are fixed, how
    many cases fall into each bin is resampled. With fewer than 5 right or 5 wrong predictions there is neither interval
    nor test.
    """
    if suite.task == "detection":
        return _of_detections(suite, outputs, parameters)
    found = read_scores(suite, outputs).of_probabilities()
    best, _ = top_predictions(suite.cases["case_id"], outputs.predictions)
    top = pc.index_in(best, pa.array(found.labels, pa.string())).take(pa.array(found.place))
    top_code = top.to_numpy(zero_copy_only=False).astype(np.int64)
    confidence: Floats = found.scores[np.arange(len(top_code)), top_code]
    sums = np.nansum(found.scores, axis=1)
    probabilities = np.nan_to_num(found.scores)
    values = np.column_stack([brier(probabilities, found.truth), log_loss(probabilities, found.truth)])
    values[np.abs(sums - 1.0) > SUM_TOLERANCE] = np.nan
    cases = found.scores_of(PER_CASE)
    true_score = found.scores[np.arange(len(found.truth)), found.truth]
    columns = (found.truth, top_code, confidence, true_score, sums, values)
    for case_id, true, guess, score, of_truth, total, own in zip(
        found.case_ids, *(column.tolist() for column in columns), strict=True
    ):
        facts = {
            "truth": found.labels[true],
            "predicted": found.labels[guess],
            "score": score,
            "score_of_truth": None if math.isnan(of_truth) else of_truth,
        }
        evidence = Evidence(facts=facts)
        if math.isnan(own[0]):
            reason = f"the scores add up to {total:.3g}, not 1: they are no probabilities"
            cases[case_id] = CaseScore(dict.fromkeys(PER_CASE), Status.NOT_APPLICABLE, reason, evidence)
        else:
            cases[case_id] = CaseScore(dict(zip(PER_CASE, own, strict=True)), evidence=evidence)
    nothing = found.nothing if suite.cases["labels"].null_count == len(suite) else LISTED
    stated = Stated(
        confidence, top_code == found.truth, values, parameters.draws(suite).of_cases(found.place),
        sum(found.unscored_labels.values()), None if len(confidence) else nothing,
        "cases left out: their scores do not add up to 1", 1.0 if len(found.labels) == 2 else 2.0,
    )  # fmt: skip
    rows, curves = _findings(stated, parameters.bins)
    return Findings(rows, cases, curves)


def _of_detections(suite: Suite, outputs: Outputs, parameters: CalibrationParameters) -> Findings:
    found = confidences(suite, outputs, parameters.iou_threshold, parameters.geometry, parameters.score_threshold)
    values = np.empty((len(found.right), len(PER_CASE)))
    values[:, 0] = (found.confidence - found.right) ** 2
    values[:, 1] = log_losses(np.where(found.right, found.confidence, 1.0 - found.confidence))
    draws = replace(
        parameters.draws(suite).of_cases(found.image), clusters=found.clusters.astype(np.int64)
    )  # an image's are no units
    stated = Stated(found.confidence, found.right, values, draws, found.ignored, found.reason)
    rows, curves = _findings(stated, parameters.bins)
    return Findings([replace(row, columns=found.columns) for row in rows], curves=curves, matches=found.matches)


def _findings(stated: Stated, bins: int) -> tuple[Sequence[Aggregate], pa.Table]:
    """Return the aggregates and the reliability diagram."""
    n, unscored, nothing = len(stated.confidence), stated.unscored, stated.reason
    diagram = reliability(stated.confidence, stated.right, bins, stated.draws.weights)
    expected, largest = calibration_errors(diagram)
    interval, samples = resampled_error(diagram, stated.confidence, stated.right, stated.draws)
    why = nothing
    if len(samples) and count_rarer(stated.right, stated.draws) < LEAST:
        interval, samples, why = NONE, samples[:0], FEW
    rows = [
        aggregate(
            "expected_calibration_error", expected, interval, "bootstrap", n=n, unscored=unscored, reason=why,
            samples=samples,
        ),
        aggregate("maximum_calibration_error", largest, n=n, unscored=unscored, reason=nothing),
    ]  # fmt: skip
    values, draws = stated.values, stated.draws
    without = np.isnan(values[:, 0])
    if without.any():
        known = np.flatnonzero(~without)
        values, draws = values[known], draws.of_cases(known)
    count = len(values)
    out = n - count
    reason = f"{out} of {n} {stated.left_out}" if out else nothing
    intervals = [
        draws.mean_interval(own, 0.0, high) for own, high in zip(values.T, (stated.worst, math.inf), strict=True)
    ]

    def resampled(own: Floats | None = None) -> Floats:
        if len(draws.times) == 1:
            return np.zeros(0)
        return draws.sums(np.zeros(count, np.int64), 1, own)[1:, 0]

    sizes = resampled()
    for metric, own, (ends, why) in zip(PER_CASE, values.T, intervals, strict=True):
        told = "; ".join(filter(None, [reason, why])) or None
        samples = ratio(resampled(own), sizes)
        mean = weighted_mean(own, draws.weights)
        rows.append(
            aggregate(metric, mean, ends, "bootstrap", n=count, unscored=unscored + out, reason=told, samples=samples)
        )
    return rows, _table(diagram)


def _table(diagram: Reliability) -> pa.Table:
    hits = np.nan_to_num(diagram.accuracy) * diagram.n
    bounds = [wilson(round(right), many) for right, many in zip(hits.tolist(), diagram.n.tolist(), strict=True)]
    columns = [
        diagram.edges[:-1],
        diagram.edges[1:],
        diagram.n,
        pa.array(diagram.confidence, from_pandas=True),
        pa.array(diagram.accuracy, from_pandas=True),
        *([bound[end] for bound in bounds] for end in (0, 1)),
    ]
    return pa.table([pa.array(column) for column in columns], schema=CURVES)
