"""Curves by score threshold: precision over recall, F1 over the threshold.

The points are those of metrics.presentation.chart_data.curve_points; one panel per label, one colour per series.
"""

from collections.abc import Hashable, Mapping
from typing import Any

import pandas as pd

from components.charts.figure_parts import End, Figure, lines_of, name_lines, plain, undimmed, unit_panels
from metrics.presentation.chart_data.curve_points import at_threshold, best_threshold
from metrics.presentation.format import number
from metrics.presentation.palette import MUTED, SURFACE

HOVER = (
    "<br>threshold %{customdata[2]:.2f} · F1 %{customdata[8]}"
    "<br>precision %{customdata[6]} · recall %{customdata[7]}"
    "<br>tp %{customdata[3]} · fp %{customdata[4]} · fn %{customdata[5]}<extra></extra>"
)


def threshold_figure(
    points: pd.DataFrame, threshold: float, colours: Mapping[str, str], dark: bool = False, pixels_high: int = 430
) -> Figure:
    """Precision over recall as the score threshold moves: one panel a label, a large marker at `threshold`.

    Every point carries [series, label, threshold, …] as customdata.
    """
    labels = list(dict.fromkeys(points["label"]))
    figure, place = unit_panels(labels, "recall", "precision", pixels_high, dark)
    ends: dict[str, list[End]] = {label: [] for label in labels}
    for (label, series), line in lines_of(points):
        line = line.dropna(subset=["precision", "recall"]).sort_values("threshold")
        if line.empty:
            continue
        _draw(figure, line, at_threshold(line, threshold), "recall", "precision", series, colours, dark, place[label])
        ends[label].append((series, float(line["recall"].iloc[0]), float(line["precision"].iloc[0])))
    for label in labels:
        if not ends[label]:  # without predictions there is no precision; an empty panel would have no axes either
            figure.add_scatter(
                x=[0.5], y=[0.5], mode="text", text=["never predicted"], textfont={"color": MUTED[dark]},
                hoverinfo="skip", **place[label],
            )  # fmt: skip
    name_lines(figure, labels, ends, colours, place)
    return figure


def f1_figure(points: pd.DataFrame, threshold: float, colours: Mapping[str, str], dark: bool = False) -> Figure:
    """F1 over the score threshold: one panel a label, a large marker at the best threshold of each series.

    A line stands at `threshold`. Every point carries [series, label, threshold, …] as customdata.
    """
    labels = list(dict.fromkeys(points["label"]))
    figure, place = unit_panels(labels, "score threshold", "F1", 380, dark)
    best = dict(best_threshold(points)["threshold"].items())
    ends: dict[str, list[End]] = {label: [] for label in labels}
    for (label, series), line in lines_of(points):
        line = line.dropna(subset=["f1"]).sort_values("threshold")
        if line.empty:
            continue
        top = line[line["threshold"] == best[label, series]]
        _draw(figure, line, top, "threshold", "f1", series, colours, dark, place[label])
        ends[label].append((series, float(line["threshold"].iloc[-1]), float(line["f1"].iloc[-1])))
    for label in labels:
        figure.add_vline(x=threshold, line={"color": MUTED[dark], "width": 1.5, "dash": "dot"}, **place[label])
    name_lines(figure, labels, ends, colours, place)
    return figure


def rates(row: Mapping[Hashable, Any]) -> str:
    """Counts and rates of one point in two lines."""
    return (
        f"✓ {int(row['tp']):,} found · ✗ {int(row['fp']):,} false · – {int(row['fn']):,} missed\n"
        f"precision {number(row['precision'])} · recall {number(row['recall'])} · F1 {number(row['f1'])}"
    )


def _draw(
    figure: Figure, line: pd.DataFrame, marked: pd.DataFrame, x: str, y: str, series: str,
    colours: Mapping[str, str], dark: bool, where: Mapping[str, int],
) -> None:  # fmt: skip
    common: dict[str, Any] = {
        "name": plain(series),
        "hovertemplate": f"<b>{plain(series)}</b>{HOVER}",
        **undimmed(),
        **where,
    }
    figure.add_scatter(
        x=line[x], y=line[y], mode="lines+markers", line={"color": colours[series], "width": 2},
        marker={"size": 6, "color": colours[series]}, customdata=_custom(line), **common,
    )  # fmt: skip
    figure.add_scatter(
        x=marked[x], y=marked[y], mode="markers", customdata=_custom(marked), cliponaxis=False,
        marker={"size": 15, "color": colours[series], "line": {"color": SURFACE[dark], "width": 2.5}}, **common,
    )  # fmt: skip


def _custom(line: pd.DataFrame) -> list[list[Any]]:
    return [
        [
            row["series"], row["label"], row["threshold"], int(row["tp"]), int(row["fp"]), int(row["fn"]),
            number(row["precision"]), number(row["recall"]), number(row["f1"]),
        ]
        for row in line.to_dict("records")
    ]  # fmt: skip
