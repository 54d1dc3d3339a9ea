"""ROC curves and areas against scikit-learn, DeLong's variance against its definition, intervals by their equations."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.metrics import auc, roc_auc_score, roc_curve

from metrics.stats.classification.roc import area_interval, corners, rank_interval, roc, variance

SCORES = st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.9, 1.0]) | st.floats(0, 1)
BOTH_KINDS = st.lists(st.tuples(SCORES, st.booleans()), min_size=2, max_size=60).filter(
    lambda pairs: len({kind for _, kind in pairs}) == 2
)


def split(pairs: list[tuple[float, bool]]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    return np.array([score for score, _ in pairs]), np.array([kind for _, kind in pairs])


@settings(deadline=None)
@given(BOTH_KINDS)
def test_curve_and_area_equal_scikit_learn(pairs: list[tuple[float, bool]]) -> None:
    scores, positive = split(pairs)
    found = roc(scores, positive)
    assert found.area == pytest.approx(roc_auc_score(positive, scores), abs=1e-12)
    fpr, tpr, thresholds = roc_curve(positive, scores, drop_intermediate=False)
    np.testing.assert_allclose(found.fp / found.fp[-1], fpr, atol=1e-15)
    np.testing.assert_allclose(found.tp / found.tp[-1], tpr, atol=1e-15)
    np.testing.assert_array_equal(found.threshold, thresholds)


def test_large_tied_data_equals_scikit_learn() -> None:
    rng = np.random.default_rng(0)
    positive = rng.random(20_000) < 0.03
    scores = np.round(rng.normal(positive, 1.0), 1)
    assert roc(scores, positive).area == pytest.approx(roc_auc_score(positive, scores), abs=1e-12)


@settings(deadline=None)
@given(BOTH_KINDS)
def test_swapping_the_kinds_mirrors_the_area(pairs: list[tuple[float, bool]]) -> None:
    scores, positive = split(pairs)
    one, other = roc(scores, positive), roc(scores, ~positive)
    assert one.area + other.area == pytest.approx(1.0, abs=1e-12)
    np.testing.assert_allclose(one.influence, -other.influence, atol=1e-12)


@pytest.mark.parametrize(
    ("scores", "positive", "area"),
    [
        pytest.param([0.5, 0.5], [1, 0], 0.5, id="two equal scores, one positive"),
        pytest.param([0.9, 0.1], [1, 0], 1.0, id="in order"),
        pytest.param([0.1, 0.9], [1, 0], 0.0, id="the other way round"),
        pytest.param([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1], 0.75, id="scikit-learn's example"),
        pytest.param([0.0, np.nan], [1, 0], 1.0, id="no score stands below 0"),
        pytest.param([np.nan, np.nan, 0.2], [1, 0, 0], 0.25, id="two without a score tie"),
    ],
)
def test_worked_areas(scores: list[float], positive: list[int], area: float) -> None:
    assert roc(np.array(scores), np.array(positive, dtype=bool)).area == area


@pytest.mark.parametrize("kind", [True, False])
def test_one_kind_alone_is_refused(kind: bool) -> None:
    with pytest.raises(ValueError, match="a ROC curve needs both"):
        roc(np.array([0.1, 0.2]), np.array([kind, kind]))


@settings(deadline=None)
@given(BOTH_KINDS)
def test_influence_squares_to_delongs_variance(pairs: list[tuple[float, bool]]) -> None:
    scores, positive = split(pairs)
    own, rest = scores[positive], scores[~positive]
    above = (own[:, None] > rest) + 0.5 * (own[:, None] == rest)
    parts = [part.var(ddof=1) / len(part) for part in (above.mean(axis=1), above.mean(axis=0)) if len(part) > 1]
    assert variance(roc(scores, positive).influence, np.arange(len(scores))) == pytest.approx(sum(parts), abs=1e-12)


def test_clusters_are_the_units() -> None:
    """Every case three times, in one cluster each, says no more than once."""
    rng = np.random.default_rng(1)
    positive = rng.random(400) < 0.4
    scores = rng.normal(positive, 1.0)
    alone = variance(roc(scores, positive).influence, np.arange(400))
    thrice = roc(np.repeat(scores, 3), np.repeat(positive, 3))
    assert variance(thrice.influence, np.repeat(np.arange(400), 3)) == pytest.approx(alone, rel=0.01)
    assert variance(thrice.influence, np.arange(1200)) == pytest.approx(alone / 3, rel=0.01)
    assert math.isnan(variance(np.zeros(3), np.zeros(3, dtype=np.int64)))


def test_the_interval_is_symmetric_in_logits() -> None:
    low, high = area_interval(0.8, 0.05)
    logits = [math.log(t / (1 - t)) for t in (low, 0.8, high)]
    half = 1.959963984540054 * 0.05 / (0.8 * 0.2)
    assert [logits[1] - logits[0], logits[2] - logits[1]] == pytest.approx([half, half])
    assert area_interval(0.999, 0.4)[1] <= 1
    assert area_interval(1.0, 0.1) == pytest.approx((1 - 0.1959963984540054, 1.0))


@settings(deadline=None)
@given(st.floats(0, 1), st.integers(1, 50), st.integers(1, 50))
def test_the_interval_from_counts_solves_its_equation(area: float, m: int, n: int) -> None:
    low, high = rank_interval(area, m, n)
    assert 0 <= low <= area <= high <= 1
    assert low < high
    for t in (low, high):
        spread = t * (1 - t) / (m * n) * (1 + ((m + n) / 2 - 1) * ((1 - t) / (2 - t) + t / (1 + t)))
        if 0 < t < 1:
            assert (area - t) ** 2 == pytest.approx(1.959963984540054**2 * spread, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("most", [3, 10, 1000])
def test_a_thinned_curve_keeps_ends_and_area(most: int) -> None:
    rng = np.random.default_rng(2)
    positive = rng.random(5000) < 0.5
    found = roc(rng.normal(positive, 1.0), positive)
    kept = corners(found.fp, found.tp, most)
    assert len(kept) <= most
    assert (kept[0], kept[-1]) == (0, len(found.fp) - 1)
    thinned = auc(found.fp[kept] / found.fp[-1], found.tp[kept] / found.tp[-1])
    assert thinned == pytest.approx(found.area, abs=1 / most)


def test_points_on_a_straight_line_are_dropped() -> None:
    found = roc(np.array([0.9, 0.8, 0.7, 0.6]), np.array([True, True, False, False]))
    assert corners(found.fp, found.tp, 100).tolist() == [0, 2, 4]
