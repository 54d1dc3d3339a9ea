"""Cases and outputs of text, classification and agent tasks, from validated sheets."""

import re
import string
from collections.abc import Collection, Sequence

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from metrics.core.array_types import Bools, Ints
from metrics.core.fields import CASE_FIELDS, OUTPUT_FIELDS, SCORE, STRINGS, Task
from metrics.core.suite import METADATA
from metrics.ingest import arrays
from metrics.ingest.arrays import as_mask, flat, is_null
from metrics.ingest.sheet import Sheet
from metrics.ingest.tables import contexts, graded_ids
from metrics.ingest.tables.columns import CONTAINERS, NUMBER_ALIASES, SUITE_ALIASES, USEFUL, Columns, fold
from metrics.ingest.tables.id_matches import only_columns, suggestion
from metrics.ingest.tables.lists import ListForm, understand
from metrics.text.agents.call_matching import CALLS_FORM, ExpectedCallsError, calls_json, expected_calls

CHOICES, CORRECT, LOGPROBS = "choices", "correct_choice", "choice_logprobs"
CHOICE_NAMES = "choices.label"  # what ARC calls its choices, which its correct one is given by: A, B, … or 1, 2, …
PREDICTED = tuple(each.name for each in OUTPUT_FIELDS if each.tasks == ("regression",))
# columns that are read with others, or whose cells need more than their type
CASES_READ_APART = {
    "case_id", "true_value", "expected_calls", graded_ids.IDS, graded_ids.GRADES, CHOICES,
    CORRECT, *(each.name for each in CASE_FIELDS if each.role == "image"),
}  # fmt: skip
OUTPUTS_READ_APART = {"case_id", "model", "run", "error", LOGPROBS, *contexts.LISTED}
PROMPTFOO = ("__", "named_scores", "prompt_idx", "test_idx", "vars.")
NO_ERROR = ("", "none", "null", "nan", "no", "false", "0")  # what a column of errors says where there is none
HUMAN_EVAL = ({"task_id", "completion"}, {"task_id", "solution"})  # what it and EvalPlus call case and answer
TELLING = [each.name for each in CASE_FIELDS if each.role in ("ask", "expect", "help") and each.name != "question"]
OF_ITS_OWN = "a case of its own, as something else is expected or other contexts are given"
REASONING = "reasoning"  # metadata of an answer, even where each case has only one
ANSWERED = tuple(each.name for each in OUTPUT_FIELDS if each.role == "answer" and each.name not in PREDICTED)
SUMS = r"(?:(?:grand|sub)?[ -]?totals?|sums?|averages?|avg\.?|means?|median|count|overall)"
TOTAL = re.compile(rf"\s*{SUMS}(?:\s(?:rows|cases|questions|scores?))?\s*(?:[:=(].{{0,40}})?", re.IGNORECASE)
BESIDE = ("model", "run", "tags", "weight", "group", "duration_s", "cost_usd", "tokens", "score")  # of no case's own
CRITERIA = "criteria"
FACTS = "expected_facts"  # MLflow's: not what an answer is to be, but what it is to say
CRITERIA_NAMES = (CRITERIA, FACTS, *SUITE_ALIASES[CRITERIA])


def gather_criteria(sheet: Sheet) -> None:
    """Write the criteria of a sheet in one column where several have them or they are facts to be stated."""
    known = {*CRITERIA_NAMES, *(prefix + name for prefix in CONTAINERS for name in CRITERIA_NAMES)}
    held = [name for name in sheet.table.column_names if fold(name) in known]
    if len(held) < 2 and not any(fold(name).endswith(FACTS) for name in held):
        return
    leads = {name: "States: " if fold(name).endswith(FACTS) else "" for name in held}
    listed = [[_items(value, lead) for value in sheet.table[name].to_pylist()] for name, lead in leads.items()]
    for name, own in zip(held, listed, strict=True):
        sheet.problems.note(sheet.file, name, "used", CRITERIA, sum(map(bool, own)))
    sheet.table = sheet.table.drop_columns(held)
    joined = [[item for own in row for item in own] for row in zip(*listed, strict=True)]
    sheet.put(CRITERIA, [orjson.dumps(items).decode() if items else None for items in joined])


