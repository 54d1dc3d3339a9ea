"""roc_auc: the area under the one-vs-rest ROC curve of each class."""

import math

import numpy as np
import pyarrow as pa
from pydantic import Field

from metrics.core.evaluator import Aggregate, Example, Findings, Metric, evaluator
from metrics.core.suite import Outputs, Suite
from metrics.evaluators._classification import NOTHING_SCORED, ClassificationParameters
from metrics.evaluators.classification._score_matrix import Floats, ScoreMatrix, aggregate, read_scores
from metrics.stats.classification.roc import Roc, area_interval, corners, rank_interval, roc, variance
from metrics.stats.student_t import Z95

CURVES = pa.schema([("label", pa.string()), ("threshold", pa.float64()), ("fpr", pa.float64()), ("tpr", pa.float64())])
NO_POSITIVES = "no case of this class"
NO_NEGATIVES = "no case of another class"
NO_AREA = "no class has both cases of it and cases of others"
TIED = {
    "cases": [{"case_id": "1", "label": "yes"}, {"case_id": "2", "label": "no"}],
    "predictions": [{"case_id": "1", "label": "yes", "score": 0.5}, {"case_id": "2", "label": "yes", "score": 0.5}],
}
FOUR_CASES = {
    "cases": [
        {"case_id": "1", "label": "ham"},
        {"case_id": "2", "label": "ham"},
        {"case_id": "3", "label": "spam"},
        {"case_id": "4", "label": "spam"},
    ],
    "predictions": [
        {"case_id": case_id, "label": label, "score": score}
        for case_id, spam in (("1", 0.1), ("2", 0.4), ("3", 0.35), ("4", 0.8))
        for label, score in (("spam", spam), ("ham", 1 - spam))
    ],
}
THREE_CLASSES = {
    "cases": [{"case_id": "1", "label": "cat"}, {"case_id": "2", "label": "cat"}, {"case_id": "3", "label": "dog"}],
    "labels": ["cat", "dog", "fox"],
    "predictions": [
        {"case_id": "1", "label": "cat", "score": 0.9},
        {"case_id": "2", "label": "cat", "score": 0.2},
        {"case_id": "2", "label": "dog", "score": 0.8},
        {"case_id": "3", "label": "dog", "score": 0.7},
        {"case_id": "3", "label": "fox", "score": 0.3},
    ],
}


class RocParameters(ClassificationParameters):
    """How cases without scores count, and how fine the curves are."""

    curve_points: int = Field(
        1_000, ge=3, le=100_000, description="Most points of a stored curve; the areas are of all points."
    )


