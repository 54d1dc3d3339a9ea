"""Cases of a suite as a table whose cells are edited in place; all changes of a page are applied at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from components import data
from components.views.setup import suite_saving
from components.widgets import url
from components.widgets.controls import pager
from components.widgets.tables import ROW
from metrics.presentation import format

if TYPE_CHECKING:
    from components.data import SuiteFacts

PAGE = 100
TALL = 470  # pixels
LISTS = ("expected_answers", "reference_contexts", "tags", "labels")
GUARDS = ("code_tests", "database_script", "system_prompt", "attack_goal", "attack_condition")
TEXTS = (
    "question", *LISTS[:2], "conditions", "json_schema", "source_text", "expected_calls", "label", "labels", "perturbs",
    *GUARDS,
)  # fmt: skip
ALWAYS = ("tags", "weight", "group", "metadata.complexity")
TITLES = {
    "case_id": "Case", "perturbs": "Variant of", "label": "True class", "labels": "True classes",
    "true_value": "True value", "json_schema": "JSON Schema",
}  # fmt: skip
HELP = {
    "true_value": "The number that a correct model predicts.",
    "case_id": "The id by which outputs refer to the case; variants follow. Empty in a new row: the next number.",
    "weight": "Weight of the case in weighted means; empty counts as 1.",
    "conditions": 'As text: "Paris" AND NOT regexp("18(87|89)").',
    "expected_calls": 'The calls that an agent should make, as JSON: [{"name": "add", "arguments": {"a": 1}}].',
    "perturbs": "The id of the case that this one is a perturbed variant of.",
}
LIST_HELP = "A list: double-click, type an item and press Enter, then click outside; Backspace removes the last item."
HINT = (
    "Double-click a cell to edit it, paste from a spreadsheet, add rows at the end, tick rows and press Delete to "
    "remove them. Lists take an item per Enter; click outside when it is complete."
)


def draw(suite: str, draft: str, facts: SuiteFacts, criteria: Mapping[str, Any], menu: Any) -> None:
    """Draw a page of cases to be edited, and the button that applies all changes of the page to the draft.

    The columns are chosen in the container `menu`.
    """
    columns = ["case_id", *_choose_columns(suite, facts, menu)]
    page = int(url.number("page", 1, low=1))
    rows, total = data.editable_cases(suite, draft, criteria, columns, PAGE, PAGE * (page - 1))
    key = f"table-{suite[:12]}-{draft}-{page}-{sorted(criteria.items())}-{st.session_state.get('case-table', 0)}"
    head = st.container(horizontal=True, vertical_alignment="center")
    st.data_editor(
        rows, key=key, hide_index=True, num_rows="dynamic" if facts.textual else "delete", row_height=ROW,
        height="content" if ROW * (len(rows) + 2) <= TALL else TALL,
        column_config={name: _config(name) for name in columns},
    )  # fmt: skip
    delta = st.session_state[key]
    unnamed = sum(_filled(row) and not row.get("case_id") for row in delta["added_rows"])
    edits = table_edits(rows, delta, data.next_case_ids(suite, draft, unnamed))
    with head:  # the buttons on the left: the toolbar of the table covers what is on the right
        apply = st.button("Apply the changes", type="primary", disabled=not edits)
        if edits and st.button("Revert", type="tertiary", help="Shows the cases as they are in the draft."):
            st.session_state["case-table"] = st.session_state.get("case-table", 0) + 1
            st.rerun()
        first = PAGE * (page - 1) + 1
        span = f"{format.count(first)}–{format.count(first + len(rows) - 1)} of " if len(rows) else ""
        words = " · ".join(data.edit_words(edits))
        st.text(words or f"{span}{format.plural(total, 'case')}", help=HINT)
        if not edits:
            pager(page, -(-total // PAGE))
    if not apply:
        return
    token, problems = data.add_edits(suite, draft, edits)
    if token:
        url.put(draft=token)
        st.rerun()
    with head.container():
        suite_saving.draw_problems(problems)


def _choose_columns(suite: str, facts: SuiteFacts, menu: Any) -> list[str]:
    possible = [*(TEXTS if facts.textual else ()), *(("true_value",) if facts.task == "regression" else ()), *ALWAYS]
    possible += [name for name in facts.columns if name.startswith("metadata.") and name not in possible]
    start = [name for name in possible if name in facts.columns or name in ("question", "tags")]
    chosen = menu.multiselect("Columns", possible, start, _title, key=f"table-columns-{suite}")
    return [name for name in possible if name in chosen]


def table_edits(rows: pd.DataFrame, delta: Mapping[str, Any], new_ids: Sequence[str]) -> list[dict[str, Any]]:
    """Return the edits for what was changed, added and removed in a table; `new_ids` are for rows without an id."""
    gone = set(delta.get("deleted_rows", ()))
    changed: list[dict[str, Any]] = []
    names: dict[str, str] = {}
    for place, cells in delta.get("edited_rows", {}).items():
        if int(place) in gone:
            continue
        row = rows.iloc[int(place)]
        values = {name: value for name, value in cells.items() if name != "case_id" and _differs(value, row[name])}
        if values:
            changed.append({"case_id": row["case_id"], **values})
        if "case_id" in cells and cells["case_id"] != row["case_id"]:
            names[row["case_id"]] = cells["case_id"] or ""
    ids = iter(new_ids)
    added = [
        {**row, "case_id": row.get("case_id") or next(ids, "")} for row in delta.get("added_rows", ()) if _filled(row)
    ]
    edits: list[dict[str, Any]] = []
    if gone:
        edits.append({"do": "leave_out", "cases": [rows.iloc[place]["case_id"] for place in sorted(gone)]})
    if changed:
        edits.append({"do": "change", "rows": changed})
    if names:
        edits.append({"do": "rename", "names": names})
    if added:
        edits.append({"do": "add", "rows": added})
    return edits


def _filled(row: Mapping[str, Any]) -> bool:
    return any(value not in (None, "", []) for value in row.values())


def _differs(value: Any, before: Any) -> bool:
    known = before if isinstance(before, list) else None if pd.isna(before) else before
    return (value or None) != (known or None) if not isinstance(value, float | int) else value != known


def _title(name: str) -> str:
    return TITLES.get(name) or format.title(name.removeprefix("metadata."))


def _config(name: str) -> Any:
    title = _title(name)
    if name in LISTS:
        return st.column_config.ListColumn(title, width=180, help=LIST_HELP)
    if name == "weight":
        return st.column_config.NumberColumn(title, width=80, min_value=0.0, help=HELP["weight"])
    if name == "true_value":
        return st.column_config.NumberColumn(title, width=110, format="%.6g", help=HELP[name])
    if name == "case_id":
        return st.column_config.TextColumn(title, width=110, pinned=True, help=HELP[name])
    return st.column_config.TextColumn(title, width=240 if name in TEXTS else 110, help=HELP.get(name))
