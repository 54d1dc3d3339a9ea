"""A draft: the questions that a judge proposed, the passages they rest on, and what was dropped, with the reason.

In a workspace it is `questions/ID/draft.json`, which never changes, and its reviews are `reviews.json` beside it.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from metrics.core.errors import AssayError, InputError, InputProblem
from metrics.core.files import hold_lock, list_paths, make_folder, read_json, write_json
from metrics.core.suite import METADATA, Suite
from metrics.questions.kinds import QUESTION_KINDS
from metrics.questions.settings import QuestionSettings
from metrics.store.own_files import own_folder

Status = Literal["proposed", "approved", "dropped"]
STATUS = METADATA + "status"
FOLDER = "questions"
ID = re.compile(r"[0-9a-f]{16}")


class _Stored(BaseModel):
    """Base of what is stored: frozen; fields that a later version adds are passed over."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class Passage(_Stored):
    """A chunk that a question rests on; `place` says where it stands, `id` is `document#number`."""

    id: str
    document: str
    place: str
    text: str


class Proposed(_Stored):
    """A proposed question; `passages` are the ids of those that it was written from, `quotes` stand in them."""

    id: str
    kind: str
    question: str
    answer: str
    passages: tuple[str, ...]
    quotes: tuple[str, ...] = ()
    language: str = ""


class Dropped(_Stored):
    """A question that was written and not kept, or ("" as question) one that could not be written; and why."""

    kind: str
    reason: str
    question: str = ""
    detail: str = ""


class Draft(_Stored):
    """Proposed questions about documents; `stopped` says why the judge was asked no further, "" where it was."""

    version: int = 1
    name: str
    created: str
    judge: str
    settings: QuestionSettings
    documents: dict[str, int]
    passages: tuple[Passage, ...]
    questions: tuple[Proposed, ...]
    dropped: tuple[Dropped, ...] = ()
    stopped: str = ""
    spend: dict[str, Any] = Field(default_factory=dict)

    @property
    def reasons(self) -> dict[str, int]:
        """How many were dropped for each reason, the most frequent first."""
        return dict(Counter(entry.reason for entry in self.dropped).most_common())

    def suite(
        self,
        name: str | None = None,
        reviews: Mapping[str, "Review"] | None = None,
        statuses: Sequence[Status] = ("approved",),
    ) -> Suite:
        """Return the questions of these statuses as a suite of texts, as the reviews have edited them.

        A case has its question, the reference answer, the passages it rests on (`reference_contexts`; none where it is
        unanswerable), its kind as a tag, its first document as group, and in `metadata.*` its kind, complexity,
        language, status, the ids of its passages, the quotes, and the judge that wrote it. Raises InputError where
        there is none.
        """
        own = reviews or {}
        texts = {passage.id: passage for passage in self.passages}
        rows = []
        for entry in self.questions:
            review = own.get(entry.id, Review())
            if review.status not in statuses:
                continue
            kind = QUESTION_KINDS[entry.kind]
            row = {
                "case_id": entry.id,
                "question": review.question or entry.question,
                "expected_answers": [review.answer or entry.answer],
                "reference_contexts": [texts[one].text for one in entry.passages] if kind.is_answered else None,
                "tags": [entry.kind],
                "group": texts[entry.passages[0]].document,
                "kind": entry.kind,
                "complexity": kind.complexity,
                "language": entry.language or None,
                "status": review.status,
                "passages": json.dumps(entry.passages, ensure_ascii=False),
                "quotes": json.dumps(entry.quotes, ensure_ascii=False) if entry.quotes else None,
                "judge": self.judge,
            }
            rows.append({name: value for name, value in row.items() if value is not None})
        if not rows:
            raise InputError([InputProblem(self.name, f"no question that is {' or '.join(statuses)}", "at least one")])
        return Suite.from_rows(name or self.name, "text", rows)


class Review(_Stored):
    """What a person decided about a question; `question` and `answer` replace those proposed where they are given."""

    status: Status = "proposed"
    question: str = ""
    answer: str = ""


def approved(suite: Suite, everything: bool = False) -> Suite:
    """Return the cases of a file of questions whose status is approved; with `everything` all that are not dropped.

    Raises InputError where there is none.
    """
    if STATUS not in suite.cases.column_names:
        raise InputError(
            [InputProblem(suite.name, "no status", f"the column {STATUS} of a file of proposed questions")]
        )
    wanted: list[Status | None] = ["approved", "proposed"] if everything else ["approved"]
    chosen = suite.filter(status=wanted)
    if not len(chosen):
        counts = Counter(suite.cases[STATUS].to_pylist())
        found = ", ".join(f"{number:,} {status or 'without a status'}" for status, number in counts.items())
        raise InputError([InputProblem(suite.name, found, "questions with the status approved, or --all")])
    places = chosen.cases.column_names.index(STATUS)
    return Suite(suite.name, suite.task, chosen.cases.set_column(places, STATUS, [["approved"] * len(chosen)]))


REVIEWS = TypeAdapter(dict[str, Review])


class DraftNotFound(AssayError):
    """There is no draft of that id in the workspace, or it cannot be read."""


def save_draft(workspace: Path, draft: Draft) -> str:
    """Store a draft and return its id, a hash of its content without its date: the same questions are stored once."""
    content = draft.model_dump_json(exclude={"created", "spend"})
    draft_id = sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    file = workspace / FOLDER / draft_id / "draft.json"
    if not file.exists():
        write_json(file, draft.model_dump(mode="json"))
    return draft_id


def read_draft(workspace: Path, draft_id: str) -> tuple[Draft, dict[str, Review]]:
    """Return a draft and the reviews of its questions by their ids. Raises DraftNotFound."""
    folder = workspace / FOLDER / draft_id
    if not ID.fullmatch(draft_id) or not (folder / "draft.json").exists():
        raise DraftNotFound(f"there is no draft {draft_id!r} in {workspace}")
    own_folder(workspace, FOLDER, draft_id)
    try:
        draft = Draft.model_validate(read_json(folder / "draft.json"))
        return draft, REVIEWS.validate_python(read_json(folder / "reviews.json") or {})
    except (ValueError, ValidationError) as failure:
        raise DraftNotFound(f"the draft {draft_id} cannot be read: {str(failure).splitlines()[0]}") from None


def review(workspace: Path, draft_id: str, changes: Mapping[str, Review]) -> None:
    """Store the reviews of some questions; those of the others stay. Raises DraftNotFound."""
    folder = workspace / FOLDER / draft_id
    with hold_lock(make_folder(folder) / ".lock", "this draft is being changed in another window; try again"):
        draft, reviews = read_draft(workspace, draft_id)
        known = {entry.id for entry in draft.questions}
        reviews |= {name: given for name, given in changes.items() if name in known}
        write_json(folder / "reviews.json", REVIEWS.dump_python(reviews, mode="json"))


def drafts(workspace: Path) -> Iterable[str]:
    """Return the ids of the drafts, the newest first."""
    found = [path for path in list_paths(workspace / FOLDER, "*/draft.json") if ID.fullmatch(path.parent.name)]
    return [path.parent.name for path in sorted(found, key=lambda path: (-path.stat().st_mtime_ns, path.parent.name))]
