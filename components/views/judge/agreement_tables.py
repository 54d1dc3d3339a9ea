"""Judge and people in tables, words and one chart: agreement, means as judged and corrected, bias."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import pandas as pd

from components.charts.figure_parts import Figure, new_figure, plain, whiskers
from metrics.presentation.agreement_words import for_whom
from metrics.presentation.format import ARROWS, count, plural, shorten
from metrics.presentation.palette import ACCENT, INK, MUTED, SERIES, SURFACE
from metrics.presentation.phrases import estimated, metric_title as named

if TYPE_CHECKING:
    from components.data import MeanEstimate
    from components.data.agreements import CorrectedMeans
    from metrics.analysis import Column
    from metrics.analysis.labels.corrected_means import Corrected
    from metrics.analysis.labels.judge_agreement import Stat

    Number = Stat | MeanEstimate

CELLS = {  # people's verdict and the judge's, as the matrix of confusion names them
    "fail_fail": ("fail", "fail"), "fail_pass": ("fail", "pass"), "pass_fail": ("pass", "fail"),
    "pass_pass": ("pass", "pass"),
}  # fmt: skip
SAMPLINGS = {
    "random": "all cases, or a random sample of them",
    "picked": "cases picked for a reason (failures, complaints …)",
    "unknown": "not known",
}
CHOSEN = {
    "given": "chosen here", "declared": "the metric's own", "suggested": "suggested by the labels",
    "calibrated": "calibrated on these labels",
}  # fmt: skip
LONG_EXAMPLE = """case_id,model,rater,criterion,label
c1,model-a,ann,faithfulness,pass
c1,model-a,bo,faithfulness,fail
c2,model-a,ann,faithfulness,unsure"""
WIDE_EXAMPLE = """case_id,model,rater,faithfulness,fluency
c1,model-a,ann,4,5
c1,model-a,bo,3,5
c2,model-a,ann,1,4"""


class Span(NamedTuple):
    """A number with its 95 % interval."""

    value: float
    low: float | None
    high: float | None


def stat(found: Number | Span | None) -> str:
    """Return a statistic with its interval: `0.62 (0.55–0.69)`; `too few: 4 more` where it takes more labels."""
    return estimated(found)


def metric_title(column: Column, limit: int = 40) -> str:
    """Return evaluator, metric and its better end."""
    name = shorten(named(column, arrow=False), limit)
    return f"{name} {ARROWS[column.direction]}".rstrip()


def confusion_counts(table: Sequence[int]) -> pd.DataFrame:
    """Return the four counts for a confusion chart: people's verdict as label, the judge's as predicted."""
    return pd.DataFrame(
        [
            {"label": people, "predicted": judge, "count": n}
            for (people, judge), n in zip(CELLS.values(), table, strict=True)
        ]
    )


def sample_line(found: CorrectedMeans) -> str:
    """Return what the corrected means rest on and assume."""
    parts = [
        f"{count(found.sampled)} of {plural(found.labelled, 'labelled output')} were drawn with a known chance and "
        "count by its inverse."
    ]
    if picked := found.labelled - found.sampled:
        parts.append(f"{plural(picked, 'output')} picked by hand left out: with which chance is unknown.")
    if found.unanswered:
        parts.append(
            f"{plural(found.unanswered, 'drawn output has', 'drawn outputs have')} no label yet: "
            "left out, assuming they are like the others."
        )
    if found.split:
        parts.append(f"{plural(found.split, 'output')} on which raters differ: the mean of their labels.")
    if found.unsure:
        parts.append(f"{plural(found.unsure, 'unsure label')} left out: the means are of what raters are sure of.")
    if found.raters > 1:
        parts.append(for_whom(found.raters, all(row.others for row in found.rows if row.corrected)))
    return " ".join(parts)


def means_figure(rows: Sequence[Corrected], title: str, dark: bool = False) -> Figure:
    """Return each model's mean as judged (circle), by the labels (line) and corrected (diamond), with intervals."""
    figure = new_figure()
    kinds = (
        ("raw", "as judged", MUTED[dark], "circle-open", -0.22),
        ("labels", "labels alone", SERIES[dark][1], "line-ns-open", 0.0),
        ("corrected", "corrected", ACCENT[dark], "diamond", 0.22),
    )
    for kind, words, colour, symbol, shift in kinds:
        means = ((place, row.model, _mean(row, kind)) for place, row in enumerate(rows))
        drawn = [(place, model, mean) for place, model, mean in means if mean is not None]
        values = [mean.value for *_, mean in drawn]
        figure.add_scatter(
            x=values,
            y=[place + shift for place, *_ in drawn],
            mode="markers",
            name=words,
            marker={"symbol": symbol, "size": 10, "color": colour, "line": {"color": colour, "width": 2}},
            error_x=whiskers(values, [mean.low for *_, mean in drawn], [mean.high for *_, mean in drawn], colour, 2, 4),
            hovertext=[f"<b>{plain(model)}</b><br>{words} {stat(mean)}" for _, model, mean in drawn],
            hoverinfo="text",
        )
    figure.update_yaxes(
        tickvals=list(range(len(rows))), ticktext=[plain(shorten(row.model, 30)) for row in rows],
        range=[len(rows) - 0.5, -0.5], showgrid=False, zeroline=False, ticks="",
        tickfont={"size": 13, "color": INK[dark]},
    )  # fmt: skip
    figure.update_xaxes(title={"text": plain(title), "standoff": 12}, zeroline=False)
    figure.update_layout(
        height=96 + 62 * len(rows), plot_bgcolor=SURFACE[dark],
        legend={"orientation": "h", "y": 1.0, "yanchor": "bottom", "x": 0},
    )  # fmt: skip
    return figure


def _mean(row: Corrected, kind: str) -> Span | None:
    """Return one of a model's means; None where there is none in the unit of the axis."""
    found: Number | None = {"raw": row.raw, "labels": row.labels, "corrected": row.corrected}[kind]
    if found is None or found.value is None or (kind == "raw" and row.unit != "metric"):
        return None
    return Span(found.value, found.low, found.high)
