"""The sampling design of a suite: which cases count, how much each weighs, and which ones are drawn together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from metrics.core.array_types import Floats, Ints
from metrics.core.arrow import numbers

COLUMNS = ["weight", "group", "tags"]  # of a suite's table of cases: all that its design depends on
DENSE = 4  # codes so close together are counted instead of sorted


@dataclass(frozen=True, eq=False, slots=True)
class SamplingDesign:
    """The design of a suite of `cases` cases, or of its part with one tag.

    inside: [n] positions of the cases that count; weights: [n], None where all weigh the same (a case without one in a
    suite with weights has 1); clusters: [n] codes 0 … c − 1 of the groups in the order of their first cases, None where
    no two cases share one (a case without one in a suite with groups is a cluster of its own).
    """

    cases: int
    inside: Ints
    weights: Floats | None
    clusters: Ints | None

    @classmethod
    def of(cls, cases: pa.Table, tag: str | None = None) -> SamplingDesign:
        """Return the design of a suite's table of cases (at least COLUMNS), over all of them or those with a tag."""
        size = len(cases)
        inside = np.arange(size)
        if tag is not None:
            tags = cases["tags"].combine_chunks()
            held = pc.list_parent_indices(tags).filter(pc.equal(pc.list_flatten(tags), tag))
            inside = np.unique(numbers(held).astype(np.int64))
        weights = clusters = None
        if cases["weight"].null_count < size:
            weights = _uneven(numbers(pc.fill_null(cases["weight"], 1.0))[inside])
        if cases["group"].null_count < size:
            clusters = _shared(_clusters(cases["group"], inside))
        return cls(size, inside, weights, clusters)

    def __len__(self) -> int:
        return len(self.inside)

    @property
    def plain(self) -> bool:
        """Whether every case is a unit of its own and all weigh the same."""
        return self.weights is None and self.clusters is None

    @property
    def units(self) -> Ints:
        """The clusters [n]; without groups a code of its own for every case."""
        return np.arange(len(self)) if self.clusters is None else self.clusters

    def of_part(self, keep: NDArray[Any]) -> tuple[Floats | None, Ints | None]:
        """Return the weights and the clusters, as codes of their own, of a part of the cases inside."""
        return (
            None if self.weights is None else _uneven(self.weights[keep]),
            None if self.clusters is None else _shared(cluster_codes(self.clusters[keep])),
        )


def cluster_codes(clusters: NDArray[np.integer[Any]]) -> Ints:
    """Return clusters as codes 0 … c − 1, in their order."""
    if clusters.min(initial=0) >= 0 and clusters.max(initial=0) < DENSE * len(clusters):  # counted, not sorted
        codes: Ints = (np.cumsum(np.bincount(clusters) > 0) - 1)[clusters]
    else:
        codes = np.unique(clusters, return_inverse=True)[1].astype(np.int64)
    return codes


def _uneven(weights: Floats) -> Floats | None:
    """Return the weights, None where all are alike: doubling every case changes nothing."""
    return None if len(weights) and weights[0] > 0 and (weights == weights[0]).all() else weights


def _shared(clusters: Ints) -> Ints | None:
    """Return codes 0 … c − 1 of clusters, None where each has one case."""
    return None if len(clusters) == clusters.max(initial=-1) + 1 else clusters


def _clusters(group: pa.ChunkedArray, inside: Ints) -> Ints:
    codes = numbers(pc.fill_null(group.combine_chunks().dictionary_encode().indices, -1)).astype(np.int64)
    codes = np.where(codes < 0, codes.max(initial=-1) + 1 + np.arange(len(codes)), codes)
    _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    ordered = np.argsort(np.argsort(first))[inverse]
    return cluster_codes(ordered[inside])
