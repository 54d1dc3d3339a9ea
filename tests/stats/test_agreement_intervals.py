"""Intervals of agreement against other implementations, by hand, and at their edges."""

import numpy as np
import pytest
from scipy.stats import dirichlet
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import cohens_kappa

from metrics.stats.agreement_intervals import (
    effective_size,
    kappa_influence,
    kappa_interval,
    mean_interval,
    share_interval,
)
from metrics.stats.intervals import wilson
from metrics.stats.rater_agreement import kappas
from metrics.stats.student_t import student

RNG = np.random.default_rng(7)
ONES, ALONE = np.ones(12), np.arange(12)
DIAGNOSES = np.array([[0.53, 0.05, 0.02], [0.11, 0.14, 0.05], [0.01, 0.06, 0.03]])  # of Fleiss, Cohen & Everitt 1969
KINDS = 3


def test_independent_items_of_equal_weight_count_one_each() -> None:
    assert effective_size(RNG.random(12), ONES * 3.0, ALONE) == 12
    assert effective_size(np.zeros(12), ONES, ALONE) == 12


@pytest.mark.parametrize("influence", [np.zeros(12), np.repeat(RNG.random(6), 2)], ids=["nothing moves", "copies"])
def test_copies_count_as_one_with_fewer_degrees_of_freedom(influence: np.ndarray) -> None:
    assert effective_size(influence, ONES, ALONE // 2) == pytest.approx(6 * (student(11) / student(5)) ** 2)


def test_items_of_a_cluster_that_differ_count_no_more_than_alone() -> None:
    opposed = np.tile([1.0, -1.0], 6)
    assert effective_size(opposed, ONES, ALONE // 2) == pytest.approx(12 * (student(11) / student(5)) ** 2)


def test_unequal_weights_count_less() -> None:
    """Kish: (Σw)²/Σw² = (6·1 + 6·3)² / (6·1 + 6·9)."""
    assert effective_size(RNG.random(12), np.repeat([1.0, 3.0], 6), ALONE) == pytest.approx(24**2 / 60)


def test_a_share_of_independent_labels_has_wilsons_interval() -> None:
    hits = (ALONE < 9).astype(float)
    assert share_interval(hits, ONES, ALONE) == (0.75, wilson(9, 12))
    share, _ = share_interval(hits, np.where(hits > 0, 1.0, 3.0), ALONE)
    assert share == 0.5


def test_the_interval_of_a_mean_of_two_shares_is_half_as_wide_as_one_where_the_other_is_known() -> None:
    assert mean_interval((0.8, (0.7, 0.9)), (0.6, (0.6, 0.6))) == (
        pytest.approx(0.7), (pytest.approx(0.65), pytest.approx(0.75))
    )  # fmt: skip
    low, high = mean_interval((0.8, (0.5, 0.9)), (0.6, (0.2, 0.7)))[1]
    assert (low, high) == (pytest.approx(0.7 - 0.25), pytest.approx(0.7 + np.sqrt(0.02) / 2))


@pytest.mark.parametrize(("quadratic", "kind"), [(False, None), (True, "quadratic")], ids=["plain", "quadratic"])
def test_the_influence_of_a_label_gives_kappas_large_sample_error(quadratic: bool, kind: str | None) -> None:
    influence = kappa_influence(DIAGNOSES, quadratic)
    expected = cohens_kappa(200 * DIAGNOSES, wt=kind)
    assert (DIAGNOSES * influence).sum() == pytest.approx(0.0, abs=1e-12)
    assert np.sqrt((DIAGNOSES * influence**2).sum() / 200) == pytest.approx(expected.std_kappa)


@pytest.mark.parametrize("quadratic", [False, True], ids=["plain", "quadratic"])
def test_kappa_and_its_interval_are_those_of_tables_drawn_by_jeffreys_prior(quadratic: bool) -> None:
    counts = np.rint(40 * DIAGNOSES).astype(int)
    rows, columns = (np.repeat(place.ravel(), counts.ravel()) for place in np.indices(counts.shape))
    n = len(rows)
    value, (low, high) = kappa_interval(rows, np.eye(KINDS)[columns], np.ones(n), np.arange(n), quadratic)
    weights = "quadratic" if quadratic else None
    assert value == pytest.approx(cohen_kappa_score(rows, columns, weights=weights))
    drawn = dirichlet(counts.ravel() + 2 / KINDS**2).rvs(40_000, random_state=1).reshape(-1, KINDS, KINDS)
    assert (low, high) == pytest.approx(tuple(np.quantile(kappas(drawn, quadratic), [0.025, 0.975])), abs=0.02)


@pytest.mark.parametrize(("people", "judge", "value"), [
    pytest.param([0, 1] * 6, [0, 1] * 6, 1.0, id="always agree"),
    pytest.param([1] * 12, [0, 1] * 6, 0.0, id="people pass all"),
    pytest.param([0, 1] * 6, [1, 0] * 6, -1.0, id="never agree"),
])  # fmt: skip
def test_no_interval_of_kappa_has_the_width_0(people: list[int], judge: list[int], value: float) -> None:
    found, (low, high) = kappa_interval(np.array(people), np.eye(2)[judge], ONES, ALONE)
    assert found == pytest.approx(value)
    assert high - low > 0.3


def test_where_chance_would_always_agree_there_is_no_kappa() -> None:
    value, ends = kappa_interval(np.ones(12, int), np.eye(2)[[1] * 12], ONES, ALONE)
    assert np.isnan(value)
    assert ends == (None, None)


def test_a_label_may_be_shared_between_two_columns() -> None:
    """Half of the thresholds pass each output: as if half of the outputs passed, whatever people say."""
    value, _ = kappa_interval(np.array([0, 1] * 6), np.full((12, 2), 0.5), ONES, ALONE)
    assert value == pytest.approx(0.0)
