"""The confusion matrix as a heatmap; its numbers are those of metrics.presentation.chart_data.confusion_counts."""

from collections.abc import Sequence

import pandas as pd

from components.charts.figure_parts import Figure, mix, new_figure, plain, undimmed
from metrics.presentation.chart_data.confusion_counts import cell_shares, confusion_matrix, full_share, right_cells
from metrics.presentation.format import shorten
from metrics.presentation.palette import ACCENT, MUTED, SERIES, SURFACE, text_colour

APART = 0.35  # of a cell, between the margins and the classes
PALE = 0.06  # of the muted colour in an empty cell


def confusion_figure(
    counts: pd.DataFrame,
    margins: tuple[str, str] | None = None,
    things: str = "cases",
    dark: bool = False,
    pixels_high: int = 440,
    matrix: pd.DataFrame | None = None,
) -> Figure:
    """True label down, predicted label across; the count is printed, the shade is its share: right ones in one colour,
    mistakes in another. With `margins` (row, column) those two stand apart.

    `matrix` is what is drawn of the counts, by default all of it. The share is that of the true label's objects, in the
    margin's row that of the predicted label's. Over the heatmap, whose clicks plotly loses in Streamlit, lies a layer
    of markers that carry [label, predicted] as customdata.
    """
    if matrix is None:
        matrix = confusion_matrix(counts, margins)
    rows, columns = [*matrix.index], [*matrix.columns]
    shares = cell_shares(matrix.to_numpy().tolist(), bool(margins))
    down, across = _places(rows, margins and margins[0]), _places(columns, margins and margins[1])
    base = mix(SURFACE[dark], MUTED[dark], PALE)
    right = right_cells(rows, columns)
    scale = full_share(shares, right)
    figure = new_figure()
    for wanted, colour, top in ((True, ACCENT[dark], 1.0), (False, SERIES[dark][1], scale)):
        z = [[shares[i][j] if right[i][j] is wanted else None for j in range(len(columns))] for i in range(len(rows))]
        if margins:
            z = [[*cells[:-1], None, cells[-1]] for cells in z]
            z = [*z[:-1], [None] * len(z[0]), z[-1]]
            z[-1][-1] = None  # a thing that is neither there nor predicted
        figure.add_heatmap(
            z=z, x=_edges(across, bool(margins)), y=_edges(down, bool(margins)), zmin=0, zmax=top, showscale=False,
            colorscale=[[0, base], [1, colour]], xgap=2, ygap=2, hoverinfo="skip",
        )  # fmt: skip
    counted: list[list[int]] = matrix.to_numpy().astype(int).tolist()
    last = len(rows) - 1, len(columns) - 1
    cells = [(i, j) for i in range(len(rows)) for j in range(len(columns)) if not margins or (i, j) != last]
    figure.add_scatter(
        x=[across[j] for _, j in cells], y=[down[i] for i, _ in cells], mode="markers+text",
        marker={"symbol": "square", "size": max(10, min(60, 380 // max(1, len(rows)))), "color": "rgba(0,0,0,0)"},
        text=[_short(counted[i][j], 100_000 if len(rows) <= 14 else 1_000) for i, j in cells],
        textfont={
            "size": 13 if len(rows) <= 14 else 10,
            "color": [
                text_colour(
                    mix(base, ACCENT[dark], shares[i][j]) if right[i][j]
                    else mix(base, SERIES[dark][1], shares[i][j] / scale)
                )
                for i, j in cells
            ],
        },
        customdata=[[rows[i], columns[j], counted[i][j]] for i, j in cells],
        hovertext=[_facts(rows[i], columns[j], counted[i][j], shares[i][j], margins, things) for i, j in cells],
        hoverinfo="text", **undimmed(),
    )  # fmt: skip
    _name_axes(figure, rows, columns, down, across, margins)
    high = (
        max(220, min(pixels_high, 110 + 56 * len(rows))) if len(rows) <= 14 else max(pixels_high, 90 + 22 * len(rows))
    )
    figure.update_layout(height=high, margin_r=28)  # at the right for a name that is turned
    return figure


def _short(count: int, from_: int = 100_000) -> str:
    """Return a count that fits into a cell: nothing for 0, thousands and millions (of pixels) as 120k and 3.4M."""
    if count < from_:
        return f"{count:,}" if count else ""
    for size, unit in ((1e9, "G"), (1e6, "M")):
        if count >= size:
            return f"{count / size:.3g}{unit}"
    return f"{count / 1e3:.{1 if count < 10_000 else 0}f}k"


def _places(names: Sequence[str], margin: str | None) -> list[float]:
    return [place + APART if name == margin else float(place) for place, name in enumerate(names)]


def _edges(places: Sequence[float], apart: bool) -> list[float]:
    """Return the edges of the cells around these places, with one more cell for the gap before a margin."""
    edges = [place - 0.5 for place in places]
    if apart:
        edges.insert(-1, places[-1] - APART - 0.5)
    return [*edges, places[-1] + 0.5]


def _facts(label: str, predicted: str, count: int, share: float, margins: tuple[str, str] | None, things: str) -> str:
    of = f"{100 * share:.1f} % of "
    if margins and label == margins[0]:
        return f"{count:,} predicted <b>{plain(predicted)}</b> where nothing is<br>{of}the predictions of that class"
    if margins and predicted == margins[1]:
        return f"{count:,} <b>{plain(label)}</b> missed<br>{of}that class"
    return f"{count:,} {things} that are <b>{plain(label)}</b><br>taken for <b>{plain(predicted)}</b><br>{of}that class"


def _name_axes(
    figure: Figure, rows: Sequence[str], columns: Sequence[str], down: Sequence[float], across: Sequence[float],
    margins: tuple[str, str] | None,
) -> None:  # fmt: skip
    def text(name: str, most: int) -> str:
        short = plain(shorten(name, most))
        return f"<i>{short}</i>" if name in (margins or ()) else short

    names = {"tickfont": {"size": 12 if len(rows) <= 20 else 9}, "showgrid": False, "zeroline": False, "ticks": ""}
    figure.update_xaxes(
        tickvals=list(across), ticktext=[text(name, 16) for name in columns], side="top",
        range=[-0.5, across[-1] + 0.5], title={"text": "predicted", "standoff": 12},
        autotickangles=[0, -45], **names,
    )  # fmt: skip
    figure.update_yaxes(
        tickvals=list(down), ticktext=[text(name, 20) for name in rows], range=[down[-1] + 0.5, -0.5],
        title={"text": "true label", "standoff": 12}, **names,
    )  # fmt: skip
