"""The leaderboard's other forms: radar, bars, box plots, distributions, head to head, cases, noise, trade-offs."""

from collections.abc import Callable, Sequence

import streamlit as st

from components.charts import interval_bars, radar, spread
from components.data import case_difficulty, run_reads
from components.viewers import blocks
from components.views.curves import curve_parts
from components.views.results import preference_standings
from components.views.results.case_difficulty import draw_case_difficulty
from components.views.results.chart_view import View
from components.views.results.noise_view import draw_noise
from components.views.results.pareto_view import draw_pareto
from components.views.results.preference_standings import draw_head_to_head
from components.views.results.suites_view import draw_suites
from components.views.results.weighted_view import draw_weighted
from components.widgets import controls, filters, url
from components.widgets.chart import pick
from components.widgets.frame import is_dark
from metrics.analysis import Column, Distribution, Distributions, Leaderboard
from metrics.presentation import format
from metrics.presentation.blocks import Head, table_of
from metrics.presentation.chart_data.metric_bars import LEAST_SPOKES, MOST_METRICS, MOST_SPOKES, can_be_spoke, radar_of
from metrics.presentation.format import short_names
from metrics.presentation.phrases import metric_title

MOST = {"radar": 6, "bars": 12, "boxes": 12, "spread": 6}  # models shown unasked


def show_form(
    form: str, run: str, tag: str | None, columns: Sequence[Column], models: Sequence[str], board: Leaderboard
) -> None:
    """Draw one of the leaderboard's charts; `models` come best first."""
    view = View(run, tag, columns, models, board)
    draw: dict[str, Callable[[View], None]] = {
        "radar": show_radar, "bars": show_bars, "boxes": show_boxes, "spread": show_spread, "matches": show_matches,
        "noise": show_noise, "items": show_items, "tradeoff": draw_pareto, "weights": draw_weighted,
        "suites": draw_suites,
    }  # fmt: skip
    draw[form](view)


def show_radar(view: View) -> None:
    """Several metrics, each from its worst to its best."""
    fit = [column for column in view.columns if can_be_spoke(column.direction, column.low, column.high)]
    if len(fit) < LEAST_SPOKES:
        st.info(
            f"A radar needs {LEAST_SPOKES} metrics with a range and a better end; the sidebar leaves "
            f"{len(fit)}. Bars show up to three."
        )
        return
    chosen = _metrics(fit, MOST_SPOKES)
    if len(chosen) < LEAST_SPOKES:
        st.info(f"A radar needs {LEAST_SPOKES} metrics: choose {LEAST_SPOKES - len(chosen)} more in the sidebar.")
        return
    view.restrict(MOST["radar"])
    left, right = st.columns((4, 3))  # names of metrics need more room than other tables
    with left:
        figure = radar.radar_figure(radar_of(chosen, view.models, view.cells), view.colours, is_dark())
        point = pick(figure, "form-radar", f"Radar of {len(chosen)} metrics of {', '.join(view.models[:6])}")
        open_range = len(view.columns) - len(fit)
        rest = f" Left out: {format.plural(open_range, 'metric')} without range or better end." if open_range else ""
        st.caption(
            "Each spoke runs from the worst value of the metric's range in the centre to the best at the rim, so "
            f"outside is good, also for ↓ metrics.{rest}"
        )
    with right:
        point = _numbers(view, chosen, view.models) or point
    if point:
        view.open(point[0], point[1])


def show_bars(view: View) -> None:
    """Up to three metrics, a panel each, with 95 % intervals."""
    chosen = _metrics(view.columns, MOST_METRICS)[:MOST_METRICS]
    view.restrict(MOST["bars"])
    point = None
    for column, place in zip(chosen, st.columns(len(chosen), vertical_alignment="bottom"), strict=True):
        cells = [(model, view.cell(model, column)) for model in view.models]
        numbers = interval_bars.model_numbers(
            (model, column.key, *((cell.n, cell.value, cell.low, cell.high) if cell else (0, None, None, None)))
            for model, cell in cells
        )
        bounds = (min(0.0, column.low), column.high) if column.high < float("inf") else None
        with place:
            st.text(metric_title(column), help=column.description)
            figure = interval_bars.ranked_figure(
                numbers, view.colours, column.unit, is_dark(), bounds, column.threshold
            )
            point = pick(figure, f"form-bars-{column.key}", f"{metric_title(column)} of each model") or point
    st.caption("Whiskers are 95 % intervals, the dotted line is the threshold. Click a bar to see its cases.")
    if point:
        view.open(point[0], point[1])


def show_boxes(view: View) -> None:
    """One metric: a box plot a model."""
    chosen = _distributions(view, "boxes")
    if chosen is None:
        return
    column, found = chosen
    left, right = st.columns(curve_parts.COLUMNS)
    with left:
        figure = spread.box_figure(
            found.models, view.colours, metric_title(column), column.threshold, is_dark(), (column.low, column.high)
        )
        point = pick(figure, "form-boxes", f"Box plots of {metric_title(column)} over the cases of each model")
        st.caption(
            "Box: the middle half of the cases, its bar the median, ◆ the mean. Circles lie beyond the whiskers."
        )
    with right:
        point = _quartiles(found.models) or point
    if point and len(point) > 1:
        case = {"evaluator": column.evaluator, "metric": column.metric, "case": point[1]}
        url.go("case", run=view.run, model=point[0], **case)
    if point:
        view.open(point[0], column.key)


