"""Classification against scikit-learn and by hand: ties, missing predictions, classes without support, intervals."""

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    confusion_matrix,
    fbeta_score,
    matthews_corrcoef,
    multilabel_confusion_matrix,
    precision_recall_fscore_support,
)

from metrics.core.evaluator import Aggregate, Findings, Status
from metrics.core.evidence import Evidence
from metrics.core.registry import evaluators
from metrics.core.suite import Outputs, Suite
from tests.evaluators.detected import pick

LABELS = ["cat", "dog", "fox", "owl"]
PAIRS = st.lists(st.tuples(st.sampled_from(LABELS), st.sampled_from(LABELS)), min_size=1, max_size=40)


def classify(
    cases: list[tuple[str | None, list[tuple[str | None, float | None]]]], weights: Any = None, **parameters: Any
) -> Findings:
    """The findings for cases given as (true label, [(label, score) …])."""
    entry = evaluators()["classification"]
    rows_of_cases = [{"case_id": str(i), "label": true} for i, (true, _) in enumerate(cases)]
    if weights is not None:
        rows_of_cases = [row | {"weight": weight} for row, weight in zip(rows_of_cases, weights, strict=True)]
    suite = Suite.from_rows("s", "classification", rows_of_cases)
    models = [{"case_id": str(index), "model": "m"} for index in range(len(cases))]
    own = zip(models, cases, strict=True)
    rows = [row | {"label": label, "score": score} for row, (_, made) in own for label, score in made]
    outputs = Outputs.from_rows(models, rows)
    return entry(suite, outputs, entry.parameters.model_validate(parameters))


def answered(cases: list[tuple[list[str], str | None]], **parameters: Any) -> Findings:
    """The findings of classification_text for cases given as (expected answers, answer)."""
    entry = evaluators()["classification_text"]
    suite = Suite.from_rows("s", "text", [{"case_id": str(i), "expected_answers": e} for i, (e, _) in enumerate(cases)])
    outputs = Outputs.from_rows([{"case_id": str(i), "model": "m", "answer": a} for i, (_, a) in enumerate(cases)])
    return entry(suite, outputs, entry.parameters.model_validate(parameters))


def number_of(row: Aggregate) -> float:
    """The value, NaN for none, as scikit-learn has it."""
    return np.nan if row.value is None else row.value


@given(PAIRS)
def test_equal_to_scikit_learn(pairs: list[tuple[str, str]]) -> None:
    truth, predicted = map(list, zip(*pairs, strict=True))
    scored = classify([(true, [(guess, 0.8), ("cat", 0.1), ("dog", 0.1)]) for true, guess in pairs])
    labels = sorted({*truth, *predicted})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # scikit-learn remarks on 0/0 and on a single label
        for findings, classes in ((scored, labels), (answered([([t], p) for t, p in pairs]), sorted(set(truth)))):
            assert pick(findings, "accuracy").value == pytest.approx(accuracy_score(truth, predicted))
            each = precision_recall_fscore_support(truth, predicted, labels=classes, zero_division=np.nan)
            means = precision_recall_fscore_support(
                truth, predicted, labels=classes, average="macro", zero_division=np.nan
            )
            for place, metric in enumerate(("precision", "recall", "f1")):
                assert number_of(pick(findings, metric, average="macro")) == pytest.approx(means[place], nan_ok=True)
                for label, value in zip(classes, each[place], strict=True):
                    assert number_of(pick(findings, metric, label)) == pytest.approx(value, nan_ok=True)
        matrix = confusion_matrix(truth, predicted, labels=labels)
    ours = {(row["label"], row["predicted"]): row["count"] for row in scored.curves.to_pylist()}
    assert ours == {(labels[i], labels[j]): matrix[i, j] for i, j in zip(*np.nonzero(matrix), strict=True)}


def test_the_relatives_of_accuracy_equal_scikit_learns_on_random_data() -> None:
    """200 data sets, some of one class, weighted every third time: MCC, balanced accuracy, F-β, specificity and NPV."""
    rng = np.random.default_rng(3)
    for number in range(200):
        n, k = int(rng.integers(1, 50)), int(rng.integers(1, 5))
        truth, made = (rng.choice(LABELS[:k], n).tolist() for _ in range(2))
        weights = rng.integers(1, 4, n).astype(float) if number % 3 == 0 else None
        beta = (0.5, 2.0)[number % 2]
        pairs = [(true, [(guess, 1.0)]) for true, guess in zip(truth, made, strict=True)]
        found = classify(pairs, weights, beta=beta, resamples=0)
        classes = sorted({*truth, *made})
        own: dict[str, Any] = {"sample_weight": weights}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # scikit-learn remarks on a single label
            theirs = matthews_corrcoef(truth, made, **own)
            one = len(set(truth)) == 1 or len(set(made)) == 1
            assert number_of(pick(found, "mcc")) == pytest.approx(np.nan if one else theirs, nan_ok=True)
            balanced = balanced_accuracy_score(truth, made, **own)
            assert pick(found, "balanced_accuracy").value == pytest.approx(balanced)
            f_beta = fbeta_score(truth, made, beta=beta, labels=classes, average=None, zero_division=np.nan, **own)
            counts = multilabel_confusion_matrix(truth, made, labels=classes, **own)
        each = {"f_beta": f_beta}
        with np.errstate(invalid="ignore"):
            (tn, fp), (fn, _) = (counts[:, row].T for row in range(2))
            each |= {"specificity": tn / (tn + fp), "npv": tn / (tn + fn)}
            micro = {"specificity": tn.sum() / (tn + fp).sum(), "npv": tn.sum() / (tn + fn).sum()}
        for metric, values in each.items():
            for label, value in zip(classes, values, strict=True):
                assert number_of(pick(found, metric, label)) == pytest.approx(value, nan_ok=True)
            known = values[~np.isnan(values)]
            macro = known.mean() if len(known) else np.nan
            assert number_of(pick(found, metric, average="macro")) == pytest.approx(macro, nan_ok=True)
        for metric, value in micro.items():
            assert number_of(pick(found, metric, average="micro")) == pytest.approx(value, nan_ok=True)


