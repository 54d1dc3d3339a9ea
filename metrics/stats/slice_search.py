"""Which slices of the cases are worse than the rest: bins of features and pairs of them, all tested at once."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from threading import Lock
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from metrics.core.array_types import Bools, Floats, Ints, Singles
from metrics.core.rounding import EQUAL, at_most
from metrics.core.sampling_design import cluster_codes
from metrics.stats.cluster_variance import cluster_sums
from metrics.stats.float_tolerance import falling_order, ratio
from metrics.stats.power import POWER

T = TypeVar("T")
Real = TypeVar("Real", np.float32, np.float64)

DRAWS = 999  # shufflings; with the observed values p goes in steps of 1 / 1,000
CELLS = 1 << 22  # of shuffled values held at once
PILOT = 200  # shufflings that tell how far sums over slices of clustered cases vary
ALIKE = 20  # clusters, at least, that change places with each other
MANY = 100_000  # cases
MOST_KEPT = 10
MOST_WEIGHED = 400  # of the slices below the level, the strongest are compared with each other
FLAT = 1e-3  # a skewness that makes no difference
ROUNDING = 1e-4  # scores that are equal on paper differ in their last bits
_one_at_a_time = Lock()


@dataclass(frozen=True, eq=False)
class Facet:
    """One feature: codes [n] of its disjoint bins, −1 for none, and the sets of bins that are candidates [u, bins]."""

    codes: Ints
    sets: Bools

    def cases(self, chosen: int) -> Bools:
        """Return the cases [n] in one of the sets."""
        inside: Bools = np.append(self.sets[chosen], False)[self.codes]  # −1 looks at the end
        return inside


@dataclass(frozen=True, eq=False)
class Candidates:
    """S slices: first and first_set [S] are a facet and one of its sets, second and second_set the same, −1 without.

    n [S] counts their cases. spread [S] is the standard deviation of the sum of a slice's standardised values when they
    are shuffled, skew [S] the skewness of that sum turned so that worse is higher.
    """

    first: Ints
    first_set: Ints
    second: Ints
    second_set: Ints
    n: Ints
    spread: Floats
    skew: Floats


@dataclass(frozen=True, eq=False)
class Searched:
    """The candidates with score [S], the normal score of how much worse each is, and p [S], corrected for all of them.

    highest [draws]: the best score that any candidate reached when the values were shuffled, in rising order.
    """

    facets: Sequence[Facet]
    candidates: Candidates
    score: Floats
    p: Floats
    highest: Floats

    def mask(self, place: int) -> Bools:
        """Return the cases of a candidate: [n]."""
        own = self.candidates
        inside: Bools = self.facets[own.first[place]].cases(own.first_set[place])
        if own.second[place] >= 0:
            inside &= self.facets[own.second[place]].cases(own.second_set[place])
        return inside


def search(
    values: Floats,
    facets: Sequence[Facet],
    weights: Floats | None = None,
    clusters: Ints | None = None,
    *,
    least: int = 20,
    draws: int = DRAWS,
    seed: int = 0,
) -> Searched:
    """Test every set of every facet, and every pair of sets of two facets, for `values` [n] below the others'.

    A candidate has at least `least` cases, as have the others, and is not the same cases as one of its two parts. Its
    score is the mean's distance from the mean of all, in standard deviations under shuffling, made normal by the third
    moment (Wilson & Hilferty 1931): else the few cases of small slices would dominate where failures are rare.
    p = (1 + #{shufflings in which any candidate scores as high}) / (1 + draws), the single-step maximum of Westfall &
    Young 1993: if values have nothing to do with the facets, the chance of any p ≤ α is at most α. Cases are shuffled,
    or where `clusters` [n] are given whole clusters, among those of like size and in random order inside, which is
    exact for clusters of equal size. weights [n]: means are weighted, the weights stay in their places.
    """
    n = len(values)
    mass = np.ones(n) if weights is None else weights
    grid = _Grid(facets, mass, least)
    candidates = grid.candidates
    if not len(candidates.n) or values.std() <= EQUAL or not mass.any():
        return Searched(facets, candidates, np.zeros(len(candidates.n)), np.ones(len(candidates.n)), np.zeros(draws))
    spread, share = candidates.spread, candidates.n / n
    units = candidates.n * (1 - share)
    if clusters is not None:
        pilot = np.concatenate(
            _in_threads(grid.sums, _shuffled(values, mass, clusters, min(PILOT, draws), seed + 1)), axis=1
        )
        observed = np.maximum(np.sqrt((pilot.astype(np.float64) ** 2).mean(axis=1)), spread / 2)
        units = units * (spread / observed) ** 2
        spread = observed
    skew = -_skewness(values) * (1 - 2 * share) / np.sqrt(units)
    negative, narrow = -spread[:, None].astype(np.float32), skew[:, None].astype(np.float32)

    def strongest(block: Singles) -> tuple[Singles, Singles]:
        scores = normal_score(grid.sums(block) / negative, narrow)
        return scores[:, 0], scores.max(axis=0)

    blocks = _in_threads(strongest, _shuffled(values, mass, clusters, draws, seed, observed=True))
    score = blocks[0][0].astype(np.float64)
    # the first column of all is the values as they are
    rising = np.sort(np.concatenate([highest for _, highest in blocks])[1:].astype(np.float64))
    return Searched(facets, replace(candidates, spread=spread, skew=skew), score, _corrected(score, rising), rising)


def _in_threads(work: Callable[[Singles], T], blocks: Sequence[Callable[[], Singles]]) -> list[T]:
    """Return the work done on each block, one thread a core: for many small products BLAS's own threads are slow."""
    from threadpoolctl import threadpool_limits

    # the limit is the process's: a second search that began meanwhile would restore the wrong one
    with _one_at_a_time, threadpool_limits(1, "blas"), ThreadPoolExecutor(os.cpu_count() or 1) as threads:
        return list(threads.map(lambda make: work(make()), blocks))


def distinct(
    found: Searched, values: Floats, weights: Floats | None, level: float, late: Sequence[int] = ()
) -> list[tuple[int, float]]:
    """Return at most MOST_KEPT candidates with p ≤ level that no better one explains, the best first, each with its p.

    After each choice the values of its cases are lifted to the mean of the others (those that are in several chosen
    ones on their own), and the rest must still have p ≤ level: a larger slice that is only bad because it contains a
    chosen one is dropped, as is a part of a chosen one that is no worse than the whole. p is the larger of the two.
    Candidates of the facets `late` come after all others and explain none of them: what follows from a failure is not
    its reason.
    """
    own = found.candidates
    last = np.isin(own.first, late) | np.isin(own.second, late)
    places = []
    for part in (~last, last):
        below = np.flatnonzero(part & at_most(found.p, level))
        places += below[falling_order(found.score[below], ROUNDING)][:MOST_WEIGHED].tolist()
    mass = np.ones(len(values)) if weights is None else weights
    masks = {place: found.mask(place) for place in places}
    p = {place: float(found.p[place]) for place in places}
    score = {place: float(found.score[place]) for place in places}
    inside = np.zeros(len(values), np.int64)  # which of the chosen ones a case is in, 0: none
    kept: list[tuple[int, float]] = []
    while p and len(kept) < MOST_KEPT:
        best = max(p, key=lambda place: (not last[place], score[place]))
        kept.append((best, p.pop(best)))
        inside = 2 * inside + masks[best]
        if not p or inside.min() > 0:
            break
        inside = np.unique(inside, return_inverse=True)[1]
        totals = np.bincount(inside, mass)
        means = np.bincount(inside, mass * values) / np.where(totals > 0, totals, 1.0)
        left = values + (means[0] - means)[inside]
        sigma = left.std()
        if sigma <= EQUAL:
            break
        pull = mass * (left - np.average(left, weights=mass)) / sigma
        rest = np.array(list(p))
        sums = np.array([pull[masks[place]].sum() for place in p])
        again = normal_score(-sums / own.spread[rest], own.skew[rest])
        chance = _corrected(again, found.highest)
        for place, one, now in zip(list(p), chance.tolist(), again.tolist(), strict=True):
            if not at_most(one, level):
                del p[place]
            else:
                p[place], score[place] = max(p[place], one), now
    return kept


def detectable(found: Searched, values: Floats, size: int, level: float) -> float:
    """Return how far below the others' the mean of a slice of `size` cases must lie to be found with 80 % power.

    The score that one of a `level` share of shufflings exceeds, and 0.84, turned back into a difference of means;
    widened by what the clusters of the candidates cost on average. Infinite where there is no such slice.
    """
    n, own = len(values), found.candidates
    if not len(own.n) or size >= n:
        return float("inf")
    cost = float(np.median(own.spread / np.sqrt(own.n * (1 - own.n / n))))
    units = size * (1 - size / n) / cost**2
    skew = -_skewness(values) * (1 - 2 * size / n) / np.sqrt(units)
    allowed = int(level * (len(found.highest) + 1)) - 1  # shufflings that may score as high
    needed = float(found.highest[-1 - max(0, allowed)]) + POWER
    if abs(skew) >= FLAT:
        needed = ((1 + (needed - skew / 6) * skew / 6) ** 3 - 1) * 2 / skew
    return float(needed * values.std() / np.sqrt(units))


def normal_score(z: NDArray[Real], skew: NDArray[Real]) -> NDArray[Real]:
    """Return standardised z with a skewness as a normal score: 6 / γ·(∛(1 + γ·z / 2) − 1) + γ / 6; rises with z.

    Exact in the first three moments of a gamma distribution. Source: Wilson & Hilferty, PNAS 17:684, 1931.
    """
    gamma: Any = np.copysign(np.maximum(np.abs(skew), FLAT), skew)
    return np.asarray((np.cbrt(1 + gamma * z / 2) - 1) * (6 / gamma) + gamma / 6)


def _corrected(score: Floats, rising: Floats) -> Floats:
    """Return the p of scores, from the highest ones of the shufflings in rising order."""
    as_high = len(rising) - np.searchsorted(rising, score - ROUNDING, side="left")
    return np.asarray((1 + as_high) / (1 + len(rising)))


def _skewness(values: Floats) -> float:
    sigma = values.std()
    return float((((values - values.mean()) / sigma) ** 3).mean()) if sigma > 0 else 0.0


class _Grid:
    """The candidates of some facets, and the sums of values over them."""

    def __init__(self, facets: Sequence[Facet], mass: Floats, least: int):
        self.facets = facets
        bins = [facet.sets.shape[1] for facet in facets]
        sets = [facet.sets.shape[0] for facet in facets]
        self.bin_start = np.concatenate([[0], np.cumsum(bins)]).astype(int)
        self.set_start = np.concatenate([[0], np.cumsum(sets)]).astype(int)
        n = len(mass)
        self.alike = _alike(facets, n) if n > MANY else None  # of so many, those in the same bins count as one row
        codes = [facet.codes for facet in facets]
        if self.alike is not None:
            first_of = np.unique(self.alike, return_index=True)[1]
            codes = [own[first_of] for own in codes]
        self.hot = np.zeros((n if self.alike is None else len(first_of), self.bin_start[-1]), np.float32)
        self.expand = np.zeros((self.set_start[-1], self.bin_start[-1]), np.float32)
        for facet, code, first, own in zip(facets, codes, self.bin_start, self.set_start, strict=False):
            known = np.flatnonzero(code >= 0)
            self.hot[known, first + code[known]] = 1
            self.expand[own : own + len(facet.sets), first : first + facet.sets.shape[1]] = facet.sets
        self.rows = [np.flatnonzero(column) for column in self.hot.T]  # of each bin
        # of each facet: which of its sets stand alone, and which (its set, set of a facet before) pairs are candidates
        self.alone: list[Ints] = []
        self.pairs: list[tuple[Ints, Ints]] = []
        counts = masses = squares = self._within(np.ones(n))
        if (mass != 1).any():
            masses, squares = self._within(mass), self._within(mass**2)
        size = np.diag(counts)
        found = []
        for start, stop in pairwise(self.set_start.tolist()):
            own, both = size[start:stop], counts[start:stop, :start]
            alone = np.flatnonzero((own >= least) & (own <= n - least))
            part = (both >= least) & (both <= n - least) & (both < own[:, None]) & (both < size[:start])
            of_own, of_before = np.nonzero(part)
            self.alone.append(alone)
            self.pairs.append((of_own, of_before))
            found += [np.stack([start + alone, np.full(len(alone), -1)]), np.stack([of_before, start + of_own])]
        first, second = np.concatenate(found, axis=1) if found else np.zeros((2, 0), np.int64)
        at = (first, np.where(second < 0, first, second))
        whole, square = float(mass.sum()), float((mass**2).sum())
        share = ratio(masses[at], np.asarray(whole), 0.0)
        spread = np.sqrt(squares[at] * (1 - 2 * share) + share**2 * square)
        facet_of = np.repeat(np.arange(len(facets)), sets)
        self.candidates = Candidates(
            facet_of[first],
            first - self.set_start[facet_of[first]],
            np.where(second < 0, -1, facet_of[second]),
            np.where(second < 0, -1, second - self.set_start[facet_of[second]]),
            counts[at].round().astype(np.int64),
            spread,
            np.zeros(len(first)),
        )

    def _within(self, mass: Floats) -> Floats:
        """Return the total mass of the cases that are in both of two sets, for each pair of sets: [sets, sets]."""
        cells = self.hot.T.astype(np.float64) @ (self.hot * self._rows(mass[:, None]))
        return self.expand @ cells @ self.expand.T

    def _rows(self, values: Floats | Singles) -> Floats | Singles:
        """Return the columns of `values` [n, b] summed over the cases that are alike; as they are where none are."""
        if self.alike is None:
            return values
        return cluster_sums(values.astype(np.float64, copy=False), self.alike)

    def sums(self, values: Singles) -> Singles:
        """Return the sums of each column of `values` [n, b] over every candidate: [S, b], in their order."""
        parts, summed = [], self._rows(values).astype(np.float32, copy=False)
        for place, (start, stop) in enumerate(pairwise(self.bin_start.tolist())):
            own = self.facets[place].sets.astype(np.float32)
            before = self.expand[: self.set_start[place], :start]  # the sets of the facets before, by their bins
            single = np.empty((stop - start, values.shape[1]), np.float32)
            cells = np.empty((stop - start, len(before), values.shape[1]), np.float32)
            for code, rows in enumerate(self.rows[start:stop]):
                held = summed[rows]
                single[code] = held.sum(axis=0)
                cells[code] = before @ (self.hot[rows, :start].T @ held)
            parts += [(own @ single)[self.alone[place]], np.tensordot(own, cells, axes=1)[self.pairs[place]]]
        return np.concatenate(parts)


def _alike(facets: Sequence[Facet], n: int) -> Ints:
    """Return a code [n] for each case, the same for those in the same bins of every facet."""
    found = np.zeros(n, np.int64)
    for facet in facets:
        found = cluster_codes(found * (facet.sets.shape[1] + 1) + facet.codes + 1)
    return found


def _shuffled(
    values: Floats, mass: Floats, clusters: Ints | None, draws: int, seed: int, observed: bool = False
) -> list[Callable[[], Singles]]:
    """Return what makes blocks [n, b] of values shuffled over the cases: standardised, less their weighted mean, times
    the mass. Each block has its own random numbers, so that threads can make them in any order.

    `draws` columns in all, and with `observed` one more before them: the values as they are.
    """
    n = len(values)
    standard = (values - values.mean()) / values.std()
    narrow = mass.astype(np.float32)
    places = None if clusters is None else _Places.of(clusters)

    def make(start: int, count: int) -> Singles:
        rng = np.random.default_rng([seed, n, start])
        drawn = np.empty((count, n), np.float32)
        for row in drawn:
            if places is None:
                shuffled = standard.copy()
                rng.shuffle(shuffled)  # of such wide values takes half the time of `permuted`
                row[:] = shuffled
            else:
                row[:] = standard[places.order(rng)]
        if observed and not start:
            drawn = np.concatenate([standard[None].astype(np.float32), drawn])
        drawn -= (drawn @ narrow / narrow.sum())[:, None]
        return np.ascontiguousarray((drawn * narrow).T)

    step = max(1, min(draws, CELLS // max(1, n)))
    return [partial(make, start, min(step, draws - start)) for start in range(0, draws, step)]


@dataclass(frozen=True, eq=False)
class _Places:
    """Clusters that change places with others of like size: their sizes and first places in by_cluster, the cases by
    cluster, their places within their clusters, and the strata of sizes.
    """

    clusters: NDArray[np.integer[Any]]
    sizes: Ints
    starts: Ints
    by_cluster: Ints
    within: Ints
    stratum: NDArray[np.integer[Any]]
    by_size: Ints

    @classmethod
    def of(cls, clusters: Ints) -> "_Places":
        sizes = np.bincount(clusters)
        starts = np.cumsum(sizes) - sizes
        stratum = _narrow(_strata(sizes))
        within = np.arange(len(clusters)) - np.repeat(starts, sizes)
        by_cluster, by_size = np.argsort(clusters, kind="stable"), np.argsort(stratum, kind="stable")
        return cls(_narrow(clusters), sizes, starts, by_cluster, within, stratum, by_size)

    def order(self, rng: np.random.Generator) -> Ints:
        """Return the case whose value each case gets: [n].

        Each cluster is read in random order, and again from its beginning, or only in part, where it comes to stand in
        a larger or smaller place.
        """
        taken = np.empty(len(self.sizes), np.int64)
        drawn = rng.permutation(len(self.sizes))
        taken[self.by_size] = drawn[np.argsort(self.stratum[drawn], kind="stable")]
        shuffled = rng.permutation(len(self.clusters))
        rows = shuffled[np.argsort(self.clusters[shuffled], kind="stable")]
        partner = np.repeat(taken, self.sizes)
        source = np.empty(len(self.clusters), np.int64)
        source[self.by_cluster] = rows[self.starts[partner] + self.within % self.sizes[partner]]
        return source


def _narrow(codes: Ints) -> NDArray[np.integer[Any]]:
    """Return codes in as few bytes as hold them: those of one or two are sorted without comparing."""
    return codes.astype(np.min_scalar_type(int(codes.max(initial=0))))


def _strata(sizes: Ints) -> Ints:
    """Return a number for each cluster: those of one size share it, and sizes are joined until ALIKE clusters do."""
    _, size, counts = np.unique(sizes, return_inverse=True, return_counts=True)
    strata = np.zeros(len(counts), np.int64)  # of each size
    held = 0
    for place, count in enumerate(counts.tolist()):
        if held >= ALIKE and counts[place:].sum() >= ALIKE:
            strata[place:] += 1
            held = 0
        held += count
    return strata[size]
