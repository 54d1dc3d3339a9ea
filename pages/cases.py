from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from components.data import Place, agreements, found_slices, run_reads
from components.data.found_slices import ReadSlice
from components.data.pictures import add_pictures
from components.viewers import browser_parts
from components.views.results import case_choice, mark_controls
from components.widgets import controls, filters, url
from components.widgets.frame import frame
from components.widgets.literal import literal
from metrics.analysis import Cell, Column, Leaderboard
from metrics.analysis.cases.case_table import ALONE
from metrics.analysis.slices.slice_values import SliceValue
from metrics.presentation import format, guarantee_words
from metrics.presentation.format import metric_name
from metrics.presentation.phrases import metric_title, unscored_words
from metrics.presentation.viewers import case_rows

PAGE = 100  # cases
NARROWING = ("slice", "mark", "status", "search", "narrow")  # filters that a leaderboard has no values for
BOUNDS = {"value_min": "at least", "value_max": "less than"}  # of the value


def choose_metric(columns: Sequence[Column]) -> Column:
    """Draw the choice of the evaluator and the metric; return its column."""
    titles = {column.evaluator: column.evaluator_title for column in columns}
    evaluator = filters.pick("Evaluator", titles, "evaluator")
    mine = [column for column in columns if column.evaluator == evaluator]
    metric = filters.pick("Metric", {column.metric: metric_name(column.metric, evaluator) for column in mine}, "metric")
    return next(column for column in mine if column.metric == metric)


def choose_cases(run: str, board: Leaderboard) -> None:
    """Draw the filters that both forms have."""
    filters.one("Tag", board.tags, "tag")
    columns = found_slices.column_slices(run, url.param("model") or board.models[0])
    if not url.param("slice") or url.param("slice") in columns:  # any other slice is told above the cases
        filters.one("Column", columns, "slice")
    filters.one("Your tag", mark_controls.tags_in_use(run), "mark")
    filters.one("Status", format.STATUSES, "status")
    filters.search("Case id or question", "search")


def choose_of_list(run: str, board: Leaderboard, column: Column) -> None:
    """Draw the filters of the cases of one number."""
    model = filters.one("Model", board.models, "model")
    choose_cases(run, board)
    orders = {"best": "Best first"} | ({"disputed": "Judges disagree most"} if agreements.has_panel(run) else {})
    orders |= {"varied": "Repeats vary most"} if run_reads.has_repeats(run) else {}
    filters.one("Order", orders, "order", every="Worst first")
    if column.threshold is not None:
        filters.toggle("Wrong side of the threshold only", "failing")
    if model and (others := [name for name in board.models if name != model]):
        filters.one("Better in", others, "better", "Any")


def choose_of_table(run: str, board: Leaderboard, can_fail: bool) -> tuple[str, ...]:
    """Draw the filters of cases × models; return the models."""
    ranked = run_reads.headline(run).models
    asked = filters.many("Models", ranked, "compare") if len(ranked) > 1 else []
    models = tuple(model for model in ranked if model in asked) or ranked
    baseline = filters.one("Compare with", case_choice.baselines(run, board.models), "baseline", "Nothing")
    narrow = {}
    if can_fail:
        narrow = {"any": "A model fails"} | ({"all": "All models fail"} if len(models) > 1 else {})
    if len(models) > 1:
        narrow["apart"] = "Models disagree"
        narrow |= {ALONE + model: f"Only {model} {'fails' if can_fail else 'is worst'}" for model in models}
    if baseline:
        narrow["worse"] = "Worse than what it is compared with"
    if narrow:
        filters.one("Show", narrow, "narrow", "All cases")
    choose_cases(run, board)
    kept = {"change": bool(baseline), "apart": len(models) > 1}
    sorts = {name: words for name, words in case_choice.SORTS.items() if name != "worst" and kept.get(name, True)}
    filters.one("Order", sorts, "sort", every=case_choice.SORTS["worst"])
    return models


