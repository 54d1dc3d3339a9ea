"""Two models beside each other: the answer in words, the forest of differences, the table of metrics."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from components.charts.figure_parts import plain, undimmed
from components.widgets.tables import header, numeric
from metrics.presentation.format import (
    ARROWS,
    DIRECTIONS,
    MISSING,
    aligned,
    count,
    interval,
    number,
    p_value,
    plural,
    range_text,
    shorten,
)
from metrics.presentation.names import column_name
from metrics.presentation.palette import ACCENT, INK, MUTED, SURFACE, series
from metrics.presentation.phrases import better, paired_on, signed

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from components.data import Column, Comparison, Difference, Resampled, Unpaired

    Row = Difference | Resampled

CORRECTIONS = {"holm": "Holm", "benjamini_hochberg": "Benjamini–Hochberg", "none": "none"}
KINDS = {"losses": "Regressions", "wins": "Wins", "ties": "Ties"}
PLAIN_KINDS = {"losses": "A higher", "wins": "B higher", "ties": "Equal"}  # of a metric without a better end
SIDES = (158, 114)  # pixels left and right of the forest, for names and values in two lines each
MARGINS = (22, 42)  # above and below it
TESTS = {"mcnemar": "McNemar", "sign_flips": "sign flips", "t": "paired t"}
GAP = 72  # between its panels
ROW = 32  # pixels a metric
LINE = 24  # characters of a name in one line beside the forest
LABEL_ROOM = 0.08  # of the axis, kept free beyond the outermost interval


def answer(found: Comparison) -> str:
    """Return whether B is better, in one sentence; A and B stand for the models' names."""
    tested: list[Row] = [*found.rows, *found.resampled]
    rows = [row for row in tested if row.column.direction != "none" and row.significance != "none"]
    better = sum(row.significance == "better" for row in rows)
    worse = sum(row.significance == "worse" for row in rows)
    metrics = plural(len(rows), "metric")
    if not rows:
        return f"Not tested: {plural(len(found.unpaired), 'metric')} without values per case or resamples to pair"
    if better and worse:
        return f"It depends: B is better in {better} of {metrics}, A in {worse}"
    if better:
        return f"Yes: B is better in {better} of {metrics}, and A in none"
    if worse:
        return f"No: A is better in {worse} of {metrics}, and B in none"
    return f"No significant difference between A and B in {'this metric' if len(rows) == 1 else f'any of {metrics}'}"


def method(found: Comparison, correction: str) -> str:
    """Return what was paired and what "better" means, in two sentences."""
    n = [row.n for row in found.rows if row.n] or [found.cases]
    return f"{paired_on(n, found.clustered)}. {better(found.tested, correction)}"


def metric_name(column: Column, limit: int = 42) -> str:
    """Return evaluator, metric and its better end: `Classification · Accuracy ↑`; the evaluator is cut first."""
    title = shorten(column_name(column), limit - 12)
    evaluator = "" if title.startswith(column.evaluator_title) else column.evaluator_title
    before = f"{shorten(evaluator, limit - 3 - len(title))} · " if evaluator else ""
    return f"{before}{title} {ARROWS[column.direction]}".rstrip()


def two_lines(column: Column) -> str:
    """Return a metric's name for the forest: the evaluator above the metric, or one name in two lines."""
    name = column_name(column)
    alone = name.startswith(column.evaluator_title)
    lines = textwrap.wrap(shorten(name, 2 * LINE - 4), LINE) if alone else [shorten(column.evaluator_title, LINE)]
    lines += [] if alone else [shorten(name, LINE - 2)]
    return "<br>".join(map(plain, lines)) + f" {ARROWS[column.direction]}".rstrip()


def scaled(row: Row) -> tuple[float, float, float] | None:
    """Return (low, difference, high) for the forest, with B better right of 0; None if it cannot be drawn.

    In shares of the metric's range, or of A's mean if the range is open.
    """
    if row.better is None or row.difference is None or row.low is None or row.high is None:
        return None
    unit = unit_of(row)
    if not unit:
        return None
    low, middle, high = (end / unit for end in (row.low, row.difference, row.high))
    return (-high, -middle, -low) if row.column.direction == "lower" else (low, middle, high)


def unit_of(row: Row) -> float:
    """Return the unit of the forest: the metric's range, or A's mean if the range is open."""
    unit = row.column.high - row.column.low
    return abs(row.a or 0.0) if unit == float("inf") else unit


def is_open(row: Row) -> bool:
    """Return whether a metric's range has no end, so that its difference is drawn relative to A."""
    return float("inf") in (abs(row.column.low), abs(row.column.high))


