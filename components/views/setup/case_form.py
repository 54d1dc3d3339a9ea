"""One case of a suite as a form: its fields, what is wrong with them, and the steps to the cases before and after."""

import math
import string
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from itertools import groupby
from typing import Any

import pandas as pd
import streamlit as st

from components.data import suite_cases, suite_drafts
from components.data.suite_cases import CaseToEdit
from components.data.suite_drafts import SuiteFacts
from components.views.setup import condition_builder, suite_saving
from components.widgets import url
from components.widgets.literal import literal
from components.widgets.tables import header
from metrics.core.fields import FIELDS, METADATA, Field, edited_fields, words_of
from metrics.presentation import format

COMPLEXITY = METADATA + "complexity"
LEVELS = ("simple", "medium", "complex")
NEW: Mapping[str, Any] = {}
ASIDE = ("class", "classes", "number", "tags", "line")  # editors that stand beside the texts
METADATA_HELP = "Columns of your own; results can be sliced by them."


def draw_ids(values: Mapping[str, Any], key: str) -> dict[str, Any]:
    """Draw the relevant ids and their grades as a table; return both columns."""
    ids = list(values.get("reference_context_ids") or [])
    grades = values.get("reference_grades") or [None] * len(ids)
    st.text(FIELDS["reference_context_ids"].title, help=FIELDS["reference_context_ids"].help)
    edited = st.data_editor(
        pd.DataFrame({"id": pd.Series(ids, dtype="string"), "grade": pd.Series(grades, dtype="Float64")}),
        hide_index=True,
        num_rows="dynamic",
        key=f"{key}-ids",
        height="content" if len(ids) < 8 else 300,
        column_config={
            "id": header("Id", 300),
            "grade": st.column_config.NumberColumn("Grade", width=90, help=FIELDS["reference_grades"].help),
        },
    )
    kept = edited[edited["id"].fillna("").str.strip() != ""]
    graded = kept["grade"].notna().any()
    return {
        "reference_context_ids": [str(one).strip() for one in kept["id"]],
        "reference_grades": [float(grade) for grade in kept["grade"].fillna(1.0)] if graded else None,
    }


def text_list(label: str, values: Sequence[str], key: str, help: str | None = None) -> list[str]:
    """Draw a field for each text, with buttons to remove and to add one; return the texts that are not blank."""
    numbers = st.session_state.setdefault(f"{key}-numbers", list(range(max(1, len(values)))))
    found = []
    for place, number in enumerate(numbers, 1):
        field, close = st.columns([15, 1], vertical_alignment="center", gap="small")
        found.append(
            field.text_area(
                label if len(numbers) == 1 else f"{label} {place}",
                values[number] if number < len(values) else "",
                key=f"{key}-{number}",
                height="content",
                help=help if place == 1 else None,
            )
        )
        close.button(
            "",
            key=f"{key}-remove-{number}",
            icon=":material/close:",
            type="tertiary",
            help="Remove this one",
            on_click=numbers.remove,
            args=(number,),
        )
    st.button(
        "Add another",
        key=f"{key}-add",
        icon=":material/add:",
        type="tertiary",
        on_click=lambda: numbers.append(max([*numbers, len(values) - 1], default=-1) + 1),
    )
    return [text for text in found if text.strip()]


def draw_choices(values: Mapping[str, Any], key: str) -> dict[str, Any]:
    """Draw the choices and which of them is correct; return both columns."""
    found = text_list("Choice", values.get("choices") or [], f"{key}-choices", FIELDS["choices"].help)
    start = values.get("correct_choice")
    correct = st.selectbox(
        FIELDS["correct_choice"].title,
        range(len(found)),
        start if start is not None and start < len(found) else None,
        format_func=lambda place: f"{_letter(place)}: {found[place]}",
        key=f"{key}-correct",
        placeholder="none",
    )
    return {"choices": found, "correct_choice": correct}


def _letter(place: int) -> str:
    return string.ascii_uppercase[place] if place < len(string.ascii_uppercase) else str(place + 1)


