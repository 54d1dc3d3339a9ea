"""Prediction-powered means, against the closed form, laws, and judges whose truth is known."""

import numpy as np
import pytest
from scipy import stats

from metrics.stats.judge_correction import corrected_difference, corrected_mean
from tests.random_seeds import LONG
from tests.stats.judged import DESIGNS, JUDGES, Judge, simulate, simulate_pairs

RNG = np.random.default_rng(5)
SCORES = RNG.random(60)
LABELS = np.where(np.arange(60) < 25, (SCORES + RNG.random(60) > 1).astype(float), np.nan)


def test_lambda_approaches_that_of_ppi_plus_plus() -> None:
    rng = np.random.default_rng(2)
    scores, labels = rng.random(4_000), np.full(4_000, np.nan)
    labels[:1_000] = scores[:1_000] + rng.normal(0, 0.2, 1_000)
    estimate = corrected_mean(scores, labels)
    f, y, others = scores[:1_000], labels[:1_000], scores[1_000:]
    tuned = np.cov(y, f)[0, 1] / ((1 + 1_000 / 3_000) * np.var(f))
    assert estimate.weight == pytest.approx(tuned, rel=0.01)
    assert estimate.value == pytest.approx(y.mean() + tuned * (others.mean() - f.mean()), abs=2e-4)
    assert (estimate.n, estimate.total, estimate.clusters) == (1_000, 4_000, 1_000)


@pytest.mark.parametrize("left", range(6))
def test_one_output_without_a_label_moves_little(left: int) -> None:
    """A judge in line with people gives half marks where they fail; the mean of all is 0.5, whichever is left out."""
    passed = np.array([1.0, 1, 1, 0, 0, 0])
    found = corrected_mean((1 + passed) / 2, np.where(np.arange(6) == left, np.nan, passed))
    assert found.value == pytest.approx(0.5, abs=0.02)
    assert found.weight == pytest.approx(1 / 3, abs=0.02)  # Cov / ((1 + n/N) Var) = 2 / (1 + 5)


@pytest.mark.parametrize("power", [True, False])
def test_with_all_labelled_it_is_their_mean(power: bool) -> None:
    labels = (SCORES > 0.3).astype(float)
    estimate = corrected_mean(SCORES, labels, power=power)
    assert (estimate.value, estimate.weight) == (pytest.approx(labels.mean()), 0.0)


def test_the_judges_scale_is_nothing_to_it() -> None:
    plain, scaled = corrected_mean(SCORES, LABELS), corrected_mean(5 - 3 * SCORES, LABELS)
    assert (scaled.value, scaled.low, scaled.high) == pytest.approx((plain.value, plain.low, plain.high))
    assert scaled.weight == pytest.approx(-plain.weight / 3)


def test_a_judge_that_says_one_thing_is_left_aside() -> None:
    alone, followed = corrected_mean(SCORES, LABELS, power=False), corrected_mean(np.ones(60), LABELS)
    assert followed == alone


def test_clusters_of_one_are_none_and_copies_add_nothing() -> None:
    whole = corrected_mean(SCORES, LABELS)
    assert corrected_mean(SCORES, LABELS, clusters=np.arange(60)) == whole
    twice = corrected_mean(np.tile(SCORES, 2), np.tile(LABELS, 2), clusters=np.tile(np.arange(60), 2))
    assert twice.value == pytest.approx(whole.value)
    assert twice.high - twice.low == pytest.approx(whole.high - whole.low, rel=0.06)  # type: ignore[operator]


def test_weights_count_as_copies_do() -> None:
    weights = np.where(np.arange(60) % 3 == 0, 2.0, 1.0)
    copies = np.repeat(np.arange(60), weights.astype(int))
    weighted = corrected_mean(SCORES, LABELS, weights, np.arange(60))
    copied = corrected_mean(SCORES[copies], LABELS[copies], clusters=copies)
    assert (weighted.value, weighted.weight) == pytest.approx((copied.value, copied.weight))