def _items(value: str | list[str | None] | None, lead: str) -> list[str]:
    items = (understand(value, ListForm())[1] or [value]) if isinstance(value, str) else value
    return [lead + text for text in items or [] if text and text.strip()]


def join_instructions(sheet: Sheet, taken: Collection[str]) -> None:
    """Put an input below its instruction, in Alpaca's form, where that input is not `taken`: together they ask."""
    named = {fold(name): name for name in sheet.table.column_names}
    if {"instruction", "input", "output"} <= named.keys() and "question" not in named and named["input"] not in taken:
        pairs = zip(*(sheet.text(named[name]).to_pylist() for name in ("instruction", "input")), strict=True)
        sheet.note_column(named["input"], "used", "question, below the instruction")
        sheet.put(named["instruction"], ["\n\n".join(filter(None, pair)) or None for pair in pairs])
        sheet.table = sheet.table.drop_columns([named["input"]])


def leave_out_summaries(sheet: Sheet, columns: Columns, task: Task | None) -> None:
    """Leave out rows at the end that sum the others up (Total, Average), and rows that say nothing of a case."""
    if task not in ("text", "agent", None) or {"label", "labels", "true_value"} & columns.columns.keys():
        return
    telling = [name for canonical, name in columns.columns.items() if canonical not in BESIDE]
    names = [member for name in telling for member in columns.numbered.get(name, (name,))]
    filled = sum((~is_null(sheet.table[name]) for name in names), np.zeros(len(sheet), int))
    kept = filled > 0
    if not kept.any():
        return
    if not kept.all():
        sheet.problems.note(sheet.file, "rows", "unused", "no column says anything of a case", int((~kept).sum()))
    for row in range(len(sheet) - 1, 0, -1):
        cells = [cell for cell in sheet.table.slice(row, 1).to_pylist()[0].values() if isinstance(cell, str)]
        sums = [cell for cell in cells if TOTAL.fullmatch(cell)]
        if filled[row] != 1 or filled.max() < 2 or not sums:
            break
        kept[row] = False
        sheet.problems.note(sheet.file, "rows at the end", "unused", "they sum the others up", 1, sums[0])
    if not kept.all():
        sheet.take(np.flatnonzero(kept))


def cases(sheet: Sheet, columns: Columns, task: Task, answered: bool = False) -> pa.Table:
    """Return a row of CASES for each row of the sheet; invalid rows are problems.

    A suite has to say what is asked or expected; where the file has the answers too (`answered`), they may be all.
    """
    found = columns.columns
    if not answered and USEFUL.isdisjoint(found):
        names = sheet.table.column_names
        useful = {name: aliases for name, aliases in SUITE_ALIASES.items() if name in USEFUL}
        near = suggestion(names, useful)
        expected = "one of the columns " + ", ".join(useful)
        raise sheet.problems.fail(sheet.file, only_columns(names), expected + near, 1)
    values: dict[str, pa.ChunkedArray | pa.Array] = {"case_id": case_ids(sheet, columns)}
    for field in CASE_FIELDS:
        if field.name in found and field.name not in CASES_READ_APART:
            values[field.name] = sheet.read_field(columns, field)
    values |= graded_ids.columns_of(sheet, columns)
    values |= _choices(sheet, columns)
    if "expected_calls" in found:
        values["expected_calls"] = _expected_calls(sheet, found["expected_calls"])
    if task == "classification" and "labels" in found:  # an empty cell: none of the classes
        values["labels"] = pc.coalesce(values["labels"], pa.scalar([], STRINGS))
    if "true_value" in found:
        numbers = sheet.numbers(found["true_value"], need=task == "regression")
        values["true_value"] = arrays.floats(numbers)
    if task == "classification" and found.keys().isdisjoint(("label", "labels")):
        choices = ", ".join(("label", *SUITE_ALIASES["label"]))
        raise sheet.problems.fail(sheet.file, "no column with the true class", f"a column {choices}", 1)
    if task == "classification" and "label" in found:
        sheet.required(found["label"], "the true class of the case")
    if task == "regression" and "true_value" not in found:
        choices = ", ".join(("true_value", *NUMBER_ALIASES["true_value"]))
        raise sheet.problems.fail(sheet.file, "no column with the true value", f"a column {choices}", 1)
    _refuse_code(sheet, columns)
    served = {} if answered or task not in contexts.SERVED_TASKS else contexts.serving_column(sheet, columns)
    return pa.table(values | sheet.metadata(columns) | served)