@evaluator(
    id="roc_auc",
    title="ROC AUC",
    tasks=("classification",),
    inputs=("label", "predictions"),
    metrics=(
        Metric(
            "roc_auc",
            "Chance that a case of a class scores higher for it than a case of another class; the mean over classes.",
            primary=True,
        ),
    ),
    sources=("Valor metrics: ROC AUC",),
    standards=("NIST AI RMF: valid and reliable", "SR 11-7: outcomes analysis"),
    examples=(
        Example(
            "scikit-learn's: of the four pairs of spam and ham three are in order",
            FOUR_CASES,
            rows=(
                {"metric": "roc_auc", "label": "spam", "value": 0.75},
                {"metric": "roc_auc", "label": "ham", "value": 0.75},
                {"metric": "roc_auc", "label": None, "value": 0.75, "n": 4},
            ),
        ),
        Example(
            "two equal scores, one positive: half",
            TIED,
            rows=(
                {"metric": "roc_auc", "label": "yes", "value": 0.5},
                {"metric": "roc_auc", "label": None, "value": 0.5},
            ),
        ),
        Example(
            "cat: 2 of 2 pairs in order, dog: .7 against absent and .8; no case is a fox",
            THREE_CLASSES,
            rows=(
                {"metric": "roc_auc", "label": "cat", "value": 1.0},
                {"metric": "roc_auc", "label": "dog", "value": 0.5},
                {"metric": "roc_auc", "label": "fox", "value": None, "n": 0},
                {"metric": "roc_auc", "label": None, "value": 0.75},
            ),
        ),
    ),
)
def roc_auc(suite: Suite, outputs: Outputs, parameters: RocParameters) -> Findings:
    """The area under the ROC curve of each class against all others, and its mean over classes.

    For class c the cases are taken in the order of falling score for c; of those at or above a score,

        tpr = cases of c / all cases of c          fpr = other cases / all other cases

    draw the curve, and the area under it is that of the trapezoids, equal scores making one step. It is the chance that
    a case of c scores higher for c than another case does, ties counted half: 1 is perfect order, .5 none. Equal to
    scikit-learn's roc_auc_score and roc_curve, ties included. (Valor's text takes the length of a step where a
    trapezoid has its width.)

    A class without a score in a case ranks below every score there; so do all classes of a case without predictions if
    `missing` = wrong, else it is unscored. A class without cases, or with all of them, has no curve and no area and is
    left out of the mean, which then has a reason. n is the number of cases of the class.

    Curves: label, threshold, fpr, tpr from (0, 0) to (1, 1); threshold is empty at (0, 0) and where absent scores are
    included. Corners only, and where there are more than `curve_points` an even selection of them.

    Intervals: DeLong's variance on the logit scale, with `cases.group` as clusters; the mean's takes in that classes
    share their cases. Where DeLong's variance is 0 (perfect order, one case) Newcombe's, from the counts alone.
    """
    found = read_scores(suite, outputs, parameters.missing)
    curves = {
        code: roc(found.scores[:, code], found.truth == code)
        for code, many in enumerate(found.truths.tolist())
        if 0 < many < len(found.truth)
    }
    table = pa.concat_tables(
        [CURVES.empty_table(), *(_points(found.labels[code], curve, parameters) for code, curve in curves.items())]
    )
    return Findings(_aggregates(found, curves), curves=table)


def _aggregates(found: ScoreMatrix, curves: dict[int, Roc]) -> list[Aggregate]:
    n, unscored = len(found.truth), sum(found.unscored_labels.values())
    if not curves:
        return [aggregate("roc_auc", math.nan, n=n, unscored=unscored, reason=NO_AREA if n else NOTHING_SCORED)]
    together, apart = np.zeros(n), 0.0
    labelled = []
    for code, (label, many) in enumerate(zip(found.labels, found.truths.tolist(), strict=True)):
        out = found.unscored_labels.get(label, 0)
        if code not in curves:
            why = NO_NEGATIVES if many else NO_POSITIVES
            labelled.append(aggregate("roc_auc", math.nan, n=many, unscored=out, label=label, reason=why))
            continue
        area, influence = curves[code].area, curves[code].influence
        own = found.truth == code
        error = math.sqrt(variance(influence, found.clusters))
        if math.isnan(error):
            low, high, method = math.nan, math.nan, None
        elif error > 0 and min(many, n - many) > 1:
            (low, high), method = area_interval(area, error), "DeLong"
            together += influence
        else:
            units = [len(np.unique(found.clusters[kind])) for kind in (own, ~own)]
            (low, high), method = rank_interval(area, *units), "Newcombe"
            apart += (max(high - area, area - low) / Z95) ** 2
        labelled.append(aggregate("roc_auc", area, (low, high), method, n=many, unscored=out, label=label))
    mean = math.fsum(curve.area for curve in curves.values()) / len(curves)
    error = math.sqrt(variance(together, found.clusters) + apart) / len(curves)
    left_out = len(found.labels) - len(curves)
    reason = f"{left_out} of {len(found.labels)} classes left out: {NO_POSITIVES}" if left_out else None
    overall = aggregate("roc_auc", mean, area_interval(mean, error), "DeLong", n=n, unscored=unscored, reason=reason)
    return [overall, *labelled]


def _points(label: str, curve: Roc, parameters: RocParameters) -> pa.Table:
    kept = corners(curve.fp, curve.tp, parameters.curve_points)
    threshold: Floats = curve.threshold[kept]
    columns = [
        pa.repeat(pa.scalar(label), len(kept)),
        pa.array(threshold, mask=np.isinf(threshold)),
        pa.array(curve.fp[kept] / curve.fp[-1]),
        pa.array(curve.tp[kept] / curve.tp[-1]),
    ]
    return pa.table(columns, schema=CURVES)
