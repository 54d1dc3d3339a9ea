from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from components import data
from components.viewers import case_list
from components.views.results import mark_controls, saved_views
from components.widgets import controls, filters, url
from components.widgets.frame import frame
from components.widgets.literal import literal
from metrics.presentation import calibration_words, format
from metrics.presentation.names import metric_name
from metrics.presentation.phrases import metric_title
from metrics.presentation.viewers import case_rows

PAGE = 100
CHOICE = ("model", "tag", "status", "search", "order", "slice", "failing", "value_min", "value_max", "mark", "better")


def headline(column: data.Column, model: str | None, shown: data.Cell | data.SliceValue | None, unscored: str) -> str:
    """Return the number that the cases are behind, with its interval, n and what is unscored."""
    name = metric_title(column)
    if model is None or shown is None:
        return name
    value = f"{format.number(shown.value)} {column.unit}".strip()
    bounds = format.interval(shown.low, shown.high)
    facts = [f"n {format.count(shown.n)}", *([unscored] if unscored else [])]
    if judges := data.judges_of(run).get(column.evaluator):
        facts.append(f"judged by {judges}")
    return f"{model} · {name} {value}" + (f" (95 % {bounds})" if bounds else "") + " · " + " · ".join(facts)


def unscored_text(cell: data.Cell) -> str:
    """Return how many cases have no value, and for which reasons worth naming; "" for none."""
    named = [name for name in ("parse_failure", "skipped") if cell.counts.get(name)]
    reasons = [f"{format.STATUSES[name]}: {format.count(cell.counts[name])}" for name in named]
    return " · ".join([f"{format.count(cell.unscored)} unscored", *reasons]) if cell.unscored else ""


run = frame("Cases", "Which cases are behind this number?", unfinished=True)
board = data.leaderboard(run)
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
status = filters.one("Status", format.STATUSES, "status")
wanted = filters.search("Case id or question", "search")
orders = {"best": "Best first"} | ({"disputed": "Judges disagree most"} if data.has_panel(run) else {})
orders |= {"varied": "Repeats vary most"} if data.has_repeats(run) else {}
order = filters.one("Order", orders, "order", every="Worst first")
best_first, disputed, varied = (order == name for name in ("best", "disputed", "varied"))
column = next(column for column in mine if column.metric == metric)
failing = column.threshold is not None and filters.toggle("Wrong side of the threshold only", "failing")
others = [name for name in board.models if name != model] if model else []
better = filters.one("Better in", others, "better", "Any") if others else None
bounds = filters.value_bounds()
filters.reset([name for name in CHOICE if name != "model"])

within = url.param("slice")
part = data.read_slice(run, within, evaluator, metric) if within else None
if part and part.problem:
    st.error(f"{literal(part.problem)}. Clear the filters to see all cases.")
    st.stop()
page = int(url.number("page", 1, low=1))
listed = data.cases(
    run, evaluator, metric, model=model, tag=tag, status=status, search=wanted or None,
    worst_first=not best_first, limit=PAGE, offset=PAGE * (page - 1), within=within,
    failing=failing, disputed=disputed, varied=varied, only=mark_controls.tagged_cases(run, mark),
    better_in=better, **bounds,
)  # fmt: skip
rows, total = listed.rows, listed.total
shown = data.leaderboard(run, tag=tag) if tag else board
cell = shown.cells.get((str(model), column.key))
if part and part.value and model == part.model and not tag:
    st.text(headline(column, model, part.value, ""))
else:
    st.text(headline(column, model, cell, unscored_text(cell) if cell else ""))
if unfit := calibration_words.warning(column):
    st.text(f"{unfit}.")
if column.label_key is not None:
    st.caption(f"The value of a case is the mean over the keys of its labels: {literal(', '.join(board.label_keys))}.")
if part:
    st.text(f"Only {part.words[:1].lower()}{part.words[1:]}")
if better:
    st.text(f"Only cases in which {format.shorten(better, 60)} does better than {format.shorten(str(model), 60)}.")
if bounds:
    words = {"low": "at least", "high": "less than"}
    st.text(f"Only cases with a value of {' and '.join(f'{words[name]} {value:g}' for name, value in bounds.items())}.")
if not total:
    st.info("No case fits the filters in the sidebar. Clear them to see all.")
    st.stop()


def case_address(row: Mapping[Any, Any]) -> dict[str, url.Value]:
    """Return where a row leads: its example, in the list as it is filtered."""
    about: dict[str, url.Value] = {name: url.param(name) for name in CHOICE}
    of_model = model or (row["model"] if isinstance(row["model"], str) else None)
    return {"run": run, "evaluator": evaluator, "metric": metric, "case": row["case_id"], **about, "model": of_model}


def every_case() -> list[data.Place]:
    """Return the cases that the filters leave."""
    ids = data.case_ids(
        run, evaluator, metric, model=model, tag=tag, status=status, search=wanted or None, worst_first=not best_first,
        within=within, failing=failing, disputed=disputed, varied=varied,
        only=mark_controls.tagged_cases(run, mark), better_in=better, **bounds,
    )  # fmt: skip
    return [data.Place(case_id) for case_id in ids]


last = -(-total // PAGE)
with st.container(horizontal=True, vertical_alignment="center"):
    first_of = "most disputed" if disputed else "most varied" if varied else "best" if best_first else "worst"
    if st.button(f"Open the {first_of} case", type="primary", icon=":material/arrow_forward:"):
        url.go("example", **case_address(rows.iloc[0].to_dict()))
    first = PAGE * (page - 1) + 1
    of = format.plural(total, "case" if model else "score")  # of all models together a case has several
    st.text(f"{format.count(first)}–{format.count(first + len(rows) - 1)} of {of}, {first_of} first")
    controls.pager(page, last)
    mark_controls.draw_bulk(run, [], every_case, total, "cases")
    saved_views.draw(run, "cases")

addresses = [url.href("example", **case_address(row)) for row in rows.to_dict("records")]
several = rows["run"].nunique() > 1
listing = case_rows.case_rows(rows, column, addresses, models=model is None, repeats=several)
case_list.case_list(listing, f"cases-{page}-{evaluator}-{metric}-{model}")
