"""Cases of a suite added, changed and renamed: each gives a new suite, or InputError with every problem at once."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metrics.core.errors import InputError, InputProblem
from metrics.core.fields import FIELDS, Syntax
from metrics.core.label_keys import keys_of, labels_of, split_label
from metrics.core.suite import CASES, METADATA, Suite, rows_table
from metrics.text.agents.call_matching import CALLS_FORM as EXPECTED_CALLS, ExpectedCallsError, expected_calls
from metrics.text.conditions import ConditionError, parse_condition
from metrics.text.json_text import JsonError, violations

Row = Mapping[str, Any]  # column → value; a name that is no column of CASES is one of the metadata

MAX_TEXT = 1_000_000  # characters of a text
LONGEST_ID = 500


def add_cases(suite: Suite, rows: Iterable[Row]) -> Suite:
    """Return the suite with more cases after its own; an empty text or list is none.

    Raises InputError with every problem: an id that exists already, a variant of an unknown case, a condition, a JSON
    schema or expected calls that cannot be used, a missing class in classification, a value of the wrong type.
    """
    records = [clean(row) for row in rows]
    ids = [record.get("case_id") for record in records]
    problems = [problem for record in records for problem in _value_problems(suite, record)]
    taken = set(suite.cases["case_id"].to_pylist())
    for place, id in enumerate(ids):
        if id is not None and (id in taken or id in ids[:place]):
            problems.append(_problem(suite, id, "case_id", f"the id {id!r} again", "an id that no other case has"))
    if problems:
        raise InputError(problems)
    cases = pa.concat_tables([suite.cases, rows_table(records, CASES)], promote_options="default")
    return _checked(suite, cases, ids)


def change_cases(suite: Suite, rows: Iterable[Row]) -> Suite:
    """Return the suite with other values in some cases: a row has a `case_id` and columns to set, None for no value.

    Raises InputError with every problem, as `add_cases`; an id that the suite does not have is one too.
    """
    records = [clean(row) for row in rows]
    known = set(suite.cases["case_id"].to_pylist())
    often = Counter(record.get("case_id") for record in records)
    problems = [problem for record in records for problem in _value_problems(suite, record)]
    for id, count in often.items():
        if id is not None and id not in known:
            problems.append(_problem(suite, id, "case_id", "no such case", "the id of a case of the suite"))
        if count > 1:
            problems.append(_problem(suite, id, "case_id", f"{count} rows", "one row a case"))
    if problems:
        raise InputError(problems)
    cases, given = suite.cases, rows_table(records, CASES)
    for column in dict.fromkeys(name for record in records for name in _columns(record)):
        if column != "case_id":
            holders = [place for place, record in enumerate(records) if column in _columns(record)]
            new = given[column].combine_chunks().take(pa.array(holders))
            cases = _with_values(cases, column, [records[place]["case_id"] for place in holders], new)
    return _checked(suite, cases, [record["case_id"] for record in records])


def _with_values(cases: pa.Table, column: str, ids: Sequence[str], new: pa.Array) -> pa.Table:
    """Return the cases with new values of a column in the rows of these ids; metadata without any value is dropped."""
    row = pc.index_in(cases["case_id"].combine_chunks(), pa.array(ids, pa.string()))
    if column in cases.column_names:
        old = cases[column].combine_chunks()
    else:
        old = pa.nulls(len(cases), pa.string())
        cases = cases.append_column(column, old)
    places = np.where(row.is_valid(), len(old) + pc.fill_null(row, 0).to_numpy(), np.arange(len(old)))
    values = pa.concat_arrays([old, new]).take(pa.array(places))
    if column.startswith(METADATA) and values.null_count == len(values):
        return cases.drop_columns([column])
    return cases.set_column(cases.column_names.index(column), column, values)


def rename_cases(suite: Suite, names: Mapping[str, str]) -> Suite:
    """Return the suite with other ids, old → new; variants and annotations follow.

    Raises InputError with every problem: an unknown id, an empty one, one that another case has.
    """
    old = suite.cases["case_id"].to_pylist()
    new = {before: after.strip() for before, after in names.items()}
    problems = [
        _problem(suite, id, "case_id", "no such case", "the id of a case of the suite") for id in new.keys() - set(old)
    ]
    problems += [problem for id, to in new.items() for problem in _id_problems(suite, to, id)]
    often = Counter(new.get(id, id) for id in old)
    problems += [
        _problem(suite, id, "case_id", f"the id {to!r} again", "an id that no other case has")
        for id, to in new.items()
        if often[to] > 1
    ]
    if problems:
        raise InputError(problems)
    cases = suite.cases
    for column in ("case_id", "perturbs"):
        values = pa.array([new.get(value, value) for value in cases[column].to_pylist()], pa.string())
        cases = cases.set_column(cases.column_names.index(column), column, values)
    geometry = suite.annotations
    if geometry is not None:
        values = pa.array([new.get(value, value) for value in geometry["case_id"].to_pylist()], pa.string())
        geometry = geometry.set_column(geometry.column_names.index("case_id"), "case_id", values)
    return replace(suite, cases=cases, annotations=geometry)


def relabel_objects(suite: Suite, labels: Mapping[str, Mapping[int, str]]) -> Suite:
    """Return the suite with other labels of some objects in its images: case id → annotation id → label.

    Raises InputError with every problem: an unknown case or annotation, an empty label.
    """
    wanted = {(id, number): label.strip() for id, objects in labels.items() for number, label in objects.items()}
    geometry = suite.annotations
    own = (
        []
        if geometry is None
        else list(zip(geometry["case_id"].to_pylist(), geometry["annotation_id"].to_pylist(), strict=True))
    )
    unknown = wanted.keys() - set(own)
    problems = [_problem(suite, id, "label", f"no object {number}", "an object of the image") for id, number in unknown]
    problems += [
        _problem(suite, id, "label", f"no label of object {number}", "a label")
        for (id, number), label in wanted.items()
        if not label
    ]
    if problems or geometry is None:
        raise InputError(problems or [InputProblem(suite.name, "no objects", "a suite of images with objects")])
    old = geometry["label"].to_pylist()
    new = [wanted.get(key, label) for key, label in zip(own, old, strict=True)]
    names = set(new) - set(suite.labels) - {None}
    ordered = (*suite.labels, *sorted(names))
    numbers = suite.category_ids
    if numbers:
        numbers = (*numbers, *range(max(numbers) + 1, max(numbers) + 1 + len(names)))
    geometry = geometry.set_column(geometry.column_names.index("label"), "label", pa.array(new, pa.string()))
    return with_keys(replace(suite, annotations=geometry, labels=ordered, category_ids=numbers))


def clean(row: Row) -> dict[str, Any]:
    """Return the row with its id stripped, and None for blank texts and for lists without items."""
    record: dict[str, Any] = {}
    for column, value in row.items():
        if isinstance(value, str) and not value.strip():
            value = None
        elif isinstance(value, list | tuple):
            value = [item for item in value if not isinstance(item, str) or item.strip()] or None
        elif isinstance(value, float) and math.isnan(value):
            value = None
        record[column] = value.strip() if column == "case_id" and isinstance(value, str) else value
    return record


def free_id(taken: set[str], id: str, ending: str = "copy") -> str:
    """Return `id-copy`, or `id-copy-2` … where that is taken; the id returned is added to those taken."""
    found, number = f"{id}-{ending}", 1
    while found in taken:
        number += 1
        found = f"{id}-{ending}-{number}"
    taken.add(found)
    return found


def variant_problems(suite: Suite, cases: pa.Table) -> list[InputProblem]:
    """Return the variants among the cases without an original, or that are their own, directly or by way of others.

    Those that the suite has already do not count: an edit of another case need not correct them.
    """
    known = _wrong_variants(suite.cases)
    new = {pair: told for pair, told in _wrong_variants(cases).items() if pair not in known}
    return [_problem(suite, id, "perturbs", *told) for (id, _), told in new.items()]


def _wrong_variants(cases: pa.Table) -> dict[tuple[str, str], tuple[str, str]]:
    """Return wrong variants, (id, original) → what was found and expected."""
    originals = dict(zip(cases["case_id"].to_pylist(), cases["perturbs"].to_pylist(), strict=True))
    wrong = {}
    for id, original in originals.items():
        if original is None:
            continue
        if original not in originals:
            wrong[id, original] = (f"a variant of {original!r}", "the id of a case of the suite")
            continue
        passed, ancestor = {id}, original
        while ancestor is not None and ancestor not in passed:
            passed.add(ancestor)
            ancestor = originals.get(ancestor)
        if ancestor == id:
            wrong[id, original] = ("a variant of itself", "the id of another case")
    return wrong


def label_order(suite: Suite, cases: pa.Table) -> tuple[str, ...]:
    """Return the classes of the suite in its order, then new ones of the cases by name."""
    texts = [label for label in cases["label"].unique().to_pylist() if label is not None]
    given = {label for text in texts for label in labels_of(text)} if suite.label_keys else set(texts)
    given |= set(cases["labels"].combine_chunks().flatten().drop_null().to_pylist())
    return (*suite.labels, *sorted(given - set(suite.labels)))


def with_keys(suite: Suite) -> Suite:
    """Return an edited suite with the keys of its labels, if it had any; InputError listing new labels without one."""
    bare = [label for label in suite.labels if suite.label_keys and not split_label(label)[0]]
    if bare:
        expected = f"labels with keys, such as {suite.labels[0]}"
        raise InputError([InputProblem(suite.name, f"the label {label!r}", expected) for label in bare])
    return replace(suite, label_keys=keys_of(suite.labels)) if suite.label_keys else suite


def _checked(suite: Suite, cases: pa.Table, touched: Sequence[str | None]) -> Suite:
    problems = variant_problems(suite, cases)
    if suite.task == "classification":
        rows = cases.filter(pc.is_in(cases["case_id"], pa.array(list(touched), pa.string())))
        without = pc.and_(pc.is_null(rows["label"]), pc.is_null(rows["labels"]))
        unlabelled = rows.filter(without)["case_id"].to_pylist()
        problems += [_problem(suite, id, "label", "nothing", "the true class of the case") for id in unlabelled]
    if suite.task == "regression":
        rows = cases.filter(pc.is_in(cases["case_id"], pa.array(list(touched), pa.string())))
        lacking = rows.filter(pc.is_null(rows["true_value"]))["case_id"].to_pylist()
        problems += [_problem(suite, id, "true_value", "nothing", "the number to be predicted") for id in lacking]
    if problems:
        raise InputError(problems)
    labels = suite.labels if suite.annotations is not None else label_order(suite, cases)
    return with_keys(replace(suite, cases=cases, labels=labels))


def _columns(record: Row) -> list[str]:
    return [name if name in CASES.names or name.startswith(METADATA) else METADATA + name for name in record]


def _value_problems(suite: Suite, record: Row) -> list[InputProblem]:
    id = record.get("case_id")
    if not isinstance(id, str):
        return [_problem(suite, "new", "case_id", "nothing" if id is None else repr(id), "the id of the case")]
    problems = _id_problems(suite, id, id)
    for column, value in record.items():
        expected = None if value is None else _expected(suite, column, value)
        if expected is not None:
            problems.append(_problem(suite, id, column, *expected))
    return problems


def _id_problems(suite: Suite, id: str, case: str) -> list[InputProblem]:
    if id and len(id) <= LONGEST_ID and id.isprintable():
        return []
    expected = f"1 to {LONGEST_ID} printable characters"
    return [_problem(suite, case, "case_id", f"the id {id!r}" if id else "no id", expected)]


def _expected(suite: Suite, column: str, value: Any) -> tuple[str, str] | None:
    """Return what was found in a cell and what was expected; None where the value can be used."""
    field = FIELDS[column] if column in CASES.names else None
    kind = pa.string() if field is None else field.type
    if field is not None and field.role == "image" and not field.is_list:
        known = value in suite.cases[column].to_pylist()
        return None if known else (repr(value), "an image of the suite: others come with a file of cases")
    if pa.types.is_list(kind):
        numbers = pa.types.is_floating(kind.value_type)
        right = isinstance(value, list) and all(_is_number(one) if numbers else isinstance(one, str) for one in value)
        return None if right else (repr(value), "a list of numbers" if numbers else "a list of texts")
    if pa.types.is_integer(kind):
        right = _is_number(value) and value >= 0 and float(value).is_integer()
        return None if right else (repr(value), "a whole number from 0 up")
    if pa.types.is_floating(kind):
        least, words = -math.inf, "a finite number"
        if field is not None and field.low > least:
            least, words = field.low, f"a number from {field.low:g} up"
        return None if _is_number(value) and least <= value else (repr(value), words)
    if not isinstance(value, str):
        return repr(value), "a text"
    if len(value) > MAX_TEXT:
        return f"{len(value):,} characters", f"at most {MAX_TEXT:,}"
    return _syntax_problem(field.syntax, value) if field is not None else None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _syntax_problem(syntax: Syntax, text: str) -> tuple[str, str] | None:
    if syntax == "condition":
        try:
            parse_condition(text)
        except ConditionError as failure:
            problems = failure.problems
            return "; ".join(one.place for one in problems), "; ".join(dict.fromkeys(one.expected for one in problems))
    if syntax == "calls":
        try:
            expected_calls(text)
        except ExpectedCallsError as failure:
            return str(failure), EXPECTED_CALLS
    if syntax == "json_schema":
        try:
            violations(None, text)
        except JsonError as failure:
            return str(failure), "a JSON Schema"
    return None


def _problem(suite: Suite, id: str | None, column: str, found: str, expected: str) -> InputProblem:
    shown = id if id is None or id.isprintable() else repr(id)
    return InputProblem(f"{suite.name}, case {shown}", found, expected, column=column)
