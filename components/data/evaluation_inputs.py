"""Inputs of a new run: suites, previews of uploads, problems, and the start."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import streamlit as st

from components.data.uploaded_files import (
    choices_of,
    column_pairs,
    name_of,
    pairs_of,
    path_of,
    problem_table,
    reading_of,
    task_of,
    upload_folder,
)
from components.data.visitors import action
from components.data.workspace_runs import runs, workspace, workspace_path
from metrics.core.errors import AssayError, InputError, InputProblem
from metrics.presentation import run_names

if TYPE_CHECKING:
    from metrics.core.receipt import Receipt
    from metrics.core.suite import Outputs, Suite
    from metrics.engine.evaluation import EvaluationInCode
    from metrics.ingest import Loaded, Preview
    from metrics.ingest.file_roles import FileRole, Roles, SeenFile
    from metrics.library.input_data import Data

Parameters = Mapping[str, Mapping[str, Any]]  # of evaluators, by id
InspectedRole = Literal["suite", "outputs", "combined", "auto"]


@dataclass(frozen=True, slots=True)
class Inputs:
    """What is to be evaluated, as chosen so far: names (ours) of uploads, or a stored suite, a sample, or a run.

    `source` is upload, stored, sample or run; `models` names the model of each file of outputs ("": the file names its
    models); `together`: the suite is one of the outputs, each of which has cases and answers; mappings are texts
    `TOKEN.canonical=column`, see `pairs_of`; `files` is the zip of files that agents made; `keep`: bad rows are
    skipped; `job`: the completion whose answers are the outputs; `readings`: encodings and sheets, see `reading_of`;
    `on_file`: the stored outputs of an earlier run.
    `fixes` of predictions are MODEL=FIX; `classes` say what becomes of classes that the suite does not have.
    """

    source: str
    suite: str
    images: str = ""
    outputs: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    together: bool = False
    task: str = ""
    suite_mapping: tuple[str, ...] = ()
    outputs_mapping: tuple[str, ...] = ()
    keep: bool = False
    files: str = ""
    job: str = ""
    readings: tuple[str, ...] = ()
    on_file: str = ""
    fixes: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()


def stored_suites() -> dict[str, str]:
    """Return the suites in the workspace: fingerprint → name, task and size."""
    return {
        each["fingerprint"]: f"{each['name']} · {each['task']}, {each['cases']:,} cases · {each['fingerprint'][:7]}"
        for each in workspace().suites()
    }


def runs_to_clone() -> dict[str, str]:
    """Return the runs whose suite and outputs can be evaluated again: id → label."""
    return run_names.labels({run.id: run for run in runs()})


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


class ReadInputs(NamedTuple):
    """The files read and checked: their problems, and what was understood; None where problems are fatal.

    `complete`: there are no problems, or bad rows may be skipped.
    """

    complete: bool
    problems: tuple[InputProblem, ...]
    understood: Understood | None = None


class Understood(NamedTuple):
    """What files hold: good and skipped rows, missing answers, the inputs of evaluators that are present, receipt."""

    suite: str
    task: str
    good: int
    left_out: int
    cases: int
    models: tuple[str, ...]
    notes: tuple[str, ...]
    missing: int
    present: frozenset[str]
    receipt: Receipt
    labels: tuple[str, ...] = ()


def inspect(
    token: str,
    role: InspectedRole,
    task: str = "",
    pairs: tuple[str, ...] = (),
    readings: tuple[str, ...] = (),
    labels: tuple[str, ...] = (),
) -> InspectedFile:
    """Return how an uploaded file would be read; `labels` are the classes of the suite that outputs are for."""
    return _inspect(str(upload_folder()), token, role, task, pairs_of(token, pairs), readings, labels)


@st.cache_resource(max_entries=64, show_spinner=False)
def _inspect(
    folder: str,
    token: str,
    role: InspectedRole,
    task: str,
    pairs: tuple[str, ...],
    readings: tuple[str, ...],
    labels: tuple[str, ...],
) -> InspectedFile:
    from metrics import ingest
    from metrics.ingest.tables.columns import fields_of
    from metrics.ingest.text_encoding import EXPECTED, UTF8

    path, name = path_of(token, Path(folder)), name_of(token, Path(folder))
    if path is None:
        problem = InputProblem(name, "no file", "the file uploaded again")
        return InspectedFile(token, name, None, (problem,))
    reading = reading_of(token, readings)
    try:
        seen = ingest.inspect(
            path, role, name, task=task_of(task), mapping=column_pairs(pairs), reading=reading, labels=labels
        )
    except InputError as failure:
        unread = reading.encoding or any(problem.expected == EXPECTED for problem in failure.problems)
        return InspectedFile(token, name, None, failure.problems, encoding=(reading.encoding or UTF8) if unread else "")
    known = fields_of(seen.role, seen.task)
    encoding = seen.encoding if reading.encoding or seen.encoding != UTF8 else ""
    return InspectedFile(token, seen.file, seen, (), tuple(known) if seen.mapping else (), encoding)


def see(token: str, task: str = "", pairs: tuple[str, ...] = (), readings: tuple[str, ...] = ()) -> SeenFile:
    """Return what an uploaded file looks like, before it has a role."""
    return _see(str(upload_folder()), token, task, pairs_of(token, pairs), readings)


@st.cache_resource(max_entries=64, show_spinner="Looking at the files")
def _see(folder: str, token: str, task: str, pairs: tuple[str, ...], readings: tuple[str, ...]) -> SeenFile:
    from metrics.ingest.file_roles import SeenFile, see_file

    path, name = path_of(token, Path(folder)), name_of(token, Path(folder))
    if path is None:
        return SeenFile(name, None, None, (InputProblem(name, "no file", "the file uploaded again"),))
    reading = reading_of(token, readings)
    return see_file(path, name, task=task_of(task), mapping=column_pairs(pairs), reading=reading)


def roles_of(seen: Mapping[str, SeenFile], readings: tuple[str, ...], stored: bool) -> Roles:
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
    outputs = (
        inspect(token, "outputs", task, inputs.outputs_mapping, inputs.readings, labels) for token in inputs.outputs
    )
    return [*suite, *outputs]


def read_suite(inputs: Inputs) -> ReadInputs:
    """Return the uploaded suite read and checked, before there are answers to it."""
    try:
        loaded = load_suite(inputs)
    except AssayError as failure:
        return _unread(failure)
    suite = loaded.value
    understood = Understood(
        suite.name,
        suite.task,
        len(suite),
        suite.left_out,
        len(suite),
        (),
        loaded.notes,
        0,
        frozenset(),
        suite.receipt,
        suite.labels,
    )
    return ReadInputs(inputs.keep or not loaded.problems, tuple(loaded.problems), understood)


def _unread(failure: AssayError) -> ReadInputs:
    return ReadInputs(False, getattr(failure, "problems", ()) or (InputProblem("", str(failure), ""),))


def read_inputs(inputs: Inputs) -> ReadInputs:
    """Return the files read and checked."""
    return _read_inputs(str(workspace_path()), inputs, repr(inputs))


@st.cache_resource(max_entries=16, show_spinner=False)
def _read_inputs(folder: str, _inputs: Inputs, key: str) -> ReadInputs:  # noqa: ARG001 - parts of the cache's key
    from metrics.library.evaluator_choice import available_inputs

    try:
        data = load_data(_inputs)
    except AssayError as failure:
        return _unread(failure)
    suite, outputs, problems, notes, missing, _ = data
    objects = suite.annotations is not None  # then rows are objects, else cases and answers
    rows = outputs.predictions if objects and outputs.predictions is not None else outputs.outputs
    good, bad = rows.num_rows, outputs.left_out
    if not _inputs.together:  # else a row holds a case and its answer, and is one row
        good, bad = good + len(suite if suite.annotations is None else suite.annotations), bad + suite.left_out
    understood = Understood(
        suite.name,
        suite.task,
        good,
        bad,
        len(suite),
        tuple(outputs.models),
        notes,
        missing,
        frozenset(available_inputs(suite, outputs)),
        data.receipt,
    )
    return ReadInputs(_inputs.keep or not problems, problems, understood)


def settings_schema() -> dict[str, Any]:
    """Return the JSON schema of the further settings of a run that the page asks for."""
    from metrics.engine.evaluation import page_schema

    return page_schema()


@action("editor", "start a run", "name")
def start(
    inputs: Inputs, evaluators: tuple[str, ...], parameters: Parameters, name: str | None,
    resources: dict[str, Any] | None = None, scheduler: str | None = None, settings: Mapping[str, Any] | None = None,
) -> tuple[str, str]:  # fmt: skip
    """Store suite and outputs, create the run and start it; return its id, or "" and why it was not started.

    `resources` chooses the models behind the evaluators, by kind; `scheduler` is one of `schedulers()`, if any;
    `settings` are those of `settings_schema`.
    """
    from metrics import engine
    from metrics.library.prepare import prepare
    from metrics.library.presets import RUN_CODE

    try:
        if any(values.get("allow") and id in RUN_CODE for id, values in parameters.items()):
            allow_code(name or "")
        data = uploaded_data(inputs)
        given = {"evaluators": evaluators, "param": parameters, "name": name, "scheduler": scheduler}
        evaluation = evaluation_of(inputs, data, resources=resources or {}, **given, **(settings or {}))
        prepared = prepare(evaluation, "page", data=data)
        if prepared.data.problems and not inputs.keep:
            return "", "The files have problems that they did not have before; check them again."
        run = prepared.create()
        engine.start(run)
    except AssayError as failure:
        return "", str(failure)
    return run.id, ""


@action("admin", "run code that models wrote", "name")
def allow_code(name: str) -> None:
    """Raise NotAllowed where the visitor may not have code that models wrote run on the studio's machine."""
    del name  # it is in the audit log


