"""Views of bars with intervals: one number per class, and the cost of each kind of error."""

import math

import streamlit as st

from components.charts import interval_bars
from components.data import run_reads, workspace_runs
from components.views.curves import curve_parts
from components.widgets import drilldown_filters, filters, url
from components.widgets.chart import chart
from components.widgets.drilldown_filters import ERRORS
from components.widgets.frame import is_dark
from metrics.presentation import format
from metrics.presentation.chart_data import metric_bars
from metrics.presentation.format import metric_name
from metrics.presentation.phrases import directed

DRAWN = 100  # classes with bars: a browser takes a minute to draw those of a thousand


def show_labels(run: str, evaluator: str) -> None:
    """Draw one metric per class, the models beside each other, worst class first."""
    declared = curve_parts.metrics_of(run, evaluator)
    offered = {  # macro is the mean over classes
        name: metric_name(name, evaluator).removesuffix(" macro") for name in run_reads.label_metrics(run)[evaluator]
    }
    name = filters.pick("Metric", offered, "metric")
    metric = declared[name]
    numbers = curve_parts.label_numbers(run, evaluator, (name,))
    numbers = numbers[numbers["label"].notna()]
    variants = list(numbers["variant"].unique())
    variant = filters.pick("At", variants, "at") if len(variants) > 1 else variants[0]
    models = workspace_runs.run_facts(run).models
    colours = curve_parts.colours_of(models)
    chosen = filters.many("Models", models, "model") or list(models[: curve_parts.LINES])
    filters.reset(["metric", "at", "model"])
    numbers = numbers[(numbers["variant"] == variant) & numbers["series"].isin(chosen)]
    numbers = numbers.assign(name=numbers["label"], key=numbers["label"])
    order = metric_bars.worst_first(numbers, metric.direction.value)
    bounds = (metric.low, metric.high) if math.isfinite(metric.high - metric.low) else None
    left, right = st.columns(curve_parts.COLUMNS)
    title = directed(offered[name], metric.direction.value) + (f", {variant}" if variant else "")
    drawn = numbers[numbers["label"].isin(order[:DRAWN])]
    figure = interval_bars.bars_figure(drawn, colours, metric.unit, is_dark(), bounds, order[:DRAWN])
    with left:
        st.text(title, help=metric.description)
        with st.container(height=500 if figure.layout.height > 500 else "content", border=False):
            chart(figure, "labels", f"{title} of each class, the worst first", curve_parts.picked("of", "of_class"))
        if len(order) > DRAWN:
            st.caption(f"The worst {DRAWN} of {format.count(len(order))} classes. The table lists them all.")
    with right:
        if evaluator in run_reads.match_evaluators(run):
            of, label = url.param("of", ""), url.param("of_class", "")
            if of in chosen and label in order:
                parameters = workspace_runs.run_facts(run).evaluators[evaluator]
                filters_of = {**drilldown_filters.number(evaluator, name, parameters), "label": [label]}
                curve_parts.pictures_link(run, of, filters_of, f"See the objects of {format.shorten(of, 24)}, {label}")
            else:
                st.caption("Click a bar to see its objects.")
        st.text(f"{metric.description} {format.DIRECTIONS[metric.direction.value].capitalize()}.")
        numbers = curve_parts.of_labels(numbers.drop(columns=["name", "key"]), order)
        curve_parts.numbers_table(numbers, "Value", chosen, height=400)


def show_breakdown(run: str, evaluator: str) -> None:
    """Draw the average precision that each kind of error costs, and the objects behind a bar."""
    declared = curve_parts.metrics_of(run, evaluator)
    numbers = curve_parts.label_numbers(run, evaluator, tuple(declared))
    models = workspace_runs.run_facts(run).models
    colours = curve_parts.colours_of(models)
    chosen = filters.many("Models", models, "model") or list(models[: curve_parts.LINES])
    label = filters.one("Class", list(dict.fromkeys(numbers["label"].dropna())), "label", every="All classes")
    filters.reset(["model", "label"])
    numbers = numbers[numbers["series"].isin(chosen)]
    numbers = numbers[numbers["label"] == label if label else numbers["label"].isna()]
    gains = numbers[numbers["metric"].str.startswith(metric_bars.GAIN)]
    errors = gains["metric"].str.removeprefix(metric_bars.GAIN)
    gains = gains.assign(key=errors, name=errors.map(metric_bars.ERROR_TITLES))
    order = [metric_bars.ERROR_TITLES.get(error, "") for error in ERRORS]
    left, right = st.columns(curve_parts.COLUMNS)
    with left:
        st.text(f"AP gained without the error, {label or 'mean of classes'} ↓")
        chart(
            interval_bars.bars_figure(gains, colours, "AP", is_dark(), None, order), "breakdown",
            f"Average precision that each kind of error costs {', '.join(chosen)}", curve_parts.picked("of", "error"),
        )  # fmt: skip
    of, error = url.param("of", "") or "", url.param("error", "")
    with right:
        if of in chosen and error in metric_bars.ERROR_TITLES:
            _show_errors(run, evaluator, of, error, label)
            return
        st.text("Present AP", help=declared["ap"].description)
        curve_parts.numbers_table(numbers[numbers["metric"] == "ap"].assign(label=None), "AP", chosen)
        meanings = [
            f"**{title}** – {declared[metric_bars.GAIN + error].description}"
            for error, title in metric_bars.ERROR_TITLES.items()
        ]
        st.caption("  \n".join(meanings[:6]))
        st.caption("Click a bar to see its objects. The gains do not add up: AP is not a sum over errors.")


def _show_errors(run: str, evaluator: str, of: str, error: str, label: str | None) -> None:
    title, kinds = metric_bars.ERROR_TITLES[error], ERRORS[error]
    rows, total = run_reads.matched(run, evaluator, of, kinds, label)
    st.text(f"{of}: {title}" + (f", {label}" if label else ""))
    rows = rows.drop(columns="label") if label else rows
    rows = rows.drop(columns="kind") if len(kinds) == 1 else rows
    curve_parts.list_things(
        run, rows, total, f"errors-{of}-{error}-{label}", curve_parts.words(run), of, evaluator=evaluator, label=label
    )
    curve_parts.pictures_link(
        run, of, drilldown_filters.number(evaluator, metric_bars.GAIN + error, {}) | {"label": label}
    )
    curve_parts.back("Back to the errors", "of", "error")
