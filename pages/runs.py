from functools import partial
from math import ceil

import streamlit as st

from components.data import boards, run_reads, visitors, workspace_runs
from components.views.results import run_archive, run_cards
from components.widgets import controls, filters, unfinished_run, url, visitor
from components.widgets.frame import draw_no_run, frame
from metrics.presentation import format, run_names
from metrics.presentation.run_names import GOING

PAGE = 10

frame("runs", "What is being computed, and what is finished?", needs_run=False)


def befores(runs: list[workspace_runs.RunFacts]) -> dict[str, str]:
    """Return for each run the last finished run before it of the same suite and with one of its models, if any."""
    return {
        run.id: before.id
        for place, run in enumerate(runs)
        for before in [next(filter(partial(run_cards.is_before, run), runs[place + 1 :]), None)]
        if before
    }


if url.flag("log") and visitors.may("admin"):
    visitor.draw_log()
runs, damaged, deleted = workspace_runs.runs(), workspace_runs.damaged_runs(), workspace_runs.deleted_runs()
unfinished_run.draw_refused()
if not runs:
    draw_no_run()
    run_cards.draw_damaged(damaged)
    run_archive.draw_import()
    run_cards.draw_bin(deleted)
    st.stop()
asked = unfinished_run.run_of(url.param("run"))

wanted = filters.search(f"Run ({len(runs)})", "search")
known = sorted({tag for run in runs for tag in run.tags})
tags = filters.many("Tags", known, "tag") if known else []
states = filters.many("State", {name: run_names.STATES[name] for name in sorted({run.state for run in runs})}, "state")
filters.reset(["search", "tag", "state"])

shown = [run for run in runs if run_cards.matches(run, wanted, tags, states)]
others = sorted((run for run in shown if run.state not in GOING), key=lambda run: run.id != asked)
last = max(1, ceil(len(others) / PAGE))
page = int(url.number("page", 1, 1, last))
with st.container(horizontal=True, vertical_alignment="center"):
    if visitors.may("editor") and st.button("Evaluate a suite", type="primary", icon=":material/add:"):
        url.go("evaluate")
    st.text(run_cards.counts(runs, damaged), width="stretch")
    if last > 1:
        st.text(f"{format.plural(len(others), 'run')}, page {page} of {last}")
    controls.pager(page, last)
earlier, several = befores(runs), boards.several_runs(runs)
listed = [*[run for run in shown if run.state in GOING], *others[(page - 1) * PAGE : page * PAGE]]
results = {run.id: run_cards.card(run, earlier.get(run.id), several.get(run.id)) for run in listed}
if not shown:
    st.info("The filters in the sidebar leave no run. Clear them to see all.")
run_cards.draw_damaged(damaged)
run_archive.draw_import()
run_cards.draw_bin(deleted)
for run_id, result in results.items():
    if result is not None and (line := run_reads.result_line(run_id)):
        result.text(line)