def schedulers() -> list[str]:
    """Return the Dask schedulers that whoever started the studio allows, from $ASSAY_SCHEDULERS."""
    return os.environ.get("ASSAY_SCHEDULERS", "").split()


def names_its_models(seen: SeenFile) -> bool:
    """Return whether a file of outputs has a model column, or a folder or a column for each model."""
    found = seen.preview
    return found is not None and (bool(found.models or seen.columns) or "model" in found.mapping)


def problems_csv(problems: Sequence[InputProblem]) -> bytes:
    """Return every problem as a row of a CSV in which no cell is a formula."""
    from metrics.store.export_formats import write

    return bytes(write(problem_table(problems), "csv"))


def evaluation_of(inputs: Inputs, data: Data | None = None, **more: Any) -> EvaluationInCode:
    """Return the evaluation that the choices on the page ask for: uploads by path, what is stored as a value.

    `data` is what was read already. Rows that are wrong are skipped in reading: the page shows them before it lets a
    run start. InputError.
    """
    from metrics.engine.evaluation import EvaluationInCode

    folder = upload_folder()
    suite, outputs = (data.suite, data.outputs) if data is not None else _chosen_tables(inputs, folder)
    places = [] if data is not None else [*([inputs.suite] if inputs.source == "upload" else []), *inputs.outputs]
    places = list(dict.fromkeys(places))
    of_suite, of_outputs = inputs.suite_mapping, inputs.outputs_mapping
    columns = {
        at: (*of_suite, *of_outputs) if inputs.together else of_suite if at == inputs.suite else of_outputs
        for at in places
    }
    given = {
        "suite": suite, "outputs": outputs, "task": task_of(inputs.task), "model_name": inputs.models,
        "fix": inputs.fixes, "unknown_classes": inputs.classes, "keep_good_rows": True, "accept_findings": True,
        "images": str(folder / inputs.images) if inputs.images else None,
        "artifacts": str(folder / inputs.files) if inputs.files else None,
        "map": [f"{folder / at}={pair}" for at in places for pair in pairs_of(at, columns[at])],
        "file_names": {str(folder / at): name_of(at, folder) for at in (*places, inputs.images, inputs.files) if at},
        "workspace": str(workspace_path()),
    }  # fmt: skip
    for kind in ("encoding", "sheet"):
        chosen = {at: choices_of(at, inputs.readings).get(kind) for at in places}
        given[kind] = [f"{folder / at}={value}" for at, value in chosen.items() if value]
    given["read"] = [
        f"{folder / at}={name}={value}"
        for at in places
        for name, value in choices_of(at, inputs.readings).items()
        if name not in ("encoding", "sheet")
    ]
    return EvaluationInCode.model_validate({**given, **more})


