"""The leaderboard heatmap, cut into parts that fit a page."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import ceil

from metrics.presentation.format import interval, number
from metrics.presentation.palette import goodness_step, text_colour
from metrics.presentation.phrases import directed, limit
from metrics.reports.report import Cell, Column, Report

PORTRAIT, LANDSCAPE = (140.0, 8), (227.0, 12)  # millimetres for the columns, and how many fit
FEW_MODELS = 12  # with no more than that, the parts are stacked on upright pages
WIDEST = 24.0


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
class HeatmapPage:
    """A part of the heatmap: (evaluator, number of columns) above (metric, note) above a row a model."""

    landscape: bool
    column_width: float  # millimetres
    groups: tuple[tuple[str, int], ...]
    columns: tuple[tuple[str, str], ...]
    rows: tuple[tuple[str, tuple[HeatmapCell, ...]], ...]


def heatmap_pages(report: Report) -> Iterator[HeatmapPage]:
    """Yield the heatmap in parts of equal width, upright where it fits or the models are few."""
    total = len(report.columns)
    if total == 0 or not report.models:
        return
    landscape = total > PORTRAIT[1] and len(report.models) > FEW_MODELS
    room, most = LANDSCAPE if landscape else PORTRAIT
    size = ceil(total / ceil(total / most))
    for start in range(0, total, size):
        yield _page(report, range(start, min(start + size, total)), landscape, min(WIDEST, room / size))


def whole_heatmap(report: Report) -> HeatmapPage | None:
    """Return the whole heatmap, for a page that scrolls; None where it is empty."""
    if not report.columns or not report.models:
        return None
    return _page(report, range(len(report.columns)), False, WIDEST)


def _page(report: Report, places: range, landscape: bool, width: float) -> HeatmapPage:
    columns = [report.columns[place] for place in places]
    shared = [_shared_n([row[place] for row in report.cells]) for place in places]
    groups = tuple((title, len(list(part))) for title, part in groupby(column.evaluator_title for column in columns))
    rows = tuple(
        (model, tuple(_cell(row[place], column, n) for place, column, n in zip(places, columns, shared, strict=True)))
        for model, row in zip(report.models, report.cells, strict=True)
    )
    return HeatmapPage(landscape, width, groups, tuple(map(_head, columns, shared)), rows)


def _shared_n(cells: Sequence[Cell]) -> int | None:
    """Return the n of every cell that has a value; None where the cells differ."""
    found = {cell.n for cell in cells if cell.value is not None}
    return found.pop() if len(found) == 1 else None


def _head(column: Column, n: int | None) -> tuple[str, str]:
    notes = ["" if n is None else f"n {n:,}", limit(column.threshold, column.direction)]
    return directed(column.title, column.direction), " · ".join(filter(None, notes))


def _cell(cell: Cell, column: Column, shared: int | None) -> HeatmapCell:
    small = [interval(cell.low, cell.high)] if cell.value is not None else []
    if cell.value is not None and cell.n != shared:
        small.append(f"n {cell.n:,}")
    if cell.unscored:
        small.append(f"{cell.unscored:,} unscored")
    if cell.problem and column.threshold is not None:
        small.append(f"{'over' if column.direction == 'lower' else 'under'} {column.threshold:g}")
    lines = tuple(line for line in small if line)
    return HeatmapCell(number(cell.value), lines, cell.best, goodness_step(cell.goodness), cell.value is None)
