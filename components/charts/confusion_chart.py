"""The confusion matrix: what is taken for what, what is made up, what is missed.

A table of counts has `label` (the truth), `predicted` and `count`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd

from components.charts.figure_parts import mix, plain, undimmed
from components.format import shorten
from components.palette import ACCENT, MUTED, SERIES, SURFACE, text_colour

if TYPE_CHECKING:
    import plotly.graph_objects as go

MOST_LABELS = 40  # classes that are drawn; the others are summed as OTHERS
OTHERS = "(others)"
NONE = "(none)"  # stands for an absent label
MARGINS = ("hallucination", "missed")  # truth of what nothing is behind; prediction of what was not found
APART = 0.35  # of a cell, between the margins and the classes
PALE = 0.06  # of the muted colour in an empty cell
LEAST_SCALE = 0.25  # share of a mistake that gets the full colour, unless one has more


def margins_of(counts: pd.DataFrame) -> tuple[str, str]:
    """Return the names of a detection matrix's margins: in parentheses where a class is called so."""
    row, column = MARGINS
    while f"({row})" in set(counts["label"]):
        row = f"({row})"
    while f"({column})" in set(counts["predicted"]):
        column = f"({column})"
    return row, column


def groups(counts: pd.DataFrame, margins: tuple[str, str] | None = None) -> dict[str, str]:
    """Under which name each label stands in the matrix: its own, or OTHERS; NONE for an absent one."""
    counts = _filled(counts)
    frequency = counts.groupby("label")["count"].sum().add(counts.groupby("predicted")["count"].sum(), fill_value=0)
    frequency = frequency.drop(list(margins or ()), errors="ignore")
    kept = set(frequency.sort_values(ascending=False, kind="stable").index[:MOST_LABELS])
    return {name: name if name in kept or len(frequency) <= MOST_LABELS else OTHERS for name in frequency.index} | {
        name: name for name in margins or ()
    }


def confusion_matrix(counts: pd.DataFrame, margins: tuple[str, str] | None = None) -> pd.DataFrame:
    """Counts with true labels as rows and predicted labels as columns, by name; OTHERS, then the margins, last."""
    names = groups(counts, margins)
    counts = _filled(counts)
    counts = counts.assign(label=counts["label"].map(names), predicted=counts["predicted"].map(names))
    matrix = counts.pivot_table(index="label", columns="predicted", values="count", aggfunc="sum", fill_value=0)
    inner = set(names.values()) - set(margins or ())
    ordered = sorted(inner, key=lambda name: (name == OTHERS, name))
    rows = [name for name in ordered if name in matrix.index or margins]
    columns = [name for name in ordered if name in matrix.columns or name in rows]
    if margins:
        rows, columns = [*rows, margins[0]], [*columns, margins[1]]
    return matrix.reindex(index=rows, columns=columns, fill_value=0)


