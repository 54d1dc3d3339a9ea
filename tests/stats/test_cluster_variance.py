"""The variance of means of unequal clusters: by the matrices of CR2, and by what its definition asks for."""

import numpy as np
import pytest

from metrics.stats.cluster_variance import cluster_variance

CLUSTERS = np.array([0] * 10 + [1] * 2 + [2] * 3 + [3])


def of(values, clusters, weights=None):
    """Variance and degrees of freedom of the means of columns; NaN is no value."""
    mass = ~np.isnan(values) * (np.ones(len(values)) if weights is None else weights)[:, None]
    mean = (np.nan_to_num(values) * mass).sum(axis=0) / mass.sum(axis=0)
    rows = (mass * (np.nan_to_num(values) - mean), mass, mass**2)
    return cluster_variance(*(np.stack([np.bincount(clusters, one) for one in each.T], axis=1) for each in rows))


def by_matrices(values, clusters):
    """CR2 and its degrees of freedom as the papers write them, for a regression on a constant alone."""
    n = len(values)
    residual = np.eye(n) - 1 / n
    rows = []
    for cluster in np.unique(clusters):
        own = np.flatnonzero(clusters == cluster)
        roots, vectors = np.linalg.eigh((residual @ residual.T)[np.ix_(own, own)])
        rows.append(np.ones(len(own)) / n @ (vectors / np.sqrt(roots)) @ vectors.T @ residual[own])
    form = np.array(rows) @ np.array(rows).T
    return float(((np.array(rows) @ values) ** 2).sum()), float(np.trace(form) ** 2 / (form**2).sum())


def test_it_is_cr2_with_satterthwaites_degrees_of_freedom() -> None:
    values = np.random.default_rng(1).normal(size=(16, 3))
    variance, freedom = of(values, CLUSTERS)
    for column in range(3):
        assert (variance[column], freedom[column]) == pytest.approx(by_matrices(values[:, column], CLUSTERS))
    assert freedom[0] == pytest.approx(1.7141, abs=1e-4)  # of four clusters, one with ten of sixteen cases


@pytest.mark.parametrize("clusters", [CLUSTERS, np.arange(16)], ids=["clusters", "alone"])
def test_it_is_unbiased_where_cases_are_independent(clusters) -> None:
    """A quadratic form x'Kx of cases with variance 1: its mean is tr K, Satterthwaite's freedom (tr K)² / tr K²."""
    weights = np.random.default_rng(2).uniform(0.5, 3, 16)
    alone = of(np.eye(16), clusters, weights)[0]
    pairs = np.array([np.eye(16)[i] + np.eye(16)[j] for i in range(16) for j in range(16)]).T
    form = (of(pairs, clusters, weights)[0].reshape(16, 16) - alone[:, None] - alone) / 2
    assert alone.sum() == pytest.approx((weights**2).sum() / weights.sum() ** 2)
    freedom = of(np.random.default_rng(3).normal(size=(16, 1)), clusters, weights)[1]
    assert freedom[0] == pytest.approx(np.trace(form) ** 2 / (form**2).sum())


def test_equal_clusters_have_the_plain_variance_and_one_less_degree() -> None:
    values = np.random.default_rng(4).normal(size=(20, 2))
    variance, freedom = of(values, np.arange(20) // 4)
    assert variance == pytest.approx(values.reshape(5, 4, 2).mean(axis=1).var(axis=0, ddof=1) / 5)
    assert freedom == pytest.approx(4)


def test_a_column_has_the_clusters_of_its_own_values() -> None:
    values = np.random.default_rng(5).normal(size=(16, 2))
    values[[0, 1, 2, 10, 11], 1] = np.nan  # of cluster 1 nothing is left
    there = ~np.isnan(values[:, 1])
    whole, part = of(values, CLUSTERS), of(values[there, 1:], np.unique(CLUSTERS[there], return_inverse=True)[1])
    assert (whole[0][1], whole[1][1]) == pytest.approx((part[0][0], part[1][0]))


@pytest.mark.parametrize("others", [1e-2, 1e-4, 1e-6, 1e-13])
def test_the_nearer_one_cluster_is_to_all_cases_the_nearer_to_one_degree(others: float) -> None:
    masses = np.array([[1.0], [others], [others], [0.0]])
    variance, freedom = cluster_variance(np.array([[others], [-others], [0.0], [0.0]]), masses, masses**2)
    assert 1 <= freedom[0] <= 1 + 3 * others
    assert np.isfinite(variance[0])