def forest(rows: Sequence[Row], dark: bool = False, margins: Mapping[str, float] | None = None) -> go.Figure:
    """Differences with 95 % intervals around a zero line, right: B better; open-ranged metrics in a panel of their own.

    A filled marker is significant after the correction, a hollow one is not. Points carry [key] as customdata. margins:
    allowed losses by column key, drawn as dotted ticks.
    """
    from plotly.subplots import make_subplots

    drawn = [(row, place) for row in rows if (place := scaled(row)) is not None]
    panels = [part for open_ in (False, True) if (part := [pair for pair in drawn if is_open(pair[0]) == open_])]
    figure = make_subplots(
        rows=max(1, len(panels)), cols=1, row_heights=[len(part) + 1 for part in panels] or None,
        vertical_spacing=GAP / (GAP + ROW * (len(drawn) + 2)),
    )  # fmt: skip
    for line, part in enumerate(panels, 1):
        _panel(figure, line, part, dark, margins or {})
    figure.update_layout(
        height=ROW * (len(drawn) + len(panels)) + GAP * (len(panels) - 1) + sum(MARGINS), showlegend=False,
        hovermode="closest", dragmode=False, margin=dict(zip("lrtb", (*SIDES, *MARGINS), strict=True)),
    )  # fmt: skip
    return figure


