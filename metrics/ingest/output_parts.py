"""The outputs of several uploads: put together and checked against the suite and each other."""

from dataclasses import dataclass
from functools import partial
from typing import cast

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from metrics.core.suite import OUTPUTS, PREDICTIONS, Outputs, Suite, Task, conform
from metrics.ingest.sheet import Loaded, Problems, Sheet, flat, only
from metrics.ingest.tables import sheet_cells, text_cases

VISION: tuple[Task, ...] = ("detection", "segmentation")


@dataclass
class Part:
    """The outputs in one upload, before they are put together; `table` has a row for each row of the sheet."""

    sheet: Sheet
    table: pa.Table
    predictions: pa.Table | None = None
    rows: NDArray[np.int64] | None = None  # of the predictions, in the sheet
    passages: bool = False
    repeats: bool = False  # a case may have several rows: its labels or its objects


def objects_part(sheet: Sheet, predictions: pa.Table, model: str) -> Part:
    """Return predictions as a part: a row for each row of the sheet with case_id and model; none: the model found
    nothing.
    """
    runs = pa.array(np.ones(len(sheet), np.int32))
    table = pa.table({"case_id": predictions["case_id"], "model": predictions["model"], "run": runs})
    if not len(sheet):
        table = found_nothing(model)
    return Part(sheet, table, predictions.drop_columns(["case_id", "model"]), np.arange(len(sheet)), repeats=True)


def found_nothing(model: str) -> pa.Table:
    """Return the row of a model without predictions."""
    return pa.table({"case_id": pa.nulls(1, pa.string()), "model": [model], "run": pa.array([1], pa.int32())})


def outputs_of(parts: list[Part], suite: Suite, problems: Problems) -> Loaded[Outputs]:
    """Return the outputs of all parts; answering a case twice is a problem, cases without an answer are only
    counted.
    """
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
            table = text_cases.gather_passages(part.sheet, table)[0]
        # a list of objects covers every image; masks only the images that have one
        tables.append(_every_case(table, suite) if suite.task in VISION and part.repeats else table)
    table = conform(_concat(tables), OUTPUTS)
    if any(part.repeats for part in parts):
        again, _ = sheet_cells.duplicates([table[name] for name in ("case_id", "model", "run")])
        table = only(table, ~again)
    if not len(table):
        raise problems.fail(parts[0].sheet.file if parts else "outputs", "no valid row", "at least one answer")
    predictions = None
    if scored_tables:
        joined = _concat(scored_tables)
        predictions = conform(joined.append_column("prediction_id", _numbered(joined)), PREDICTIONS)
    answered = len(table)
    if len(table["run"].unique()) > 1:
        answered -= int(sheet_cells.duplicates([table["case_id"], table["model"]])[0].sum())
    missing = len(suite) * len(table["model"].unique()) - answered
    return Loaded(Outputs(table, predictions, problems.left_out), problems.listed, missing=missing)


def answered_twice(parts: list[Part]) -> None:
    """Record as problems the rows that answer what another row, of any upload, has answered before."""
    plain = [part for part in parts if not part.repeats and not part.passages]
    for part in parts:
        if part.passages:
            text_cases.gather_passages(part.sheet, part.table)
    if not plain:
        return
    keys = _concat([part.table.select(["case_id", "model", "run"]) for part in plain])
    again, first = sheet_cells.duplicates([keys[name] for name in keys.column_names])
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
        part.sheet.report(
            mask, "case_id", partial(found, begin), "one answer per case, model and run (repeats: a column run)"
        )


def _every_case(table: pa.Table, suite: Suite) -> pa.Table:
    """Return a row for each case, model and run: a detector saw every image, also those in which it found nothing."""
    again, _ = sheet_cells.duplicates([table["model"], table["run"]])
    seen = table.select(["model", "run"]).filter(pa.array(~again)).to_pylist()
    ids = flat(suite.cases["case_id"])
    columns = {
        "case_id": pa.concat_arrays([ids] * len(seen)) if seen else pa.array([], pa.string()),
        "model": pa.array([entry["model"] for entry in seen for _ in range(len(ids))], pa.string()),
        "run": pa.array([entry["run"] for entry in seen for _ in range(len(ids))], pa.int32()),
    }
    return conform(pa.table(columns), OUTPUTS)


def _numbered(table: pa.Table) -> pa.Array:
    """Return 0, 1, 2, … within each model and run, in file order."""
    models, size = sheet_cells.codes_of(table["model"])
    runs, _ = sheet_cells.codes_of(table["run"])
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


def _columns(table: pa.Table) -> dict[str, pa.ChunkedArray]:
    return dict(zip(table.column_names, table.columns, strict=True))


def _concat(tables: list[pa.Table]) -> pa.Table:
    return cast(pa.Table, pa.concat_tables(tables, promote_options="default"))