DRAWN_APART = {"ids": draw_ids, "choices": draw_choices}  # of two columns at once


def draw(suite: str, draft: str, facts: SuiteFacts, criteria: Mapping[str, Any], case_id: str | None) -> None:
    """Draw the form of a case, or of a new one (None); what is applied becomes an edit of the draft."""
    case = None if case_id is None else suite_cases.suite_case(suite, draft, criteria, case_id)
    if case_id is not None and case is None:
        st.info(f"The suite has no case {literal(repr(format.shorten(case_id)))}.")
        st.button("Back to the cases", on_click=close, icon=":material/arrow_back:")
        return
    values: Mapping[str, Any] = NEW if case is None else case.values
    key = f"case-{suite[:12]}-{draft}-{case_id}-{st.session_state.get('case-form', 0)}"
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button("Back to the cases", on_click=close, icon=":material/arrow_back:")
        st.text("New case" if case is None else _place(case), width="stretch")
        steps = st.container(horizontal=True, width="content")
    left, right = st.columns([7, 3], gap="medium")
    with left:
        own_id = st.text_input(
            "Case id", case_id or suite_cases.next_case_ids(suite, draft)[0], key=f"{key}-id", max_chars=500,
            help="Outputs name the case by its id. Variants follow a new id.",
        ).strip()  # fmt: skip
        labels: dict[int, str] = {}
        if facts.textual:
            found = _draw_texts(values, facts, key)
        else:
            labels = _draw_objects(case, facts, key)
            found = {}
    with right:
        actions = st.container()
        with st.container(border=True, gap="small"):
            found |= _draw_facts(values, facts, key)
        edits = _edits(case_id, own_id, values, found, labels)
        with actions.container(border=True, gap="small"):
            _draw_apply(suite, draft, case_id, own_id, edits, facts)
        suite_saving.draw_save(suite, draft, facts)
    if case is not None:
        _draw_steps(steps, case, bool(edits))


def open_case(case_id: str | None) -> None:
    """Open the form of a case; None: of a new one."""
    url.put(case=case_id, new=case_id is None)


def close() -> None:
    """Show the list of cases instead of a form."""
    url.put(case=None, new=None)


def _place(case: CaseToEdit) -> str:
    if not case.place:
        return "Not among the cases that match the filters"
    return f"{format.count(case.place)} of {format.plural(case.total, 'case')}"


def _draw_steps(place: Any, case: CaseToEdit, is_changed: bool) -> None:
    for label, id, icon, shortcut in (
        ("Previous", case.before, "chevron_left", "Alt+Up"),
        ("Next", case.after, "chevron_right", "Alt+Down"),
    ):
        place.button(
            label,
            disabled=id is None or is_changed,
            icon=f":material/{icon}:",
            on_click=open_case,
            args=(id,),
            key=f"case-{label}",
            shortcut=shortcut,
            help="Apply or revert the changes of this case first." if is_changed else None,
        )


def _draw_texts(values: Mapping[str, Any], facts: SuiteFacts, key: str) -> dict[str, Any]:
    """Draw what the case asks and is checked by, a section for each subject; return the values by column."""
    found: dict[str, Any] = {}
    texts = (field for field in edited_fields(facts.task, facts.columns) if field.edited not in ASIDE)
    for title, fields in groupby(texts, key=lambda field: field.title if field.section is None else field.section):
        own = list(fields)
        counts = [len(values[field.name]) if field.is_list else True for field in own if values.get(field.name)]
        with _section(title, max(counts, default=False)) if title else nullcontext():
            for field in own:
                if field.name not in found:
                    found |= _draw_text(field, values, key)
    return found


