"""The leaderboard heatmap, in parts that fit the width of a page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from metrics.presentation.format import column_name, common_prefix, exact, interval, number, short_names
from metrics.presentation.palette import goodness_step, text_colour
from metrics.presentation.phrases import directed

if TYPE_CHECKING:
    from metrics.analysis import Cell, Column
    from metrics.presentation.blocks import Heatmap

ROOM, MOST = 126.0, 8  # millimetres for the columns of a part, and how many fit
WIDEST = 24.0
FEW_MODELS = 6  # up to which paper turns the heatmap
MANY_MODELS = 12  # from which on rows are set closely


@dataclass(frozen=True, slots=True)
class HeatmapCell:
    """A cell as it is written: the number, the small lines under it, the step of the scale (None: no colour)."""

    value: str
    small: tuple[str, ...]
    best: bool
    step: int | None
    hatched: bool

    def ink(self, colours: Sequence[str]) -> str:
        """Return the colour of the text; empty where the cell has no colour."""
        return "" if self.step is None else text_colour(colours[self.step])


@dataclass(frozen=True, slots=True)
class HeatmapPart:
    """A part of the heatmap: (evaluator, number of columns) above (metric, note) above a row a model.

    names: what the rows call the models, all of which begin with `prefix` where that is left out.
    """

    column_width: float  # millimetres
    close: bool
    groups: tuple[tuple[str, int], ...]
    columns: tuple[tuple[str, str], ...]
    rows: tuple[tuple[str, tuple[HeatmapCell, ...]], ...]
    names: Mapping[str, str]
    prefix: str


class MetricRow(NamedTuple):
    """A row of the heatmap turned: the evaluator if it differs from the row above, metric, note, a cell a model."""

    evaluator: str
    title: str
    note: str
    cells: tuple[HeatmapCell, ...]


def metric_rows(drawn: Heatmap) -> Iterator[MetricRow]:
    """Yield the heatmap turned, a row a metric: for few models it fits an upright page in one piece."""
    last = None
    for place, column in enumerate(drawn.columns):
        own = [row[place] for row in drawn.cells]
        n = _shared_n(own)
        evaluator, last = ("" if column.evaluator == last else column.evaluator_title), column.evaluator
        yield MetricRow(evaluator, *_head(column, n), tuple(_cell(cell, column, n) for cell in own))


def heatmap_parts(drawn: Heatmap) -> Iterator[HeatmapPart]:
    """Yield the heatmap in parts that fit an upright page, those of one evaluator together where they fit."""
    if not drawn.models or not drawn.columns:
        return
    parts = list(_parts([len(list(own)) for _, own in groupby(drawn.columns, key=lambda column: column.evaluator)]))
    width = min(WIDEST, ROOM / max(map(len, parts)))
    yield from (_part(drawn, places, width) for places in parts)


def _parts(sizes: Sequence[int]) -> Iterator[range]:
    """Yield the places of the columns of each part, from the number of columns of each evaluator."""
    start = end = 0
    for size in sizes:
        if end > start and end - start + size > MOST:
            yield range(start, end)
            start = end
        end += size
        while end - start > MOST:
            yield range(start, start + MOST)
            start += MOST
    if end > start:
        yield range(start, end)


def _part(drawn: Heatmap, places: range, width: float) -> HeatmapPart:
    columns = [drawn.columns[place] for place in places]
    shared = [_shared_n([row[place] for row in drawn.cells]) for place in places]
    groups = tuple((title, len(list(part))) for title, part in groupby(column.evaluator_title for column in columns))
    rows = tuple(
        (model, tuple(_cell(row[place], column, n) for place, column, n in zip(places, columns, shared, strict=True)))
        for model, row in zip(drawn.models, drawn.cells, strict=True)
    )
    prefix = common_prefix(drawn.models)
    return HeatmapPart(
        width, len(drawn.models) > MANY_MODELS, groups, tuple(map(_head, columns, shared)), rows,
        short_names(drawn.models, prefix=prefix), f"{prefix}…" if prefix else "",
    )  # fmt: skip


def _shared_n(cells: Sequence[Cell]) -> int | None:
    """Return the n of every cell that has a value; None where the cells differ."""
    found = {cell.n for cell in cells if cell.value is not None}
    return found.pop() if len(found) == 1 else None


def _head(column: Column, n: int | None) -> tuple[str, str]:
    notes = ["" if n is None else f"n {n:,}", column.limit]
    return directed(column_name(column), column.direction), " · ".join(filter(None, notes))


def _cell(cell: Cell, column: Column, shared: int | None) -> HeatmapCell:
    small = [interval(cell.low, cell.high)] if cell.value is not None else []
    if cell.value is not None and cell.n != shared:
        small.append(f"n {cell.n:,}")
    if cell.unscored:
        small.append(f"{cell.unscored:,} unscored")
    if cell.is_partial and cell.bounds:
        small.append(f"{interval(*cell.bounds)} with them")
    if cell.problem and column.threshold is not None:
        small.append(f"{'over' if column.direction == 'lower' else 'under'} {exact(column.threshold)}")
    lines = tuple(line for line in small if line)
    return HeatmapCell(number(cell.value), lines, cell.best, goodness_step(cell.goodness), cell.value is None)
