"""The view of groups: rates of each group with their intervals, and the corrected tests between groups."""

import pandas as pd
import streamlit as st

from components.charts import interval_bars
from components.views.curves import curve_parts
from components.widgets import controls, filters
from components.widgets.chart import chart
from components.widgets.frame import is_dark
from metrics.presentation import format
from metrics.presentation.format import metric_name

SIGNIFICANT = 0.05
TESTED = (
    "Each pair of groups in each rate: score test of two shares; resamples for calibration and for clustered cases. "
    "Adjusted by Holm over all tests of the model."
)


def show_groups(run: str, evaluator: str) -> None:
    """Draw one rate of each group and model with its interval, and which groups differ significantly."""
    frame = curve_parts.curves(run, evaluator)
    metrics = curve_parts.metrics_of(run, evaluator)
    numbers = curve_parts.label_numbers(run, evaluator, tuple(metrics))
    models = list(dict.fromkeys(numbers["series"]))
    chosen = filters.many("Models", models, "model") or models[: curve_parts.LINES]
    filters.reset(["model"])
    of_groups = numbers[numbers["label"].notna() & numbers["series"].isin(chosen)]
    if of_groups.empty:
        reasons = numbers["reason"].dropna().unique().tolist() if "reason" in numbers else []
        st.info(f"No rates of groups: {reasons[0] if reasons else 'the evaluator names no column of groups'}.")
        return
    names = {name: metric_name(name, evaluator) for name in dict.fromkeys(of_groups["metric"])}
    rate = controls.choice("Rate", names, "metric")
    rows = of_groups[of_groups["metric"] == rate]
    left, right = st.columns(curve_parts.COLUMNS)
    with left:
        st.text(names[rate], help=metrics[rate].description)
        bars = rows.assign(name=rows["label"], key=rows["label"])
        chart(
            interval_bars.bars_figure(bars, curve_parts.colours_of(models), names[rate], is_dark()),
            "groups",
            f"{names[rate]} of each group of {', '.join(chosen)}",
        )
        _show_tests(frame[frame["series"].isin(chosen) & (frame["rate"] == rate)], len(chosen) > 1)
    with right:
        st.text("Between groups")
        wide = numbers[numbers["label"].isna() & numbers["metric"].str.contains("_difference|_ratio")]
        titles = {
            name: f"{metric_name(name, evaluator)} {format.ARROWS[one.direction.value]}"
            for name, one in metrics.items()
        }
        wide = wide.assign(Metric=wide["metric"].map(titles)).dropna(subset=["value"])
        curve_parts.numbers_table(wide.drop(columns="n"), "Value", chosen, first="Metric")


def _show_tests(pairs: pd.DataFrame, several: bool) -> None:
    """Draw a row per pair of groups, the most certain difference first."""
    if pairs.empty:
        st.caption("Fewer than two groups have enough cases to be compared.")
        return
    pairs = pairs.sort_values("adjusted_p", kind="stable")
    ends = zip(pairs["low"], pairs["high"], strict=True)
    table = pd.DataFrame(
        {
            "Model": pairs["series"],
            "Groups": pairs["group"] + " − " + pairs["other"],
            "Difference": format.aligned(pairs["difference"].tolist()),
            "95 %": [format.interval(low, high) or format.MISSING for low, high in ends],
            "Adjusted p": format.aligned(pairs["adjusted_p"].tolist()),
            "": ["significant" if p <= SIGNIFICANT else "" for p in pairs["adjusted_p"]],
        }
    )
    st.text("Pairs of groups", help=TESTED)
    right = {name: st.column_config.Column(alignment="right") for name in ("Difference", "95 %", "Adjusted p")}
    st.dataframe(
        table if several else table.drop(columns="Model"), hide_index=True, column_config=right,
        height="content" if len(table) < 10 else 360,
    )  # fmt: skip
