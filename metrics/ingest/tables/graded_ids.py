"""Ids of the passages that answer a question, with grades: a list of ids, {id: grade}, or a list of {id, grade}."""

from collections.abc import Mapping
from typing import Any

import orjson
import pyarrow as pa

from metrics.core.suite import NUMBERS, STRINGS
from metrics.ingest.sheet import Sheet
from metrics.ingest.tables.columns import Columns
from metrics.ingest.tables.lists import understand
from metrics.ingest.tables.values import finite, text_of

IDS, GRADES = "reference_context_ids", "reference_grades"
ID_KEYS = ("id", "doc_id", "document_id", "context_id", "passage_id", "chunk_id", "corpus_id", "_id")
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
        semicolons = sheet.splits(IDS, name)
        cells = sheet.table[name].to_pylist()
        read = [None if cell is None else graded(cell, semicolons) for cell in cells]
        wrong = [cell is not None and not _is_whole(own) for cell, own in zip(cells, read, strict=True)]
        sheet.report_values(wrong, name, cells, EXPECTED)
    grades = sheet.number_lists(columns, GRADES).to_pylist() if GRADES in found else [None] * len(sheet)
    grades = [own[1] if own and own[1] is not None else given or None for own, given in zip(read, grades, strict=True)]
    ids = [None if own is None else own[0] for own in read]
    uneven = [given is not None and len(given) != len(own or ()) for own, given in zip(ids, grades, strict=True)]
    sheet.report_values(uneven, found.get(GRADES, name), grades, "a grade for each reference id")
    return {IDS: pa.chunked_array([ids], STRINGS), GRADES: pa.chunked_array([grades], NUMBERS)}


def graded(cell: str | list[str], semicolons: bool) -> Graded | None:
    """Return the ids in a cell with the grades that stand beside them; None where it is neither."""
    lone = cell[0] if isinstance(cell, list) and len(cell) == 1 else cell  # beside lists, an object is a list of one
    value = _loaded(lone) if isinstance(lone, str) else None
    if isinstance(value, dict) and _first(value, ID_KEYS) is None:
        return _of_pairs(list(value.items()))
    if isinstance(cell, str) and cell.lstrip().startswith("{"):
        return None
    items = cell if isinstance(cell, list) else understand(cell, semicolons)[1]
    if items is None:
        return None
    objects = [_loaded(item) for item in items]
    if not items or not all(isinstance(item, dict) for item in objects):
        return items, None
    return _of_pairs([(_first(item, ID_KEYS), _first(item, GRADE_KEYS)) for item in objects])


def _of_pairs(pairs: list[tuple[Any, Any]]) -> Graded | None:
    ids, grades = [text_of(one) for one, _ in pairs], [grade for _, grade in pairs]
    if None in ids or not all(isinstance(grade, bool) or finite(grade) for grade in grades):
        return None
    return [str(one) for one in ids], [float(grade) for grade in grades]


def _is_whole(own: Graded | None) -> bool:
    return own is not None and len(set(own[0])) == len(own[0]) and "" not in own[0]


def _first(item: Mapping[str, Any], keys: tuple[str, ...]) -> Any:
    return next((item[key] for key in keys if item.get(key) is not None), None)


def _loaded(text: str) -> Any:
    try:
        return orjson.loads(text) if text.lstrip().startswith("{") else None
    except orjson.JSONDecodeError:
        return None
