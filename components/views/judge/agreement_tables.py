"""Judge and people in tables, words and one chart: agreement, means as judged and corrected, bias."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import pandas as pd

from components.charts.figure_parts import plain, whiskers
from metrics.presentation.agreement_words import labels_counted
from metrics.presentation.format import ARROWS, MISSING, aligned, count, number, plural, shorten
from metrics.presentation.palette import ACCENT, INK, MUTED, SERIES, SURFACE
from metrics.presentation.phrases import estimated, too_few
from metrics.presentation.phrases import metric_title as named
from metrics.presentation.questions.can_the_judge_be_trusted import ALPHA, KAPPA

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from components.data import Agreement, Column, Corrected, CorrectedMeans, MeanEstimate, Raters, Stat

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
HELPS = {
    "spearman": "Spearman's ρ of score and label: 1 if both rank the outputs alike, 0 if unrelated. The sign is "
    "turned for metrics where lower is better, so that 1 is agreement.",
    "kappa": KAPPA,
    "accuracy": "Share of outputs that judge and people both pass or both fail. From 10 labels on.",
    "pooled": "The accuracy drawn towards that of the other models, or tags: the more the fewer labels there are, the "
    "less they differ (partial pooling). Also below 10 labels; from four models or tags on.",
    "sensitivity": "Share of what people pass that the judge passes. From 5 labels of outputs that people pass on.",
    "specificity": "Share of what people fail that the judge fails. From 5 labels of outputs that people fail on.",
    "threshold": "Scores on its good side pass.",
    "suggested": "The threshold with the highest (sensitivity + specificity) / 2 on all labels, picked ones too "
    "(Youden), with the 95 % range over resampled cases.",
    "balanced": "(sensitivity + specificity) / 2 of suggested thresholds on cases that did not choose them; ½: chance.",
    "n": "Outputs labelled at random that have both a score and a label that people agree on: only they speak for all "
    "outputs. Where there are none, the picked ones, which speak for themselves.",
    "alpha": ALPHA,
    "weighted": "Quadratic-weighted κ: grades far apart weigh more than neighbours.",
    "equal": "Share of outputs that got the same label from both.",
    "raw": "The leaderboard's mean, as the judge scores.",
    "labels": "The mean of the labelled random sample alone. From 10 labels on.",
    "corrected": "Prediction-powered mean (PPI++): the judge's scores of all outputs, corrected by a labelled random "
    "sample of 10 or more.",
    "gap": "Judge − people on the labelled outputs: above 0 the judge scores too high.",
    "weight": "λ: how far the correction follows the judge. Near 0 the judge's scores are unrelated to the labels.",
}


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


def agreement_table(rows: Iterable[Agreement]) -> pd.DataFrame:
    """Return how far each metric agrees with the labels, as texts."""
    rows = list(rows)
    return pd.DataFrame(
        {
            "metric": [("⚖ " if row.judged else "") + metric_title(row.column, 44) for row in rows],
            "spearman": [stat(row.spearman) for row in rows],
            "kappa": [stat(row.kappa) for row in rows],
            "sensitivity": [stat(row.sensitivity) for row in rows],
            "specificity": [stat(row.specificity) for row in rows],
            "threshold": aligned([row.threshold for row in rows]),
            "suggested": [stat(row.suggested) for row in rows],
            "n": [labels_counted(row) for row in rows],
        }
    )


def slice_table(rows: Mapping[tuple[str, str], Agreement]) -> pd.DataFrame:
    """Return how far one metric agrees with the labels by model and tag, as texts."""
    return agreement_table(rows.values()).assign(
        metric=[f"{kind}: {name}" for kind, name in rows],
        accuracy=[stat(row.accuracy) for row in rows.values()],
        pooled=[stat(row.pooled) for row in rows.values()],
    )


def confusion_counts(table: Sequence[int]) -> pd.DataFrame:
    """Return the four counts for a confusion chart: people's verdict as label, the judge's as predicted."""
    return pd.DataFrame(
        [
            {"label": people, "predicted": judge, "count": n}
            for (people, judge), n in zip(CELLS.values(), table, strict=True)
        ]
    )


def rater_table(rows: Sequence[Raters]) -> pd.DataFrame:
    """Return how far raters agree: all together first, then pairs, as texts."""
    return pd.DataFrame(
        {
            "raters": [f"{row.left} × {row.right}" if row.left else "all together" for row in rows],
            "alpha": [stat(row.alpha) for row in rows],
            "kappa": [stat(row.kappa) for row in rows],
            "weighted": [stat(row.weighted) for row in rows],
            "equal": [stat(row.equal) for row in rows],
            "n": [row.n for row in rows],
        }
    )


def corrected_table(rows: Sequence[Corrected]) -> pd.DataFrame:
    """Return each model's mean three times, as texts."""
    return pd.DataFrame(
        {
            "model": [row.model for row in rows],
            "raw": [stat(row.raw) for row in rows],
            "corrected": [too_few(row.needs) if row.needs else stat(row.corrected) for row in rows],
            "labels": [too_few(row.needs) if row.needs else stat(row.labels) for row in rows],
            "gap": [signed_stat(row.gap) for row in rows],
            "weight": [number(row.corrected.weight if row.corrected else None) for row in rows],
            "n": [f"{count(row.n)} of {count(row.total)}" for row in rows],
        }
    )