def confusion_figure(
    counts: pd.DataFrame,
    margins: tuple[str, str] | None = None,
    things: str = "cases",
    dark: bool = False,
    pixels_high: int = 440,
) -> go.Figure:
    """True label down, predicted label across; the count is printed, the shade is its share: right ones in one colour,
    mistakes in another. With `margins` (row, column) those two stand apart.

    The share is that of the true label's objects, in the margin's row that of the predicted label's. Over the heatmap,
    whose clicks plotly loses in Streamlit, lies a layer of markers that carry [label, predicted] as customdata.
    """
    import plotly.graph_objects as go

    matrix = confusion_matrix(counts, margins)
    rows, columns = [*matrix.index], [*matrix.columns]
    shares = _shares(matrix, margins)
    down, across = _places(rows, margins and margins[0]), _places(columns, margins and margins[1])
    base = mix(SURFACE[dark], MUTED[dark], PALE)
    right = [[a == b for b in columns] for a in rows]
    wrong_shares = [shares[i][j] for i in range(len(rows)) for j in range(len(columns)) if not right[i][j]]
    scale = max([LEAST_SCALE, *wrong_shares])
    figure = go.Figure()
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
    cells = [
        (i, j) for i in range(len(rows)) for j in range(len(columns)) if not margins or (i, j) != _last(rows, columns)
    ]
    figure.add_scatter(
        x=[across[j] for _, j in cells], y=[down[i] for i, _ in cells], mode="markers+text",
        marker={"symbol": "square", "size": max(10, min(60, 380 // max(1, len(rows)))), "color": "rgba(0,0,0,0)"},
        text=[_short(counted[i][j]) for i, j in cells],
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
    figure.update_layout(height=high, margin={"l": 8, "r": 8, "t": 8, "b": 8}, dragmode=False, showlegend=False)
    return figure


def confusions(counts: pd.DataFrame, margins: tuple[str, str] | None = None, most: int = 8) -> pd.DataFrame:
    """Return the most frequent mistakes between classes: label, predicted, count, and the share of the label's
    objects.
    """
    counts = _filled(counts)
    totals = counts.groupby("label")["count"].sum()
    inner = ~counts["label"].isin(margins or ()) & ~counts["predicted"].isin(margins or ())
    wrong = counts[inner & (counts["label"] != counts["predicted"])]
    found = wrong.assign(share=wrong["count"] / totals.reindex(wrong["label"]).to_numpy())
    return found.sort_values("count", ascending=False, kind="stable").head(most)[
        ["label", "predicted", "count", "share"]
    ]


def _short(count: int) -> str:
    """Return a count that fits into a cell: nothing for 0, thousands and millions (of pixels) as 120k and 3.4M."""
    if count < 100_000:
        return f"{count:,}" if count else ""
    for size, unit in ((1e9, "G"), (1e6, "M")):
        if count >= size:
            return f"{count / size:.3g}{unit}"
    return f"{count / 1e3:.0f}k"


def _filled(counts: pd.DataFrame) -> pd.DataFrame:
    return counts.assign(label=counts["label"].fillna(NONE), predicted=counts["predicted"].fillna(NONE))


def _shares(matrix: pd.DataFrame, margins: tuple[str, str] | None) -> list[list[float]]:
    """Return each cell's share of its row; in the margin's row of its column."""
    totals = matrix.sum(axis=1)
    shares = matrix.div(totals.where(totals > 0), axis=0).fillna(0.0)
    if margins:
        made = matrix.sum(axis=0)
        shares.loc[margins[0]] = (matrix.loc[margins[0]] / made.where(made > 0)).fillna(0.0)
    return [[float(value) for value in row] for row in shares.to_numpy()]


def _places(names: Sequence[str], margin: str | None) -> list[float]:
    return [place + APART if name == margin else float(place) for place, name in enumerate(names)]


def _edges(places: Sequence[float], apart: bool) -> list[float]:
    """Return the edges of the cells around these places, with one more cell for the gap before a margin."""
    edges = [place - 0.5 for place in places]
    if apart:
        edges.insert(-1, places[-1] - APART - 0.5)
    return [*edges, places[-1] + 0.5]


def _last(rows: Sequence[str], columns: Sequence[str]) -> tuple[int, int]:
    return len(rows) - 1, len(columns) - 1


def _facts(label: str, predicted: str, count: int, share: float, margins: tuple[str, str] | None, things: str) -> str:
    of = f"{100 * share:.1f} % of "
    if margins and label == margins[0]:
        return f"{count:,} predicted <b>{plain(predicted)}</b> where nothing is<br>{of}the predictions of that class"
    if margins and predicted == margins[1]:
        return f"{count:,} <b>{plain(label)}</b> missed<br>{of}that class"
    return f"{count:,} {things} that are <b>{plain(label)}</b><br>taken for <b>{plain(predicted)}</b><br>{of}that class"


def _name_axes(
    figure: go.Figure, rows: Sequence[str], columns: Sequence[str], down: Sequence[float], across: Sequence[float],
    margins: tuple[str, str] | None,
) -> None:  # fmt: skip
    def text(name: str, most: int) -> str:
        short = plain(shorten(name, most))
        return f"<i>{short}</i>" if name in (margins or ()) else short

    names = {"tickfont": {"size": 12 if len(rows) <= 20 else 9}, "showgrid": False, "zeroline": False, "ticks": ""}
    figure.update_xaxes(
        tickvals=list(across), ticktext=[text(name, 16) for name in columns], side="top",
        range=[-0.5, across[-1] + 0.5], title={"text": "predicted", "standoff": 4},
        tickangle=0 if len(columns) <= 8 else -45, **names,
    )  # fmt: skip
    figure.update_yaxes(
        tickvals=list(down), ticktext=[text(name, 20) for name in rows], range=[down[-1] + 0.5, -0.5],
        title={"text": "true label", "standoff": 4}, **names,
    )  # fmt: skip