def _chosen_tables(inputs: Inputs, folder: Path) -> tuple[Any, Any]:
    """Return what is chosen as suite and as outputs: the paths of uploads, what is stored as it is."""
    if inputs.source == "sample":
        from metrics.suites.samples import samples

        return next(sample for sample in samples() if sample.id == inputs.suite).read()
    if inputs.source == "run":
        run = workspace().run(inputs.suite)
        return run.suite, run.outputs
    suite = workspace().suite(inputs.suite) if inputs.source == "stored" else str(folder / inputs.suite)
    if inputs.job:
        from metrics.targets.jobs import job_of

        return suite, workspace().outputs(str(job_of(workspace(), inputs.job).outputs))
    return suite, [str(folder / token) for token in inputs.outputs]


def load_data(inputs: Inputs) -> Data:
    """Return suite and outputs with what was chosen about them, the problems of skipped rows, and notes."""
    from metrics.library.prepare import with_artifacts

    data = uploaded_data(inputs)
    return with_artifacts(evaluation_of(inputs, data), data._replace(outputs=corrected(data, inputs)))


def corrected(data: Data, inputs: Inputs) -> Outputs:
    """Return the outputs with the fixes of boxes and the unknown classes as chosen; InputError where that fails."""
    from metrics.library.input_data import corrected_outputs

    return corrected_outputs(data.suite, data.outputs, evaluation_of(inputs, data), "page")


