"""questions_from_documents(): from files to a draft, in one call."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from metrics.core.errors import InputError
from metrics.ingest.documents import read_documents
from metrics.models.embedder import BUNDLED
from metrics.questions.draft import Draft
from metrics.questions.settings import question_settings
from metrics.questions.write_questions import write_questions


def questions_from_documents(
    places: str | Path | Iterable[str | Path], *, judge: Any, workspace: str | Path | None = None, name: str = "",
    embedder: str = BUNDLED, **settings: Any,
) -> Draft:  # fmt: skip
    """Return a draft of questions about the documents in files, folders and zips: text, Markdown, HTML, PDF.

    `judge` is a model's name or the fields of JudgeSettings; `settings` are those of QuestionSettings: number, weights,
    languages, min_words, max_words, chunk_size, seed … Raises InputError listing every document that cannot be read,
    MissingResource, JudgeDown; see `write_questions`.
    """
    wanted = question_settings(settings)
    listed = [places] if isinstance(places, str | Path) else list(places)
    read = read_documents(listed)
    if read.problems:
        raise InputError(read.problems)
    return write_questions(
        read.documents, wanted, judge, workspace=workspace, embedder=embedder, name=name or Path(listed[0]).stem
    )
