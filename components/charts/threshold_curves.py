"""Curves by score threshold: precision over recall, F1 over the threshold.

A table of points has `series` (the model, as shown), `label`, `threshold`, `tp`, `fp`, `fn`, `precision`, `recall`,
`f1`. One panel a label, one colour a series.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from components.charts.figure_parts import End, lines_of, name_lines, plain, undimmed, unit_panels
from components.format import number
from components.palette import MUTED, SURFACE

if TYPE_CHECKING:
    import plotly.graph_objects as go

ALL = "all classes"
HOVER = (
    "<br>threshold %{customdata[2]:.2f} · F1 %{customdata[8]}"
    "<br>precision %{customdata[6]} · recall %{customdata[7]}"
    "<br>tp %{customdata[3]} · fp %{customdata[4]} · fn %{customdata[5]}<extra></extra>"
)


def nearest(values: Sequence[float], wanted: float) -> float:
    """Return the one of `values` closest to `wanted`, the smaller of two as close."""
    return min(sorted(values), key=lambda value: abs(value - wanted))


def at_threshold(points: pd.DataFrame, threshold: float) -> pd.DataFrame:
    """Return the rows at the threshold closest to the asked one."""
    if points.empty:
        return points
    return points[points["threshold"] == nearest(points["threshold"].unique().tolist(), threshold)]


def pooled(points: pd.DataFrame, labels: Sequence[str]) -> pd.DataFrame:
    """Counts of `labels` added up per series and threshold, with their precision, recall and F1 (micro average)."""
    chosen = points[points["label"].isin(labels)]
    sums = chosen.groupby(["series", "threshold"], sort=False)[["tp", "fp", "fn"]].sum().reset_index()
    sums["label"] = ALL
    positive, present = sums["tp"] + sums["fp"], sums["tp"] + sums["fn"]
    sums["precision"] = (sums["tp"] / positive).where(positive > 0)
    sums["recall"] = (sums["tp"] / present).where(present > 0)
    both = sums["tp"] + positive + sums["fn"]
    sums["f1"] = (2 * sums["tp"] / both).where(both > 0)
    return sums


def mean_f1(points: pd.DataFrame, name: str) -> pd.DataFrame:
    """F1, precision and recall averaged over labels (macro), the undefined left out, under the label `name`."""
    grouped = points.groupby(["series", "threshold"], sort=False)
    counts, means = grouped[["tp", "fp", "fn"]].sum(), grouped[["precision", "recall", "f1"]].mean()
    return pd.concat([counts, means], axis=1).reset_index().assign(label=name)


def best_threshold(points: pd.DataFrame) -> pd.DataFrame:
    """Per label and series, the row of the highest F1 (the lowest threshold of several), those without any left out."""
    scored = points.dropna(subset=["f1"]).sort_values(["f1", "threshold"], ascending=[False, True], kind="stable")
    return scored.drop_duplicates(["label", "series"]).set_index(["label", "series"])


def by_frequency(points: pd.DataFrame) -> list[str]:
    """Return the labels, those with the most ground truths first."""
    first = points.drop_duplicates(["series", "label"])
    return list(
        (first["tp"] + first["fn"]).groupby(first["label"]).max().sort_values(ascending=False, kind="stable").index
    )


def threshold_figure(
    points: pd.DataFrame, threshold: float, colours: Mapping[str, str], dark: bool = False, pixels_high: int = 430
) -> go.Figure:
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
    name_lines(figure, labels, ends, colours, place)
    return figure


def f1_figure(
    points: pd.DataFrame, threshold: float, colours: Mapping[str, str], dark: bool = False, pixels_high: int = 430
) -> go.Figure:
    """F1 over the score threshold: one panel a label, a large marker at the best threshold of each series.

    A line stands at `threshold`. Every point carries [series, label, threshold, …] as customdata.
    """
    labels = list(dict.fromkeys(points["label"]))
    figure, place = unit_panels(labels, "score threshold", "F1", pixels_high, dark)
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
    figure: go.Figure, line: pd.DataFrame, marked: pd.DataFrame, x: str, y: str, series: str,
    colours: Mapping[str, str], dark: bool, where: Mapping[str, int],
) -> None:  # fmt: skip
    """A line of points, those in `marked` large."""
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
        x=marked[x], y=marked[y], mode="markers", customdata=_custom(marked),
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
