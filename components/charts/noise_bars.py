"""The noise of each model's mean as one bar of its sources."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from components.charts.figure_parts import Figure, mix, new_figure, plain
from metrics.presentation.format import number, short_names
from metrics.presentation.noise_words import BETWEEN
from metrics.presentation.palette import ACCENT, SURFACE, text_colour

if TYPE_CHECKING:
    from metrics.analysis import ModelNoise

HEAD, BAR = 46, 40  # pixels
NARROW, NAMED = 0.05, 0.12  # of the axis: a share below has no room for its number, or for its name beside it
SHADES = {"cases": 1.0, "repeats": 0.62, "draws": 0.3}  # of the accent colour


def noise_figure(models: Sequence[ModelNoise], dark: bool = False) -> Figure:
    """Return a bar a model, parted by the shares of cases, repeats and draws in the variance of its mean.

    The first part of a kind with room for it bears its name. Points carry [model] as customdata.
    """
    figure = new_figure()
    names = short_names([one.model for one in models], 18)
    starts = [0.0] * len(models)
    for source, shade in SHADES.items():
        shares = [one.shares[source].value if source in one.shares else 0.0 for one in models]
        if not any(source in one.shares for one in models):
            continue
        colour = mix(SURFACE[dark], ACCENT[dark], shade)
        figure.add_bar(
            y=list(range(len(models))), x=shares, base=list(starts), orientation="h", width=0.62,
            marker={"color": colour, "line": {"width": 1, "color": SURFACE[dark]}},
            text=_texts(source, shares), textposition="inside",
            insidetextanchor="middle", textangle=0, textfont={"size": 12, "color": text_colour(colour)},
            customdata=[[one.model] for one in models], hoverinfo="text",
            hovertext=[_facts(one, source, share) for one, share in zip(models, shares, strict=True)],
            selected={"marker": {"opacity": 1}}, unselected={"marker": {"opacity": 1}},
        )  # fmt: skip
        starts = [start + share for start, share in zip(starts, shares, strict=True)]
    figure.update_yaxes(
        tickvals=list(range(len(models))), ticktext=[plain(names[one.model]) for one in models],
        range=[len(models) - 0.5, -0.5], showgrid=False, zeroline=False, ticks="", tickfont={"size": 12},
    )  # fmt: skip
    figure.update_xaxes(
        range=[0, 1], tickvals=[0, 0.25, 0.5, 0.75, 1], ticktext=["0", "", "50 %", "", "100 %"], showgrid=False,
        zeroline=False, tickangle=0,
    )  # fmt: skip
    figure.update_layout(height=HEAD + BAR * len(models), barmode="overlay", margin_r=20)
    return figure


def _texts(source: str, shares: Sequence[float]) -> list[str]:
    named = next((place for place, share in enumerate(shares) if share >= NAMED), -1)
    return [
        "" if share < NARROW else f"{source if source != 'draws' else 'judge'} {100 * share:.0f} %" if place == named
        else f"{100 * share:.0f} %" for place, share in enumerate(shares)
    ]  # fmt: skip


def _facts(one: ModelNoise, source: str, share: float) -> str:
    known = one.shares.get(source)
    bounds = "" if known is None else f" (95 % {100 * known.low:.0f}–{100 * known.high:.0f})"
    return (
        f"<b>{plain(one.model)}</b><br>{100 * share:.0f} %{bounds} of the noise {BETWEEN[source]}"
        f"<br>95 % interval ± {number(one.half_width())}<br>click: the cases that vary most"
    )