def _draw_text(field: Field, values: Mapping[str, Any], key: str) -> dict[str, Any]:
    """Draw a column as its declaration says; return its value, and of a pair of columns both."""
    if field.edited in DRAWN_APART:
        return DRAWN_APART[field.edited](values, key)
    if field.edited == "condition":
        return {field.name: condition_builder.draw(values.get(field.name) or "", f"{key}-{field.name}") or None}
    if field.edited == "items":
        listed = values.get(field.name) or []
        return {field.name: text_list(field.title.removesuffix("s"), listed, f"{key}-{field.name}", field.help)}
    text = st.text_area(
        field.title, values.get(field.name) or "", key=f"{key}-{field.name}", height="content", help=field.help
    )
    if field.edited == "schema" and text.strip():
        problem = suite_cases.schema_problem(text)
        st.text(f"✗ {problem}" if problem else "✓ a schema that can be used")
    return {field.name: text if text.strip() else None}


def _section(title: str, filled: int | bool) -> Any:
    count = f" ({filled})" if filled and not isinstance(filled, bool) else ""
    return st.expander(title + count, expanded=bool(filled))


def _draw_objects(case: CaseToEdit | None, facts: SuiteFacts, key: str) -> dict[int, str]:
    """Draw the image and its objects; return the labels that were changed: annotation id → label."""
    if case is None:
        return {}
    if case.image is not None and case.image.is_file():
        st.image(str(case.image), width=480)
    else:
        st.text("The suite was stored without this image.")
    if case.objects.empty:
        st.text("No objects: a detection in this image is a false positive.")
        return {}
    numbers = [st.column_config.NumberColumn(side.title(), format="%.4g", width=70, disabled=True)
               for side in ("x", "y", "width", "height")]  # fmt: skip
    edited = st.data_editor(
        case.objects,
        hide_index=True,
        key=f"{key}-objects",
        height="content" if len(case.objects) < 12 else 420,
        column_config={
            "annotation_id": st.column_config.NumberColumn("Object", width=70, disabled=True, help="Its number."),
            "label": st.column_config.SelectboxColumn(
                "Label", options=list(facts.labels), required=True, width=140, help="The true class; click to change."
            ),
            **dict(zip(("x", "y", "width", "height"), numbers, strict=True)),
        },
    )
    changed = edited["label"] != case.objects["label"]
    return {int(row["annotation_id"]): str(row["label"]) for row in edited[changed].to_dict("records")}


def _draw_facts(values: Mapping[str, Any], facts: SuiteFacts, key: str) -> dict[str, Any]:
    """Draw what the case is sorted and weighted by, and its true class or value; return the values by column."""
    fields = [field for field in edited_fields(facts.task, facts.columns) if field.edited in ASIDE]
    if not values.get("perturbs") and facts.originals == facts.cases:
        fields = [field for field in fields if field.name != "perturbs"]
    found: dict[str, Any] = {}
    for field in sorted(fields, key=lambda field: field.role == "sort"):
        found[field.name] = _draw_fact(field, values.get(field.name), facts, f"{key}-{field.name}")
    levels = tuple(dict.fromkeys([*LEVELS, *facts.complexity]))
    found[COMPLEXITY] = _one_of(
        "Complexity", levels, values.get(COMPLEXITY), f"{key}-{COMPLEXITY}", "Empty counts as medium."
    )
    return found | _draw_metadata(values, facts, key)


def _draw_fact(field: Field, value: Any, facts: SuiteFacts, key: str) -> Any:
    """Draw a short column as its declaration says; return its value."""
    match field.edited:
        case "class":
            return _one_of(field.title, facts.labels, value, key, field.help)
        case "classes" | "tags":
            own = list(value or ())
            every = dict.fromkeys([*own, *(facts.tags if field.edited == "tags" else facts.labels)])
            return st.multiselect(
                field.title, list(every), own, key=key, accept_new_options=True, placeholder="none", help=field.help
            )
        case "number":
            low = None if field.low == -math.inf else field.low
            return st.number_input(
                field.title,
                low,
                value=value,
                key=key,
                placeholder="none",
                help=field.help,
                format=None if low is not None else "%.6g",
            )
        case _:
            return st.text_input(field.title, value or "", key=key, help=field.help).strip() or None


