from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from components.data import boards, evaluation_inputs, judge_settings, run_reads, thresholds, visitors, workspace_runs
from components.data.pictures import add_pictures
from components.viewers import browser_parts
from components.views.judge import judge_calls
from components.views.results import about_run, board_head, detectable_difference, welcome, what_to_look_at
from components.widgets import controls, drilldown_filters, filters, url
from components.widgets.damaged_run import draw_leave
from components.widgets.frame import begin, frame
from components.widgets.literal import literal
from components.widgets.unfinished_run import run_of
from metrics.analysis import Column, Leaderboard
from metrics.analysis.corrected_tests import of_ranks
from metrics.presentation import format, guarantee_words, phrases
from metrics.presentation.questions.is_it_better import metric_label
from metrics.presentation.viewers import board_drawing

QUESTION = "Which model should I pick?"
CHARTS = {  # beside the heatmap; what draws them is imported when one is asked for
    "radar": "Radar", "bars": "Bars", "boxes": "Box plots", "spread": "Distributions", "matches": "Head to head",
    "tradeoff": "Trade-offs", "weights": "Weights", "suites": "Other suites", "noise": "Precision",
    "items": "Case difficulty",
}  # fmt: skip
FILTERS = ("evaluator", "label_key", "tag", "search", "minor", "key", "shown", "column", "against", "also", "with")
AGAIN = "Retry makes a new run with the same choices. Replies in the cache cost nothing; only what is missing is asked."
RECORDED = "These replies are recorded: the same judge would answer the same. Choose another judge or other settings."


@visitors.kept_here
def board_cells(run: str, tag: str | None, keys: tuple[str, ...]) -> dict[str, list[list[Any]]]:
    """Return the cells of the heatmap, cached for the next sort, search or reload."""
    board = run_reads.leaderboard(run, tag=tag)
    shown = [column for column in board.columns if column.key in keys]
    return board_drawing.cells(board, shown, boards.numbers_from(run), boards.apart(run))


def so_far(columns: Sequence[Column], planned: int) -> str:
    """Return the headline of an unfinished run: no model is recommended before the last evaluator is done."""
    done = len({column.evaluator for column in columns if column.partly is None})
    of = format.plural(planned, "evaluator is", "evaluators are")
    return f"So far {done} of {of} done: no model is recommended yet."


def open_cell(
    run: str, tag: str | None, board: Leaderboard, objects: Mapping[str, Mapping[str, url.Value]]
) -> dict[str, Any] | None:
    """Return the drawer of the address's cell; None if it names none of this board."""
    key, model = url.param("cell"), url.param("of")
    column = next((column for column in board.columns if column.key == key), None)
    if column is None or model not in board.models:
        return None
    of, own = boards.apart(run).get((model, column.evaluator), (run, model))
    about = {"evaluator": column.evaluator, "metric": column.metric, "model": own}
    found = run_reads.worst_cases(of, column.evaluator, column.metric, own, tag)
    address = {"run": of, "tag": tag, **about}
    cell = board.cells.get((model, column.key))
    source = boards.numbers_from(run).get((model, column.evaluator), "")
    if column.key not in objects:
        of_cases = run_reads.column_of_cases(of, column)
        drawn = board_drawing.drawer(
            column, model, cell, found.rows, found.total, address, source=source, of_cases=of_cases
        )
        return with_pictures(of, drawn)
    from components.views.objects import object_list

    gallery = {"run": of, "tag": tag, "model": own, **objects[column.key]}
    state = url.state_of(url.href("gallery", **gallery).partition("?")[2])
    classes = object_list.worst_classes(of, state)
    drawn = board_drawing.drawer(column, model, cell, found.rows, found.total, address, gallery, classes, source=source)
    return with_pictures(of, drawn)


def with_pictures(run: str, drawer: dict[str, Any]) -> dict[str, Any]:
    """Return the drawer with the pictures of its cases."""
    add_pictures(run, drawer["cases"])
    return drawer


def draw_trouble(run: str) -> None:
    """Draw how many scores of a run's judge are missing and why; nothing where none is, or no judge was asked."""
    trouble = judge_settings.judge_trouble(run)
    if trouble is None:
        return
    scores = format.plural(trouble.asked, "judge score")
    finished = workspace_runs.run_facts(str(run_of(run))).state == "finished"
    recorded = trouble.recorded == trouble.missing
    offers = finished and visitors.may("editor") and not boards.is_board(run)
    advice = f"\n{RECORDED if recorded else AGAIN}" if offers else ""
    with st.container(border=True, horizontal=True, vertical_alignment="center", key="judge-trouble"):
        st.text(
            f"⚠ {format.count(trouble.missing)} of {scores} {'are missing' if finished else 'are missing so far'}. "
            f"{format.count(trouble.alike)} × {format.shorten(trouble.reason, 300)}{advice}",
            width="stretch",
        )
        if offers and recorded:
            back = urlencode(evaluation_inputs.asked_of(run), doseq=True)
            url.link("Change the judge", "judge", icon=":material/gavel:", back=back)
        elif offers and draw_leave(run) and st.button("Retry", type="primary", icon=":material/replay:"):
            url.go("leaderboard", run=workspace_runs.repeat_run(run))


def choose_decisive(run: str, board: Leaderboard) -> None:
    """Draw the choice of the metrics that decide, of those with a better end that are shown or chosen already."""
    marked, key = board.decisive, "decisive-metrics"
    offered = {
        column.key: metric_label(column, 60)
        for column in board.columns
        if column.key in marked or (column.direction != "none" and not column.minor)
    }
    st.multiselect(
        "Decisive metrics",
        list(offered),
        controls.agreed(key, [one for one in marked if one in offered]),
        offered.__getitem__,
        key=key,
        placeholder="Every main metric counts",
        on_change=mark_decisive,
        args=(run, key),
        disabled=not visitors.may("editor"),
        width=420,
        help="The headline then counts wins and losses in these alone. Kept with the suite.",
    )


