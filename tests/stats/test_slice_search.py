"""The search for bad slices: its candidates, its correction, what it leaves out."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from metrics.stats import slice_search
from metrics.stats.slice_search import Facet, _Places, detectable, distinct, normal_score, search
from tests.stats.slice_scenes import drawn, facets, noise, planted

LEVEL = 0.02


def test_the_planted_slice_of_two_features_is_the_only_one_that_is_kept() -> None:
    values, own, bad = planted(seed=1)
    found = search(values, own)
    kept = distinct(found, values, None, LEVEL)
    assert [bool((found.mask(place) == bad).all()) for place, _ in kept] == [True]
    assert kept[0][1] == 0.001
    assert (found.p <= LEVEL).sum() > 1  # slices that hold it were bad too, and are explained


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_of_many_cases_those_in_the_same_bins_count_as_one(weighted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    values, own, _ = planted(seed=1)
    weights = np.random.default_rng(0).uniform(1, 3, len(values)) if weighted else None
    one_by_one = search(values, own, weights, draws=99)
    monkeypatch.setattr(slice_search, "MANY", 100)
    found = search(values, own, weights, draws=99)
    assert (found.candidates.n == one_by_one.candidates.n).all()
    np.testing.assert_allclose(found.candidates.spread, one_by_one.candidates.spread, rtol=1e-6)
    np.testing.assert_allclose(found.score, one_by_one.score, rtol=1e-4, atol=1e-4)
    assert (found.p == one_by_one.p).mean() > 0.99


@pytest.mark.parametrize("kind", ["usual", "rare", "hits", "graded", "clustered"])
def test_noise_seldom_yields_a_slice(kind: str) -> None:
    """At p ≤ .05 one of twenty: of 30, 6 or more have a chance of 0.3 %."""
    lowest = []
    for seed in range(30):
        values, own, clusters = noise(kind, seed, size=400, columns=4)
        lowest.append(search(values, own, None, clusters, draws=99).p.min())
    assert sum(p <= 0.05 for p in lowest) <= 5


def test_shuffled_clusters_keep_what_cases_share() -> None:
    """Half of the clusters hold all failures: cases one by one would make any slice of clusters look bad."""
    rng = np.random.default_rng(0)
    clusters = np.repeat(np.arange(60), 20)
    values = np.repeat((np.arange(60) % 2).astype(float), 20)
    own = facets([np.repeat(rng.integers(0, 2, 60), 20) for _ in range(6)])
    assert search(values, own).p.min() <= 0.01
    assert search(values, own, None, clusters).p.min() > 0.05


@settings(max_examples=30)
@given(st.lists(st.integers(1, 12), min_size=1, max_size=60), st.integers(0, 9))
def test_clusters_of_one_size_change_places_whole(sizes: list[int], seed: int) -> None:
    clusters = np.repeat(np.arange(len(sizes)), sizes)
    source = _Places.of(clusters).order(np.random.default_rng(seed))
    for cluster in range(len(sizes)):
        assert len(set(clusters[source[clusters == cluster]].tolist())) == 1
    if len(set(sizes)) == 1:
        assert sorted(source.tolist()) == list(range(len(clusters)))


def test_what_follows_from_a_failure_explains_nothing() -> None:
    values, own, bad = planted(seed=1)
    found = search(values, [*own, Facet(values.astype(np.int64), np.eye(2, dtype=bool))])
    masks = [found.mask(place) for place, _ in distinct(found, values, None, LEVEL, late=[len(own)])]
    assert (masks[0] == bad).all()
    assert (masks[1] == (values == 0)).all()
    alone = [found.mask(place) for place, _ in distinct(found, values, None, LEVEL)]
    assert [bool((mask == bad).all()) for mask in alone] == [False]


@pytest.mark.parametrize(("values", "columns"), [
    pytest.param(np.ones(100), 3, id="all-equal"),
    pytest.param(np.arange(100.0), 0, id="no-facet"),
    pytest.param(np.arange(30.0), 2, id="too-few-cases"),
])  # fmt: skip
def test_nothing_to_find(values: np.ndarray, columns: int) -> None:
    found = search(values, facets(drawn(np.random.default_rng(0), len(values), columns)), draws=19)
    assert (found.p == 1).all()
    assert distinct(found, values, None, LEVEL) == []
    assert detectable(found, values, 20, LEVEL) >= 0


@given(st.floats(-1.5, 1.5), st.lists(st.floats(-4, 6), min_size=2, max_size=9, unique=True))
def test_normal_scores_rise(skew: float, z: list[float]) -> None:
    assert (np.diff(normal_score(np.array(sorted(z)), np.full(len(z), skew))) >= -1e-9).all()


def test_normal_scores_of_gamma_sums() -> None:
    """The upper tail of a skewed sum: the 99.9 % point of a standardised gamma becomes that of the normal."""
    from scipy import stats

    shape = 16.0
    z = (stats.gamma.ppf(0.999, shape) - shape) / np.sqrt(shape)
    assert normal_score(np.array([z]), np.array([2 / np.sqrt(shape)]))[0] == pytest.approx(
        stats.norm.ppf(0.999), abs=0.02
    )


def test_a_detectable_slice_is_found_four_times_of_five() -> None:
    """Slices as bad as `detectable` says: found in 70 to 95 of 100 draws (80 expected)."""
    rng = np.random.default_rng(5)
    size, n = 80, 800
    own = facets(drawn(rng, n, 3))
    inside = np.zeros(n, np.int64)
    inside[:size] = 1
    own.append(Facet(inside - 1, np.ones((1, 1), bool)))
    plain = search(rng.normal(size=n), own, draws=199)
    hits = 0
    for _ in range(40):
        values = rng.normal(size=n)
        gap = detectable(plain, values, size, LEVEL)
        values[:size] -= gap
        found = search(values, own, draws=199)
        single = (found.candidates.first == 3) & (found.candidates.second < 0)
        hits += bool(found.p[single][0] <= LEVEL)
    assert 24 <= hits <= 39
