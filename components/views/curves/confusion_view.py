"""The view of the confusion matrix: a click on a cell lists what it counts."""

from typing import Any
from urllib.parse import urlsplit

import pandas as pd
import streamlit as st

from components.charts import confusion_chart
from components.data import reviews, run_reads, workspace_runs
from components.views.curves import curve_parts
from components.views.objects import object_list, point_controls
from components.widgets import drilldown_filters, filters, url
from components.widgets.chart import chart
from components.widgets.frame import is_dark
from components.widgets.tables import records
from metrics.analysis import OperatingPoint
from metrics.presentation import format
from metrics.presentation.chart_data import confusion_counts
from metrics.presentation.format import metric_name

LISTED = 200  # objects of a cell
PAIRS_HEIGHT = 215  # pixels
LEGIBLE = 24  # classes that are all shown by default


def show_confusion(run: str, evaluator: str) -> None:
    """Draw one model's confusion matrix, its most frequent mistakes, and what is behind a cell."""
    frame = curve_parts.curves(run, evaluator)
    places = curve_parts.lines_in(frame)
    ranked = run_reads.headline(run).models
    name = filters.pick("Model", sorted(places, key=lambda line: ranked.index(places[line][0])), "model")
    counts = frame[frame["series"] == name]
    entry, said = workspace_runs.run_evaluator(run, evaluator), curve_parts.words(run, evaluator)
    point, of_objects = None, evaluator in run_reads.match_evaluators(run)
    if of_objects and entry is not None and "detection" in entry.tasks:
        state = object_list.state_here()
        point = point_controls.point_of(run, state, places[name][0])
        point_controls.draw(run, point, state, run_reads.match_rules(run, evaluator).similarity)
        counts = reviews.confusion_at(run, places[name][0], point, places[name][1])
    margins = confusion_counts.margins_of(counts) if of_objects else None
    names, order = _choose_classes(counts, margins)
    matrix = confusion_counts.confusion_matrix(counts, margins, names=names)
    matrix = confusion_counts.ordered(matrix, order, margins)
    left, right = st.columns(curve_parts.COLUMNS)
    with left:
        chart(
            confusion_chart.confusion_figure(counts, margins, said.things, is_dark(), 500, matrix),
            "cells",
            f"Confusion matrix of {name}: true label down, predicted label across",
            curve_parts.picked("truth", "predicted"),
        )
    truth, predicted = url.param("truth"), url.param("predicted")
    with right:
        if truth and predicted:
            cell = (truth, predicted)
            st.text(f"{name}: {_in_words(*cell, margins)}")
            labels, guesses = (
                tuple(label for label, shown in names.items() if shown == wanted) or (wanted,) for wanted in cell
            )
            if margins:
                _show_objects(run, evaluator, places[name], labels, guesses, margins)
            else:
                _show_cases(run, evaluator, places[name], labels, guesses)
            curve_parts.back("Back to the mistakes", "truth", "predicted")
        else:
            _show_summary(run, evaluator, name, counts, margins, point)
            st.caption(f"Click a cell or a row to see its {said.things}.")


def _choose_classes(counts: pd.DataFrame, margins: tuple[str, str] | None) -> tuple[dict[str, str], str]:
    """Choose which classes are shown, and in which order; return the name of each in the matrix, and the order."""
    order = filters.pick("Order", confusion_counts.ORDERS, "order")
    classes = list(confusion_counts.mistakes_of(counts, margins).index)
    most = len(classes)
    if most > LEGIBLE:
        sizes = {str(size): f"The {size} with most mistakes" for size in confusion_counts.SIZES if size < most}
        nearest = sorted(sizes.items(), key=lambda size: abs(int(size[0]) - LEGIBLE))  # the default comes first
        most = int(filters.pick("Classes shown", dict(nearest), "classes", len(classes)))
    near = filters.one("Around a class", classes, "near", every="Whole matrix")
    filters.reset(["order", "classes", "near"])
    return confusion_counts.chosen_names(counts, margins, most, order, near), order


