"""Two criteria, such as quality and cost: a point a model, and the Pareto front of those that no other one beats."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from components.charts.figure_parts import Figure, new_figure, plain, point_axis, undimmed, whiskers
from metrics.presentation.format import count, interval, number, short_names, shorten
from metrics.presentation.palette import ACCENT, INK, MUTED

NAMED = 12  # models; of more only those on the front have a colour, a name and whiskers
SYMBOLS = {"dominated": "circle", "perhaps": "star-open", "front": "star"}
SIZES = {"dominated": 10, "perhaps": 14, "front": 15}


class Span(NamedTuple):
    """A number with its 95 % interval (None for none) and n."""

    value: float
    low: float | None
    high: float | None
    n: int


class Point(NamedTuple):
    """A model with its numbers across and up; `place`: a key of SYMBOLS; `words`: what is told of it on hover."""

    model: str
    up: Span
    across: Span
    place: str = "front"
    words: str = ""


class Axis(NamedTuple):
    """An axis: its title, and which end is better, higher or lower."""

    title: str
    direction: str


def pareto(points: Sequence[Point], directions: tuple[str, str]) -> list[str]:
    """Return the models on the front by their values, the best across first: none is as good in both and better in one.

    directions: the better ends across and up.
    """
    signs = [-1.0 if direction == "lower" else 1.0 for direction in directions]
    found: list[str] = []
    best, last = float("-inf"), None
    # from the best across; of equal ones the best up first, so that it alone can be on the front with its equals
    for point in sorted(points, key=lambda point: (-signs[0] * point.across.value, -signs[1] * point.up.value)):
        up = signs[1] * point.up.value
        if up > best or (up == best and point.across.value == last):
            found.append(point.model)
            best, last = up, point.across.value
    return found


def tradeoff_figure(
    points: Sequence[Point], colours: Mapping[str, str], across: Axis, up: Axis, dark: bool = False
) -> Figure:
    """Both criteria with 95 % intervals; a dotted line joins the front by value, symbols tell the tested places.

    The axes say where better is. A point carries [model] as customdata.
    """
    front = pareto(points, (across.direction, up.direction))
    by_model = {point.model: point for point in points}
    figure = new_figure()
    figure.add_scatter(
        x=[by_model[model].across.value for model in front],
        y=[by_model[model].up.value for model in front], mode="lines",
        line={"color": ACCENT[dark], "width": 1.5, "dash": "dot"}, hoverinfo="skip",
    )  # fmt: skip
    few = len(points) <= NAMED
    names = short_names([point.model for point in points])
    ends = [point.across.value for point in points] or [0.0]
    middle = min(0.0, *ends) + 0.7 * (max(ends) - min(0.0, *ends))
    for place, symbol in SYMBOLS.items():
        own = [point for point in points if point.place == place]
        shown = few or place == "front"
        figure.add_scatter(
            x=[point.across.value for point in own], y=[point.up.value for point in own], mode="markers+text",
            text=[plain(names[point.model]) if shown else "" for point in own],
            # towards the middle, so that no name is cut at the right edge
            textposition=["top left" if point.across.value > middle else "top right" for point in own],
            textfont={"size": 12, "color": INK[dark]}, cliponaxis=False,
            marker={
                "size": SIZES[place] if shown else 7, "symbol": symbol,
                "color": [colours[point.model] if shown else MUTED[dark] for point in own],
                "line": {"width": 2 if place == "perhaps" else 1,
                         "color": [colours[point.model] for point in own] if place == "perhaps" else INK[dark]},
            },
            error_x=_whiskers([point.across for point in own], dark) if shown else None,
            error_y=_whiskers([point.up for point in own], dark) if shown else None,
            customdata=[[point.model] for point in own], hoverinfo="text",
            hovertext=[_told(point, across, up) for point in own], **undimmed(),
        )  # fmt: skip
    ranged = {"rangemode": "tozero"} if min(ends) >= 0 else {}
    figure.update_xaxes(point_axis(_title(across), dark, **ranged))
    figure.update_yaxes(point_axis(_title(up), dark))
    figure.update_layout(height=400, margin_r=30)
    return figure


def _title(axis: Axis) -> str:
    """Return the title with an arrow along the axis to its better end; it reads from left to right, or upwards."""
    title = plain(axis.title)
    return f"← better · {title}" if axis.direction == "lower" else f"{title} · better →"


def _whiskers(spans: Sequence[Span], dark: bool) -> dict[str, Any]:
    ends = ([span.value for span in spans], [span.low for span in spans], [span.high for span in spans])
    return whiskers(*ends, MUTED[dark], 1)


def _told(point: Point, across: Axis, up: Axis) -> str:
    def numbers(span: Span) -> str:
        bounds = interval(span.low, span.high)
        return number(span.value) + (f" (95 % {bounds})" if bounds else "") + f", n {count(span.n)}"

    words = f"{plain(point.words)}<br>" if point.words else ""
    return (
        f"<b>{plain(shorten(point.model, 60))}</b><br>{plain(up.title)}: {numbers(point.up)}<br>"
        f"{plain(across.title)}: {numbers(point.across)}<br>{words}click: its cases"
    )