def _choices(sheet: Sheet, columns: Columns) -> dict[str, pa.ChunkedArray | pa.Array]:
    """Return the choices as lists, and the place of the correct one, from 0."""
    # The correct choice is given by its place, its letter, or its text; where a column names the choices, by its name.
    found = columns.columns
    if CHOICES not in found:
        return {}
    read = sheet.lists(columns, CHOICES)
    if CORRECT not in found:
        return {CHOICES: read}
    given = sheet.text(found[CORRECT]).to_pylist()
    named = next((name for name in sheet.table.column_names if fold(name) == CHOICE_NAMES), None)
    if named is None:
        places = [_place_of_choice(*one) for one in zip(given, read.to_pylist(), strict=True)]
        expected = "the place of a choice from 0, its letter, or its text"
    else:
        names = sheet.lists(Columns({CHOICE_NAMES: named}), CHOICE_NAMES).to_pylist()
        places = [_place_of_name(*one) for one in zip(given, names, read.to_pylist(), strict=True)]
        expected = f"one of the names in {named}, one for each choice"
    wrong = [text is not None and place is None for text, place in zip(given, places, strict=True)]
    sheet.report_values(wrong, found[CORRECT], given, expected)
    return {CHOICES: read, CORRECT: pa.array(places, pa.int32())}


def _place_of_name(text: str | None, names: Sequence[str] | None, choices: Sequence[str] | None) -> int | None:
    if text is None or names is None or len(names) != len(choices or ()) or text not in names:
        return None
    return names.index(text)


def _place_of_choice(text: str | None, choices: Sequence[str] | None) -> int | None:
    if text is None or choices is None:
        return None
    plain = text.strip()
    if plain.removesuffix(".0").isdecimal() and int(float(plain)) < len(choices):
        return int(float(plain))
    if plain in choices:
        return choices.index(plain)
    letter = string.ascii_uppercase.find(plain.upper()) if len(plain) == 1 else -1
    return letter if 0 <= letter < len(choices) else None


def _expected_calls(sheet: Sheet, name: str) -> pa.Array:
    """Return a column of expected calls in their stored form; cells that are none are problems."""
    column = sheet.text(name)
    stored: list[str | None] = []
    wrong: dict[int, str] = {}
    for row, (text, blank) in enumerate(zip(column.to_pylist(), arrays.is_blank(column).tolist(), strict=True)):
        try:
            stored.append(None if blank else calls_json(expected_calls(text)))
        except ExpectedCallsError as failure:
            wrong[row] = str(failure)
            stored.append(None)
    sheet.blame_rows(wrong, name, CALLS_FORM)
    return pa.array(stored, pa.string())


def case_ids(sheet: Sheet, columns: Columns) -> pa.ChunkedArray | pa.Array:
    """Return the case ids; where the file has none, rows are numbered, or questions where it also holds answers."""
    found = columns.columns
    if "case_id" in found:
        return sheet.required(found["case_id"], "a case id")
    numbers = np.arange(1, len(sheet) + 1)
    if "question" in found and not found.keys().isdisjoint((*ANSWERED, "model", "run")):
        numbers = _number_questions(sheet, columns)
    return pa.array(numbers).cast(pa.string())


