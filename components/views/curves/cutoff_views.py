"""The view of measures over the rank up to which they look: recall, precision, hit rate and nDCG by k."""

import streamlit as st

from components.charts import cutoff_curves
from components.data import run_reads
from components.views.curves import curve_parts
from components.widgets import filters, url
from components.widgets.chart import chart
from components.widgets.frame import is_dark
from metrics.presentation.chart_data import curve_points
from metrics.presentation.format import metric_name, shorten


def show_cutoffs(run: str, evaluator: str) -> None:
    """Draw each measure by k with its interval, the numbers beside it, and links to the worst cases."""
    columns = {one.metric: one for one in run_reads.leaderboard(run).columns if one.evaluator == evaluator}
    found = curve_points.measures(columns)
    names = {measure: metric_name(measure) for measure in found}
    asked = filters.many("Measures", list(names.values()), "label")
    chosen = {measure: own for measure, own in found.items() if not asked or names[measure] in asked}
    metrics = [metric for own in chosen.values() for metric in own.values()]
    points = curve_points.points(curve_parts.label_numbers(run, evaluator, metrics), chosen)
    series, colours, places = curve_parts.choose_series(points.assign(run=1))
    filters.reset(["model", "label"])
    points = points[points["series"].isin(series)]
    left, right = st.columns(curve_parts.COLUMNS)
    with left:
        figure = cutoff_curves.cutoff_figure(points, names, colours, is_dark())
        alt = f"{', '.join(names[measure] for measure in chosen)} by k of {', '.join(series)}"
        chart(figure, "cutoffs", alt, curve_parts.picked("of", "metric"))
    of, metric = url.param("of", ""), url.param("metric", "")
    with right:
        if of in places and metric in metrics:
            about = {"run": run, "evaluator": evaluator, "metric": metric, "model": places[of][0]}
            url.link(f"Worst cases of {shorten(of, 24)} by {metric_name(metric)}", "cases", **about)
        else:
            st.caption("Click a point to see the worst cases behind it.")
        rows = points.assign(Measure=[metric_name(name) for name in points["metric"]], label=None)
        curve_parts.numbers_table(rows, "Value", series, height=370, first="Measure")
        st.text("Bands: 95 % intervals.", help=" ".join(columns[own[max(own)]].description for own in chosen.values()))
