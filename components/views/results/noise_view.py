"""Where the noise of a metric's means comes from, and the cheapest plan for a wanted width."""

from collections.abc import Sequence
from math import floor, log10
from typing import Any

import pandas as pd
import streamlit as st

from components.charts import noise_bars
from components.data import run_reads
from components.widgets import controls, url
from components.widgets.chart import pick
from components.widgets.frame import is_dark
from components.widgets.tables import header, numeric, records
from metrics.analysis import Column, ModelNoise, Noise
from metrics.presentation.format import MISSING, aligned, number, short_names
from metrics.presentation.noise_words import cost_words, lessons, noise_sentence, plan_words
from metrics.presentation.phrases import metric_title

MOST = 40  # models shown
LEAST = 1e-6  # half a width
WIDTH = "Half of the 95 % interval that you want for a model's mean, in the metric's own unit."
PRICE = (
    "What writing or labelling one new case costs you, beside the model's answers and the judge: in dollars, or where "
    "this run's prices are not known in answers. With 0, repeats hardly ever pay: a new case tells more than the same "
    "one again."
)
PLANNED = "Opens Sample size with the spread, repeats and groups of the model whose scores spread most here."
SOURCES = {
    "cases": ("Cases", "share of the noise of the mean that comes from which cases are in the suite"),
    "repeats": ("Repeats", "share that comes from the model's answering the same case differently each time"),
    "draws": ("Judge", "share that comes from the judge's replying differently each time, or the judges of a panel"),
}
TWICE = {
    "cases": ("Cases × 2", "half of the 95 % interval with twice as many cases like these"),
    "repeats": ("Repeats × 2", "half of the 95 % interval with twice as many answers of each case"),
    "draws": ("Judge × 2", "half of the 95 % interval if the judge were asked twice as often"),
}


def draw_noise(run: str, column: Column, tag: str | None) -> None:
    """Draw each model's noise by source, what more of each gives, and the plan; a click opens the cases behind it."""
    found = run_reads.noise(run, column.evaluator, column.metric, tag)
    if found is None:
        st.info("No model has two cases with values of this metric. Choose another one in the sidebar.")
        return
    models = found.models[:MOST]
    half = max(LEAST, max(one.half_width() for one in models) / 2)
    usual = float(round(half, -floor(log10(half))))
    priced = all(one.priced for one in models)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        width = controls.number("Wanted width ±", "width", usual, LEAST, step=10.0 ** floor(log10(usual)), help=WIDTH)
        price = controls.number(f"A new case costs{' $' if priced else ''}", "price", 0.0, 0.0, step=0.1, help=PRICE)
        st.text(noise_sentence(found, metric_title(column, arrow=False)) or _unknown(models))
    for lesson in lessons(found):
        st.caption(lesson)
    several = [source for source in SOURCES if any(source in one.shares for one in models)]
    point = None
    if len(several) > 1:
        figure = noise_bars.noise_figure(models, is_dark())
        point = pick(figure, "form-noise", "Sources of the noise of each model's mean, in shares")
    table, columns = _table(models, several, width, price, priced)
    if (clicked := records(table, columns, f"noise-{column.key}", tallest=36 + 35 * 10)) is not None:
        point = [models[clicked].model]
    _draw_links(run, column, tag, found, point)


def _table(
    models: Sequence[ModelNoise], several: Sequence[str], width: float, price: float, priced: bool
) -> tuple[pd.DataFrame, dict[str, Any]]:
    plans = [one.plan(width, price) for one in models]
    parts: dict[str, list[str]] = {"model": list(short_names([one.model for one in models], 18).values())}
    columns = {"model": header("Model", 130)}
    if len(several) > 1:
        for source in several:
            parts[source] = [_share(one, source) for one in models]
            columns[source] = numeric(SOURCES[source][0], 116, f"{SOURCES[source][1]}, with its 95 % interval")
    parts["now"] = aligned([one.half_width() for one in models])
    columns["now"] = numeric("± now", 70, "half of the mean's 95 % interval: 1.96 standard errors")
    for source in several:
        parts[f"twice {source}"] = aligned([one.half_width(**{source: 2.0}) for one in models])
        columns[f"twice {source}"] = numeric(TWICE[source][0], 92, TWICE[source][1])
    parts["plan"] = [plan_words(plan, one) for plan, one in zip(plans, models, strict=True)]
    columns["plan"] = header(
        f"Cheapest plan for ± {number(width)}", 240, "cases × answers of each × replies of a judge"
    )
    parts["cost"] = [cost_words(plan, one) for plan, one in zip(plans, models, strict=True)]
    about = (
        "dollars, at what this run's answers and judge cost"
        if priced
        else "answers of the model, and replies of the judge if it is asked repeatedly: the outputs have no cost_usd, "
        "or the judge's price is not known"
    )
    columns["cost"] = numeric("Costs" if priced else "Answers", 80, about)
    return pd.DataFrame(parts), columns


def _share(one: ModelNoise, source: str) -> str:
    share = one.shares.get(source)
    if one.needs or share is None:
        return f"too few: {one.needs} more" if one.needs else MISSING
    return f"{100 * share.value:.0f} % ({100 * share.low:.0f}–{100 * share.high:.0f})"


def _unknown(models: Sequence[ModelNoise]) -> str:
    widest = max(one.half_width() for one in models)
    return f"The means are known to ± {number(widest)} or better; twice as many cases give ± {number(widest / 2**0.5)}."


def _draw_links(run: str, column: Column, tag: str | None, found: Noise, point: list[Any] | None) -> None:
    """Draw the way to the cases whose answers, or verdicts, vary most; a clicked model's are opened."""
    known = {source for one in found.models for source in one.shares}
    orders: dict[str, tuple[str | None, str]] = {"repeats": ("varied", "Open the cases whose answers vary most")}
    orders |= {"draws": ("disputed", "Open the cases that the judge is least sure of")}
    offered = [orders[source] for source in ("repeats", "draws") if source in known] or [(None, "Open the worst cases")]
    about = {"run": run, "tag": tag, "evaluator": column.evaluator, "metric": column.metric}
    if point:
        url.go("cases", **about, model=point[0], order=offered[0][0])
    with st.container(horizontal=True):
        for order, label in offered:
            if st.button(label, key=f"noise-{order}", icon=":material/arrow_forward:"):
                url.go("cases", **about, order=order)
        if st.button("Plan another suite", help=PLANNED):
            one = max(found.models, key=lambda one: one.single[0])
            deviation, within, between = (round(value, 3) for value in one.single)
            url.go(
                "sample_size", kind="mean", expected=max(0.01, deviation), repeats=round(one.found.repeats),
                noise=within, size=round(one.found.size), icc=between,
            )  # fmt: skip
