"""The charts of a report as figures: lines over the unit square, bars with intervals, confusion matrices."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from textwrap import wrap
from unicodedata import east_asian_width

from metrics.core.rounding import exact_sum
from metrics.presentation.blocks import Bars, Curve, Matrix, Radar
from metrics.presentation.chart_data.confusion_counts import cell_shares, full_share, right_cells
from metrics.presentation.format import number, shorten
from metrics.reports.renderers.figures import Figure, Label

WIDTH, WIDE = 250.0, 524.0  # units of a chart that takes half a page, and the whole of it
HEIGHT = 170.0  # of the square of lines
LEFT, RIGHT, BOTTOM = 34.0, 12.0, 30.0  # margins of a chart
LABEL_GAP = 11.0
NAMES, WIDE_NAMES, VALUES = 96.0, 190.0, 34.0  # room for the names of groups, and for the number behind a bar
NAME, WIDE_NAME = 22, 44  # characters of such a name
BAR, GAP = 8.0, 7.0
MOST_BARS = 48  # in half the width
SPOKE, SPOKE_NAME = 74.0, 30  # of a radar: its length, and the characters of a line of its name
DASHES = ("none", "5 3", "1.5 2.5", "5 2 1 2", "8 3", "8 2 1 2")  # of lines, one a model
CELL, LEAST_CELL, DEEP = 38.0, 11.0, 22.0
WIDE_FROM = 14  # columns of a confusion matrix
APART = 5.0  # between the labels of a matrix and its margins
DARK = 0.55  # share from which the number has the colour of the page


@dataclass(frozen=True, slots=True)
class Inks:
    """The CSS colours of a renderer: text, page and lines, right and wrong cells; models without one are drawn grey.

    names: the short names of models, which are written in full without one.
    """

    ink: str
    muted: str
    line: str
    surface: str
    right: str
    wrong: str
    models: Mapping[str, str]
    names: Mapping[str, str] = field(default_factory=dict)

    def name(self, model: str, limit: int) -> str:
        """Return what a chart calls a model, in at most `limit` characters."""
        return shorten(self.names.get(model, model), limit)


def plot(chart: Curve | Bars | Radar | Matrix, inks: Inks) -> Figure:
    """Return the figure of a chart."""
    if isinstance(chart, Curve):
        return _lines(chart, inks)
    if isinstance(chart, Radar):
        return _radar(chart, inks)
    return _bars(chart, inks) if isinstance(chart, Bars) else _matrix(chart, inks)


def _lines(curve: Curve, inks: Inks) -> Figure:
    """Return grid, axes and a line per model, named above; whiskers and dots where there are intervals."""
    named = [series.model for series in curve.series if series.model in inks.models]
    grey = len(curve.series) - len(named)
    shapes, labels, top = ([], [], 8.0) if len(curve.series) == 1 else _legend(named, inks, lines=True, grey=grey)
    right, bottom = WIDTH - RIGHT, top + HEIGHT

    def x_of(value: float) -> float:
        return LEFT + (value - start) / (end - start) * (right - LEFT)

    def y_of(value: float) -> float:
        return bottom - (value - start) / (end - start) * (bottom - top)

    start, end = curve.ticks[0], curve.ticks[-1]
    for tick in curve.ticks:
        stroke = f"stroke:{inks.muted if tick == start else inks.line};stroke-width:{0.8 if tick == start else 0.5}"
        shapes.append(f'<path d="M{x_of(tick):.1f} {top}V{bottom}M{LEFT} {y_of(tick):.1f}H{right}" style="{stroke}"/>')
        labels.append(Label(x_of(tick), bottom + 12, f"{tick:g}", align="middle", size=7))
        labels.append(Label(LEFT - 4, y_of(tick) + 2.5, f"{tick:g}", align="end", size=7))
    labels.append(Label((LEFT + right) / 2, bottom + BOTTOM - 4, curve.x_title, align="middle"))
    labels.append(Label(9, (top + bottom) / 2, curve.y_title, align="middle", turned=True))
    if curve.diagonal:
        style = f"stroke:{inks.muted};stroke-width:0.8;stroke-dasharray:2 3"
        shapes.append(f'<path d="M{LEFT} {bottom}L{right} {top}" style="{style}"/>')
    for series in curve.series:
        colour = inks.models.get(series.model, inks.line)
        points = [(x_of(x), y_of(y)) for x, y in series.points]
        if curve.dots:
            style = f"fill:{colour};fill-opacity:0.55"
            shapes += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="1.6" style="{style}"/>' for x, y in points]
        if curve.dots or not points:
            continue
        thickness = 0.8 if series.model not in inks.models or series.spans else 1.6
        path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
        style = f"fill:none;stroke:{colour};stroke-width:{thickness};stroke-linejoin:round{_dash(series.model, inks)}"
        shapes.append(f'<path d="{path}" style="{style}"/>')
        for x, low, high in series.spans:
            across = f"M{x_of(x) - 2:.1f} {y_of(low):.1f}h4M{x_of(x) - 2:.1f} {y_of(high):.1f}h4"
            whisker = f"M{x_of(x):.1f} {y_of(low):.1f}V{y_of(high):.1f}{across}"
            shapes.append(f'<path d="{whisker}" style="stroke:{colour};stroke-width:0.8"/>')
        for x, y in points if series.spans or len(points) == 1 else []:
            shapes.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5" style="fill:{colour}"/>')
        if series.mark is not None and series.model in inks.models:
            x, y = x_of(series.mark[0]), y_of(series.mark[1])
            style = f"fill:{colour};stroke:{inks.surface};stroke-width:1"
            shapes.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" style="{style}"/>')
            labels.append(Label(x, max(top + 6, y - 6), f"{series.mark[0]:.2f}", colour, "middle", 7))
    about = f"{curve.y_title} over {curve.x_title} of {', '.join(named)}"
    return Figure(WIDTH, bottom + BOTTOM, "".join(shapes), tuple(labels), about)


def _bars(chart: Bars, inks: Inks) -> Figure:
    """Return horizontal bars in groups with intervals, the number behind each, the models named above."""
    crowded = len(chart.groups) * len(chart.models) > MOST_BARS
    wide = crowded or any(len(group.name) > NAME for group in chart.groups)
    width, left, longest = (WIDE, WIDE_NAMES, WIDE_NAME) if wide else (WIDTH, NAMES, NAME)
    shapes, labels, top = _legend(chart.models, inks, width)
    right = width - VALUES
    deep = BAR * max(1, len(chart.models))
    bottom = top + (deep + GAP) * len(chart.groups)
    ends = [end for group in chart.groups for bar in group.bars for end in (bar.value, bar.high) if end is not None]
    most = chart.high or max([*ends, 1e-6])

    def x_of(value: float) -> float:
        return left + min(1.0, max(0.0, value / most)) * (right - left)

    for tick in _ticks(most):
        stroke = f"stroke:{inks.muted if tick == 0 else inks.line};stroke-width:{0.8 if tick == 0 else 0.5}"
        shapes.append(f'<path d="M{x_of(tick):.1f} {top - 2:.1f}V{bottom:.1f}" style="{stroke}"/>')
        labels.append(Label(x_of(tick), bottom + 9, f"{tick:g}", align="middle", size=7))
    for place, group in enumerate(chart.groups):
        y = top + GAP / 2 + place * (deep + GAP)
        labels.append(Label(left - 5, y + deep / 2 + 2.5, shorten(group.name, longest), inks.ink, "end", 7.5))
        for bar in group.bars:
            if bar.value is not None:
                colour, middle = inks.models.get(bar.model, inks.line), y + BAR / 2
                size = f'width="{x_of(bar.value) - left:.1f}" height="{BAR - 1:.1f}"'
                shapes.append(f'<rect x="{left}" y="{y:.1f}" {size} style="fill:{colour};fill-opacity:0.8"/>')
                far = bar.value
                if bar.low is not None and bar.high is not None:
                    far = max(far, bar.high)
                    low, high = x_of(bar.low), x_of(bar.high)
                    ticks = f"M{low:.1f} {middle - 1.5:.1f}v3M{high:.1f} {middle - 1.5:.1f}v3"
                    style = f"stroke:{inks.ink};stroke-width:0.7"
                    shapes.append(f'<path d="M{low:.1f} {middle:.1f}H{high:.1f}{ticks}" style="{style}"/>')
                labels.append(Label(x_of(far) + 4, middle + 2, number(bar.value), size=7))
            y += BAR
    return Figure(width, bottom + 14, "".join(shapes), tuple(labels), f"{chart.title}: {', '.join(chart.models)}")


def _radar(chart: Radar, inks: Inks) -> Figure:
    """Return a closed line per model over spokes from worst (centre) to best (rim); dashes distinguish models too."""
    shapes, labels, top = _legend(chart.models, inks, WIDE, lines=True)
    across, down = WIDE / 2, top + SPOKE + 26

    def place(index: int, share: float) -> tuple[float, float]:
        angle = 2 * math.pi * index / len(chart.spokes)
        return across + SPOKE * share * math.sin(angle), down - SPOKE * share * math.cos(angle)

    for share in (0.25, 0.5, 0.75, 1.0):
        ring = "L".join("{:.1f} {:.1f}".format(*place(index, share)) for index in range(len(chart.spokes)))
        shapes.append(f'<path d="M{ring}Z" style="fill:none;stroke:{inks.line};stroke-width:0.6"/>')
    for index, name in enumerate(chart.spokes):
        x, y = place(index, 1.0)
        shapes.append(f'<path d="M{across} {down}L{x:.1f} {y:.1f}" style="stroke:{inks.line};stroke-width:0.6"/>')
        x, y = place(index, 1.09)
        align = "middle" if abs(x - across) < 12 else "start" if x > across else "end"
        lines = wrap(name, SPOKE_NAME, max_lines=2, placeholder="…")
        first = y + 3 - (8 if y < down else 0) * (len(lines) - 1)
        labels += [Label(x, first + 8 * place, line, inks.ink, align, 7) for place, line in enumerate(lines)]
    labels.append(Label(across + 3, down - SPOKE * 0.5 + 2, "½", size=6.5))
    for model, values in zip(chart.models, chart.values, strict=True):
        colour = inks.models.get(model, inks.line)
        points = [None if value is None else place(index, value) for index, value in enumerate(values)]
        style = f"stroke:{colour};stroke-width:1.6{_dash(model, inks)}"
        for one, other in zip(points, [*points[1:], points[0]], strict=True):
            if one is not None and other is not None:
                line = f"M{one[0]:.1f} {one[1]:.1f}L{other[0]:.1f} {other[1]:.1f}"
                shapes.append(f'<path d="{line}" style="{style}"/>')
        dots = (point for point in points if point is not None)
        shapes += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2" style="fill:{colour}"/>' for x, y in dots]
    return Figure(WIDE, down + SPOKE + 26, "".join(shapes), tuple(labels), f"{chart.title}: {', '.join(chart.models)}")


def _legend(
    models: Sequence[str], inks: Inks, width: float = WIDTH, *, lines: bool = False, grey: int = 0
) -> tuple[list[str], list[Label], float]:
    """Return signs and names of the models in their colours, in as many rows as needed, and the height where these end.

    lines: the sign is a piece of the model's line, else a square; grey: how many more models are drawn in grey.
    """
    shapes: list[str] = []
    labels: list[Label] = []
    x, y = 0.0, 9.0
    for model in [*models, *([f"grey: {grey} more"] if grey else [])]:
        text, colour = inks.name(model, 26), inks.models.get(model, inks.line)
        long = 18 + _length(text, 7.5) + 10
        if labels and x + long > width:
            x, y = 0.0, y + LABEL_GAP
        if lines:
            style = f"stroke:{colour};stroke-width:1.6{_dash(model, inks)}"
            shapes.append(f'<path d="M{x:.1f} {y - 2.5:.1f}h15" style="{style}"/>')
        else:
            shapes.append(f'<rect x="{x + 8:.1f}" y="{y - 6:.1f}" width="7" height="7" style="fill:{colour}"/>')
        labels.append(Label(x + 18, y, text, inks.ink, size=7.5))
        x += long
    return shapes, labels, y + 8


def _dash(model: str, inks: Inks) -> str:
    """Return the style of a model's line, so that colour is not all that tells it from others."""
    place = list(inks.models).index(model) if model in inks.models else 0
    return f";stroke-dasharray:{DASHES[place % len(DASHES)]}"