def show_spread(view: View) -> None:
    """One metric: how many cases have which value."""
    chosen = _distributions(view, "spread")
    if chosen is None:
        return
    column, found = chosen
    drawn = controls.choice("Distribution", {"ecdf": "Up to each value", "histogram": "In bins"}, "as")
    left, right = st.columns(curve_parts.COLUMNS)
    with left:
        if drawn == "ecdf":
            figure = spread.ecdf_figure(found.models, view.colours, metric_title(column), is_dark())
        else:
            figure = spread.histogram_figure(found.models, found.edges, view.colours, metric_title(column), is_dark())
        point = pick(figure, f"form-{drawn}", f"Distribution of {metric_title(column)} over the cases of each model")
    with right:
        point = _quartiles(found.models) or point
    if point:
        low, high = (point[1], point[2]) if len(point) > 1 else (None, None)
        view.open(point[0], column.key, value_min=low, value_max=high)


def show_matches(view: View) -> None:
    """The models ranked by the cases on which they beat each other: in one metric, or by preferences."""
    if (source := preference_standings.choose_source(view.run)) is not None:
        preference_standings.draw_standings(view.run, source, view.tag, view.colours)
        return
    offered = [one for one in _with_cases(view) if one.direction != "none" and one.label_key is None]
    if not offered or len(view.leading) < 2:
        st.info("A ranking by matches needs two models and a metric with values per case and a better end.")
        return
    draw_head_to_head(view.run, _choose(offered), view.tag, view.colours)


def show_noise(view: View) -> None:
    """One metric: how much of the noise of each mean comes from cases, repeats and the judge."""
    offered = [column for column in _with_cases(view) if column.label_key is None]
    if not offered:
        st.info("The noise is parted by case, and none of these metrics has values per case.")
        return
    draw_noise(view.run, _choose(offered), view.tag)


def show_items(view: View) -> None:
    """One metric: which cases tell the models apart, and whose labels are suspect."""
    offered = list(filter(case_difficulty.has_items, _with_cases(view)))
    if not offered:
        st.info(
            "Which cases tell models apart is known where a metric says which answers are right: by 0 and 1, or by a "
            "threshold. None of these does; choose other evaluators in the sidebar, or set a threshold."
        )
        return
    draw_case_difficulty(view.run, _choose(offered), view.tag)


def _with_cases(view: View) -> list[Column]:
    there = run_reads.metrics_by_case(view.run)
    return [column for column in view.columns if (column.evaluator, column.metric) in there]


def _metrics(offered: Sequence[Column], most: int) -> list[Column]:
    """Return the metrics asked for in the sidebar, else primary ones first, `most` of them."""
    titles = {column.key: metric_title(column) for column in offered}
    if chosen := filters.many("Metrics in the chart", titles, "key", filters.unasked(titles, most)):
        return [column for column in offered if column.key in chosen]
    return sorted(offered, key=lambda column: not column.primary)[:most]


def _distributions(view: View, form: str) -> tuple[Column, Distributions] | None:
    """Choose a metric with values per case, by default the first primary one; return it and how it spreads.

    Where there is nothing to draw, say so and return None.
    """
    offered = _with_cases(view)
    if not offered:
        st.info(
            "None of these metrics has a value per case: they are of the whole data set. The heatmap and the bars show "
            "them with their intervals."
        )
        return None
    column = _choose(offered)
    view.restrict(MOST[form])
    found = run_reads.distributions(view.run, column.evaluator, column.metric, tuple(view.models), view.tag)
    if found is None:
        st.info("None of these models has a value of this metric. Choose another one.")
        return None
    return column, found


def _choose(offered: Sequence[Column]) -> Column:
    ordered = sorted(offered, key=lambda column: not column.primary)
    titles = {column.key: metric_title(column) for column in ordered}
    key = filters.pick("Metric in the chart", titles, "key", at=st.container(width=420))
    return next(column for column in ordered if column.key == key)


def _numbers(view: View, columns: Sequence[Column], models: Sequence[str]) -> list[str] | None:
    """Return the numbers of the chart as a table; [model, column key] of the row just clicked."""
    pairs = [(column, model) for column in columns for model in models]
    cells, names = [view.cell(model, column) for column, model in pairs], short_names(models, 12)
    table = table_of(
        "form-numbers",
        (Head("Metric", width=150), [metric_title(column) for column, _ in pairs]),
        (Head("Model", width=82), [names[model] for _, model in pairs]),
        (Head("Value", True, "", 48), format.aligned([cell.value if cell else None for cell in cells])),
        (Head("95 %", True, "95 % interval", 84), [format.interval(one.low, one.high) if one else "" for one in cells]),
        (Head("n", True, "cases that the value rests on", 40), [format.count(one.n) if one else "" for one in cells]),
    )
    clicked = blocks.pick_row(table, 470)
    return None if clicked is None else [pairs[clicked][1], pairs[clicked][0].key]


def _quartiles(models: Sequence[Distribution]) -> list[str] | None:
    """Mean and quartiles of each model as a table; [model] of the row just clicked."""
    boxes = [own.box for own in models]
    table = table_of(
        "form-quartiles",
        (Head("Model", width=120), list(short_names([own.model for own in models], 15).values())),
        (Head("Mean", True, "", 54), format.aligned([own.mean for own in models])),
        (Head("Median", True, "", 60), format.aligned([box[1] for box in boxes])),
        (Head("Middle half", True, "lower to upper quartile", 92), [format.interval(box[0], box[2]) for box in boxes]),
        (Head("n", True, "cases with a value, each repeat one", 46), [format.count(own.n) for own in models]),
    )
    clicked = blocks.pick_row(table, 470)
    return None if clicked is None else [models[clicked].model]
