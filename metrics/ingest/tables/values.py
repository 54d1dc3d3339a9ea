"""Columns of plain Python values as Arrow: text, or lists of text; ingestion keeps no other types."""

import datetime as dt
import json
import re
import sys
from collections import deque
from collections.abc import Iterable, KeysView, Mapping, Sequence, ValuesView
from itertools import chain
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from metrics.core.exact_json import parse_json
from metrics.core.fields import FIELDS
from metrics.core.suite import STRINGS
from metrics.core.unicode_forms import without_halves
from metrics.ingest.arrays import flat, is_null
from metrics.ingest.leaf_notes import Leaves
from metrics.ingest.tables.columns import CONTAINERS, fold, spellings
from metrics.text.agents.dialects import is_chat_message

# where an object in a list keeps its text …
TEXT_KEYS = ("text", "content", "page_content", "passage", "answer", "pageContent", "chunk", "snippet",
             "generated_text")  # fmt: skip
HOLDERS = ("kwargs", "node", "document", "chunk", "passage", "content")  # … or the object that has it
# the same only of a passage, whose other names they are: in an answer they may be fields of JSON
PASSAGE_KEYS = ("chunk_text", "passage_text", "document_text", "context", "body")
PASSAGE_HOLDERS = ("payload", "_source", "entity", "fields", "data")
TEXT_PARTS = ("text", "input_text", "output_text")  # types of the parts of a message that are texts
MARK = "\0"  # of the JSON text of an object or list in a list, until it is known what the column is
PASSAGES = spellings("retrieved_contexts", "reference_contexts")
TEXTS = spellings("question", "answer", "expected_answers", "source_text", "system_prompt")
# columns of answers, where an object is one: the JSON that was extracted. Containers of fields and scores are none
ANSWERS = spellings("expected_answers", "answer") - {"outputs", "response", "prediction", "predictions"}
PARTS = spellings(*FIELDS) | {*TEXT_KEYS, *HOLDERS, "messages", "role", "type", "score", "scores", "value", "result"}
NO_VALUE = re.compile(r"<.{1,300} at 0x[0-9a-fA-F]+>|<class |<built-in |Ellipsis\Z")  # what Python prints of others
ABSENT = {type(None)}
SCALARS = {str, int, float, bool, type(None)}
SMALL = 1e-4  # from here down Python writes a float with an exponent, Arrow later
LARGEST = sys.float_info.max
EXACT = 2.0**53  # from here on a float does not hold every whole number
MAX_DEPTH = 3  # objects inside a record become dotted columns down to here, JSON text below
GRADED = frozenset(("reference_context_ids", "qrels"))  # columns whose objects stay whole: {id: grade} …
WHOLE = GRADED | {"json_schema", "output_schema"}  # … or a schema
# columns of calls and messages, whose lists and objects stay whole
TRACES = frozenset(
    name for each in FIELDS.values() if each.syntax in ("calls", "trace") for name in (each.name, *each.aliases)
)
CHATS = ("question", *FIELDS["question"].aliases)  # columns in which a list of messages stays whole, too
KEPT_WHOLE = TRACES | WHOLE | {*CHATS, "artifacts"}


def text_of(value: Any) -> str | None:
    """Return a native value as text: true, 3 for 3.0, 2024-05-01 for a day without time, objects as JSON.

    NA and NaN are None.
    So a value is the same text from JSON, Parquet, a workbook or a data frame.
    """
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, float | np.floating):
        number = float(value)
        if number != number:
            return None
        return str(int(number)) if abs(number) < EXACT and number.is_integer() else repr(number)
    if isinstance(value, int | np.integer):
        return str(int(value))
    if type(value).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(value, dt.datetime) and value.time() == dt.time() and value.tzinfo is None:
        return value.date().isoformat()
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, dict) or is_listed(value):
        return json_text(value if isinstance(value, dict) else list(value))
    text = _text_within(value)
    if text is None and NO_VALUE.match(text := str(value)):
        raise ValueError(f"an object {str(value)[:80]}")
    return text


