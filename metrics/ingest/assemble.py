"""Outputs of one or many files put together and checked against the suite and each other."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from metrics.core.suite import OUTPUTS, PREDICTIONS, Outputs, Suite, Task, conform
from metrics.ingest import cells, scored, text
from metrics.ingest.columns import Columns, resolve
from metrics.ingest.formats import coco, object_tables, traces
from metrics.ingest.problems import Loaded, Problems, Sheet, as_mask, flat, is_null, only
from metrics.ingest.source import Source

VISION: tuple[Task, ...] = ("detection", "segmentation")


@dataclass
class Part:
    """The outputs of one file before they are put together: a row per row of the sheet."""

    sheet: Sheet
    table: pa.Table
    predictions: pa.Table | None = None
    rows: NDArray[np.int64] | None = None  # of the predictions, in the sheet
    passages: bool = False
    repeats: bool = False  # several rows of one case are not a problem: they are its labels or its objects


def part_of(sheet: Sheet, suite: Suite, mapping: Mapping[str, str] | None, model: str, renamed: str | None) -> Part:
    """Return the outputs in a sheet, checked by themselves and against the suite."""
    names = sheet.table.column_names
    classes = scored.class_columns(names, suite.labels) if suite.task == "classification" else {}
    names = [name for name in names if name not in classes.values()]
    columns = resolve(names, "outputs", suite.task, mapping, sheet.problems, sheet.file)
    ask(sheet, columns)
    if suite.task in VISION:
        return _objects_part(sheet, columns, suite, model, renamed)
    need_rows(sheet)
    columns = traces.unpack(sheet, columns, "outputs", suite)
    table = text.outputs(sheet, columns, model, renamed)
    unknown = ~as_mask(pc.is_in(table["case_id"], flat(suite.cases["case_id"]))) & ~is_null(table["case_id"])
    sheet.blame(unknown & ~sheet.bad, columns.columns["case_id"], table["case_id"], "the id of a case of the suite")
    return answers_part(sheet, columns, table, classes, suite.task)


def answers_part(sheet: Sheet, columns: Columns, table: pa.Table, classes: dict[str, str], task: Task) -> Part:
    """Return the answers, or the labels and scores, of a sheet whose outputs' columns are `table`."""
    if task == "classification":
        labels, rows = scored.wide(sheet, classes) if classes else scored.long(sheet, columns)
        repeats = not classes and "score" in columns.columns
        if repeats:
            again, first = cells.duplicates([*(table[name] for name in ("case_id", "model", "run")), labels["label"]])
            sheet.blame(
                again & ~sheet.bad,
                None,
                lambda row: f"the class of row {sheet.rows[first[row]]} again",
                "every class once a case and model",
            )
        return Part(sheet, table, labels, rows, repeats=repeats)
    if not any(name in columns.columns for name in text.ANSWERED):
        expected = "a column answer, output, response, … or retrieved_contexts"
        raise sheet.problems.fail(sheet.file, "no column with what the model answered", expected, 1)
    return Part(sheet, table, passages=text.passage_rows(columns))


def _objects_part(sheet: Sheet, columns: Columns, suite: Suite, model: str, renamed: str | None) -> Part:
    scored = "score" in columns.columns
    if not scored and len(sheet) and suite.task == "detection":
        raise sheet.problems.fail(sheet.file, "no column with the scores", "a column score, confidence", 1)
    ids = object_tables.match_cases(sheet, columns, suite.cases)
    geometry, present = object_tables.geometry(sheet, columns, ids, sizes_of(suite.cases))
    unknown = ~as_mask(pc.is_in(geometry["label"], pa.array(suite.labels, pa.string()))) & present
    sheet.blame(unknown & ~sheet.bad, columns.columns["label"], geometry["label"], "a class of the suite")
    scores = cells.numbers(sheet, columns.columns["score"]) if scored else np.full(len(sheet), np.nan)
    if suite.task == "detection":
        sheet.blame(present & ~sheet.bad & np.isnan(scores), columns.columns.get("score"), "nothing", "a score")
    names = text.models(sheet, columns, model, renamed) if len(sheet) else pa.array([], pa.string())
    table = pa.table({"case_id": ids, "model": names, "run": text.runs(sheet, columns)})
    rows = np.flatnonzero(present)
    predictions = pa.table({**geometry, "score": cells.floats(scores)}).take(pa.array(rows))
    if not len(sheet):
        table = pa.table(
            {"case_id": pa.nulls(1, pa.string()), "model": [renamed or model], "run": pa.array([1], pa.int32())}
        )
    return Part(sheet, table, predictions, rows, repeats=True)


