"""The cells of a sheet as text, numbers, flags and lists; each invalid cell is a problem of its row."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metrics.core.array_types import Bools, Floats, Ints
from metrics.core.suite import METADATA
from metrics.ingest.sheet import Sheet, as_mask, flat, is_null
from metrics.ingest.tables.columns import LISTS, Columns, fold
from metrics.ingest.tables.lists import split_column
from metrics.ingest.tables.values import as_lists, json_text

NUMBER = r"^\s*[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,4})?\s*$"
WHOLE = 2.0**53  # above it a float cannot represent every whole number
NOT_FINITE = ("nan", "inf", "-inf", "+inf", "infinity", "-infinity")
TRUE, FALSE = ("1", "true", "yes", "1.0"), ("0", "false", "no", "0.0")
CODE = ("javascript:", "python:", "file://")  # promptfoo runs or opens such cells; they are refused here
CLASSES = ("labels", "predicted_labels")  # lists of classes
ALWAYS_SPLIT = ("tags", "citations", "artifacts")
NAMES = (  # lists of names, which have no semicolons of their own
    *ALWAYS_SPLIT, *CLASSES, "context_ids", "reference_context_ids", "negative_labels", "not_exhaustive_labels",
)  # fmt: skip


def text(sheet: Sheet, name: str) -> pa.ChunkedArray:
    """Return a column as strings; lists become JSON text."""
    column = sheet.table[name]
    if not pa.types.is_list(column.type):
        return column
    values = [None if value is None else json_text(value) for value in column.to_pylist()]
    return pa.chunked_array([pa.array(values, pa.string())])


def required(sheet: Sheet, name: str, what: str) -> pa.ChunkedArray:
    """Return a column of strings none of which is missing or blank."""
    column = text(sheet, name)
    sheet.report(is_blank(column), name, column, what)
    return column


def is_blank(column: pa.ChunkedArray) -> Bools:
    """Return where a column of strings has no value, or nothing but whitespace."""
    return is_null(column) | as_mask(pc.match_substring_regex(column, r"^\s*$"))


def lists(sheet: Sheet, columns: Columns, canonical: str) -> pa.ChunkedArray:
    """Return a column (or numbered columns) as lists of strings."""
    name = columns.columns[canonical]
    if name in columns.numbered:
        return pa.chunked_array([as_lists([text(sheet, member) for member in columns.numbered[name]])])
    column = sheet.table[name]
    if canonical in CLASSES and not pa.types.is_list(column.type) and _piped(column):
        column = pc.replace_substring(column, "|", ";")
    split, bad = split_column(column, splits(sheet, canonical, name))
    sheet.report(bad, name, column, 'a list such as ["a", "b"], closed and without null')
    return split


def number_lists(sheet: Sheet, columns: Columns, canonical: str, logarithms: bool = False) -> pa.ChunkedArray:
    """Return a column (or numbered columns) as lists of finite numbers; `logarithms` may be -inf, that of 0."""
    split = flat(lists(sheet, columns, canonical))
    items = pc.utf8_trim_whitespace(split.flatten())
    spelled = as_mask(pc.match_substring_regex(items, NUMBER))
    if logarithms:
        spelled |= as_mask(pc.is_in(pc.utf8_lower(items), pa.array(["-inf", "-infinity"])))
    owner = np.asarray(pc.list_parent_indices(split))
    wrong = np.zeros(len(sheet), bool)
    wrong[owner[~spelled]] = True
    values = np.array(pc.cast(pc.if_else(pa.array(spelled), items, None), pa.float64()).to_numpy(zero_copy_only=False))
    wrong[owner[np.isposinf(values) if logarithms else np.isinf(values)]] = True
    sheet.report(wrong, columns.columns[canonical], split, "a list of finite numbers")
    offsets = pa.array(np.concatenate(([0], np.cumsum(pc.fill_null(pc.list_value_length(split), 0)))).astype(np.int32))
    made = pa.ListArray.from_arrays(offsets, pa.array(values))
    return pa.chunked_array([pc.if_else(pc.is_valid(split), made, pa.scalar(None, made.type))])


def _piped(column: pa.ChunkedArray) -> bool:
    """Return whether the classes in a column are separated by `|`: it is there, and nothing else that separates."""
    found = (pc.any(pc.match_substring_regex(column, mark)).as_py() for mark in (r"\|", r"[;,\[]"))
    return tuple(map(bool, found)) == (True, False)


def splits(sheet: Sheet, canonical: str, name: str) -> bool:
    """Return whether `;` separates items: of names, and of texts in a CSV, in columns whose own name is a plural."""
    listed = canonical in NAMES or (sheet.delimited and canonical in LISTS)
    return listed and (canonical in ALWAYS_SPLIT or fold(name).endswith("s"))


def numbers(
    sheet: Sheet, name: str, *, low: float = -np.inf, high: float = np.inf, whole: bool = False, need: bool = False
) -> Floats:
    """Return a column as floats, NaN where absent or invalid (not a number, not finite, out of range)."""
    column = text(sheet, name)
    present = ~is_null(column)
    try:
        values = pc.cast(column, pa.float64())
    except pa.ArrowInvalid:
        trimmed = pc.utf8_trim_whitespace(column)
        present &= ~as_mask(pc.equal(trimmed, ""))
        spelled = as_mask(pc.match_substring_regex(column, NUMBER))
        words = as_mask(pc.is_in(pc.utf8_lower(trimmed), pa.array(NOT_FINITE)))
        sheet.report(present & ~spelled & ~words, name, column, "a number")
        sheet.report(words, name, column, "a finite number")
        present &= spelled
        values = pc.cast(pc.if_else(pa.array(present), trimmed, None), pa.float64())
    result = np.array(flat(values).to_numpy(zero_copy_only=False), dtype=np.float64)
    infinite = present & ~np.isfinite(result)
    sheet.report(infinite, name, column, "a finite number")
    present &= ~infinite
    result[~present] = np.nan
    with np.errstate(invalid="ignore"):
        if whole:
            broken = (result != np.floor(result)) | (np.abs(result) >= WHOLE)
            sheet.report(present & broken, name, column, "a whole number")
        outside = (result < low) | (result > high)
        sheet.report(outside, name, column, _range(low, high))
        result[outside] = np.nan
    if need:
        sheet.report(~present & ~sheet.bad, name, column, "a number")
    return result


def floats(values: Floats) -> pa.Array:
    """Return floats as an Arrow column, NaN as null."""
    return pa.array(values, mask=np.isnan(values))


def integers(values: Floats, kind: pa.DataType, absent: int | None = None) -> pa.Array:
    """Return whole floats as a column of integers, NaN as `absent` or null; values out of range are clipped."""
    missing = np.isnan(values)
    limits = np.iinfo(kind.to_pandas_dtype())
    filled = np.clip(np.where(missing, absent or 0, values), limits.min, min(limits.max, WHOLE)).astype(np.int64)
    return pa.array(filled, mask=None if absent is not None else missing).cast(kind)


def flags(sheet: Sheet, name: str, unknown: Sequence[str] = ()) -> Bools:
    """Return a column of 0/1, true/false, yes/no as booleans; absent cells and those that are `unknown` are false."""
    column = text(sheet, name)
    folded = pc.utf8_lower(pc.utf8_trim_whitespace(column))
    true = as_mask(pc.is_in(folded, pa.array(TRUE)))
    false = as_mask(pc.is_in(folded, pa.array([*FALSE, *unknown, ""]))) | is_null(column)
    sheet.report(~true & ~false, name, column, "0 or 1, true or false")
    return true


def metadata(sheet: Sheet, columns: Columns) -> dict[str, pa.ChunkedArray]:
    """Return the columns of unknown meaning as metadata.* strings."""
    kept = {
        METADATA + name.removeprefix(METADATA): text(sheet, name)
        for name in columns.unmapped
        if name not in columns.numbered
    }
    for name in columns.unmapped:
        for member in columns.numbered.get(name, ()):
            kept[METADATA + member] = text(sheet, member)
    return kept | {given: text(sheet, name) for given, name in columns.metadata.items() if name not in columns.numbered}


def refuse_code(sheet: Sheet, names: Sequence[str]) -> None:
    """Record as problems the cells that a tool like promptfoo would execute or open as a file."""
    for name in names:
        column = sheet.table[name]
        for prefix in CODE:
            if pa.types.is_list(column.type):
                items = flat(column)
                starts = as_mask(pc.starts_with(items.flatten(), prefix))
                code = np.zeros(len(column), bool)
                code[np.asarray(pc.list_parent_indices(items))[starts]] = True
            else:
                code = as_mask(pc.starts_with(column, prefix))
            sheet.report(code, name, column, f"plain text: cells that begin with {prefix} are code and are refused")


def duplicates(keys: Sequence[pa.ChunkedArray | pa.Array]) -> tuple[Bools, Ints]:
    """Return the rows whose key occurs in an earlier row, and for every row the index of the first row with its key."""
    count = len(keys[0])
    rows = np.arange(count)
    codes = np.zeros(count, np.int64)
    for key in keys:
        code, size = codes_of(key)
        if size == count:  # distinct in one column, so distinct in all: the usual case
            return np.zeros(count, bool), rows
        codes = codes * size + code
    _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    firsts = first[inverse]
    return firsts != rows, firsts


def occurrences(keys: Sequence[pa.ChunkedArray | pa.Array]) -> Ints:
    """Return for every row how many rows up to it, itself included, have its key."""
    _, first = duplicates(keys)
    order = np.argsort(first, kind="stable")
    begins = np.flatnonzero(np.diff(first[order], prepend=-1))
    counted = np.empty(len(first), np.int64)
    counted[order] = np.arange(len(first)) - np.repeat(begins, np.diff(begins, append=len(first))) + 1
    return counted


def differs(column: pa.ChunkedArray | pa.Array, first: Ints) -> Bools:
    """Return where a value differs from that of the row in `first`."""
    if (first == np.arange(len(first))).all():
        return np.zeros(len(first), bool)
    array = flat(column)
    if pa.types.is_list(array.type):
        array = pc.binary_join(array, "\x1f")
    other = array.take(pa.array(first))
    return as_mask(pc.not_equal(array, other)) | (is_null(array) ^ is_null(other))


def codes_of(column: pa.ChunkedArray | pa.Array) -> tuple[Ints, int]:
    """Return the values of a column (null is one) as numbers in order of appearance, and how many there are."""
    encoded = pc.dictionary_encode(flat(column), null_encoding="encode")
    return np.asarray(encoded.indices.to_numpy(zero_copy_only=False), np.int64), max(1, len(encoded.dictionary))


def _range(low: float, high: float) -> str:
    return f"a number of at least {low:g}" if np.isinf(high) else f"a number from {low:g} to {high:g}"