def test_a_prediction_of_no_class_is_a_class_of_its_own_for_mcc() -> None:
    truth, made = ["a", "a", "b", "b", "b"], ["a", "?", "b", "b", "?"]
    found = answered([([true], guess) for true, guess in zip(truth, made, strict=True)])
    assert pick(found, "mcc").value == pytest.approx(matthews_corrcoef(truth, made))
    assert "f_beta" not in {row.metric for row in found.aggregates}


@pytest.mark.parametrize(("predictions", "expected"), [
    pytest.param([("a", 0.2), ("b", 0.8)], "b", id="highest-score"),
    pytest.param([("b", 0.5), ("a", 0.5)], "b", id="first-of-equals"),
    pytest.param([("a", None), ("b", 0.0)], "b", id="no-score-is-lowest"),
    pytest.param([("b", None), ("a", None)], "b", id="no-scores-at-all"),
    pytest.param([("a", float("nan")), ("b", -1.0)], "b", id="nan-is-lowest"),
    pytest.param([(None, 0.9), ("b", 0.1)], "b", id="no-label"),
])  # fmt: skip
def test_the_prediction_of_a_case(predictions: list[tuple[str | None, float | None]], expected: str) -> None:
    findings = classify([("b", predictions)])
    assert findings.cases["0"].values == {"accuracy": 1.0}
    assert findings.cases["0"].evidence.facts["predicted"] == expected


def test_missing_predictions_and_labels_are_unscored_with_a_reason() -> None:
    findings = classify([("a", [("a", 1.0)]), ("b", []), (None, [("a", 1.0)])])
    assert (pick(findings, "accuracy").n, pick(findings, "accuracy").unscored) == (1, 2)
    assert {case: result.reason for case, result in findings.cases.items() if result.status is not Status.OK} == {
        "1": "the model made no prediction",
        "2": "the case has no true label",
    }
    assert pick(findings, "recall", "b").reason == "no case of this class"
    assert pick(findings, "precision", average="macro").reason == "1 of 2 classes left out: never predicted"


def test_nothing_to_score_is_no_value() -> None:
    findings = classify([("a", []), (None, [])])
    assert all(row.value is None and row.reason and row.unscored == 2 for row in findings.aggregates)


def test_a_label_of_the_suite_that_never_occurs_has_its_rows() -> None:
    entry = evaluators()["classification"]
    suite = Suite.from_rows("s", "classification", [{"case_id": "1", "label": "a"}], labels=["z", "a"])
    outputs = Outputs.from_rows([], [{"case_id": "1", "model": "m", "label": "q", "score": 1}])
    rows = [
        (row.label, row.value) for row in entry(suite, outputs, entry.parameters()).aggregates if row.metric == "f1"
    ]
    assert rows[3:] == [("z", None), ("a", 0.0), ("q", 0.0)]


def test_intervals_are_named_and_hold_the_value() -> None:
    rng = np.random.default_rng(0)
    truth = rng.choice(LABELS, 200)
    guess = np.where(rng.random(200) < 0.8, truth, rng.choice(LABELS, 200))
    findings = classify([(true, [(label, 1.0)]) for true, label in zip(truth.tolist(), guess.tolist(), strict=True)])
    for row in findings.aggregates:
        assert row.low < row.value < row.high
        micro = row.columns["average"] == "micro" and row.metric not in ("specificity", "npv")
        share = row.metric == "accuracy" or micro or (row.label and row.metric != "f1")
        assert row.interval == ("wilson" if share else "bootstrap")


def test_a_text_that_is_no_class_is_wrong_and_null_in_the_matrix() -> None:
    findings = answered([(["a"], "a"), (["a"], "A!"), (["b"], " b "), (["b"], " "), (["b"], None)])
    assert (pick(findings, "accuracy").value, pick(findings, "accuracy").unscored) == (0.5, 1)  # silence is wrong
    assert pick(findings, "precision", "a").value == 1
    assert {"label": "a", "predicted": None, "count": 1} in findings.curves.to_pylist()
    assert findings.cases["1"].evidence == Evidence(facts={"truth": "a", "predicted": "A!", "score": None})
    assert findings.cases["4"].reason == "the model made no prediction"
