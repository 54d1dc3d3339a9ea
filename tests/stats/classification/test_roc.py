"""ROC curves and areas against scikit-learn, DeLong's variance and its resamples against their definitions."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from numpy.typing import NDArray
from sklearn.metrics import auc, average_precision_score, roc_auc_score, roc_curve

from metrics.stats.bootstrap import Draws
from metrics.stats.classification.roc import Roc, average_precision, class_curves, corners, resampled_areas, roc

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


def test_several_classes_equal_scikit_learn_on_random_data() -> None:
    """200 data sets with ties, weighted every second time: one-vs-one areas, and average precision of each class."""
    rng = np.random.default_rng(4)
    for number in range(200):
        k = int(rng.integers(3, 6))
        truth = np.append(np.arange(k), rng.choice(k, rng.integers(0, 40), p=rng.dirichlet(np.ones(k))))
        scores = rng.integers(1, 5 if number % 3 else 1_000, (len(truth), k)).astype(float)
        scores /= scores.sum(axis=1, keepdims=True)
        weights = rng.integers(1, 4, len(truth)).astype(float) if number % 2 else None
        for code in range(k):
            theirs = average_precision_score(truth == code, scores[:, code], sample_weight=weights)
            assert average_precision(scores[:, code], truth == code, weights)[0] == pytest.approx(theirs, abs=1e-12)
        found = class_curves(scores, truth, weights)
        if weights is None:
            theirs = roc_auc_score(truth, scores, multi_class="ovo", average="macro")
        else:  # which scikit-learn does not weigh
            theirs = np.mean([
                roc_auc_score(truth[own] == one, scores[own, one], sample_weight=weights[own])
                for one in range(k) for other in range(k) if one != other
                for own in [np.isin(truth, (one, other))]
            ])  # fmt: skip
        assert found.pairs == pytest.approx(theirs, abs=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
def test_influence_is_the_slope_in_the_weight_of_a_case(weighted: bool) -> None:
    """By differences: of one-vs-one, whose classes weigh the same however many cases they have, and of precision."""
    rng = np.random.default_rng(5)
    truth = np.append(np.arange(3), rng.integers(0, 3, 30))
    scores = np.round(rng.random((33, 3)), 1)
    weights = rng.integers(1, 4, 33).astype(float) if weighted else np.ones(33)
    pairs, (precision, own) = class_curves(scores, truth, weights), average_precision(scores[:, 0], truth == 0, weights)
    step, slopes = 1e-6, []
    for case in range(33):
        more = weights + step * (np.arange(33) == case)
        slope = (average_precision(scores[:, 0], truth == 0, more)[0] - precision) / step
        assert own[case] == pytest.approx(slope, abs=1e-4)
        slopes.append((class_curves(scores, truth, more).pairs - pairs.pairs) / step)
    assert np.corrcoef(pairs.influence, slopes)[0, 1] > 0.999  # but for DeLong's factors of an unbiased variance
    assert 1 < np.std(pairs.influence) / np.std(slopes) < 1.1


def test_large_tied_data_equals_scikit_learn() -> None:
    rng = np.random.default_rng(0)
    positive = rng.random(20_000) < 0.03
    scores = np.round(rng.normal(positive, 1.0), 1)
    assert roc(scores, positive).area == pytest.approx(roc_auc_score(positive, scores), abs=1e-12)


@pytest.mark.parametrize(("scores", "positive", "area"), [
    pytest.param([0.5, 0.5], [1, 0], 0.5, id="two equal scores, one positive"),
    pytest.param([0.9, 0.1], [1, 0], 1.0, id="in order"),
    pytest.param([0.1, 0.9], [1, 0], 0.0, id="the other way round"),
    pytest.param([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1], 0.75, id="scikit-learn's example"),
    pytest.param([0.0, np.nan], [1, 0], 1.0, id="no score stands below 0"),
    pytest.param([np.nan, np.nan, 0.2], [1, 0, 0], 0.25, id="two without a score tie"),
])  # fmt: skip
def test_worked_areas(scores: list[float], positive: list[int], area: float) -> None:
    assert roc(np.array(scores), np.array(positive, dtype=bool)).area == area


@pytest.mark.parametrize("kind", [True, False])
def test_one_kind_alone_is_refused(kind: bool) -> None:
    with pytest.raises(ValueError, match="a ROC curve needs both"):
        roc(np.array([0.1, 0.2]), np.array([kind, kind]))


def scene(seed: int, n: int = 400) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < 0.4
    return rng.normal(positive, 1.0), positive


def spread(curve: Roc, positive: NDArray[np.bool_], units: NDArray[np.int64]) -> float:
    estimates = resampled_areas([curve], positive[:, None], Draws.of(units, 2_000))
    assert estimates[0, 0] == curve.area
    return float(estimates[1:].std())


def test_clusters_are_the_units() -> None:
    """Every case three times, in one cluster each, says no more than once."""
    scores, positive = scene(1)
    alone = spread(roc(scores, positive), positive, np.arange(400))
    thrice, kinds = roc(np.repeat(scores, 3), np.repeat(positive, 3)), np.repeat(positive, 3)
    assert spread(thrice, kinds, np.repeat(np.arange(400), 3)) == pytest.approx(alone, rel=0.05)
    assert spread(thrice, kinds, np.arange(1200)) == pytest.approx(alone / np.sqrt(3), rel=0.05)


def test_resamples_are_those_of_resampled_cases() -> None:
    scores, positive = scene(3)
    draws = Draws.of(np.arange(400), 200)
    ours = resampled_areas([roc(scores, positive)], positive[:, None], draws)[1:, 0]
    rows = [np.repeat(np.arange(400), times.astype(int)) for times in draws.times[1:]]
    theirs = np.array([roc_auc_score(positive[drawn], scores[drawn]) for drawn in rows])
    assert np.corrcoef(ours, theirs)[0, 1] > 0.99
    np.testing.assert_allclose(ours, theirs, atol=0.015)


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