def _number_questions(sheet: Sheet, columns: Columns) -> Ints:
    """Return the number of the case of each row, by its question; a row without one is a case by itself."""
    # A question that a model answers again is another case where something else is expected, or where other contexts
    # are given, to all of its models. With a cell that is empty the rows of a question stay one case.
    found = columns.columns
    keys = [sheet.text(found["question"])]
    who = [sheet.text(found[name]) for name in ("model", "run") if name in found]
    listed = () if contexts.passage_rows(columns) else contexts.LISTED
    for name in [each for each in (*TELLING, *listed) if each in found]:
        again, _ = arrays.duplicates([*keys, *who])
        if not again.any():
            break
        members = columns.numbered.get(found[name], (found[name],))
        told = pc.binary_join_element_wise(*(pc.fill_null(sheet.text(each, False), "") for each in members), "\n")
        _, first = arrays.duplicates(keys)
        splits = np.isin(first, first[again]) & ~np.isin(first, first[arrays.is_blank(told)])
        if name in listed and who:  # what one model retrieved is no other's case
            kinds, models, both = (
                np.bincount(first[~arrays.duplicates([*keys, *each])[0]], minlength=len(first))[first]
                for each in ([told], who[:1], [told, *who[:1]])
            )
            splits &= kinds * models == both
        keys.append(pc.if_else(pa.array(splits), told, ""))
    rows, (asked_again, _), (again, first) = np.arange(len(sheet)), arrays.duplicates(keys[:1]), arrays.duplicates(keys)
    unasked = arrays.is_blank(keys[0])
    if count := int((asked_again & ~again & ~unasked).sum()):
        sheet.problems.note(sheet.file, "a question asked again", "used", OF_ITS_OWN, count)
    first = np.where(unasked, rows, first)
    return np.asarray(np.cumsum(first == rows)[first])


def unique_cases(sheet: Sheet, table: pa.Table) -> None:
    """Record as problems case ids that occurred in an earlier row, and variants of unknown cases."""
    again, first = arrays.duplicates([table["case_id"]])
    again &= ~is_null(table["case_id"])
    ids = flat(table["case_id"])
    expected = "every case once (several models' answers: a file of outputs, or one combined file)"
    if not is_null(ids).any() and (times := repeated(first)):
        rows = sheet.rows[first == 0][:3].tolist()
        which = f"each of its {len(ids) - int(again.sum()):,} case ids" if not (first == 0).all() else "one case id"
        found = f"{which} in {times}, such as {ids[0].as_py()!r} in rows {', '.join(map(str, rows))}"
        sheet.bad |= again
        sheet.problems.add(sheet.file, found, expected, column="case_id")
    else:
        again = sheet.leave_out_copies(again, first)
        sheet.report(
            again, "case_id", lambda row: f"{ids[row].as_py()!r} again, first in row {sheet.rows[first[row]]}", expected
        )
    known_cases(sheet, table)


def repeated(first: Ints) -> str:
    """Return in how many rows every key is, in words, where each is in several; "" where one is not.

    A key that is in two rows of two is no pattern yet.
    """
    counts = np.bincount(first)
    counts = counts[counts > 0]
    if counts.min() < 2 or len(first) < 4:
        return ""
    least, most = int(counts.min()), int(counts.max())
    return f"{least:,} rows" if least == most else f"{least:,} to {most:,} rows"


def known_cases(sheet: Sheet, table: pa.Table) -> None:
    """Record as problems the variants of unknown cases."""
    if "perturbs" in table.column_names:
        origin = table["perturbs"]
        unknown = ~is_null(origin) & ~as_mask(pc.is_in(origin, flat(table["case_id"])))
        sheet.report(unknown, "perturbs", origin, "the case_id of a case in this file")


def outputs(
    sheet: Sheet, columns: Columns, model: str, renamed: str | None, ids: pa.ChunkedArray | pa.Array | None = None
) -> pa.Table:
    """Return a row of OUTPUTS for each row of the sheet; invalid rows are problems.

    `ids`: the case ids, where they were read before and what is wrong with them is a problem already.
    """
    found = columns.columns
    if ids is None and "case_id" not in found and "question" not in found:
        expected = "a column " + ", ".join(("case_id", *SUITE_ALIASES["case_id"]))
        names = sheet.table.column_names
        near = suggestion(names, {"case_id": SUITE_ALIASES["case_id"]})
        raise sheet.problems.fail(sheet.file, f"no column with the case ids, {only_columns(names)}", expected + near, 1)
    values: dict[str, pa.ChunkedArray | pa.Array] = {
        "case_id": case_ids(sheet, columns) if ids is None else ids,
        "model": models(sheet, columns, model, renamed),
        "run": runs(sheet, columns),
    }
    for field in OUTPUT_FIELDS:
        if field.name in found and field.name not in OUTPUTS_READ_APART:
            values[field.name] = sheet.read_field(columns, field)
    values |= contexts.context_columns(sheet, columns)
    if LOGPROBS in found:
        values[LOGPROBS] = sheet.number_lists(columns, LOGPROBS, True)
    if "error" in found:
        errors = sheet.text(found["error"])
        none = pc.is_in(pc.utf8_lower(pc.utf8_trim_whitespace(errors)), pa.array(NO_ERROR))
        values["error"] = pc.if_else(none, pa.scalar(None, errors.type), errors)
    return pa.table(values | sheet.metadata(columns))