def _one_of(label: str, options: Sequence[str], start: str | None, key: str, help: str) -> str | None:
    every = list(dict.fromkeys([*options, *([start] if start else [])]))
    return st.selectbox(
        label,
        every,
        every.index(start) if start else None,
        key=key,
        accept_new_options=True,
        help=help,
        placeholder="none",
    )


def _draw_metadata(values: Mapping[str, Any], facts: SuiteFacts, key: str) -> dict[str, Any]:
    names = [name for name in facts.columns if name.startswith(METADATA) and name != COMPLEXITY]
    before = [{"name": name.removeprefix(METADATA), "value": values.get(name)} for name in names]
    st.text("Metadata", help=METADATA_HELP)
    edited = st.data_editor(
        pd.DataFrame(before, columns=["name", "value"], dtype="string"),
        hide_index=True,
        num_rows="add",
        key=f"{key}-metadata",
        height="content" if len(before) < 8 else 300,
        column_config={"name": header("Name", 90), "value": header("Value", 130)},
    )
    found: dict[str, Any] = dict.fromkeys(names)
    for row in edited.fillna("").to_dict("records"):
        if row["name"].strip():
            found[METADATA + row["name"].strip()] = row["value"] if row["value"].strip() else None
    return found


def _edits(
    case_id: str | None, own_id: str, before: Mapping[str, Any], found: Mapping[str, Any], labels: Mapping[int, str]
) -> list[dict[str, Any]]:
    """Return the edits that make the case as the form has it; none where nothing differs."""
    changed = {name: value for name, value in found.items() if _filled(value) != _filled(before.get(name))}
    if case_id is None:
        return [{"do": "add", "rows": [{"case_id": own_id, **changed}]}] if changed else []
    edits: list[dict[str, Any]] = []
    if changed:
        edits.append({"do": "change", "rows": [{"case_id": case_id, **changed}]})
    if labels:
        edits.append({"do": "relabel", "objects": {case_id: dict(labels)}})
    if own_id != case_id:
        edits.append({"do": "rename", "names": {case_id: own_id}})
    return edits


def _filled(value: Any) -> Any:
    """Return the value, None for an empty text or list; 0 is a value."""
    return None if value in ("", [], ()) else value


def _draw_apply(
    suite: str, draft: str, case_id: str | None, own_id: str, edits: list[dict[str, Any]], facts: SuiteFacts
) -> None:
    if edits and case_id is not None:
        row: dict[str, Any] = next((edit["rows"][0] for edit in edits if "rows" in edit), {})
        names = [words_of(name) for name in row if name != "case_id"]
        names += ["objects"] * any("objects" in edit for edit in edits)
        names += ["id"] * any("names" in edit for edit in edits)
        st.text(f"Not applied yet: {', '.join(names)}")
    label = "Add the case" if case_id is None else "Apply"
    with st.container(horizontal=True):
        if st.button(label, type="primary", disabled=not edits, key="case-apply"):
            token, problems = suite_drafts.add_edits(suite, draft, edits)
            suite_saving.draw_problems(problems)
            if token:
                url.put(draft=token, case=own_id, new=None)
                st.rerun()
        if edits and st.button("Revert", type="tertiary", help="Shows the case as it is in the draft."):
            st.session_state["case-form"] = st.session_state.get("case-form", 0) + 1
            st.rerun()
    if case_id is None:
        return
    with st.container(horizontal=True):
        if facts.textual and st.button("Duplicate", icon=":material/content_copy:", disabled=bool(edits)):
            rows = suite_cases.copies(suite, draft, {}, [case_id])
            token, _ = suite_drafts.add_edits(suite, draft, [{"do": "add", "rows": rows}])
            url.put(draft=token, case=rows[0]["case_id"])
            st.rerun()
        if st.button("Remove", icon=":material/delete:", disabled=facts.cases == 1, help="Removes its variants too."):
            token, problems = suite_drafts.add_edits(suite, draft, [{"do": "leave_out", "cases": [case_id]}])
            suite_saving.draw_problems(problems)
            if token:
                url.put(draft=token, case=None)
                st.rerun()
