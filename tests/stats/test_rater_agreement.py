"""Agreement in resamples, each against the plain statistic of the things it drew."""

import krippendorff
import numpy as np
import pytest
from scipy.stats import spearmanr
from sklearn.metrics import balanced_accuracy_score, cohen_kappa_score, roc_auc_score

from metrics.stats import rater_agreement as statistics
from metrics.stats.bootstrap_draws import counted
from metrics.stats.label_thresholds import best_thresholds, held_out_passes

RNG = np.random.default_rng(11)
N = 60
LEFT = RNG.integers(0, 4, N).astype(float)
RIGHT = np.clip(LEFT + RNG.integers(-1, 2, N), 0, 3)
DRAWS = statistics.draws_of(np.arange(N) // 2, seed=3, resamples=20)
ROWS = [0, 1, 7, 20]


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
    assert np.isnan(statistics.alphas(np.stack([same, same], axis=1), ones, nominal=True)[0])
    assert np.isnan(statistics.alphas(np.stack([same, same], axis=1), ones, nominal=False)[0])
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


@pytest.mark.parametrize("level", ["nominal", "interval"])
@pytest.mark.parametrize("row", ROWS)
def test_alpha_equals_krippendorffs_package(row: int, level: str) -> None:
    ratings = np.stack([LEFT, RIGHT, np.where(RNG.random(N) < 0.4, np.nan, LEFT)], axis=1)
    ratings[:3, 1:] = np.nan  # a single label pairs with nothing
    found = statistics.alphas(ratings, DRAWS, nominal=level == "nominal")[row]
    assert found == pytest.approx(krippendorff.alpha(ratings[drawn(row)].T, level_of_measurement=level))
