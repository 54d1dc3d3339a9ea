"""What a new run evaluates: the inputs as they are chosen, read and checked."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import streamlit as st

from components.data.file_reading import read_upload
from components.data.uploaded_files import choices_of, name_of, pairs_of, task_of, upload_folder
from components.data.workspace_runs import open_run, runs, workspace, workspace_path
from metrics.analysis import Board
from metrics.core.errors import AssayError, InputError, InputProblem
from metrics.core.receipt import ROWS, Receipt
from metrics.core.registry import choose, evaluators
from metrics.presentation import run_names
from metrics.suites.samples import samples

if TYPE_CHECKING:
    from metrics.core.suite import Outputs, Suite
    from metrics.engine.evaluation import EvaluationInCode
    from metrics.ingest import Loaded
    from metrics.library.input_data import Data
    from metrics.store import Run

T = TypeVar("T")
MAX_EARLIER = 20  # runs of a suite whose evaluators are offered again


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


def asked_of(run_id: str) -> dict[str, str | list[str]]:
    """Return what the page Evaluate is told to begin with what a run was asked: its address's parameters."""
    run = open_run(run_id)
    return {"from": "run", "suite": run_id, **_evaluators_of(run, list(run.evaluators))}


def asked_before(fingerprint: str) -> dict[str, Any]:
    """Return the same for every evaluator of the latest finished runs of a suite, as the last one used it; {} if none.

    So a further model has all the numbers that those before it have.
    """
    earlier = [run.id for run in runs() if run.state == "finished" and run.suite["fingerprint"] == fingerprint]
    used: dict[str, Mapping[str, Any]] = {}
    for run_id in earlier[:MAX_EARLIER]:
        used = {one.id: one.parameters for one in open_run(run_id).spec.evaluators} | used
    return _write_evaluators(used) if used else {}


def asked_alike(run_id: str, model: str, missing: Sequence[str]) -> dict[str, str | list[str]]:
    """Return the same for evaluators that a board lacks numbers of, or has others of: the answers, as others' were."""
    run = open_run(run_id)
    assert isinstance(run, Board)
    answers = next(entry.answers.run.spec.outputs.fingerprint for entry in run.entries if entry.name == model)
    stored = {"from": "stored", "suite": run.spec.suite.fingerprint, "by": "file", "answers": answers}
    return {**stored, **_evaluators_of(run, missing)}


def _evaluators_of(run: Run, ids: Sequence[str]) -> dict[str, str | list[str]]:
    """Return evaluators as a run used them: the parameters of an address."""
    return _write_evaluators({one.id: one.parameters for one in run.spec.evaluators if one.id in ids})


def _write_evaluators(used: Mapping[str, Mapping[str, Any]]) -> dict[str, str | list[str]]:
    """Return evaluators with their parameters, those that this version has, as the parameters of an address."""
    entries = {id: parameters for id, parameters in used.items() if id in evaluators()}
    try:
        known = choose(list(entries), entries)
    except InputError:  # parameters of an earlier version, which this one does not have
        known = choose(list(entries))
    own = {name: values.model_dump(mode="json", exclude_defaults=True) for name, (_, values) in known.items()}
    given = {name: values for name, values in own.items() if values}
    return {"evaluator": list(known), "parameters": json.dumps(given, ensure_ascii=False) if given else ""}


class ReadInputs(NamedTuple):
    """The files read and checked: their problems, and what was understood; None where problems are fatal.

    `complete`: there are no problems, or bad rows may be skipped.
    """

    complete: bool
    problems: tuple[InputProblem, ...]
    understood: Understood | None = None


class Understood(NamedTuple):
    """What files hold: good and skipped rows, missing answers, the inputs of evaluators that are present, receipt.

    `fingerprint`: of the suite.
    """

    suite: str
    task: str
    cases: int
    labels: tuple[str, ...]
    receipt: Receipt
    notes: tuple[str, ...]
    good: int
    left_out: int
    models: tuple[str, ...] = ()
    missing: int = 0
    present: frozenset[str] = frozenset()
    fingerprint: str = ""