def coco_part(source: Source, document: list[Any], suite: Suite, renamed: str | None, problems: Problems) -> Part:
    """Return the results in a COCO document; an empty one is a model that found nothing."""
    sizes = {case: (high, wide) for case, (wide, high) in sizes_of(suite.cases).items()}
    labels = dict(zip(suite.category_ids, suite.labels, strict=True)) if suite.category_ids else {}
    sheet, predictions = coco.read_results(source, document, problems, sizes, labels, renamed or source.stem)
    if not labels:
        unknown = ~as_mask(pc.is_in(predictions["label"], pa.array(suite.labels, pa.string())))
        sheet.blame(unknown & ~sheet.bad, "label", predictions["label"], "a class of the suite")
    return objects_part(sheet, predictions, renamed or source.stem)


def objects_part(sheet: Sheet, predictions: pa.Table, model: str) -> Part:
    """Predictions, a row per row of the sheet with case_id and model; none are a model that found nothing."""
    runs = pa.array(np.ones(len(sheet), np.int32))
    table = pa.table({"case_id": predictions["case_id"], "model": predictions["model"], "run": runs})
    if not len(sheet):
        table = pa.table({"case_id": pa.nulls(1, pa.string()), "model": [model], "run": pa.array([1], pa.int32())})
    return Part(sheet, table, predictions.drop_columns(["case_id", "model"]), np.arange(len(sheet)), repeats=True)


def outputs_of(parts: list[Part], suite: Suite, problems: Problems) -> Loaded[Outputs]:
    """Return the outputs of all parts together: answered twice is a problem, not answered a count."""
    answered_twice(parts)
    for part in parts:
        part.sheet.leave_out()
    problems.check()
    tables, scored_tables = [], []
    for part in parts:
        good = ~part.sheet.bad if len(part.sheet) else np.ones(len(part.table), bool)
        if part.predictions is not None and part.rows is not None:
            keys = part.table.select(["case_id", "model", "run"]).take(pa.array(part.rows))
            joined = pa.table({**_columns(keys), **_columns(part.predictions)})
            scored_tables.append(only(joined, good[part.rows]))
        table = only(part.table, good)
        if part.passages:
            table = text.gather_passages(part.sheet, table)[0]
        # who lists objects saw every image; who draws masks only those that have one
        tables.append(_every_case(table, suite) if suite.task in VISION and part.repeats else table)
    table = conform(_concat(tables), OUTPUTS)
    if any(part.repeats for part in parts):
        again, _ = cells.duplicates([table[name] for name in ("case_id", "model", "run")])
        table = only(table, ~again)
    if not len(table):
        raise problems.fail(parts[0].sheet.file if parts else "outputs", "no good row", "at least one answer")
    predictions = None
    if scored_tables:
        joined = _concat(scored_tables)
        predictions = conform(joined.append_column("prediction_id", _numbered(joined)), PREDICTIONS)
    answered = len(table)
    if len(table["run"].unique()) > 1:
        answered -= int(cells.duplicates([table["case_id"], table["model"]])[0].sum())
    missing = len(suite) * len(table["model"].unique()) - answered
    return Loaded(Outputs(table, predictions, problems.left_out), problems.listed, missing=missing)


