"""List cells: JSON array, then Python list, then numbered columns, then `;`, and by which rule each was read."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Any, Literal

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from metrics.core.array_types import Bools
from metrics.core.exact_json import parse_json
from metrics.core.suite import STRINGS
from metrics.ingest.arrays import as_mask, flat, is_null, may_hold
from metrics.ingest.decoded_size import size_as_objects
from metrics.ingest.leaf_notes import Leaves
from metrics.ingest.tables.python_reprs import LISTS, NoRepr, python_value
from metrics.ingest.tables.values import MARK, PASSAGE_KEYS, as_lists, item_value, object_text, parts_text, text_of

Rule = Literal["list", "JSON array", "Python list", "numbered columns", ";", "one text"]
CELL_BYTES, CELL_OBJECTS = 10_000_000, 64 << 20  # of a list in a cell: its text, and what that takes as objects
PART = 1 << 20  # bytes of cells whose items are Python's objects at a time
# What a cell begins with that may be a list or an object as JSON or Python write it …
CALLED = rf"(?:\w{{1,20}}\.){{0,3}}{LISTS}\("
START = re.compile(rf"""[\s\ufeff]*(?:[\[({{<]|"\[|{CALLED}|(?:[A-Z]\w*)?Document\(|page_content=)""")
# … and what is one beyond doubt: where it cannot be read, it is no prose either
BROKEN = re.compile(
    r"""[\s\ufeff]*(?:\[\s*(?:["'“\]{]|[uUbB]["']|None\b|null\b|nan\b|(?:np\.)?str_\(|[A-Z]\w*\(\w+=)"""
    rf"""|{CALLED}\s*[\[({{]|(?:[A-Z]\w*)?Document\(|page_content="""
    # an object of which Python prints only what it is: <Document id=1>, [<x.Node object at 0x7f>]
    r"""|\[?\s*<[\w.]*(?:Document|Node|Chunk|Point): |\[?\s*<[\w.]+ object at 0x"""
    r"""|\[?\s*(?:<[\w.]*[A-Z]\w*(?: \w+=[^<>]*)?>\s*(?:,\s*|\]?\s*\Z))+\Z)"""
)
ARRAY = re.compile(r"<\w*Array>\n(\[.*\])\nLength: \d+, dtype: .*", re.DOTALL)  # of pandas
TUPLE_OF_TEXTS = re.compile(r"""\s*\(\s*(?:["')]|None\b|[A-Z]\w*\(\w+=)""")
PARTS = re.compile(r"""\s*\[?\s*\{.*['"]type['"]""", re.DOTALL)
NOTHING = ("none", "null", "nan", "<na>", "undefined", "n/a")  # how programs spell a list that is not there
EMPTY = ("{}", "()", "set()", "frozenset()")
# RE2's of texts that may be code or nothing; its \s and \w are ASCII's alone
SPACES = "[\\s\v\x1c-\x1f\x85\\pZ\ufeff]*"
CODE_START = rf'^{SPACES}(?:[\[({{<]|"\[|[^\s(]*\(|page_content=)'
CODE_MARKS = (b"[", b"(", b"{", b"<", b"t=")  # one of them is in every such text
NOTHING_ALONE = rf"(?i:^{SPACES}(?:{'|'.join(NOTHING)}){SPACES}$)"
LIST = 'a list such as ["a", "b"], closed and without null'


@dataclass(frozen=True, slots=True)
class ListForm:
    """How the cells of a column become lists.

    `code`: whether a text in the notation of JSON or Python is a list, `numbers`: also one of numbers. `semicolons`:
    whether `;` separates. `passages`: "None" is no item. `whole`: objects without a text stay as JSON, as among names;
    else a list with one is none. `keys`: where an object has its text first. `parts`: the parts of
    a message are one text.
    """

    code: bool = True
    numbers: bool = True
    semicolons: bool = False
    passages: bool = False
    whole: bool = False
    keys: tuple[str, ...] = ()
    parts: bool = False


def understand(text: str, form: ListForm, left: Leaves | None = None) -> tuple[Rule, list[str] | None]:
    """Return the rule that applies to one cell, and its items; None where it begins like a list but is not one.

    Prose that merely begins with a bracket ("[1] says …") stays one text.
    """
    if form.passages and text.strip() in EMPTY:
        return "Python list", []
    if form.code and START.match(text):
        small = len(text) <= CELL_BYTES and size_as_objects(text.encode(errors="replace")) <= CELL_OBJECTS
        rule, values = code_values(text, PASSAGE_KEYS if form.passages else ()) if small else ("one text", None)
        if values is not None and (form.numbers or not any(isinstance(value, int | float) for value in values)):
            items = items_of(values, form, left)
            return (rule, items) if items is not None else ("one text", None)
        if values is None and BROKEN.match(text):
            return "one text", None
    if form.passages and text.strip().lower() in NOTHING:
        return "one text", None
    if form.semicolons and ";" in text:
        return ";", [item for item in (part.strip() for part in text.split(";")) if item]
    return "one text", [text]


def code_values(text: str, keys: tuple[str, ...] = ()) -> tuple[Rule, list[Any] | None]:
    """Return the items of a list in the notation of JSON or Python, or a lone object with a text; None for others."""
    rule: Rule = "JSON array"
    value: Any = None
    text = text.lstrip("\ufeff")
    if "Array>\n" in text and (array := ARRAY.fullmatch(text.strip())):
        text = array[1]
    try:
        value = parse_json(text.encode())
    except (orjson.JSONDecodeError, UnicodeEncodeError):
        rule = "Python list"
        try:
            lone = text.lstrip().startswith("page_content=")  # str() of a document of LangChain
            value = python_value(f"Document({text.split(' metadata=')[0]})" if lone else text)
        except NoRepr:
            return rule, None
        if text.lstrip().startswith("(") and not TUPLE_OF_TEXTS.match(text):
            return rule, None  # an interval, a pair of numbers
    if isinstance(value, str) and value.lstrip().startswith("["):  # written as JSON twice
        return code_values(value, keys)
    if isinstance(value, dict):
        return rule, [value] if object_text(value, keys) is not None else None
    return rule, value if isinstance(value, list) else None


def items_of(values: Iterable[Any], form: ListForm, left: Leaves | None = None) -> list[str] | None:
    """Return the items of a list as texts; None where one is null, a list, or an object without a text.

    `left` collects what else the objects hold.
    """
    items: list[str] = []
    values = list(values)
    if set(map(type, values)) <= {str}:
        return values
    typed = len(values) == 1 or any("type" in value for value in values if isinstance(value, dict))
    if form.parts and typed and (whole := parts_text(values, left)) is not None:
        return [whole]
    for value in values:
        text = object_text(value, form.keys, left) if isinstance(value, dict | list) else text_of(value)
        if text is None and form.whole and isinstance(value, dict | list):
            text = text_of(value)
        if text is None:
            return None
        items.append(text)
    return items


def split_column(
    column: pa.ChunkedArray | pa.Array, form: ListForm, left: Leaves | None = None
) -> tuple[pa.ChunkedArray, Bools]:
    """Return a column as lists of strings, and which are none (null there): they hold a null, or begin like a list."""
    read = _read_native if pa.types.is_list(column.type) else _split_texts
    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    split = pa.chunked_array([read(chunk, form, left) for chunk in chunks], STRINGS)
    return split, is_null(split) & ~is_null(column)


def _read_native(chunk: pa.Array, form: ListForm, left: Leaves | None) -> pa.Array:
    """Return native lists with their items as texts, null where one is none."""
    if pc.any(pc.starts_with(chunk.flatten(), MARK)).as_py():
        given = (items and items_of(map(item_value, items), form, left) for items in chunk.to_pylist())
        chunk = pa.array(given, STRINGS)
    items = chunk.flatten()
    if not items.null_count:
        return chunk
    whole = np.ones(len(chunk), bool)
    whole[np.asarray(pc.list_parent_indices(chunk))[is_null(items)]] = False
    return pc.if_else(pa.array(whole), chunk, None)


def _split_texts(chunk: pa.Array, form: ListForm, left: Leaves | None) -> pa.Array:
    """Return texts as lists: the few that may be more than one item as `understand` reads them."""
    looks = [
        (CODE_START, (form.code or form.passages) and may_hold(chunk, *CODE_MARKS)),
        (NOTHING_ALONE, form.passages),
        (";", form.semicolons and may_hold(chunk, b";")),
    ]
    pattern = "|".join(look for look, counts in looks if counts)
    special = as_mask(pc.match_substring_regex(chunk, pattern)) if pattern else np.zeros(len(chunk), bool)
    lists = as_lists([chunk])
    if not special.any():
        return lists
    cells = chunk.filter(pa.array(special)).dictionary_encode()
    ends = np.cumsum(np.asarray(pc.binary_length(cells.dictionary))) // PART
    cuts = pairwise([0, *(np.flatnonzero(np.diff(ends)) + 1).tolist(), len(ends)])
    parts = (cells.dictionary.slice(start, end - start).to_pylist() for start, end in cuts)
    read = pa.concat_arrays([pa.array([understand(text, form, left)[1] for text in part], STRINGS) for part in parts])
    if len(read) == len(chunk):  # all are special, each another one
        return read
    places = np.arange(len(chunk))
    places[special] = len(chunk) + np.asarray(cells.indices)
    return pa.concat_arrays([lists, read]).take(pa.array(places))


def looks_listed(column: pa.ChunkedArray, numbers: bool = True) -> list[str]:
    """Return the different texts of a column that are lists in the notation of JSON or Python, or begin like one."""
    texts = _texts(column, rf"^\s*[\[({{<]|^\s*{CALLED}", *CODE_MARKS)
    form = ListForm(numbers=numbers)
    return [text for text in texts if understand(text, form) != ("one text", [text])]


def looks_parted(text: str) -> str | None:
    """Return the text that the parts of a message make, which a program has written as code; None for other texts."""
    values = code_values(text)[1] if PARTS.match(text) else None
    return parts_text(values) if values and all("type" in one for one in values if isinstance(one, dict)) else None


def looks_separated(column: pa.ChunkedArray) -> list[str]:
    """Return the different texts of a column that `;` would separate into several items."""
    form = ListForm(semicolons=True)
    texts = ((text, understand(text, form)) for text in _texts(column, ";", b";"))
    return [text for text, (rule, items) in texts if rule == ";" and len(items or ()) > 1]


def class_mark(column: pa.ChunkedArray) -> tuple[str, str, bool]:
    """Return what separates the classes in a column's cells where `;` does not, "" for nothing, and a cell with it.

    It is `|`, or `,`, alone; and whether the cells show it: a class beside another one is in another cell, too.
    """
    marks = [mark for mark in ";[|," if pc.any(pc.match_substring(column, mark)).as_py()]
    if marks not in (["|"], [","]):
        return "", "", False
    (mark,) = marks
    texts = [text for text in flat(column).unique().to_pylist() if text is not None]
    cells = {text: {part.strip() for part in text.split(mark)} for text in texts}
    counts = Counter(chain.from_iterable(cells.values()))
    several = [text for text in texts if mark in text]
    return mark, several[0], any(counts[part] > 1 for text in several for part in cells[text])


def _texts(column: pa.ChunkedArray, pattern: str, *marks: bytes) -> list[str]:
    """Return the different texts of a column that match; `marks`: one of them is in each."""
    if not may_hold(column, *marks):
        return []
    return list(flat(column.filter(pc.match_substring_regex(column, pattern)).unique()).to_pylist())
