"""One metric over several suites: which runs count, a table of models and suites, and all suites together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import streamlit as st

from components.charts import interval_bars
from components.data import run_reads, workspace_runs
from components.views.curves import curve_parts
from components.widgets import drilldown_filters, filters, url
from components.widgets.chart import pick
from components.widgets.frame import is_dark
from components.widgets.literal import literal
from components.widgets.tables import cell_of, header, numeric, parted
from metrics.presentation import format, ranking_words
from metrics.presentation.format import MISSING, short_names
from metrics.presentation.phrases import metric_title, with_interval

if TYPE_CHECKING:
    from components.views.results.chart_view import View
    from metrics.analysis import Overall, SeveralSuites

MOST_BARS, MOST_RUNS = 20, 12  # runs: taken unasked
VALUE = (
    "the mean over all suites that the model would have had it answered each: from the differences to the other models "
    "on the cases of one suite, weighted by how precisely each suite shows them; the suites' levels do not count"
)
INTERVAL = (
    "95 % interval; where differences between models vary from suite to suite, it includes that (DerSimonian and "
    "Laird, Hartung and Knapp)"
)
MEAN = (
    "mean of the model's numbers, each suite counting the same, on the cases that all models of a suite answered; only "
    "for models that answered every suite"
)
RANK = "1 + the number of significantly better models over all suites (Holm over all pairs, 5 %)"


def draw_suites(view: View) -> None:
    """Draw the metric of this run beside the same of runs of other suites; a click on a number opens its cases."""
    there = {key: one for key, one in run_reads.objectives(view.run).items() if not one.is_resource}
    shown = {column.key: there[column.key] for column in view.columns if column.key in there}
    if not shown:
        st.info("None of these metrics has a better end. Choose other evaluators in the sidebar.")
        return
    ordered = sorted(shown.values(), key=lambda one: not one.column.primary)
    key = filters.pick("Metric", {one.column.key: metric_title(one.column) for one in ordered}, "key")
    facts = workspace_runs.run_facts(view.run)
    others = {
        run.id: f"{format.shorten(run.name, 24)}, {format.moment(run.created)}"
        for run in workspace_runs.runs()
        if run.state == "finished" and run.id != view.run and shown[key].column.evaluator in run.evaluators
    }
    chosen = filters.many("Runs beside this one", others, "with", "Newest of each suite") if others else []
    if not chosen:  # versions of a suite share its name, and most of its cases
        newest = {
            run.suite["name"]: run.id
            for run in reversed(workspace_runs.runs())
            if run.id in others and not set(run.models).isdisjoint(facts.models)
        }
        newest.pop(facts.suite["name"], None)
        chosen = [run_id for run_id in others if run_id in newest.values()][:MOST_RUNS]
    if not chosen:
        st.info(
            "No finished run of another suite has this evaluator and one of these models. Evaluate them on a second "
            "suite, and their numbers stand beside these."
        )
        return
    found = run_reads.several_suites((view.run, *chosen), key)
    st.text(ranking_words.suites_sentence(found))
    names = dict.fromkeys((*workspace_runs.run_facts(view.run).models, *(one.model for one in found.overall)))
    _draw_table(found, curve_parts.colours_of(names))
    for line in ranking_words.suites_lines(found):
        st.caption(literal(line))


def _draw_table(found: SeveralSuites, colours: Mapping[str, str]) -> None:
    models = [one.model for one in found.overall]
    if fitted := [one for one in found.overall if one.value is not None][:MOST_BARS]:
        numbers = interval_bars.model_numbers(
            (one.model, "", one.suites, one.value, one.low, one.high) for one in fitted
        )
        bounds = (min(0.0, found.column.low), found.column.high) if found.column.high < float("inf") else None
        figure = interval_bars.ranked_figure(
            numbers, colours, found.column.unit, is_dark(), bounds, found.column.threshold
        )
        point = pick(figure, "form-suites", f"{metric_title(found.column)} over all suites")
        st.caption(
            "What each model's mean would be had it answered every suite. Whiskers: 95 %. Click a bar or a number for "
            "its cases."
        )
        if point:
            _open(found, point[0], None)
    short = short_names(models, 16)
    values = [MISSING if one.value is None else format.number(one.value) for one in found.overall]
    intervals = [format.interval(one.low, one.high) or MISSING for one in found.overall]
    means = [with_interval(one.mean, one.mean_low, one.mean_high) for one in found.overall]
    columns: dict[str, Any] = {
        "rank": (header("Rank", 50, f"the ranks that it may have: {RANK}"), list(map(_rank, found.overall))),
        "model": (header("Model", 120), [short[model] for model in models]),
        "value": (numeric("All suites", 76, VALUE), values),
        "interval": (numeric("95 %", 100, INTERVAL), intervals),
        "mean": (numeric("Mean of suites", 140, MEAN), means),
    }
    for place, suite in enumerate(found.suites):
        paired = f", {suite.paired:,} with a value of every model" if suite.paired else ""
        about = f"{suite.name}: {format.plural(suite.cases, 'case')}{paired}; click a number for its cases"
        own = [_text(found, model, suite.fingerprint) for model in models]
        columns[f"s{place}"] = header(format.shorten(suite.name, 28), 160, about), own
    clicked = cell_of(*parted(columns), f"suites-{found.column.key}-{len(found.suites)}", tallest=36 + 35 * 12)
    if clicked is not None:
        row, name = clicked
        _open(found, models[row], found.suites[int(name[1:])].fingerprint if name[1:].isdigit() else None)


def _text(found: SeveralSuites, model: str, suite: str) -> str:
    """Return a model's number in a suite with its interval, or why there is none."""
    own = found.cells[model, suite]
    return own.reason if own.cell is None else with_interval(own.cell.value, own.cell.low, own.cell.high)


def _open(found: SeveralSuites, model: str, suite: str | None) -> None:
    """Open the cases (or the objects) of a model in a suite, or in the first that it has a number in."""
    own = [found.cells[model, one.fingerprint] for one in found.suites if suite in (None, one.fingerprint)]
    run = next((one.run for one in own if one.cell is not None), None)
    if run is None:
        return
    page, where = drilldown_filters.place(run, found.column, model)
    url.go(page, **where)


def _rank(one: Overall) -> str:
    if one.best_rank is None or one.worst_rank is None:
        return MISSING
    return ranking_words.rank_text(one.best_rank, one.worst_rank)
