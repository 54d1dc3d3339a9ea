"""Questions from documents: what they would cost, writing them beside the page, and the drafts to be approved."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import streamlit as st

from components.data.file_reading import read_upload
from components.data.judge_settings import judge_chosen
from components.data.suite_drafts import store_suite
from components.data.uploaded_files import name_of, path_of, problem_table, upload_folder
from components.data.visitors import action
from components.data.workspace_runs import workspace_path
from metrics import questions
from metrics.core.errors import AssayError, InputError, describe_failure
from metrics.ingest.documents import ReadDocuments, read_documents
from metrics.judge.injection import suspected
from metrics.questions import QUESTION_KINDS, Draft, Kind, QuestionSettings, Review
from metrics.suites import suite_bytes

if TYPE_CHECKING:
    import pandas as pd

    from metrics.engine import Estimate

DOCUMENTS = ("txt", "text", "md", "markdown", "html", "htm", "xhtml", "pdf", "zip")


class DocumentFacts(NamedTuple):
    """What could be read: documents with their characters, a table of problems, how many files of other kinds."""

    documents: Mapping[str, int]
    problems: pd.DataFrame
    others: int


class DraftFacts(NamedTuple):
    """A stored draft in short: its id, name, when it was made, how many questions it has, how many are decided on."""

    id: str
    name: str
    created: str
    questions: int
    decided: int


class DraftView(NamedTuple):
    """A stored draft: `rows` are its questions as they are now edited, each with status and `edited`.

    A row has id, kind, language, status, edited, question, answer, quotes, passages (where each stands, its text) and
    suspected: what in the passages looks as if written for the judge.
    `dropped` is a table of kind, reason, question, detail; `missing` of the questions asked for were not written.
    """

    id: str
    name: str
    judge: str
    rows: Sequence[Mapping[str, Any]]
    dropped: pd.DataFrame
    reasons: Mapping[str, int]
    missing: int
    stopped: str
    documents: int
    spend: Mapping[str, Any]


@dataclass
class _Job:
    """Questions being written in a thread, which outlives the page."""

    future: Future[str]
    progress: dict[str, Any] = field(default_factory=dict)


_JOBS: dict[str, _Job] = {}
_THREADS = ThreadPoolExecutor(2)


def question_kinds() -> Mapping[str, Kind]:
    """Return the kinds of questions by name."""
    return QUESTION_KINDS


def question_schema() -> dict[str, Any]:
    """Return the JSON schema of the settings of a draft."""
    return QuestionSettings.model_json_schema()


def document_facts(tokens: Sequence[str]) -> DocumentFacts:
    """Return what is in uploaded documents, which our names of them name."""
    read = _read(str(upload_folder()), tuple(tokens))
    documents = {document.name: document.characters for document in read.documents}
    return DocumentFacts(documents, problem_table(read.problems), sum(read.others.values()))


@st.cache_resource(max_entries=8, show_spinner=False)
def _read(folder: str, tokens: tuple[str, ...]) -> ReadDocuments:
    places = {path: name_of(path.name, Path(folder)) for token in tokens if (path := path_of(token, Path(folder)))}
    try:
        return read_upload([*places.values()], [*places], partial(read_documents, tuple(places), places))
    except InputError as failure:
        return ReadDocuments((), failure.problems, {})


def question_estimate(tokens: Sequence[str], settings: Mapping[str, Any]) -> Estimate | str:
    """Return what the questions would cost the chosen judge, or why that is unknown."""
    try:
        wanted = questions.question_settings(settings)
        read = _read(str(upload_folder()), tuple(tokens))
        return questions.estimate(read.documents, wanted, _judge(), workspace_path())
    except AssayError as failure:
        return str(failure)


@action("editor", "write questions", "tokens")
def start_questions(tokens: Sequence[str], settings: Mapping[str, Any]) -> str:
    """Begin to write questions in a thread and return the job's name; the same job is not begun twice."""
    wanted = questions.question_settings(settings)
    read = _read(str(upload_folder()), tuple(tokens))
    judge, folder = _judge(), workspace_path()
    content = json.dumps([str(folder), list(tokens), wanted.model_dump(mode="json"), judge], sort_keys=True)
    name = sha256(content.encode()).hexdigest()[:16]
    if (running := _JOBS.get(name)) is None or running.future.done():
        progress: dict[str, Any] = {}
        _JOBS[name] = _Job(_THREADS.submit(_write, folder, read, wanted, judge, progress), progress)
    return name


