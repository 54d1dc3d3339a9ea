from collections.abc import Mapping
from typing import Any, NamedTuple

import pandas as pd
import streamlit as st

from components.data import Place, agreements, found_slices, run_reads
from components.data.found_slices import ReadSlice
from components.viewers import case_list
from components.views.results import mark_controls, saved_views
from components.widgets import controls, filters, url
from components.widgets.frame import frame
from components.widgets.literal import literal
from metrics.analysis import Cell, Column, Leaderboard
from metrics.analysis.slices.slice_values import SliceValue
from metrics.presentation import calibration_words, format
from metrics.presentation.names import metric_name
from metrics.presentation.phrases import metric_title, unscored_words
from metrics.presentation.viewers import case_rows

PAGE = 100  # cases
FIRST_OF = {"best": "best", "disputed": "most disputed", "varied": "most varied"}  # by order; else the worst
BOUNDS = {"low": "at least", "high": "less than"}  # of the value, by argument
CHOICE = ("model", "tag", "status", "search", "order", "slice", "failing", "value_min", "value_max", "mark", "better")


class CaseQuery(NamedTuple):
    """Which cases are asked for: those of one number, as the sidebar and the address filter and order them."""

    run: str
    column: Column
    model: str | None
    tag: str | None
    mark: str | None
    order: str | None
    better: str | None
    slice: str | None
    filters: Mapping[str, Any]  # further arguments of data.cases and data.case_ids

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of data.cases and data.case_ids that say which cases, and in what order."""
        return {
            "model": self.model,
            "tag": self.tag,
            "worst_first": self.order != "best",
            "disputed": self.order == "disputed",
            "varied": self.order == "varied",
            "within": self.slice,
            "only": mark_controls.tagged_cases(self.run, self.mark),
            "better_in": self.better,
            **self.filters,
        }

    def every_case(self) -> list[Place]:
        """Return all these cases."""
        ids = run_reads.case_ids(self.run, self.column.evaluator, self.column.metric, **self.arguments())
        return [Place(case_id) for case_id in ids]

    def case_address(self, row: Mapping[Any, Any]) -> dict[str, url.Value]:
        """Return where a row leads: its example, in the list as it is filtered."""
        about: dict[str, url.Value] = {name: url.param(name) for name in CHOICE}
        of_model = self.model or (row["model"] if isinstance(row["model"], str) else None)
        own: dict[str, url.Value] = {"evaluator": self.column.evaluator, "metric": self.column.metric}
        return {"run": self.run, **own, "case": row["case_id"], **about, "model": of_model}


def choose_cases(run: str, board: Leaderboard) -> CaseQuery:
    """Draw the filters of the sidebar and return what they choose."""
    titles = {column.evaluator: column.evaluator_title for column in board.columns}
    if not titles:
        st.info("No evaluator of this run has a number. The page Runs says why.")
        st.stop()
    evaluator = filters.pick("Evaluator", titles, "evaluator")
    mine = [column for column in board.columns if column.evaluator == evaluator]
    metric = filters.pick("Metric", {column.metric: metric_name(column.metric, evaluator) for column in mine}, "metric")
    model = filters.one("Model", board.models, "model")
    tag = filters.one("Tag", board.tags, "tag")
    mark = filters.one("Your tag", mark_controls.tags_in_use(run), "mark")
    chosen: dict[str, Any] = {"status": filters.one("Status", format.STATUSES, "status")}
    chosen["search"] = filters.search("Case id or question", "search") or None
    orders = {"best": "Best first"} | ({"disputed": "Judges disagree most"} if agreements.has_panel(run) else {})
    orders |= {"varied": "Repeats vary most"} if run_reads.has_repeats(run) else {}
    order = filters.one("Order", orders, "order", every="Worst first")
    column = next(column for column in mine if column.metric == metric)
    chosen["failing"] = column.threshold is not None and filters.toggle("Wrong side of the threshold only", "failing")
    others = [name for name in board.models if name != model] if model else []
    better = filters.one("Better in", others, "better", "Any") if others else None
    chosen |= filters.value_bounds()
    filters.reset([name for name in CHOICE if name != "model"])
    return CaseQuery(run, column, model, tag, mark, order, better, url.param("slice"), chosen)


def read_part(query: CaseQuery) -> ReadSlice | None:
    """Return the slice of the address; None without one. A slice that cannot be read is told, and ends the page."""
    if not query.slice:
        return None
    part = found_slices.read_slice(query.run, query.slice, query.column.evaluator, query.column.metric)
    if part.problem:
        st.error(f"{literal(part.problem)}. Clear the filters to see all cases.")
        st.stop()
    return part


def describe(query: CaseQuery, board: Leaderboard, part: ReadSlice | None) -> None:
    """Draw the number that the cases are behind, and what restricts the list."""
    column, model = query.column, query.model
    shown = run_reads.leaderboard(query.run, tag=query.tag) if query.tag else board
    cell = shown.cells.get((str(model), column.key))
    if part and part.value and model == part.model and not query.tag:
        st.text(headline(query, part.value, ""))
    else:
        st.text(headline(query, cell, unscored_text(cell) if cell else ""))
    if unfit := calibration_words.warning(column):
        st.text(f"{unfit}.")
    if column.label_key is not None:
        keys = literal(", ".join(board.label_keys))
        st.caption(f"The value of a case is the mean over the keys of its labels: {keys}.")
    if part:
        st.text(f"Only {part.words[:1].lower()}{part.words[1:]}")
    if query.better:
        one, other = format.shorten(query.better, 60), format.shorten(str(model), 60)
        st.text(f"Only cases in which {one} does better than {other}.")
    if bounds := [f"{word} {query.filters[name]:g}" for name, word in BOUNDS.items() if name in query.filters]:
        st.text(f"Only cases with a value of {' and '.join(bounds)}.")


def draw_list(query: CaseQuery, page: int, rows: pd.DataFrame, total: int) -> None:
    """Draw a page of the list below its buttons."""
    column = query.column
    first_of = FIRST_OF.get(query.order or "", "worst")
    with st.container(horizontal=True, vertical_alignment="center"):
        if st.button(f"Open the {first_of} case", type="primary", icon=":material/arrow_forward:"):
            url.go("case", **query.case_address(rows.iloc[0].to_dict()))
        first = PAGE * (page - 1) + 1
        last = format.count(first + len(rows) - 1)
        of = format.plural(total, "case" if query.model else "score")  # of all models a case has several
        st.text(f"{format.count(first)}–{last} of {of}, {first_of} first")
        controls.pager(page, -(-total // PAGE))
        mark_controls.draw_bulk(query.run, [], query.every_case, total, "cases")
        saved_views.draw(query.run, "cases")
    addresses = [url.href("case", **query.case_address(row)) for row in rows.to_dict("records")]
    several = rows["run"].nunique() > 1
    listing = case_rows.case_rows(rows, column, addresses, models=query.model is None, repeats=several)
    case_list.case_list(listing, f"cases-{page}-{column.evaluator}-{column.metric}-{query.model}")


def headline(query: CaseQuery, shown: Cell | SliceValue | None, unscored: str) -> str:
    """Return the number that the cases are behind, with its interval, n and what is unscored."""
    column, model = query.column, query.model
    name = metric_title(column)
    if model is None or shown is None:
        return name
    value = f"{format.number(shown.value)} {column.unit}".strip()
    bounds = format.interval(shown.low, shown.high)
    facts = [f"n {format.count(shown.n)}", *([unscored] if unscored else [])]
    if judges := run_reads.judges_of(query.run).get(column.evaluator):
        facts.append(f"judged by {judges}")
    return f"{model} · {name} {value}" + (f" (95 % {bounds})" if bounds else "") + " · " + " · ".join(facts)


def unscored_text(cell: Cell) -> str:
    """Return how many cases have no value, and for which reasons worth naming; "" for none."""
    named = [name for name in ("parse_failure", "skipped") if cell.counts.get(name)]
    reasons = [f"{format.STATUSES[name]}: {format.count(cell.counts[name])}" for name in named]
    return " · ".join([unscored_words(cell), *reasons]) if cell.unscored else ""


run = frame("cases", "Which cases are behind this number?", unfinished=True)
board = run_reads.leaderboard(run)
query = choose_cases(run, board)
part = read_part(query)
page = int(url.number("page", 1, low=1))
listed = run_reads.cases(
    run, query.column.evaluator, query.column.metric, limit=PAGE, offset=PAGE * (page - 1), **query.arguments()
)
describe(query, board, part)
if not listed.total:
    st.info("No case fits the filters in the sidebar. Clear them to see all.")
    st.stop()
draw_list(query, page, listed.rows, listed.total)
