"""List cells: JSON array, then Python list, then numbered columns, then `;`, and by which rule each was read."""

import ast
import re
from typing import Literal

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from metrics.core.array_types import Bools
from metrics.core.suite import STRINGS
from metrics.ingest.arrays import flat, is_null
from metrics.ingest.tables.values import as_lists, item_text, text_of

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
        item = _word(match["word"]) if match["word"] else _decoded(match["text"])
        if item is None:
            return None
        items.append(item)
        position = match.end()
        if match["end"].endswith("]"):
            return items if position == len(body) else None


def _word(word: str) -> str | None:
    """Return a number or a truth value of a Python list as the text that a native one has."""
    return word.lower() if word in ("True", "False") else word if word.isdigit() else text_of(_number(word))


def _number(word: str) -> float | str:
    try:
        return float(word)
    except ValueError:
        return word


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


def split_column(column: pa.ChunkedArray | pa.Array, semicolons: bool) -> tuple[pa.ChunkedArray, Bools]:
    """Return a column as lists of strings, and which hold a null or begin like a list but are none (null there)."""
    if pa.types.is_list(column.type):
        array, bad = flat(column), np.zeros(len(column), bool)
        bad[np.asarray(pc.list_parent_indices(array))[is_null(pc.list_flatten(array))]] = True
        return pa.chunked_array([pc.if_else(pa.array(bad), pa.scalar(None, array.type), array)]), bad
    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    split = pa.chunked_array([_split_chunk(chunk, semicolons) for chunk in chunks], STRINGS)
    return split, is_null(split) & ~is_null(column)


def _split_chunk(chunk: pa.Array, semicolons: bool) -> pa.Array:
    if not pc.any(pc.match_substring_regex(chunk, r"^\s*\[|;" if semicolons else r"^\s*\[")).as_py():
        return as_lists([chunk])
    cells = chunk.dictionary_encode()
    lists = [understand(text, semicolons)[1] for text in cells.dictionary.to_pylist()]
    return pa.array(lists, STRINGS).take(cells.indices)
