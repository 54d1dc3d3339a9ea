"""Means of slices and their distance from the rest."""

import numpy as np
import pytest

from metrics.stats.bootstrap import bootstrap_means
from metrics.stats.intervals import wilson
from metrics.stats.slice_means import rest_differences, slice_means

VALUES = np.array([1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0, 0.0, 1.0])
MASKS = np.array([[True] * 4 + [False] * 6, [False] * 10, [True] * 10])


def test_shares_have_wilsons_interval() -> None:
    found, method = slice_means(VALUES, MASKS, binary=True)
    assert method == "wilson"
    assert found[0] == pytest.approx([0.75, *wilson(3, 4)])
    assert np.isnan(found[1]).all()
    assert found[2] == pytest.approx([0.7, *wilson(7, 10)])


def test_means_have_the_bootstraps_interval_of_their_clusters() -> None:
    rng = np.random.default_rng(0)
    values, weights, clusters = rng.random(200), rng.random(200), np.arange(200) // 4
    mask = np.arange(200) % 3 == 0
    found, method = slice_means(values, mask[None], weights, clusters)
    assert method == "bootstrap"
    low, high = bootstrap_means(np.where(mask, values, np.nan)[:, None], weights, clusters)
    assert found[0] == pytest.approx([np.average(values[mask], weights=weights[mask]), low[0], high[0]])


def test_a_difference_of_means_equals_welchs() -> None:
    """Without weights and clusters the error is Welch's but for n − 1 in place of n."""
    rng = np.random.default_rng(2)
    values, mask = rng.normal(size=400), np.arange(400) < 90
    gap, low, high = rest_differences(values, mask[None])[0]
    sides = values[mask], values[~mask]
    error = np.sqrt(sum(side.var(ddof=1) / len(side) for side in sides))
    assert gap == pytest.approx(sides[0].mean() - sides[1].mean())
    assert (high - low) / 2 == pytest.approx(1.966 * error, rel=0.01)
