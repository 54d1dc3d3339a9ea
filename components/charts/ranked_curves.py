"""Curves over every score there is: precision over recall by rank, and the receiver operating characteristic (ROC)."""

from collections.abc import Mapping

import pandas as pd

from components.charts.figure_parts import CURVES_HIGH, End, Figure, lines_of, name_lines, plain, unit_panels
from metrics.presentation.palette import MUTED

LEAST_RISK = 0.1  # where the axis of risks ends at the least


def rank_figure(points: pd.DataFrame, colours: Mapping[str, str], dark: bool = False) -> Figure:
    """Interpolated precision over recall, the curve behind average precision: one panel a label.

    `points` has series, label, recall, precision.
    """
    labels = list(dict.fromkeys(points["label"]))
    figure, place = unit_panels(labels, "recall", "precision", CURVES_HIGH, dark)
    ends: dict[str, list[End]] = {label: [] for label in labels}
    for (label, series), line in lines_of(points):
        line = line.dropna(subset=["precision", "recall"]).sort_values("recall", kind="stable")
        if line.empty:
            continue
        figure.add_scatter(
            x=line["recall"], y=line["precision"], mode="lines", name=plain(series),
            line={"color": colours[series], "width": 2, "shape": "vh"},
            hovertemplate=f"<b>{plain(series)}</b><br>precision %{{y:.3f}} at recall %{{x:.2f}}<extra></extra>",
            **place[label],
        )  # fmt: skip
        reached = line[line["precision"] > 0]
        end = reached.iloc[-1] if len(reached) else line.iloc[0]
        ends[label].append((series, float(end["recall"]), float(end["precision"])))
    name_lines(figure, labels, ends, colours, place)
    return figure


def roc_figure(points: pd.DataFrame, colours: Mapping[str, str], dark: bool = False) -> Figure:
    """True positive rate over false positive rate, with the diagonal of a guess: one panel a label.

    `points` has series, label, threshold (NaN where there is none), fpr, tpr.
    """
    labels = list(dict.fromkeys(points["label"]))
    figure, place = unit_panels(labels, "false positive rate", "true positive rate", CURVES_HIGH, dark)
    names: dict[str, list[End]] = {label: [] for label in labels}
    for label in labels:
        figure.add_scatter(
            x=[0, 1], y=[0, 1], mode="lines", line={"color": MUTED[dark], "width": 1, "dash": "dot"}, hoverinfo="skip",
            **place[label],
        )  # fmt: skip
    for (label, series), line in lines_of(points):
        at = [f" at score ≥ {score:.3g}" if score == score else "" for score in line["threshold"]]
        figure.add_scatter(
            x=line["fpr"], y=line["tpr"], mode="lines", name=plain(series),
            line={"color": colours[series], "width": 2}, customdata=at,
            hovertemplate=f"<b>{plain(series)}</b>%{{customdata}}<br>%{{y:.3f}} of the class found, "
            "%{x:.3f} of the others with it<extra></extra>",
            **place[label],
        )  # fmt: skip
        names[label].append((series, 1.0, 1.0))
    if len(labels) == 1:  # the lines end in one corner: their names stand in the empty one
        label = labels[0]
        names = {"": names[label], label: names[label]}
        name_lines(figure, ["", label], names, colours, {"": place[label]}, "lower right")
        figure.update_layout(margin={"r": 8})
    else:
        name_lines(figure, labels, names, colours, place, "lower right")
    return figure


def risk_figure(points: pd.DataFrame, colours: Mapping[str, str], dark: bool = False) -> Figure:
    """The share of wrong answers over the share of cases that are answered, the surest first; risk up to the highest.

    `points` has series, threshold, coverage, risk, low, high.
    """
    figure, place = unit_panels(
        [""], "coverage: share of the cases answered", "risk: share of answers wrong", CURVES_HIGH, dark
    )
    ends: list[End] = []
    for (_, series), line in lines_of(points.assign(label="")):
        line = line.sort_values("coverage", kind="stable")
        bounds = [f"{low:.3f}–{high:.3f}" for low, high in zip(line["low"], line["high"], strict=True)]
        figure.add_scatter(
            x=line["coverage"], y=line["risk"], mode="lines", name=plain(series),
            line={"color": colours[series], "width": 2}, customdata=list(zip(line["threshold"], bounds, strict=True)),
            hovertemplate=f"<b>{plain(series)}</b> at score ≥ %{{customdata[0]:.3g}}<br>%{{x:.3f}} of the cases "
            "answered, %{y:.3f} (%{customdata[1]}) of the answers wrong<extra></extra>",
            **place[""],
        )  # fmt: skip
        ends.append((series, float(line["coverage"].iloc[-1]), float(line["risk"].iloc[-1])))
    name_lines(figure, [""], {"": ends}, colours, place)
    top = min(1.0, 1.2 * max(LEAST_RISK, float(points["risk"].max())))  # most lines would lie at the bottom of 0 to 1
    figure.update_yaxes(range=[-0.03 * top, 1.03 * top], tickmode="auto", nticks=6)
    return figure
