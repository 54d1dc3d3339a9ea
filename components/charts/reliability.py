"""The reliability diagram: how often a model is right when it says how sure it is."""

import math
from collections.abc import Mapping

import pandas as pd

from components.charts.figure_parts import CURVES_HIGH, PANEL_COLUMNS, SHARES, Figure, plain, undimmed, whiskers
from metrics.presentation.chart_data.curve_points import filled_bins
from metrics.presentation.format import number, short_names
from metrics.presentation.palette import INK, MUTED


def reliability_figure(
    bins: pd.DataFrame, colours: Mapping[str, str], things: str = "cases", dark: bool = False
) -> Figure:
    """Share right over mean confidence with its interval, the diagonal of perfect calibration, and n below.

    `bins` has series, bin_low, bin_high, n, mean_confidence, accuracy, low, high. Two panels a series: the diagram, and
    under it how many `things` each bin has. Points and bars carry [series, bin_low] as customdata.
    """
    from plotly.subplots import make_subplots

    names = list(dict.fromkeys(bins["series"]))
    across = max(1, min(PANEL_COLUMNS, len(names)))
    bands = max(1, -(-len(names) // across))
    high = CURVES_HIGH if bands == 1 else 320 * bands
    titles = [plain(name) for name in short_names(names, 30).values()]
    blank = [""] * across
    rows = [titles[band * across : (band + 1) * across] for band in range(bands)]
    figure = make_subplots(
        rows=2 * bands, cols=across, shared_xaxes=True, horizontal_spacing=0.04, vertical_spacing=36 / high / bands,
        row_heights=[0.74, 0.26] * bands,
        subplot_titles=[text for row in rows for text in [*(row + blank)[:across], *blank]],
    )  # fmt: skip
    for note, name in zip([note for note in figure.layout.annotations if note.text], names, strict=True):
        note.update(font={"size": 13, "color": colours[name]})
    for index, name in enumerate(names):
        row, column = 1 + 2 * (index // across), 1 + index % across
        held = filled_bins(bins, name)
        figure.add_scatter(
            x=[0, 1], y=[0, 1], mode="lines", line={"color": MUTED[dark], "width": 1, "dash": "dot"}, hoverinfo="skip",
            row=row, col=column,
        )  # fmt: skip
        spans = [f"{low:.2f} … {high:.2f}" for low, high in zip(held["bin_low"], held["bin_high"], strict=True)]
        facts = [
            f"<b>{plain(name)}</b>, score {span}<br>right {number(entry['accuracy'])} "
            f"({number(entry['low'])}–{number(entry['high'])}) at mean score {number(entry['mean_confidence'])}"
            f"<br>{int(entry['n']):,} {things}"
            for span, entry in zip(spans, held.to_dict("records"), strict=True)
        ]
        about = [[name, float(low)] for low in held["bin_low"]]
        sizes = [5 + 6 * math.sqrt(size / held["n"].max()) for size in held["n"]]
        figure.add_scatter(
            x=held["mean_confidence"], y=held["accuracy"], mode="lines+markers", name=plain(name),
            line={"color": colours[name], "width": 1}, marker={"size": sizes, "color": colours[name]},
            error_y=whiskers(held["accuracy"], held["low"], held["high"], colours[name]),
            hovertext=facts, hoverinfo="text", customdata=about, **undimmed(), row=row, col=column,
        )  # fmt: skip
        figure.add_bar(
            x=(held["bin_low"] + held["bin_high"]) / 2, y=held["n"], width=0.92 * (held["bin_high"] - held["bin_low"]),
            marker={"color": colours[name], "line": {"width": 0}}, opacity=0.75, hovertext=facts, hoverinfo="text",
            customdata=about, selected={"marker": {}}, unselected={"marker": {"opacity": None}},
            row=row + 1, col=column,
        )  # fmt: skip
        figure.update_yaxes(range=[-0.03, 1.05], showticklabels=column == 1, **SHARES, row=row, col=column)
        most = float(bins["n"].max()) if len(bins) else 1.0
        figure.update_yaxes(
            range=[0, 1.08 * most], nticks=3, rangemode="tozero", showticklabels=column == 1, row=row + 1, col=column
        )
        figure.update_xaxes(range=[-0.02, 1.03], showline=True, zeroline=False, **SHARES, row=row, col=column)
        figure.update_xaxes(
            range=[-0.02, 1.03], **SHARES, title={"text": "score", "standoff": 12}, row=row + 1, col=column
        )
        if column == 1:
            figure.update_yaxes(title={"text": "share right", "standoff": 12}, row=row, col=1)
            figure.update_yaxes(title={"text": things, "standoff": 12}, row=row + 1, col=1)
    figure.update_annotations(font={"size": 13})
    figure.update_xaxes(linecolor=MUTED[dark])
    figure.update_layout(height=high, font={"color": INK[dark]})
    return figure