@pytest.mark.parametrize(("labels", "expected"), [
    pytest.param([], None, id="none"),
    pytest.param([1, 0, 1], (2 / 3, None, None), id="too few for an interval"),
    pytest.param([1] * 12, (1.0, 0.7575, 1.0), id="all pass: Wilson's"),
])  # fmt: skip
def test_few_labels(labels: list[float], expected: tuple[float, float | None, float | None] | None) -> None:
    found = corrected_mean(np.zeros(30), np.array([*labels, *[np.nan] * (30 - len(labels))]))
    assert (found and (found.value, found.low, found.high)) == (expected and pytest.approx(expected, abs=1e-4))


def test_a_share_stays_a_share() -> None:
    labels = np.where(np.arange(40) < 20, 1.0, np.nan)
    labels[0] = 0.0
    found = corrected_mean(np.where(np.arange(40) < 20, 0.2, 0.9) + 0.05 * (labels == 1), labels)
    assert 0 <= found.low <= found.high <= 1  # type: ignore[operator]


@pytest.mark.parametrize(("judge", "labelled", "size"), DESIGNS[:: 1 if LONG else 4], ids=str)
def test_never_worse_than_the_labels_alone(judge: Judge, labelled: int, size: int) -> None:
    """With 2 of 42 outputs unlabelled the mean was off by .009 and its RMSE in the run .016, not .011."""
    found = simulate(judge, labelled, 100, size=size)
    assert max(found.worse, found.worse_here) < 3
    assert found.covered >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / 100)


@pytest.mark.parametrize("judge", JUDGES, ids=lambda judge: judge.name)
def test_simulated_judges(judge: Judge) -> None:
    found = simulate(judge, 100, 150)
    assert abs(found.bias) < 4 * found.noise
    assert found.covered >= 0.88
    assert found.width < found.width_alone * (1.03 if judge.skill == 0 else 0.9)


@pytest.mark.parametrize("overlap", ["same", "apart", "any"])
def test_a_judge_kinder_to_one_model_makes_no_difference_of_two(overlap: str) -> None:
    equal, better = (simulate_pairs(overlap, lift, 60, 200) for lift in (0.0, 0.15))
    assert equal.judged > 0.04
    assert equal.rejected <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 200)
    for found in (equal, better):
        assert abs(found.bias) < 4 * found.noise
        assert found.covered >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / 200)
    assert better.rejected > 0.4


def test_a_difference_is_that_of_the_means_and_turns_with_them() -> None:
    rng = np.random.default_rng(8)
    b = (rng.random(60), np.where(np.arange(60) >= 30, rng.random(60), np.nan))
    a = (SCORES, LABELS)
    found, turned = corrected_difference(a, b), corrected_difference(b, a)
    means = [corrected_mean(*one).value for one in (a, b)]
    assert found.value == pytest.approx(means[1] - means[0])
    assert (turned.value, turned.low, turned.high) == pytest.approx((-found.value, -found.high, -found.low))
    assert turned.p == pytest.approx(found.p)
    assert (found.p < 0.05) == (found.low > 0 or found.high < 0)


def test_plain_labels_of_other_cases_are_compared_by_welchs_t() -> None:
    """A judge that says one thing leaves two samples of labels, apart."""
    rng = np.random.default_rng(5)
    a, b = np.full(60, np.nan), np.full(60, np.nan)
    a[:20], b[20:50] = rng.normal(0, 1, 20), rng.normal(0.5, 2, 30)
    found = corrected_difference((np.ones(60), a), (np.ones(60), b))
    welch = stats.ttest_ind(b[20:50], a[:20], equal_var=False)
    interval = welch.confidence_interval()
    assert (found.value, found.p) == pytest.approx((b[20:50].mean() - a[:20].mean(), welch.pvalue), rel=0.01)
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high), rel=0.01)