def _ticks(most: float) -> list[float]:
    """Return three to five round numbers from 0 to `most`."""
    step = next(
        step for power in range(-6, 7) for step in (10.0**power, 2.5 * 10.0**power, 5 * 10.0**power) if most / step <= 4
    )
    return [round(step * index, 9) for index in range(int(most / step + 1e-9) + 1)]


def _matrix(chart: Matrix, inks: Inks) -> Figure:
    """Return true labels down, predicted ones across, each cell shaded by its share; mistakes in another colour."""
    inner = len(chart.columns) - chart.margins
    width = WIDE if len(chart.columns) > WIDE_FROM else WIDTH
    names = max(_length(shorten(name, 16), 7) for name in (*chart.rows, *chart.columns)) + 8
    side = max(LEAST_CELL, min(CELL, (width - names - 14 - APART) / len(chart.columns)))
    low = min(side, DEEP)
    left, top = names + 12, names + 12
    shares, right_ones = cell_shares(chart.counts, chart.margins), right_cells(chart.rows, chart.columns)
    full = full_share(shares, right_ones)

    def x_of(column: int) -> float:
        return left + column * side + (APART if chart.margins and column >= inner else 0)

    def y_of(row: int) -> float:
        return top + row * low + (APART if chart.margins and row >= len(chart.rows) - 1 else 0)

    shapes: list[str] = []
    labels = [
        Label(left + side * inner / 2, 7, "predicted", align="middle"),
        Label(7, top + low * inner / 2, "true", align="middle", turned=True),
    ]
    for i, name in enumerate(chart.rows):
        y = y_of(i)
        labels.append(Label(left - 4, y + low / 2 + 2.5, shorten(name, 16), inks.ink, "end", 7))
        for j, count in enumerate(chart.counts[i]):
            if chart.margins and i == len(chart.rows) - 1 and j == len(chart.columns) - 1:
                continue  # no object and no prediction
            x, right = x_of(j), right_ones[i][j]
            depth = shares[i][j] if right else shares[i][j] / full
            colour = inks.right if right else inks.wrong
            fill = (
                f"fill:{colour};fill-opacity:{max(0.04, depth):.2f}" if count else f"fill:{inks.line};fill-opacity:0.35"
            )
            size = f'width="{side - 1:.1f}" height="{low - 1:.1f}"'
            shapes.append(f'<rect x="{x:.1f}" y="{y:.1f}" {size} style="{fill}"/>')
            if count:
                ink = inks.surface if depth > DARK else inks.ink
                text = f"{count:,}" if len(f"{count:,}") * 3.9 < side else number(count)
                labels.append(Label(x + (side - 1) / 2, y + low / 2 + 2, text, ink, "middle", 6.5))
    for j, name in enumerate(chart.columns):
        labels.append(Label(x_of(j) + side / 2 + 2, top - 4, shorten(name, 16), inks.ink, "start", 7, turned=True))
    right_edge, bottom = x_of(len(chart.columns)) + 2, y_of(len(chart.rows)) + 2
    return Figure(max(width, right_edge), bottom, "".join(shapes), tuple(labels), f"confusion matrix, {chart.title}")


def _length(text: str, size: float) -> float:
    """Return the approximate width of a text, in units."""
    return exact_sum(1.0 if east_asian_width(letter) in "WF" else 0.56 for letter in text) * size


def is_wide(figure: Figure) -> bool:
    """Return whether a figure takes the whole width of a page."""
    return figure.width > WIDTH + 1
