"""How a metric spreads over the cases: box plots, histograms, and the share of cases up to each value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import isfinite
from typing import TYPE_CHECKING

from components.charts.figure_parts import DASHES, SYMBOLS, Figure, new_figure, panels, plain, point_axis, undimmed
from metrics.presentation.format import count, number, plural, short_names, shorten
from metrics.presentation.palette import INK, LINE, MUTED

if TYPE_CHECKING:
    from metrics.analysis import Distribution

ROW = 44  # pixels a box
HIGH = 400  # pixels of a chart of lines or bars
MARK = 5  # of the quantiles every so many are marked on a line
HALF = 0.3  # of a box's height, in rows
PAD = 0.04  # of the axis, beyond the farthest value


def box_figure(
    models: Sequence[Distribution],
    colours: Mapping[str, str],
    x: str,
    threshold: float | None = None,
    dark: bool = False,
    bounds: tuple[float, float] | None = None,
) -> Figure:
    """Return a box a model: quartiles, median and whiskers (Tukey's), the mean as a diamond, far cases as points.

    The axis shows all of the metric's range `bounds`, if it is finite.

    The diamond and the box carry [model] as customdata, a point beyond the whiskers [model, case].
    """
    names = short_names([own.model for own in models], 26)
    figure = new_figure()
    for y, own in enumerate(models):
        colour = colours[own.model]
        lower, median, upper = own.box
        line = {"color": colour, "width": 1.6}
        for start, end in ((own.whisker_low, lower), (upper, own.whisker_high)):
            figure.add_scatter(x=[start, end], y=[y, y], mode="lines", line=line, hoverinfo="skip")
        channels = ", ".join(str(int(colour[i : i + 2], 16)) for i in (1, 3, 5))
        figure.add_scatter(
            x=[lower, upper, upper, lower, lower], y=[y - HALF, y - HALF, y + HALF, y + HALF, y - HALF], mode="lines",
            line=line, fill="toself", fillcolor=f"rgba({channels}, 0.18)", hoverinfo="skip",
        )  # fmt: skip
        figure.add_scatter(
            x=[median, median], y=[y - HALF, y + HALF], mode="lines", line={"color": colour, "width": 4},
            hoverinfo="skip",
        )  # fmt: skip
        if own.far:
            figure.add_scatter(
                x=[value for _, value in own.far], y=[y] * len(own.far), mode="markers",
                marker={"color": colour, "size": 8, "symbol": "circle-open", "line": {"width": 1.5}},
                customdata=[[own.model, case] for case, _ in own.far], hoverinfo="text",
                hovertext=[
                    f"case <b>{plain(shorten(case, 40))}</b> of {plain(shorten(own.model, 40))}<br>{number(value)}: "
                    "beyond the whiskers<br>click: the case"
                    for case, value in own.far
                ],
                **undimmed(),
            )  # fmt: skip
        figure.add_scatter(
            x=[own.mean], y=[y], mode="markers", customdata=[[own.model]], hoverinfo="text",
            marker={"color": colour, "size": 12, "symbol": "diamond", "line": {"width": 1.5, "color": INK[dark]}},
            hovertext=[_told(own)], **undimmed(),
        )  # fmt: skip
    figure.update_yaxes(
        tickvals=list(range(len(models))), ticktext=[plain(names[own.model]) for own in models],
        range=[len(models) - 0.5, -0.95], showgrid=False, zeroline=False, ticks="",
    )  # fmt: skip
    ends = [end for own in models for end in (own.whisker_low, own.whisker_high, *(value for _, value in own.far))]
    if bounds and all(map(isfinite, bounds)):
        ends += bounds
    if threshold is not None:
        ends.append(threshold)
        figure.add_vline(x=threshold, line={"color": MUTED[dark], "width": 1.2, "dash": "dot"})
        left = threshold < (min(ends) + max(ends)) / 2  # its name stands on the side that has room
        figure.add_annotation(
            x=threshold, y=-0.75, text=f"threshold {threshold:g}", showarrow=False, font={"color": MUTED[dark]},
            xanchor="left" if left else "right", xshift=4 if left else -4,
        )  # fmt: skip
    apart = PAD * (max(ends) - min(ends)) if ends else 0.0  # lines get no room of their own beside the axis
    ends = [min(ends) - apart, max(ends) + apart] if apart else []
    figure.update_xaxes(point_axis(plain(x), dark, range=ends or None))
    figure.update_layout(height=90 + ROW * len(models), margin_r=12)
    return figure


def histogram_figure(
    models: Sequence[Distribution], edges: Sequence[float], colours: Mapping[str, str], x: str, dark: bool = False
) -> Figure:
    """Return a panel a model: the cases in each bin. A bar carries [model, low, high]; high is None in the last one."""
    names = [own.model for own in models]
    figure, place, down = panels(names, 1 if len(names) < 3 else 2 if len(names) < 5 else 3, HIGH, dark)
    widths = [high - low for low, high in pairwise(edges)]
    middles = [low + width / 2 for low, width in zip(edges, widths, strict=False)]
    last = len(middles) - 1
    for own in models:
        figure.add_bar(
            x=middles,
            y=own.bins,
            width=[0.94 * width for width in widths],
            marker={"color": colours[own.model], "line": {"width": 0}},
            customdata=[[own.model, edges[i], None if i == last else edges[i + 1]] for i in range(len(middles))],
            hoverinfo="text",
            hovertext=[
                f"<b>{plain(shorten(own.model, 60))}</b><br>{plural(n, 'case')} of {count(own.n)} from "
                f"{edges[i]:g} {'to' if i == last else 'up to, without,'} {edges[i + 1]:g}<br>click: these cases"
                for i, n in enumerate(own.bins)
            ],
            **place[own.model],
            **undimmed(),
        )
    # else the handles that stretch one panel's axis lie over the last bars of the panel before
    figure.update_xaxes(range=[edges[0], edges[-1]], showline=True, zeroline=False, fixedrange=True)
    figure.update_xaxes(title={"text": plain(x), "standoff": 12}, row=down, col=1)
    figure.update_yaxes(range=[0, 1.06 * max(max(own.bins) for own in models)], gridcolor=LINE[dark], fixedrange=True)
    figure.update_yaxes(title={"text": "cases", "standoff": 12}, col=1)
    figure.update_layout(bargap=0)
    return figure


def ecdf_figure(models: Sequence[Distribution], colours: Mapping[str, str], x: str, dark: bool = False) -> Figure:
    """Return a line a model: the share of its cases that lie at or below each value, named where it crosses one half.

    A point carries [model] as customdata.
    """
    names = short_names([own.model for own in models], 28)
    figure = new_figure()
    for index, own in enumerate(models):
        steps = len(own.quantiles) - 1
        shares = [place / steps for place in range(steps + 1)]
        figure.add_scatter(
            x=own.quantiles, y=shares, mode="lines", hoverinfo="skip", showlegend=False,
            line={"color": colours[own.model], "width": 2, "shape": "hv", "dash": DASHES[index % len(DASHES)]},
        )  # fmt: skip
        marked = list(zip(shares, own.quantiles, strict=True))[::MARK]
        figure.add_scatter(
            x=[value for _, value in marked], y=[share for share, _ in marked], mode="markers",
            name=plain(names[own.model]), customdata=[[own.model]] * len(marked), hoverinfo="text",
            marker={"color": colours[own.model], "size": 8, "symbol": SYMBOLS[index % len(SYMBOLS)]},
            hovertext=[
                f"<b>{plain(shorten(own.model, 60))}</b><br>{round(100 * share)} % of {plural(own.n, 'case')} "
                f"have at most {number(value)}<br>click: its cases"
                for share, value in marked
            ],
            **undimmed(),
        )  # fmt: skip
    figure.update_xaxes(point_axis(plain(x), dark))
    figure.update_yaxes(point_axis("share of cases at or below", dark, range=[-0.02, 1.03]))
    figure.update_layout(
        height=HIGH, margin_r=12,
        legend={"orientation": "h", "y": -0.16, "x": 0, "itemclick": False, "itemdoubleclick": False},
    )  # fmt: skip
    return figure


def _told(own: Distribution) -> str:
    lower, median, upper = own.box
    beyond = f"<br>{plural(own.beyond, 'case')} beyond the whiskers" if own.beyond else ""
    return (
        f"<b>{plain(shorten(own.model, 60))}</b><br>mean {number(own.mean)} (◆), n {count(own.n)}<br>"
        f"median {number(median)}; half of the cases lie from {number(lower)} to {number(upper)} (box)<br>"
        f"whiskers from {number(own.whisker_low)} to {number(own.whisker_high)}: within 1.5 box lengths"
        f"{beyond}<br>click: its cases"
    )
