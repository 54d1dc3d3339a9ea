"""How precise a number is by the number of cases: the interval's half width and the detectable difference."""

from collections.abc import Sequence
from math import log10

from components.charts.figure_parts import Figure, new_figure
from metrics.presentation.format import count, number
from metrics.presentation.palette import ACCENT, LINE, MUTED, series

LINES = ("95 % interval ±", "detectable difference")


def precision_figure(
    cases: Sequence[int], widths: Sequence[float], differences: Sequence[float], wanted: float,
    affordable: int | None = None, dark: bool = False,
) -> Figure:  # fmt: skip
    """Return both precisions [n] by `cases` [n], on log axes, dotted lines at the wanted one and the budget's end."""
    figure = new_figure()
    for name, values, colour in zip(LINES, (widths, differences), (ACCENT[dark], series(dark)[1]), strict=True):
        figure.add_scatter(
            x=list(cases), y=list(values), mode="lines+markers", line={"color": colour, "width": 2},
            marker={"size": 7}, hoverinfo="text",
            hovertext=[f"{count(n)} cases<br>{name} {number(value)}" for n, value in zip(cases, values, strict=True)],
        )  # fmt: skip
        figure.add_annotation(
            x=log10(cases[-1]), y=log10(values[-1]), text=name, showarrow=False, xanchor="left", xshift=10,
            font={"color": colour, "size": 13},
        )  # fmt: skip
    line = {"color": MUTED[dark], "width": 1.3, "dash": "dot"}
    font = {"size": 12, "color": MUTED[dark]}
    figure.add_hline(wanted, line=line)
    figure.add_annotation(  # its own: that of a line knows no logarithms
        x=0, xref="paper", y=log10(wanted), text=f"wanted {number(wanted)}", showarrow=False, xanchor="left", xshift=4,
        yanchor="top", font=font,
    )  # fmt: skip
    if affordable is not None and cases[0] <= affordable <= cases[-1]:
        figure.add_vline(affordable, line=line)
        is_right = affordable > (cases[0] * cases[-1]) ** 0.5
        figure.add_annotation(
            x=log10(affordable), y=1, yref="paper", text=f"the budget ends: {count(affordable)}", showarrow=False,
            xanchor="right" if is_right else "left", xshift=-6 if is_right else 6, font=font,
        )  # fmt: skip
    low, high = min(*widths, wanted), max(*differences, wanted)
    ticks = [lead * 10.0**power for power in range(-6, 4) for lead in (1, 2, 5)]
    ticks = [tick for tick in ticks if low / 1.2 <= tick <= high * 1.2]
    figure.update_xaxes(
        type="log", title="cases", tickvals=list(cases), ticktext=[count(n) for n in cases], showgrid=False,
        zeroline=False, showline=True, tickangle=0, range=[log10(cases[0] / 1.15), log10(cases[-1] * 1.15)],
    )  # fmt: skip
    figure.update_yaxes(
        type="log", tickvals=ticks, ticktext=[f"{tick:g}" for tick in ticks], zeroline=False, gridcolor=LINE[dark],
        range=[log10(low / 1.3), log10(high * 1.2)],
    )  # fmt: skip
    figure.update_layout(height=360, margin_r=165)
    return figure
