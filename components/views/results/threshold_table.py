"""Setting the thresholds of a run's metrics: by a model's value or by hand, kept in profiles of the workspace."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from components.data import run_reads, thresholds, visitors
from components.widgets.literal import literal
from components.widgets.tables import header, numeric
from metrics.analysis import Column
from metrics.presentation import format
from metrics.presentation.guarantee_words import whose
from metrics.presentation.phrases import metric_title

AS_STARTED = "As each run was started"
PASSES = "The lowest value that passes; of a metric with ↓ the highest."
SLACK = "The threshold is this much of the value worse than it: of 0.80, 2 % is 0.784; of an error of 0.50, 0.51."


def draw_thresholds(run: str) -> None:
    """Draw the profiles, and the metrics of a run with the thresholds in force, to be edited in their cells."""
    board, profiles = run_reads.leaderboard(run), thresholds.threshold_profiles()
    columns = [column for column in board.columns if column.direction != "none" and not column.minor]
    _draw_profiles(profiles)
    rows = []
    for column in columns:
        cells = {model: board.cells.get((model, column.key)) for model in board.models}
        values = {model: cell.value for model, cell in cells.items() if cell is not None and cell.value is not None}
        best = (max if column.direction == "higher" else min)(values, key=values.__getitem__, default=None)
        own = (column.evaluator, column.metric) in profiles.given
        rows.append(
            {
                "chosen": False,
                "metric": metric_title(column),
                "threshold": column.threshold,
                "from": f"profile {profiles.in_force}" if own else whose(column),
                "best": "" if best is None else format.number(values[best]),
                "model": best or "",
                "problems": sum(cell is not None and cell.problem for cell in cells.values()),
                "code": f"{column.evaluator}.{column.title}",
            }
        )
    table = pd.DataFrame(rows).astype({"threshold": float})
    names = list(map(str, table))
    # other thresholds are another table: what was typed into the one before is stored, and its ticks are done with
    state = hashlib.sha256(table.to_json().encode()).hexdigest()[:12]
    key = f"thresholds-{run}-{state}"
    may_set = visitors.may("editor")
    if may_set:
        st.text("Type thresholds into their cells, or empty them. The buttons set the ticked metrics, or all of them.")
        _draw_buttons(run, board.models, _ticked(key, columns))
    st.data_editor(
        table, hide_index=True, key=key, placeholder="", height="auto" if len(rows) < 12 else 430,
        disabled=[name for name in names if name not in ("chosen", "threshold")] if may_set else True,
        on_change=_set_edited, args=(key, columns), column_order=names[0 if may_set else 1 :],
        column_config={
            "chosen": st.column_config.CheckboxColumn("", width=36), "metric": header("Metric", 190),
            "threshold": st.column_config.NumberColumn("Passes from", width=96, format="%.4g", help=PASSES),
            "from": header("Set by", 100), "best": numeric("Best value", 84), "model": header("Reached by", 125),
            "problems": st.column_config.NumberColumn("Models that miss it", width=136),
            "code": header("Code", 210, "what the command, the exports and the docs call the metric"),
        },
    )  # fmt: skip


def _edits(key: str) -> Mapping[int, Mapping[str, Any]]:
    edits: Mapping[int, Mapping[str, Any]] = (st.session_state.get(key) or {}).get("edited_rows", {})
    return edits


def _ticked(key: str, columns: Sequence[Column]) -> list[Column]:
    rows = [row for row, edit in _edits(key).items() if edit.get("chosen") and row < len(columns)]
    return [columns[row] for row in sorted(rows)] or list(columns)


def _set_edited(key: str, columns: Sequence[Column]) -> None:
    """Set the thresholds that were typed, and remove those whose cells were emptied."""
    given = {
        (columns[row].evaluator, columns[row].metric): edit["threshold"]
        for row, edit in _edits(key).items()
        if "threshold" in edit and edit["threshold"] != columns[row].threshold
    }
    if given:
        thresholds.set_thresholds(given)


def _draw_profiles(profiles: thresholds.Profiles) -> None:
    if not visitors.may("editor"):
        st.text(f"Profile in force: {profiles.in_force or AS_STARTED.lower()}")
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        options = [AS_STARTED, *profiles.names]
        asked = st.selectbox(
            "Profile in force", options, options.index(profiles.in_force or AS_STARTED), width=300,
            help="A profile's thresholds replace those that runs were started with, in every page and report of "
            "this workspace. Scores do not change.",
        )  # fmt: skip
        if asked != (profiles.in_force or AS_STARTED):
            thresholds.use_profile(None if asked == AS_STARTED else asked)
            st.rerun()
        with (
            st.popover("New profile", icon=":material/add:"),
            st.form("new-profile", border=False, clear_on_submit=True),
        ):
            name = st.text_input("Name", placeholder="Release gate")
            if st.form_submit_button("Create", type="primary"):
                problem = thresholds.use_profile(name)
                if problem is None:
                    st.rerun()
                st.error(literal(problem))
        if profiles.in_force and st.button("Remove profile", icon=":material/delete:"):
            thresholds.remove_profile(profiles.in_force)
            st.rerun()


def _draw_buttons(run: str, models: Sequence[str], chosen: Sequence[Column]) -> None:
    keys = [column.key for column in chosen]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        slack = st.number_input("Allowed drop, %", 0.0, 100.0, 2.0, 0.5, "%.1f", help=SLACK, width=150)
        st.button(
            "As the best model", type="primary", icon=":material/trophy:", on_click=_set,
            args=(run, keys, None, slack / 100), help="The best value of each metric, minus the allowed drop.",
        )  # fmt: skip
        model = st.selectbox("Model", models, width=220)
        st.button("As this model", on_click=_set, args=(run, keys, model, slack / 100))
        own = {(column.evaluator, column.metric): None for column in chosen}
        st.button("Remove", on_click=thresholds.set_thresholds, args=(own,), help="Back to the thresholds of the run.")


def _set(run: str, keys: Sequence[str], model: str | None, slack: float) -> None:
    thresholds.set_thresholds(thresholds.thresholds_by_models(run, keys, model, slack))