def _panel(
    figure: go.Figure,
    line: int,
    part: Sequence[tuple[Row, tuple[float, float, float]]],
    dark: bool,
    margins: Mapping[str, float],
) -> None:
    place = {"row": line, "col": 1}
    losses = {
        y: -margins[row.column.key] / unit_of(row) for y, (row, _) in enumerate(part) if row.column.key in margins
    }
    heights = list(range(len(part)))
    for y, (row, (low, middle, high)) in zip(heights, part, strict=True):
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
            text=f"<b>{signed(row.difference)}</b><br>{interval(row.low, row.high)}", showarrow=False, align="left",
            xanchor="left", xshift=4, font={"size": 11, "color": colour if certain else INK[dark]},
        )  # fmt: skip
    low = min(0.0, *(ends[0] for _, ends in part), *losses.values())
    high = max(0.0, *(ends[2] for _, ends in part))
    least = 0.22 * (high - low)  # both sides of zero stay visible
    low, high = min(low, -least), max(high, least)
    room = LABEL_ROOM * (high - low)
    for text, x, anchor in (("◀ A better", low - room, "left"), ("B better ▶", high + room, "right")):
        figure.add_annotation(
            x=x, y=-0.5, text=text, showarrow=False, xanchor=anchor, yanchor="bottom", yshift=1,
            font={"size": 12, "color": MUTED[dark]}, **place,
        )  # fmt: skip
    title = (
        "difference, in per cent of A's mean" if is_open(part[0][0]) else "difference, in points of the metric's range"
    )
    figure.update_xaxes(
        range=[low - room, high + room], zeroline=True, zerolinewidth=2, zerolinecolor=MUTED[dark], nticks=9,
        tickformat=tick_format(high - low, is_open(part[0][0])), title={"text": title, "standoff": 16},
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
    tested = "" if row.p is None else f"<br>p {p_value(row.p)}, adjusted {p_value(row.adjusted)}"
    return (
        f"<b>{plain(metric_name(row.column, 80))}</b><br>A {number(row.a)} · B {number(row.b)} · n {count(row.n)}"
        f"<br>B − A {signed(row.difference)} (95 % {interval(row.low, row.high)})"
        f"{tested}<br>{row.words}<extra></extra>"
    )


def table(rows: Sequence[Difference]) -> pd.DataFrame:
    """Return the metrics with everything that is known of the pair, as texts."""
    return pd.DataFrame(
        {
            "metric": [metric_name(row.column, 36) for row in rows],
            "words": [row.words for row in rows],
            "a": aligned([row.a for row in rows]),
            "b": aligned([row.b for row in rows]),
            "difference": [signed(row.difference) for row in rows],
            "interval": [interval(row.low, row.high) or MISSING for row in rows],
            "adjusted": [p_value(row.adjusted) for row in rows],
            "p": [p_value(row.p) for row in rows],
            "outcomes": [f"{count(row.wins)} / {count(row.losses)} / {count(row.ties)}" for row in rows],
            "n": [row.n for row in rows],
            "detectable": aligned([row.detectable for row in rows]),
            "left_out": [row.only_a + row.only_b + row.neither for row in rows],
            "test": [TESTS[row.test] for row in rows],
        }
    )


def table_columns(correction: str) -> dict[str, Any]:
    """Return the table's headers, each with what it means on hover."""
    return {
        "metric": header("Metric", 206, "↑ higher is better, ↓ lower is better"),
        "words": header(
            "Verdict", 214, "better: the adjusted p is at most 0.05. No significant difference does not mean equality: "
            "see the interval and the detectable difference.",
        ),
        "a": numeric("A", 52, "mean of A over the cases that both have a value for"),
        "b": numeric("B", 52, "mean of B over the same cases"),
        "difference": numeric("B − A", 60, "mean of the differences case by case"),
        "interval": numeric(
            "95 % interval", 118, "of B − A. 0 or 1 a case: Newcombe's for pairs; else the studentised bootstrap of "
            "pairs, clustered by the suite's groups. It ends at 0 where it would contradict p. Not widened for the "
            "number of metrics.",
        ),
        "n": numeric("n", 50, "pairs: cases that both have a value for"),
        "adjusted": numeric("Adjusted p", 74, f"for the metrics shown: {CORRECTIONS[correction]}"),
        "outcomes": numeric("Wins / losses / ties", 132, "cases on which B is better, worse, equal"),
        "p": numeric(
            "p", 62, "how often chance alone would make a difference as large, were the two models interchangeable. "
            "0 or 1 a case: McNemar's mid-p; else by flipping the signs of up to 13 differences, or Student's t.",
        ),
        "detectable": numeric(
            "Detectable", 84, "the true difference that this many such pairs detect 80 % of the time, in one test at "
            "5 %: a smaller one may well be missed",
        ),
        "left_out": numeric("Left out", 66, "cases without a value of A, of B or of both"),
        "test": header("Test", 80, "how p was found"),
    }  # fmt: skip


def resampled_table(rows: Sequence[Resampled]) -> pd.DataFrame:
    """Metrics of the whole data set, or of its labels, paired over the same resamples of the cases."""
    return pd.DataFrame(
        {
            "metric": [metric_name(row.column, 34) if row.label is None else shorten(row.label, 34) for row in rows],
            "words": [row.words for row in rows],
            "a": aligned([row.a for row in rows]),
            "b": aligned([row.b for row in rows]),
            "difference": [signed(row.difference) for row in rows],
            "interval": [interval(row.low, row.high) for row in rows],
            "adjusted": [p_value(row.adjusted) for row in rows],
            "p": [p_value(row.p) for row in rows],
            "n": [row.n for row in rows],
        }
    )


def resampled_columns(correction: str, metric: str = "Metric of the whole data set") -> dict[str, Any]:
    """Return the headers of `resampled_table`, each with what it means on hover."""
    return {
        "metric": header(metric, 258),
        "words": header("Verdict", 198, "better: the adjusted p is at most 0.05"),
        "a": numeric("A", 52),
        "b": numeric("B", 52),
        "difference": numeric("B − A", 60),
        "interval": numeric(
            "95 % interval", 122, "of B − A, by the bootstrap: the same cases are drawn again for both models, so what "
            "makes a case hard for both does not count",
        ),
        "adjusted": numeric("Adjusted p", 76, f"for what is shown: {CORRECTIONS[correction]}"),
        "p": numeric("p", 60, "how often drawing the cases again moves the difference as far as it lies from 0"),
        "n": numeric("n", 52, "what B's value rests on"),
    }  # fmt: skip


def unpaired_table(rows: Sequence[Unpaired]) -> pd.DataFrame:
    """Return the metrics of the whole data set: both values with their own intervals."""
    return pd.DataFrame(
        {
            "metric": [metric_name(row.column, 60) for row in rows],
            "a": aligned([row.a.value for row in rows]),
            "of_a": [interval(row.a.low, row.a.high) or MISSING for row in rows],
            "b": aligned([row.b.value for row in rows]),
            "of_b": [interval(row.b.low, row.b.high) or MISSING for row in rows],
            "difference": [_apart(row.a.value, row.b.value) for row in rows],
            "n": [row.b.n for row in rows],
        }
    )


def _apart(a: float | None, b: float | None) -> str:
    return MISSING if a is None or b is None else signed(b - a)


UNPAIRED_COLUMNS: dict[str, Any] = {
    "metric": header("Metric that is not tested", 240),
    "a": numeric("A", 62),
    "of_a": numeric("95 % of A", 100, "95 % interval"),
    "b": numeric("B", 62),
    "of_b": numeric("95 % of B", 100, "95 % interval"),
    "difference": numeric("B − A", 66),
    "n": numeric("n", 56, "what B's value rests on"),
}


def metric_help(column: Column) -> str:
    """Return what a metric is: its definition, range and better end."""
    return f"{column.description} · range {range_text(column.low, column.high)}, {DIRECTIONS[column.direction]}"


def facts(row: Row, correction: str) -> str:
    """One metric of the pair in two lines."""
    unit = f" {row.column.unit}" if row.column.unit else ""
    bounds = interval(row.low, row.high)
    adjusted = "" if correction == "none" else f", adjusted {p_value(row.adjusted)} ({CORRECTIONS[correction]})"
    tested = "" if row.p is None else f" · p {p_value(row.p)}{adjusted}"
    return (
        f"A {number(row.a)}{unit} · B {number(row.b)}{unit} · B − A {signed(row.difference)}"
        + (f" (95 % {bounds})" if bounds else "")
        + f" · n {count(row.n)}{tested}"
    )
