"""Bars with intervals: one number per class or slice, and what each kind of error costs."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from components.charts.figure_parts import Figure, new_figure, plain, whiskers
from metrics.presentation.format import interval, number, short_names, shorten
from metrics.presentation.palette import ACCENT, INK, LINE, MUTED

if TYPE_CHECKING:
    from metrics.analysis.slices.slice_values import SliceValue


BAR = 15  # pixels
GAP = 12
HEAD = 46
THINNEST = 8


def bars_figure(
    numbers: pd.DataFrame,
    colours: Mapping[str, str],
    unit: str = "",
    dark: bool = False,
    bounds: tuple[float, float] | None = None,
    order: Sequence[str] = (),
    pixels_high: int = 460,
) -> Figure:
    """Horizontal bars in groups by `name`, one a series, the 95 % interval as a whisker, the number beside it.

    `numbers` has name (of the group), series, value (NaN for none), low, high (NaN for no interval), n and `key`, which
    is what a bar carries as customdata: [series, key]. The bars grow thinner to fit in `pixels_high`, down to THINNEST.
    The first group also says which bar is whose. Groups stand in `order`, else as they come; "" in it is a gap.
    """
    names = [name for name in order if not name or name in set(numbers["name"])] or list(dict.fromkeys(numbers["name"]))
    series = list(dict.fromkeys(numbers["series"]))
    short = short_names(series)
    place = {name: index for index, name in enumerate(names)}
    slot = (pixels_high - HEAD) / max(1, len(names))
    thick = min(BAR, max(THINNEST, (slot - GAP) / max(1, len(series))))
    slot = thick * len(series) + GAP
    share = thick * len(series) / slot
    figure = new_figure()
    for index, each in enumerate(series):
        rows = numbers[(numbers["series"] == each) & numbers["name"].isin(names)]
        at = [place[name] + share * ((index + 0.5) / len(series) - 0.5) for name in rows["name"]]
        figure.add_bar(
            y=at, x=rows["value"], orientation="h", width=0.9 * share / len(series), name=plain(each),
            marker={"color": colours[each], "line": {"width": 0}}, opacity=0.85,
            error_x=whiskers(rows["value"], rows["low"], rows["high"], INK[dark], 1.4),
            customdata=[[each, key] for key in rows["key"]],
            hovertext=[_facts(each, row, unit) for row in rows.to_dict("records")], hoverinfo="text",
            selected={"marker": {"opacity": 1}}, unselected={"marker": {"opacity": 1}},
        )  # fmt: skip
        far = rows["high"].where(rows["high"].notna(), rows["value"]).fillna(0).clip(lower=0)
        figure.add_scatter(
            y=at, x=far, mode="text", textposition="middle right",
            text=[
                f"  {number(value)}" + (f"  <b>{plain(short[each])}</b>" if name == names[0] else "")
                for value, name in zip(rows["value"], rows["name"], strict=True)
            ],
            textfont={
                "size": 11, "color": [colours[each] if name == names[0] else MUTED[dark] for name in rows["name"]]
            },
            hoverinfo="skip",
            cliponaxis=False,
        )  # fmt: skip
    high = HEAD + len(names) * slot
    low, most = bounds or _bounds(numbers)
    ticks = [plain(shorten(name, 24)) for name in names]
    figure.update_yaxes(
        tickvals=list(range(len(names))), ticktext=ticks, range=[len(names) - 0.5, -0.5], showgrid=False,
        zeroline=False, ticks="", tickfont={"size": 13},
    )  # fmt: skip
    figure.update_xaxes(
        range=[low, most + 0.09 * (most - low)], zeroline=True, zerolinecolor=INK[dark], zerolinewidth=1.2, side="top",
        gridcolor=LINE[dark],
    )  # fmt: skip
    figure.update_layout(height=high, barmode="overlay", margin_r=44)
    return figure


def model_numbers(rows: Iterable[tuple[str, str, int, float | None, float | None, float | None]]) -> pd.DataFrame:
    """Return the numbers of `ranked_figure` from the rows (model, key, n, value, low, high)."""
    numbers = pd.DataFrame(list(rows), columns=["series", "key", "n", "value", "low", "high"])
    return numbers.assign(name=numbers["series"]).astype({"value": float, "low": float, "high": float})


def ranked_figure(
    numbers: pd.DataFrame,
    colours: Mapping[str, str],
    unit: str = "",
    dark: bool = False,
    bounds: tuple[float, float] | None = None,
    threshold: float | None = None,
) -> Figure:
    """One number a model: a bar each in the order of the rows, named at its foot, the interval as a whisker.

    `numbers` as in `bars_figure`, `series` being the model; the threshold is a dotted line.
    """
    figure = new_figure()
    places, short = list(range(len(numbers))), short_names(numbers["series"].tolist(), 16)
    far = numbers["high"].fillna(numbers["value"]).fillna(0)
    figure.add_bar(
        y=places, x=numbers["value"], orientation="h", width=0.62, opacity=0.85,
        marker={"color": [colours[each] for each in numbers["series"]], "line": {"width": 0}},
        error_x=whiskers(numbers["value"], numbers["low"], numbers["high"], INK[dark], 1.4),
        customdata=numbers[["series", "key"]].to_numpy().tolist(),
        hovertext=[_facts(row["series"], row, unit) + "<br>click: its cases" for row in numbers.to_dict("records")],
        hoverinfo="text", selected={"marker": {"opacity": 1}}, unselected={"marker": {"opacity": 1}},
    )  # fmt: skip
    figure.add_scatter(
        y=places, x=far, mode="text", textposition="middle right", cliponaxis=False, hoverinfo="skip",
        text=[f"  {number(value)}" for value in numbers["value"]], textfont={"size": 11, "color": MUTED[dark]},
    )  # fmt: skip
    low, most = bounds or _bounds(numbers)
    if threshold is not None and low <= threshold <= most:
        figure.add_vline(x=threshold, line={"color": MUTED[dark], "width": 1.2, "dash": "dot"})
    figure.update_yaxes(
        tickvals=places, ticktext=[plain(short[each]) for each in numbers["series"]],
        range=[len(places) - 0.5, -0.5], showgrid=False, zeroline=False, ticks="", tickfont={"size": 12},
    )  # fmt: skip
    figure.update_xaxes(
        range=[low, most + 0.14 * (most - low)], zeroline=True, zerolinecolor=INK[dark], zerolinewidth=1.2,
        gridcolor=LINE[dark], nticks=4, tickangle=0,
    )  # fmt: skip
    figure.update_layout(height=HEAD + 30 * len(places), margin_r=44)
    return figure


def _facts(series: str, row: Mapping[Hashable, Any], unit: str) -> str:
    bounds = interval(row["low"], row["high"])
    value = f"{number(row['value'])} {unit}".strip()
    return (
        f"<b>{plain(series)}</b>, {plain(row['name'])}<br>{value}"
        + (f" (95 % {bounds})" if bounds else "")
        + (f"<br>n {int(row['n']):,}" if "n" in row else "")
    )


def _bounds(numbers: pd.DataFrame) -> tuple[float, float]:
    """From zero or below to the farthest whisker."""
    ends = pd.concat([numbers["value"], numbers["low"], numbers["high"]]).dropna()
    return (min(0.0, float(ends.min())), max(float(ends.max()), 1e-6)) if len(ends) else (0.0, 1.0)


def slices_figure(
    rows: Sequence[SliceValue],
    overall: SliceValue,
    title: str,
    dark: bool,
    bounds: tuple[float, float] | None,
    height: int,
) -> Figure:
    """Return a bar per slice with its interval, and the overall value as a line; a bar carries [title, address]."""
    numbers = pd.DataFrame(
        [(row.label, title, row.value, row.low, row.high, row.n, row.slice.address) for row in rows],
        columns=["name", "series", "value", "low", "high", "n", "key"],
    ).astype({"value": float, "low": float, "high": float})
    figure = bars_figure(numbers, {title: ACCENT[dark]}, "", dark, bounds, pixels_high=height)
    texts = [f"  {number(row.value)}" for row in rows]  # a single series needs no name beside its bars
    figure.update_traces(text=texts, textfont={"size": 12, "color": INK[dark]}, selector={"type": "scatter"})
    if overall.low is not None and overall.high is not None:
        figure.add_vrect(x0=overall.low, x1=overall.high, fillcolor=LINE[dark], line_width=0, layer="below")
    figure.add_vline(x=overall.value, line={"color": INK[dark], "width": 1.4, "dash": "dot"})
    return figure
