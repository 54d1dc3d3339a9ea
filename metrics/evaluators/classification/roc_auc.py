"""roc_auc: the area under the one-vs-rest ROC curve of each class."""

import math

import numpy as np
import pyarrow as pa
from pydantic import Field

from metrics.core.array_types import Floats
from metrics.core.evaluator import Aggregate, Example, Findings, Metric
from metrics.core.suite import Outputs, Suite
from metrics.evaluators._classification import ClassificationParameters, aggregate, effective, estimate, few_cases
from metrics.evaluators.classification._examples import classification_evaluator, scored_cases
from metrics.evaluators.classification._score_matrix import ScoreMatrix, read_scores
from metrics.stats.bootstrap import Draws
from metrics.stats.classification.roc import ClassCurves, Roc, class_curves, corners, resampled_areas, resampled_pairs

CURVES = pa.schema([("label", pa.string()), ("threshold", pa.float64()), ("fpr", pa.float64()), ("tpr", pa.float64())])
NO_POSITIVES = "no case of this class"
NO_NEGATIVES = "no case of another class"
ONE_CASE = "No 95 % interval and no rank: there is one case of this class, or one of others."
NO_AREA = "no class has both cases of it and cases of others"
TIED = scored_cases(("yes", {"yes": 0.5}), ("no", {"yes": 0.5}))
SPAM = (("ham", 0.1), ("ham", 0.4), ("spam", 0.35), ("spam", 0.8))
FOUR_CASES = scored_cases(*((label, {"spam": spam, "ham": 1 - spam}) for label, spam in SPAM))
THREE_CLASSES = {
    "labels": ["cat", "dog", "fox"],
    **scored_cases(("cat", {"cat": 0.9}), ("cat", {"cat": 0.2, "dog": 0.8}), ("dog", {"dog": 0.7, "fox": 0.3})),
}


class RocParameters(ClassificationParameters):
    """How cases without scores count, and how fine the curves are."""

    curve_points: int = Field(
        1_000, ge=3, le=100_000, description="Most points of a stored curve; the areas are of all points."
    )


@classification_evaluator(
    title="ROC AUC",
    stand="first",
    default_needs=("scored_predictions",),
    metrics=(
        Metric(
            "roc_auc",
            "Chance that a case of a class scores higher for it than a case of another class; the mean over classes.",
            primary=True,
        ),
        Metric.detail(
            "roc_auc_ovo",
            "The same of each class against each other one: the mean over pairs of classes, so that each counts alike.",
            title="ROC AUC one-vs-one",
        ),
    ),
    sources=("Valor metrics: ROC AUC", "Hand & Till 2001"),
    differs_from_source="The area is that of trapezoids, as in scikit-learn; the formula in Valor's text takes the "
    "length of a step where a trapezoid has its width, and its wording of TN and FN is reversed. Equal scores make one "
    "step. A class without cases, or with all of them, has no area and is left out of the mean. Valor sets no "
    "threshold; .75 is Assay's. One-vs-one is added.",
    examples=(
        Example(
            "scikit-learn's: of the four pairs of spam and ham three are in order",
            FOUR_CASES,
            rows=(
                {"metric": "roc_auc", "label": "spam", "value": 0.75},
                {"metric": "roc_auc", "label": "ham", "value": 0.75},
                {"metric": "roc_auc", "label": None, "value": 0.75, "n": 4},
                {"metric": "roc_auc_ovo", "label": None, "value": 0.75, "n": 4},
            ),
        ),
        Example(
            "two equal scores, one positive: half",
            TIED,
            expect={"roc_auc": 0.5},
            rows=({"metric": "roc_auc", "label": "yes", "value": 0.5},),
        ),
        Example(
            "cat: 2 of 2 pairs in order, dog: .7 against absent and .8; no case is a fox",
            THREE_CLASSES,
            expect={"roc_auc": 0.75},
            rows=(
                {"metric": "roc_auc", "label": "cat", "value": 1.0},
                {"metric": "roc_auc", "label": "dog", "value": 0.5},
                {"metric": "roc_auc", "label": "fox", "value": None, "n": 0},
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

    roc_auc_ovo takes two classes at a time: the mean over all ordered pairs of the chance that a case of the one scores
    higher for it than a case of the other does. A frequent class then weighs no more among the others than a rare one.
    Of two classes it is the same number. Equal to scikit-learn's multi_class="ovo" with average="macro".

    A class without a score in a case ranks below every score there; so do all classes of a case without predictions if
    `missing` = wrong, else it is unscored. A class without cases, or with all of them, has no curve and no area and is
    left out of the mean, which then has a reason. n is the number of cases of the class.

    Curves: label, threshold, fpr, tpr from (0, 0) to (1, 1); threshold is empty at (0, 0) and where absent scores are
    included. Corners only, and where there are more than `curve_points` an even selection of them.

    Intervals and the paired test of two models: DeLong's variance, in resamples of the cases (of `cases.group` where
    given) that are the same for every class and model; in the interval it falls towards 0 and 1 as a share's does. A
    class with one case, or one case of others, has neither; nor has the mean over classes of fewer than 5 cases
    (harmonic mean).
    """
    found = read_scores(suite, outputs, parameters.missing)
    draws = parameters.draws(suite).of_cases(found.place)
    classes = class_curves(found.scores, found.truth, draws.weights)
    curves = classes.curves
    table = pa.concat_tables(
        [CURVES.empty_table(), *(_points(found.labels[code], curve, parameters) for code, curve in curves.items())]
    )
    return Findings(_aggregates(found, classes, draws), curves=table)


def _aggregates(found: ScoreMatrix, classes: ClassCurves, draws: Draws) -> list[Aggregate]:
    n, unscored, curves = len(found.truth), sum(found.unscored_labels.values()), classes.curves
    if not curves:
        why = NO_AREA if n else found.nothing
        return [aggregate(name, math.nan, n=n, unscored=unscored, reason=why) for name in ("roc_auc", "roc_auc_ovo")]
    known, truths = list(curves), found.truths
    areas = resampled_areas(list(curves.values()), found.truth[:, None] == known, draws)
    left_out = len(found.labels) - len(curves)
    reason = f"{left_out} of {len(found.labels)} classes left out: {NO_POSITIVES}" if left_out else None
    own = truths[known]
    few, mean = few_cases(own, draws), areas.mean(axis=1)
    pairs = mean if len(curves) < 3 else resampled_pairs(classes, found.truth, draws)
    rows = [
        estimate(name, values, effective(own), draws, n=n, unscored=unscored, reason=reason, few=few)
        for name, values in (("roc_auc", mean), ("roc_auc_ovo", pairs))
    ]
    for code, (label, many) in enumerate(zip(found.labels, truths.tolist(), strict=True)):
        out = found.unscored_labels.get(label, 0)
        if code not in curves:
            why = NO_NEGATIVES if many else NO_POSITIVES
            rows.append(aggregate("roc_auc", math.nan, n=many, unscored=out, label=label, reason=why))
            continue
        kinds = np.array([many, n - many])
        few = ONE_CASE if kinds.min() * draws.independence < 2 else None
        values = areas[:, known.index(code)]
        rows.append(estimate("roc_auc", values, effective(kinds), draws, n=many, unscored=out, label=label, few=few))
    return rows


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
