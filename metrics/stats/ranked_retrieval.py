"""Measures of ranked retrieval over many queries at once: recall, precision, hit rate, MRR, MAP, R-precision, nDCG."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from metrics.core.array_types import Bools, Floats, Ints


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

    @cached_property
    def _discounted(self) -> Floats:
        discounted: Floats = self.gain / np.log2(self.rank + 1.0)
        return discounted


@dataclass(frozen=True, eq=False)
class RankedMeasures:
    """The measures of n queries with relevant items; every one is an array [n] from 0 to 1.

    `found` are the relevant items that were retrieved, `relevant` [n] how many there are to find; `graded` are all
    items with a grade that were retrieved, and `ideal` all items with a grade in the order that nothing could better.
    """

    found: Hits
    relevant: Ints
    graded: Hits
    ideal: Hits

    @classmethod
    def of(cls, n: int, query: Ints, rank: Ints, relevant: Bools, gain: Floats) -> Self:
        """Return the measures of n queries from all their graded items [m], in any order.

        `query` is an item's query, `rank` its rank in what was retrieved, from 1, or 0 where it was not; `relevant`
        whether it counts as relevant, at least one in each query; `gain` what it is worth in nDCG, not negative.
        """
        retrieved = rank > 0
        found = retrieved & relevant
        best = np.lexsort((-gain, query))
        starts = np.searchsorted(query[best], np.arange(n))
        places = np.arange(len(best)) - starts[query[best]] + 1
        return cls(
            Hits.in_order(n, query[found], rank[found], gain[found]),
            np.bincount(query[relevant], minlength=n),
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

    def reciprocal_rank(self) -> Floats:
        """Return 1 / rank of the first relevant item, 0 without one."""
        values = np.zeros(self.found.n)
        queries, first = np.unique(self.found.query, return_index=True)
        values[queries] = 1.0 / self.found.rank[first]
        return values

    def average_precision(self) -> Floats:
        """Return the sum of precision at the ranks of the relevant items / relevant."""
        query = self.found.query
        starts = np.searchsorted(query, np.arange(self.found.n))
        until = np.arange(len(query)) - starts[query] + 1  # relevant items up to and with this one
        return np.bincount(query, weights=until / self.found.rank, minlength=self.found.n) / self.relevant

    def ndcg(self, k: int) -> Floats:
        """Return DCG among the first k / that of the ideal order; 0 where no item has a gain."""
        best = self.ideal.dcg(k)
        return np.divide(self.graded.dcg(k), best, out=np.zeros(len(best)), where=best > 0)


def ranks_of(items: Ints, item_query: Ints, retrieved: Ints, retrieved_query: Ints) -> Ints:
    """Return the rank of each item [m] in what its query retrieved, from 1; 0 where it was not retrieved.

    Items are numbers from 0; `retrieved` [r] are those of each query in its order, the queries one after the other.
    One that was retrieved twice counts at its first rank, and those after it move up.
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
        return np.zeros(len(wanted), np.int64)
    near = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[near] == wanted, ranks[first[near]], 0)


def average_precision(relevant: Sequence[bool]) -> float:
    """Return how early the relevant ones of a ranked list come: the mean of precision@k over the ranks k that are
    relevant.

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
