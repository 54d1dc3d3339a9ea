"""Several true classes a case: equal to scikit-learn's metrics of label sets and of their scores."""

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn import metrics as sk

from metrics.core.evaluator import Status
from metrics.core.suite import Outputs, Suite
from tests.evaluators.detected import pick
from tests.evaluators.tabular import classified, run
from tests.random_seeds import least_covered, seeds

SETS = seeds(20, 200)


def data_set(truth: Any, scores: Any) -> tuple[Suite, Outputs]:
    """Cases with their true labels l0, l1, …, and a score for each label."""
    names = [f"l{code}" for code in range(truth.shape[1])]
    return classified([{"labels": [names[code] for code in np.flatnonzero(row)]} for row in truth], scores, names)


def test_equal_to_scikit_learn_on_random_data() -> None:
    warnings.simplefilter("ignore")  # scikit-learn's, of labels without cases
    for seed in SETS:
        rng = np.random.default_rng(seed)
        n, k = int(rng.integers(1, 25)), int(rng.integers(2, 7))
        truth = rng.random((n, k)) < rng.choice([0.0, 0.2, 0.5, 1.0])
        scores = rng.integers(0, 5, (n, k)) / 4 if seed % 2 else rng.random((n, k))
        made = scores >= 0.5
        found = run("multilabel", data_set(truth, scores), resamples=0)
        expected: dict[tuple[str, str | None], float] = {
            ("subset_accuracy", None): sk.accuracy_score(truth, made),
            ("hamming_loss", None): sk.hamming_loss(truth, made),
            ("label_ranking_ap", None): sk.label_ranking_average_precision_score(truth, scores),
            ("coverage_error", None): sk.coverage_error(truth, scores),
            ("ranking_loss", None): sk.label_ranking_loss(truth, scores),
        }
        for average in ("macro", "micro", "weighted", "samples"):
            values = sk.precision_recall_fscore_support(truth, made, average=average, zero_division=np.nan)
            each = sk.precision_recall_fscore_support(truth, made, average=None, zero_division=np.nan)
            for place, name in enumerate(("precision", "recall", "f1")):
                weightless = not truth.sum(axis=0)[~np.isnan(each[place])].any()  # then scikit-learn gives 0
                expected[name, average] = np.nan if average == "weighted" and weightless else values[place]
        held = truth.any(axis=0)
        if held.any():
            areas = [sk.average_precision_score(truth[:, code], scores[:, code]) for code in np.flatnonzero(held)]
            expected["map", None] = float(np.mean(areas))
        both = np.flatnonzero(held & ~truth.all(axis=0))
        if len(both):
            expected["roc_auc", None] = float(sk.roc_auc_score(truth[:, both], scores[:, both]))
        for (metric, average), value in expected.items():
            row = pick(found, metric, average=average)
            if np.isnan(value):
                assert row.value is None, (seed, metric, average)
                assert row.reason
            else:
                assert row.value == pytest.approx(value), (seed, metric, average)


def test_a_case_s_scores_are_those_of_its_own_set() -> None:
    truth = np.array([[True, True, False], [False, False, False]])
    cases = run("multilabel", data_set(truth, np.array([[0.9, 0.2, 0.6], [0.1, 0.1, 0.1]]))).cases
    assert cases["0"].values["f1"] == pytest.approx(0.5)
    assert cases["0"].values["ranking_loss"] == pytest.approx(0.5)
    assert cases["0"].evidence.facts == {"truth": "l0, l1", "predicted": "l0, l2"}
    assert cases["1"].values["subset_accuracy"] == 1.0
    assert cases["1"].values["f1"] is None


def test_cases_without_a_list_or_an_output_are_unscored() -> None:
    suite = Suite.from_rows("s", "classification", [
        {"case_id": "a", "labels": ["x"]}, {"case_id": "b", "labels": None}, {"case_id": "c", "labels": []},
    ])  # fmt: skip
    rows = [{"case_id": id, "model": "m"} for id in "ab"]
    findings = run(
        "multilabel", (suite, Outputs.from_rows(rows, [{"case_id": "a", "model": "m", "label": "x", "score": None}]))
    )
    assert findings.cases["a"].values["subset_accuracy"] == 1.0  # named without a score: predicted
    assert findings.cases["b"].reason == "the case has no list of true labels"
    assert (findings.cases["c"].status, findings.cases["c"].reason) == (
        Status.SKIPPED, "the model has no output for the case",
    )  # fmt: skip
    assert pick(findings, "hamming_loss").unscored == 2


def test_intervals_hold_the_true_value_as_often_as_they_say() -> None:
    def drawn(rng: Any, n: int) -> tuple[Any, Any]:
        truth = rng.random((n, 3)) < 0.4
        return truth, truth + rng.normal(0, 0.8, (n, 3))

    truth, scores = drawn(np.random.default_rng(0), 10_000)
    true = {
        ("map", None): np.mean([sk.average_precision_score(truth[:, c], scores[:, c]) for c in range(3)]),
        ("f1", "macro"): sk.f1_score(truth, scores >= 0.5, average="macro"),
        ("hamming_loss", None): sk.hamming_loss(truth, scores >= 0.5),
        ("label_ranking_ap", None): sk.label_ranking_average_precision_score(truth, scores),
    }
    held = dict.fromkeys(true, 0)
    draws = seeds(15, 60)
    for seed in draws:
        found = run("multilabel", data_set(*drawn(np.random.default_rng(seed + 1), 80)), resamples=200)
        for (metric, average), value in true.items():
            row = pick(found, metric, average=average)
            held[metric, average] += int(row.low <= value <= row.high)
    assert min(held.values()) >= least_covered(len(draws)), held


def test_lists_without_scores_rank_nothing_and_say_so() -> None:
    cases = [{"case_id": "1", "labels": ["a"]}, {"case_id": "2", "labels": ["b"]}]
    suite = Suite.from_rows("s", "classification", cases, labels=["a", "b"])
    predictions = [{"case_id": name, "model": "m", "label": "a"} for name in "12"]
    found = run(
        "multilabel", (suite, Outputs.from_rows([{"case_id": name, "model": "m"} for name in "12"], predictions))
    )
    ranked = [
        row for row in found.aggregates if row.metric in ("map", "label_ranking_ap", "coverage_error", "ranking_loss")
    ]
    assert {(row.value, row.reason) for row in ranked} == {(None, "the model gave no scores")}
    assert pick(found, "subset_accuracy").value == 0.5
