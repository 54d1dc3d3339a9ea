"""Agreement in resamples, each against the plain statistic of the things it drew."""

from typing import get_args

import krippendorff
import numpy as np
import pytest
from scipy.stats import spearmanr
from sklearn.metrics import balanced_accuracy_score, cohen_kappa_score, roc_auc_score
from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa

from metrics.stats import rater_agreement as statistics
from metrics.stats.bootstrap import counted
from metrics.stats.rater_agreement import best_thresholds, held_out_passes

RNG = np.random.default_rng(11)
N = 60
LEFT = RNG.integers(0, 4, N).astype(float)
RIGHT = np.clip(LEFT + RNG.integers(-1, 2, N), 0, 3)
DRAWS = statistics.draws_of(np.arange(N) // 2, seed=3, resamples=20)
ROWS = [0, 1, 7, 20]
LEVELS: tuple[statistics.Level, ...] = get_args(statistics.Level)


def drawn(row: int) -> np.ndarray:
    return np.repeat(np.arange(N), DRAWS[row].astype(int))


def test_the_first_row_is_the_data_and_clusters_stay_together() -> None:
    assert (DRAWS[0] == 1).all()
    assert (DRAWS[:, 0::2] == DRAWS[:, 1::2]).all()
    assert (DRAWS.sum(axis=1) == N).all()


@pytest.mark.parametrize("row", ROWS)
def test_spearman(row: int) -> None:
    here = drawn(row)
    expected = spearmanr(LEFT[here], RIGHT[here]).statistic
    assert statistics.spearmans(LEFT, RIGHT, DRAWS)[row] == pytest.approx(expected)


@pytest.mark.parametrize("quadratic", [False, True])
@pytest.mark.parametrize("row", ROWS)
def test_kappa(row: int, quadratic: bool) -> None:
    tables = counted(DRAWS, (LEFT * 4 + RIGHT).astype(np.int64), 16).reshape(-1, 4, 4)
    here = drawn(row)
    expected = cohen_kappa_score(LEFT[here], RIGHT[here], weights="quadratic" if quadratic else None)
    assert statistics.kappas(tables, quadratic)[row] == pytest.approx(expected)


def test_what_a_resample_does_not_have_is_nan() -> None:
    ones = np.ones((1, 4))
    same = np.array([1.0, 1, 1, 1])
    assert np.isnan(statistics.spearmans(same, np.arange(4.0), ones)[0])
    weighted = np.abs(np.random.default_rng(3).normal(3, 1, (50, 180)))
    assert np.isnan(statistics.spearmans(np.zeros(180), np.arange(180.0), weighted)).all()
    for level in LEVELS:
        assert np.isnan(statistics.alphas(np.stack([same, same], axis=1), ones, level)[0])
    assert np.isnan(statistics.fleiss_kappas(np.stack([same, same], axis=1), ones)[0])
    assert np.isnan(statistics.kappas(np.array([[[4.0, 0], [0, 0]]]))[0])
    assert all(np.isnan(part[0]) for part in best_thresholds(np.arange(4.0), same > 0, ones))


@pytest.mark.parametrize("row", ROWS)
def test_the_best_threshold_is_the_best(row: int) -> None:
    scores = np.round(RNG.random(N) + 0.4 * (LEFT > 1), 1)
    passed = LEFT > 1
    found, balanced = (part[row] for part in best_thresholds(scores, passed, DRAWS))
    here = drawn(row)
    kinds = np.unique(scores)
    every = [balanced_accuracy_score(passed[here], scores[here] >= cut) for cut in (kinds[1:] + kinds[:-1]) / 2]
    assert balanced == pytest.approx(max(every))
    assert balanced == pytest.approx(balanced_accuracy_score(passed[here], scores[here] >= found))


def test_an_item_is_judged_by_the_thresholds_chosen_without_it() -> None:
    scores, passed = np.round(RNG.random(N) + 0.4 * (LEFT > 1), 1), LEFT > 1
    cuts, _ = best_thresholds(scores, passed, DRAWS)
    found = held_out_passes(scores, np.append(cuts[1:], np.nan), np.vstack([DRAWS[1:], np.zeros((1, N))]))
    for item in range(N):
        without = [cut for cut, row in zip(cuts[1:], DRAWS[1:], strict=True) if not row[item]]
        expected = np.mean([scores[item] >= cut for cut in without]) if without else np.nan
        assert found[item] == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize("row", ROWS)
def test_auc_is_that_of_the_things_drawn(row: int) -> None:
    passed = RIGHT > 1
    found = statistics.aucs(LEFT, passed, DRAWS)
    assert found[row] == pytest.approx(roc_auc_score(passed[drawn(row)], LEFT[drawn(row)]))


def test_auc_needs_things_of_both_kinds() -> None:
    assert np.isnan(statistics.aucs(LEFT, np.ones(N, bool), DRAWS)).all()


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("row", ROWS)
def test_alpha_equals_krippendorffs_package(row: int, level: statistics.Level) -> None:
    ratings = np.stack([LEFT, RIGHT, np.where(RNG.random(N) < 0.4, np.nan, LEFT)], axis=1)
    ratings[:3, 1:] = np.nan  # a single label pairs with nothing
    found = statistics.alphas(ratings, DRAWS, level)[row]
    assert found == pytest.approx(krippendorff.alpha(ratings[drawn(row)].T, level_of_measurement=level))


@pytest.mark.parametrize("level", LEVELS)
def test_alpha_equals_krippendorffs_package_on_random_ratings(level: statistics.Level) -> None:
    """200 tables of 2 to 5 raters, some of whom gave no rating, of grades and of measurements with gaps."""
    rng = np.random.default_rng(5)
    for number in range(200):
        n, raters = rng.integers(3, 25), rng.integers(2, 6)
        ratings = rng.integers(0, 6, (n, raters)) * (1.0 if number % 2 else 0.37)
        ratings[rng.random((n, raters)) < 0.2] = np.nan
        ratings[0, :2] = 1.0, 2.0  # else there may be nothing to compare
        theirs = krippendorff.alpha(ratings.T, level_of_measurement=level)
        assert statistics.alphas(ratings, np.ones((1, n)), level)[0] == pytest.approx(theirs, abs=1e-9)


def test_alpha_of_ratios_refuses_values_below_zero() -> None:
    with pytest.raises(ValueError, match="needs values from 0 up, not -1"):
        statistics.alphas(np.array([[1.0, -1.0]]), np.ones((1, 1)), "ratio")


def test_fleiss_kappa_equals_statsmodels_on_random_ratings() -> None:
    """200 complete tables, and each resample the plain statistic of what it drew."""
    rng = np.random.default_rng(6)
    for _ in range(200):
        n, raters, kinds = rng.integers(2, 30), rng.integers(2, 6), rng.integers(2, 5)
        ratings = rng.integers(0, kinds, (n, raters)).astype(float)
        ratings[0, :2] = 0.0, 1.0
        theirs = fleiss_kappa(aggregate_raters(ratings.astype(int))[0])
        assert statistics.fleiss_kappas(ratings, np.ones((1, n)))[0] == pytest.approx(theirs, abs=1e-9)
    ratings = np.stack([LEFT, RIGHT, LEFT], axis=1)
    for row, found in zip(ROWS, statistics.fleiss_kappas(ratings, DRAWS)[ROWS], strict=True):
        assert found == pytest.approx(fleiss_kappa(aggregate_raters(ratings[drawn(row)].astype(int))[0]))


def test_fleiss_kappa_with_gaps_by_hand() -> None:
    """Two of two, two of three and a single label: P = (1 + 1/3) / 2, E = ((1 + 2/3) / 2)² + (1/3 / 2)²."""
    ratings = np.array([[0, 0, np.nan], [0, 1, 0], [1, np.nan, np.nan]])
    chance = (5 / 6) ** 2 + (1 / 6) ** 2
    assert statistics.fleiss_kappas(ratings, np.ones((1, 3)))[0] == pytest.approx((2 / 3 - chance) / (1 - chance))
