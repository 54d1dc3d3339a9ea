"""Alignment: worked tables, and every small case against all alignments there are."""

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, strategies as st

from metrics.text.overlap.edits import Aligned, align
from metrics.text.overlap.similarity import Floats


def every(rows: int, columns: int, row: int = 0, column: int = 0) -> Iterator[Aligned]:
    """All alignments of `rows` items with `columns` others, in order."""
    if row == rows and column == columns:
        yield []
        return
    if row < rows and column < columns:
        yield from ([(row, column), *rest] for rest in every(rows, columns, row + 1, column + 1))
    if row < rows:
        yield from ([(row, None), *rest] for rest in every(rows, columns, row + 1, column))
    if column < columns:
        yield from ([(None, column), *rest] for rest in every(rows, columns, row, column + 1))


def cost(pairs: Aligned, table: Floats, threshold: float) -> tuple[int, float]:
    """Edits, and the sum of similarities with its sign turned."""
    both = [(row, column) for row, column in pairs if row is not None and column is not None]
    mismatches = sum(table[pair] < threshold for pair in both)
    return int(len(pairs) - len(both) + mismatches), -float(sum(table[pair] for pair in both))


@st.composite
def tables(draw: st.DrawFn) -> Floats:
    rows, columns = draw(st.integers(0, 4)), draw(st.integers(0, 4))
    cells = st.sampled_from([-1.0, -0.2, 0.0, 0.3, 0.5, 0.7, 0.9, 1.0]) | st.floats(-1, 1, width=32)
    return np.array([[draw(cells) for _ in range(columns)] for _ in range(rows)]).reshape(rows, columns)


@given(table=tables(), threshold=st.sampled_from([-0.5, 0.0, 0.5, 0.7, 1.0]))
def test_no_alignment_has_fewer_edits_or_is_more_alike(table: Floats, threshold: float) -> None:
    found = align(table, threshold)
    edits, unlike = cost(found, table, threshold - 1e-9)
    best = min(cost(pairs, table, threshold - 1e-9) for pairs in every(*table.shape))
    assert (edits, unlike) == (best[0], pytest.approx(best[1], abs=1e-5))


@given(table=tables(), threshold=st.floats(-1, 1))
def test_every_item_stands_once_and_in_order(table: Floats, threshold: float) -> None:
    pairs = align(table, threshold)
    assert [row for row, _ in pairs if row is not None] == list(range(table.shape[0]))
    assert [column for _, column in pairs if column is not None] == list(range(table.shape[1]))
    assert cost(pairs, table, threshold - 1e-9)[0] <= max(table.shape)
