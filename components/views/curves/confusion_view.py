"""The view of the confusion matrix: a click on a cell lists what it counts."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from components import data
from components.charts import confusion_chart
from components.views.curves import curve_parts
from components.widgets import drilldown_filters, filters, url
from components.widgets.chart import chart
from components.widgets.frame import is_dark
from metrics.presentation import format
from metrics.presentation.chart_data import confusion_counts


def show_confusion(run: str, evaluator: str) -> None:
    """Draw one model's confusion matrix, its most frequent mistakes, and what is behind a cell."""
    frame = curve_parts.curves(run, evaluator)
    places = curve_parts.lines_in(frame)
    name = filters.pick("Model", list(places), "model")
    counts = frame[frame["series"] == name]
    entry, said = data.catalogue()[evaluator], curve_parts.words(run)
    margins = confusion_counts.margins_of(counts) if "detection" in entry.tasks else None
    left, right = st.columns(curve_parts.COLUMNS)
    with left:
        chart(
            confusion_chart.confusion_figure(counts, margins, said.things, is_dark(), pixels_high=500), "cells",
            f"Confusion matrix of {name}: true label down, predicted label across",
            curve_parts.picked("truth", "predicted"),
        )  # fmt: skip
    truth, predicted = url.param("truth"), url.param("predicted")
    with right:
        if truth and predicted:
            _show_cell(run, evaluator, name, places[name], counts, (truth, predicted), margins)
        else:
            _show_summary(run, evaluator, name, counts, margins)
            st.caption(f"Click a cell of the matrix to see its {said.things}.")


def _show_summary(run: str, evaluator: str, name: str, counts: pd.DataFrame, margins: tuple[str, str] | None) -> None:
    """Draw the main metrics with their intervals, and the most frequent mistakes."""
    said = curve_parts.words(run)
    metrics = data.catalogue()[evaluator].metrics
    wanted = tuple(metric.name for metric in metrics if metric.primary or (margins and metric.name != "count"))
    numbers = curve_parts.label_numbers(run, evaluator, wanted)
    numbers = numbers[(numbers["series"] == name) & numbers["label"].isna()].drop_duplicates("metric")
    rows = {str(row["metric"]): row for row in numbers.to_dict("records")}
    columns = st.columns(len(wanted)) if margins is None else [*st.columns(2), *st.columns(2)]
    for metric, place in zip((metric for metric in metrics if metric.name in wanted), columns, strict=False):
        row = rows.get(metric.name)
        if row is None:
            continue
        bounds = format.interval(row["low"], row["high"])
        title = f"{format.title(metric.name)} {format.ARROWS[metric.direction.value]}"
        with place.container(gap="xxsmall"):
            st.metric(title, format.number(row["value"]), help=metric.description)
            st.caption(f"{bounds} · n {format.count(int(row['n']))}" if bounds else f"n {format.count(int(row['n']))}")
    mistakes = confusion_counts.confusions(counts, margins, most=5 if margins else 8)
    if mistakes.empty:
        st.text("No class is confused with another.")
        return
    st.text("Most frequent mistakes")
    st.dataframe(
        mistakes.assign(share=100 * mistakes["share"]), hide_index=True,
        column_config={
            "label": "True", "predicted": "Predicted", "count": st.column_config.NumberColumn(said.things, width=60),
            "share": st.column_config.NumberColumn("of class", format="%.0f %%", width=70),
        },
    )  # fmt: skip


def _show_cell(
    run: str, evaluator: str, name: str, series: tuple[str, int], counts: pd.DataFrame, cell: tuple[str, str],
    margins: tuple[str, str] | None,
) -> None:  # fmt: skip
    """Draw what the cell counts."""
    names = confusion_counts.groups(counts, margins)
    labels, predicted = (tuple(label for label, shown in names.items() if shown == wanted) for wanted in cell)
    rows, total = data.confused(run, evaluator, series, labels, predicted)
    st.text(f"{name}: {_in_words(*cell, margins)}")
    about: dict[str, url.Value] = {"evaluator": evaluator}
    if margins:
        about["score"] = data.run_facts(run).evaluators[evaluator].get("score_threshold")
    # where all are of one kind and class, the heading says so
    rows = rows.drop(columns=[column for column in ("kind", "label") if column in rows and rows[column].nunique() < 2])
    curve_parts.list_things(run, rows, total, f"confused-{series}-{cell}", curve_parts.words(run), series[0], **about)
    if margins:
        curve_parts.pictures_link(
            run,
            series[0],
            {"evaluator": evaluator, "repeat": series[1], **drilldown_filters.cell(labels, predicted, margins)},
        )
    curve_parts.back("Back to the mistakes", "truth", "predicted")


def _in_words(truth: str, predicted: str, margins: tuple[str, str] | None) -> str:
    if margins and truth == margins[0]:
        return f"{predicted}, nothing there"
    if margins and predicted == margins[1]:
        return f"{truth}, missed"
    return f"{truth}, correct" if truth == predicted else f"{truth}, predicted as {predicted}"
