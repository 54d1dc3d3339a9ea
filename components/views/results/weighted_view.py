"""Several metrics in one number: the weights that the user sets, kept in the address, and the ranking they give."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import streamlit as st

from components.charts import interval_bars
from components.data import run_reads
from components.views.curves import curve_parts
from components.widgets import controls, url
from components.widgets.chart import pick
from components.widgets.frame import is_dark
from components.widgets.literal import literal
from components.widgets.tables import cell_of, draw_columns, header, numeric, parted, whole
from metrics.presentation import format, ranking_words
from metrics.presentation.format import short_names
from metrics.presentation.phrases import metric_title

if TYPE_CHECKING:
    from components.views.results.chart_view import View
    from metrics.analysis import Objective, WeightedScores

WEIGHT, SCALE = "weight", "scale"  # query parameters: key:weight, key:worst:best
MOST_BARS = 40
HELP = "Only the ratios count: 7 and 3 are 0.7 and 0.3. Nothing is preset; for equal weights give each a 1."
SCORE = (
    "weighted mean over the cases of each metric's value, scaled from 0 (worst) to 1 (best) of its range, ↓ inverted; "
    "only cases that have a value of every chosen metric"
)
FIRST = "share of all possible weightings of these metrics, each as likely as any other, in which the model is first"
RANK = "1 + the number of models whose score is significantly better (paired on cases, Holm over all pairs, 5 %)"


def asked_weights(run: str) -> run_reads.Weighting | None:
    """Return the weights and scales of the address; None where it has none above 0 that the run can be weighed by."""
    weights = url.amounts(WEIGHT, run_reads.objectives(run)) if url.params(WEIGHT) else {}
    scales = {
        key: (worst, best)
        for key, (worst, best) in _scales().items()
        if key in weights and worst is not None and best is not None
    }
    return run_reads.Weighting(tuple(weights.items()), tuple(scales.items())) if weights else None


def notes(run: str) -> tuple[str, ...]:
    """Return what a report says by the weights of the address, in sentences; empty without weights."""
    asked = asked_weights(run)
    return () if asked is None else notes_of(run, asked)


def notes_of(run: str, asked: run_reads.Weighting) -> tuple[str, ...]:
    """Return what a run says by these weights, in sentences; empty where there is no score."""
    found, _ = run_reads.weighted_scores(run, asked)
    if found is None:
        return ()
    told = (ranking_words.weighted_sentence(found), *ranking_words.robustness_lines(found))
    if len(asked.weights) < 2 or len(found.scores) < 2:
        return told
    return *told, ranking_words.front_sentence(run_reads.pareto_front(run, tuple(key for key, _ in asked.weights)))


def _scales() -> dict[str, tuple[float | None, float | None]]:
    """Return worst and best of the address by key; None for an end that is not given yet."""
    found = {}
    for text in url.params(SCALE):
        key, *ends = ["", "", *text.rsplit(":", 2)][-3:]
        worst, best = (None if math.isnan(end) else end for end in (url.as_number(end, math.nan) for end in ends))
        found[key] = worst, best
    return found


def draw_weighted(view: View) -> None:
    """Draw the weights, and the models by the score that these give."""
    there = run_reads.objectives(view.run, view.tag)
    shown = {column.key for column in view.columns}
    asked = asked_weights(view.run)
    given = {} if asked is None else dict(asked.weights)
    scales = {} if asked is None else dict(asked.scales)
    offered = {key: one for key, one in there.items() if key in shown or key in given or one.is_resource}
    with st.container(horizontal=True, vertical_alignment="center"):
        _draw_weights(offered, given, _scales())
        if asked is None:
            st.text("Choose the metrics that count and how much each: there is no score before you do.")
    if asked is None:
        return
    if missing := [key for key in given if key not in scales and not math.isfinite(_width(there[key]))]:
        titles = literal(", ".join(metric_title(there[key].column) for key in missing))
        st.info(
            f"{titles}: the range has no end, so it cannot be scaled to 0–1. Give its worst and its best value under "
            "Weights, or take its weight away."
        )
        return
    found, refused = run_reads.weighted_scores(view.run, asked, view.tag, tuple(view.leading))
    if found is None:
        st.info(literal(refused))
        return
    st.text(ranking_words.weighted_sentence(found))
    if found.scores:
        _draw_scores(view, found)
    for line in ranking_words.robustness_lines(found):
        st.caption(literal(line))


def _draw_scores(view: View, found: WeightedScores) -> None:
    left, right = st.columns(curve_parts.COLUMNS)
    short = short_names([one.model for one in found.scores], 14)
    with left:
        numbers = interval_bars.model_numbers(
            (one.model, "", one.n, one.value, one.low, one.high) for one in found.scores[:MOST_BARS]
        )
        figure = interval_bars.ranked_figure(numbers, view.colours, "", is_dark(), (0.0, 1.0))
        point = pick(figure, "form-weighted", "Weighted score of each model")
        st.caption("Weighted score, 0 the worst and 1 the best. Whiskers: 95 %. Click a bar for its cases.")
    with right:
        rank = header("Rank", 44, f"the ranks that it may have: {RANK}")
        bounds = [format.interval(one.low, one.high) for one in found.scores]
        columns: dict[str, Any] = {
            "rank": (rank, [ranking_words.rank_text(one.best_rank, one.worst_rank) for one in found.scores]),
            "model": (header("Model", 88), [short[one.model] for one in found.scores]),
            "score": (numeric("Score", 50, SCORE), [format.number(one.value) for one in found.scores]),
            "interval": (numeric("95 %", 92, "95 % interval of the score"), bounds),
            "first": (numeric("First", 48, FIRST), [ranking_words.chance_text(one.first) for one in found.scores]),
            "n": (whole("n", 40, "cases with a value of every chosen metric"), [one.n for one in found.scores]),
        }
        clicked = draw_columns(columns, f"weighted-{_key(found)}", tallest=36 + 35 * 8)
        point = [found.scores[clicked].model] if clicked is not None else point
    opened = _draw_parts(found, short)
    heaviest = max(found.parts, key=lambda part: (not part.objective.is_resource, part.weight)).objective
    if opened is None and point:
        opened = point[0], heaviest
    if opened is not None:
        model, objective = opened
        if objective.is_resource:
            url.go("cases", run=view.run, tag=view.tag, model=model)
        view.open(model, objective.column.key)


def _draw_parts(found: WeightedScores, short: Mapping[str, str]) -> tuple[str, Objective] | None:
    """Draw what each metric contributes; return the model and the criterion of the cell just clicked."""
    models, parts = [one.model for one in found.scores[:MOST_BARS]], found.parts
    scales = [f"{format.exact(part.worst)} → {format.exact(part.best)}" for part in parts]
    columns: dict[str, Any] = {
        "metric": (header("Metric", 220), [metric_title(part.objective.column) for part in parts]),
        "weight": (numeric("Weight", 64, "all weights sum to 1"), [ranking_words.weight_text(p.weight) for p in parts]),
        "scale": (header("Worst → best", 110, "what is scaled to 0 and to 1"), scales),
    }
    for place, one in enumerate(found.scores[:MOST_BARS]):
        head = numeric(short[one.model], 96, f"{one.model}: mean of the scaled values; click for its cases")
        columns[f"m{place}"] = head, [format.number(one.parts[row]) for row in range(len(parts))]
    clicked = cell_of(*parted(columns), f"parts-{_key(found)}", tallest=36 + 35 * 8)
    if clicked is None:
        return None
    row, name = clicked
    model = models[int(name[1:])] if name.startswith("m") and name[1:].isdigit() else models[0]
    return model, found.parts[row].objective


def _draw_weights(
    offered: Mapping[str, Objective],
    given: Mapping[str, float],
    scales: Mapping[str, tuple[float | None, float | None]],
) -> None:
    """Draw a button that opens an input for each weight, and for the scale of each weighted range without end."""
    with st.popover(f"Weights ({len(given)})" if given else "Weights", icon=":material/balance:"):
        st.caption(HELP)
        for key, one in offered.items():
            with st.container(horizontal=True, vertical_alignment="bottom"):
                widget = f"{WEIGHT}-{key}"
                st.number_input(
                    literal(metric_title(one.column)), 0.0, None, controls.agreed(widget, given.get(key)), step=0.1,
                    format="%.4g", key=widget, placeholder="does not count", on_change=_write_weight,
                    args=(key, widget), help=literal(one.column.description),
                )  # fmt: skip
                if key in given and not math.isfinite(_width(one)):
                    _draw_scale(key, one, scales.get(key, (None, None)))


def _draw_scale(key: str, one: Objective, given: tuple[float | None, float | None]) -> None:
    unit = f", {one.column.unit}" if one.column.unit else ""
    names = [f"{SCALE}-{end}-{key}" for end in ("worst", "best")]
    for place, (name, label) in enumerate(zip(names, ("Worst", "Best"), strict=True)):
        st.number_input(
            literal(f"{label}{unit}"), None, None, controls.agreed(name, given[place]),
            format="%.4g", key=name, placeholder=f"→ {place}", on_change=_write_scale, args=(key, *names),
            width=120,
        )  # fmt: skip


def _write_weight(key: str, widget: str) -> None:
    if controls.is_gone(widget):
        return
    value = st.session_state[widget]
    _put(WEIGHT, key, f"{key}:{value:g}" if value else None, 1)


def _write_scale(key: str, worst: str, best: str) -> None:
    if controls.is_gone(worst) or controls.is_gone(best):
        return
    ends = ["" if (end := st.session_state[name]) is None else f"{end:g}" for name in (worst, best)]
    _put(SCALE, key, f"{key}:{':'.join(ends)}" if any(ends) else None, 2)


def _put(name: str, key: str, text: str | None, numbers: int) -> None:
    others = [one for one in url.params(name) if one.rsplit(":", numbers)[0] != key]
    url.put(**{name: [*others, *([text] if text else [])]})


def _width(one: Objective) -> float:
    return one.column.high - one.column.low


def _key(found: WeightedScores) -> str:
    return "-".join(f"{part.objective.column.key}{part.weight:.4f}" for part in found.parts)
