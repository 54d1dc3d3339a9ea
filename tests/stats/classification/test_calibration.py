"""Calibration errors by hand, reliability diagrams and proper scores against scikit-learn."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from sklearn.calibration import calibration_curve
from sklearn.metrics import brier_score_loss, log_loss as their_log_loss

from metrics.stats.bootstrap import Draws
from metrics.stats.classification.calibration import brier, calibration_errors, log_loss, reliability, resampled_error

GRID = [step / 10 for step in range(11)]


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(GRID) | st.floats(0, 1), st.booleans()), min_size=1, max_size=60),
    st.sampled_from([1, 2, 5, 10, 15]),
)
def test_the_diagram_equals_scikit_learn(pairs: list[tuple[float, bool]], bins: int) -> None:
    confidence, right = np.array([pair[0] for pair in pairs]), np.array([pair[1] for pair in pairs])
    diagram = reliability(confidence, right, bins)
    filled = diagram.n > 0
    if len(set(right.tolist())) == 2:  # scikit-learn wants both kinds
        accuracy, stated = calibration_curve(right, confidence, n_bins=bins)
        np.testing.assert_allclose(diagram.accuracy[filled], accuracy, atol=1e-12)
        np.testing.assert_allclose(diagram.confidence[filled], stated, atol=1e-12)
    assert diagram.n.sum() == len(pairs)
    expected, largest = calibration_errors(diagram)
    gaps = [abs((confidence[diagram.place == place] - right[diagram.place == place]).sum()) for place in range(bins)]
    assert expected == pytest.approx(sum(gaps) / len(pairs))
    assert 0 <= expected <= largest + 1e-12 <= 1 + 1e-12


@pytest.mark.parametrize(("confidence", "right", "bins", "expected", "largest"), [
    pytest.param([0.8, 0.6], [1, 0], 15, 0.4, 0.6, id="a bin each"),
    pytest.param([0.8, 0.6], [1, 0], 1, 0.2, 0.2, id="one bin"),
    pytest.param([0.75] * 4, [1, 1, 1, 0], 10, 0.0, 0.0, id="three of four at .75"),
    pytest.param([1.0, 1.0], [1, 1], 10, 0.0, 0.0, id="sure and right"),
    pytest.param([1.0, 1.0], [0, 0], 10, 1.0, 1.0, id="sure and wrong"),
    pytest.param([0.3, 0.31], [0, 1], 10, (0.3 + 0.69) / 2, 0.69, id="an edge belongs to the bin below"),
])  # fmt: skip
def test_worked_errors(confidence: list[float], right: list[int], bins: int, expected: float, largest: float) -> None:
    diagram = reliability(np.array(confidence), np.array(right, dtype=bool), bins)
    assert calibration_errors(diagram) == pytest.approx((expected, largest))


@pytest.mark.parametrize("k", [2, 3, 10])
def test_proper_scores_equal_scikit_learn(k: int) -> None:
    rng = np.random.default_rng(k)
    probabilities = rng.dirichlet(np.full(k, 0.4), 500)
    truth = rng.integers(0, k, 500)
    labels = list(range(k))
    ours = brier(probabilities, truth)
    assert ours.mean() == pytest.approx(brier_score_loss(truth, probabilities, labels=labels), abs=1e-12)
    assert log_loss(probabilities, truth).mean() == pytest.approx(
        their_log_loss(truth, probabilities, labels=labels), abs=1e-12
    )
    if k == 2:
        assert ours.mean() == pytest.approx(brier_score_loss(truth, probabilities[:, 1]), abs=1e-12)


@pytest.mark.parametrize(("n", "over", "held"), [(300, 0.0, 0.9), (300, 0.05, 0.9), (1000, 0.1, 0.9), (6000, 0.1, 0.9)])
def test_the_interval_holds_the_true_error(n: int, over: float, held: float) -> None:
    """Confidences that are `over` too high by everywhere, which is then the true error."""
    rng, draws = np.random.default_rng(0), Draws.of(np.arange(n), 500)
    hits = 0
    for _ in range(60):
        confidence = rng.uniform(0.3, 1.0, n)
        right = rng.random(n) < confidence - over
        diagram = reliability(confidence, right, 10)
        (low, high), samples = resampled_error(diagram, confidence, right, draws)
        expected, _ = calibration_errors(diagram)
        assert 0 <= low <= expected + 1e-12 <= high + 2e-12
        assert samples.mean() == pytest.approx(expected)
        hits += low <= over <= high
    assert hits >= held * 60


def test_whole_clusters_are_drawn() -> None:
    rng = np.random.default_rng(1)
    confidence = rng.uniform(0.3, 1.0, 300)
    right = rng.random(300) < confidence - 0.15
    (low, high), samples = resampled_error(
        reliability(confidence, right, 5), confidence, right, Draws.of(np.arange(300), 500)
    )
    confidence, right = np.tile(confidence, 4), np.tile(right, 4)
    again = resampled_error(
        reliability(confidence, right, 5), confidence, right, Draws.of(np.tile(np.arange(300), 4), 500)
    )
    assert again[0] == pytest.approx((low, high), abs=1e-5)
    np.testing.assert_allclose(again[1], samples, atol=1e-5)


def test_one_unit_or_no_resamples_give_no_interval() -> None:
    confidence, right = np.array([0.5, 0.9]), np.array([True, False])
    for draws in (Draws.of(np.zeros(2, np.int64), 100), Draws.of(np.arange(2), 0)):
        interval, samples = resampled_error(reliability(confidence, right, 5), confidence, right, draws)
        assert interval == (None, None)
        assert not len(samples)


def test_certainty_equals_scikit_learn() -> None:
    probabilities, truth = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), np.array([0, 1, 1])
    assert brier(probabilities, truth).tolist() == [0.0, 1.0, 0.0]
    assert log_loss(probabilities, truth).mean() == pytest.approx(their_log_loss(truth, probabilities), abs=1e-12)
    assert log_loss(probabilities, truth).max() == pytest.approx(36.0437, abs=1e-4)