def signed_stat(found: Number | Span | None) -> str:
    """Return a difference with its sign and interval."""
    if found is None or found.value is None:
        return MISSING
    return ("+" if found.value > 0 else "") + stat(found)


def sample_line(found: CorrectedMeans) -> str:
    """Return what the corrected means rest on and assume."""
    parts = [
        f"{count(found.sampled)} of {plural(found.labelled, 'labelled output')} are a random sample, averaged; "
        "picked ones only help to choose a threshold."
    ]
    if found.unanswered:
        parts.append(
            f"{plural(found.unanswered, 'drawn output has', 'drawn outputs have')} no label yet: "
            "left out, assuming they are like the others."
        )
    if found.ties:
        parts.append(f"{plural(found.ties, 'output')} with as many passes as fails left out.")
    if found.unsure:
        parts.append(f"{plural(found.unsure, 'label')} unsure.")
    return " ".join(parts)


def means_figure(rows: Sequence[Corrected], title: str, dark: bool = False) -> go.Figure:
    """Return each model's mean as judged (circle), by the labels (line) and corrected (diamond), with intervals."""
    import plotly.graph_objects as go

    figure = go.Figure()
    kinds = (
        ("raw", "as judged", MUTED[dark], "circle-open", -0.22),
        ("labels", "labels alone", SERIES[dark][1], "line-ns-open", 0.0),
        ("corrected", "corrected", ACCENT[dark], "diamond", 0.22),
    )  # fmt: skip
    for kind, words, colour, symbol, shift in kinds:
        means = ((place, row.model, _mean(row, kind)) for place, row in enumerate(rows))
        drawn = [(place, model, mean) for place, model, mean in means if mean is not None]
        values = [mean.value for *_, mean in drawn]
        figure.add_scatter(
            x=values, y=[place + shift for place, *_ in drawn], mode="markers", name=words,
            marker={"symbol": symbol, "size": 10, "color": colour, "line": {"color": colour, "width": 2}},
            error_x=whiskers(
                values, [mean.low for *_, mean in drawn], [mean.high for *_, mean in drawn], colour, 2, 4
            ),
            hovertext=[f"<b>{plain(model)}</b><br>{words} {stat(mean)}" for _, model, mean in drawn],
            hoverinfo="text",
        )  # fmt: skip
    figure.update_yaxes(
        tickvals=list(range(len(rows))), ticktext=[plain(shorten(row.model, 30)) for row in rows],
        range=[len(rows) - 0.5, -0.5], showgrid=False, zeroline=False, ticks="",
        tickfont={"size": 13, "color": INK[dark]},
    )  # fmt: skip
    figure.update_xaxes(title={"text": plain(title), "standoff": 12}, zeroline=False)
    figure.update_layout(
        height=96 + 62 * len(rows), dragmode=False, hovermode="closest", plot_bgcolor=SURFACE[dark],
        margin={"l": 8, "r": 8, "t": 30, "b": 8}, legend={"orientation": "h", "y": 1.0, "yanchor": "bottom", "x": 0},
    )  # fmt: skip
    return figure


def _mean(row: Corrected, kind: str) -> Span | None:
    """Return one of a model's means; None where there is none in the unit of the axis."""
    found: Number | None = {"raw": row.raw, "labels": row.labels, "corrected": row.corrected}[kind]
    if found is None or found.value is None or (kind == "raw" and row.unit != "metric"):
        return None
    return Span(found.value, found.low, found.high)