def is_listed(value: Any) -> bool:
    """Return whether a value of Python is a list of values: also a tuple, a set, an array, the column of a frame."""
    if isinstance(value, list | tuple | set | frozenset | deque | np.ndarray | KeysView | ValuesView | range):
        return True
    return not isinstance(value, np.generic) and (hasattr(value, "tolist") or hasattr(value, "to_list"))


def _text_within(value: Any) -> str | None:
    """Return the text of a document, a node or a message, an object of a program; None for any other value."""
    held = getattr(value, "node", value)  # of LlamaIndex
    return next((text for key in TEXT_KEYS[:3] if isinstance(text := getattr(held, key, None), str)), None)


def float_texts(column: pa.ChunkedArray | pa.Array) -> pa.ChunkedArray | pa.Array:
    """Return floats as `text_of` spells them; Arrow spells most of them so, and faster."""
    column = pc.add(column, 0.0)  # of -0 makes 0
    texts = column.cast(pa.string())
    small = pc.and_(pc.less(pc.abs(column), SMALL), pc.not_equal(column, 0.0))
    other = pc.fill_null(pc.or_(pc.match_substring(texts, "e"), small), False)
    if not pc.any(other).as_py():
        return texts
    spelled = [text_of(value) for value in column.filter(other).to_pylist()]
    return pc.replace_with_mask(flat(texts), flat(other), pa.array(spelled, pa.string()))


def json_text(value: Any) -> str:
    """Return a list or object as JSON text; values that JSON cannot express become strings."""
    options = orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_NON_STR_KEYS
    try:
        return orjson.dumps(value, default=str, option=options).decode()
    except (TypeError, ValueError, RecursionError):
        pass
    try:  # whole numbers beyond 64 bits
        return json.dumps(value, default=str, ensure_ascii=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError):
        return repr(value)


def item_text(value: Any) -> str | None:
    """Return an item of a list as text; for an object with its text under a known key (a passage), that text."""
    text = object_text(value) if isinstance(value, dict) else None
    return text_of(value) if text is None else text


def object_text(value: Any, keys: tuple[str, ...] = (), left: Leaves | None = None, depth: int = 2) -> str | None:
    """Return the text of an object, or of a list of the parts of a message; None where it has none.

    It is under one of `keys` or TEXT_KEYS, or in another object. `left` collects what else is there.
    """
    if isinstance(value, list):
        return parts_text(value, left)
    found: tuple[str, str | None] | None = None
    passages = keys == PASSAGE_KEYS
    for key in (*TEXT_KEYS, *keys) if passages else (*keys, *TEXT_KEYS):
        inner = value.get(key)
        if isinstance(inner, str) or (key in keys and not passages and isinstance(inner, int)):
            found = key, text_of(inner)
            break
    if found is None and depth:
        holders = (*HOLDERS, *PASSAGE_HOLDERS) if passages else HOLDERS
        held = ((key, value[key]) for key in holders if isinstance(value.get(key), dict | list))
        texts = ((key, object_text(inner, keys, left, depth - 1)) for key, inner in held)
        found = next((each for each in texts if each[1] is not None), None)
    if found is None:
        return None
    if left is not None:
        read = (found[0], "type") if value.get("type") in TEXT_PARTS else (found[0],)
        left.add(without(value, *read))
    return found[1]


def parts_text(items: list[Any], left: Leaves | None = None) -> str | None:
    """Return the text that the parts of a message make, {"type": "text", "text": …}, a line each; None for others."""
    texts = [item["text"] for item in items if _is_text_part(item)]
    if not texts or not all(isinstance(item, dict) and (_is_text_part(item) or "type" in item) for item in items):
        return None
    if left is not None:
        for item in items:
            left.add(without(item, "type", "text") if _is_text_part(item) else item)
    return "\n".join(texts)