def read_part(run: str, column: Column) -> ReadSlice | None:
    """Return the slice of the address; None without one. A slice that cannot be read is told, and ends the page."""
    asked = url.param("slice")
    if not asked:
        return None
    part = found_slices.read_slice(run, asked, column.evaluator, column.metric)
    if part.problem:
        st.error(f"{literal(part.problem)}. Clear the filters to see all cases.")
        st.stop()
    return part


def describe_list(run: str, column: Column, board: Leaderboard, part: ReadSlice | None) -> None:
    """Draw the number that the cases are behind, and what restricts the list."""
    model, tag = url.param("model"), url.param("tag")
    shown = run_reads.leaderboard(run, tag=tag) if tag else board
    cell = shown.cells.get((str(model), column.key))
    if part and part.value and model == part.model and not tag:
        st.text(headline(run, column, part.value, ""))
    else:
        st.text(headline(run, column, cell, unscored_text(cell) if cell else ""))
    if better := url.param("better"):
        st.text(f"Only cases in which {format.shorten(better, 60)} does better than {format.shorten(str(model), 60)}.")
    if bounds := [f"{word} {url.number(name, 0):g}" for name, word in BOUNDS.items() if url.param(name)]:
        st.text(f"Only cases with a value of {' and '.join(bounds)}.")


def describe(run: str, column: Column, board: Leaderboard, part: ReadSlice | None) -> None:
    """Draw what is to be known of the metric, and the slice of the address."""
    if unfit := guarantee_words.warning(column):
        st.text(f"{unfit}.")
    if (shown := run_reads.column_of_cases(run, column)).metric != column.metric:
        name = metric_title(column, arrow=False)
        st.text(f"{name} has no value of a case: the cases show {metric_title(shown)}.")
    if column.label_key is not None:
        keys = literal(", ".join(board.label_keys))
        st.caption(f"The value of a case is the mean over the keys of its labels: {keys}.")
    if part:
        st.text(f"Only {part.words[:1].lower()}{part.words[1:]}")


def none_left() -> None:
    """Say that the filters leave nothing, and end the page."""
    st.info("No case fits the filters in the sidebar. Clear them to see all.")
    st.stop()


