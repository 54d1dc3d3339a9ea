"""Classification: accuracy, precision, recall, F1 and their relatives, such as MCC, of predicted labels."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metrics.core.evaluator import Example, Findings
from metrics.core.evidence import facts_json
from metrics.core.suite import PREDICTIONS, Outputs, Suite
from metrics.evaluators._classification import CLASSIFICATION_METRICS, LabelParameters, compare
from metrics.evaluators.classification._examples import classification_evaluator, scored_cases
from metrics.evaluators.classification._score_matrix import case_runs, whole
from metrics.stats.float_tolerance import first_highest

THREE_OF_FOUR = scored_cases(
    ("cat", {"cat": 0.9, "dog": 0.1}),
    ("cat", {"cat": 0.4, "dog": 0.6}),
    ("dog", {"dog": 0.5, "cat": 0.5}),
    ("fox", {"fox": 0.7}),
)
ONE_UNANSWERED = scored_cases(("a", {"a": 0.8}), ("b", {}))


@classification_evaluator(
    stand="first",
    metrics=CLASSIFICATION_METRICS,
    sources=(
        "Valor metrics: Classification Metrics",
        "H2O Eval Studio evaluators: Classification",
        "scikit-learn: classification metrics",
    ),
    examples=(
        Example(
            "three of four right; the tie of case 3 goes to the first in the file",
            THREE_OF_FOUR,
            expect={"accuracy": 0.75, "balanced_accuracy": 5 / 6, "mcc": 7 / 10},
            rows=(
                {"metric": "precision", "label": None, "average": "macro", "value": 5 / 6},
                {"metric": "recall", "label": None, "average": "macro", "value": 5 / 6},
                {"metric": "f1", "label": None, "average": "macro", "value": 7 / 9},
                {"metric": "f1", "label": None, "average": "weighted", "value": 0.75},
                {"metric": "f1", "label": None, "average": "micro", "value": 0.75},
                {"metric": "precision", "label": "dog", "value": 0.5},
                {"metric": "recall", "label": "cat", "value": 0.5},
                {"metric": "specificity", "label": "dog", "value": 2 / 3},
                {"metric": "npv", "label": "cat", "value": 2 / 3},
            ),
        ),
        Example(
            "F2: recall weighs twice as much as precision",
            THREE_OF_FOUR,
            rows=(
                {"metric": "f_beta", "label": "cat", "value": 5 / 9},
                {"metric": "f_beta", "label": "dog", "value": 5 / 6},
            ),
            parameters={"beta": 2},
        ),
        Example(
            "a case without a prediction is unscored, and a class without one has no precision",
            ONE_UNANSWERED,
            rows=(
                {"metric": "accuracy", "label": None, "value": 1.0, "n": 1, "unscored": 1},
                {"metric": "precision", "label": "b", "value": None},
                {"metric": "recall", "label": "b", "value": None, "unscored": 1},
            ),
        ),
        Example(
            "the same with missing = wrong",
            ONE_UNANSWERED,
            rows=(
                {"metric": "accuracy", "label": None, "value": 0.5, "n": 2, "unscored": 0},
                {"metric": "recall", "label": "b", "value": 0.0},
                {"metric": "precision", "label": None, "average": "micro", "value": 1.0},
            ),
            parameters={"missing": "wrong"},
        ),
    ),
    differs_from="classification_text takes the answer itself for the label; the precision–recall curves evaluate "
    "every class at every score threshold, this one only the highest-scored label of each case.",
    differs_from_source="0/0 has no value, with the reason, and is left out of means; Valor does not say. Macro, micro "
    "and weighted means are added, and accuracy is the share of cases whose label is right, which for two classes is "
    "Valor's (TP + TN) / all. Slips of Valor's text are not followed: recall divides by TP + FN, F1 is a harmonic "
    "mean. Valor sets no threshold; .75 is H2O's. MCC, balanced accuracy, specificity, NPV and F-β are added.",
)
def classification(suite: Suite, outputs: Outputs, parameters: LabelParameters) -> Findings:
    """How well one predicted label a case agrees with the true one: accuracy, precision, recall, F1 and confusion.

    The prediction of a case is its label with the highest score, the first in the file where several tie; a label
    without a score ranks below every scored one. Over the n cases with a true label and a prediction, for class c:

        accuracy    = right / n                   precision_c = TP / (TP + FP)
        recall_c    = TP / (TP + FN)              F1_c        = 2·TP / (2·TP + FP + FN)
        specificity = TN / (TN + FP)              NPV_c       = TN / (TN + FN)
        Fβ_c        = (1 + β²)·TP / ((1 + β²)·TP + β²·FN + FP),   where `beta` is given
        MCC         = (right·n − Σ t·p) / √((n² − Σ p²)·(n² − Σ t²)),   t cases and p predictions of a class
        balanced accuracy = mean of recall over the classes with cases

    Over all classes, column `average`: *macro*, the mean over classes (the headline), *weighted* by the cases of each
    class, and *micro*, of the summed counts. MCC is from −1 to 1, 0 for guesses; all else from 0 to 1; higher is
    better. Where classes are rare, accuracy says little: MCC and balanced accuracy are not raised by naming the most
    frequent class. Of two classes, the specificity of one is the recall of the other.
    Classes are those of the suite and all that a prediction names.

    0/0 has no value, with the reason (a class never predicted has no precision); the macro and weighted means leave it
    out and name it. A case without a prediction is unscored, and counted: a model that declined and a file that is
    short look the same; `missing` = wrong counts it as an error of its class. Curves: the confusion matrix, one row per
    (label = truth, predicted) that occurs, with its count. Intervals: Wilson for shares, resamples of the cases (of
    `cases.group` where given, then of shares too) for F1 and the means; two models are tested on the same resamples.
    The macro mean over classes of fewer than 5 cases (harmonic mean) has neither.

    Equal to scikit-learn's precision_recall_fscore_support and fbeta_score with zero_division = nan,
    balanced_accuracy_score, and matthews_corrcoef where both sides have two classes or more; else it has no value.
    """
    truth = suite.cases["label"].combine_chunks()
    best, score = top_predictions(suite.cases["case_id"], outputs.predictions)
    known = pa.concat_arrays([truth, best]).unique().drop_null().to_pylist()
    labels = [*suite.labels, *sorted(set(known).difference(suite.labels))]
    evidence = facts_json(truth=truth, predicted=best, score=score)
    return compare(suite, truth, best, labels, parameters, evidence)


def top_predictions(case_ids: pa.ChunkedArray, predictions: pa.Table | None) -> tuple[pa.Array, pa.Array]:
    """Return label and score of each case's highest-scored prediction, the first of equals; null where it has none."""
    table = PREDICTIONS.empty_table() if predictions is None else predictions
    if table["label"].null_count:
        table = table.filter(pc.is_valid(table["label"]))
    label, score = whole(table["label"]), whole(table["score"])
    height = score.to_numpy(zero_copy_only=False)
    if np.isnan(height.max(initial=-np.inf)):
        height = np.nan_to_num(height, nan=-np.inf)
    case, size = case_runs(table["case_id"], whole(case_ids))
    first = first_highest(height, size)
    highest = np.full(len(case_ids) + 1, -np.inf)  # the last one: of no case
    np.maximum.at(highest, case, height[first])
    top = np.flatnonzero(height[first] == highest[case])[::-1]
    row = np.full(len(highest), -1)
    row[case[top]] = first[top]  # of a case in several runs the first is written last
    best = pa.array(row[:-1], mask=row[:-1] < 0)
    return label.take(best), score.take(best)