def _show_summary(
    run: str, evaluator: str, name: str, counts: pd.DataFrame, margins: tuple[str, str] | None,
    point: OperatingPoint | None,
) -> None:  # fmt: skip
    """Draw the main metrics, with their intervals where the run measured them, and the most frequent mistakes."""
    said, metrics = curve_parts.words(run, evaluator), curve_parts.metrics_of(run, evaluator).values()
    wanted = [metric for metric in metrics if metric.primary or (margins and not metric.minor)]
    own = workspace_runs.run_facts(run).evaluators[evaluator]
    measured = point is None or point == (own["score_threshold"], own["iou_threshold"])
    numbers = curve_parts.label_numbers(run, evaluator, tuple(metric.name for metric in wanted))
    numbers = numbers[(numbers["series"] == name) & numbers["label"].isna()].drop_duplicates("metric")
    rows = {str(row["metric"]): row for row in numbers.to_dict("records")}
    if not measured and margins:
        shares = confusion_counts.shares(counts, margins)
        rows = {key: {"value": value, "n": n, "low": None, "high": None} for key, (value, n) in shares.items()}
    places = [place for row in range(0, len(wanted), 2) for place in st.columns(min(2, len(wanted) - row))]
    for metric, place in zip(wanted, places, strict=True):
        row = rows.get(metric.name)
        if row is None:
            continue
        bounds = format.interval(row["low"], row["high"])
        title = f"{metric_name(metric.name)} {format.ARROWS[metric.direction.value]}"
        with place.container(gap="xxsmall"):
            st.metric(title, format.number(row["value"]), help=metric.description)
            st.caption(f"{bounds} · n {format.count(int(row['n']))}" if bounds else f"n {format.count(int(row['n']))}")
    if not measured:
        st.caption(
            f"Intervals are known at score ≥ {own['score_threshold']:.2f}, "
            f"{run_reads.match_rules(run, evaluator).similarity} ≥ {own['iou_threshold']:.2f} only."
        )
    mistakes = confusion_counts.confusions(counts, margins, most=100)
    if mistakes.empty:
        st.text("No class is confused with another.")
        return
    st.text("Most frequent mistakes")
    shown = mistakes.assign(share=[f"{100 * share:.1f} %" for share in mistakes["share"]])
    columns: dict[str, Any] = {
        "label": "True",
        "predicted": "Predicted",
        "count": st.column_config.NumberColumn(said.things.capitalize(), width=60),
        "share": st.column_config.Column("Of class", width=70, alignment="right"),
    }
    if (clicked := records(shown, columns, f"pairs-{name}", tallest=PAIRS_HEIGHT)) is not None:
        url.put(truth=str(mistakes["label"].iloc[clicked]), predicted=str(mistakes["predicted"].iloc[clicked]))
        st.rerun()


def _show_cases(
    run: str, evaluator: str, series: tuple[str, int], labels: tuple[str, ...], predicted: tuple[str, ...]
) -> None:
    rows, total = run_reads.confused(run, evaluator, series, labels, predicted)
    # where all are of one kind and class, the heading says so
    rows = rows.drop(columns=[column for column in ("kind", "label") if column in rows and rows[column].nunique() < 2])
    key = f"confused-{series}-{labels[0]}-{predicted[0]}"
    curve_parts.list_things(run, rows, total, key, curve_parts.words(run, evaluator), series[0], evaluator=evaluator)


def _show_objects(
    run: str, evaluator: str, series: tuple[str, int], labels: tuple[str, ...], predicted: tuple[str, ...],
    margins: tuple[str, str],
) -> None:  # fmt: skip
    """Draw the objects that a cell counts at the operating point; each opens where the gallery shows it."""
    scored = workspace_runs.run_facts(run).suite["task"] == "detection"
    about = {"evaluator": evaluator, "score": url.param("score"), "iou": url.param("iou")}
    wanted: dict[str, url.Value] = about | drilldown_filters.cell(labels, predicted, margins, scored)
    wanted |= {"repeat": series[1]} if series[1] != 1 else {}
    state = urlsplit(url.href("gallery", run=run, model=series[0], **wanted)).query
    listed = object_list.object_list(run, url.state_of(state))
    if listed is None:
        return
    rows = object_list.object_rows(listed, LISTED)
    rows = rows.drop(columns=[column for column in ("kind", "label") if rows[column].nunique() < 2])
    key = f"confused-{series}-{labels[0]}-{predicted[0]}"
    curve_parts.list_things(
        run, rows, listed.page(LISTED, 0).total, key, curve_parts.words(run, evaluator), series[0], gallery=state,
        compare=series[0], **about,
    )  # fmt: skip
    curve_parts.pictures_link(run, series[0], wanted)


def _in_words(truth: str, predicted: str, margins: tuple[str, str] | None) -> str:
    if margins and truth == margins[0]:
        return f"{predicted}, background"
    if margins and predicted == margins[1]:
        return f"{truth}, missed"
    return f"{truth}, correct" if truth == predicted else f"{truth}, predicted as {predicted}"
