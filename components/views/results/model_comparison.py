"""Two models beside each other: the forest of differences, and one metric in words."""

import math
import textwrap
from collections.abc import Mapping, Sequence

from components.charts.figure_parts import Figure, plain, undimmed
from metrics.analysis import Column, Difference, Resampled
from metrics.presentation import format
from metrics.presentation.palette import ACCENT, INK, MUTED, SURFACE, series
from metrics.presentation.phrases import signed
from metrics.presentation.questions.is_it_better import CORRECTIONS, metric_label

Row = Difference | Resampled

KINDS = {"losses": "Regressions", "wins": "Wins", "ties": "Ties"}
PLAIN_KINDS = {"losses": "A higher", "wins": "B higher", "ties": "Equal"}  # of a metric without a better end
SIDES = (158, 114)  # pixels left and right of the forest, for names and values in two lines each
MARGINS = (22, 42)  # above and below it
GAP = 72  # between its panels
ROW = 32  # pixels a metric
LINE = 24  # characters of a name in one line beside the forest
LABEL_ROOM = 0.08  # of the axis, kept free beyond the outermost interval


def two_lines(column: Column) -> str:
    """Return a metric's name for the forest: the evaluator above the metric, or one name in two lines."""
    name = format.column_name(column)
    lines = [format.shorten(column.evaluator_title, LINE), format.shorten(name, LINE - 2)]
    if name.startswith(column.evaluator_title):
        lines = textwrap.wrap(format.shorten(name, 2 * LINE - 4), LINE)
    return "<br>".join(map(plain, lines)) + f" {format.ARROWS[column.direction]}".rstrip()


def toward_b(row: Row) -> tuple[float, float, float] | None:
    """Return (low, difference, high) with what makes B better above 0; None if it cannot be drawn."""
    if row.better is None or row.difference is None or row.low is None or row.high is None or not unit_of(row):
        return None
    ends = row.low, row.difference, row.high
    return (-ends[2], -ends[1], -ends[0]) if row.column.direction == "lower" else ends


def unit_of(row: Row) -> float:
    """Return in what the forest draws a difference: in itself, or in A's mean if the metric's range is open."""
    return abs(row.a or 0.0) if math.isinf(_span(row)) else 1.0


def _span(row: Row) -> float:
    """Return how long the axis is that metrics share: 2 for all whose range is at most that, else their own range."""
    return max(2.0, row.column.high - row.column.low)


def forest(rows: Sequence[Row], dark: bool = False, margins: Mapping[str, float] | None = None) -> Figure:
    """Differences with 95 % intervals around a zero line, right: B better; ranges of another size in another panel.

    What is drawn is what is written beside it; of open ranges, the per cent of A's mean beside it. A filled marker is
    significant after the correction, a hollow one is not. Points carry [key] as customdata. margins: allowed losses by
    column key, drawn as dotted ticks.
    """
    from plotly.subplots import make_subplots

    drawn = [(row, ends) for row in rows if (ends := toward_b(row)) is not None]
    panels = [[pair for pair in drawn if _span(pair[0]) == span] for span in sorted({_span(row) for row, _ in drawn})]
    figure = make_subplots(
        rows=max(1, len(panels)), cols=1, row_heights=[len(part) + 1 for part in panels] or None,
        vertical_spacing=GAP / (GAP + ROW * (len(drawn) + 2)),
    )  # fmt: skip
    for line, part in enumerate(panels, 1):
        _panel(figure, line, part, dark, margins or {})
    figure.update_layout(
        height=ROW * (len(drawn) + len(panels)) + GAP * (len(panels) - 1) + sum(MARGINS),
        margin=dict(zip("lrtb", (*SIDES, *MARGINS), strict=True)),
    )
    return figure