def answered_twice(parts: list[Part]) -> None:
    """Blame rows that answer what another row, of whichever file, has answered before."""
    plain = [part for part in parts if not part.repeats and not part.passages]
    for part in parts:
        if part.passages:
            text.gather_passages(part.sheet, part.table)
    if not plain:
        return
    keys = _concat([part.table.select(["case_id", "model", "run"]) for part in plain])
    again, first = cells.duplicates([keys[name] for name in keys.column_names])
    starts = np.cumsum([0, *(len(part.sheet) for part in plain)])

    def place(index: int) -> str:
        part = int(np.searchsorted(starts, index, "right")) - 1
        row = index - starts[part]
        return f"{plain[part].sheet.file_of(row)}, row {plain[part].sheet.rows[row]}"

    def found(begin: int, row: int) -> str:
        case, model = (keys[name][begin + row].as_py() for name in ("case_id", "model"))
        return f"case {case!r} of model {model!r} again, first in {place(first[begin + row])}"

    for number, part in enumerate(plain):
        begin, end = int(starts[number]), int(starts[number + 1])
        mask = again[begin:end] & ~part.sheet.bad
        part.sheet.blame(
            mask, "case_id", partial(found, begin), "one answer a case, model and run (repeats: a column run)"
        )


def _every_case(table: pa.Table, suite: Suite) -> pa.Table:
    """One row per case, model and run: a detector saw every image, also those where it found nothing."""
    again, _ = cells.duplicates([table["model"], table["run"]])
    seen = table.select(["model", "run"]).filter(pa.array(~again)).to_pylist()
    ids = flat(suite.cases["case_id"])
    columns = {
        "case_id": pa.concat_arrays([ids] * len(seen)) if seen else pa.array([], pa.string()),
        "model": pa.array([entry["model"] for entry in seen for _ in range(len(ids))], pa.string()),
        "run": pa.array([entry["run"] for entry in seen for _ in range(len(ids))], pa.int32()),
    }
    return conform(pa.table(columns), OUTPUTS)


def _numbered(table: pa.Table) -> pa.Array:
    """0, 1, 2, … within each model and run, in file order."""
    models, size = cells.codes_of(table["model"])
    runs, _ = cells.codes_of(table["run"])
    codes = runs * size + models
    order = np.argsort(codes, kind="stable")
    ranked = codes[order]
    starts = (
        np.flatnonzero(np.concatenate(([True], ranked[1:] != ranked[:-1]))) if len(codes) else np.zeros(0, np.int64)
    )
    ranks = np.arange(len(codes)) - np.repeat(starts, np.diff(np.append(starts, len(codes))))
    ids = np.empty(len(codes), np.int64)
    ids[order] = ranks
    return pa.array(ids)


def sizes_of(cases: pa.Table) -> dict[str, tuple[int, int]]:
    """Case id → (width, height) of its image, where both are known."""
    if not {"image_width", "image_height"} <= set(cases.column_names):
        return {}
    triples = zip(
        cases["case_id"].to_pylist(), cases["image_width"].to_pylist(), cases["image_height"].to_pylist(), strict=True
    )
    return {case: (wide, high) for case, wide, high in triples if wide is not None and high is not None}


def ask(sheet: Sheet, columns: Columns) -> None:
    """Raise the open questions of a mapping: without an answer the columns would be guessed."""
    for question in columns.questions:
        answers = " or ".join(f"{choice}={question.column}" for choice in question.choices)
        sheet.problems.add(
            sheet.file, "a name that means different things in different tools",
            f"a mapping that says which: {answers}. {question.text}", 1, question.column, fatal=True,
        )  # fmt: skip
    sheet.problems.stop()


def need_rows(sheet: Sheet) -> None:
    """Raise InputError for a sheet without rows."""
    if not len(sheet):
        raise sheet.problems.fail(sheet.file, "no rows of data", "at least one row below the header")


def _columns(table: pa.Table) -> dict[str, pa.ChunkedArray]:
    return dict(zip(table.column_names, table.columns, strict=True))


def _concat(tables: list[pa.Table]) -> pa.Table:
    return cast(pa.Table, pa.concat_tables(tables, promote_options="default"))
