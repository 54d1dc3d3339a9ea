"""What became of each object by score threshold: stacked counts, the examples behind them.

A table of outcomes has `series`, `label`, `threshold`, `kind`, `count` and `examples` (a JSON list).
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from components.charts.figure_parts import Figure, mix, panels, plain
from metrics.presentation.chart_data.curve_points import at_threshold
from metrics.presentation.palette import INK, MARKS, MUTED, SURFACE

# kind: what it is called, its colour, how full it is drawn; what became of a ground truth first, bottom to top
KINDS = {
    "tp": ("found", MARKS["tp"].colour, 1.0),
    "fn_misclassification": ("missed: wrong class", "#8f7fd6", 0.25),
    "fn_no_prediction": ("missed", MARKS["fn"].colour, 0.25),
    "fp_misclassification": ("false: wrong class", MARKS["fp_misclassification"].colour, 1.0),
    "fp_hallucination": ("false: other", MARKS["fp_hallucination"].colour, 1.0),
}
PALE = 0.4  # of a bar that is not at the threshold
WIDEST = 0.1  # of a bar, as a share of the axis
BELOW = "fp_"  # kinds that are no ground truth's stand below the zero line
CONFUSED, HATCHED = "_misclassification", "/"  # kinds that are told from their neighbours by more than a colour


def kinds_in(outcomes: pd.DataFrame) -> list[str]:
    """Return the kinds that a table has, in the order they are stacked; true negatives are left out."""
    present = set(outcomes["kind"])
    return [kind for kind in KINDS if kind in present]


def counted(outcomes: pd.DataFrame) -> pd.DataFrame:
    """Counts added up over labels: series, threshold, kind, count."""
    return outcomes.groupby(["series", "threshold", "kind"], sort=False)["count"].sum().reset_index()


def outcomes_figure(outcomes: pd.DataFrame, threshold: float, things: str = "cases", dark: bool = False) -> Figure:
    """Ground truths above the zero line by what became of them, false predictions below it; one panel a series.

    The bar at `threshold` is full, the others pale. Every bar carries [series, kind, threshold] as customdata.
    """
    names = list(dict.fromkeys(outcomes["series"]))
    figure, place, down = panels(names, min(3, len(names)), 400, dark)
    sums = counted(outcomes)
    marked = float(at_threshold(sums, threshold)["threshold"].iloc[0]) if len(sums) else threshold
    step = float(np.diff(np.unique(sums["threshold"])).min(initial=WIDEST))  # between two thresholds
    kinds = kinds_in(sums)
    for series in names:
        for kind in kinds:
            rows = sums[(sums["series"] == series) & (sums["kind"] == kind)].sort_values("threshold")
            title, colour, fullness = KINDS[kind]
            figure.add_bar(
                x=rows["threshold"], y=rows["count"] * (-1 if kind.startswith(BELOW) else 1), width=step * 0.84,
                name=title, legendgroup=kind, showlegend=series == names[0],
                marker={
                    "color": mix(SURFACE[dark], colour, fullness),
                    "line": {"width": 1 if fullness < 1 else 0, "color": colour},
                    "opacity": [1.0 if value == marked else PALE for value in rows["threshold"]],
                    "pattern": {"shape": HATCHED if kind.endswith(CONFUSED) else "", "size": 5, "solidity": 0.5},
                },
                customdata=[[series, kind, float(value)] for value in rows["threshold"]],
                hovertext=[
                    f"<b>{plain(series)}</b><br>{int(count):,} {title}<br>at score ≥ {value:.2f}"
                    for count, value in zip(rows["count"], rows["threshold"], strict=True)
                ],
                hoverinfo="text", selected={"marker": {}}, unselected={"marker": {"opacity": None}}, **place[series],
            )  # fmt: skip
        figure.add_vrect(
            x0=marked - step / 2, x1=marked + step / 2, line={"width": 0}, fillcolor=MUTED[dark], opacity=0.18,
            layer="below",
            **place[series],
        )  # fmt: skip
    above, below = _reach(sums)
    ticks = _ticks(above, below)
    figure.update_yaxes(
        range=[-1.04 * below, 1.04 * above], tickvals=ticks, ticktext=[f"{abs(tick):,}" for tick in ticks],
        zeroline=True, zerolinecolor=INK[dark], zerolinewidth=1.2,
    )  # fmt: skip
    figure.update_yaxes(title={"text": things, "standoff": 12}, col=1)
    figure.update_xaxes(range=[0.015, 0.985], tickvals=[0.25, 0.5, 0.75], showgrid=False, zeroline=False)
    figure.update_xaxes(title={"text": "score threshold", "standoff": 12}, row=down)
    figure.update_layout(
        barmode="relative", showlegend=True, bargap=0, margin={"r": 8, "t": 92 if len(names) > 1 else 66},
        legend={
            "orientation": "h", "x": 0, "xanchor": "left", "yref": "container", "y": 0.995, "yanchor": "top",
            "itemclick": False, "itemdoubleclick": False, "font": {"size": 12, "color": MUTED[dark]},
            "traceorder": "normal",
        },
    )  # fmt: skip
    return figure


def examples_behind(outcomes: pd.DataFrame, kind: str) -> pd.DataFrame:
    """Return the examples kept of a kind, in rows of one series and threshold: case_id, label; large classes first."""
    rows = outcomes[(outcomes["kind"] == kind) & (outcomes["count"] > 0)].sort_values(
        "count", ascending=False, kind="stable"
    )
    found = [
        (str(entry["case_id"] if isinstance(entry, Mapping) else entry), label)
        for label, text in zip(rows["label"], rows["examples"], strict=True)
        for entry in json.loads(text or "[]")
    ]
    return pd.DataFrame(found, columns=["case_id", "label"])


def _reach(sums: pd.DataFrame) -> tuple[float, float]:
    """Return the tallest stack above the zero line and the deepest below it."""
    wrong = sums["kind"].str.startswith(BELOW)
    known = sums["kind"].isin(KINDS)

    def tallest(rows: pd.DataFrame) -> float:
        return float(rows.groupby(["series", "threshold"])["count"].sum().max()) if len(rows) else 0.0

    above, below = tallest(sums[known & ~wrong]), tallest(sums[known & wrong])
    return max(above, 1.0), max(below, 0.04 * above)


def _ticks(above: float, below: float) -> Sequence[Any]:
    """Round counts from −below to above, zero among them."""
    rough = max(1.0, (above + below) / 5)
    size = 10 ** (len(str(int(rough))) - 1)
    step = next(size * factor for factor in (1, 2, 5, 10) if size * factor >= rough)
    return list(range(-int(below // step) * step, int(above) + 1, step))