def _write(folder: Path, read: ReadDocuments, wanted: QuestionSettings, judge: Any, progress: dict[str, Any]) -> str:
    """Write the questions and store the draft; return its id. Raises AssayError."""

    def listen(what: str, done: int, total: int) -> None:
        progress.update(what=what, done=done, total=total)

    draft = questions.write_questions(read.documents, wanted, judge, workspace=folder, listen=listen)
    if not draft.questions:
        reasons = "; ".join(f"{count:,} {reason}" for reason, count in draft.reasons.items()) or draft.stopped
        raise InputError(f"No question passed the checks. {reasons}")
    return questions.save_draft(folder, draft)


def question_job(name: str) -> tuple[Mapping[str, Any] | None, str, str]:
    """Return how far a job is (None where it has ended or is unknown), the draft that it made, and why it failed."""
    job = _JOBS.get(name)
    if job is None:
        return None, "", ""
    if not job.future.done():
        return dict(job.progress), "", ""
    failure = job.future.exception()
    if failure is None:
        return None, job.future.result(), ""
    return None, "", str(failure) if isinstance(failure, AssayError) else describe_failure(failure)


def question_drafts() -> list[DraftFacts]:
    """Return the drafts of the workspace, the newest first; those that cannot be read are left out."""
    found = []
    for draft_id in questions.drafts(workspace_path()):
        try:
            draft, reviews = questions.read_draft(workspace_path(), draft_id)
        except questions.DraftNotFound:
            continue
        decided = sum(review.status != "proposed" for review in reviews.values())
        found.append(DraftFacts(draft_id, draft.name, draft.created, len(draft.questions), decided))
    return found


def question_draft(draft_id: str) -> DraftView | str:
    """Return a draft, or why it cannot be read."""
    import pandas as pd

    try:
        draft, reviews = questions.read_draft(workspace_path(), draft_id)
    except questions.DraftNotFound as failure:
        return str(failure)
    texts = {passage.id: (passage.place, passage.text) for passage in draft.passages}
    rows = [_row(entry, reviews.get(entry.id, questions.Review()), texts) for entry in draft.questions]
    dropped = pd.DataFrame(
        [entry.model_dump() for entry in draft.dropped], columns=["kind", "reason", "question", "detail"]
    )
    return DraftView(
        draft_id, draft.name, draft.judge, rows, dropped, draft.reasons, draft.settings.number - len(rows),
        draft.stopped, len(draft.documents), draft.spend,
    )  # fmt: skip


def _row(entry: Any, review: Review, texts: Mapping[str, tuple[str, str]]) -> dict[str, Any]:
    question, answer = review.question or entry.question, review.answer or entry.answer
    return {
        "id": entry.id, "kind": entry.kind, "language": entry.language, "status": review.status,
        "edited": (question, answer) != (entry.question, entry.answer), "question": question, "answer": answer,
        "quotes": entry.quotes, "passages": [texts[one] for one in entry.passages],
        "suspected": suspected((one, texts[one][1]) for one in entry.passages),
    }  # fmt: skip


@action("editor", "review questions", "draft_id", "status")
def review_questions(draft_id: str, names: Sequence[str], status: str, question: str = "", answer: str = "") -> str:
    """Give questions of a draft a status and, where they are given, new texts; return why it could not be done."""
    try:
        _, before = questions.read_draft(workspace_path(), draft_id)
        changes = {}
        for name in names:
            own = before.get(name, questions.Review())
            texts = {"question": question or own.question, "answer": answer or own.answer}
            changes[name] = questions.Review.model_validate({"status": status, **texts})
        questions.review(workspace_path(), draft_id, changes)
    except AssayError as failure:
        return str(failure)
    return ""


@action("editor", "store questions as a suite", "draft_id", "name")
def store_questions(draft_id: str, name: str) -> tuple[str, str]:
    """Store the approved questions as a suite of that name; return its fingerprint and a message ("": why)."""
    try:
        draft, reviews = _draft(draft_id)
        return store_suite(draft.suite(name, reviews))
    except AssayError as failure:
        return "", str(failure)


@action("viewer", "download questions", "draft_id")
def question_bytes(draft_id: str) -> bytes:
    """Return all questions of a draft, with their status, as JSON lines."""
    draft, reviews = _draft(draft_id)
    return bytes(suite_bytes(draft.suite(None, reviews, ("proposed", "approved", "dropped")), "jsonl"))


def _draft(draft_id: str) -> tuple[Draft, dict[str, Review]]:
    return questions.read_draft(workspace_path(), draft_id)


def _judge() -> Any:
    return judge_chosen().settings