def draw_bar(run: str, board: Leaderboard, column: Column, page: int, count: int, total: int, things: str) -> None:
    """Draw how many cases are shown of how many, the buttons to more of them, and what is done to all."""
    first = PAGE * (page - 1) + 1
    order = case_choice.order_words(run, column.evaluator, column.metric)
    st.text(f"{format.count(first)}–{format.count(first + count - 1)} of {things}, {order}")
    controls.pager(page, -(-total // PAGE))

    def every_case() -> list[Place]:
        return [Place(one) for one in case_choice.listed_ids(run, board, column.evaluator, column.metric)]

    mark_controls.draw_bulk(run, [], every_case, total, "cases")
    mark_controls.draw_views(run, "cases")


def draw_list(run: str, board: Leaderboard, column: Column, page: int) -> None:
    """Draw a page of the cases of one number."""
    choice = case_choice.list_arguments(run, board)
    listed = run_reads.cases(run, column.evaluator, column.metric, limit=PAGE, offset=PAGE * (page - 1), **choice)
    if not listed.total:
        none_left()
    model = choice["model"]
    around = case_choice.case_address(run, column.evaluator, column.metric)

    def address(row: Mapping[Any, Any]) -> dict[str, url.Value]:
        of = model or (row["model"] if isinstance(row["model"], str) else None)
        return around | {"case": row["case_id"], "model": of}

    rows: pd.DataFrame = listed.rows
    first = case_choice.FIRST_OF.get(url.param("order", ""), "worst")
    with st.container(horizontal=True, vertical_alignment="center"):
        if st.button(f"Open the {first} case", type="primary", icon=":material/arrow_forward:"):
            url.go("case", **address(rows.iloc[0].to_dict()))
        of = format.plural(listed.total, "case" if model else "score")  # of all models a case has several
        draw_bar(run, board, column, page, len(rows), listed.total, of)
    addresses = [url.href("case", **address(row)) for row in rows.to_dict("records")]
    of_cases = run_reads.column_of_cases(run, column)
    listing = case_rows.case_rows(rows, of_cases, addresses, models=model is None, repeats=rows["run"].nunique() > 1)
    add_pictures(run, listing)
    browser_parts.case_list(listing, f"cases-{page}-{column.evaluator}-{column.metric}-{model}")


def draw_table(run: str, board: Leaderboard, column: Column, models: tuple[str, ...], page: int) -> None:
    """Draw a page of cases × models."""
    choice = case_choice.table_arguments(run, board)
    found = run_reads.case_table(run, column.evaluator, column.metric, limit=PAGE, offset=PAGE * (page - 1), **choice)
    facts = [metric_title(column)]
    if column.threshold is not None and column.direction != "none":
        facts.append(f"passes if {column.limit}")
    against = url.param("baseline")
    if against and (baseline := case_choice.baselines(run, board.models).get(against)):
        facts.append(f"▲ better, ▼ worse than {baseline}")
    st.text(" · ".join(facts))
    if not found.total:
        none_left()
    with st.container(horizontal=True, vertical_alignment="center"):
        draw_bar(run, board, column, page, len(found.cases), found.total, format.plural(found.total, "case"))

    around = case_choice.case_address(run, column.evaluator, column.metric)

    def address(case_id: str, model: str | None) -> str:
        return url.href("case", **around | {"case": case_id, "model": model})

    tag, narrowed = url.param("tag"), any(url.param(name) for name in NARROWING)
    whole = run_reads.leaderboard(run, tag=tag) if tag else board
    of = f"of all {'with the tag' if tag else 'cases'}" if narrowed else ""
    payload = case_rows.case_cells(found, column, models, whole, address, of)
    add_pictures(run, payload["rows"])
    browser_parts.case_table(payload, f"table-{page}-{column.key}")


def headline(run: str, column: Column, shown: Cell | SliceValue | None, unscored: str) -> str:
    """Return the number that the cases are behind, with its interval, n and what is unscored."""
    model, name = url.param("model"), metric_title(column)
    if model is None or shown is None:
        return name
    value = f"{format.number(shown.value)} {column.unit}".strip()
    bounds = format.interval(shown.low, shown.high)
    facts = [f"n {format.count(shown.n)}", *([unscored] if unscored else [])]
    if judges := run_reads.judges_of(run).get(column.evaluator):
        facts.append(f"judged by {judges}")
    return f"{model} · {name} {value}" + (f" (95 % {bounds})" if bounds else "") + " · " + " · ".join(facts)


def unscored_text(cell: Cell) -> str:
    """Return how many cases have no value, and for which reasons worth naming; "" for none."""
    named = [name for name in ("parse_failure", "skipped") if cell.counts.get(name)]
    reasons = [f"{format.STATUSES[name]}: {format.count(cell.counts[name])}" for name in named]
    return " · ".join([unscored_words(cell), *reasons]) if cell.unscored else ""


run = frame("cases", "Which cases are behind this number?", unfinished=True)
board = run_reads.leaderboard(run)
if not board.columns:
    st.info("No evaluator of this run has a number. The page Runs says why.")
    st.stop()
by_case = run_reads.metrics_by_case(run)
matched = run_reads.match_evaluators(run)
of_cases = [one for one in board.columns if (one.evaluator, one.metric) in by_case or one.evaluator in matched]
forms = {"table": "All models", "list": "One number"} if of_cases else {"list": "One number"}
if case_choice.form() == "list" and of_cases:
    forms = dict(reversed(forms.items()))
form = controls.choice("Form", forms, "form", case_choice.OF_LIST) if len(forms) > 1 else "list"
page = int(url.number("page", 1, low=1))
column = choose_metric(of_cases if form == "table" else board.columns)
can_fail = column.evaluator in matched or (column.threshold is not None and column.direction != "none")
models: tuple[str, ...] = ()
if form == "table":
    models = choose_of_table(run, board, can_fail)
else:
    choose_of_list(run, board, column)
filters.reset([name for name in case_choice.CHOICE if name not in ("model", "form", "compare")])
part = read_part(run, column)
if form == "table":
    describe(run, column, board, part)
    draw_table(run, board, column, models, page)
else:
    describe_list(run, column, board, part)
    describe(run, column, board, part)
    draw_list(run, board, column, page)
