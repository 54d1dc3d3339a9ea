"""One case of a suite as a form: its fields, what is wrong with them, and the steps to the cases before and after."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from components import data
from components.views.setup import case_references, condition_builder, suite_saving
from components.widgets import url
from components.widgets.literal import literal
from components.widgets.tables import header
from components.widgets.text_list import text_list
from metrics.presentation import format

if TYPE_CHECKING:
    from components.data import CaseToEdit, SuiteFacts

METADATA = "metadata."
COMPLEXITY = METADATA + "complexity"
LEVELS = ("simple", "medium", "complex")
NEW: Mapping[str, Any] = {}
TAGS_HELP = "Results can be filtered by tag. Type a new one and press Enter."
GROUP_HELP = "Cases of one source, such as a document or a conversation: intervals and splits keep them together."
VARIANT_HELP = "The id of the case that this one is a perturbed variant of."
CALLS_HELP = (
    'The calls that an agent should make, in order, as JSON: [{"name": "search", "arguments": {"query": "Paris"}}]. '
    "A call without arguments accepts any; [] means no call at all. The evaluator Tool calls checks the trace by them."
)
METADATA_HELP = "Columns of your own; results can be sliced by them."
SECTIONS = {  # fields that few suites have: column, label, help
    "Tests of code and queries": (
        ("code_tests", "Tests of the code", "Python that fails where the code of the answer is wrong."),
        ("database_script", "Database", "SQL that makes the tables and rows on which the query of the answer is run."),
    ),
    "Attack": (
        ("system_prompt", "System prompt", "What the model was told before the question."),
        ("attack_goal", "Goal of the attack", "What the planted instruction, or the request, is after."),
        ("attack_condition", "Condition of its success", 'Holds for an answer that obeyed: "PLUM-42" or regexp("…").'),
    ),
}  # fmt: skip


def draw(suite: str, draft: str, facts: SuiteFacts, criteria: Mapping[str, Any], case_id: str | None) -> None:
    """Draw the form of a case, or of a new one (None); what is applied becomes an edit of the draft."""
    case = None if case_id is None else data.suite_case(suite, draft, criteria, case_id)
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
            "Case id", case_id or data.next_case_ids(suite, draft)[0], key=f"{key}-id", max_chars=500,
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
            label, disabled=id is None or is_changed, icon=f":material/{icon}:", on_click=open_case, args=(id,),
            key=f"case-{label}", shortcut=shortcut,
            help="Apply or revert the changes of this case first." if is_changed else None,
        )  # fmt: skip


def _draw_texts(values: Mapping[str, Any], facts: SuiteFacts, key: str) -> dict[str, Any]:
    found: dict[str, Any] = {}

    def area(column: str, label: str, help: str | None = None) -> None:
        start = values.get(column) or ""
        text = st.text_area(label, start, key=f"{key}-{column}", height="content", help=help)
        found[column] = text if text.strip() else None

    area("question", "Question", "What the model is asked.")
    if facts.task not in ("classification", "regression") or values.get("expected_answers"):
        listed = values.get("expected_answers") or []
        found["expected_answers"] = text_list(
            "Expected answer", listed, f"{key}-expected", "Any one of them counts as correct."
        )
    contexts = values.get("reference_contexts") or []
    with _section("Reference contexts", len(contexts)):
        help = "Passages that a correct answer rests on."
        found["reference_contexts"] = text_list("Context", contexts, f"{key}-contexts", help)
    with _section("Relevant context ids", len(values.get("reference_context_ids") or [])):
        found |= case_references.draw_ids(values, key)
    with _section("Choices", len(values.get("choices") or [])):
        found |= case_references.draw_choices(values, key)
    with _section("Condition on the answer", bool(values.get("conditions"))):
        found["conditions"] = condition_builder.draw(values.get("conditions") or "", f"{key}-condition") or None
    with _section("JSON Schema of the answer", bool(values.get("json_schema"))):
        area("json_schema", "JSON Schema", "The evaluator JSON schema checks the answer by it.")
        if found["json_schema"]:
            problem = data.schema_problem(found["json_schema"])
            st.text(f"✗ {problem}" if problem else "✓ a schema that can be used")
    if facts.task != "classification" or values.get("expected_calls"):
        with _section("Expected calls of tools", bool(values.get("expected_calls"))):
            area("expected_calls", "Expected calls", CALLS_HELP)
    with _section("Source text", bool(values.get("source_text"))):
        area("source_text", "Source text", "What a summary or a translation is made from.")
    for title, fields in SECTIONS.items():
        with _section(title, any(values.get(column) for column, *_ in fields)):
            for column, label, help in fields:
                area(column, label, help)
    return found


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
        case.objects, hide_index=True, key=f"{key}-objects", height="content" if len(case.objects) < 12 else 420,
        column_config={
            "annotation_id": st.column_config.NumberColumn("Object", width=70, disabled=True, help="Its number."),
            "label": st.column_config.SelectboxColumn(
                "Label", options=list(facts.labels), required=True, width=140, help="The true class; click to change."
            ),
            **dict(zip(("x", "y", "width", "height"), numbers, strict=True)),
        },
    )  # fmt: skip
    changed = edited["label"] != case.objects["label"]
    return {int(row["annotation_id"]): str(row["label"]) for row in edited[changed].to_dict("records")}


def _draw_facts(values: Mapping[str, Any], facts: SuiteFacts, key: str) -> dict[str, Any]:
    found: dict[str, Any] = {}

    def line(column: str, label: str, help: str) -> None:
        found[column] = st.text_input(label, values.get(column) or "", key=f"{key}-{column}", help=help).strip() or None

    def one_of(column: str, label: str, options: Sequence[str], help: str) -> None:
        start = values.get(column)
        every = list(dict.fromkeys([*options, *([start] if start else [])]))
        found[column] = st.selectbox(
            label, every, every.index(start) if start else None, key=f"{key}-{column}", accept_new_options=True,
            help=help, placeholder="none",
        )  # fmt: skip

    if facts.textual and (facts.task == "classification" or "label" in facts.columns):
        one_of("label", "True class", facts.labels, "The class that a correct model predicts.")
    if facts.textual and (facts.task == "classification" or "labels" in facts.columns):
        several = list(values.get("labels") or ())
        found["labels"] = st.multiselect(
            "True classes", list(dict.fromkeys([*several, *facts.labels])), several, key=f"{key}-labels",
            accept_new_options=True, placeholder="none", help="Where a case may have several.",
        )  # fmt: skip
    if facts.task == "regression":
        found["true_value"] = st.number_input(
            "True value", value=values.get("true_value"), key=f"{key}-true-value", format="%.6g", placeholder="none",
            help="The number that a correct model predicts.",
        )  # fmt: skip
    tags = list(values.get("tags") or ())
    found["tags"] = st.multiselect(
        "Tags", list(dict.fromkeys([*tags, *facts.tags])), tags, key=f"{key}-tags", accept_new_options=True,
        placeholder="none", help=TAGS_HELP,
    )  # fmt: skip
    one_of(COMPLEXITY, "Complexity", tuple(dict.fromkeys([*LEVELS, *facts.complexity])), "Empty counts as medium.")
    found["weight"] = st.number_input(
        "Weight", 0.0, value=values.get("weight"), key=f"{key}-weight", placeholder="1",
        help="Weight of the case in weighted means; empty counts as 1.",
    )  # fmt: skip
    line("group", "Group", GROUP_HELP)
    if facts.textual and (values.get("perturbs") or facts.originals < facts.cases):
        line("perturbs", "Variant of", VARIANT_HELP)
    return found | _draw_metadata(values, facts, key)


def _draw_metadata(values: Mapping[str, Any], facts: SuiteFacts, key: str) -> dict[str, Any]:
    names = [name for name in facts.columns if name.startswith(METADATA) and name != COMPLEXITY]
    before = [{"name": name.removeprefix(METADATA), "value": values.get(name)} for name in names]
    st.text("Metadata", help=METADATA_HELP)
    edited = st.data_editor(
        pd.DataFrame(before, columns=["name", "value"], dtype="string"), hide_index=True, num_rows="add",
        key=f"{key}-metadata", height="content" if len(before) < 8 else 300,
        column_config={"name": header("Name", 90), "value": header("Value", 130)},
    )  # fmt: skip
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
        names = [name.removeprefix(METADATA).replace("_", " ") for name in row if name != "case_id"]
        names += ["objects"] * any("objects" in edit for edit in edits) + ["id"] * any(
            "names" in edit for edit in edits
        )
        st.text(f"Not applied yet: {', '.join(names)}")
    label = "Add the case" if case_id is None else "Apply"
    with st.container(horizontal=True):
        if st.button(label, type="primary", disabled=not edits, key="case-apply"):
            token, problems = data.add_edits(suite, draft, edits)
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
            rows = data.copies(suite, draft, {}, [case_id])
            token, _ = data.add_edits(suite, draft, [{"do": "add", "rows": rows}])
            url.put(draft=token, case=rows[0]["case_id"])
            st.rerun()
        if st.button("Remove", icon=":material/delete:", disabled=facts.cases == 1, help="Removes its variants too."):
            token, problems = data.add_edits(suite, draft, [{"do": "leave_out", "cases": [case_id]}])
            suite_saving.draw_problems(problems)
            if token:
                url.put(draft=token, case=None)
                st.rerun()
