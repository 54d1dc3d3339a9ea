"""Evaluators of classes beyond the one right label: top k, ordered ones; equal to scikit-learn's."""

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn import metrics as sk

from metrics.core.errors import InputError
from metrics.core.suite import Outputs, Suite
from tests.evaluators.tabular import classified, overall, run
from tests.random_seeds import least_covered, seeds

SETS = seeds(20, 200)


def scored(truth: Any, scores: Any, labels: list[str]) -> tuple[Suite, Outputs]:
    """Cases with a true label by its number, and a score for each label; NaN: none."""
    return classified([{"label": labels[code]} for code in truth], scores, labels)


def test_top_k_is_scikit_learn_s_with_its_ties() -> None:
    for seed in SETS:
        rng = np.random.default_rng(seed)
        k, n = int(rng.integers(3, 8)), int(rng.integers(2, 30))
        labels = [f"l{code}" for code in range(k)]
        truth, scores = rng.integers(0, k, n), rng.integers(0, 4, (n, k)) / 4
        found = overall(run("top_k_accuracy", scored(truth, scores, labels), ks=tuple(range(1, k + 1)), resamples=0))
        for top in range(1, k):
            expected = sk.top_k_accuracy_score(truth, scores, k=top, labels=range(k))
            assert found[f"top_{top}"].value == pytest.approx(expected), (seed, top)
        assert found[f"top_{k}"].value is None


def test_a_class_without_a_score_is_never_among_the_top() -> None:
    findings = run("top_k_accuracy", scored([0, 1], [[np.nan, 0.1, 0.0], [0.5, 0.2, 0.1]], list("abc")), ks=(2,))
    assert [findings.cases[case].values["top_2"] for case in "01"] == [0.0, 1.0]
    assert findings.cases["1"].evidence.facts == {"truth": "b", "rank": 2.0, "score": 0.2}


def test_kappas_are_scikit_learn_s() -> None:
    for seed in SETS:
        rng = np.random.default_rng(seed)
        k, n = int(rng.integers(2, 6)), int(rng.integers(1, 40))
        levels = [str(code) for code in range(k)]
        truth = rng.integers(0, k, n)
        guess = np.clip(truth + rng.integers(-2, 3, n), 0, k - 1)
        found = overall(run("ordinal", scored(truth, np.eye(k)[guess], levels), resamples=0))
        for weights in ("quadratic", "linear"):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                expected = sk.cohen_kappa_score(truth, guess, labels=range(k), weights=weights)
            value = found[f"{weights}_kappa"].value
            assert (value is None) == np.isnan(expected), seed
            assert value is None or value == pytest.approx(expected), seed
        assert found["mae_levels"].value == pytest.approx(sk.mean_absolute_error(truth, guess))
        assert found["within_one"].value == pytest.approx((np.abs(truth - guess) <= 1).mean())


@pytest.mark.parametrize(("labels", "given", "distance"), [
    pytest.param(["10", "9", "8"], (), 1.0, id="by-number"),
    pytest.param(["low", "mid", "high"], (), 2.0, id="the-suite-s-own-order"),
    pytest.param(["A", "B", "C"], (), 2.0, id="one-character"),
    pytest.param(["high", "low", "mid"], (), None, id="alphabetical-says-nothing"),
    pytest.param(["high", "low", "mid"], ("low", "mid", "high"), 1.0, id="given"),
])  # fmt: skip
def test_the_order_of_levels(labels: list[str], given: tuple[str, ...], distance: float | None) -> None:
    truth, guess = (0, 2) if labels[0] != "10" else (0, 1)
    row = overall(run("ordinal", scored([truth], [np.eye(3)[guess]], labels), levels=given))["mae_levels"]
    assert row.value == distance
    assert distance is not None or "name them in the parameter levels" in str(row.reason)


def test_true_labels_that_are_no_level_are_refused() -> None:
    with pytest.raises(InputError, match="the label 'mid'; expected one of the levels low, high"):
        run("ordinal", scored([1], [[1.0, 0.0, 0.0]], ["low", "mid", "high"]), levels=("low", "high"))


def test_kappa_s_interval_holds_as_often_as_it_says() -> None:
    noise = np.array([-1, 0, 0, 1])
    held, wide = 0, np.random.default_rng(0)
    truth = wide.integers(0, 5, 200_000)
    true = sk.cohen_kappa_score(truth, np.clip(truth + wide.choice(noise, len(truth)), 0, 4), weights="quadratic")
    draws = seeds(40, 100)
    for seed in draws:
        rng = np.random.default_rng(seed + 1)
        truth = rng.integers(0, 5, 60)
        guess = np.clip(truth + rng.choice(noise, 60), 0, 4)
        row = overall(run("ordinal", scored(truth, np.eye(5)[guess], list("01234")), resamples=200))["quadratic_kappa"]
        held += int(row.low <= true <= row.high)
    assert held >= least_covered(len(draws))
