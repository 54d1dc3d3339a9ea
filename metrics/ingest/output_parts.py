"""The outputs of several uploads: put together and checked against the suite and each other."""

from dataclasses import dataclass
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metrics.core.array_types import Ints
from metrics.core.suite import ASSUMED_SIZE, OUTPUTS, PREDICTIONS, Outputs, Suite, Task, conform, sizes_assumed
from metrics.ingest import arrays
from metrics.ingest.arrays import is_null, only
from metrics.ingest.sheet import Sheet
from metrics.ingest.source import Loaded, Problems
from metrics.ingest.tables import contexts, graded_ids, keyed_labels, text_cases
from metrics.ingest.tables.contexts import ANSWER_KEY

UNNAMED = "?"  # the model of rows that should name it and do not
VISION: tuple[Task, ...] = ("detection", "segmentation")


@dataclass
class Part:
    """The outputs in one upload, before they are put together; `table` has a row for each row of the sheet."""

    sheet: Sheet
    table: pa.Table
    predictions: pa.Table | None = None
    rows: Ints | None = None  # of the predictions, in the sheet
    passages: bool = False
    repeats: bool = False  # a case may have several rows: its labels or its objects


def need_sizes(sheet: Sheet, ids: pa.Array, sides: pa.Array, cases: pa.Table) -> None:
    """Raise InputError for boxes in pixels, by one of their sides, of images whose size the suite only assumes."""
    if sizes_assumed(cases):
        assumed = pc.is_in(ids, value_set=arrays.flat(cases.filter(pc.equal(cases[ASSUMED_SIZE], "yes"))["case_id"]))
        if (pc.max(pc.if_else(assumed, sides, 0)).as_py() or 0) > 1:
            found = "boxes in pixels, of images whose size the suite does not know"
            raise sheet.problems.fail(sheet.file, found, "the suite's images, or boxes of 0–1")


def objects_part(sheet: Sheet, predictions: pa.Table, model: str) -> Part:
    """Return predictions, with their case_id and model, as a part; without any, the model found nothing."""
    runs = pa.array(np.ones(len(sheet), np.int32))
    table = predictions.select(["case_id", "model"]).append_column("run", runs)
    if not len(sheet):
        table = found_nothing(model)
    return Part(sheet, table, predictions.drop_columns(["case_id", "model"]), np.arange(len(sheet)), repeats=True)


def found_nothing(model: str) -> pa.Table:
    """Return the row of a model without predictions."""
    return pa.table({"case_id": pa.nulls(1, pa.string()), "model": [model], "run": pa.array([1], pa.int32())})


def outputs_of(parts: list[Part], suite: Suite, problems: Problems, once: bool = False) -> Loaded[Outputs]:
    """Return the outputs of all parts; a second answer to a case is a problem, unanswered cases are only counted.

    `once`: second answers have been looked for already.
    """
    if not once:
        answered_twice(parts)
    for part in parts:
        if suite.label_keys and part.predictions is not None and part.rows is not None:
            keyed_labels.check_predictions(part.sheet, part.predictions["label"], part.rows, suite)
        if part.passages or (part.repeats and suite.task == "classification"):
            _spoil_answers(part)
        part.sheet.leave_out()
        if problems.keep_good_rows:
            _need_good_rows(part)
    problems.check()
    if not parts:
        raise problems.fail("outputs", "no model", "the answers of at least one")
    tables, scored_tables = [], []
    for part in parts:
        good = ~part.sheet.bad if len(part.sheet) else np.ones(len(part.table), bool)
        if part.predictions is not None and part.rows is not None:
            keys = part.table.select(ANSWER_KEY).take(pa.array(part.rows))
            names = [*keys.column_names, *part.predictions.column_names]
            joined = pa.table([*keys.columns, *part.predictions.columns], names)
            scored_tables.append(only(joined, good[part.rows]))
        table = only(part.table, good)
        if part.passages:
            table = contexts.gather_passages(table)
        if suite.task in contexts.SERVED_TASKS:
            table = graded_ids.meet_references(part.sheet, table, suite)
        # a list of objects covers every image; masks only the images that have one
        tables.append(_every_case(table, suite) if suite.task in VISION and part.repeats else table)
    table = conform(pa.concat_tables(tables, promote_options="default"), OUTPUTS)
    if any(part.repeats for part in parts):
        again, _ = arrays.duplicates([table[name] for name in ANSWER_KEY])
        table = only(table, ~again)
    if not len(table):
        raise problems.fail(parts[0].sheet.file, "no valid row", "at least one answer")
    predictions = None
    if scored_tables:
        joined = pa.concat_tables(scored_tables, promote_options="default")
        numbers = arrays.occurrences([joined["model"], joined["run"]]) - 1  # within each, in file order
        predictions = conform(joined.append_column("prediction_id", pa.array(numbers)), PREDICTIONS)
    answered = len(table)
    if len(table["run"].unique()) > 1:
        answered -= int(arrays.duplicates([table["case_id"], table["model"]])[0].sum())
    missing = len(suite) * len(table["model"].unique()) - answered
    return Loaded(Outputs(table, predictions, problems.left_out), problems.listed, missing=missing)


