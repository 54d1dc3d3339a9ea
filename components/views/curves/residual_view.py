"""The view of predicted numbers: residual plots, and the errors with their intervals."""

import pandas as pd
import streamlit as st

from components.charts import residuals
from components.views.curves import curve_parts
from components.widgets import filters, url
from components.widgets.chart import chart
from components.widgets.frame import is_dark
from metrics.presentation import format
from metrics.presentation.format import metric_name

MODELS = 3  # drawn by default: clouds of points cover each other


def show_residuals(run: str, evaluator: str) -> None:
    """Draw predicted over true values, errors, their histogram, and the numbers; a click on a point opens its case."""
    frame = curve_parts.curves(run, evaluator)
    series, colours, _ = curve_parts.choose_series(frame, most=MODELS)
    filters.reset(["model"])
    points = frame[frame["series"].isin(series)]
    if points.empty:
        st.info("No case has both a true value and a prediction. Check the column of true values in the suite.")
        return

    def open_case(point: list[str]) -> None:
        st.session_state["residual-case"] = point

    chart(
        residuals.residual_figure(points, colours, is_dark()),
        "residuals",
        f"Predicted over true values, errors over predictions, and a histogram of the errors of {', '.join(series)}",
        open_case,
    )
    if point := st.session_state.pop("residual-case", None):
        about = {"case": str(point[0]), "model": str(point[1]), "evaluator": evaluator, "metric": "mae"}
        url.go("case", run=run, **about)
    numbers = curve_parts.label_numbers(run, evaluator, tuple(curve_parts.metrics_of(run, evaluator)))
    shown = len(points) // len(series)
    most = int(numbers["n"].max()) if len(numbers) else shown
    some = f" The plots show {format.count(shown)} of {format.count(most)}, evenly by error." if shown < most else ""
    st.caption(f"Click a point to open its case. Above the dotted line predictions are too high.{some}")
    _show_numbers(run, numbers, evaluator, series)


def _show_numbers(run: str, numbers: pd.DataFrame, evaluator: str, series: list[str]) -> None:
    """Draw a row per metric and model, in the order of the evaluator's metrics."""
    metrics = curve_parts.metrics_of(run, evaluator)
    order = list(metrics).index
    rows = numbers.dropna(subset=["value"]).sort_values("metric", key=lambda of: of.map(order), kind="stable")
    titles = {
        name: f"{metric_name(name, evaluator)} {format.ARROWS[one.direction.value]}" for name, one in metrics.items()
    }
    rows = rows.assign(Metric=rows["metric"].map(titles))
    curve_parts.numbers_table(rows, "Value", series, first="Metric")
