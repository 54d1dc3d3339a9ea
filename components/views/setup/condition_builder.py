"""A condition on the answer, written as a form or as text; each says what is wrong with it, and a text can be tried."""

from typing import Any

import streamlit as st

from components.data import ConditionForm, ConditionGroup, ConditionRow, condition_of, row_problem, suite_cases
from components.widgets.tables import header
from metrics.presentation.palette import GLYPHS

TESTS = {"contains": "contains", "lacks": "does not contain", "matches": "matches", "matches_not": "does not match"}
JOINS = {True: "all of", False: "any of"}
MODES = {"form": "Form", "text": "Text"}
HELP = (
    "The evaluator text matching checks the answer, and the retrieved contexts as one text. “matches” takes a regular "
    "expression, found anywhere in the text."
)
SYNTAX = 'Texts in "quotes", regexp("…"), AND, OR, NOT and parentheses: "Paris" AND NOT regexp("18(87|89)")'


def draw(condition: str, key: str) -> str:
    """Draw the editor of a condition; return its text as it is now, which may be one that cannot be read."""
    state = st.session_state.setdefault(f"{key}-state", {"text": condition, "form": None, "count": 0})
    mode_key = f"{key}-mode"
    if mode_key not in st.session_state:
        st.session_state[mode_key] = "text" if suite_cases.condition_form(state["text"]) is None else "form"
    mode = st.segmented_control(
        "How to write it", list(MODES), format_func=MODES.__getitem__, key=mode_key, required=True,
        on_change=state.update, kwargs={"form": None}, label_visibility="collapsed",
    )  # fmt: skip
    if mode == "form" and state["form"] is None and (known := suite_cases.condition_form(state["text"])) is not None:
        state["form"] = _numbered(known, state)
    if mode == "form" and state["form"] is not None:
        state["text"] = condition_of(_draw_form(state, key))
        if state["text"]:
            st.code(state["text"], language=None, wrap_lines=True)
    else:
        if mode == "form":
            wrong = suite_cases.condition_problem(state["text"])
            why = "cannot be read" if wrong else "is nested too deeply for the form"
            st.text(f"This condition {why}: it is edited as text.")
        text_key = f"{key}-text-{state['count']}"
        state["text"] = st.text_area("Condition", state["text"], key=text_key, help=SYNTAX, height="content").strip()
        if state["text"] and (problem := suite_cases.condition_problem(state["text"])):
            st.text(f"✗ {problem}")
    if state["text"] and not suite_cases.condition_problem(state["text"]):
        _draw_trial(state["text"], key)
    return str(state["text"])


def _numbered(form: ConditionForm, state: dict[str, Any]) -> dict[str, Any]:
    """Return the form as lists that can be changed; numbers make the keys of its widgets."""
    groups = [_group(state, own.every, [_row(state, row.test, row.text) for row in own.rows]) for own in form.groups]
    return {"number": _number(state), "every": form.every, "groups": groups or [_group(state, True, [_row(state)])]}


def _group(state: dict[str, Any], every: bool, rows: list[dict[str, Any]]) -> dict[str, Any]:
    return {"number": _number(state), "every": every, "rows": rows}


def _row(state: dict[str, Any], test: str = "contains", text: str = "") -> dict[str, Any]:
    return {"number": _number(state), "test": test, "text": text}


def _number(state: dict[str, Any]) -> int:
    state["count"] += 1
    return int(state["count"])


def _draw_form(state: dict[str, Any], key: str) -> ConditionForm:
    form = state["form"]
    groups = form["groups"]
    if len(groups) > 1:
        form["every"] = _join("The answer must satisfy", "of these groups", form, key)
    for group in list(groups):
        with st.container(border=True, gap="small"):
            group["every"] = _join("The answer", "of these", group, key)
            for row in list(group["rows"]):
                _draw_row(row, group, groups, key)
            st.button(
                "Add a row", key=f"{key}-add-{group['number']}", icon=":material/add:", type="tertiary",
                on_click=lambda group=group: group["rows"].append(_row(state)),
            )  # fmt: skip
    st.button(
        "Add a group", key=f"{key}-group", icon=":material/library_add:", type="tertiary",
        on_click=lambda: groups.append(_group(state, not groups[-1]["every"] if groups else True, [_row(state)])),
        help="Groups nest one level: all of several “any of” groups, or any of several “all of” groups.",
    )  # fmt: skip
    found = [
        ConditionGroup(
            group["every"], tuple(ConditionRow(row["test"], row["text"]) for row in group["rows"] if row["text"])
        )
        for group in groups
    ]
    return ConditionForm(form["every"], tuple(found))


def _join(label: str, ending: str, holder: dict[str, Any], key: str) -> bool:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.text(label, width="content")
        every = st.segmented_control(
            "Joined by", [True, False], format_func=JOINS.__getitem__, default=holder["every"], required=True,
            key=f"{key}-join-{holder['number']}", label_visibility="collapsed", width="content",
        )  # fmt: skip
        st.text(ending, width="content")
    return bool(every)


def _draw_row(row: dict[str, Any], group: dict[str, Any], groups: list[dict[str, Any]], key: str) -> None:
    number = row["number"]
    test, text, close = st.columns([3, 6, 1], vertical_alignment="center", gap="small")
    row["test"] = test.selectbox(
        "Test", list(TESTS), list(TESTS).index(row["test"]), TESTS.__getitem__, key=f"{key}-test-{number}",
        label_visibility="collapsed", help=HELP,
    )  # fmt: skip
    row["text"] = text.text_input(
        "Text", row["text"], key=f"{key}-what-{number}", label_visibility="collapsed",
        placeholder="text" if row["test"] in ("contains", "lacks") else "regular expression",
    )  # fmt: skip

    def remove() -> None:
        group["rows"].remove(row)
        if not group["rows"] and len(groups) > 1:
            groups.remove(group)

    close.button(
        "", key=f"{key}-remove-{number}", icon=":material/close:", type="tertiary", help="Remove this row",
        on_click=remove,
    )  # fmt: skip
    if row["text"] and (problem := row_problem(ConditionRow(row["test"], row["text"]))):
        st.text(f"✗ {problem}")


def _draw_trial(condition: str, key: str) -> None:
    with st.expander("Try it on a text", icon=":material/science:"):
        text = st.text_area("Text", key=f"{key}-trial", placeholder="An answer of a model", height="content")
        if not text:
            return
        passes, terms = suite_cases.try_condition(condition, text)
        st.text("✓ passes" if passes else "✗ fails")
        rows = [{"term": term, "found": GLYPHS[there]} for term, there in terms]
        columns = {"term": header("Text or expression", "large"), "found": header("Found", 60, "Is it in the text?")}
        st.dataframe(rows, hide_index=True, height="content", column_config=columns)
