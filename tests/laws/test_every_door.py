"""Same data, every door: whatever form data comes in, and wherever it is given, it is read and scored the same."""

import io
import json
import os
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import replace
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest

import metrics
from components.data import evaluation_inputs, run_estimates
from components.data.uploaded_files import keep, upload_folder
from metrics import ingest
from metrics.analysis import insights, leaderboard, problems
from metrics.analysis.leaderboard.headline import headline
from metrics.cli.main import main
from metrics.core.errors import InputError
from metrics.core.suite import Outputs, Suite
from metrics.store import Run
from tests.laws.box_files import BOX_FILES
from tests.laws.doors import DATA, differences, facts_of, output_rows, suite_rows
from tests.laws.forms import FILES, FORMS, SHAPES, TABLES, can_hold

LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
SEED = 20
FORMS_EACH = 2  # of a shape of data in `make test`; all in `make test-long`


def read(suite: Any, outputs: Any) -> tuple[Suite, Outputs]:
    """Return what the readers make of two files, or of two tables in memory."""
    if isinstance(suite, Path):
        read = ingest.read_suite(suite)
        return read, ingest.read_outputs(outputs, suite=read)
    read = ingest.suite_from_frame(suite)
    return read, ingest.outputs_from_frame(outputs, suite=read)


def reading_cases() -> Iterator[Any]:
    """Yield the name of data, of a shape that it can have, and of the forms to write it in."""
    for name, shape in product(DATA, SHAPES):
        random = Random(f"{SEED} {name} {shape}")
        data = DATA[name](random)
        rows = suite_rows(data), output_rows(data)
        shaped = [SHAPES[shape](own, random) for own in rows]
        if shape == "as it is" or tuple(shaped) != rows:
            able = [form for form in FORMS if all(can_hold(form, shape, own) for own in shaped)]
            chosen = able if LONG else random.sample(able, min(FORMS_EACH, len(able)))
            yield pytest.param(name, shape, chosen, id=f"{name}, {shape}")


@pytest.mark.parametrize(("name", "shape", "forms"), [*reading_cases()])
def test_reads_the_same(name: str, shape: str, forms: list[str], tmp_path: Path) -> None:
    """A suite and outputs, read from any form and shape, are those that the records make without a reader."""
    random = Random(f"{SEED} {name} {shape}")
    data = DATA[name](random)
    rows = [SHAPES[shape](own, random) for own in (suite_rows(data), output_rows(data))]
    wanted = facts_of(*data.tables())
    found = {}
    for form in forms:
        suite, outputs = (
            FORMS[form](own, tmp_path / role) for own, role in zip(rows, ("suite", "outputs"), strict=True)
        )
        found[form] = differences(wanted, facts_of(*read(suite, outputs)))
    assert found == {form: [] for form in forms}


@pytest.mark.parametrize("form", BOX_FILES)
def test_boxes_are_read_the_same(form: str, tmp_path: Path) -> None:
    """Boxes in a format of annotations are those of a table; each format names the cases as its files do."""
    data = DATA["boxes"](Random(f"{SEED} {form}"))
    truth, files = BOX_FILES[form](data, tmp_path)
    suite = ingest.read_suite(truth)
    outputs = ingest.read_outputs(files, suite=suite)
    names = dict(zip(*(suite.cases[name].to_pylist() for name in ("case_id", "metadata.image_name")), strict=True))

    def named(table: pa.Table) -> pa.Table:
        ids = pa.array([names[one] for one in table["case_id"].to_pylist()])
        return table.set_column(table.column_names.index("case_id"), "case_id", ids)

    cases = named(suite.cases)
    cases = cases.set_column(cases.column_names.index("image"), "image", pa.nulls(len(cases), pa.string()))
    suite = replace(suite, cases=cases, annotations=named(suite.annotations))
    outputs = replace(outputs, outputs=named(outputs.outputs), predictions=named(outputs.predictions))
    assert differences(facts_of(*data.tables()), facts_of(suite, outputs)) == []


# ---- one file, given to each door

EVALUATORS = {
    "text": ["exact_match", "rouge"], "regression": ["regression"], "detection": ["coco_summary"],
    "classification": ["classification"], "several": ["multilabel"], "agent": ["tool_calls"],
}  # fmt: skip
Place = tuple[Path, Path]  # of the files of suite and outputs


def by_python(files: Place, workspace: Path, chosen: list[str], unknown: tuple[str, ...] = ()) -> Run:
    return metrics.evaluate(*files, chosen, workspace=workspace, unknown_classes=unknown)


def by_command(files: Place, workspace: Path, chosen: list[str], unknown: tuple[str, ...] = ()) -> Run:
    options = [f"--evaluators={','.join(chosen)}", "--quiet"]
    return _run_of(
        ["evaluate", *map(str, files), *options, *(f"--unknown-classes={each}" for each in unknown)], workspace
    )


def by_project(files: Place, workspace: Path, chosen: list[str], unknown: tuple[str, ...] = ()) -> Run:
    project = files[0].with_name("assay.toml")
    values = {
        "suite": files[0].name,
        "outputs": [files[1].name],
        "evaluators": chosen,
        "unknown_classes": list(unknown),
    }
    lines = [f"{name} = {json.dumps(value)}" for name, value in values.items()]
    project.write_text("\n".join(["[evaluate.all]", *lines]))
    return _run_of(["run", str(project)], workspace)


