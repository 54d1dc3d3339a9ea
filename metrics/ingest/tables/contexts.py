"""Retrieved contexts and their ids: lists in a cell, or one passage a row as Open RAG Eval writes them.

In a file with one passage a row, everything but the passages may stand in the first row of a case, model and run only.
"""

import json
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metrics.core.array_types import Bools, Ints
from metrics.core.fields import CASE_FIELDS, SERVING
from metrics.core.suite import METADATA, STRINGS, Suite, Task
from metrics.ingest import arrays
from metrics.ingest.arrays import as_mask, flat, is_null, only, with_items
from metrics.ingest.sheet import Sheet
from metrics.ingest.tables.columns import Columns, fold
from metrics.ingest.tables.lists import code_values, split_column

ANSWER_KEY = ("case_id", "model", "run")  # what an answer is to
GOLD = frozenset(each.name for each in CASE_FIELDS if each.name.startswith("reference_"))  # of retrieval
AGAIN = "an id that was retrieved again counts at its first rank"
LISTED = ("retrieved_contexts", "context_ids")
SERVED_TASKS: tuple[Task, ...] = ("text", "agent")
NO_ANSWER, API_ERROR = "NO_ANSWER", "API_ERROR"  # what Open RAG Eval's connectors write in place of an answer
PLACEHOLDERS = {NO_ANSWER: "NA", API_ERROR: "ERROR"}  # … and in place of a passage's id


def passage_rows(columns: Columns) -> bool:
    """Return whether the file has one row per passage (Open RAG Eval) instead of a list of them."""
    return fold(columns.columns.get("retrieved_contexts", "")) == "passage"


def context_columns(sheet: Sheet, columns: Columns) -> dict[str, pa.ChunkedArray]:
    """Return the contexts and their ids as lists; ids lose their brackets: [1] → 1. Ids that do not fit are problems.

    With one passage a row a list has at most one item, and a passage is never taken for a list.
    """
    found = columns.columns
    if passage_rows(columns):
        return _passages(sheet, found["retrieved_contexts"], found.get("context_ids"))
    values = {name: sheet.lists(columns, name) for name in LISTED if name in found}
    if "context_ids" in found:
        ids = values["context_ids"] = _unbracketed(values["context_ids"])
        _check_ids(sheet, found["context_ids"], ids, values.get("retrieved_contexts"))
    if len(values) == len(LISTED):  # where one says that nothing was retrieved, so does the other
        texts, ids = (values[name] for name in LISTED)
        values = dict(zip(LISTED, (_with_empty(texts, ids), _with_empty(ids, texts)), strict=True))
    return values


def serving_column(sheet: Sheet, columns: Columns) -> dict[str, pa.Array]:
    """Return the column of a suite with what was retrieved for all models, as metadata: JSON lists of texts.

    Cells that are no list are left as they are.
    """
    name = next((name for name in columns.unmapped if fold(name) in SERVING and name not in columns.numbered), None)
    if name is None:
        return {}
    sheet.note_column(name, "used", "retrieved_contexts of every model whose file has none")
    lists, _ = split_column(sheet.table[name], sheet.list_form("retrieved_contexts", name))
    cells = zip(lists.to_pylist(), sheet.text(name).to_pylist(), strict=True)
    texts = [text if items is None else json.dumps(items, ensure_ascii=False) for items, text in cells]
    return {METADATA + name: pa.array(texts, pa.string())}


def add_served(sheet: Sheet, columns: Columns, table: pa.Table, suite: Suite) -> pa.Table:
    """Return outputs that bring neither contexts nor their ids with those that stand in the suite."""
    name = next((name for name in suite.cases.column_names if fold(name.removeprefix(METADATA)) in SERVING), None)
    if name is None or suite.task not in SERVED_TASKS or not columns.columns.keys().isdisjoint(LISTED):
        return table
    cells = (text if text and text.startswith("[") else "" for text in suite.cases[name].to_pylist())
    lists = pa.array([code_values(text)[1] for text in cells], STRINGS)
    served = lists.take(pc.index_in(flat(table["case_id"]), flat(suite.cases["case_id"])))
    if count := len(served) - served.null_count:
        why = f"{name} of the suite, as the file has none"
        sheet.problems.note(sheet.file, "retrieved_contexts", "used", why, count)
    return table.append_column("retrieved_contexts", served)


