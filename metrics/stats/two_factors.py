"""Two crossed factors on the same cases, such as model and prompt: main effects and interaction of the cells' means.

Every case is in every cell of the grid, as in a within-subject (repeated-measures) two-way design. An effect is a
contrast: one sum over the cells with weights that sum to 0, taken case by case, so that each is tested by the paired
test and interval of two models, with the case's own difficulty gone and an error of its own; no sphericity is assumed.
Source: Maxwell, Delaney & Kelley, Designing Experiments and Analyzing Data, 3rd ed. 2018, ch. 12 and 14.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, NamedTuple

import numpy as np

from metrics.core.array_types import Bools, Floats, Ints
from metrics.core.rounding import EQUAL
from metrics.stats.intervals import percentiles
from metrics.stats.paired_intervals import agreeing, difference_intervals, resample_interval
from metrics.stats.paired_tests import paired_tests, resample_tests

Kind = Literal["row", "column", "interaction"]
CELLS = 1 << 22  # contrasts held at once: contrasts × cases
MAX_SETS = 1 << 12  # of columns that are looked at for a complete grid


class Contrast(NamedTuple):
    """An effect in a grid of a rows and b columns: Σ weights·cells, weights [a, b] with the sum 0.

    row, column: the mean of level `other` less that of level `one`, every level of the other factor with equal weight.
    interaction: the difference of differences of a 2 × 2 grid; of a larger one how far the cell at row `one` and column
    `other` lies from the sum of its row and column.
    """

    kind: Kind
    one: int
    other: int
    weights: Floats


def grid_contrasts(rows: int, columns: int) -> list[Contrast]:
    """Return the effects of a grid of at least 2 × 2 cells: each pair of rows, each pair of columns, the interaction.

        row:          Σ_k (μ_jk − μ_ik) / b                column: the same with the factors swapped
        interaction:  (μ_11 − μ_10) − (μ_01 − μ_00)        of 2 × 2 cells
                      μ_jk − μ_j. − μ_.k + μ_..            of more; of two levels one is left out, the other's mirror

    All are 0 where the factors are additive; one that is not shows an interaction.

    >>> [(one.kind, one.weights.tolist()) for one in grid_contrasts(2, 2)][-1]
    ('interaction', [[1.0, -1.0], [-1.0, 1.0]])
    """
    by_row, by_column = np.eye(rows) - 1 / rows, np.eye(columns) - 1 / columns
    full_row, full_column = np.full(rows, 1 / rows), np.full(columns, 1 / columns)
    scale = 4.0 if rows == columns == 2 else 1.0
    return [
        *(Contrast("row", i, j, np.outer(by_row[j] - by_row[i], full_column)) for i, j in combinations(range(rows), 2)),
        *(
            Contrast("column", i, j, np.outer(full_row, by_column[j] - by_column[i]))
            for i, j in combinations(range(columns), 2)
        ),
        *(
            Contrast("interaction", j, k, scale * np.outer(by_row[j], by_column[k]))
            for j in range(rows == 2, rows)
            for k in range(columns == 2, columns)
        ),
    ]


@dataclass(frozen=True, eq=False, slots=True)
class Effects:
    """What m contrasts come to, every array [m]: the value with its 95 % interval, its standard error and its p.

    low, high, error: NaN with fewer than two units. p: two-sided, of no effect, before any correction; differs: whether
    it could be below 1, as some unit is other than 0.
    """

    value: Floats
    low: Floats
    high: Floats
    error: Floats
    p: Floats
    differs: Bools


def effects_of_cases(
    values: Floats,
    contrasts: Sequence[Contrast],
    weights: Floats | None = None,
    clusters: Ints | None = None,
    widest: float = np.inf,
) -> Effects:
    """Return the effects of contrasts from `values` [n, a, b], all there: n cases in the cells of the grid.

    weights: [n]; clusters: [n] codes; widest: how far two values of a cell can be apart. Tests and intervals are those
    of two models, see paired_tests and difference_intervals, of the contrast of each case.
    """
    matrix = np.stack([one.weights for one in contrasts])
    step = max(1, CELLS // max(1, len(values)))
    parts = []
    for start in range(0, len(matrix), step):
        own = matrix[start : start + step]
        scores = np.tensordot(values, own, ([1, 2], [1, 2]))
        scores[np.abs(scores) <= EQUAL] = 0.0
        found = paired_tests(scores, weights, clusters)
        ends = np.stack(difference_intervals(scores, weights, clusters, _reach(own, widest)))
        low, high = agreeing(ends, found.difference, found.p)
        parts.append((found.difference, low, high, found.error, found.p, (scores != 0).any(axis=0)))
    return Effects(*(np.concatenate(part) for part in zip(*parts, strict=True)))


def effects_of_resamples(
    values: Floats, samples: Floats, contrasts: Sequence[Contrast], widest: float = np.inf, quantile: bool = False
) -> Effects:
    """Return the effects of contrasts of numbers of the whole data set: `values` [a, b] and `samples` [a, b, B].

    All cells are computed on the same B resamples of the cases; NaN: one without a value. Tests and intervals are those
    of two models, see resample_tests and resample_interval; quantile: percentiles of the resamples instead.
    """
    matrix = np.stack([one.weights for one in contrasts])
    value, moved = np.tensordot(matrix, values, 2), np.tensordot(matrix, samples, 2)
    p, reach = resample_tests(value, moved), _reach(matrix, widest)
    ends, error = np.full((2, len(matrix)), np.nan), np.full(len(matrix), np.nan)
    for place, own in enumerate(moved):
        known = own[~np.isnan(own)]
        if len(known):
            ends[:, place] = percentiles(known) if quantile else resample_interval(float(value[place]), known)
            error[place] = known.std()
    low, high = agreeing(np.clip(ends, -reach, reach), value, p)
    differs = (np.abs(value) > EQUAL) | (np.abs(moved) > EQUAL).any(axis=1)
    return Effects(value, low, high, error, p, differs)


def _reach(matrix: Floats, widest: float) -> Floats:
    """Return how far from 0 each contrast [m, a, b] can be: Σ |weight| / 2 times the range of a value."""
    return np.asarray(np.abs(matrix).sum(axis=(1, 2)) / 2 * widest, np.float64)


def complete_grid(cells: Collection[tuple[str, str]]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the rows and the columns of the largest grid of 2 × 2 or more of which every cell is there; none: empty.

    Of grids of one size the one that comes first in the order of the cells; so do its rows and columns.

    >>> complete_grid([("a", "x"), ("a", "y"), ("b", "x"), ("b", "y"), ("c", "x")])
    (('a', 'b'), ('x', 'y'))
    """
    order = list(dict.fromkeys(column for _, column in cells))
    of_row: dict[str, frozenset[str]] = {}
    for row, column in cells:
        of_row[row] = of_row.get(row, frozenset()) | {column}
    sets: dict[frozenset[str], None] = {}  # the sets of columns that one or more rows have in common
    for own in of_row.values():
        sets |= dict.fromkeys([own, *(own & one for one in sets)][: MAX_SETS - len(sets)])
    grids = [([row for row, own in of_row.items() if columns <= own], columns) for columns in sets]
    rows, columns = max(
        (grid for grid in grids if min(map(len, grid)) > 1),
        key=lambda grid: len(grid[0]) * len(grid[1]),
        default=([], frozenset[str]()),
    )
    return tuple(rows), tuple(column for column in order if column in columns)
