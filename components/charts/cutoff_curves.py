"""Measures of a ranking over the rank k up to which they look: a panel a measure, a line a model with its interval."""

import math
from collections.abc import Mapping

import pandas as pd

from components.charts.figure_parts import CURVES_HIGH, End, Figure, lines_of, name_lines, panels, plain, undimmed
from metrics.presentation.format import count, interval, number

BAND = 0.16  # opacity


def cutoff_figure(
    points: pd.DataFrame, titles: Mapping[str, str], colours: Mapping[str, str], dark: bool = False
) -> Figure:
    """Each measure over k on a logarithmic axis, with the 95 % interval of each line as a band.

    `points` has series, label (the measure), metric, k, value, low, high and n; `titles` names the measures. Every
    point carries [series, metric] as customdata.
    """
    labels = list(dict.fromkeys(points["label"]))
    shown = {label: titles.get(label, label) for label in labels}
    figure, place, down = panels(list(shown.values()), 1 if len(labels) == 1 else 2, CURVES_HIGH, dark)
    ends: dict[str, list[End]] = {title: [] for title in shown.values()}
    for (label, series), line in lines_of(points):
        line, where = line.sort_values("k"), place[shown[label]]
        banded = line.dropna(subset=["low", "high"])
        figure.add_scatter(
            x=[*banded["k"], *banded["k"][::-1]], y=[*banded["low"], *banded["high"][::-1]], fill="toself",
            fillcolor=colours[series], opacity=BAND, line={"width": 0}, mode="lines", hoverinfo="skip", **where,
        )  # fmt: skip
        figure.add_scatter(
            x=line["k"], y=line["value"], mode="lines+markers", name=plain(series),
            line={"color": colours[series], "width": 2}, marker={"size": 8}, hoverinfo="text",
            hovertext=[
                f"<b>{plain(series)}</b><br>{plain(shown[label])}@{row['k']} {number(row['value'])}"
                + (f" (95 % {bounds})" if (bounds := interval(row["low"], row["high"])) else "")
                + f" · n {count(int(row['n']))}"
                for row in line.to_dict("records")
            ],
            customdata=[[series, metric] for metric in line["metric"]], **undimmed(), **where,
        )  # fmt: skip
        ends[shown[label]].append((series, math.log10(line["k"].iloc[-1]), float(line["value"].iloc[-1])))
    ks = sorted(points["k"].unique())
    figure.update_xaxes(
        type="log", tickvals=ks, ticktext=[str(k) for k in ks], showline=True, zeroline=False, tickangle=0,
        range=[math.log10(ks[0]) - 0.05, math.log10(ks[-1]) + 0.06],
    )  # fmt: skip
    figure.update_xaxes(title={"text": "k: the first k ids", "standoff": 12}, row=down)
    figure.update_yaxes(range=[-0.03, 1.05], dtick=0.25, showline=True, zeroline=False)
    name_lines(figure, list(shown.values()), ends, colours, place)
    return figure
