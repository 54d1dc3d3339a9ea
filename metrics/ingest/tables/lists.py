"""List cells: JSON array, then Python list, then numbered columns, then `;`, and by which rule each was read."""

import ast
import re
from collections.abc import Sequence
from typing import Literal

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from metrics.ingest.sheet import Mask, as_mask, flat
from metrics.ingest.tables.values import STRINGS, item_text

Rule = Literal["list", "JSON array", "Python list", "numbered columns", ";", "one text"]
CELL_BYTES = 10_000_000
# One item of a Python list; strings are decoded one by one, so no expression is ever parsed.
PYTHON_ITEM = re.compile(
    r"""\s*(?:(?P<text>[uUbB]?(?:'[^'\\\n]*+(?:\\.[^'\\\n]*+)*+'|"[^"\\\n]*+(?:\\.[^"\\\n]*+)*+"))"""
    r"""|(?P<word>None|True|False|[+-]?\d[\d.eE+-]{0,40}))\s*(?P<end>,\s*\]|,|\]|(?=['"uUbB]))""",
    re.DOTALL,
)
ESCAPE = re.compile(r"\\(.)", re.DOTALL)
ESCAPED = "\n\\'\"abfnrtv0123xNuU"  # what may follow a backslash; after any other character the backslash stays
LIST_START = re.compile(r"\s*\[\s*(?:[\"'\]]|[uU][\"'])")


def understand(text: str, semicolons: bool) -> tuple[Rule, list[str] | None]:
    """Return the rule that applies to one cell, and its items; None where it begins like a list but is not one.

    `semicolons` allows the last rule. Prose that merely begins with a bracket ("[1] says …") stays one text.
    """
    start = text.lstrip()[:1]
    if start == "[" and len(text) <= CELL_BYTES:
        items = json_items(text)
        if items is not None:
            return "JSON array", items
        items = python_items(text)
        if items is not None:
            return "Python list", items
        if LIST_START.match(text):
            return "one text", None
    if semicolons and ";" in text:
        return ";", [item for item in (part.strip() for part in text.split(";")) if item]
    return "one text", [text]


def json_items(text: str) -> list[str] | None:
    """Return the items of a JSON array as text, None where it is not a JSON array or contains null."""
    try:
        values = orjson.loads(text)
    except (orjson.JSONDecodeError, UnicodeEncodeError):
        return None
    if not isinstance(values, list) or any(value is None for value in values):
        return None
    return [str(item_text(value)) for value in values]


def python_items(text: str) -> list[str] | None:
    """Return the items of a Python (or numpy) list of strings and numbers as text; None for any other expression."""
    body = text.strip()
    if re.fullmatch(r"\[\s*\]", body):
        return []
    items: list[str] = []
    position = 1
    while True:
        match = PYTHON_ITEM.match(body, position)
        if match is None or match["word"] == "None":
            return None
        item = match["word"] or _decoded(match["text"])
        if item is None:
            return None
        items.append(item)
        position = match.end()
        if match["end"].endswith("]"):
            return items if position == len(body) else None


def _decoded(literal: str) -> str | None:
    if "\\" not in literal:
        return literal[literal.index(literal[-1]) + 1 : -1]
    quote = literal.index(literal[-1])
    body = ESCAPE.sub(lambda match: match[0] if match[1] in ESCAPED else "\\" + match[0], literal[quote:])
    try:
        value = ast.literal_eval(body)
        value.encode()
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    return str(value)


def split_column(column: pa.ChunkedArray | pa.Array, semicolons: bool) -> tuple[pa.ChunkedArray, Mask]:
    """Return a string column as lists of strings, and where a cell begins like a list but is not one (null there)."""
    if pa.types.is_list(column.type):
        return pa.chunked_array([flat(column)]), np.zeros(len(column), bool)
    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    known: dict[str, list[str] | None] = {}
    split = [_split_chunk(chunk, semicolons, known) for chunk in chunks]
    return pa.chunked_array([lists for lists, _ in split], STRINGS), np.concatenate(
        [np.zeros(0, bool), *(bad for _, bad in split)]
    )


def _split_chunk(chunk: pa.Array, semicolons: bool, known: dict[str, list[str] | None]) -> tuple[pa.Array, Mask]:
    valid = ~as_mask(pc.is_null(chunk))
    special = as_mask(pc.match_substring_regex(chunk, r"^\s*\[|;" if semicolons else r"^\s*\["))
    bad = np.zeros(len(chunk), bool)
    counts = valid.astype(np.int64)
    source = np.arange(len(chunk))
    pieces = [chunk]
    if special.any():
        encoded = chunk.filter(pa.array(special)).dictionary_encode()
        lists = []
        for text in encoded.dictionary.to_pylist():
            if text not in known:
                known[text] = understand(text, semicolons)[1]
            lists.append(known[text])
        codes = encoded.indices.to_numpy(zero_copy_only=False)
        lengths = np.array([0 if items is None else len(items) for items in lists], np.int64)
        starts = np.concatenate(([0], np.cumsum(lengths)[:-1])).astype(np.int64)
        bad[special] = np.array([items is None for items in lists])[codes]
        counts[special] = lengths[codes]
        source[special] = len(chunk) + starts[codes]
        pieces.append(pa.array([item for items in lists if items is not None for item in items], pa.string()))
    return _gather(pieces, source, counts, valid & ~bad), bad


def numbered(columns: Sequence[pa.ChunkedArray | pa.Array]) -> pa.Array:
    """Return numbered columns (context_1, context_2, …) as one list column: the cells that are not empty, in order."""
    arrays = [flat(column) for column in columns]
    present = np.stack([~as_mask(pc.is_null(array)) for array in arrays], axis=1)
    rows, places = np.nonzero(present)
    counts = present.sum(axis=1)
    values = pa.concat_arrays(arrays).take(pa.array(places * len(arrays[0]) + rows))
    return pa.ListArray.from_arrays(_offsets(counts), values, mask=pa.array(counts == 0))


def _gather(pieces: list[pa.Array], source: np.ndarray, counts: np.ndarray, valid: Mask) -> pa.Array:
    """Return lists whose row i has `counts[i]` values of the joined pieces from `source[i]` on; null where not
    valid.
    """
    if len(pieces) == 1:
        return pa.ListArray.from_arrays(_offsets(counts), pieces[0].drop_null(), mask=pa.array(~valid))
    ends = np.cumsum(counts)
    total = int(ends[-1]) if len(ends) else 0
    index = np.repeat(source, counts) + (np.arange(total) - np.repeat(ends - counts, counts))
    values = pa.concat_arrays(pieces).take(pa.array(index))
    return pa.ListArray.from_arrays(_offsets(counts), values, mask=pa.array(~valid))


def _offsets(counts: np.ndarray) -> pa.Array:
    return pa.array(np.concatenate(([0], np.cumsum(counts))).astype(np.int32))
