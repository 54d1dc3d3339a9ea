"""Views over every score: precision over recall by rank, ROC, calibration, and measures by the rank k."""

from dataclasses import replace

import pandas as pd
import streamlit as st

from components.charts import cutoff_curves, ranked_curves, reliability
from components.data import run_reads
from components.views.curves import curve_parts
from components.widgets import filters, url
from components.widgets.chart import chart
from components.widgets.frame import is_dark
from metrics.presentation import format
from metrics.presentation.chart_data import curve_points
from metrics.presentation.format import metric_name, shorten
from metrics.presentation.guarantee_words import answer_only

GUARANTEE = (
    "Learn then Test (Angelopoulos et al. 2021): the thresholds are tested in a fixed order, so that trying many does "
    "not break the guarantee. It holds for new cases of the same kind, for each model by itself. Both limits are "
    "parameters of Selective accuracy."
)
RANKED = ("ap", "map", "AP50", "AP75")  # metrics that are the area under a curve of interpolated precision


def show_ranks(run: str, evaluator: str) -> None:
    """Draw interpolated precision over recall at one IoU threshold, and average precision with its interval."""
    frame = curve_parts.curves(run, evaluator)
    series, colours, _ = curve_parts.choose_series(frame)
    points = frame[frame["series"].isin(series)]
    measure, at = run_reads.match_rules(run, evaluator).similarity, ""
    posed = measure == "OKS"
    numbers = curve_parts.label_numbers(run, evaluator, ("AP",) if posed else RANKED)
    if "iou" in frame:
        asked = filters.pick(measure, {f"{iou:.2f}": f"{iou:.2f}" for iou in sorted(frame["iou"].unique())}, "iou")
        iou = float(asked)
        points = points[(points["iou"] - iou).abs() < 0.005]
        if not posed:
            numbers = numbers[[abs(columns.get("iou", -1) - iou) < 0.005 for columns in numbers["columns"]]]
        at = f" at {measure} ≥ {asked}"
    chosen = curve_parts.choose_labels(curve_points.worst_first(points), curve_parts.MEAN)
    points = pd.concat([curve_points.mean_ranks(points, curve_parts.MEAN), points])
    filters.reset(["model", "iou", "label"])
    left, right = st.columns(curve_parts.COLUMNS)
    with left:
        points = curve_parts.ordered(points, chosen)
        figure = ranked_curves.rank_figure(points, colours, is_dark())
        chart(figure, "ranks", f"Interpolated precision over recall of {', '.join(series)}{at}")
    with right:
        st.text("Average precision, mean over OKS .50 … .95" if posed else f"Average precision{at}")
        curve_parts.numbers_table(curve_parts.of_labels(numbers, chosen), "AP", series, height=410)
        st.caption("AP is the mean of the interpolated precision, the area under each curve.")


def show_roc(run: str, evaluator: str) -> None:
    """Draw ROC curves, and the area under each with its interval."""
    frame = curve_parts.curves(run, evaluator)
    series, colours, _ = curve_parts.choose_series(frame)
    chosen = curve_parts.choose_labels(list(dict.fromkeys(frame["label"])))
    filters.reset(["model", "label"])
    points = curve_parts.ordered(frame[frame["series"].isin(series)], chosen)
    left, right = st.columns(curve_parts.COLUMNS)
    with left:
        figure = ranked_curves.roc_figure(points, colours, is_dark())
        chart(figure, "roc", f"ROC curves of {', '.join(series)}, a panel a class")
    with right:
        st.text("Area under the curve (AUC)")
        numbers = curve_parts.label_numbers(run, evaluator, ("roc_auc",))
        curve_parts.numbers_table(curve_parts.of_labels(numbers, chosen), "AUC", series, height=410)
        st.caption("The chance that a case of the class scores higher than one of another class; dotted: a guess, 0.5.")


