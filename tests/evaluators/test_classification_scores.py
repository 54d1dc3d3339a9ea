"""The evaluators of label scores: the matrix they share, their numbers over whole data sets, what they refuse."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy.stats import rankdata
from sklearn.metrics import log_loss, roc_auc_score

from metrics.core.errors import InputError
from metrics.core.evaluator import Status
from metrics.core.evidence import Evidence
from metrics.core.suite import CASES, OUTPUTS, PREDICTIONS, Outputs, Suite, conform
from metrics.evaluators.classification._score_matrix import read_scores
from tests.evaluators.detected import pick
from tests.evaluators.tabular import run

SCORED = ("roc_auc", "classification_pr_curve", "classification_pr_curve_detailed", "calibration")


def data_set(
    truth: Mapping[str, str | None],
    scores: Sequence[tuple[str, str | None, float | None]],
    labels: Sequence[str] = (),
    groups: Mapping[str, str] | None = None,
) -> tuple[Suite, Outputs]:
    """A suite of case → true label and predictions (case, label, score)."""
    cases = [{"case_id": case, "label": label, "group": (groups or {}).get(case)} for case, label in truth.items()]
    predictions = [{"case_id": case, "model": "m", "label": label, "score": score} for case, label, score in scores]
    suite = Suite.from_rows("s", "classification", cases, labels=labels)
    return suite, Outputs.from_rows([{"case_id": case, "model": "m"} for case in truth], predictions)


def drawn(n: int, k: int, seed: int = 0, sharpness: float = 1.5, digits: int = 17) -> tuple[Suite, Outputs]:
    """n cases of k classes with a probability for each class."""
    truth, scores = probabilities(n, k, seed, sharpness, digits)
    ids = pa.array([f"c{index}" for index in range(n)])
    names = pa.array([f"l{index}" for index in range(k)])
    cases = {"case_id": ids, "label": names.take(pa.array(truth))}
    suite = Suite("s", "classification", conform(pa.table(cases), CASES), None, tuple(names.to_pylist()))
    outputs = conform(pa.table({"case_id": ids, "model": pa.repeat("m", n)}), OUTPUTS)
    predictions = {
        "case_id": ids.take(pa.array(np.repeat(np.arange(n), k))), "model": pa.repeat("m", n * k),
        "label": names.take(pa.array(np.tile(np.arange(k), n))), "score": scores.ravel(),
    }  # fmt: skip
    return suite, Outputs(outputs, conform(pa.table(predictions), PREDICTIONS))


def probabilities(n: int, k: int, seed: int, sharpness: float, digits: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, k, n)
    logits = rng.normal(size=(n, k))
    logits[np.arange(n), truth] += sharpness
    scores = np.exp(logits)
    return truth, np.round(scores / scores.sum(axis=1, keepdims=True), digits)


def frame(table: pa.Table | None) -> pd.DataFrame:
    return table.to_pandas()


# The matrix


def test_the_matrix_has_what_there_is() -> None:
    scores = [("1", "b", 0.2), ("1", "a", 0.7), ("1", "a", 0.6), ("2", "z", 1.0), ("2", "a", None), ("3", "a", 1.0)]
    truth = {"1": "a", "2": "b", "3": None, "4": "b"}
    data = data_set(truth, scores, labels=["b", "a"], groups={"1": "g", "2": "g"})
    found = read_scores(*data)
    assert (found.labels, found.case_ids) == (("b", "a", "z"), ["1", "2"])
    np.testing.assert_array_equal(found.scores, [[0.2, 0.7, np.nan], [np.nan, np.nan, 1.0]])
    assert (found.truth.tolist(), found.place.tolist()) == ([1, 0], [0, 1])
    assert found.unscored == {"3": "the case has no true label", "4": "the model gave no scores"}
    assert found.unscored_labels == {None: 1, "b": 1}
    also = read_scores(*data, missing="wrong")
    assert also.case_ids == ["1", "2", "4"]
    assert np.isnan(also.scores[2]).all()
    assert also.place.tolist() == [0, 1, 3]


@pytest.mark.parametrize("name", SCORED)
def test_scores_that_are_not_finite_are_refused_all_at_once(name: str) -> None:
    scores = [("1", "a", float("inf")), ("1", "b", None), ("2", "b", 0.5), ("2", "a", float("nan"))]
    data = data_set({"1": "a", "2": "b"}, scores)
    with pytest.raises(InputError) as caught:
        run(name, data)
    assert str(caught.value).splitlines() == [
        "predictions, row 1, column score: found inf; expected a finite score",
        "predictions, row 4, column score: found nan; expected a finite score",
    ]


@pytest.mark.parametrize("name", SCORED)
def test_without_any_scored_case_there_is_a_reason(name: str) -> None:
    for findings in (run(name, data_set({"1": "a"}, [])), run(name, data_set({"1": None}, [("1", "a", 1.0)]))):
        assert {row.value for row in findings.aggregates} == {None}
        assert {row.reason for row in findings.aggregates} == {"no case has both a true label and a prediction"}
        assert {row.unscored for row in findings.aggregates} == {1}


@pytest.mark.parametrize("name", SCORED)
def test_one_group_alone_has_no_interval(name: str) -> None:
    scores = [(case, label, 0.5) for case in "123" for label in "ab"]
    data = data_set({"1": "a", "2": "b", "3": "a"}, scores, groups=dict.fromkeys("123", "g"))
    rows = [row for row in run(name, data).aggregates if row.value is not None]
    assert rows
    assert {(row.low, row.high, row.interval) for row in rows} == {(None, None, None)}


# ROC AUC


@pytest.mark.parametrize("digits", [17, 1], ids=["distinct", "tied"])
def test_roc_auc_equals_scikit_learn(digits: int) -> None:
    truth, scores = probabilities(300, 4, 1, 1.0, digits)
    findings = run("roc_auc", drawn(300, 4, 1, 1.0, digits))
    areas = [roc_auc_score(truth == code, scores[:, code]) for code in range(4)]
    for code, area in enumerate(areas):
        assert pick(findings, "roc_auc", f"l{code}").value == pytest.approx(area, abs=1e-12)
    assert pick(findings, "roc_auc").value == pytest.approx(np.mean(areas), abs=1e-12)
    if digits == 17:
        whole = scores / scores.sum(axis=1, keepdims=True)
        theirs = roc_auc_score(truth, whole, multi_class="ovr", average="macro")
        assert pick(findings, "roc_auc").value == pytest.approx(theirs, abs=1e-9)


def test_a_class_that_is_all_or_nothing_has_no_area() -> None:
    scores = [("1", "a", 0.9), ("2", "a", 0.8), ("2", "b", 0.2)]
    only = run("roc_auc", data_set({"1": "a", "2": "a"}, scores, labels=["a", "b"]))
    assert [(row.label, row.value, row.reason) for row in only.aggregates] == [
        (None, None, "no class has both cases of it and cases of others")
    ] * 2
    data = data_set({"1": "a", "2": "b"}, [("1", "a", 0.9), ("2", "b", 0.3)], labels=["a", "b", "c"])
    findings = run("roc_auc", data)
    assert pick(findings, "roc_auc", "c").reason == "no case of this class"
    assert pick(findings, "roc_auc").reason == (
        "1 of 3 classes left out: no case of this class. No 95 % interval and no rank: it takes two classes and 5 "
        "cases per class (harmonic mean); no interval or test of a mean over classes is reliable with fewer."
    )
    assert pick(findings, "roc_auc", "a").reason == (
        "No 95 % interval and no rank: there is one case of this class, or one of others."
    )
    assert set(frame(findings.curves)["label"]) == {"a", "b"}


def test_roc_curve_runs_from_nothing_to_everything() -> None:
    scores = [("1", "a", 0.9), ("2", "a", 0.4), ("3", "a", 0.6), ("4", "b", 1.0)]
    curves = frame(run("roc_auc", data_set({"1": "a", "2": "a", "3": "b", "4": "b"}, scores)).curves)
    own = curves[curves["label"] == "a"].drop(columns="label").to_numpy()
    # the last corner lets in case 4, which has no score for a
    np.testing.assert_array_equal(own, [[np.nan, 0, 0], [0.9, 0, 0.5], [0.6, 0.5, 0.5], [0.4, 0.5, 1], [np.nan, 1, 1]])


def test_the_interval_of_the_mean_agrees_with_resampled_cases() -> None:
    truth, scores = probabilities(250, 3, 5, 1.0, 17)
    row = pick(run("roc_auc", drawn(250, 3, 5, 1.0)), "roc_auc")
    rng = np.random.default_rng(0)
    means = []
    for _ in range(300):
        rows = rng.integers(0, 250, 250)
        areas = []
        for code in range(3):
            own, ranks = truth[rows] == code, rankdata(scores[rows, code])
            areas.append((ranks[own].mean() - (own.sum() + 1) / 2) / (~own).sum())
        means.append(np.mean(areas))
    assert (row.low, row.high) == pytest.approx(tuple(np.quantile(means, [0.025, 0.975])), abs=0.012)


# Precision and recall by threshold


def test_the_curves_agree_with_each_other_and_with_the_matches() -> None:
    data = drawn(120, 3, 2)
    findings = run("classification_pr_curve", data)
    curves, matches = frame(findings.curves), frame(findings.matches)
    detailed = frame(run("classification_pr_curve_detailed", data).curves)
    kinds = detailed.pivot_table(index=["label", "threshold"], columns="kind", values="count")
    for row in curves.to_dict("records"):
        found = kinds.loc[row["label"], row["threshold"]]
        assert (found["tp"], found["fp_misclassification"]) == (row["tp"], row["fp"])
        assert found["tn"] == row["tn"]
        assert found["fn_misclassification"] + found["fn_no_prediction"] == row["fn"]
        assert row["tp"] + row["fp"] + row["tn"] + row["fn"] == 120
        own = matches[matches["label"] == row["label"]]
        kept = own["score"] >= row["threshold"]
        assert (kept & (own["kind"] == "tp")).sum() == row["tp"]
        assert (kept & (own["kind"] == "fp_misclassification")).sum() == row["fp"]
        assert (own["kind"].str.startswith("fn") | ((own["kind"] == "tp") & ~kept)).sum() == row["fn"]
    best = pick(findings, "best_f1")
    means = curves.groupby("threshold")["f1"].mean()
    assert best.value == pytest.approx(means.max())
    assert pick(findings, "best_threshold").value == means.idxmax()


def test_examples_are_the_clearest_first() -> None:
    data = data_set(
        {"1": "a", "2": "a", "3": "a", "4": "b", "5": "b"},
        [("1", "a", 0.6), ("2", "a", 0.9), ("3", "b", 0.8), ("4", "a", 0.7), ("5", "a", 0.95), ("4", "b", 0.1)],
    )
    curves = frame(run("classification_pr_curve_detailed", data, pr_curve_max_examples=2).curves)
    at = curves[curves["threshold"] == 0.5].set_index(["label", "kind"])
    shown = {key: (row["count"], json.loads(row["examples"])) for key, row in at.iterrows()}
    assert shown == {
        ("a", "tp"): (2, ["2", "1"]), ("a", "fp_misclassification"): (2, ["5", "4"]),
        ("a", "fn_misclassification"): (1, ["3"]), ("a", "fn_no_prediction"): (0, []), ("a", "tn"): (0, []),
        ("b", "tp"): (0, []), ("b", "fp_misclassification"): (1, ["3"]), ("b", "fn_misclassification"): (2, ["5", "4"]),
        ("b", "fn_no_prediction"): (0, []), ("b", "tn"): (2, ["1", "2"]),
    }  # fmt: skip


@pytest.mark.parametrize("most", [0, 1, 5])
def test_there_are_no_more_examples_than_asked_for(most: int) -> None:
    curves = frame(run("classification_pr_curve_detailed", drawn(60, 3), pr_curve_max_examples=most).curves)
    lengths = curves["examples"].map(lambda text: len(json.loads(text)))
    assert (lengths == np.minimum(curves["count"], most)).all()


def test_a_case_has_its_outcome() -> None:
    data = data_set({"1": "a", "2": "b"}, [("1", "a", 0.2), ("1", "b", 0.6), ("2", "a", 0.1)])
    first, second = run("classification_pr_curve_detailed", data).cases.values()
    assert first.values == {"tp": 0, "fn_misclassification": 1, "fn_no_prediction": 0, "fp_misclassification": 1}
    assert first.evidence == Evidence(facts={"truth": "a", "score": 0.2, "threshold": 0.5, "predicted": ["b"]})
    assert second.values == {"tp": 0, "fn_misclassification": 0, "fn_no_prediction": 1, "fp_misclassification": 0}
    assert second.evidence == Evidence(facts={"truth": "b", "score": None, "threshold": 0.5, "predicted": []})


# Calibration


def test_the_means_are_those_of_the_cases_and_of_scikit_learn() -> None:
    truth, scores = probabilities(200, 3, 3, 1.5, 17)
    findings = run("calibration", drawn(200, 3, 3))
    assert pick(findings, "log_loss").value == pytest.approx(log_loss(truth, scores, labels=[0, 1, 2]), abs=1e-9)
    for metric in ("brier", "log_loss"):
        values = [case.values[metric] for case in findings.cases.values()]
        assert pick(findings, metric).value == pytest.approx(np.mean([value for value in values if value is not None]))
    curve = frame(findings.curves)
    assert curve["n"].sum() == 200
    gaps = (curve["accuracy"] - curve["mean_confidence"]).abs()
    assert pick(findings, "expected_calibration_error").value == pytest.approx((gaps * curve["n"]).sum() / 200)
    filled = curve[curve["n"] > 0]
    assert ((filled["low"] <= filled["accuracy"]) & (filled["accuracy"] <= filled["high"])).all()
    assert curve[curve["n"] == 0][["mean_confidence", "accuracy", "low", "high"]].isna().all().all()


def test_scores_that_are_no_probabilities_are_named() -> None:
    data = data_set(
        {"1": "a", "2": "b", "3": "a"},
        [("1", "a", 0.7), ("1", "b", 0.3), ("2", "a", 0.8), ("2", "b", 0.9), ("3", "a", 0.501), ("3", "b", 0.504)],
    )
    findings = run("calibration", data)
    row = pick(findings, "brier")
    assert (row.n, row.unscored, row.reason) == (2, 1, "1 of 3 cases left out: their scores do not add up to 1")
    assert pick(findings, "expected_calibration_error").n == 3
    assert findings.cases["2"].status is Status.NOT_APPLICABLE
    assert findings.cases["2"].reason == "the scores add up to 1.7, not 1: they are no probabilities"
    assert findings.cases["3"].status is Status.OK


def test_rare_errors_give_no_interval_of_the_expected_error() -> None:
    row = pick(run("calibration", drawn(60, 2, sharpness=4)), "expected_calibration_error")
    assert (row.low, row.replicates) == (None, None)
    assert row.reason.startswith("No 95 % interval and no rank: fewer than 5 predictions are right, or fewer are wrong")
    assert pick(run("calibration", drawn(60, 2, sharpness=1)), "expected_calibration_error").replicates is not None


LOGITS = {
    "roc_auc": {"roc_auc", "roc_auc_ovo"},
    "classification_pr_curve": {"best_f1", "best_threshold", "average_precision"},
    "classification_pr_curve_detailed": set(), "calibration": set(), "top_k_accuracy": {"top_1"},
    "selective_accuracy": {"risk_area"},
}  # fmt: skip


@pytest.mark.parametrize("name", LOGITS)
def test_logits_rank_but_are_no_probabilities(name: str) -> None:
    truth, margin = "aabbab", (2.5, -0.5, -3.0, 1.0, 4.0, -2.0)
    scores = [(str(case), label, s if label == "a" else -s) for case, s in enumerate(margin) for label in "ab"]
    data = data_set({str(case): label for case, label in enumerate(truth)}, scores)
    rows = run(name, data).aggregates
    valued = {row.metric for row in rows if row.value is not None}
    assert valued == LOGITS[name]
    if name == "roc_auc":  # one of nine pairs is not in order: the a of -0.5 below the b of 1
        assert rows[0].value == pytest.approx(8 / 9)
    if name in ("calibration", "classification_pr_curve_detailed"):
        assert {row.reason for row in rows} == {"10 of 12 scores are not within 0 … 1: they are no probabilities"}


@pytest.mark.parametrize("name", SCORED)
@pytest.mark.parametrize("missing", ["unscored", "wrong"])
def test_classes_without_scores_have_no_values_of_scores(name: str, missing: str) -> None:
    data = data_set({"1": "a", "2": "b", "3": "a"}, [("1", "a", None), ("2", "a", None), ("3", "b", None)])
    takes = name in ("roc_auc", "classification_pr_curve", "classification_pr_curve_detailed", "top_k_accuracy")
    rows = run(name, data, **({"missing": missing} if takes else {})).aggregates
    assert {(row.value, row.reason) for row in rows} == {(None, "the model gave no scores")}


def test_lists_of_true_classes_are_said_to_be_the_reason() -> None:
    suite = Suite.from_rows("s", "classification", [{"case_id": "1", "labels": ["a", "b"]}], labels=("a", "b"))
    row = {"case_id": "1", "model": "m"}
    outputs = Outputs.from_rows([row], [{**row, "label": "a", "score": 0.5}])
    reason = pick(run("calibration", (suite, outputs)), "expected_calibration_error").reason
    assert reason == "the cases have lists of true classes: it is for one true class a case"