def mark_decisive(run: str, key: str) -> None:
    if not controls.is_gone(key):
        thresholds.mark_decisive(run, st.session_state[key])


begin()
if not url.param("run") and workspace_runs.waits_for_sample():
    frame("leaderboard", QUESTION, needs_run=False)
    welcome.wait_for_sample()
    st.stop()

run = frame("leaderboard", QUESTION, unfinished=True)
welcome.draw_welcome(run)
board_head.draw(run)
whole, facts = run_reads.leaderboard(run), workspace_runs.run_facts(run)
draw_trouble(run)
titles = {column.evaluator: column.evaluator_title for column in whole.columns}
counts = Counter(column.evaluator for column in whole.columns)
minor = sum(column.minor for column in whole.columns)

chosen = filters.many("Evaluators", {name: f"{title} ({counts[name]})" for name, title in titles.items()}, "evaluator")
key = filters.one("Label key", whole.label_keys, "label_key")
tag = filters.one("Tag", whole.tags, "tag")
wanted = filters.search(f"Model ({len(whole.models)})", "search")
show_minor = bool(minor) and filters.toggle(f"More metrics ({minor})", "minor")
filters.reset(list(FILTERS))

board = run_reads.leaderboard(run, tag=tag) if tag else whole
columns = board_drawing.select_columns(board.columns, chosen, show_minor, url.params("column"))
columns = [column for column in columns if key is None or column.label_key in (key, None)]
models = [model for model in board.models if wanted.casefold() in model.casefold()]
sort, down = url.param("sort"), url.param("order") != "up"

CLEARED = ["key", "shown", "as", "against", "also", "tie", "with", "width", "price", "few", "source", "by", "pair"]
form = url.param("form", "")
if form in CHARTS:
    with st.container(horizontal=True):
        if st.button("Heatmap", icon=":material/arrow_back:"):
            url.put(**dict.fromkeys(("form", *CLEARED)))
            st.rerun()
        controls.menu(CHARTS[form], CHARTS, "form", clears=CLEARED)
if not models or not columns:
    st.info("The filters in the sidebar leave no model or no metric. Clear them to see all.")
else:
    keys = tuple(column.key for column in columns)
    answer = run_reads.headline(run, tag, keys, tuple(models))
    sentence = answer.sentence if facts.state == "finished" else so_far(whole.columns, len(facts.evaluators))
    ordered = board_drawing.order_models(board, answer.models, sort, down)
    if form not in CHARTS:
        matched, parameters = run_reads.match_evaluators(run), facts.evaluators
        objects = {
            column.key: drilldown_filters.number(column.evaluator, column.metric, parameters[column.evaluator])
            for column in columns
            if column.evaluator in matched
        }
        cells = board_drawing.cells_shown(url.param("cells"), len(models), len(columns))
        drawing = board_drawing.payload(
            columns, board_cells(run, tag, keys), ordered, sentence, sort or answer.sorted_by, down, objects,
            run_reads.judges_of(run),
            board.columns, cells, open_cell(run, tag, board, objects), run=run, tag=tag,
        )  # fmt: skip
        asked = browser_parts.heatmap(drawing)
        if asked.sort is not None:
            url.put(sort=asked.sort, order="up" if asked.sort == (sort or answer.sorted_by) and down else None)
            st.rerun()
        if asked.columns is not None:
            usual = board_drawing.select_columns(board.columns, chosen, show_minor)
            url.put(column=None if asked.columns == [column.key for column in usual] else asked.columns)
            st.rerun()
        if asked.cells is not None:
            url.put(cells=asked.cells)
            st.rerun()
        board_head.draw_lacks(run)
        what_to_look_at.draw_lines(run, board, columns, ordered, objects)
    else:
        from components.views.results.leaderboard_charts import show_form

        st.text(sentence)
        show_form(form, run, tag, columns, ordered, board)

for note in guarantee_words.footnotes(columns):
    st.text(note)
for note in phrases.board_notes(board):
    st.caption(literal(note))
if judge_line := judge_calls.run_line(judge_settings.judge_of(run)):
    st.text(judge_line)
plain = {column.key for column in whole.columns if not column.minor}
count = sum(cell.problem for (_, key), cell in whole.cells.items() if key in plain)
with st.container(horizontal=True):
    label = f"See the problems ({format.count(count)})" if count else "See the cases"
    if st.button(label, type="primary", icon=":material/arrow_forward:"):
        url.go("problems" if count else "cases", run=run)
    if len(models) > 1 and st.button("Is it really better?"):
        url.go("compare", run=run, tag=tag)
    if run_reads.match_evaluators(run) and st.button("See the objects"):
        url.go("gallery", run=run)
    if judge_line and st.button("Can I trust the judge?"):
        url.go("judge_agreement", run=run)
    if st.button("Export a report"):
        url.go("report", run=run, weight=url.params("weight"), scale=url.params("scale"))
    about_run.draw_asked_models(run)
    if form not in CHARTS:
        controls.menu("More charts", CHARTS, "form", clears=CLEARED)
if form not in CHARTS and len(models) > 1:
    choose_decisive(run, whole)
    detectable_difference.show_detectable(run, tag, columns, sort)
if facts.state == "finished":
    about_run.draw_answers(run, "leaderboard")
    if not boards.is_board(run):
        about_run.draw_read(run, "leaderboard")
if len(models) > 1:
    about_run.draw_tests(run, *([of_ranks(board, tag)] if tag else []))
