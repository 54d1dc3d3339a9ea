"""Approving a draft of questions: one after the other by keyboard, or many at once; then the suite of the approved."""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import streamlit as st

from components.data import document_questions
from components.data.document_questions import DraftView
from components.viewers import browser_parts
from components.viewers.text_case import draw_text
from components.views.setup.question_maker import spend_text
from components.views.setup.suite_saving import open_suite
from components.widgets import controls, filters, url
from components.widgets.literal import literal
from components.widgets.tables import draw_columns, header
from metrics.presentation import format
from metrics.presentation.marked_text import quoted
from metrics.presentation.viewers import prose_blocks

Row = Mapping[str, Any]
STATUSES = {"proposed": "To decide", "approved": "Approved", "dropped": "Dropped"}
GLYPHS = {"proposed": "·", "approved": "✓", "dropped": "✗"}
EDITING = "questions-editing"


def draw(draft: DraftView) -> None:
    """Draw the progress, the list of questions, the current one with its passages, and the suite to be made."""
    counts = Counter(row["status"] for row in draft.rows)
    decided = len(draft.rows) - counts["proposed"]
    parts = [f"{format.count(decided)} of {format.plural(len(draft.rows), 'question')} decided"]
    parts += [f"{format.count(counts[status])} {status}" for status in ("approved", "dropped") if counts[status]]
    st.progress(decided / max(1, len(draft.rows)), text=f"{draft.name}: {' · '.join(parts)}")
    if message := st.session_state.pop("questions-message", ""):
        st.text(message)
    shown = _filtered(draft.rows)
    left, right = st.columns([4, 5], gap="medium")
    with left:
        current = _draw_list(draft, shown)
        _draw_suite(draft, counts["approved"], counts["proposed"])
    with right:
        if current is None:
            st.info("No question fits the filters in the sidebar. Clear them to see all.")
        elif st.session_state.get(EDITING) == current["id"]:
            _draw_edit(draft, current)
        else:
            _draw_question(draft, shown, current)
    _draw_dropped(draft)


def _filtered(rows: Sequence[Row]) -> list[Row]:
    """Draw the filters of the sidebar; return the questions that fit them."""
    kinds = document_questions.question_kinds()
    statuses = Counter(row["status"] for row in rows)
    present = Counter(row["kind"] for row in rows)
    wanted = filters.many(
        "Status", {name: f"{text} ({statuses[name]})" for name, text in STATUSES.items() if statuses[name]}, "status"
    )
    chosen = filters.many("Kind", {name: f"{kinds[name].title} ({n})" for name, n in present.items()}, "kind")
    text = filters.search("Question or answer", "search").casefold()
    filters.reset(["status", "kind", "search"])
    return [
        row for row in rows
        if (not wanted or row["status"] in wanted) and (not chosen or row["kind"] in chosen)
        and (not text or text in f"{row['question']}\n{row['answer']}".casefold())
    ]  # fmt: skip


def _draw_list(draft: DraftView, shown: Sequence[Row]) -> Row | None:
    """Draw the questions; return the current one: that of the address, else the first that is not decided on."""
    if not shown:
        return None
    kinds = document_questions.question_kinds()
    kind = header("Kind", 130, "What the question needs; see From documents.")
    question = header("Question", 300, "Click to read it with its passages.")
    columns = {
        "status": (header("", 30, "✓ approved, ✗ dropped, · to decide."), [GLYPHS[row["status"]] for row in shown]),
        "kind": (kind, [kinds[row["kind"]].title for row in shown]),
        "question": (question, [row["question"] for row in shown]),
    }
    version = st.session_state.get("questions-list", 0)  # a new list has no selection, so that buttons can move on
    if (clicked := draw_columns(columns, f"questions-{draft.id}-{version}", tallest=330)) is not None:
        _open(str(shown[clicked]["id"]))
        st.rerun()
    asked = url.param("q")
    undecided = [row for row in shown if row["status"] == "proposed"]
    current = next((row for row in shown if row["id"] == asked), None) or (undecided or shown)[0]
    if len(undecided) > 1:
        st.button(
            f"Approve the {format.count(len(undecided))} undecided questions shown", icon=":material/done_all:",
            on_click=_decide, args=(draft.id, [str(row["id"]) for row in undecided], "approved", ""),
            help="The filters in the sidebar choose which are shown.",
        )  # fmt: skip
    return current