def by_page(files: Place, workspace: Path, chosen: list[str], unknown: tuple[str, ...] = ()) -> Run:
    place = upload_folder()
    suite, outputs = (keep(io.BytesIO(path.read_bytes()), path.name, place) for path in files)
    given = evaluation_inputs.Inputs("upload", suite, outputs=(outputs,), models=("",), classes=unknown)
    read = evaluation_inputs.read_inputs(given)
    if not read.complete:
        raise InputError(read.problems)
    run, reason = run_estimates.start(given, tuple(chosen), {}, "run")
    if reason:
        raise InputError(reason)
    return metrics.Workspace(workspace).run(run)


def _run_of(arguments: list[str], workspace: Path) -> Run:
    before = {run.id for run in metrics.Workspace(workspace).runs()}
    told = io.StringIO()
    with redirect_stderr(told), redirect_stdout(io.StringIO()):
        code = main(arguments)
    if code:
        raise InputError(told.getvalue())
    return next(run for run in metrics.Workspace(workspace).runs() if run.id not in before)


DOORS: dict[str, Callable[..., Run]] = {
    "Python": by_python, "command": by_command, "project file": by_project, "page": by_page,
}  # fmt: skip


def findings_of(run: Run) -> dict[str, Any]:
    """Return what a run says: its data, scores, aggregates, headline, insights and problems."""
    names = ("evaluator", "case_id", "model", "run", "metric", "value", "status", "reason")
    scores = [tuple(row[name] for name in names) for row in run.stored_table("scores").to_pylist()]
    return {
        **facts_of(run.suite, run.outputs), "scores": sorted(scores, key=repr),
        "aggregates": sorted(map(repr, run.stored_table("aggregates").to_pylist())),
        "headline": headline(leaderboard(run)).sentence,
        "insights": [*insights(run)["message"]], "problems": [*problems(run)["message"]],
    }  # fmt: skip


def written(name: str, form: str, folder: Path, shape: str = "as it is") -> Any:
    data = DATA[name](Random(f"{SEED} {name}"))
    folder.mkdir(exist_ok=True)
    own = [SHAPES[shape](rows, Random(SEED)) for rows in (suite_rows(data), output_rows(data))]
    return tuple(FORMS[form](rows, folder / role) for rows, role in zip(own, ("suite", "outputs"), strict=True))


@pytest.mark.parametrize("name", DATA)
def test_is_scored_the_same(name: str, workspace: Path, tmp_path: Path, units_here: None) -> None:
    """Every door finds in a file, and Python in a table, what the command finds in a CSV."""
    del units_here
    random = Random(f"{SEED} {name}")
    chosen = EVALUATORS.get(name) or EVALUATORS[DATA[name](random).task]
    wanted = findings_of(by_command(written(name, "CSV", tmp_path / "csv"), workspace, chosen))
    assert wanted["scores"] or wanted["aggregates"]
    found = {}
    for door, ask in DOORS.items():
        for form in FILES if LONG else random.sample([*FILES], 1):
            files = written(name, form, tmp_path / f"{door} {form}".replace(",", ""))
            found[door, form] = differences(wanted, findings_of(ask(files, workspace, chosen)))
    for form in TABLES if LONG else random.sample([*TABLES], 1):
        suite, outputs = written(name, form, tmp_path)
        run = metrics.evaluate(suite, outputs, chosen, workspace=workspace)
        found["Python", form] = differences(wanted, findings_of(run))
    assert found == {key: [] for key in found}


# ---- what one door refuses or asks, all do

REFUSED: dict[str, tuple[str, str, str]] = {  # suite, outputs, and what every door says
    "a class that the suite lacks": (
        "case_id,label\n1,cat\n2,dog\n", "case_id,predicted_label\n1,cat\n2,eel\n",
        "a class that the suite does not have: eel (1)",
    ),
    "an object of a class that the suite lacks": (
        "image,image_width,image_height,label,x,y,width,height\na,9,9,cat,1,1,4,4\n",
        "image,label,score,x,y,width,height\na,eel,.5,1,1,4,4\n", "a class that the suite does not have: eel (1)",
    ),
    "classes that are off by one": (
        "case_id,label\n" + "".join(f"{n},{n % 3 + 1}\n" for n in range(30)),
        "case_id,predicted_label\n" + "".join(f"{n},{n % 3}\n" for n in range(30)),
        "Class numbers seem to be 1 lower than the suite's",
    ),
    "a case twice": ("case_id,label\n1,cat\n1,dog\n", "case_id,predicted_label\n1,cat\n", "'1' again, first in row 2"),
    "a case of another suite": (
        "case_id,label\n1,cat\n2,dog\n", "case_id,predicted_label\n7,cat\n8,cat\n", "none of its 2 case ids"
    ),
    "a score without end": ("case_id,label\n1,cat\n2,dog\n", "case_id,label,score\n1,cat,inf\n", "a finite number"),
    "no answer": ("case_id,question\n1,q\n", "case_id,note\n1,a\n", "no column with the model's answers"),
    "null in a list": (
        'case_id,expected_answers\n1,"[""a"", null]"\n', "case_id,answer\n1,a\n", "closed and without null"
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
@pytest.mark.parametrize("door", DOORS)
def test_is_refused_the_same(door: str, case: str, workspace: Path, tmp_path: Path, units_here: None) -> None:
    """A file that one door refuses, every door refuses with the same words."""
    del units_here
    *texts, words = REFUSED[case]
    files = tmp_path / "suite.csv", tmp_path / "outputs.csv"
    for path, text in zip(files, texts, strict=True):
        path.write_text(text)
    with pytest.raises(InputError) as refusal:
        DOORS[door](files, workspace, ["classification"])
    assert words in str(refusal.value)
