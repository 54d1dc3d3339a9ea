"""Quality against what it costs: a point a model, those that no other one beats in both marked as the Pareto front."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from components.charts.figure_parts import plain, undimmed, whiskers
from metrics.presentation.format import count, interval, number, shorten
from metrics.presentation.names import short_names
from metrics.presentation.palette import ACCENT, INK, LINE, MUTED

if TYPE_CHECKING:
    import plotly.graph_objects as go

NAMED = 12  # models; of more only those on the front have a colour, a name and whiskers


class Span(NamedTuple):
    """A number with its 95 % interval (None for none) and n."""

    value: float
    low: float | None
    high: float | None
    n: int


class Point(NamedTuple):
    """A model with the mean of a metric and the mean of what an answer took: dollars, seconds or tokens."""

    model: str
    quality: Span
    cost: Span


def pareto(points: Sequence[Point], direction: str) -> list[str]:
    """Return the models on the front, the cheapest first: no other is at least as good and as cheap, and better in
    one.
    """
    sign = -1.0 if direction == "lower" else 1.0
    found: list[str] = []
    best = float("-inf")
    # by rising cost; of equally dear ones the best first, so that it alone can be on the front with its equals
    ordered = sorted(points, key=lambda point: (point.cost.value, -sign * point.quality.value))
    cost = None
    for point in ordered:
        quality = sign * point.quality.value
        if quality > best or (quality == best and point.cost.value == cost):
            found.append(point.model)
            best, cost = quality, point.cost.value
    return found


def tradeoff_figure(
    points: Sequence[Point], colours: Mapping[str, str], titles: tuple[str, str], direction: str, dark: bool = False,
    pixels_high: int = 470,
) -> go.Figure:  # fmt: skip
    """Cost across, quality up, both with 95 % intervals; the front joined by a dotted line, its points as stars.

    `titles` are those of cost and quality. A point carries [model] as customdata.
    """
    import plotly.graph_objects as go

    front = pareto(points, direction)
    by_model = {point.model: point for point in points}
    figure = go.Figure()
    figure.add_scatter(
        x=[by_model[model].cost.value for model in front],
        y=[by_model[model].quality.value for model in front], mode="lines",
        line={"color": ACCENT[dark], "width": 1.5, "dash": "dot"}, hoverinfo="skip",
    )  # fmt: skip
    few = len(points) <= NAMED
    names = short_names([point.model for point in points])
    dearest = max((point.cost.value for point in points), default=0.0)
    for on_front in (False, True):
        own = [point for point in points if (point.model in front) == on_front]
        figure.add_scatter(
            x=[point.cost.value for point in own], y=[point.quality.value for point in own], mode="markers+text",
            text=[plain(names[point.model]) if few or on_front else "" for point in own],
            # towards the middle, so that no name is cut at the right edge
            textposition=["top left" if point.cost.value > 0.7 * dearest else "top right" for point in own],
            textfont={"size": 12, "color": INK[dark]}, cliponaxis=False,
            marker={
                "size": 15 if on_front else 10 if few else 7, "symbol": "star" if on_front else "circle",
                "color": [colours[point.model] if few or on_front else MUTED[dark] for point in own],
                "line": {"width": 1, "color": INK[dark]},
            },
            error_x=_whiskers([point.cost for point in own], dark) if few or on_front else None,
            error_y=_whiskers([point.quality for point in own], dark) if few or on_front else None,
            customdata=[[point.model] for point in own], hoverinfo="text",
            hovertext=[_told(point, titles, on_front) for point in own], **undimmed(),
        )  # fmt: skip
    figure.update_xaxes(title={"text": plain(titles[0]), "standoff": 12}, rangemode="tozero", **_axis(dark))
    figure.update_yaxes(title={"text": plain(titles[1]), "standoff": 12}, **_axis(dark))
    figure.update_layout(
        height=pixels_high, showlegend=False, dragmode=False, hovermode="closest",
        margin={"l": 8, "r": 30, "t": 26, "b": 8},
    )  # fmt: skip
    return figure


def _axis(dark: bool) -> dict[str, Any]:
    return {"showline": True, "zeroline": False, "gridcolor": LINE[dark]}


def _whiskers(spans: Sequence[Span], dark: bool) -> dict[str, Any]:
    ends = ([span.value for span in spans], [span.low for span in spans], [span.high for span in spans])
    return whiskers(*ends, MUTED[dark], 1)


def _told(point: Point, titles: tuple[str, str], on_front: bool) -> str:
    def numbers(span: Span) -> str:
        bounds = interval(span.low, span.high)
        return number(span.value) + (f" (95 % {bounds})" if bounds else "") + f", n {count(span.n)}"

    place = (
        "on the Pareto front: no other model is as good for less, nor better for as much"
        if on_front
        else "not on the Pareto front: another model is as good for less, or better for as much"
    )
    return (
        f"<b>{plain(shorten(point.model, 60))}</b><br>{plain(titles[1])}: {numbers(point.quality)}<br>"
        f"{plain(titles[0])}: {numbers(point.cost)}<br>{place}<br>click: its cases"
    )