def _with_empty(lists: pa.ChunkedArray, others: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return the lists, with an empty one where there is none and the other is empty."""
    nothing = pc.and_(pc.is_null(lists), pc.fill_null(pc.equal(pc.list_value_length(others), 0), False))
    return pc.if_else(nothing, pa.scalar([], lists.type), lists)


def spread(sheet: Sheet, table: pa.Table, keys: Sequence[str]) -> pa.Table:
    """Return the table with each column's first value in all rows of the same keys; another one is a problem.

    The row of such a value is not left out: its passage is good.
    """
    _, first = arrays.duplicates([table[name] for name in keys])
    for place, name in enumerate(table.column_names):
        if name in LISTED or name in keys or name.startswith(METADATA):
            continue
        column = flat(table[name])
        source = _first_filled(column, first)
        values = column.take(pa.array(source))
        given = ~_blank(column)

        def found(row: int, values: pa.Array = values, column: pa.Array = column, source: Ints = source) -> str:
            return f"{column[row].as_py()!r}, but {values[row].as_py()!r} in row {sheet.rows[source[row]]}"

        expected = f"one {name} for each {' · '.join(key.removesuffix('_id') for key in keys)}"
        sheet.report(given & arrays.differs(column, source), name, found, expected, left_out=False)
        table = table.set_column(place, name, values)
    return table


def check_passages(sheet: Sheet, table: pa.Table) -> None:
    """Record as problems passages without an id in a file with ids, and ids that occur twice for one answer."""
    if "context_ids" not in table.column_names:
        return
    ids = pc.list_element(table["context_ids"], 0)
    nameless = as_mask(pc.equal(ids, ""))
    sheet.report(nameless, "context_ids", "nothing", "the id of the passage, as in the other rows")
    again, first = arrays.duplicates([*(table[name] for name in ANSWER_KEY), ids])
    again &= as_mask(pc.not_equal(ids, "")) & ~sheet.bad
    sheet.report(
        again, "context_ids", lambda row: f"{ids[row].as_py()!r} again, first in row {sheet.rows[first[row]]}",
        "each passage id once for each case · model · run",
    )  # fmt: skip


def gather_passages(table: pa.Table) -> pa.Table:
    """Return one row for each case, model and run with all its passages, and their ids, in the order given.

    The words that Open RAG Eval writes in place of an answer are none: NO_ANSWER leaves an empty answer, API_ERROR the
    error that stands where the passage would.
    """
    _, first = arrays.duplicates([table[name] for name in ANSWER_KEY])
    order = np.argsort(first, kind="stable")
    heads = first == np.arange(len(table))
    grouped = only(table, heads)
    for name in LISTED:
        if name in table.column_names:
            items = flat(table[name])
            sums = np.bincount(first, weights=_counts(items), minlength=len(table)).astype(np.int64)
            offsets = pa.array(np.concatenate(([0], np.cumsum(sums[heads]))).astype(np.int32))
            joined = pa.ListArray.from_arrays(offsets, items.take(pa.array(order)).flatten())
            grouped = grouped.set_column(grouped.column_names.index(name), name, joined)
    return _without_sentinels(grouped)


def _without_sentinels(grouped: pa.Table) -> pa.Table:
    if "answer" not in grouped.column_names or not _is_in(grouped["answer"], list(PLACEHOLDERS)).any():
        return grouped
    rows = grouped.to_pylist()
    for row in rows:
        answer = (row["answer"] or "").strip()
        if answer not in PLACEHOLDERS:
            continue
        row["answer"] = None
        placeholder = row.get("context_ids") == [PLACEHOLDERS[answer]]
        if answer == API_ERROR:
            said = row["retrieved_contexts"][0] if placeholder else ""
            row["error"] = row.get("error") or said or API_ERROR
        if placeholder:
            row |= {"retrieved_contexts": [], "context_ids": []}
    schema = grouped.schema
    if "error" not in schema.names:
        schema = schema.append(pa.field("error", pa.string()))
    return pa.Table.from_pylist(rows, schema)


def _passages(sheet: Sheet, passage: str, name: str | None) -> dict[str, pa.ChunkedArray]:
    texts = sheet.text(passage)
    absent = is_null(texts)
    if name is None:
        return {"retrieved_contexts": _single(texts, ~absent)}
    ids = sheet.text(name)
    given = ~arrays.is_blank(ids)  # a passage with an id but without text is empty, not absent
    return {
        "retrieved_contexts": _single(pc.fill_null(texts, ""), ~absent | given),
        "context_ids": _unbracketed(_single(pc.fill_null(ids, ""), ~absent | given)),
    }


def _single(texts: pa.ChunkedArray, present: Bools) -> pa.ChunkedArray:
    """Return lists of one text where it is present, null elsewhere."""
    offsets = pa.array(np.arange(len(texts) + 1, dtype=np.int32))
    lists = pa.ListArray.from_arrays(offsets, flat(texts))
    return pa.chunked_array([pc.if_else(pa.array(present), lists, pa.scalar(None, lists.type))])


def _unbracketed(lists: pa.ChunkedArray) -> pa.ChunkedArray:
    array = flat(lists)
    return with_items(array, pc.replace_substring_regex(array.flatten(), r"^\s*\[?\s*(.*?)\s*\]?\s*$", r"\1"))


def _check_ids(sheet: Sheet, name: str, ids: pa.ChunkedArray, contexts: pa.ChunkedArray | None) -> None:
    counts = _counts(ids)
    there = np.zeros(len(sheet), np.int64) if contexts is None else _counts(contexts)
    sheet.report(
        (counts != there) & (counts > 0) & (there > 0), name,
        lambda row: f"{counts[row]} ids for {there[row]} contexts",
        "an id for each context, or none at all",
    )  # fmt: skip
    lists = ids.to_pylist()
    again = [one for row in lists for one, count in Counter(row or ()).items() for _ in range(count - 1)]
    if again:
        sheet.problems.note(sheet.file, f"{name}[]", "unused", AGAIN, len(again), again[0])


def _counts(lists: pa.ChunkedArray | pa.Array) -> Ints:
    return np.array(pc.fill_null(pc.list_value_length(lists), 0), np.int64)


def _first_filled(column: pa.Array, first: Ints) -> Ints:
    """Return for each row the first row of its group with a value, the row itself where the group has none."""
    places = np.flatnonzero(~_blank(column))
    groups, at = np.unique(first[places], return_index=True)
    source = np.arange(len(first))
    source[groups] = places[at]
    return source[first]


def _blank(column: pa.Array) -> Bools:
    return arrays.is_blank(column) if pa.types.is_string(column.type) else is_null(column)


def _is_in(column: pa.ChunkedArray, words: list[str]) -> Bools:
    return as_mask(pc.is_in(pc.utf8_trim_whitespace(column), pa.array(words)))
