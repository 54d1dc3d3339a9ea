"""Judge and people in tables, words and one chart: agreement and the outputs behind it, means as judged and corrected,
bias, a panel's judges beside each other, and from which score on answers can be accepted without a person.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd
import streamlit as st

from components.charts.figure_parts import Figure, new_figure, plain, whiskers
from components.data import agreements
from components.viewers import blocks
from components.widgets import filters, url
from components.widgets.tables import draw_columns, header, numeric, records
from metrics.analysis import Column
from metrics.analysis.labels.judge_agreement import Agreement
from metrics.analysis.labels.pass_rates import Acceptance
from metrics.core.conventions import limit
from metrics.presentation import format, guarantee_words
from metrics.presentation.agreement_words import for_whom
from metrics.presentation.format import ARROWS, count, plural, shorten
from metrics.presentation.palette import ACCENT, INK, MUTED, SERIES, SURFACE
from metrics.presentation.phrases import estimated, metric_title as named
from metrics.presentation.questions.can_the_judge_be_trusted import panel_blocks

if TYPE_CHECKING:
    from components.data import MeanEstimate
    from components.data.agreements import CorrectedMeans
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
LIMITS = {"0.01": "1 %", "0.02": "2 %", "0.1": "10 %", "0.2": "20 %"}
ABOUT = (
    "Learn then Test (Angelopoulos et al. 2021): the labels may choose the threshold, as thresholds are tested in a "
    "fixed order. Only labels of outputs drawn at random count, and one a case: where raters differ, that of one, "
    "drawn at random; a rater who is unsure does not pass the answer. The guarantee holds for new answers like these, "
    "for each row by itself; for all models together it says nothing about a single one of them."
)
TOGETHER = "all together"
WRONG = "Of the labels that chose the threshold: accepted answers not passed."
LABELS = "Labels that choose the threshold: of outputs drawn at random, one a case."
MORE = "How many more labels it takes, or may take if the shares of wrong ones stay."
PANEL = "Judges that contradict each other cannot all be right: look at the cases where they differ first."


class Span(NamedTuple):
    """A number with its 95 % interval."""

    value: float
    low: float | None
    high: float | None


def metric_title(column: Column, limit: int = 40) -> str:
    """Return evaluator, metric and its better end."""
    name = shorten(named(column, arrow=False), limit)
    return f"{name} {ARROWS[column.direction]}".rstrip()


def confusion_counts(table: Sequence[int]) -> pd.DataFrame:
    """Return the four counts for a confusion chart: people's verdict as label, the judge's as predicted."""
    pairs = zip(CELLS.values(), table, strict=True)
    return pd.DataFrame([{"label": people, "predicted": judge, "count": n} for (people, judge), n in pairs])


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
            hovertext=[f"<b>{plain(model)}</b><br>{words} {estimated(mean)}" for _, model, mean in drawn],
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


def draw_cell(run: str, name: str, column: Column, found: Agreement, cell: str, **choice: Any) -> None:
    """Draw the outputs that a cell counts, and the picked ones that belong in it; `choice` says which are compared."""
    only = (column.evaluator, column.metric)
    rows = agreements.cell_outputs(run, name, only, found.threshold or 0.0, cell, **choice)
    people, verdict = CELLS[cell]
    with st.container(horizontal=True, vertical_alignment="center"):
        relation = "agree" if people == verdict else "differ"
        counted = sum(row["counted"] for row in rows)
        picked = f" and {format.plural(len(rows) - counted, 'picked one')}" if counted < len(rows) else ""
        count = format.plural(counted, "output") + picked
        st.text(f"{count}: people {people}, judge {verdict}: they {relation}", width="stretch")
        if st.button("Close", type="tertiary", icon=":material/close:"):
            url.put(people=None, verdict=None)
            st.rerun()
    if not rows:
        st.text("No output is in this cell.")
        return
    outputs_table(run, column, rows, f"cell-{cell}")


def outputs_table(run: str, column: Column, rows: Sequence[Mapping[str, Any]], key: str) -> None:
    """Draw labelled outputs (see data.cell_outputs) with the judge's score and people's label; a click opens one."""
    table = pd.DataFrame(rows)
    table = table.assign(
        judge=format.aligned(table["judge"].tolist()),
        people=format.aligned(table["people"].tolist()),
        counted=table["counted"].map({True: "random", False: "picked"}),
    )
    shown = {
        "case_id": header("Case", 150),
        "model": header("Model", 140),
        "judge": numeric("Judge", 60),
        "people": numeric("People", 60, "Mean of its labels; where raters differ, one drawn at random counts."),
    }
    if not table["counted"].eq("random").all():
        shown["counted"] = header("Label", 80, "Only labels of a random sample are counted in the cell.")
    if (clicked := records(table, shown, key, tallest=210)) is not None:
        row = rows[clicked]
        url.go(
            "case", run=run, evaluator=column.evaluator, metric=column.metric, case=row["case_id"],
            model=row["model"], compare=row["model"],
        )  # fmt: skip


def show_acceptance(
    run: str, criterion: str, column: Column, model: str | None, tag: str | None, passing: float | None
) -> None:
    """Draw the answer in a sentence, a row a model, and the accepted answers that people fail."""
    asked = filters.one("Accepted answers wrong at most", LIMITS, "most", every="5 %")
    only = (column.evaluator, column.metric)
    rows = agreements.acceptances(run, criterion, only, tag, passing, float(asked or 0.05))
    if not rows:
        st.info("Neither end of this metric is better, so no answer can be accepted by it. Choose another metric.")
        return
    chosen = next((one for one in rows if one.model == model), rows[-1])
    st.text(guarantee_words.accept_line(chosen), help=ABOUT)
    if (clicked := _draw_table(rows)) is not None and rows[clicked] is not chosen:
        url.put(model=rows[clicked].model)
        st.rerun()
    if chosen.threshold is None:
        return
    found = agreements.cell_outputs(run, criterion, only, chosen.threshold, "fail_pass", chosen.model, tag, passing)
    count = format.plural(len(found), "labelled answer")
    st.text(f"{count} would be accepted that people fail" + (": click a row to see it." if found else "."))
    if found:
        outputs_table(run, column, found, "accepted")


def _draw_table(rows: list[Acceptance]) -> int | None:
    """Draw a row a model; return the one just clicked."""
    limits = [limit(one.threshold, one.column.direction) or format.MISSING for one in rows]
    accepted = [format.MISSING if one.accepted is None else format.share(one.accepted, 1) for one in rows]
    wrong = [
        format.MISSING if one.threshold is None else f"{one.wrong} of {format.count(one.answered)}" for one in rows
    ]
    columns = {
        "model": (header("Model", 200), [one.model or TOGETHER for one in rows]),
        "threshold": (numeric("Accept from", 110, "The score from which on an answer is accepted."), limits),
        "accepted": (numeric("Accepted", 90, "Share of all scored answers that are accepted."), accepted),
        "wrong": (numeric("Wrong labels", 110, WRONG), wrong),
        "n": (numeric("Labels", 80, LABELS), [format.count(one.n) for one in rows]),
        "missing": (header("Missing", 260, MORE), [guarantee_words.missing(one) for one in rows]),
    }
    return draw_columns(columns, "acceptance", tallest=330)


def show_panel(run: str) -> None:
    """Draw a row an evaluator and pair of judges; a click opens the evaluator's cases, the most disputed first."""
    found = agreements.panel_agreement(run)
    if not found:
        st.info("Fewer than three cases have values of two judges, too few for a figure of their agreement.")
        return
    st.text(PANEL)
    blocks.draw_blocks(panel_blocks(found), run, "judge_agreement", "panel")
    st.caption("95 % intervals from 1,000 bootstrap samples of the cases. Click a row for its most disputed cases.")
