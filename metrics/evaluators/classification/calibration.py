"""calibration: whether confidences mean what they say."""

import math

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import Field

from metrics.classification_family import NOTHING_SCORED
from metrics.evaluator import Aggregate, CaseScore, Direction, Example, Findings, Metric, Parameters, Status, evaluator
from metrics.evaluators.classification.classification import top_predictions
from metrics.evaluators.classification.score_matrix import Bools, Floats, ScoreMatrix, aggregate, read_scores
from metrics.kernels.bootstrap import bootstrap_means
from metrics.kernels.calibration import (
    Reliability,
    brier,
    calibration_errors,
    expected_error_interval,
    log_loss,
    reliability,
)
from metrics.kernels.intervals import NONE, Interval, wilson
from metrics.suite import Outputs, Suite

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
TWO_CASES = {
    "cases": [{"case_id": "1", "label": "cat"}, {"case_id": "2", "label": "cat"}],
    "predictions": [
        {"case_id": "1", "label": "cat", "score": 0.8},
        {"case_id": "1", "label": "dog", "score": 0.2},
        {"case_id": "2", "label": "cat", "score": 0.4},
        {"case_id": "2", "label": "dog", "score": 0.6},
    ],
}
TOP_LABEL_ALONE = {
    "cases": [{"case_id": "1", "label": "cat"}, {"case_id": "2", "label": "dog"}],
    "predictions": [
        {"case_id": "1", "label": "cat", "score": 0.9},
        {"case_id": "2", "label": "cat", "score": 0.7},
    ],
}


class CalibrationParameters(Parameters):
    """How fine the reliability diagram is."""

    bins: int = Field(15, ge=1, le=1_000, description="Bins of equal width from 0 to 1 of the top label's score.")


