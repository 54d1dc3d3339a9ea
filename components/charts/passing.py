"""The pass rate of a monitor, window by window, with its confidence sequence and the limits of its status."""

from collections.abc import Hashable, Mapping
from typing import Any

import pandas as pd

from components.charts.figure_parts import Figure, mix, new_figure, undimmed
from metrics.presentation.format import count, interval, moment, number
from metrics.presentation.palette import MUTED, SURFACE, series

SYMBOLS = {"healthy": "circle", "warning": "triangle-up", "critical": "x", "insufficient_data": "circle-open"}
SHADES = {"healthy": 0, "warning": 5, "critical": 1, "insufficient_data": 7}  # in the series' colours
WORDS = {"healthy": "healthy", "warning": "warning", "critical": "critical", "insufficient_data": "not yet sure"}


def passing_figure(
    windows: pd.DataFrame, warning: float, critical: float, chosen: int | None = None, dark: bool = False
) -> Figure:
    """Return the pass rate of each window, a band with its confidence sequence, and dotted lines at the two limits.

    `windows` as metrics.monitoring.trend gives it; windows that an earlier version judged have no band. The symbol and
    the colour say the window's status; the `chosen` window is larger. Points carry [window] as customdata. The time is
    that of the lines where they bear one.
    """
    rows = windows[windows["judged"] > 0].to_dict("records")
    timed = bool(rows) and all(not pd.isna(row["begins"]) for row in rows)
    x: list[Any] = [row["begins"] if timed else row["first_number"] for row in rows]
    rates, lows, highs = ([row[name] for row in rows] for name in ("rate", "low", "high"))
    known = [place for place, row in enumerate(rows) if not pd.isna(row["low"])]
    colours = [series(dark)[SHADES[row["health"]]] for row in rows]
    figure = new_figure()
    for ends, fill in ((highs, None), (lows, "tonexty")):
        figure.add_scatter(
            x=[x[place] for place in known], y=[ends[place] for place in known], mode="lines", fill=fill,
            line={"color": MUTED[dark], "width": 0.5}, fillcolor=mix(SURFACE[dark], MUTED[dark], 0.18),
            hoverinfo="skip",
        )  # fmt: skip
    figure.add_scatter(
        x=x, y=rates, mode="lines+markers",
        line={"color": MUTED[dark], "width": 1},
        marker={
            "symbol": [SYMBOLS[row["health"]] for row in rows], "color": colours, "opacity": 1,
            "size": [14 if row["window"] == chosen else 9 for row in rows],
            "line": {"width": 1, "color": SURFACE[dark]},
        },
        customdata=[[row["window"]] for row in rows], hovertext=[_hover(row, timed) for row in rows], hoverinfo="text",
        **undimmed(),
    )  # fmt: skip
    for limit, word in ((warning, "warning"), (critical, "critical")):
        figure.add_hline(
            limit, line={"color": MUTED[dark], "width": 1.3, "dash": "dot"}, annotation_position="right",
            annotation_text=f"{word} {limit:g}", annotation_font={"size": 12, "color": MUTED[dark]},
            annotation_align="left",
        )  # fmt: skip
    lowest = min([*rates, *(lows[place] for place in known)], default=0.0)
    figure.update_yaxes(
        title={"text": "pass rate", "standoff": 12}, range=[max(-0.02, min(critical, lowest) - 0.08), 1.03],
        zeroline=False, nticks=6,
    )  # fmt: skip
    figure.update_xaxes(
        title="" if timed else "sampled case", showgrid=False, zeroline=False, showline=True, nticks=4, tickangle=0
    )
    figure.update_layout(height=240, margin_r=84)
    return figure


def _hover(row: Mapping[Hashable, Any], timed: bool) -> str:
    begins = moment(row["begins"].isoformat()) if timed else f"from sampled case {count(row['first_number'] + 1)}"
    known = "" if pd.isna(row["low"]) else f"<br>current pass rate {interval(row['low'], row['high'])}"
    bounds = "" if pd.isna(row.get("mean_low")) else f"(95 % {interval(row['mean_low'], row['mean_high'])})"
    return (
        f"<b>{begins}</b><br>{number(row['rate'])} pass: {count(row['passed'])} of {count(row['judged'])} judged, "
        f"{count(row['unscored'])} unscored{known}"
        + ("" if pd.isna(row.get("mean")) else f"<br>mean {number(row['mean'])} {bounds}")
        + f"<br>{WORDS[row['health']]}"
    )
