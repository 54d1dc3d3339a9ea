"""The leaderboard heatmap cut into leaves that fit a page."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import ceil

from metrics.presentation.phrases import directed
from metrics.presentation.style import goodness_step, interval, number, text_colour
from metrics.reports.report import Cell, Column, Report

PORTRAIT, LANDSCAPE = (140.0, 8), (227.0, 12)  # millimetres for the columns, and how many fit
FEW_MODELS = 12  # with no more than that, leaves are stacked on upright pages
WIDEST = 24.0


@dataclass(frozen=True, slots=True)
class HeatCell:
    """A cell as written: the number, the small lines under it, the step of the scale (None: no colour)."""

    value: str
    small: tuple[str, ...]
    best: bool
    step: int | None
    hatched: bool

    def ink(self, colours: Sequence[str]) -> str:
        """Return the colour of the text on the cell's own; empty where the cell has none."""
        return "" if self.step is None else text_colour(colours[self.step])


@dataclass(frozen=True, slots=True)
class Leaf:
    """A part of the heatmap: (evaluator, number of columns) above (metric, note) above a row a model."""

    landscape: bool
    column_width: float  # millimetres
    groups: tuple[tuple[str, int], ...]
    columns: tuple[tuple[str, str], ...]
    rows: tuple[tuple[str, tuple[HeatCell, ...]], ...]


def heat_leaves(report: Report) -> Iterator[Leaf]:
    """Yield the heatmap in leaves of equal width, upright where it fits or the models are few."""
    total = len(report.columns)
    if total == 0 or not report.models:
        return
    landscape = total > PORTRAIT[1] and len(report.models) > FEW_MODELS
    room, most = LANDSCAPE if landscape else PORTRAIT
    leaves = ceil(total / most)
    size = ceil(total / leaves)
    for start in range(0, total, size):
        yield _leaf(report, range(start, min(start + size, total)), landscape, min(WIDEST, room / size))


def whole_leaf(report: Report) -> Leaf | None:
    """Return the heatmap uncut, for a page that scrolls; None where it is empty."""
    if not report.columns or not report.models:
        return None
    return _leaf(report, range(len(report.columns)), False, WIDEST)


def _leaf(report: Report, places: range, landscape: bool, width: float) -> Leaf:
    columns = [report.columns[place] for place in places]
    shared = [_shared_n([row[place] for row in report.cells]) for place in places]
    groups = tuple((title, len(list(part))) for title, part in groupby(column.evaluator_title for column in columns))
    rows = tuple(
        (model, tuple(_cell(row[place], column, n) for place, column, n in zip(places, columns, shared, strict=True)))
        for model, row in zip(report.models, report.cells, strict=True)
    )
    return Leaf(landscape, width, groups, tuple(map(_head, columns, shared)), rows)


def _shared_n(cells: Sequence[Cell]) -> int | None:
    """Return what n is in every cell that has a value; None where the cells differ."""
    found = {cell.n for cell in cells if cell.value is not None}
    return found.pop() if len(found) == 1 else None


def _head(column: Column, n: int | None) -> tuple[str, str]:
    notes = [] if n is None else [f"n {n:,}"]
    if column.threshold is not None and column.direction != "none":
        notes.append(f"{'≤' if column.direction == 'lower' else '≥'} {column.threshold:g}")
    return directed(column.title, column.direction), " · ".join(notes)


def _cell(cell: Cell, column: Column, shared: int | None) -> HeatCell:
    small = [interval(cell.low, cell.high)] if cell.value is not None else []
    if cell.value is not None and cell.n != shared:
        small.append(f"n {cell.n:,}")
    if cell.unscored:
        small.append(f"{cell.unscored:,} unscored")
    if cell.problem and column.threshold is not None:
        small.append(f"{'over' if column.direction == 'lower' else 'under'} {column.threshold:g}")
    lines = tuple(line for line in small if line)
    return HeatCell(number(cell.value), lines, cell.best, goodness_step(cell.goodness), cell.value is None)
