"""A draft: the questions that a judge proposed, the passages they rest on, and what was dropped, with the reason."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from metrics.core.errors import InputError, InputProblem
from metrics.core.suite import METADATA, Suite
from metrics.questions.kinds import QUESTION_KINDS
from metrics.questions.settings import QuestionSettings

Status = Literal["proposed", "approved", "dropped"]
STATUS = METADATA + "status"


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
