"""Cases of a suite as a table whose cells are edited in place; all changes of a page are applied at once."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from components.data import suite_cases, suite_drafts
from components.data.suite_drafts import SuiteFacts
from components.views.setup import suite_saving
from components.widgets import url
from components.widgets.controls import pager
from components.widgets.tables import ROW
from metrics.core.fields import FIELDS, METADATA, edited_fields, title_of
from metrics.presentation import format

PAGE = 100
TALL = 470  # pixels
COMPLEXITY = METADATA + "complexity"
NEW_ID_HELP = "Variants follow. Empty in a new row: the next number."
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
    rows, total = suite_cases.editable_cases(suite, draft, criteria, columns, PAGE, PAGE * (page - 1))
    key = f"table-{suite[:12]}-{draft}-{page}-{sorted(criteria.items())}-{st.session_state.get('case-table', 0)}"
    head = st.container(horizontal=True, vertical_alignment="center")
    st.data_editor(
        rows, key=key, hide_index=True, num_rows="dynamic" if facts.textual else "delete", row_height=ROW,
        height="content" if ROW * (len(rows) + 2) <= TALL else TALL,
        column_config={name: _config(name) for name in columns},
    )  # fmt: skip
    delta = st.session_state[key]
    unnamed = sum(_filled(row) and not row.get("case_id") for row in delta["added_rows"])
    edits = table_edits(rows, delta, suite_cases.next_case_ids(suite, draft, unnamed))
    with head:  # the buttons on the left: the toolbar of the table covers what is on the right
        apply = st.button("Apply the changes", type="primary", disabled=not edits)
        if edits and st.button("Revert", type="tertiary", help="Shows the cases as they are in the draft."):
            st.session_state["case-table"] = st.session_state.get("case-table", 0) + 1
            st.rerun()
        first = PAGE * (page - 1) + 1
        span = f"{format.count(first)}–{format.count(first + len(rows) - 1)} of " if len(rows) else ""
        st.text(" · ".join(suite_drafts.edit_words(edits)) or f"{span}{format.plural(total, 'case')}", help=HINT)
        if not edits:
            pager(page, -(-total // PAGE))
    if not apply:
        return
    token, problems = suite_drafts.add_edits(suite, draft, edits)
    if token:
        url.put(draft=token)
        st.rerun()
    with head.container():
        suite_saving.draw_problems(problems)


def _choose_columns(suite: str, facts: SuiteFacts, menu: Any) -> list[str]:
    fields = edited_fields(facts.task, facts.columns)
    possible = [field.name for field in sorted(fields, key=lambda field: field.role == "sort")] + [COMPLEXITY]
    possible += [name for name in facts.columns if name.startswith(METADATA) and name not in possible]
    start = [name for name in possible if name in facts.columns or name in ("question", "tags")]
    chosen = menu.multiselect("Columns", possible, start, title_of, key=f"table-columns-{suite}")
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
        typed = {name: _typed(name, value) for name, value in cells.items() if name != "case_id"}
        if values := {name: value for name, value in typed.items() if _differs(value, row[name])}:
            changed.append({"case_id": row["case_id"], **values})
        if "case_id" in cells and cells["case_id"] != row["case_id"]:
            names[row["case_id"]] = cells["case_id"] or ""
    ids = iter(new_ids)
    added = [
        {name: _typed(name, value) for name, value in row.items()} | {"case_id": row.get("case_id") or next(ids, "")}
        for row in delta.get("added_rows", ())
        if _filled(row)
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


def _typed(name: str, value: Any) -> Any:
    """Return a cell as its column has it: a table gives the numbers of a list as texts; what is none stays a text."""
    if name not in FIELDS or not (FIELDS[name].is_list and FIELDS[name].is_number) or not isinstance(value, list):
        return value
    numbers = pd.to_numeric(pd.Series(value, dtype="object"), errors="coerce")
    return value if numbers.isna().any() else numbers.astype(float).tolist()


def _filled(row: Mapping[str, Any]) -> bool:
    return any(value not in (None, "", []) for value in row.values())


def _differs(value: Any, before: Any) -> bool:
    known = before if isinstance(before, list) else None if pd.isna(before) else before
    return (value or None) != (known or None) if not isinstance(value, float | int) else value != known


def _config(name: str) -> Any:
    title, field = title_of(name), FIELDS.get(name)
    if field is None:
        return st.column_config.TextColumn(title, width=110)
    if field.role == "key":
        return st.column_config.TextColumn(title, width=110, pinned=True, help=f"{field.help} {NEW_ID_HELP}")
    if field.is_list:
        return st.column_config.ListColumn(title, width=180, help=f"{field.help} {LIST_HELP}")
    if field.is_number:
        low = None if field.low == -math.inf else field.low
        return st.column_config.NumberColumn(
            title,
            width=110,
            min_value=low,
            format="%.6g" if low is None else None,
            help=field.help,
            step=1 if field.is_whole else None,
        )
    return st.column_config.TextColumn(title, width=110 if field.edited == "line" else 240, help=field.help)
