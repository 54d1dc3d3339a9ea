"""A metric over the runs of one suite: a line a model, each number with its interval."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from components.charts.figure_parts import Figure, new_figure, plain, spread, undimmed, whiskers
from metrics.analysis import Column, Stop
from metrics.presentation.format import count, interval, moment, number, p_value, short_names, shorten
from metrics.presentation.palette import MUTED, SURFACE
from metrics.presentation.phrases import signed

MOST_TICKS = 6
APART = 0.05  # of the distance of two runs, between the models' intervals
ROOM = 0.08  # of the span of the numbers, above and below them
CERTAIN = ("better", "worse", "higher", "lower")


def trend_figure(
    stops: Sequence[Stop], column: Column, colours: Mapping[str, str], dark: bool = False,
    chosen: tuple[str, str] | None = None,
) -> Figure:  # fmt: skip
    """Return a line a model over the runs in order, with 95 % intervals, the threshold, and names at the ends.

    A filled marker is a significant change since the model's run before, a hollow one is not; the `chosen` (run,
    model) is larger. Points carry [run, model] as customdata.
    """
    runs = {stop.run: stop for stop in stops}
    places = {run: place for place, run in enumerate(runs)}
    models = list(dict.fromkeys(stop.model for stop in stops))
    step = min(APART, 0.4 / max(1, len(models)))
    low, high = _span(stops, column)
    figure = new_figure()
    ends, last = [], dict[str, tuple[str, float]]()
    for index, model in enumerate(models):
        own = [stop for stop in stops if stop.model == model]
        aside = step * (index - (len(models) - 1) / 2)
        x = [places[stop.run] + aside for stop in own]
        figure.add_scatter(
            x=x, y=[stop.cell.value for stop in own], mode="lines+markers", name=plain(model),
            line={"color": colours[model], "width": 2}, marker=_markers(own, colours[model], dark, chosen),
            error_y=whiskers(
                [stop.cell.value for stop in own], [stop.cell.low for stop in own], [stop.cell.high for stop in own],
                colours[model], width=4,
            ),
            customdata=[[stop.run, model] for stop in own], hovertext=[_hover(stop, column) for stop in own],
            hoverinfo="text", **undimmed(),
        )  # fmt: skip
        last[model] = (own[-1].run, x[-1])
        ends.append((model, x[-1], ((own[-1].cell.value or 0.0) - low) / (high - low)))
    names = short_names(models, 18)
    for (model, *_), y in zip(*spread(ends), strict=True):
        beside = max(x for run, x in last.values() if run == last[model][0])  # right of all intervals beside its own
        figure.add_annotation(
            x=beside, y=low + y * (high - low), text=plain(names[model]), showarrow=False, xanchor="left",
            xshift=12, font={"color": colours[model], "size": 13},
        )  # fmt: skip
    if (threshold := column.threshold) is not None and low <= threshold <= high:
        figure.add_hline(
            threshold, line={"color": MUTED[dark], "width": 1.5, "dash": "dot"}, annotation_text="threshold",
            annotation_position="bottom left", annotation_font={"size": 12, "color": MUTED[dark]},
        )  # fmt: skip
    every = math.ceil(len(runs) / MOST_TICKS)
    ticked = [run for run, place in places.items() if (len(runs) - 1 - place) % every == 0]
    figure.update_xaxes(
        tickvals=[places[run] for run in ticked], ticktext=[_named(runs[run], len(ticked)) for run in ticked],
        range=[-0.3, len(runs) - 0.7], zeroline=False, showgrid=False, showline=True,
        tickangle=0, tickfont={"size": 11},
    )  # fmt: skip
    figure.update_yaxes(range=[low, high], zeroline=False, nticks=6)
    figure.update_layout(height=330, margin_r=120)
    return figure


def _span(stops: Sequence[Stop], column: Column) -> tuple[float, float]:
    """Return the axis: all numbers and intervals with some room, not far beyond the metric's own range."""
    every = (value for stop in stops for value in (stop.cell.value, stop.cell.low, stop.cell.high))
    seen = [value for value in every if value is not None and math.isfinite(value)] or [0.0]
    room = ROOM * ((max(seen) - min(seen)) or abs(seen[0]) or 1.0)
    return max(min(seen) - room, column.low - room), min(max(seen) + room, column.high + room)


def _markers(own: Sequence[Stop], colour: str, dark: bool, chosen: tuple[str, str] | None) -> dict[str, Any]:
    certain = [stop.change is not None and stop.change.significance in CERTAIN for stop in own]
    return {
        "size": [14 if (stop.run, stop.model) == chosen else 10 for stop in own],
        "symbol": ["diamond" if sure else "circle" for sure in certain],
        "color": [colour if sure else SURFACE[dark] for sure in certain],
        "line": {"color": colour, "width": 2},
        "opacity": 1,
    }


def _named(stop: Stop, ticks: int) -> str:
    """Return what stands under the axis, narrow enough for `ticks`: the name, the day as `3 Mar ’26`, the time."""
    day, _, clock = moment(stop.created).partition(", ")
    return f"{plain(shorten(stop.name, 10 * MOST_TICKS // max(2, ticks)))}<br>{day[:-4]}’{day[-2:]}<br>{clock}"


def _hover(stop: Stop, column: Column) -> str:
    bounds = interval(stop.cell.low, stop.cell.high)
    lines = [
        f"<b>{plain(shorten(stop.model, 60))}</b>",
        f"{plain(shorten(stop.name, 60))}, {moment(stop.created)}",
        f"{number(stop.cell.value)} {column.unit}".strip()
        + (f" (95 % {bounds})" if bounds else "")
        + f" · n {count(stop.cell.n)}",
    ]
    if stop.before:
        lines.append(f"since the run before: {stop.words}")
        if stop.change is not None and stop.change.difference is not None:
            change = stop.change
            adjusted = "" if change.adjusted is None else f", adjusted p {p_value(change.adjusted)}"
            lines.append(f"{signed(change.difference)} on {change.units}{adjusted}")
    return "<br>".join(lines)
