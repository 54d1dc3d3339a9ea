"""Several metrics of a few models as a radar: each spoke runs from the worst (centre) to the best of its range."""

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from components.charts.figure_parts import DASHES, SYMBOLS, Figure, new_figure, plain, undimmed
from metrics.presentation.blocks import Radar
from metrics.presentation.format import short_names, shorten
from metrics.presentation.palette import INK, LINE, MUTED

LINE_OF = 16  # characters beside a spoke
LINE_HIGH = 15  # pixels


def radar_figure(chart: Radar, colours: Mapping[str, str], dark: bool = False) -> Figure:
    """Return a closed line a model, with a gap where it has no value.

    A point carries [model, column key] as customdata; colour, line and marker all tell the models apart.
    """
    spokes, names = list(map(spoke, chart.spokes)), short_names(chart.models, 28)
    figure = new_figure()
    for index, (model, values, about) in enumerate(zip(chart.models, chart.values, chart.about, strict=True)):
        head = f"<b>{plain(shorten(model, 60))}</b><br>"
        facts = ["<br>".join(map(plain, words.splitlines())) for words in about]
        figure.add_scatterpolar(
            r=_closed(values), theta=_closed(spokes), mode="lines+markers", name=plain(names[model]), connectgaps=False,
            line={"color": colours[model], "width": 2, "dash": DASHES[index % len(DASHES)]},
            marker={"color": colours[model], "size": 8, "symbol": SYMBOLS[index % len(SYMBOLS)]},
            customdata=_closed([[model, key] for key in chart.keys]), hoverinfo="text",
            hovertext=_closed([f"{head}{words}<br>click: its cases" for words in facts]), **undimmed(),
        )  # fmt: skip
    count = len(spokes)
    lowest = spokes[count // 2 : (count + 1) // 2 + 1]  # plotly makes no room for the names above and below
    above, below = (LINE_HIGH * max(name.count("<br>") + 1 for name in own) for own in (spokes[:1], lowest))
    # of polar axes only these drag modes hand on a click
    figure.update_layout(
        height=470, dragmode="zoom",
        margin={"l": 132, "r": 132, "t": above + 10, "b": below + 40},
        legend={"orientation": "h", "yref": "container", "y": 0, "yanchor": "bottom", "x": 0.5, "xanchor": "center",
                "itemclick": False, "itemdoubleclick": False},
        polar={
            "bgcolor": "rgba(0,0,0,0)",
            "radialaxis": {
                "range": [0, 1], "tickvals": [0, 0.25, 0.5, 0.75, 1], "ticktext": ["worst", "", "½", "", "best"],
                "gridcolor": LINE[dark], "linecolor": LINE[dark], "tickfont": {"color": MUTED[dark], "size": 11},
                "angle": 90, "tickangle": 90,
            },
            "angularaxis": {
                "gridcolor": LINE[dark], "linecolor": LINE[dark], "direction": "clockwise", "rotation": 90,
                "tickfont": {"color": INK[dark], "size": 12},
            },
        },
    )  # fmt: skip
    return figure


def spoke(name: str) -> str:
    """Return a metric's name beside its spoke in short lines; its arrow counts, as a longer line loses its end."""
    return "<br>".join(map(plain, textwrap.wrap(name, LINE_OF, max_lines=4, placeholder="…")))


def _closed(values: Sequence[Any]) -> list[Any]:
    return [*values, *values[:1]]