def uploaded_data(inputs: Inputs) -> Data:
    """Return suite, outputs, problems, notes and missing answers as the files have them; the last are kept."""
    plain = replace(inputs, fixes=(), classes=(), files="")
    if inputs.job:  # a completion that is resumed has other answers under the same name
        return _read_data(plain)
    return _kept_data(str(workspace_path()), plain, repr(plain))


@st.cache_resource(max_entries=1, show_spinner=False)
def _kept_data(folder: str, _inputs: Inputs, key: str) -> Data:  # noqa: ARG001 - parts of the cache's key
    return _read_data(_inputs)


def _read_data(inputs: Inputs) -> Data:
    from metrics.library.input_data import Data, read_data

    if inputs.together:
        return read_data(evaluation_of(inputs), "page")
    loaded = load_suite(inputs)
    if inputs.on_file:
        from metrics.suites.outputs_on_file import read_on_file

        outputs, missing = read_on_file(workspace(), inputs.on_file, loaded.value)
        return Data(loaded.value, outputs, loaded.problems, loaded.notes, missing)
    try:
        data = read_data(evaluation_of(inputs), "page", suite=loaded)
    except InputError:
        if part := _of_selection(inputs, loaded.value):
            return part
        raise
    return (_of_selection(inputs, loaded.value) if data.problems else None) or data


def _of_selection(inputs: Inputs, suite: Suite) -> Data | None:
    """Return the answers to the cases of a stored suite in files that answer another, which it is a selection of."""
    from metrics.ingest import Loaded
    from metrics.library.input_data import Data, read_data
    from metrics.suites.outputs_on_file import count_missing, suites_around

    if inputs.source != "stored":
        return None
    for whole in suites_around(workspace(), suite):
        try:
            found = read_data(evaluation_of(inputs), "page", suite=Loaded(whole))
        except InputError:
            continue
        if not found.problems:
            outputs = found.outputs.restricted(case_ids=suite.cases["case_id"].combine_chunks())
            note = f"The files answer {whole.name}, of which this suite is a selection: its cases are taken."
            return Data(suite, outputs, (), (*found.notes, note), count_missing(suite, outputs))
    return None


def load_suite(inputs: Inputs) -> Loaded[Suite]:
    """Return the chosen suite, with the problems of its upload; the last upload is kept. Raises InputError."""
    if inputs.source != "upload":
        from metrics import ingest

        return ingest.Loaded(evaluation_of(inputs).suite)
    own = Inputs(
        inputs.source,
        inputs.suite,
        inputs.images,
        task=inputs.task,
        suite_mapping=inputs.suite_mapping,
        readings=tuple(each for each in inputs.readings if each.startswith(inputs.suite)),
    )
    return _kept_suite(str(upload_folder()), own, repr(own))


@st.cache_resource(max_entries=1, show_spinner="Reading and checking the suite")
def _kept_suite(folder: str, _inputs: Inputs, key: str) -> Loaded[Suite]:  # noqa: ARG001 - parts of the cache's key
    from metrics.library.input_data import read_suite

    return read_suite(evaluation_of(_inputs), "page")