def _is_text_part(item: Any) -> bool:
    if not isinstance(item, dict) or not isinstance(item.get("text"), str):
        return False
    return item.get("type") in TEXT_PARTS or sum(inner is not None for inner in item.values()) == 1


def item_value(item: str | None) -> Any:
    """Return an item of a list of plain values as the value that it was: an object or list, or a text."""
    if item is None or not item.startswith(MARK):
        return item
    try:
        return parse_json(item[1:].encode())
    except orjson.JSONDecodeError:  # a text that begins so
        return item


def list_text(items: list[str | None], parts: Leaves | None = None) -> str:
    """Return a list of plain values as JSON; with `parts` the text of a message where that is what its items are.

    `parts` collects what is not read.
    """
    values = [item_value(item) for item in items]
    text = None if parts is None else parts_text(values, parts)
    return json_text(values) if text is None else text


def column_of(values: Sequence[Any]) -> pa.Array:
    """Return plain values as a string array, or as a list-of-strings array where any of them is a list.

    In a list column a lone text becomes a list of one. Halves of surrogate pairs become U+FFFD.
    """
    samples = {type(value): value for value in values if value is not None}
    try:
        if any(map(is_listed, samples.values())):
            items = chain.from_iterable(filter(None, values)) if samples.keys() == {list} else ()
            texts_alone = samples.keys() == {list} and set(map(type, items)) - ABSENT <= {str}
            return pa.array(values if texts_alone else map(_items, values), STRINGS)
        if samples.keys() == {float}:
            return float_texts(pa.array(values, pa.float64(), from_pandas=True))
        return pa.array(values if samples.keys() <= {str} else map(text_of, values), pa.string())
    except UnicodeEncodeError:
        return column_of([_whole_text(value) for value in values])


def _whole_text(value: Any) -> Any:
    if is_listed(value):
        return list(map(_whole_text, value))
    return without_halves(value if isinstance(value, str) else text_of(value) or "") if value is not None else None


def _items(value: Any) -> list[str | None] | None:
    if value is None:
        return None
    if is_listed(value):
        return [_item(item) for item in value]
    text = text_of(value)
    return None if text is None else [text]


def _item(value: Any) -> str | None:
    """Return an item of a list as text, what is no text or number as marked JSON."""
    if isinstance(value, dict) or is_listed(value):
        plain = value if isinstance(value, dict) else value.tolist() if isinstance(value, np.ndarray) else list(value)
        return MARK + json_text(plain)
    if (text := _text_within(value)) is not None and not isinstance(value, str):
        return MARK + json_text({"page_content": text, "metadata": getattr(value, "metadata", {})})
    return text_of(value)


def whole(name: str, value: Any) -> Any:
    """Return traces, grades by id and schemas as JSON text, artifacts as paths and JSON texts, others unchanged."""
    if not isinstance(value, (dict, list)):
        return value
    if (name in TRACES and isinstance(value, dict | list)) or (name in WHOLE and isinstance(value, dict)):
        return json_text(value)
    if name in CHATS and isinstance(value, list) and value and is_chat_message(value[0]):
        return json_text(value)
    if name == "artifacts" and isinstance(value, list):
        return [json_text(item) if isinstance(item, dict) else item for item in value]
    return value


def has_text(name: str, value: dict[str, Any]) -> bool:
    """Return whether the object in a column is one text: a passage, or the part of a message."""
    plain = fold(name)
    if plain in PASSAGES:
        return object_text(value, PASSAGE_KEYS) is not None
    held = plain in TEXTS and ("type" in value or f"{plain}." not in CONTAINERS)
    return held and parts_text([value]) is not None


