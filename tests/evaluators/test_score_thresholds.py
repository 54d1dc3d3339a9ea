"""The score thresholds of the precision–recall curves: any list, each row counted anew from the data."""

from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from metrics.core.registry import evaluators
from metrics.core.suite import Outputs, Suite
from tests.evaluators.detected import outputs_of, pick, run, suite_of
from tests.evaluators.tabular import classified

GRID = (0.9, 0.0, 1 / 3, 0.5, 0.5, 1.0)
RISING = (0.0, 1 / 3, 0.5, 0.9, 1.0)
CURVES = (
    "classification_pr_curve", "classification_pr_curve_detailed", "detection_pr_curve", "detection_pr_curve_detailed",
)  # fmt: skip
LABELS = ("cat", "dog", "fox")


def labels(seed: int = 0) -> tuple[Suite, Outputs, Any, Any]:
    """Forty cases of three classes: true codes [40] and scores [40, 3], some of them absent or on a threshold."""
    draw = np.random.default_rng(seed)
    truth = draw.integers(3, size=40)
    scores = draw.choice([np.nan, 0.0, 1 / 3, 0.5, 0.62, 0.9, 1.0], size=(40, 3))
    scores[np.isnan(scores).all(axis=1), 0] = 0.5
    return *classified([{"label": LABELS[code]} for code in truth], scores, LABELS), truth, scores


@pytest.mark.parametrize("evaluator", CURVES)
@pytest.mark.parametrize("wrong", [[], [1.5], [-0.1], [float("nan")]])
def test_thresholds_lie_within_the_scores(evaluator: str, wrong: list[float]) -> None:
    with pytest.raises(ValidationError, match="score_thresholds"):
        evaluators()[evaluator].parameters.model_validate({"score_thresholds": wrong})


@pytest.mark.parametrize("evaluator", CURVES)
def test_by_default_they_are_every_twentieth(evaluator: str) -> None:
    given = evaluators()[evaluator].parameters.model_validate({})
    assert given.score_thresholds == pytest.approx(np.arange(0.05, 0.96, 0.05))


@pytest.mark.parametrize("seed", range(3))
def test_classification_counts_every_pair_of_case_and_class(seed: int) -> None:
    """tp, fp, fn and tn of each class add up to the cases; the detailed kinds to the same four."""
    suite, outputs, truth, scores = labels(seed)
    curve = run("classification_pr_curve", suite, outputs, score_thresholds=GRID).curves
    detailed = run("classification_pr_curve_detailed", suite, outputs, score_thresholds=GRID).curves
    rows = {(row["label"], row["threshold"]): row for row in curve.to_pylist()}
    kinds = {(row["label"], row["threshold"], row["kind"]): row["count"] for row in detailed.to_pylist()}
    assert list(rows) == [(label, threshold) for label in LABELS for threshold in RISING]
    for (label, threshold), row in rows.items():
        code = LABELS.index(label)
        predicted, true = scores[:, code] >= threshold, truth == code
        expected = [int((a & b).sum()) for a in (predicted, ~predicted) for b in (true, ~true)]
        assert ([row[name] for name in ("tp", "fp", "fn", "tn")], sum(expected)) == (expected, 40)
        at = {kind: kinds[label, threshold, kind] for kind in ("tp", "fp_misclassification", "tn")}
        missed = [kinds[label, threshold, f"fn_{kind}"] for kind in ("misclassification", "no_prediction")]
        assert [*at.values(), sum(missed)] == [row["tp"], row["fp"], row["tn"], row["fn"]]


def test_detection_counts_at_each_threshold_and_has_no_true_negatives() -> None:
    suite = suite_of(("a", "cat", 0, 0, 10, 10), ("a", "dog", 20, 0, 10, 10), ("b", "cat", 0, 0, 10, 10))
    outputs = outputs_of(
        ("a", "cat", 0, 0, 10, 10, 1 / 3), ("a", "cat", 20, 0, 10, 10, 0.9), ("b", "cat", 50, 50, 10, 10, 0.4)
    )
    curve = run("detection_pr_curve", suite, outputs, score_thresholds=GRID).curves
    detailed = run("detection_pr_curve_detailed", suite, outputs, score_thresholds=GRID).curves
    cats = [row for row in curve.to_pylist() if row["label"] == "cat"]
    assert [(row["threshold"], row["tp"], row["fp"], row["fn"], row["tn"]) for row in cats] == [
        (0.0, 1, 2, 1, None), (1 / 3, 1, 2, 1, None), (0.5, 0, 1, 2, None), (0.9, 0, 1, 2, None), (1.0, 0, 0, 2, None),
    ]  # fmt: skip
    kinds = {(row["threshold"], row["kind"]): row["count"] for row in detailed.to_pylist() if row["label"] == "cat"}
    assert {threshold for threshold, _ in kinds} == set(RISING)
    assert (kinds[0.5, "fp_misclassification"], kinds[0.5, "fp_hallucination"]) == (1, 0)
    assert (kinds[0.0, "fp_misclassification"], kinds[0.0, "fp_hallucination"]) == (1, 1)


def test_the_best_threshold_is_one_of_the_list() -> None:
    suite, outputs, truth, scores = labels()
    best = pick(run("classification_pr_curve", suite, outputs, score_thresholds=(0.4, 0.6)), "best_threshold").value
    values = []
    for threshold in (0.4, 0.6):
        predicted, true = scores >= threshold, truth[:, None] == np.arange(3)
        values.append((2 * (predicted & true).sum(axis=0) / (predicted.sum(axis=0) + true.sum(axis=0))).mean())
    assert best == (0.4, 0.6)[int(np.argmax(values))]
