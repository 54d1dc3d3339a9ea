"""Several metrics of a few models as a radar: each spoke runs from the worst (centre) to the best of its range."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from components.charts.figure_parts import DASHES, SYMBOLS, plain, undimmed
from metrics.presentation.format import DIRECTIONS, interval, number, range_text, shorten
from metrics.presentation.names import column_name, short_names
from metrics.presentation.palette import INK, LINE, MUTED
from metrics.presentation.phrases import directed, metric_title

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from components.data import Cell, Column

LINE_OF = 16  # characters beside a spoke
LINE_HIGH = 15  # pixels


def radar_figure(
    columns: Sequence[Column], models: Sequence[str], cells: Mapping[tuple[str, str], Cell],
    colours: Mapping[str, str], dark: bool = False,
    pixels_high: int = 470,
) -> go.Figure:  # fmt: skip
    """Return a closed line a model; a spoke a column, all of which `can_be_spoke`; a model's gap where it has no value.

    A point carries [model, column key] as customdata; colour, line and marker all tell the models apart.
    """
    import plotly.graph_objects as go

    spokes, names = [spoke(column) for column in columns], short_names(models, 28)
    figure = go.Figure()
    for index, model in enumerate(models):
        own = [cells.get((model, column.key)) for column in columns]
        figure.add_scatterpolar(
            r=_closed([cell.goodness if cell else None for cell in own]), theta=_closed(spokes), mode="lines+markers",
            name=plain(names[model]), connectgaps=False,
            line={"color": colours[model], "width": 2, "dash": DASHES[index % len(DASHES)]},
            marker={"color": colours[model], "size": 8, "symbol": SYMBOLS[index % len(SYMBOLS)]},
            customdata=_closed([[model, column.key] for column in columns]), hoverinfo="text",
            hovertext=_closed([about(model, column, cell) for column, cell in zip(columns, own, strict=True)]),
            **undimmed(),
        )  # fmt: skip
    count = len(spokes)
    lowest = spokes[count // 2 : (count + 1) // 2 + 1]  # plotly makes no room for the names above and below
    above, below = (LINE_HIGH * max(name.count("<br>") + 1 for name in own) for own in (spokes[:1], lowest))
    # of polar axes only these drag modes hand on a click
    figure.update_layout(
        height=pixels_high, dragmode="zoom", hovermode="closest",
        margin={"l": 132, "r": 132, "t": above + 10, "b": below + 40},
        legend={"orientation": "h", "yref": "container", "y": 0, "yanchor": "bottom", "x": 0.5, "xanchor": "center",
                "itemclick": False, "itemdoubleclick": False},
        polar={
            "bgcolor": "rgba(0,0,0,0)",
            "radialaxis": {
                "range": [0, 1], "tickvals": [0, 0.25, 0.5, 0.75, 1], "ticktext": ["worst", "", "½", "", "best"],
                "gridcolor": LINE[dark], "linecolor": LINE[dark], "tickfont": {"color": MUTED[dark], "size": 11},
                "angle": 90, "tickangle": 90,
            },
            "angularaxis": {
                "gridcolor": LINE[dark], "linecolor": LINE[dark], "direction": "clockwise", "rotation": 90,
                "tickfont": {"color": INK[dark], "size": 12},
            },
        },
    )  # fmt: skip
    return figure


def spoke(column: Column) -> str:
    """Return a metric's name beside its spoke, told from its namesakes, in short lines."""
    names = [shorten(str(column.evaluator_title), 32)]
    if column.metric != column.evaluator:
        names.append(shorten(column_name(column), LINE_OF))
    names[-1] = directed(names[-1], column.direction)  # its arrow counts: a line that is too long loses its end
    return "<br>".join(plain(line) for name in names for line in textwrap.wrap(name, LINE_OF))


def about(model: str, column: Column, cell: Cell | None) -> str:
    """Return what a point stands for: the value with interval and n, what the metric means, where the point lies."""
    bounds = interval(cell.low, cell.high) if cell else ""
    value = f"{number(cell.value if cell else None)} {column.unit}".strip() + (f" (95 % {bounds})" if bounds else "")
    place = ""
    if cell is not None and cell.goodness is not None:
        place = f"<br>{round(100 * cell.goodness)} % of the way from worst to best"
    return (
        f"<b>{plain(shorten(model, 60))}</b><br>{plain(metric_title(column, arrow=False))}<br>"
        f"{value}, n {cell.n if cell else 0:,}<br>{plain(shorten(column.description, 90))}<br>"
        f"range {range_text(column.low, column.high)}, {DIRECTIONS[column.direction]}{place}"
        "<br>click: its cases"
    )


def _closed(values: list[Any]) -> list[Any]:
    return [*values, *values[:1]]
