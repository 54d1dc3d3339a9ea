"""Ids of the passages that answer a question, with grades: a list of ids, {id: grade}, or a list of {id, grade}."""

import re
from collections.abc import Mapping
from typing import Any

import orjson
import pyarrow as pa

from metrics.core.exact_json import parse_json
from metrics.core.suite import NUMBERS, STRINGS
from metrics.ingest.sheet import ID_KEYS, Sheet
from metrics.ingest.tables.columns import Columns
from metrics.ingest.tables.decimals import NUMBER
from metrics.ingest.tables.lists import ListForm, code_values, items_of, understand
from metrics.ingest.tables.python_reprs import NoRepr, python_value
from metrics.ingest.tables.values import finite, item_value, text_of

IDS, GRADES = "reference_context_ids", "reference_grades"
GRADE_KEYS = ("grade", "relevance", "relevance_grade", "score", "rel")
EXPECTED = 'ids such as ["a", "b"], {"a": 2, "b": 1} or [{"id": "a", "grade": 2}], each once'
Graded = tuple[list[str], list[float] | None]  # ids, and their grades where they have any


def columns_of(sheet: Sheet, columns: Columns) -> dict[str, pa.ChunkedArray]:
    """Return the reference ids and their grades, as lists; what is neither is a problem of its row.

    Grades beside the ids go before those of the column reference_grades.
    """
    found = columns.columns
    if IDS not in found:
        return {}
    name = found[IDS]
    if name in columns.numbered:
        read: list[Graded | None] = [
            None if ids is None else (ids, None) for ids in sheet.lists(columns, IDS).to_pylist()
        ]
    else:
        form = sheet.list_form(IDS, name)
        cells = sheet.table[name].to_pylist()
        read = [None if cell is None else graded(cell, form) for cell in cells]
        wrong = [cell is not None and not _is_whole(own) for cell, own in zip(cells, read, strict=True)]
        sheet.report_values(wrong, name, sheet.text(name).to_pylist(), EXPECTED)
    grades = sheet.number_lists(columns, GRADES).to_pylist() if GRADES in found else [None] * len(sheet)
    grades = [own[1] if own and own[1] is not None else given or None for own, given in zip(read, grades, strict=True)]
    ids = [None if own is None else own[0] for own in read]
    uneven = [given is not None and len(given) != len(own or ()) for own, given in zip(ids, grades, strict=True)]
    sheet.report_values(uneven, found.get(GRADES, name), grades, "a grade for each reference id")
    return {IDS: pa.chunked_array([ids], STRINGS), GRADES: pa.chunked_array([grades], NUMBERS)}


def graded(cell: str | list[str], form: ListForm) -> Graded | None:
    """Return the ids in a cell with the grades that stand beside them; None where it is neither."""
    values = [item_value(item) for item in cell] if isinstance(cell, list) else code_values(cell)[1]
    lone = _loaded(cell) if isinstance(cell, str) else values[0] if values and len(values) == 1 else None
    lone = _loaded(lone) if isinstance(lone, str) else lone  # beside lists, an object is a list of one
    if isinstance(lone, dict) and _first(lone, ID_KEYS) is None:
        return _of_pairs(list(lone.items()))
    if isinstance(cell, str) and cell.lstrip().startswith("{"):
        return None
    if values and all(isinstance(value, dict) for value in values):
        return _of_pairs([(_first(value, ID_KEYS), _first(value, GRADE_KEYS)) for value in values])
    items = understand(cell, form)[1] if isinstance(cell, str) else items_of(values or (), form)
    return None if items is None else (items, None)


def _of_pairs(pairs: list[tuple[Any, Any]]) -> Graded | None:
    ids, grades = [text_of(one) for one, _ in pairs], [_number(grade) for _, grade in pairs]
    if None in ids or not all(isinstance(grade, bool) or finite(grade) for grade in grades):
        return None
    return [str(one) for one in ids], [float(grade) for grade in grades]


def _is_whole(own: Graded | None) -> bool:
    return own is not None and len(set(own[0])) == len(own[0]) and "" not in own[0]


def _first(item: Mapping[str, Any], keys: tuple[str, ...]) -> Any:
    return next((item[key] for key in keys if item.get(key) is not None), None)


def _number(grade: Any) -> Any:
    """Return a grade that is a text, as in YAML, as the number that it spells."""
    return float(grade) if isinstance(grade, str) and re.match(NUMBER, grade) else grade


def _loaded(text: str) -> Any:
    """Return the object that a text is in the notation of JSON or Python; None for other texts."""
    if not text.lstrip().startswith("{"):
        return None
    try:
        return parse_json(text.encode())
    except (orjson.JSONDecodeError, UnicodeEncodeError):
        pass
    try:
        return python_value(text)
    except NoRepr:
        return None
