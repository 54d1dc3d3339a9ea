"""The search for slices against its definition: candidates one by one, every shuffling of a few cases, hand numbers."""

import itertools
import math

import numpy as np
import pytest

from metrics.stats import slice_search
from metrics.stats.slice_search import Candidates, Facet, Searched, _strata, detectable, distinct, normal_score, search

RNG = np.random.default_rng(2)
CODES = [RNG.integers(-1, 4, 60), RNG.integers(0, 3, 60), np.repeat([0, 1], 30)]
# single bins, and of the first facet two bins together
SETS = [np.vstack([np.eye(4, dtype=bool), [[True, True, False, False]]]), np.eye(3, dtype=bool), np.eye(2, dtype=bool)]
FACETS = [Facet(codes, sets) for codes, sets in zip(CODES, SETS, strict=True)]
VALUES = np.where(CODES[0] == 2, 0.2, 0.8) + RNG.normal(0, 0.2, 60)
WEIGHTS = RNG.integers(1, 4, 60).astype(float)


def inside(facet: int, chosen: int) -> np.ndarray:
    return np.isin(CODES[facet], np.flatnonzero(SETS[facet][chosen]))


def every_candidate(least: int) -> dict[tuple[int, int, int, int], np.ndarray]:
    enough = lambda cases: least <= cases.sum() <= 60 - least  # noqa: E731
    places = [(facet, chosen) for facet in range(3) for chosen in range(len(SETS[facet]))]
    found = {(*one, -1, -1): inside(*one) for one in places if enough(inside(*one))}
    for one, other in itertools.product(places, places):
        both = inside(*one) & inside(*other)
        if one[0] < other[0] and enough(both) and both.sum() < min(inside(*one).sum(), inside(*other).sum()):
            found[(*one, *other)] = both
    return found


@pytest.mark.parametrize("least", [1, 8, 12])
def test_the_candidates_are_all_sets_and_pairs_with_enough_cases(least: int) -> None:
    found = search(VALUES, FACETS, least=least, draws=9)
    own = found.candidates
    columns = (own.first, own.first_set, own.second, own.second_set)
    names = list(zip(*(column.tolist() for column in columns), strict=True))
    wanted = every_candidate(least)
    assert sorted(names) == sorted(wanted)
    for place, name in enumerate(names):
        assert (found.mask(place) == wanted[name]).all()
        assert own.n[place] == wanted[name].sum()


@pytest.mark.parametrize("weighted", [False, True])
def test_the_spread_is_that_of_all_shufflings(weighted: bool) -> None:
    """Of six cases in all 720 orders; independent values have (n − 1) / n of their variance."""
    codes, values = np.array([0, 0, 1, 1, 1, 1]), np.array([0.0, 1.0, 3.0, 4.0, 4.5, 9.0])
    weights = np.array([1.0, 3.0, 2.0, 1.0, 1.0, 2.0]) if weighted else np.ones(6)
    found = search(values, [Facet(codes, np.eye(2, dtype=bool))], weights if weighted else None, least=2, draws=9)
    standard = (values - values.mean()) / values.std()
    orders = standard[np.array(list(itertools.permutations(range(6))))]
    centred = orders - (orders @ weights / weights.sum())[:, None]
    for place in range(2):
        sums = (centred * weights)[:, codes == place].sum(axis=1)
        assert found.candidates.spread[place] == pytest.approx(math.sqrt((sums**2).mean() * 5 / 6))


@pytest.mark.parametrize("weighted", [False, True])
def test_scores_and_p_are_those_of_the_definition(weighted: bool) -> None:
    weights = WEIGHTS if weighted else None
    found = search(VALUES, FACETS, weights, least=8, draws=49)
    mass = WEIGHTS if weighted else np.ones(60)
    standard = (VALUES - VALUES.mean()) / VALUES.std()
    centred = mass * (standard - np.average(standard, weights=mass))
    for place, n in enumerate(found.candidates.n.tolist()):
        share = n / 60
        skew = -(standard**3).mean() * (1 - 2 * share) / math.sqrt(n * (1 - share))
        z = -centred[found.mask(place)].sum() / found.candidates.spread[place]
        assert found.candidates.skew[place] == pytest.approx(skew)
        assert found.score[place] == pytest.approx(float(normal_score(np.float64(z), np.float64(skew))), abs=1e-3)
        as_high = sum(one >= found.score[place] - 1e-4 for one in found.highest.tolist())
        assert found.p[place] == (1 + as_high) / 50
    assert len(found.highest) == 49
    assert (np.diff(found.highest) >= 0).all()


