"""Uploaded files of labels or of preferences: what they hold for a run, or what is wrong with them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import streamlit as st

from components.data.uploaded_files import choices_of, name_of, reading_of, upload_folder
from components.data.workspace_runs import workspace
from metrics.core.errors import InputError

if TYPE_CHECKING:
    from metrics.core.errors import InputProblem
    from metrics.ingest.given_files import GivenFile


class ReadGiven(NamedTuple):
    """An uploaded file: its name, its problems, and what it holds unless it could not be read (None)."""

    name: str
    problems: tuple[InputProblem, ...]
    file: GivenFile | None


def read_labels(
    run_id: str, token: str, pairs: tuple[str, ...], readings: tuple[str, ...], *, sampling: str
) -> ReadGiven:
    """Return what an uploaded file of labels holds, or what is wrong with it."""
    return _read("labels", run_id, str(upload_folder()), token, pairs, readings, sampling=sampling)


def read_preferences(
    run_id: str, token: str, pairs: tuple[str, ...], readings: tuple[str, ...], *, by: str, a_first: bool
) -> ReadGiven:
    """Return what an uploaded file of preferences holds, or what is wrong with it."""
    return _read("preferences", run_id, str(upload_folder()), token, pairs, readings, by=by, a_first=a_first)


@st.cache_resource(max_entries=16, show_spinner=False)
def _read(
    kind: str, run_id: str, folder: str, token: str, pairs: tuple[str, ...], readings: tuple[str, ...], **choices: Any
) -> ReadGiven:
    from metrics.ingest import label_files, preference_files

    read = label_files.read_labels if kind == "labels" else preference_files.read_preferences
    run, name = workspace().run(run_id), name_of(token, Path(folder))
    try:
        found = read(
            Path(folder) / token, suite=run.suite, models=run.models, mapping=choices_of(token, pairs), filename=name,
            reading=reading_of(token, readings), **choices,
        )  # fmt: skip
    except InputError as failure:
        return ReadGiven(name, failure.problems, None)
    return ReadGiven(name, found.problems, found)