def is_answer(name: str, value: dict[str, Any]) -> bool:
    """Return whether the object in a column is an answer in JSON: none of its keys is a field's, as in {"output": …}.

    Numbers from 0 to 1 alone are the scores of classes.
    """
    if not value or fold(name) not in ANSWERS or not PARTS.isdisjoint(fold(str(key)) for key in value):
        return False
    return not all(finite(inner) and 0 <= inner <= 1 for inner in value.values())


def flatten(record: dict[str, Any], depth: int = MAX_DEPTH) -> dict[str, Any]:
    """Return a record with objects, except traces, under dotted names: {"vars": {"q": 1}} becomes {"vars.q": 1}."""
    kinds = set(map(type, record.values()))
    if kinds <= SCALARS:
        return record
    if kept := KEPT_WHOLE.intersection(record):
        record = {**record, **{name: whole(name, record[name]) for name in kept}}
    if not any(issubclass(kind, dict) for kind in kinds):
        return record
    spread: dict[str, Any] = {}
    for key, value in record.items():
        if isinstance(value, dict) and has_text(key, value):
            spread[key] = [value]
        elif isinstance(value, dict) and is_answer(key, value):
            spread[key] = json_text(value)
        elif isinstance(value, dict) and value and depth > 0 and all(isinstance(name, str) for name in value):
            spread.update({f"{key}.{name}": inner for name, inner in flatten(value, depth - 1).items()})
        else:
            spread[key] = value
    return spread


def without(value: Any, *names: str) -> Any:
    """Return an object without some of its entries; any other value as it is."""
    return {name: own for name, own in value.items() if name not in names} if isinstance(value, Mapping) else value


def as_lists(columns: Sequence[pa.ChunkedArray | pa.Array]) -> pa.Array:
    """Return columns of strings as one of lists: the values of each row, in order; null where it has none."""
    arrays = [flat(column) for column in columns]
    if len(arrays) == 1 and not arrays[0].null_count:
        return pa.ListArray.from_arrays(pa.array(np.arange(len(arrays[0]) + 1, dtype=np.int32)), arrays[0])
    present = np.stack([~is_null(array) for array in arrays], axis=1)
    rows, places = np.nonzero(present)
    counts = present.sum(axis=1)
    offsets = np.concatenate(([0], np.cumsum(counts))).astype(np.int32)
    values = pa.concat_arrays(arrays).take(pa.array(places * len(present) + rows))
    return pa.ListArray.from_arrays(pa.array(offsets), values, mask=pa.array(counts == 0))


def tables_of(batches: Iterable[list[dict[str, Any]]]) -> pa.Table:
    """Return batches of flat records as one table of string and list columns, in order of first appearance."""
    pieces: list[tuple[int, dict[str, pa.Array]]] = []
    order: dict[str, bool] = {}
    for records in batches:
        names = dict.fromkeys(chain.from_iterable(records))
        columns = {name: column_of([record.get(name) for record in records]) for name in names}
        for name, column in columns.items():
            order[name] = order.get(name, False) or pa.types.is_list(column.type)
        pieces.append((len(records), columns))
    arrays: dict[str, pa.ChunkedArray] = {}
    for name, listed in order.items():
        kind = STRINGS if listed else pa.string()
        chunks = []
        for count, columns in pieces:
            column = columns.get(name)
            if column is None:
                column = pa.nulls(count, kind)
            elif listed and not pa.types.is_list(column.type):
                column = as_lists([column])
            chunks.append(column)
        arrays[name] = pa.chunked_array(chunks, kind)
    return pa.table(arrays)


def finite(value: Any) -> bool:
    """Return whether a JSON value is a finite number."""
    return isinstance(value, int | float) and not isinstance(value, bool) and -LARGEST <= value <= LARGEST


def whole_number(value: Any) -> int | None:
    """Return a whole number, also one in quotes as it would be written; None where it is none."""
    if isinstance(value, str) and (text := value.strip()).isdecimal() and len(text) < 20 and str(int(text)) == text:
        return int(text)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if type(value) is int else None
