"""Any chart of an answer, drawn for a page; reports draw the same description as SVG."""

from collections.abc import Mapping

import pandas as pd

from components.charts.confusion_chart import confusion_figure
from components.charts.figure_parts import Figure, name_lines, plain, unit_panels, whiskers
from components.charts.interval_bars import bars_figure
from components.charts.radar import radar_figure
from components.charts.spread import box_figure
from metrics.presentation.blocks import Bars, Chart, Curve, Matrix, Radar
from metrics.presentation.palette import MUTED


def chart_figure(chart: Chart, colours: Mapping[str, str], dark: bool = False) -> Figure:
    """Return the figure of a chart, the models in their colours."""
    if isinstance(chart, Bars):
        numbers = pd.DataFrame(
            [(*[own.name] * 2, bar.model, bar.value, bar.low, bar.high) for own in chart.groups for bar in own.bars],
            columns=["name", "key", "series", "value", "low", "high"],
        ).astype({"value": float, "low": float, "high": float})
        bounds = None if chart.high is None else (0.0, chart.high)
        return bars_figure(numbers, colours, "", dark, bounds, [group.name for group in chart.groups])
    if isinstance(chart, Radar):
        return radar_figure(chart, colours, dark)
    if isinstance(chart, Matrix):
        matrix = pd.DataFrame(chart.counts, list(chart.rows), list(chart.columns))
        margins = (chart.rows[-1], chart.columns[-1]) if chart.margins else None
        return confusion_figure(matrix, margins, dark=dark, matrix=matrix)
    if isinstance(chart, Curve):
        return _lines(chart, colours, dark)
    return box_figure([box.spread for box in chart.boxes if box.spread is not None], colours, chart.title, None, dark)


def _lines(chart: Curve, colours: Mapping[str, str], dark: bool) -> Figure:
    """Return a line a model, or its points alone, with intervals and marks where there are any."""
    figure, place = unit_panels([""], chart.x_title, chart.y_title, 430, dark)
    ends = [chart.ticks[0], chart.ticks[-1]]
    if chart.diagonal:
        line = {"color": MUTED[dark], "width": 1, "dash": "dot"}
        figure.add_scatter(x=ends, y=ends, mode="lines", line=line, hoverinfo="skip")
    for series in chart.series:
        x, y = ([point[axis] for point in series.points] for axis in (0, 1))
        low, high = ([span[end] for span in series.spans] for end in (1, 2))
        figure.add_scatter(
            x=x,
            y=y,
            mode="markers" if chart.dots else "lines+markers" if series.spans else "lines",
            name=plain(series.model),
            line={"color": colours[series.model], "width": 2},
            error_y=whiskers(y, low, high, colours[series.model]) if series.spans else None,
        )
        if series.mark is not None:
            figure.add_scatter(
                x=[series.mark[0]],
                y=[series.mark[1]],
                mode="markers",
                name=plain(series.model),
                marker={"size": 13, "color": colours[series.model]},
            )
    last = [(series.model, *series.points[-1]) for series in chart.series if series.points]
    name_lines(figure, [""], {"": last}, colours, place)
    span = ends[1] - ends[0]
    figure.update_xaxes(range=[ends[0] - 0.02 * span, ends[1] + 0.03 * span], tickvals=list(chart.ticks))
    figure.update_yaxes(range=[ends[0] - 0.03 * span, ends[1] + 0.05 * span], tickvals=list(chart.ticks))
    return figure
