"""Measures of ranked retrieval over many queries at once: recall, precision, hit rate, MRR, MAP, R-precision, nDCG, and
those that say how much the gaps of the judgements matter: bpref, rank-biased precision with its residual, judged@k.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np

from metrics.core.array_types import Bools, Floats, Ints
from metrics.stats.float_tolerance import ratio


@dataclass(frozen=True, eq=False)
class Hits:
    """Where some graded items of n queries stand in a ranking.

    query  [h] which query, from 0, rising
    rank   [h] from 1, rising within a query
    gain   [h] what the item is worth, not negative
    """

    n: int
    query: Ints
    rank: Ints
    gain: Floats

    @classmethod
    def in_order(cls, n: int, query: Ints, rank: Ints, gain: Floats) -> Self:
        """Return the hits of these items, which may be in any order."""
        order = np.lexsort((rank, query))
        return cls(n, query[order], rank[order], gain[order])

    def counted(self, until: int | Ints) -> Ints:
        """Return how many hits each query [n] has up to the rank `until`, one for all or one a query."""
        limit = until if isinstance(until, int) else until[self.query]
        return np.bincount(self.query[self.rank <= limit], minlength=self.n)

    def dcg(self, k: int) -> Floats:
        """Return the discounted cumulative gain of each query [n] among the first `k`: Σ gain / log2(rank + 1)."""
        kept = self.rank <= k
        return np.bincount(self.query[kept], self._discounted[kept], self.n).astype(np.float64)

    def persisting(self, p: float) -> Floats:
        """Return for each query [n] how likely a reader who goes on with probability `p` ends at one of these items:
        (1 − p) · Σ p^(rank − 1).
        """
        return (1.0 - p) * np.bincount(self.query, p ** (self.rank - 1.0), self.n).astype(np.float64)

    @cached_property
    def _discounted(self) -> Floats:
        return np.asarray(self.gain / np.log2(self.rank + 1.0))


@dataclass(frozen=True, eq=False)
class RankedMeasures:
    """The measures of n queries with relevant items; every one is an array [n] from 0 to 1.

    `found` are the relevant items that were retrieved, `relevant` [n] how many there are to find; `refused` and
    `irrelevant` [n] are the same of items that were judged not to be relevant. `graded` are all items with a grade that
    were retrieved, and `ideal` all items with a grade in the order that nothing could better.
    """

    found: Hits
    relevant: Ints
    refused: Hits
    irrelevant: Ints
    graded: Hits
    ideal: Hits

    @classmethod
    def of(cls, n: int, query: Ints, rank: Ints, relevant: Bools, gain: Floats, judged: Bools | None = None) -> Self:
        """Return the measures of n queries from all their graded items [m], in any order.

        `query` is an item's query, `rank` its rank in what was retrieved, from 1, or 0 where it was not; `relevant`
        whether it counts as relevant, at least one in each query; `gain` what it is worth in nDCG, not negative;
        `judged` whether its grade is a judgement, as all are by default.
        """
        retrieved = rank > 0
        found = retrieved & relevant
        irrelevant = ~relevant if judged is None else judged & ~relevant
        refused = retrieved & irrelevant
        best = np.lexsort((-gain, query))
        starts = np.searchsorted(query[best], np.arange(n))
        places = np.arange(len(best)) - starts[query[best]] + 1
        return cls(
            Hits.in_order(n, query[found], rank[found], gain[found]),
            np.bincount(query[relevant], minlength=n),
            Hits.in_order(n, query[refused], rank[refused], gain[refused]),
            np.bincount(query[irrelevant], minlength=n),
            Hits.in_order(n, query[retrieved], rank[retrieved], gain[retrieved]),
            Hits(n, query[best], places, gain[best]),
        )

    def recall(self, k: int) -> Floats:
        """Return relevant among the first k / relevant."""
        return self.found.counted(k) / self.relevant

    def precision(self, k: int) -> Floats:
        """Return relevant among the first k / k, also where fewer were retrieved."""
        return self.found.counted(k) / k

    def hit_rate(self, k: int) -> Floats:
        """Return 1 where one of the first k is relevant, else 0."""
        return (self.found.counted(k) > 0).astype(np.float64)

    def r_precision(self) -> Floats:
        """Return relevant among the first R / R, where R are relevant."""
        return self.found.counted(self.relevant) / self.relevant

    def reciprocal_rank(self, k: int | None = None) -> Floats:
        """Return 1 / rank of the first relevant item, 0 without one among the first k (default: all)."""
        values = np.zeros(self.found.n)
        queries, first = np.unique(self.found.query, return_index=True)
        rank = self.found.rank[first]
        values[queries] = 1.0 / rank if k is None else np.where(rank <= k, 1.0 / rank, 0.0)
        return values

    def average_precision(self, k: int | None = None) -> Floats:
        """Return the sum of precision at the ranks of the relevant items among the first k (default: all) / relevant.

        However small k is, it is divided by all that are relevant: trec_eval's map_cut.
        """
        query, rank = self.found.query, self.found.rank
        starts = np.searchsorted(query, np.arange(self.found.n))
        until = np.arange(len(query)) - starts[query] + 1  # relevant items up to and with this one
        precision = until / rank if k is None else np.where(rank <= k, until / rank, 0.0)
        return np.bincount(query, weights=precision, minlength=self.found.n) / self.relevant

    def bpref(self) -> Floats:
        """Return how rarely items judged irrelevant come before relevant ones; what was not judged does not count.

            1/R · Σ over relevant items retrieved of 1 − min(irrelevant ones before it, R) / min(R, N)

        with R relevant and N irrelevant items judged; 1 for each where none comes before it. Equal to trec_eval's.
        Source: Buckley & Voorhees 2004.
        """
        size = 1 + max(self.found.rank.max(initial=0), self.refused.rank.max(initial=0))
        query = self.found.query
        keys = self.refused.query * size + self.refused.rank
        before = np.searchsorted(keys, query * size + self.found.rank) - np.searchsorted(keys, query * size)
        bound = np.maximum(np.minimum(self.relevant, self.irrelevant), 1)
        credit = 1.0 - np.minimum(before, self.relevant[query]) / bound[query]
        return np.bincount(query, credit, self.found.n) / self.relevant

    def rank_biased_precision(self, p: float) -> Floats:
        """Return the chance that a reader who goes on from item to item with probability `p` ends at a relevant one.

            (1 − p) · Σ over relevant items retrieved of p^(rank − 1)

        Source: Moffat & Zobel 2008.
        """
        return self.found.persisting(p)

    def residual(self, p: float) -> Floats:
        """Return what rank-biased precision lacks if all that was not judged, or not retrieved, were relevant."""
        return np.maximum(1.0 - self.found.persisting(p) - self.refused.persisting(p), 0.0)

    def judged(self, k: int, retrieved: Ints) -> Floats:
        """Return the share of the first k that was judged; of all where fewer were `retrieved` [n], NaN of none."""
        return ratio(self.found.counted(k) + self.refused.counted(k), np.minimum(retrieved, k))

    def ndcg(self, k: int) -> Floats:
        """Return DCG among the first k / that of the ideal order; 0 where no item has a gain."""
        best = self.ideal.dcg(k)
        return np.divide(self.graded.dcg(k), best, out=np.zeros(len(best)), where=best > 0)


class Ranks(NamedTuple):
    """The rank of each item [m] in what its query retrieved, 0 where it was not; the query of each item retrieved."""

    rank: Ints
    retrieved_query: Ints


def ranks_of(items: Ints, item_query: Ints, retrieved: Ints, retrieved_query: Ints) -> Ranks:
    """Return the rank of each item [m] in what its query retrieved, from 1; 0 where it was not retrieved.

    Items are numbers from 0; `retrieved` [r] are those of each query in its order, the queries one after the other.
    One that was retrieved twice counts once, at its first rank, and those after it move up.
    """
    size = 1 + max(items.max(initial=0), retrieved.max(initial=0))
    wanted, got = item_query * size + items, retrieved_query * size + retrieved
    keys, first = np.unique(got, return_index=True)
    if len(keys) < len(got):
        again = np.ones(len(got), bool)
        again[first] = False
        got, retrieved_query = got[~again], retrieved_query[~again]
        keys, first = np.unique(got, return_index=True)
    starts = np.searchsorted(retrieved_query, retrieved_query)
    ranks = np.arange(len(got)) - starts + 1
    if not len(keys):
        return Ranks(np.zeros(len(wanted), np.int64), retrieved_query)
    near = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return Ranks(np.where(keys[near] == wanted, ranks[first[near]], 0), retrieved_query)


def average_precision(relevant: Sequence[bool]) -> float:
    """Return how early the relevant ones of a ranked list come: the mean of precision@k over their ranks k.

        precision@k = relevant among the first k / k
        average precision = Σ precision@k · v_k / Σ v_k,  v_k = 1 where rank k is relevant, else 0

    From 0 (none is relevant) to 1 (all relevant ones before all others).

    >>> average_precision([True, False, False, True])
    0.75
    """
    found = 0
    total = 0.0
    for rank, hit in enumerate(relevant, 1):
        if hit:
            found += 1
            total += found / rank
    return total / found if found else 0.0