def _panel(
    figure: Figure,
    line: int,
    part: Sequence[tuple[Row, tuple[float, float, float]]],
    dark: bool,
    margins: Mapping[str, float],
) -> None:
    place = {"row": line, "col": 1}
    is_relative = math.isinf(_span(part[0][0]))
    losses = {
        y: -margins[row.column.key] / unit_of(row) for y, (row, _) in enumerate(part) if row.column.key in margins
    }
    heights = list(range(len(part)))
    for y, (row, ends) in zip(heights, part, strict=True):
        low, middle, high = (end / unit_of(row) for end in ends)
        colour = _colour(row.significance, middle, dark)
        figure.add_scatter(
            x=[low, high], y=[y, y], mode="lines", line={"color": colour, "width": 2}, hoverinfo="skip", **place
        )
        if y in losses:
            figure.add_scatter(
                x=[losses[y]] * 2, y=[y - 0.36, y + 0.36], mode="lines", hoverinfo="skip",
                line={"color": INK[dark], "width": 1.5, "dash": "dot"}, **place,
            )  # fmt: skip
        certain = row.significance in ("better", "worse")
        drawn = f" ({100 * middle:+.0f} %)" if is_relative else ""
        figure.add_scatter(
            x=[middle], y=[y], mode="markers", customdata=[[row.column.key]],
            marker={
                "size": 10, "color": colour if certain else SURFACE[dark], "line": {"color": colour, "width": 2},
                "symbol": "diamond" if certain else "circle",
            },
            hovertemplate=_hover(row), **undimmed(), **place,
        )  # fmt: skip
        figure.add_annotation(
            x=1, xref="x domain" if line == 1 else f"x{line} domain", y=y, yref="y" if line == 1 else f"y{line}",
            text=f"<b>{signed(row.better)}{drawn}</b><br>{format.interval(ends[0], ends[2])}", showarrow=False,
            align="left", xanchor="left", xshift=4, font={"size": 11, "color": colour if certain else INK[dark]},
        )  # fmt: skip
    low = min(0.0, *(ends[0] / unit_of(row) for row, ends in part), *losses.values())
    high = max(0.0, *(ends[2] / unit_of(row) for row, ends in part))
    least = 0.22 * (high - low)  # both sides of zero stay visible
    low, high = min(low, -least), max(high, least)
    room = LABEL_ROOM * (high - low)
    for text, x, anchor in (("◀ A better", low - room, "left"), ("B better ▶", high + room, "right")):
        figure.add_annotation(
            x=x, y=-0.5, text=text, showarrow=False, xanchor=anchor, yanchor="bottom", yshift=1,
            font={"size": 12, "color": MUTED[dark]}, **place,
        )  # fmt: skip
    title = f"by how much B is better{', in per cent of the mean of A' if is_relative else ''} (↓: A − B)"
    figure.update_xaxes(
        range=[low - room, high + room], zeroline=True, zerolinewidth=2, zerolinecolor=MUTED[dark], nticks=5,
        tickformat=tick_format(high - low, is_relative), title={"text": title, "standoff": 16},
        labelalias={"+0": "0", "+0%": "0%"}, **place,
    )  # fmt: skip
    figure.update_yaxes(
        tickvals=heights, ticktext=[two_lines(row.column) for row, _ in part], range=[len(part) - 0.5, -0.5],
        showgrid=False, zeroline=False, ticks="", tickfont={"size": 11.5, "color": INK[dark]}, **place,
    )  # fmt: skip


def tick_format(span: float, percent: bool) -> str:
    """Return plotly's format for the ticks of differences over a span: as many decimals as set neighbours apart."""
    decimals = max(2, 1 - math.floor(math.log10(span))) if span > 0 else 2
    return f"+.{decimals - 2}~%" if percent else f"+.{decimals}~f"


def _colour(significance: str, better: float, dark: bool) -> str:
    if significance in ("better", "worse", "leaning"):
        return ACCENT[dark] if better > 0 else series(dark)[1]
    return MUTED[dark]


def _hover(row: Row) -> str:
    tested = "" if row.p is None else f"<br>p {format.p_value(row.p)}, adjusted {format.p_value(row.adjusted)}"
    both = f"A {format.number(row.a)} · B {format.number(row.b)} · n {format.count(row.n)}"
    return (
        f"<b>{plain(metric_label(row.column, 80))}</b><br>{both}"
        f"<br>B − A {signed(row.difference)} (95 % {format.interval(row.low, row.high)})"
        f"{tested}<br>{row.words}<extra></extra>"
    )


def metric_help(column: Column) -> str:
    """Return what a metric is: its definition, range and better end."""
    range_text = format.range_text(column.low, column.high)
    return f"{column.description} · range {range_text}, {format.DIRECTIONS[column.direction]}"


def facts(row: Row, correction: str) -> str:
    """One metric of the pair in two lines."""
    unit = f" {row.column.unit}" if row.column.unit else ""
    bounds = format.interval(row.low, row.high)
    adjusted = "" if correction == "none" else f", adjusted {format.p_value(row.adjusted)} ({CORRECTIONS[correction]})"
    tested = "" if row.p is None else f" · p {format.p_value(row.p)}{adjusted}"
    return (
        f"A {format.number(row.a)}{unit} · B {format.number(row.b)}{unit} · B − A {signed(row.difference)}"
        + (f" (95 % {bounds})" if bounds else "")
        + f" · n {format.count(row.n)}{tested}"
    )
