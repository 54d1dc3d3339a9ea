"""Questions from documents: the documents, what is to be asked, what it costs; and the drafts there are."""

import json
from collections.abc import Mapping
from typing import Any

import streamlit as st

from components.data import document_questions, judge_settings
from components.data.document_questions import DocumentFacts
from components.views.judge.judge_calls import dollars, estimate_lines
from components.views.setup.run_judge import in_address
from components.widgets import uploads, url
from components.widgets.parameter_form import parameter_form
from components.widgets.tables import draw_columns, header
from metrics.presentation import format

FIRST = ("number", "languages")
LENGTHS = (
    "min_words", "max_words", "min_answer_words", "max_answer_words", "chunk_size", "min_document", "per_document",
    "duplicate", "check", "seed",
)  # fmt: skip
HINT = (
    "Text, Markdown, HTML, PDF, or a zip of them. A judge writes questions with reference answers about them; you "
    "approve, edit or drop each before it becomes a suite. Nothing is asked before you see what it costs."
)
MARGIN = "Questions that fail a check are written again, twice at most: up to three times as much."
JOB = "questions-job"


def draw() -> None:
    """Draw the form for new questions and the list of drafts."""
    left, right = st.columns([3, 2], gap="large")
    with left:
        _draw_new()
    with right:
        _draw_drafts()


def _draw_new() -> None:
    if st.session_state.get(JOB):
        st.fragment(_draw_progress, run_every=1.0)()
        st.caption("You can leave this page: the draft appears in the list when done. The cache keeps every reply.")
        return
    if message := st.session_state.pop("questions-failed", ""):
        st.text(f"✗ {message}")
    tokens = uploads.draw_uploads("Documents", "doc", document_questions.DOCUMENTS, many=True, another="Add documents")
    uploads.draw_refused()
    if not tokens:
        st.caption(HINT)
        return
    facts = document_questions.document_facts(tokens)
    _draw_documents(facts, len(tokens))
    if not facts.documents:
        return
    settings = _draw_settings()
    judge = judge_settings.judge_chosen()
    if judge.settings is None:
        st.text("A judge writes the questions, and none is set up.")
        url.link("Set up a judge", "judge", icon=":material/gavel:")
        return
    found = document_questions.question_estimate(tokens, settings)
    if isinstance(found, str):
        st.text(f"✗ {found}")
        return
    with st.container(border=True, gap="small"):
        lines = [line.replace(" case", " question") for line in estimate_lines(found)]
        st.text("\n".join([f"Judge: {judge.name}", *lines]), help=MARGIN)
        if judge.lacks:
            st.text(f"✗ {judge.lacks}")
        if st.button("Write the questions", type="primary", disabled=bool(judge.lacks), width="stretch"):
            st.session_state[JOB] = document_questions.start_questions(tokens, settings)
            st.rerun()


def _draw_documents(facts: DocumentFacts, uploaded: int) -> None:
    characters = sum(facts.documents.values())
    passed = f" · {format.plural(facts.others, 'other file')} passed over" if facts.others else ""
    read = f"{format.plural(len(facts.documents), 'document')}, {format.plural(characters, 'character')}{passed}"
    if len(facts.problems):
        st.text(f"✗ {format.plural(len(facts.problems), 'document')} cannot be read and will be left out")
        shown = facts.problems[["file", "found", "expected"]]
        st.dataframe(shown, hide_index=True, height="content" if len(shown) < 6 else 210)
    if len(facts.documents) > uploaded:  # a zip has more than its own line above
        with st.expander(read):
            rows = [{"Document": name, "Characters": size} for name, size in facts.documents.items()]
            st.dataframe(rows, hide_index=True, height="content" if len(rows) < 8 else 280)
    elif facts.documents:
        st.caption(read)


def _draw_settings() -> dict[str, Any]:
    """Draw what is to be asked; return the settings that differ from their defaults, which the address keeps."""
    schema = document_questions.question_schema()
    start = in_address("want")
    first, more = ({"properties": {name: schema["properties"][name] for name in part}} for part in (FIRST, LENGTHS))
    chosen = parameter_form(first, "questions", start=start)
    with st.expander("Kinds of questions", key="question-kinds"):
        chosen |= _draw_weights(start.get("weights"))
    with st.expander("Lengths, passages, checks", key="question-lengths"):
        chosen |= parameter_form(more, "questions", start=start)
    url.put(want=json.dumps(chosen, ensure_ascii=False) if chosen else None)
    return chosen


def _draw_weights(start: Any) -> dict[str, Any]:
    """Draw a weight for each kind; return them under `weights` where they are not the defaults."""
    kinds = document_questions.question_kinds()
    before = start if isinstance(start, Mapping) else {}
    st.caption("Questions are shared out in proportion to the weights; 0 leaves a kind out.")
    columns = st.columns(2)
    weights = {
        name: columns[place % 2].number_input(
            kind.title, 0.0, 1000.0, float(before.get(name, kind.share)), 5.0, "%.4g", key=f"weight-{name}",
            help=kind.says + ".",
        )
        for place, (name, kind) in enumerate(kinds.items())
    }  # fmt: skip
    return {"weights": weights} if weights != {name: kind.share for name, kind in kinds.items()} else {}


def _draw_progress() -> None:
    progress, draft, failure = document_questions.question_job(st.session_state[JOB])
    if progress is not None:
        done, total = progress.get("done", 0), progress.get("total", 0)
        of = f": {format.count(done)} of {format.count(total)}" if total else ""
        st.progress(done / max(1, total), text=f"{progress.get('what', 'Reading the documents')}{of}")
        return
    st.session_state.pop(JOB)
    if draft:
        url.put(doc=None, want=None, questions=draft)
    else:
        st.session_state["questions-failed"] = failure or "The writing was interrupted; start it again."
    st.rerun()


def _draw_drafts() -> None:
    drafts = document_questions.question_drafts()
    if not drafts:
        st.subheader("No draft yet", anchor=False)
        st.text(
            "Questions that a judge wrote wait here for your approval. Each shows the passage that it rests on, and "
            "only those that you approve become a suite."
        )
        return
    st.text(f"Drafts ({len(drafts)})")
    decided = [f"{draft.decided} of {draft.questions}" for draft in drafts]
    written = [format.moment(draft.created) for draft in drafts]
    columns = {
        "name": (header("Draft", 130, "Click to go on approving."), [draft.name for draft in drafts]),
        "seen": (header("Decided", 70, "Questions that are approved or dropped."), decided),
        "created": (header("Written", 105, "When the judge had written it."), written),
    }
    if (clicked := draw_columns(columns, "question-drafts")) is not None:
        url.put(questions=drafts[clicked].id)
        st.rerun()


def spend_text(spend: Mapping[str, Any]) -> str:
    """Return what a draft has cost, in words."""
    return "" if not spend else f"{format.plural(spend['calls'], 'call')} · {dollars(spend['usd'])}"