def read_suite(inputs: Inputs) -> ReadInputs:
    """Return the uploaded suite read and checked, before there are answers to it."""
    try:
        loaded = load_suite(inputs)
    except AssayError as failure:
        return _unread(failure)
    suite = loaded.value
    facts = (suite.name, suite.task, len(suite), suite.labels, suite.receipt, loaded.notes)
    understood = Understood(*facts, len(suite), suite.left_out)
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
    good, bad = rows.num_rows, suite.left_out + outputs.left_out
    if _inputs.together:  # then a row holds a case and its answers, and is one row
        good = sum(line.count or 0 for line in data.receipt if line.place == ROWS and line.use == "used")
    else:
        good += len(suite if suite.annotations is None else suite.annotations)
    facts = (suite.name, suite.task, len(suite), suite.labels, data.receipt, notes)
    present = frozenset(available_inputs(suite, outputs))
    understood = Understood(*facts, good, bad, tuple(outputs.models), missing, present, suite.fingerprint)
    return ReadInputs(_inputs.keep or not problems, problems, understood)


def evaluation_of(inputs: Inputs, data: Data | None = None, **more: Any) -> EvaluationInCode:
    """Return the evaluation that the choices on the page ask for: uploads by path, what is stored as a value.

    `data` is what was read already. Rows that are wrong are skipped in reading: the page shows them before it lets a
    run start. InputError.
    """
    from metrics.engine.evaluation import EvaluationInCode

    folder = upload_folder()
    suite, outputs = (data.suite, data.outputs) if data is not None else _chosen_tables(inputs, folder)
    uploads = dict.fromkeys([*([inputs.suite] if inputs.source == "upload" else []), *inputs.outputs])
    places = [] if data is not None else list(uploads)
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
    said: dict[str, list[str]] = {"encoding": [], "sheet": [], "read": []}
    for at in places:
        for name, value in choices_of(at, inputs.readings).items():
            if name in ("encoding", "sheet"):
                said[name] += [f"{folder / at}={value}"] if value else []
            else:
                said["read"].append(f"{folder / at}={name}={value}")
    return EvaluationInCode.model_validate({**given, **said, **more})


def _chosen_tables(inputs: Inputs, folder: Path) -> tuple[Any, Any]:
    """Return what is chosen as suite and as outputs: the paths of uploads, what is stored as it is."""
    if inputs.source == "sample":
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
    from metrics.library.output_checks import corrected_outputs

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
        return _apart(inputs, partial(read_data, evaluation_of(inputs), "page"))
    loaded = load_suite(inputs)
    if inputs.on_file:
        from metrics.suites.outputs_on_file import read_on_file

        outputs, missing = read_on_file(workspace(), inputs.on_file, loaded.value)
        return Data(loaded.value, outputs, loaded.problems, loaded.notes, missing)
    try:
        data = _apart(inputs, partial(read_data, evaluation_of(inputs), "page", suite=loaded))
        return (_of_selection(inputs, loaded.value) if data.problems else None) or data
    except InputError:
        if part := _of_selection(inputs, loaded.value):
            return part
        raise


def _of_selection(inputs: Inputs, suite: Suite) -> Data | None:
    """Return the answers to the cases of a stored suite in files that answer another, which it is a selection of."""
    from metrics.ingest import Loaded
    from metrics.library.input_data import Data, read_data
    from metrics.suites.outputs_on_file import count_missing, suites_around

    if inputs.source != "stored":
        return None
    for whole in suites_around(workspace(), suite):
        try:
            found = _apart(inputs, partial(read_data, evaluation_of(inputs), "page", suite=Loaded(whole)))
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
    readings = tuple(each for each in inputs.readings if each.startswith(inputs.suite))
    own = Inputs(inputs.source, inputs.suite, inputs.images, task=inputs.task, readings=readings)
    own = replace(own, suite_mapping=inputs.suite_mapping)
    return _kept_suite(str(upload_folder()), own, repr(own))


@st.cache_resource(max_entries=1, show_spinner=False)
def _kept_suite(folder: str, _inputs: Inputs, key: str) -> Loaded[Suite]:  # noqa: ARG001 - parts of the cache's key
    from metrics.library.input_data import read_suite

    return _apart(_inputs, partial(read_suite, evaluation_of(_inputs), "page"))


def _apart(inputs: Inputs, read: Callable[[], T]) -> T:
    """Return what a call reads: of uploads in a process of its own, of what is stored here."""
    uploads = [*inputs.outputs, *([inputs.suite, inputs.images] if inputs.source == "upload" else [])]
    tokens, folder = dict.fromkeys(filter(None, uploads)), upload_folder()
    if not tokens:
        return read()
    return read_upload([name_of(token, folder) for token in tokens], [folder / token for token in tokens], read)