def test_another_seed_shuffles_otherwise_and_the_same_one_alike() -> None:
    one, again, other = (search(VALUES, FACETS, least=8, draws=19, seed=seed).highest for seed in (1, 1, 2))
    assert (one == again).all()
    assert (one != other).any()


@pytest.mark.parametrize("clustered", [False, True])
def test_blocks_of_shufflings_add_up(clustered: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nine in blocks of four: each block has its own random numbers, the observed values come once."""
    clusters = np.arange(60) // 3 if clustered else None
    whole = search(VALUES, FACETS, None, clusters, least=8, draws=9)
    monkeypatch.setattr(slice_search, "CELLS", 60 * 4)
    found = search(VALUES, FACETS, None, clusters, least=8, draws=9)
    assert len(found.highest) == 9
    assert len(set(found.highest.tolist())) > 5
    if not clustered:  # the spread of clusters is measured in shufflings of its own
        assert found.score == pytest.approx(whole.score, abs=1e-6)


def test_values_shared_by_clusters_widen_the_spread() -> None:
    """All three cases of a cluster alike: a slice of whole clusters varies as √3 times as many single cases."""
    clusters = np.arange(600) // 3
    codes = (clusters % 4 == 0).astype(np.int64)
    values = np.random.default_rng(0).normal(size=200)[clusters]
    facet = Facet(codes, np.eye(2, dtype=bool))
    plain, own = search(values, [facet], draws=9), search(values, [facet], None, clusters, draws=400)
    ratio = own.candidates.spread / plain.candidates.spread
    assert ratio == pytest.approx(np.full(2, math.sqrt(3)), rel=0.15)
    cost = float(np.median(ratio))
    sigma, n, size = values.std(), 600, 150
    needed = own.highest[-1 - (int(0.02 * 401) - 1)] + 0.8416
    found = detectable(own, values, size, 0.02)
    assert found == pytest.approx(needed * sigma * cost / math.sqrt(size * (1 - size / n)), rel=0.05)


@pytest.mark.parametrize("size", [20, 40, 200])
def test_what_is_detectable_scores_as_high_as_it_must(size: int) -> None:
    """Rare failures: a skewed score, which `detectable` turns back into a difference of means."""
    values = np.where(np.arange(400) % 10, 1.0, 0.0) + np.random.default_rng(0).random(400) / 20
    found = search(values, [Facet(np.arange(400) // 40, np.eye(10, dtype=bool))], draws=99)
    assert len(set(found.highest.tolist())) == 99
    units = size * (1 - size / 400)
    skew = -(((values - values.mean()) / values.std()) ** 3).mean() * (1 - 2 * size / 400) / math.sqrt(units)
    for level, needed in ((0.05, found.highest[-5]), (0.01, found.highest[-1]), (0.001, found.highest[-1])):
        gap = detectable(found, values, size, level)
        score = normal_score(np.float64(gap * math.sqrt(units) / values.std()), np.float64(skew))
        assert float(score) == pytest.approx(needed + 0.8416, rel=1e-3)  # of 100 five, or one, may score as high


@pytest.mark.parametrize("size", [100, 101])
def test_no_gap_shows_in_all_of_the_cases(size: int) -> None:
    found = search(np.arange(100.0), [Facet(np.arange(100) // 50, np.eye(2, dtype=bool))], draws=9)
    assert detectable(found, np.arange(100.0), size, 0.05) == math.inf
    assert detectable(found, np.arange(100.0), 99, 0.05) < math.inf


@pytest.mark.parametrize(("sizes", "strata"), [
    pytest.param([3] * 5, [0] * 5, id="too few of one size"),
    pytest.param([1] * 20 + [2] * 20, [0] * 20 + [1] * 20, id="enough of two"),
    pytest.param([1] * 19 + [2] * 21, [0] * 40, id="too few of the smaller"),
    pytest.param([2] * 21 + [5] * 19, [0] * 40, id="too few of the larger"),
    pytest.param([1] * 12 + [2] * 8 + [3] * 25, [0] * 20 + [1] * 25, id="two joined"),
    pytest.param([9, 1] * 20, [1, 0] * 20, id="in any order"),
    pytest.param([1] * 20 + [2] * 20 + [3] * 20, [0] * 20 + [1] * 20 + [2] * 20, id="three"),
])  # fmt: skip
def test_clusters_of_like_size_change_places(sizes: list[int], strata: list[int]) -> None:
    assert _strata(np.array(sizes)).tolist() == strata


def searched(masks: list[list[int]], score: list[float], p: list[float], spread: float = 1.0) -> Searched:
    """What was found, as if: each slice by the cases in it."""
    facets = [Facet(np.array(mask) - 1, np.ones((1, 1), bool)) for mask in masks]
    count, zero, none = len(masks), np.zeros(len(masks), int), np.full(len(masks), -1)
    n = np.array([sum(mask) for mask in masks])
    own = Candidates(np.arange(count), zero, none, none, n, np.full(count, spread), np.zeros(count))
    return Searched(facets, own, np.array(score), np.array(p), np.array(sorted([0.5, 1.0, 1.5, 2.0] * 24) + [2.5] * 3))


VALUE = np.array([0.0, 0, 0, 0, 1, 1, 1, 1, 1, 1])
WORST = [1, 1, 1, 1, 0, 0, 0, 0, 0, 0]


def test_a_slice_that_only_holds_a_worse_one_is_explained() -> None:
    found = searched([WORST, [1, 1, 1, 1, 1, 1, 0, 0, 0, 0]], [4.0, 3.0], [0.01, 0.01])
    assert distinct(found, VALUE, None, 0.05) == [(0, 0.01)]


def test_a_slice_that_is_bad_by_itself_is_kept_with_the_larger_p() -> None:
    """Once the first is lifted to the mean of the six others, 2 / 3."""
    values = np.array([0.0, 0, 0, 0, 0, 0, 1, 1, 1, 1])
    other = [0, 0, 0, 0, 1, 1, 0, 0, 0, 0]
    left = np.array([4 / 6] * 4 + [0, 0, 1, 1, 1, 1])  # the mean of the six others
    pull = (left - left.mean()) / left.std()
    again = -pull[4:6].sum() / 1.8
    found = searched([WORST, other], [4.0, 3.0], [0.01, 0.02], spread=1.8)
    as_high = sum(one >= again - 1e-4 for one in found.highest.tolist())
    assert 0 < as_high < 99
    assert distinct(found, values, None, 0.99) == [(0, 0.01), (1, max(0.02, (1 + as_high) / 100))]


@pytest.mark.parametrize(("level", "kept"), [(0.05, [0, 1]), (0.04, [1]), (0.01, [])])
def test_the_level_is_included(level: float, kept: list[int]) -> None:
    values = np.concatenate([np.zeros(6), np.ones(94)])
    found = searched([[1] * 3 + [0] * 97, [0] * 3 + [1] * 3 + [0] * 94], [3.0, 4.0], [0.05, 0.04])
    assert sorted(place for place, _ in distinct(found, values, None, level)) == kept


def test_no_more_than_ten_are_kept() -> None:
    values = np.concatenate([np.zeros(24), np.ones(976)])
    masks = [[0] * (2 * place) + [1, 1] + [0] * (998 - 2 * place) for place in range(12)]
    found = searched(masks, [12.0 - place for place in range(12)], [0.01] * 12)
    assert [place for place, _ in distinct(found, values, None, 0.05)] == list(range(10))


def test_chosen_slices_are_lifted_each_on_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the zeros and the halves lifted apart from each other nothing is left that is bad."""
    values = np.repeat([0.0, 0.5, 1.0], [10, 10, 20])
    masks = [[1] * 10 + [0] * 30, [0] * 10 + [1] * 10 + [0] * 20, [1] * 5 + [0] * 35]
    found = searched(masks, [9.0, 8.0, 7.0], [0.01, 0.01, 0.01], spread=0.5)
    assert [place for place, _ in distinct(found, values, None, 0.05)] == [0, 1]
    monkeypatch.setattr(slice_search, "MOST_WEIGHED", 1)
    assert [place for place, _ in distinct(found, values, None, 0.05)] == [0]
