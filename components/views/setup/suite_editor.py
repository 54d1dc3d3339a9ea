"""The editor of a suite: filtered cases, edits kept as a draft, contents. Nothing is overwritten."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from components.data import suite_cases, suite_drafts, visitors
from components.data.suite_drafts import SuiteFacts
from components.views.setup import case_form, case_table, suite_saving
from components.views.setup.suite_saving import open_suite
from components.widgets import controls, filters, url
from components.widgets.controls import place
from components.widgets.literal import literal
from components.widgets.tables import HEAD, ROW, header, records
from metrics.core.fields import FIELDS
from metrics.presentation import format

PAGE = 100
TALL = 432  # pixels of the table of cases
FILTERS = ("tag", "complexity", "length_min", "length_max", "field", "value", "search")
ACTIONS = {
    "tag": "Add a tag", "untag": "Remove a tag", "weigh": "Set the weight", "copy": "Duplicate these",
    "keep": "Keep only these", "leave_out": "Remove these",
}  # fmt: skip
KEEP_PAGE = ("tag", "weigh", "copy")  # edits after which no case leaves the page
CHOSEN, BEGUN = "chosen-cases", "chosen-begun"  # in the session: ids; the table begun last and its first selection
WIDTHS = {"case_id": 110, "question": 200, "tags": 170, "weight": 70, "perturbs": 110, "image": 230}
COLUMNS = {  # title, width in pixels, meaning
    **{name: (FIELDS[name].title, width, FIELDS[name].help) for name, width in WIDTHS.items()},
    "expected": ("Expected", 100, "The expected answers, or the true class."),
    "complexity": ("Complexity", 90, "From the column complexity of the upload; medium if empty."),
}


def choose_suite(stored: Mapping[str, str]) -> str:
    """Choose a suite in the sidebar; return its fingerprint, by default that of the address or the newest."""
    asked = url.param("suite")
    chosen = asked if asked is not None and asked in stored else next(iter(stored))
    if asked in (None, chosen):
        url.put(suite=chosen)
    else:  # what is asked for stays in the address, so that the next rerun does not take the error away
        named = literal(repr(format.shorten(str(asked))))
        st.error(f"This workspace has no suite {named}. Choose one of its suites in the sidebar.")
    key = "suite-picker"
    if st.session_state.get(key, chosen) != chosen:
        st.session_state[key] = chosen
    st.sidebar.selectbox(
        f"Suite ({len(stored)})", list(stored), place(list(stored), chosen), stored.__getitem__, key=key,
        on_change=lambda: open_suite(st.session_state[key]),
    )  # fmt: skip
    return chosen


def draw_filters(facts: SuiteFacts) -> dict[str, Any]:
    """Draw the filters of the sidebar; return the criteria, see Suite.matching."""
    criteria: dict[str, Any] = {}
    if wanted := filters.search("Case id or question", "search"):
        criteria["search"] = wanted
    if facts.tags and (tags := filters.many("Tags", counted(facts.tags), "tag")):
        criteria["tag"] = tags
    offered = counted(facts.complexity)
    if len(offered) > 1 and (levels := filters.many("Complexity", offered, "complexity")):
        criteria["complexity"] = levels
    if facts.longest > 1:
        high = float(facts.longest)
        filters.between("Characters of the question", "length", 0.0, high, 1.0, "%.0f")
        least, most = filters.bounds("length", 0.0, high)
        if least is not None or most is not None:
            criteria["length"] = (least, most)
    if facts.values:
        field = filters.one("Column", {name: format.title(name) for name in facts.values}, "field", every="Any")
        if field is not None:
            value = filters.one("Value", counted(facts.values[field]), "value", every="Any")
            if value is not None:
                criteria[field] = value
    filters.reset(list(FILTERS))
    return criteria


def counted(counts: Mapping[str, int]) -> dict[str, str]:
    """Return each value with its number of cases, as filters show it."""
    return {value: f"{format.shorten(value, 40)} ({format.count(n)})" for value, n in counts.items()}


def draw_cases(suite: str, draft: str, facts: SuiteFacts, criteria: Mapping[str, Any]) -> None:
    """Draw a page of the cases that meet the criteria and the edits, or one case as a form, or a table to edit."""
    may_edit = visitors.may("editor")
    if may_edit and ((case := url.param("case")) is not None or url.flag("new")):
        case_form.draw(suite, draft, facts, criteria, case)
        return
    if may_edit and url.flag("table"):
        columns = _draw_modes(facts).popover("Columns", icon=":material/view_column:")
        case_table.draw(suite, draft, facts, criteria, columns)
        _, right = st.columns([7, 3], gap="medium")
        with right:
            suite_saving.draw_save(suite, draft, facts)
        return
    left, right = st.columns([7, 3], gap="medium")
    with left:
        if may_edit:
            _draw_modes(facts)
        page = int(url.number("page", 1, low=1))
        rows, total = suite_drafts.suite_cases(suite, draft, criteria, PAGE, PAGE * (page - 1))
        chosen = _draw_table(rows, total, page, facts, f"{suite}-{draft}-{page}-{sorted(criteria.items())}")
    with right:
        if may_edit:
            _draw_edit(suite, draft, criteria, chosen, total, facts)
        suite_saving.draw_save(suite, draft, facts)


def _draw_modes(facts: SuiteFacts) -> Any:
    """Draw the choice between the list and the table, and the button to a new case; return their row."""
    row = st.container(horizontal=True, vertical_alignment="center")
    with row:
        controls.choice("Show as", {"": "List", "1": "Edit as a table"}, "table")
        if facts.textual:
            st.button("New case", icon=":material/add:", on_click=case_form.open_case, args=(None,))
    return row


def _draw_table(rows: pd.DataFrame, total: int, page: int, facts: SuiteFacts, key: str) -> list[str]:
    """Draw a page of cases; return the ids of the chosen ones."""
    if not total:
        st.info("No case fits the filters in the sidebar. Clear them to see all.")
        return []
    last = -(-total // PAGE)
    with st.container(horizontal=True, vertical_alignment="center"):
        first = PAGE * (page - 1) + 1
        of = format.plural(total, "case") + (" that match" if total < facts.cases else "")
        st.text(f"{format.count(first)}–{format.count(first + len(rows) - 1)} of {of}")
        controls.pager(page, last)
    shown = ["case_id", "question", "expected", "tags"]
    shown += ["weight"] if facts.weighted else []
    shown += ["complexity"] if facts.rated else []
    shown += ["perturbs"] if facts.originals < facts.cases else []
    if not facts.textual:
        shown = ["case_id", "image", "tags"]
    kinds: dict[str, Any] = {"tags": st.column_config.ListColumn, "weight": st.column_config.NumberColumn}
    config = {
        name: kinds.get(name, st.column_config.Column)(title, width=width, help=meaning)
        for name, (title, width, meaning) in COLUMNS.items()
    }
    # the cases chosen in the table before this one stay chosen, so that an edit keeps them
    begun, places = st.session_state.get(BEGUN, ("", []))
    if begun != key:
        wanted = set(st.session_state.get(CHOSEN, ()))
        places = [place for place, case in enumerate(rows["case_id"]) if case in wanted]
        st.session_state[BEGUN] = (key, places)
    event = st.dataframe(
        rows, hide_index=True, column_order=shown, column_config=config, key=f"cases-{key}", on_select="rerun",
        selection_mode="multi-row", height="content" if HEAD + ROW * len(rows) <= TALL else TALL, row_height=ROW,
        selection_default={"selection": {"rows": places}} if places else None,
    )  # fmt: skip
    chosen = [str(rows.iloc[row]["case_id"]) for row in event["selection"]["rows"]]
    st.session_state[CHOSEN] = chosen
    return chosen


def _draw_edit(
    suite: str, draft: str, criteria: Mapping[str, Any], chosen: list[str], total: int, facts: SuiteFacts
) -> None:
    with st.container(border=True, gap="small"):
        if len(chosen) == 1:
            st.button(
                "Open the chosen case", icon=":material/edit:", width="stretch", on_click=case_form.open_case,
                args=(chosen[0],),
            )  # fmt: skip
        actions = [name for name in ACTIONS if facts.textual or name != "copy"]
        action = st.selectbox(
            "Edit", actions, format_func=ACTIONS.__getitem__, key="edit-action",
            help="Edits make a draft, kept in the address. The stored suite does not change.",
        )  # fmt: skip
        edit: dict[str, Any] = {"do": action}
        if action == "tag":
            edit["tag"] = st.text_input("Tag", key="edit-tag", max_chars=80).strip()
        elif action == "untag":
            edit["tag"] = st.selectbox("Tag", list(facts.tags), key="edit-untag") or ""
        elif action == "weigh":
            edit["weight"] = st.number_input("Weight", 0.0, value=1.0, step=0.5, key="edit-weight")
        count = len(chosen) or total
        whole = action in ("keep", "leave_out") and count == facts.cases
        ready = bool(total) and not whole and edit.get("tag") != ""
        target = f"the {format.plural(count, 'chosen case')}" if chosen else f"all {format.plural(count, 'case')} shown"
        if st.button(f"Apply to {target}", disabled=not ready, width="stretch", help="Select rows to edit only those."):
            if action == "copy":
                added = {"do": "add", "rows": suite_cases.copies(suite, draft, criteria, chosen)}
                token, problems = suite_drafts.add_edits(suite, draft, [added])
            else:
                token, problems = suite_drafts.edit_draft(suite, draft, edit, criteria, chosen)
            if not token:
                suite_saving.draw_problems(problems)
                return
            url.put(draft=token)
            if action not in KEEP_PAGE:
                url.put(page=None)
            st.rerun()


def draw_contents(facts: SuiteFacts) -> None:
    """Draw the number of cases of each tag, complexity and value; a click shows the cases."""
    left, middle, *right = st.columns(3 if facts.values else 2, gap="medium")
    with left:
        if facts.tags:
            _draw_counts("Tags", facts.tags, facts.cases, "tag")
        else:
            st.text("No case has a tag. Tags can be added under Cases.")
    with middle:
        _draw_counts("Complexity", facts.complexity, facts.cases, "complexity")
        if unrated := facts.cases - facts.rated:
            st.caption(
                f"{format.plural(unrated, 'case')} without a complexity count as medium; a column complexity in the "
                "upload sets it."
            )
    if not right:
        return
    with right[0]:
        fields = {name: format.title(name) for name in facts.values}
        asked = url.param("field")
        start = list(fields).index(asked) if asked in fields else 0
        field = st.selectbox("Column", list(fields), start, fields.__getitem__, key="contents-field")
        url.put(field=field)
        _draw_counts(fields[field], facts.values[field], facts.cases, "value", field=field)


def _draw_counts(title: str, counts: Mapping[str, int], cases: int, name: str, **beside: str) -> None:
    table = pd.DataFrame({"value": list(counts), "cases": list(counts.values())})
    table["share"] = 100 * table["cases"] / max(1, cases)
    columns = {
        "value": header(title, 100),
        "cases": st.column_config.NumberColumn("Cases", width=60, help="Number of cases; click to see them."),
        "share": st.column_config.ProgressColumn(
            "Share", width=100, format="%.0f %%", min_value=0.0, max_value=100.0,
            help="Share of all cases of the suite; a case may have several tags.",
        ),
    }  # fmt: skip
    if (clicked := records(table, columns, f"contents-{name}-{beside}", tallest=460)) is not None:
        url.put(**dict.fromkeys([*FILTERS, "page", "view"]))
        url.put(**beside, **{name: [str(table.iloc[clicked]["value"])]})
        st.rerun()
