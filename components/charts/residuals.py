"""Residual plots: predicted over true values, the error over the prediction, and how the errors are spread."""

import math
from collections.abc import Mapping

import numpy as np
import pandas as pd

from components.charts.figure_parts import SYMBOLS, Figure, plain, undimmed
from metrics.presentation.format import exact, short_names
from metrics.presentation.palette import INK, MUTED

MOST_BINS = 40
FEWEST_BINS = 5
TITLES = ("Predicted over true", "Error over predicted", "Errors")


def residual_figure(points: pd.DataFrame, colours: Mapping[str, str], dark: bool = False) -> Figure:
    """Three panels: predicted over true with the diagonal, error over predicted with 0, and a histogram of the errors.

    `points` has series, model, run, case_id, truth, predicted. Points carry [case_id, model, run] as customdata.
    """
    from plotly.subplots import make_subplots

    figure = make_subplots(rows=1, cols=3, subplot_titles=TITLES, horizontal_spacing=0.07)
    error = points["predicted"] - points["truth"]
    values = points[["truth", "predicted"]].to_numpy(float)
    ends = [float(values.min()), float(values.max())]
    bins = min(MOST_BINS, max(FEWEST_BINS, 2 * math.ceil(len(error) ** (1 / 3))))  # about twice the cube root
    edges = np.histogram_bin_edges(error, bins=bins)
    line = {"color": MUTED[dark], "width": 1, "dash": "dot"}
    figure.add_scatter(x=ends, y=ends, mode="lines", line=line, hoverinfo="skip", showlegend=False, row=1, col=1)
    figure.add_hline(y=0, line=line, row=1, col=2)
    figure.add_vline(x=0, line=line, row=1, col=3)
    names = short_names(list(dict.fromkeys(points["series"])), 24)
    for place, (name, own) in enumerate(points.groupby("series", sort=False)):
        residual = own["predicted"] - own["truth"]
        facts = [
            f"<b>{plain(str(name))}</b>, case {plain(case)}<br>true {exact(truth)}, predicted {exact(predicted)}"
            f"<br>error {exact(predicted - truth)}"
            for case, truth, predicted in zip(own["case_id"], own["truth"], own["predicted"], strict=True)
        ]
        look = {"color": colours[str(name)], "symbol": SYMBOLS[place % len(SYMBOLS)], "size": 6, "opacity": 0.65}
        about = own[["case_id", "model", "run"]].to_numpy().tolist()
        for column, (x, y) in enumerate(((own["truth"], own["predicted"]), (own["predicted"], residual)), 1):
            figure.add_scatter(
                x=x, y=y, mode="markers", marker=look, hovertext=facts, hoverinfo="text", customdata=about,
                name=plain(names[str(name)]), showlegend=column == 1, legendgroup=str(place), row=1, col=column,
                **undimmed(),
            )  # fmt: skip
        counts, _ = np.histogram(residual, edges)
        figure.add_scatter(
            x=np.repeat(edges, 2), y=np.concatenate([[0], np.repeat(counts, 2), [0]]), mode="lines",
            line={"color": colours[str(name)], "width": 1.5}, fill="tozeroy", hoverinfo="skip", showlegend=False,
            row=1, col=3,
        )  # fmt: skip
    axes = (("true", "predicted"), ("predicted", "predicted − true"), ("predicted − true", "cases"))
    for column, (across, up) in enumerate(axes, 1):
        figure.update_xaxes(title={"text": across, "standoff": 12}, zeroline=False, row=1, col=column)
        figure.update_yaxes(title={"text": up, "standoff": 8}, zeroline=False, row=1, col=column)
    figure.update_annotations(font={"size": 13, "color": INK[dark]})
    figure.update_layout(
        height=400, font={"color": INK[dark]}, margin_t=40,
        legend={"orientation": "h", "y": -0.22, "x": 0, "itemclick": False, "itemdoubleclick": False},
    )  # fmt: skip
    return figure
