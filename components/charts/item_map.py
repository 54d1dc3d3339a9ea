"""Cases by how hard they are and how well they tell models apart; those whose label is suspect by their shape."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from components.charts.figure_parts import Figure, new_figure, plain, point_axis, undimmed
from metrics.presentation.format import interval, number, shorten
from metrics.presentation.palette import ACCENT, INK, MARKS, MUTED

if TYPE_CHECKING:
    from metrics.analysis import CaseItem

WRONG = MARKS["fp"].colour
LOOKS = {  # verdict: symbol, size; drawn in this order, so that the marked ones lie above
    "": ("circle", 7), "all wrong": ("triangle-up-open", 10), "unusual": ("diamond-open", 11), "suspect": ("x", 12),
}  # fmt: skip


def item_figure(rows: Sequence[CaseItem], dark: bool = False) -> Figure:
    """Difficulty across, discrimination up on a log scale; a point carries [case id] as customdata."""
    colours = {"": ACCENT[dark], "all wrong": MUTED[dark], "unusual": WRONG, "suspect": WRONG}
    figure = new_figure()
    for verdict, (symbol, size) in LOOKS.items():
        own = [row for row in rows if row.verdict == verdict]
        figure.add_scatter(
            x=[row.difficulty for row in own], y=[row.discrimination for row in own], mode="markers",
            marker={
                "symbol": symbol, "size": size, "color": colours[verdict], "opacity": 0.9 if verdict else 0.55,
                "line": {"width": 2 if verdict else 0.5, "color": colours[verdict] if verdict else INK[dark]},
            },
            customdata=[[row.case_id] for row in own], hoverinfo="text", hovertext=[_told(row) for row in own],
            **undimmed(),
        )  # fmt: skip
    figure.update_xaxes(point_axis("Difficulty: easy → hard", dark))
    ticks = [0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4]
    figure.update_yaxes(point_axis("Discrimination", dark, type="log", tickvals=ticks, ticktext=list(map(str, ticks))))
    figure.update_layout(height=400, margin_r=12)
    return figure


def _told(row: CaseItem) -> str:
    def numbers(value: float | None, low: float | None, high: float | None) -> str:
        return f"{number(value)} (95 % {interval(low, high)})"

    return (
        f"<b>{plain(shorten(row.case_id, 60))}</b><br>"
        f"difficulty {numbers(row.difficulty, row.difficulty_low, row.difficulty_high)}<br>"
        f"discrimination {numbers(row.discrimination, row.discrimination_low, row.discrimination_high)}<br>"
        f"{row.right:.0%} of {row.models} models right{', ' + row.verdict if row.verdict else ''}<br>click: the case"
    )
