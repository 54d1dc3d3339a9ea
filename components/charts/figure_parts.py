"""What the charts share: panels, direct labels, literal text, the point that was clicked."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from metrics.presentation.format import short_names, shorten
from metrics.presentation.palette import INK, LINE

if TYPE_CHECKING:
    import pandas as pd

PANEL_COLUMNS = 4
CURVES_HIGH = 470  # pixels
CLEARANCE = 0.065  # of the axis, between two direct labels
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")  # of lines, beside their colours
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "x", "star", "cross", "triangle-down")  # of their points
SHARES = {"tickvals": [0, 0.25, 0.5, 0.75, 1], "ticktext": ["0", "", "0.5", "", "1"]}

Figure = Any  # a plotly.graph_objects.Figure: plotly has no types, and is imported on use
End = tuple[str, float, float]  # a line's name and where it ends: x, y
Place = Mapping[str, Mapping[str, int]]  # panel → {"row": …, "col": …}


def new_figure() -> Figure:
    """Return a figure without anything in it."""
    from plotly.graph_objects import Figure as New

    return New()


def unit_panels(
    labels: Sequence[str], x: str, y: str, pixels_high: int, dark: bool
) -> tuple[Figure, dict[str, dict[str, int]]]:
    """Return a figure with a panel a label, both axes 0 … 1, titled `x` and `y`; and where each label's panel is."""
    across = {4: 2, 5: 3, 6: 3}.get(len(labels), min(PANEL_COLUMNS, len(labels)))
    figure, place, down = panels(labels, across, pixels_high, dark)
    shown = SHARES if across > 2 else {"dtick": 0.2}
    figure.update_xaxes(range=[-0.02, 1.03], showline=True, zeroline=False, **shown)
    figure.update_yaxes(range=[-0.03, 1.05], showline=True, zeroline=False, **shown)
    figure.update_xaxes(title={"text": x, "standoff": 12}, row=down)
    figure.update_yaxes(title={"text": y, "standoff": 12}, col=1)
    return figure, place


def panels(
    labels: Sequence[str], across: int, pixels_high: int, dark: bool, **options: Any
) -> tuple[Figure, dict[str, dict[str, int]], int]:
    """Return a figure with a panel a label, `across` beside each other; where each is; and how many rows there are."""
    from plotly.subplots import make_subplots

    across = max(1, across)
    down = max(1, math.ceil(len(labels) / across))
    high = pixels_high if down <= 2 else 190 * down
    figure = make_subplots(
        rows=down, cols=across, shared_xaxes=True, shared_yaxes=True,
        horizontal_spacing=0.03, vertical_spacing=min(0.2, 46 / high),
        subplot_titles=[plain(shorten(label, 30)) for label in labels] if len(labels) > 1 else None, **options,
    )  # fmt: skip
    figure.update_annotations(font={"size": 13, "color": INK[dark]})
    for update in (figure.update_xaxes, figure.update_yaxes):
        update(fixedrange=True)  # an axis that can be dragged would cover the points at its neighbour's edge
    figure.update_layout(height=high, hoverdistance=16, margin_r=120 if len(labels) == 1 else None)
    return figure, {label: {"row": 1 + i // across, "col": 1 + i % across} for i, label in enumerate(labels)}, down


def name_lines(
    figure: Figure,
    labels: Sequence[str],
    ends: Mapping[str, Sequence[End]],
    colours: Mapping[str, str],
    place: Place,
    corner: str = "lower left",
) -> None:
    """Names beside the ends of the lines of a single panel; in an empty lower corner of the first of several."""
    if not labels:
        return
    names = list(dict.fromkeys(series for label in labels for series, _, _ in ends[label]))
    if len(labels) == 1:
        short = short_names(names, 18)
        for (series, x, _), y in zip(*spread(ends[labels[0]]), strict=True):
            figure.add_annotation(
                x=x, y=y, text=plain(short[series]), font={"color": colours[series], "size": 13},
                showarrow=False, xanchor="left", xshift=10, **place[labels[0]],
            )  # fmt: skip
        return
    side, short = corner.partition(" ")[2], short_names(names)
    for index, series in enumerate(names[:8]):
        figure.add_annotation(
            x=0 if side == "left" else 1, y=0.0, yshift=15 * (min(8, len(names)) - 1 - index),
            text=plain(short[series]), showarrow=False, font={"color": colours[series], "size": 12},
            xanchor=side, yanchor="bottom", **place[labels[0]],
        )  # fmt: skip


def lines_of(points: pd.DataFrame) -> Iterator[tuple[tuple[str, str], pd.DataFrame]]:
    """Yield the points of each line with its (label, series), in the order in which they come."""
    for (label, series), line in points.groupby(["label", "series"], sort=False):
        yield (str(label), str(series)), line


def spread(ends: Sequence[End]) -> tuple[list[End], list[float]]:
    """Return the ends from low to high and heights for their names that keep CLEARANCE."""
    ordered = sorted(ends, key=lambda end: end[2])
    heights: list[float] = []
    for _, _, y in ordered:
        heights.append(max(y, heights[-1] + CLEARANCE) if heights else y)
    return ordered, heights


def selected(state: Any) -> list[Any] | None:
    """Return the customdata of the clicked point of a plotly selection, or None."""
    points = (state or {}).get("selection", {}).get("points", [])
    data = points[0].get("customdata") if points else None
    if isinstance(data, Mapping):  # plotly sends arrays of mixed types as {"0": …}
        data = list(data.values())
    return list(data) if data else None


def undimmed(**chosen: Any) -> dict[str, Any]:
    """Return a click marks the point and leaves the others as they are."""
    return {"selected": {"marker": {"opacity": 1, **chosen}}, "unselected": {"marker": {"opacity": 1, **chosen}}}


def whiskers(
    values: Iterable[float | None], lows: Iterable[float | None], highs: Iterable[float | None], colour: str,
    thickness: float = 1.2, width: int = 3,
) -> dict[str, Any]:  # fmt: skip
    """Return the error bars from `lows` to `highs` around `values`; none where an end is None or NaN."""

    def arm(start: float | None, end: float | None) -> float:
        length = 0.0 if start is None or end is None else end - start
        return length if length > 0 else 0.0  # NaN is not

    arms = [(arm(low, value), arm(value, high)) for value, low, high in zip(values, lows, highs, strict=True)]
    return {
        "type": "data", "symmetric": False, "array": [up for _, up in arms], "arrayminus": [down for down, _ in arms],
        "thickness": thickness, "width": width, "color": colour,
    }  # fmt: skip


def point_axis(title: str, dark: bool, **options: Any) -> dict[str, Any]:
    """Return how an axis of a chart of points looks."""
    shown = {"showline": True, "zeroline": False, "gridcolor": LINE[dark]}
    return {"title": {"text": title, "standoff": 12}, **shown, **options}


def mix(a: str, b: str, share: float) -> str:
    """Return the hex colour `share` of the way from `a` to `b`."""
    channels = ((int(a[i : i + 2], 16), int(b[i : i + 2], 16)) for i in (1, 3, 5))
    return "#" + "".join(f"{round(x + (y - x) * share):02x}" for x, y in channels)


def plain(text: object) -> str:
    """Text as plotly draws it literally: its labels understand some HTML, its hovers %{…}, and names are the user's."""
    return str(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("%{", "&#37;{")