def show_risk(run: str, evaluator: str) -> None:
    """Draw the share of wrong answers over the share of cases answered, and the threshold with a guarantee."""
    frame = curve_parts.curves(run, evaluator)
    series, colours, places = curve_parts.choose_series(frame)
    filters.reset(["model"])
    points = frame[frame["series"].isin(series)]
    left, right = st.columns(curve_parts.COLUMNS)
    with left:
        figure = ranked_curves.risk_figure(points, colours, is_dark())
        chart(figure, "risk", f"Share of wrong answers over the share of cases answered of {', '.join(series)}")
    with right:
        metrics = {name: one for name, one in curve_parts.metrics_of(run, evaluator).items() if not one.minor}
        numbers = curve_parts.label_numbers(run, evaluator, tuple(metrics))
        rows = numbers[numbers["series"].isin(series)]
        titles = {name: f"{metric_name(name)} {format.ARROWS[one.direction.value]}" for name, one in metrics.items()}
        rows = rows.assign(Metric=rows["metric"].map(titles))
        curve_parts.numbers_table(rows.drop(columns="n"), "Value", series, first="Metric")
        key = curve_parts.asked_key(run)
        shown = [one for one in run_reads.score_guarantees(run) if one.series in series and key in (None, one.key)]
        for one in shown:
            st.text(f"{one.series}: {answer_only(one)}", help=GUARANTEE)
        for model in dict.fromkeys(places[name][0] for name in series):
            about = {"run": run, "evaluator": evaluator, "metric": "sure_mistakes", "model": model}
            url.link(f"Surest mistakes of {model}", "cases", **about)
        st.caption("The surest cases are answered first. A line that stays low answers much and errs little.")


def show_reliability(run: str, evaluator: str) -> None:
    """Draw the reliability diagram of each model, and its calibration errors."""
    frame = curve_parts.curves(run, evaluator)
    series, colours, places = curve_parts.choose_series(frame, most=4)
    filters.reset(["model"])
    said = curve_parts.words(run)
    things = "predictions" if said is curve_parts.DETECTION else said.things
    left, right = st.columns(curve_parts.COLUMNS)
    with left:
        chart(
            reliability.reliability_figure(frame[frame["series"].isin(series)], colours, things, is_dark()),
            "reliability",
            f"Share right over the score of {', '.join(series)}, with the number of {things} of each bin",
            curve_parts.picked("of", "bin"),
        )
    of, low = url.param("of", ""), url.number("bin", -1.0)
    rows = frame[(frame["series"] == of) & ((frame["bin_low"] - low).abs() < 1e-6)]
    with right:
        if said is curve_parts.DETECTION and of in series and len(rows):
            _show_bin(run, evaluator, of, places[of], rows.iloc[0])
            return
        metrics = curve_parts.metrics_of(run, evaluator)
        numbers = curve_parts.label_numbers(run, evaluator, tuple(metrics))
        rows = numbers[numbers["label"].isna()].dropna(subset=["value"])
        short = {name: metric_name(name.replace("_calibration", "")) for name in metrics}
        named = {name: f"{short[name]} {format.ARROWS[metrics[name].direction.value]}" for name in metrics}
        order = list(metrics).index
        rows = rows.assign(Metric=rows["metric"].map(named)).sort_values(
            "metric", key=lambda of: of.map(order), kind="stable"
        )
        curve_parts.numbers_table(rows.drop(columns="n"), "Value", series, first="Metric")
        n = rows.loc[rows["series"].isin(series), "n"].max()
        st.caption(f"Scored on up to {format.count(int(n))} {things}." if len(rows) else "")
        st.caption("Below the dotted line a model is overconfident, above it underconfident.")
        if said is curve_parts.DETECTION:
            st.caption("Click a point or a bar to see its predictions.")


def _show_bin(run: str, evaluator: str, of: str, series: tuple[str, int], edges: pd.Series) -> None:
    low, high = float(edges["bin_low"]), float(edges["bin_high"])
    st.text(
        f"{of}: score {low:.2f} … {high:.2f}\n"
        f"right {format.number(edges['accuracy'])} ({format.interval(edges['low'], edges['high'])}) "
        f"at mean score {format.number(edges['mean_confidence'])}"
    )
    rows, total = run_reads.scored(run, evaluator, series, low, high)
    key = f"bin-{of}-{low}"
    said = replace(
        curve_parts.DETECTION, thing="prediction", things="predictions", why=curve_parts.WHY | {"tp": "right"}
    )
    curve_parts.list_things(run, rows, total, key, said, series[0], evaluator=evaluator, score=low or None)
    about: dict[str, url.Value] = {"evaluator": evaluator, "repeat": series[1], "kind": ["fp", "tp"]}
    about |= {"score": low, "score_max": high}
    curve_parts.pictures_link(run, series[0], about)
    curve_parts.back("Back to the numbers", "of", "bin")


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
