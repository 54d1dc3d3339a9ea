"""How uploads would be read: of a new run what each looks like, its role and its columns; of labels and preferences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import streamlit as st

from components.data.evaluation_inputs import Inputs, read_suite
from components.data.file_reading import read_upload
from components.data.uploaded_files import (
    choices_of,
    column_pairs,
    name_of,
    pairs_of,
    path_of,
    reading_of,
    task_of,
    upload_folder,
)
from components.data.workspace_runs import workspace
from metrics.core.errors import InputError, InputProblem

if TYPE_CHECKING:
    from metrics.ingest import Preview
    from metrics.ingest.file_roles import FileRole, Roles, SeenFile
    from metrics.ingest.given_files import GivenFile

InspectedRole = Literal["suite", "outputs", "combined", "auto"]
Texts = tuple[str, ...]


class InspectedFile(NamedTuple):
    """How an uploaded file would be read; `preview` is None where `problems` say why it cannot be read.

    `canonical` are the columns that the file could have. `encoding` is to be shown and may be corrected: of a text that
    is not UTF-8, or not valid in it; "" for others.
    """

    token: str
    name: str
    preview: Preview | None
    problems: tuple[InputProblem, ...] = ()
    canonical: tuple[str, ...] = ()
    encoding: str = ""


def inspect(
    token: str, role: InspectedRole, task: str = "", pairs: Texts = (), readings: Texts = (), labels: Texts = ()
) -> InspectedFile:
    """Return how an uploaded file would be read; `labels` are the classes of the suite that outputs are for."""
    return _inspect(str(upload_folder()), token, role, task, pairs_of(token, pairs), readings, labels)


@st.cache_resource(max_entries=64, show_spinner=False)
def _inspect(
    folder: str, token: str, role: InspectedRole, task: str, pairs: Texts, readings: Texts, labels: Texts
) -> InspectedFile:
    from metrics import ingest
    from metrics.ingest.tables.columns import fields_of
    from metrics.ingest.text_encoding import EXPECTED, UTF8

    path, name = path_of(token, Path(folder)), name_of(token, Path(folder))
    if path is None:
        return InspectedFile(token, name, None, (InputProblem(name, "no file", "the file uploaded again"),))
    reading = reading_of(token, readings)
    try:
        options: dict[str, Any] = {"task": task_of(task), "mapping": column_pairs(pairs), "reading": reading}
        seen = read_upload([name], [path], partial(ingest.inspect, path, role, name, labels=labels, **options))
    except InputError as failure:
        unread = reading.encoding or any(problem.expected == EXPECTED for problem in failure.problems)
        return InspectedFile(token, name, None, failure.problems, encoding=(reading.encoding or UTF8) if unread else "")
    known = fields_of(seen.role, seen.task)
    encoding = seen.encoding if reading.encoding or seen.encoding != UTF8 else ""
    return InspectedFile(token, seen.file, seen, (), tuple(known) if seen.mapping else (), encoding)


def see(token: str, task: str = "", pairs: Texts = (), readings: Texts = ()) -> SeenFile:
    """Return what an uploaded file looks like, before it has a role."""
    return _see(str(upload_folder()), token, task, pairs_of(token, pairs), readings)


@st.cache_resource(max_entries=64, show_spinner=False)
def _see(folder: str, token: str, task: str, pairs: Texts, readings: Texts) -> SeenFile:
    from metrics.ingest.file_roles import SeenFile, see_file

    path, name = path_of(token, Path(folder)), name_of(token, Path(folder))
    if path is None:
        return SeenFile(name, None, None, (InputProblem(name, "no file", "the file uploaded again"),))
    reading = reading_of(token, readings)
    try:
        options: dict[str, Any] = {"task": task_of(task), "mapping": column_pairs(pairs), "reading": reading}
        return read_upload([name], [path], partial(see_file, path, name, **options))
    except InputError as failure:
        return SeenFile(name, None, None, failure.problems)


def roles_of(seen: Mapping[str, SeenFile], readings: Texts, stored: bool) -> Roles:
    """Return the role of each uploaded file; `stored`: the suite is a stored one."""
    from metrics.ingest.file_roles import ROLE, assign_roles

    return assign_roles(seen, {token: choices_of(token, readings).get(ROLE, "") for token in seen}, stored)


def words_of_file(seen: SeenFile, role: FileRole | None) -> str:
    """Return what an uploaded file holds, in words."""
    from metrics.ingest.file_roles import describe

    return describe(seen, role)


def encoding_choices(encoding: str) -> tuple[list[str], str]:
    """Return the encodings that a text can be read as, and which is this one: the text itself where it is none."""
    from metrics.ingest.text_encoding import ENCODINGS, named

    try:
        return list(ENCODINGS), named(encoding)
    except InputError:
        return list(ENCODINGS), encoding


def previews(inputs: Inputs) -> Sequence[InspectedFile]:
    """Return how the files of `inputs` would be read, the suite first."""
    suite: list[InspectedFile] = []
    if inputs.together:
        tokens = inputs.outputs or (inputs.suite,)
        pairs = (*inputs.suite_mapping, *inputs.outputs_mapping)
        return [inspect(token, "combined", inputs.task, pairs, inputs.readings) for token in tokens]
    if inputs.source == "upload":
        suite = [inspect(inputs.suite, "suite", inputs.task, inputs.suite_mapping, inputs.readings)]
        task = inputs.task or (suite[0].preview.task if suite[0].preview else "")
    else:
        task = workspace().suite(inputs.suite).task
    read = read_suite(inputs).understood if task == "classification" and inputs.outputs else None
    labels = () if read is None else read.labels
    outputs = (inspect(one, "outputs", task, inputs.outputs_mapping, inputs.readings, labels) for one in inputs.outputs)
    return [*suite, *outputs]


def names_its_models(seen: SeenFile) -> bool:
    """Return whether a file of outputs has a model column, or a folder or a column for each model."""
    found = seen.preview
    return found is not None and (bool(found.models or seen.columns) or "model" in found.mapping)


class ReadGiven(NamedTuple):
    """An uploaded file: its name, its problems, and what it holds unless it could not be read (None)."""

    name: str
    problems: tuple[InputProblem, ...]
    file: GivenFile | None


def read_labels(run_id: str, token: str, pairs: Texts, readings: Texts, *, sampling: str) -> ReadGiven:
    """Return what an uploaded file of labels holds, or what is wrong with it."""
    return _read("labels", run_id, str(upload_folder()), token, pairs, readings, sampling=sampling)


def read_preferences(run_id: str, token: str, pairs: Texts, readings: Texts, *, by: str, a_first: bool) -> ReadGiven:
    """Return what an uploaded file of preferences holds, or what is wrong with it."""
    return _read("preferences", run_id, str(upload_folder()), token, pairs, readings, by=by, a_first=a_first)


@st.cache_resource(max_entries=16, show_spinner=False)
def _read(kind: str, run_id: str, folder: str, token: str, pairs: Texts, readings: Texts, **choices: Any) -> ReadGiven:
    from metrics.ingest import label_files, preference_files

    read: Any = label_files.read_labels if kind == "labels" else preference_files.read_preferences
    run, name = workspace().run(run_id), name_of(token, Path(folder))
    try:
        path, reading, mapping = Path(folder) / token, reading_of(token, readings), choices_of(token, pairs)
        own = {"suite": run.suite, "models": run.models, "mapping": mapping, "filename": name, **choices}
        found = read_upload([name], [path], partial(read, path, reading=reading, **own))
    except InputError as failure:
        return ReadGiven(name, failure.problems, None)
    return ReadGiven(name, found.problems, found)