def models(sheet: Sheet, columns: Columns, model: str, renamed: str | None) -> pa.ChunkedArray | pa.Array:
    """Return the model of each row: the column's, else `model`; `renamed` is the user's name for its only model."""
    name = columns.columns.get("model")
    if name is None:
        return pa.repeat(renamed or model, len(sheet))
    column = sheet.required(name, "the name of the model")
    if renamed is None:
        return column
    if len(set(column.unique().to_pylist())) > 1:
        what = f"the model name {renamed!r} for a file with several models"
        sheet.problems.add(sheet.file, what, "one model in it", column=name, fatal=True)
    return pa.repeat(renamed, len(sheet))


def runs(sheet: Sheet, columns: Columns) -> pa.Array:
    """Return the repeat of each row, 1 where the file does not say; HumanEval's completions of a task are counted."""
    found = columns.columns
    name = found.get("run")
    if name is None and {fold(found.get("case_id", "")), fold(found.get("answer", ""))} in HUMAN_EVAL:
        keys = [sheet.text(found[key]) for key in ("case_id", "model") if key in found]
        return pa.array(arrays.occurrences(keys), pa.int32())
    if name is None:
        return pa.array(np.ones(len(sheet), np.int32))
    numbers = sheet.numbers(name, low=1, high=2**31 - 1, whole=True)
    return arrays.integers(numbers, pa.int32(), absent=1)


def split_combined(sheet: Sheet, suite_part: pa.Table, outputs_part: pa.Table) -> tuple[pa.Table, pa.Table, Bools]:
    """Return each case once, the outputs, and where a case begins, from a file that holds both in every row.

    Suite values that differ between the rows of one case are problems; a metadata column belongs to the cases where it
    is the same in all rows of every case, else to the outputs, to which scores belong.
    """
    _, first = arrays.duplicates([suite_part["case_id"]])
    first = np.where(is_null(suite_part["case_id"]), np.arange(len(sheet)), first)  # rows without an id are no one case
    dropped = []
    wrong: dict[str, Bools] = {}
    for name in suite_part.column_names:
        differs = arrays.differs(suite_part[name], first)
        if name.startswith(METADATA):
            dropped += [name] if differs.any() or name.startswith((METADATA + REASONING, METADATA + SCORE)) else []
        elif differs.any():
            wrong[name] = differs
    if wrong:  # one cause, however many columns it shows in
        ids, columns = suite_part["case_id"].to_pylist(), " and ".join(wrong)
        alone = len(wrong) == 1
        sheet.report(
            np.logical_or.reduce([*wrong.values()]), columns if alone else "case_id",
            suite_part[columns] if alone else lambda row: f"{ids[row]!r} again, first in row {sheet.rows[first[row]]}",
            f"the same {columns} in all rows of one case, or ids that tell cases apart",
        )  # fmt: skip
    kept = [name for name in suite_part.column_names if name.startswith(METADATA) and name not in dropped]
    return suite_part.drop_columns(dropped), outputs_part.drop_columns(kept), first == np.arange(len(sheet))


def _refuse_code(sheet: Sheet, columns: Columns) -> None:
    names = [columns.columns[name] for name in ("expected_answers", "conditions") if name in columns.columns]
    if any(fold(name).startswith(PROMPTFOO) or name.startswith("__") for name in sheet.table.column_names):
        names = sheet.table.column_names
    sheet.refuse_code([name for name in names if name in sheet.table.column_names])
