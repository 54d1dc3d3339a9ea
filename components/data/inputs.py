"""What the wizard reads: uploads, their previews, mappings and problems, and the start of a run."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st

from components.data.workspace_runs import workspace
from components.widgets import column_mapping, uploads

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class Inputs:
    """What the user wants evaluated, as chosen so far: our names of uploads, or a stored suite, or a sample.

    `source` is upload, stored or sample; `models` names the model of each file of outputs ("": the file does itself);
    `together` says that the suite file has the answers; mappings are `canonical=column` pairs; `files` is the zip of
    files that agents made.
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


def upload_folder() -> Path:
    """Return the workspace's folder of uploaded files."""
    return Path(workspace().path) / "uploads"


def stored_suites() -> dict[str, str]:
    """Return the suites in the workspace: fingerprint → name, task and size."""
    return {
        each["fingerprint"]: f"{each['name']} · {each['task']}, {each['cases']:,} cases · {each['fingerprint'][:7]}"
        for each in workspace().suites()
    }


def samples() -> dict[str, str]:
    """Return the bundled samples: id → name."""
    from metrics.suites.samples import samples

    return {sample.id: sample.title for sample in samples()}


def inspect(token: str, role: str, task: str = "", pairs: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return how an uploaded file would be read; only name, role and `problems` where it is unreadable."""
    return _inspect(str(upload_folder()), token, role, task, pairs)


@st.cache_data(max_entries=64, show_spinner=False)
def _inspect(folder: str, token: str, role: str, task: str, pairs: tuple[str, ...]) -> dict[str, Any]:
    import pandas as pd

    from metrics import ingest
    from metrics.core.errors import InputError
    from metrics.ingest.tables.columns import IMAGE_ALIASES, OUTPUT_ALIASES, SCORED_ALIASES, SUITE_ALIASES

    path, name = uploads.path_of(token, Path(folder)), uploads.name_of(token, Path(folder))
    if path is None:
        problem = {"file": name, "row": None, "column": None, "found": "no file", "expected": "the file uploaded again"}
        return {"name": name, "role": role, "problems": pd.DataFrame([problem])}
    try:
        seen = ingest.inspect(path, role, name, task=task or None, mapping=column_mapping.parse(pairs))  # type: ignore[arg-type]
    except InputError as failure:
        return {"name": name, "role": role, "problems": _problem_table(failure.problems)}
    known = OUTPUT_ALIASES if role == "outputs" else SUITE_ALIASES
    known = SUITE_ALIASES | OUTPUT_ALIASES if role == "combined" else known
    if seen.task == "classification" and role != "suite":
        known = known | SCORED_ALIASES
    if seen.task == "detection":
        known = IMAGE_ALIASES
    cells = [
        {
            "row": cell.row,
            "column": cell.column,
            "read as": cell.rule,
            "items": list(cell.items or ()),
            "cell": cell.text[:200],
        }
        for cell in seen.lists
    ]
    return {
        "name": seen.file, "format": seen.format, "role": seen.role, "task": seen.task, "rows": seen.rows,
        "columns": seen.mapping, "file_columns": list(seen.columns), "unmapped": seen.unmapped, "ignored": seen.ignored,
        "canonical": list(known) if seen.mapping else [], "lists": pd.DataFrame(cells),
        "questions": [asdict(question) for question in seen.questions], "notes": list(seen.notes),
        "head": pd.DataFrame(list(seen.first)), "models": list(seen.models),
    }  # fmt: skip


def previews(inputs: Inputs) -> list[dict[str, Any]]:
    """Return the files of `inputs`, each as `inspect` gives it, the suite first."""
    if inputs.source == "upload":
        role = "combined" if inputs.together else "suite"
        suite = inspect(inputs.suite, role, inputs.task, inputs.suite_mapping)
        task = inputs.task or suite.get("task", "")
    else:
        suite, task = None, workspace().suite(inputs.suite).task
    others = [inspect(token, "outputs", task, inputs.outputs_mapping) for token in inputs.outputs]
    return [suite, *others] if suite is not None else others


def read_inputs(inputs: Inputs) -> dict[str, Any]:
    """Return the files read and checked: `ok`, `problems` (data frame), and unless they are fatal what was understood.

    good, left_out (rows; None where leaving rows out does not fix the problems), suite (name), task, cases, models,
    present (the inputs of evaluators that are there), missing (answers), notes.
    """
    return _read_inputs(str(workspace().path), inputs, repr(inputs))


@st.cache_data(max_entries=16, show_spinner=False)
def _read_inputs(folder: str, _inputs: Inputs, key: str) -> dict[str, Any]:  # noqa: ARG001 - parts of the cache's key
    import pandas as pd

    from metrics.core.errors import InputError
    from metrics.library.evaluate import available_inputs

    try:
        suite, outputs, problems, notes, missing = _load(_inputs, keep=True)
    except InputError as failure:
        listed = _problem_table(failure.problems)
        if listed.empty:
            listed = pd.DataFrame([{"file": "", "row": None, "column": None, "found": str(failure), "expected": ""}])
        return {"ok": False, "problems": listed, "good": None, "left_out": None}
    return {
        "ok": _inputs.keep or not problems, "problems": _problem_table(problems), "suite": suite.name,
        "task": suite.task, "good": len(suite) + outputs.outputs.num_rows,
        "left_out": suite.left_out + outputs.left_out,
        "cases": len(suite), "models": list(outputs.models), "notes": notes, "missing": missing,
        "present": available_inputs(suite, outputs),
    }  # fmt: skip


def start(
    inputs: Inputs, evaluators: tuple[str, ...], parameters: dict[str, dict[str, Any]], name: str | None,
    resources: dict[str, Any] | None = None,
) -> tuple[str, str]:  # fmt: skip
    """Store suite and outputs, create the run and start it; its id, or "" and why it could not be.

    `resources` chooses the models behind the evaluators, by kind.
    """
    from metrics import engine
    from metrics.core.errors import AssayError

    try:
        suite, outputs, problems, *_ = _load(inputs, keep=True)
        if problems and not inputs.keep:
            return "", "The files have problems now that they did not have before; look at them again."
        run = engine.create(workspace(), suite, outputs, list(evaluators), parameters, name, resources=resources)
        engine.start(run)
    except AssayError as failure:
        return "", str(failure)
    return run.id, ""


def estimate(
    inputs: Inputs, evaluators: tuple[str, ...], parameters: dict[str, dict[str, Any]], resources: dict[str, Any]
) -> dict[str, Any] | None:
    """Return what the run would ask of its judge, see metrics.engine.Estimate; `tokens` in all. None where it asks
    none.
    """
    from metrics.judge.opening import FOLDER

    replies = Path(workspace().path) / "cache" / FOLDER / "cache.db"
    known = replies.stat().st_mtime_ns if replies.exists() else 0
    key = json.dumps([repr(inputs), evaluators, parameters, resources, known], sort_keys=True)
    return _estimate(str(workspace().path), inputs, evaluators, parameters, resources, key)


@st.cache_data(max_entries=32, show_spinner=False)
def _estimate(
    folder: str, _inputs: Inputs, _evaluators: tuple[str, ...], _parameters: dict[str, dict[str, Any]],
    _resources: dict[str, Any], key: str,  # noqa: ARG001 - a part of the cache's key
) -> dict[str, Any] | None:  # fmt: skip
    from metrics import engine
    from metrics.core.errors import AssayError

    try:
        suite, outputs, *_ = _load(_inputs, keep=True)
        found = engine.estimate(suite, outputs, _evaluators, _parameters, _resources, Path(folder))
    except AssayError as failure:
        return {"problem": str(failure)}
    if found is None:
        return None
    return asdict(found) | {"tokens": found.prompt_tokens + found.completion_tokens, "problem": ""}


def wants_images(token: str) -> bool:
    """Return whether an uploaded suite is about images."""
    return inspect(token, "suite").get("task") in ("detection", "segmentation")


def wants_files(tokens: tuple[str, ...], role: str) -> bool:
    """Return whether uploaded outputs tell of files that agents made: they have traces or artifacts."""
    seen = (inspect(token, role) for token in tokens)
    return any({"trace", "artifacts"} & {*each.get("columns", {}), *each.get("file_columns", ())} for each in seen)


def names_its_models(token: str) -> bool:
    """Return whether an uploaded file of outputs has a model column, or a folder for each model."""
    seen = inspect(token, "outputs")
    return bool(seen.get("models")) or "model" in seen.get("columns", {})


def problems_csv(problems: pd.DataFrame) -> bytes:
    """Return a table of problems as CSV in which no cell is a formula."""
    from metrics.store.export_formats import write

    return bytes(write(problems, "csv"))


def _load(inputs: Inputs, keep: bool) -> tuple[Any, Any, list[Any], list[str], int]:
    """(suite, outputs, problems of the rows left out, notes, answers missing)."""
    suite, outputs, problems, notes, missing = _load_tables(inputs, keep)
    if not inputs.files:
        return suite, outputs, problems, notes, missing
    from metrics.ingest import attach_files

    folder = upload_folder()
    attached = attach_files(
        outputs, folder / inputs.files, destination=folder / f"{inputs.files}.files",
        filename=uploads.name_of(inputs.files, folder), keep_good_rows=keep,
    )  # fmt: skip
    return suite, attached.value, [*problems, *attached.problems], notes, missing


def _load_tables(inputs: Inputs, keep: bool) -> tuple[Any, Any, list[Any], list[str], int]:
    from metrics import ingest
    from metrics.suites.samples import samples

    if inputs.source == "sample":
        suite, outputs = next(sample for sample in samples() if sample.id == inputs.suite).read()
        return suite, outputs, [], [], 0
    folder = upload_folder()
    task, pairs = inputs.task or None, column_mapping.parse(inputs.suite_mapping)
    if inputs.together:
        both = ingest.load_combined(
            folder / inputs.suite, task=task, mapping=pairs, name=_stem(inputs.suite), keep_good_rows=keep,
            filename=uploads.name_of(inputs.suite, folder),
        )  # fmt: skip
        return *both.value, list(both.problems), list(both.notes), both.missing
    loaded = None
    if inputs.source == "upload":
        loaded = ingest.load_suite(
            folder / inputs.suite, task=task, mapping=pairs, name=_stem(inputs.suite), keep_good_rows=keep,
            filename=uploads.name_of(inputs.suite, folder),
            images=folder / inputs.images if inputs.images else None,
            images_filename=uploads.name_of(inputs.images, folder) if inputs.images else None,
            workspace_media=folder / f"{inputs.images or inputs.suite}.media",
        )  # fmt: skip
    suite = loaded.value if loaded is not None else workspace().suite(inputs.suite)
    paths = [folder / token for token in inputs.outputs]
    answers = ingest.load_outputs(
        paths, suite=suite, mapping=column_mapping.parse(inputs.outputs_mapping), keep_good_rows=keep,
        model_names={path: model for path, model in zip(paths, inputs.models, strict=True) if model},
        filenames={path: uploads.name_of(path.name, folder) for path in paths},
    )  # fmt: skip
    before = loaded or ingest.Loaded(suite)
    return suite, answers.value, [*before.problems, *answers.problems], [*before.notes, *answers.notes], answers.missing


def _stem(token: str) -> str:
    return uploads.name_of(token, upload_folder()).rpartition(".")[0] or "suite"


def _problem_table(problems: Any) -> pd.DataFrame:
    import pandas as pd

    columns = ["file", "row", "column", "found", "expected"]
    return pd.DataFrame([problem.as_row() for problem in problems], columns=columns).astype({"row": "Int64"})