def _spoil_answers(part: Part) -> None:
    """Mark as bad all rows of an answer that has a bad one: without a class, or a passage, it is another answer."""
    sheet = part.sheet
    _, first = arrays.duplicates([part.table[name] for name in ANSWER_KEY])
    more = np.isin(first, first[sheet.bad]) & ~sheet.bad
    if more.any():
        row = int(sheet.rows[np.flatnonzero(more)[0]])
        why = "an invalid row of the same answer was skipped"
        sheet.problems.note(sheet.file, "rows", "unused", why, int(more.sum()), f"row {row}")
        sheet.bad |= more


def _need_good_rows(part: Part) -> None:
    """Record as fatal that no row of a file, or of a model in it, is good: it would disappear."""
    sheet = part.sheet
    if not len(sheet):
        return
    names = part.table["model"].to_pylist()
    kept = {name for name, bad in zip(names, sheet.bad.tolist(), strict=True) if not bad}
    for name in sorted(set(names) - kept - {None, UNNAMED}):
        found = f"no valid row of the model {name!r}, of {names.count(name):,}"
        expected = "at least one: correct the file, or leave the model out of it"
        sheet.problems.add(sheet.file, found, expected, fatal=True)


def answered_twice(parts: list[Part]) -> None:
    """Record as problems the rows that answer what another row, of any upload, has answered before."""
    plain = [part for part in parts if not part.repeats]
    if not plain:
        return
    keys = pa.concat_tables([part.table.select(ANSWER_KEY) for part in plain], promote_options="default")
    again, first = arrays.duplicates(keys.columns)
    missing = np.logical_or.reduce([is_null(keys[name]) for name in ANSWER_KEY])
    starts = np.cumsum([0, *(len(part.sheet) for part in plain)])

    def place(index: int, here: str = "") -> str:
        part = int(np.searchsorted(starts, index, "right")) - 1
        row = index - starts[part]
        file, number = plain[part].sheet.file_of(row), f"row {plain[part].sheet.rows[row]}"
        return number if file == here else f"{file}, {number}"

    def describe_repeat(begin: int, file: str, row: int) -> str:
        case, model = (keys[name][begin + row].as_py() for name in ("case_id", "model"))
        return f"case {case!r} of model {model!r} again, first in {place(first[begin + row], file)}"

    for number, part in enumerate(plain):
        begin, end = int(starts[number]), int(starts[number + 1])
        mask = again[begin:end] & ~missing[begin:end] & ~part.sheet.bad
        if part.passages:  # their answer has a row for each passage
            mask &= first[begin:end] < begin
        own = first[begin:end] - begin
        # a row that is the same again says nothing else
        if len(own) and (own >= 0).all() and not text_cases.repeated(own):
            mask = part.sheet.leave_out_copies(mask, own)
        expected = "one answer per case, model and run (repeats: a column run)"
        if len(mask) > 1 and mask.all() and (own < 0).all():
            whole = f"all its {len(mask):,} answers again, the first of them in {place(first[begin])}"
        elif mask.any() and not part.sheet.bad.any() and (own >= 0).all() and (times := text_cases.repeated(own)):
            case, model = (keys[name][begin].as_py() for name in ("case_id", "model"))
            rows = ", ".join(map(str, part.sheet.rows[own == 0][:3].tolist()))
            whole = f"every case in {times} of one model, such as {case!r} of {model!r} in rows {rows}"
            expected = "one answer per case, model and run (several models: a column model; repeats: a column run)"
        else:
            part.sheet.report(mask, "case_id", partial(describe_repeat, begin, part.sheet.file), expected)
            continue
        part.sheet.bad |= mask
        part.sheet.problems.add(part.sheet.file, whole, expected, column="case_id")


def _every_case(table: pa.Table, suite: Suite) -> pa.Table:
    """Return a row for each case, model and run: a detector saw every image, also those in which it found nothing."""
    again, _ = arrays.duplicates([table["model"], table["run"]])
    seen = np.flatnonzero(~again)
    every = table.select(["model", "run"]).take(pa.array(np.repeat(seen, len(suite))))
    cases = pa.array(np.tile(np.arange(len(suite)), len(seen)))
    return conform(every.append_column("case_id", suite.cases["case_id"].take(cases)), OUTPUTS)