def _draw_question(draft: DraftView, shown: Sequence[Row], row: Row) -> None:
    place = [one["id"] for one in shown].index(row["id"])
    after = [one for one in [*shown[place + 1 :], *shown[:place]] if one["status"] == "proposed"]
    following = str(after[0]["id"]) if after else ""
    name = str(row["id"])
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        for text, status, key in (("Approve", "approved", "A"), ("Drop", "dropped", "D")):
            st.button(
                text, key=f"question-{status}-{name}", type="primary" if status == "approved" else "secondary",
                shortcut=key, disabled=row["status"] == status, on_click=_decide,
                args=(draft.id, [name], status, following),
            )  # fmt: skip
        st.button("Edit", key=f"question-edit-{name}", shortcut="E", on_click=_edit, args=(name,))
        steps = {"Back": ("B", shown[place - 1]), "Next": ("N", shown[(place + 1) % len(shown)])}
        for text, (key, other) in steps.items():
            st.button(
                text, key=f"question-{text}-{name}", type="tertiary", shortcut=key, on_click=_open,
                args=(str(other["id"]),), disabled=len(shown) < 2,
            )  # fmt: skip
    kind = document_questions.question_kinds()[row["kind"]]
    facts = [kind.title, STATUSES[row["status"]].lower(), *filter(None, [row["language"]])] + ["edited"] * row["edited"]
    st.caption(f"{place + 1} of {len(shown)} · {literal(' · '.join(facts))}", help=f"{kind.says}.")
    for found in row["suspected"]:
        st.text(f"⚠ A passage looks as if it were written for the judge ({found['what']}): {found['text']}")
    draw_text("Question", row["question"], 120, 2)
    draw_text("Reference answer", row["answer"], 150, 2)
    _draw_passages(row, f"passages-{name}")
    st.caption(
        "Marked: what the judge says that the answer rests on."
        if kind.is_answered
        else "The documents must not answer this one; marked: what comes nearest."
    )


def _draw_edit(draft: DraftView, row: Row) -> None:
    name = str(row["id"])
    with st.form(f"edit-{name}", border=False):
        question = st.text_area("Question", row["question"], height=80, max_chars=2_000)
        answer = st.text_area("Reference answer", row["answer"], height=120, max_chars=10_000)
        with st.container(horizontal=True):
            saved = st.form_submit_button("Save and approve", type="primary")
            left = st.form_submit_button("Cancel", type="tertiary")
    if saved and question.strip() and answer.strip():
        refused = document_questions.review_questions(draft.id, [name], "approved", question.strip(), answer.strip())
        st.session_state["questions-message"] = f"✗ {refused}" if refused else ""
    if left or saved:
        st.session_state.pop(EDITING, None)
        url.put(q=name)
        st.rerun()
    _draw_passages(row, f"passages-edit-{name}")


def _draw_suite(draft: DraftView, approved: int, undecided: int) -> None:
    with st.container(border=True, gap="small"):
        name = st.text_input("Name of the suite", draft.name, key=f"questions-name-{draft.id}").strip()
        if st.button(
            f"Make the suite of {format.plural(approved, 'approved question')}",
            type="secondary" if undecided else "primary",
            disabled=not (approved and name),
            width="stretch",
            help="Only approved questions become cases; the draft stays as it is.",
        ):
            stored, said = document_questions.store_questions(draft.id, name)
            if stored:
                open_suite(stored, said)
            else:
                st.session_state["questions-message"] = f"✗ {said}"
            st.rerun()
        with st.container(horizontal=True):
            controls.download(
                "JSONL", partial(document_questions.question_bytes, draft.id), f"{draft.name}.jsonl",
                mime="application/x-ndjson",
                help="All questions with their status, to edit elsewhere; `suites approve` makes a suite of the file.",
            )  # fmt: skip
            if st.button("Other drafts", type="tertiary", icon=":material/arrow_back:"):
                url.put(questions=None, q=None, status=None, kind=None, search=None)
                st.rerun()


def _draw_dropped(draft: DraftView) -> None:
    """Draw what was written and not kept, and why; and who wrote the draft at what cost."""
    if len(draft.dropped):
        with st.expander(f"Not kept ({format.count(len(draft.dropped))})", key="questions-dropped"):
            st.text("\n".join(f"{format.count(count)} · {reason}" for reason, count in draft.reasons.items()))
            kinds = document_questions.question_kinds()
            table = draft.dropped.assign(
                kind=[kinds[kind].title if kind in kinds else kind for kind in draft.dropped["kind"]]
            )
            st.dataframe(
                table, hide_index=True, height="content" if len(table) < 8 else 280,
                column_config={
                    "kind": header("Kind", 110), "reason": header("Reason", 230),
                    "question": header("Question", "large"), "detail": header("What the judge said", "medium"),
                },
            )  # fmt: skip
    facts = [f"Written by {draft.judge} about {format.plural(draft.documents, 'document')}", spend_text(draft.spend)]
    facts += [f"{format.count(draft.missing)} fewer than asked for"] * (draft.missing > 0)
    st.caption(" · ".join(fact for fact in [*facts, draft.stopped] if fact))


def _decide(draft_id: str, names: Sequence[str], status: str, following: str) -> None:
    if refused := document_questions.review_questions(draft_id, names, status):
        st.session_state["questions-message"] = f"✗ {refused}"
    else:
        _open(following)


def _open(name: str) -> None:
    url.put(q=name or None)
    st.session_state["questions-list"] = st.session_state.get("questions-list", 0) + 1


def _edit(name: str) -> None:
    st.session_state[EDITING] = name
    url.put(q=name)


def _draw_passages(row: Mapping[str, Any], key: str) -> None:
    """Draw the passages that a question was written from, with the words marked that it quotes."""
    browser_parts.prose(
        [prose_blocks.block(quoted(text, row["quotes"]), place) for place, text in row["passages"]], key
    )