@evaluator(
    id="calibration",
    title="Calibration",
    tasks=("classification",),
    inputs=("label", "predictions"),
    metrics=(
        Metric(
            "expected_calibration_error",
            "Mean gap between the top label's score and how often it is right, over bins of the score.",
            direction=Direction.LOWER,
            threshold=0.25,
            primary=True,
        ),
        Metric(
            "maximum_calibration_error",
            "Largest gap of a bin between the top label's score and how often it is right.",
            direction=Direction.LOWER,
            threshold=None,
            minor=True,
        ),
        Metric(
            "brier",
            "Squared distance of the scores from 1 for the true class and 0 for the others; 0 … 2.",
            high=2.0,
            direction=Direction.LOWER,
            threshold=None,
        ),
        Metric(
            "log_loss",
            "Negative natural logarithm of the true class's score.",
            high=math.inf,
            direction=Direction.LOWER,
            threshold=None,
            unit="nats",
        ),
    ),
    sources=("Guo et al. 2017: On Calibration of Modern Neural Networks", "Brier 1950"),
    standards=("NIST AI RMF: valid and reliable", "NIST AI RMF: accountable and transparent"),
    examples=(
        Example(
            "right at .8, wrong at .6: gaps .2 and .6",
            TWO_CASES,
            rows=(
                {"metric": "expected_calibration_error", "value": 0.4, "n": 2},
                {"metric": "maximum_calibration_error", "value": 0.6},
                {"metric": "brier", "value": (0.08 + 0.72) / 2},
                {"metric": "log_loss", "value": -(math.log(0.8) + math.log(0.4)) / 2},
            ),
        ),
        Example(
            "both in one bin: right half of the time at a mean score of .7",
            TWO_CASES,
            rows=({"metric": "expected_calibration_error", "value": 0.2},),
            parameters={"bins": 1},
        ),
        Example(
            "the top label alone says nothing about the other classes",
            TOP_LABEL_ALONE,
            rows=(
                {"metric": "expected_calibration_error", "value": 0.4, "n": 2, "unscored": 0},
                {"metric": "brier", "value": None, "n": 0, "unscored": 2},
                {"metric": "log_loss", "value": None, "n": 0, "unscored": 2},
            ),
        ),
    ),
)
def calibration(suite: Suite, outputs: Outputs, parameters: CalibrationParameters) -> Findings:
    """Whether scores mean what they say: of the cases predicted with score .8, 80 % should be right.

    The confidence of a case is the score of its highest-scored label, the first in the file where several tie. The
    cases go into `bins` bins of equal width by confidence, a bin holding its upper edge. With gap_b = |share right in b
    − mean confidence in b| and n_b of the n cases in bin b:

        expected calibration error = Σ_b n_b/n · gap_b        maximum calibration error = max_b gap_b

    both 0 … 1, lower is better. The first grows with the number of bins and shrinks with the number of cases: compare
    at the same of both. The second is often that of a bin with a handful of cases. Of each case, with score p_c for
    class c and true class t:

        brier = Σ_c (p_c − [c = t])²        log_loss = −ln p_t

    and their means. Brier is summed over classes: 0 … 2, which for two classes is twice the figure for one of them
    (scikit-learn's brier_score_loss with scale_by_half = False). A p_t of 0 counts as 2.2e-16 in the log loss, which
    makes 36.04, as in scikit-learn. Both ask for probabilities: a class without a score has probability 0, and a case
    whose scores do not add up to 1 (within .01, for rounding) has neither, and says so; its confidence still counts.

    Cases without a true label or without scores are unscored. Curve: the reliability diagram, one row per bin, with
    bin_low, bin_high, n, mean_confidence, accuracy and Wilson's interval of it, low and high.

    95 % intervals over cases, or over `cases.group` where given: bootstrap for brier, log_loss and the expected error,
    whose lower bound allows for noise alone making gaps: the better calibrated, the more of it is noise. The maximum
    error has none.
    """
    found = read_scores(suite, outputs)
    best, _ = top_predictions(suite.cases["case_id"], outputs.predictions)
    top = pc.index_in(pa.array(best, pa.string()), pa.array(found.labels, pa.string())).take(pa.array(found.place))
    top_code = top.to_numpy(zero_copy_only=False).astype(np.int64)
    confidence: Floats = found.scores[np.arange(len(top_code)), top_code]
    right: Bools = top_code == found.truth
    diagram = reliability(confidence, right, parameters.bins)
    sums = np.nansum(found.scores, axis=1)
    whole = np.abs(sums - 1.0) <= SUM_TOLERANCE
    probabilities = np.nan_to_num(found.scores)
    values = np.column_stack([brier(probabilities, found.truth), log_loss(probabilities, found.truth)])
    values[~whole] = np.nan
    cases = found.scores_of(PER_CASE)
    true_score = found.scores[np.arange(len(found.truth)), found.truth]
    columns = (found.truth, top_code, confidence, true_score, sums, values)
    for case_id, true, guess, score, of_truth, total, own in zip(
        found.case_ids, *(column.tolist() for column in columns), strict=True
    ):
        evidence = {
            "truth": found.labels[true],
            "predicted": found.labels[guess],
            "score": score,
            "score_of_truth": None if math.isnan(of_truth) else of_truth,
        }
        if math.isnan(own[0]):
            reason = f"the scores add up to {total:.3g}, not 1: they are no probabilities"
            cases[case_id] = CaseScore(dict.fromkeys(PER_CASE), Status.NOT_APPLICABLE, reason, evidence)
        else:
            cases[case_id] = CaseScore(dict(zip(PER_CASE, own, strict=True)), evidence=evidence)
    return Findings(_aggregates(found, diagram, confidence, right, values), cases, _table(diagram))


def _aggregates(
    found: ScoreMatrix, diagram: Reliability, confidence: Floats, right: Bools, values: Floats
) -> list[Aggregate]:
    n, unscored = len(confidence), sum(found.unscored_labels.values())
    expected, largest = calibration_errors(diagram)
    nothing = None if n else NOTHING_SCORED
    interval = NONE if found.clustered < 2 else expected_error_interval(diagram, confidence, right, found.clusters)
    rows = [
        aggregate(
            "expected_calibration_error", expected, interval, "bootstrap", n=n, unscored=unscored, reason=nothing
        ),
        aggregate("maximum_calibration_error", largest, n=n, unscored=unscored, reason=nothing),
    ]
    known = ~np.isnan(values[:, 0])
    count = int(np.count_nonzero(known))
    out = n - count
    reason = f"{out} of {n} cases left out: their scores do not add up to 1" if out else nothing
    clusters = np.unique(found.clusters[known], return_inverse=True)[1]
    lows, highs = bootstrap_means(values[known], None, clusters)
    for index, (metric, most) in enumerate(zip(PER_CASE, (2.0, math.inf), strict=True)):
        mean = float(values[known, index].mean()) if count else math.nan
        bounds: Interval = (max(0.0, float(lows[index])), min(most, float(highs[index])))
        bounds = NONE if math.isnan(lows[index]) else bounds
        rows.append(aggregate(metric, mean, bounds, "bootstrap", n=count, unscored=unscored + out, reason=reason))
    return rows


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
