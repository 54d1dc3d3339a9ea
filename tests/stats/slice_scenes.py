"""Facets and values for the tests and benchmarks of the search for slices."""

import numpy as np
from numpy.typing import NDArray

from metrics.stats.slice_search import Facet

SIZE, PLANTED = 2_000, 60
BINS = (2, 3, 4, 5)  # of the facets, in turn; from 4 on they are in order, and searched from either end too
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def facets(codes: list[Ints]) -> list[Facet]:
    """A facet for each column of codes."""
    return [Facet(own, sets(int(own.max()) + 1)) for own in codes]


def sets(bins: int) -> NDArray[np.bool_]:
    """Every bin, and where there are four or more everything up to and from each edge on."""
    place = np.arange(bins)
    rows = [place == code for code in place]
    if bins >= 4:
        rows += [place < edge for edge in range(2, bins)] + [place >= edge for edge in range(1, bins - 1)]
    return np.array(rows)


def drawn(rng: np.random.Generator, size: int, columns: int) -> list[Ints]:
    """Columns of codes that have nothing to do with each other."""
    return [rng.integers(0, BINS[column % len(BINS)], size) for column in range(columns)]


def noise(kind: str, seed: int, size: int = SIZE, columns: int = 8) -> tuple[Floats, list[Facet], Ints | None]:
    """Values that have nothing to do with the facets: `usual` and `rare` failures, `hits` where most fail, `graded`
    scores with a long tail; `clustered`: clusters of 1 to 9 cases, half of the facets alike within them.
    """
    rng = np.random.default_rng([seed, size])
    codes, clusters = drawn(rng, size, columns), None
    if kind == "graded":
        return rng.beta(0.5, 3.0, size), facets(codes), None
    if kind == "clustered":
        lengths = rng.integers(1, 10, size)
        clusters = np.repeat(np.arange(size), lengths)[:size]
        codes = [own[clusters] if column % 2 else own for column, own in enumerate(codes)]
        hard = rng.beta(3.0, 1.0, size)[clusters]
        return (rng.random(size) < hard).astype(float), facets(codes), clusters.astype(np.int64)
    right = {"usual": 0.78, "rare": 0.97, "hits": 0.06}[kind]
    return (rng.random(size) < right).astype(float), facets(codes), clusters


def planted(seed: int, size: int = SIZE, columns: int = 8) -> tuple[Floats, list[Facet], NDArray[np.bool_]]:
    """Values right 78 % of the time, and 41 % in PLANTED cases: those of bin 0 of facet 1 and bins 3 up of facet 3."""
    rng = np.random.default_rng([seed, size, 1])
    codes = drawn(rng, size, columns)
    both = np.flatnonzero((codes[1] == 0) & (codes[3] >= 3))
    codes[3][both[PLANTED:]] = rng.integers(0, 3, len(both) - PLANTED)
    bad = (codes[1] == 0) & (codes[3] >= 3)
    return (rng.random(size) < np.where(bad, 0.41, 0.78)).astype(float), facets(codes), bad
