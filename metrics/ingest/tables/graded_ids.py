"""Ids of the passages that answer a question, with grades: a list of ids, {id: grade}, or a list of {id, grade}."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from metrics.core.exact_json import parse_json
from metrics.core.receipt import FileQuestion
from metrics.core.suite import NUMBERS, STRINGS, Suite
from metrics.ingest.arrays import flat
from metrics.ingest.sheet import ID_KEYS, Sheet
from metrics.ingest.tables.columns import Columns
from metrics.ingest.tables.decimals import NUMBER
from metrics.ingest.tables.id_matches import RULES
from metrics.ingest.tables.lists import ListForm, code_values, items_of, understand
from metrics.ingest.tables.python_reprs import NoRepr, python_value
from metrics.ingest.tables.values import finite, item_value, text_of

IDS, GRADES, RETRIEVED = "reference_context_ids", "reference_grades", "context_ids"
GRADE_KEYS = ("grade", "relevance", "relevance_grade", "score", "rel")
EXPECTED = 'ids such as ["a", "b"], {"a": 2, "b": 1} or [{"id": "a", "grade": 2}], each once'
BRACKETED = re.compile(r"\A\s*\[?\s*|\s*\]?\s*\Z")  # as contexts' ids lose them
SEVERAL = re.compile(r"\s*[^\s,]+(?:\s*,\s*[^\s,]+)+\s*")
SEPARATORS = re.compile(r"[\s,;|]+")
SEPARATOR = FileQuestion(
    "ids_separator", "Is such a text several ids, with commas or blanks between them, or one id?", ("split", "none")
)
MOST_ALONE = 100_000  # ids, none of which is relevant, whose spelling is looked at
SPELLING = FileQuestion(
    "ids_spelling", "Are retrieved ids that are only spelled unlike relevant ones these, or others?", ("same", "other")
)
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
        filled = [cell is not None for cell in cells]
        whole = [own is not None and len(set(own[0])) == len(own[0]) and "" not in own[0] for own in read]
        wrong = [given and not right for given, right in zip(filled, whole, strict=True)]
        sheet.report_values(wrong, name, sheet.text(name).to_pylist(), EXPECTED)
    read = _split_ids(sheet, name, read)
    grades = sheet.number_lists(columns, GRADES).to_pylist() if GRADES in found else [None] * len(sheet)
    grades = [own[1] if own and own[1] is not None else given or None for own, given in zip(read, grades, strict=True)]
    ids = [None if own is None else own[0] for own in read]
    uneven = [given is not None and len(given) != len(own or ()) for own, given in zip(ids, grades, strict=True)]
    sheet.report_values(uneven, found.get(GRADES, name), grades, "a grade for each reference id")
    return {IDS: pa.chunked_array([ids], STRINGS), GRADES: pa.chunked_array([grades], NUMBERS)}


def _split_ids(sheet: Sheet, name: str, read: list[Graded | None]) -> list[Graded | None]:
    """Return the reference ids without brackets, and those apart that commas join: of one form, they seem several."""
    bare = [None if own is None else ([BRACKETED.sub("", one) for one in own[0]], own[1]) for own in read]
    texts = [one for own in bare if own is not None and own[1] is None for one in own[0] if SEVERAL.fullmatch(one)]
    if not texts:
        return bare
    forms = ({re.sub(r"[^\W\d]+", "a", re.sub(r"\d+", "0", one)) for one in re.split(SEPARATORS, own)} for own in texts)
    default = "split" if all(len(form) == 1 for form in forms) else "none"
    found = f"{len(texts):,} texts with commas among ids, such as {texts[0][:80]!r}"
    split = sheet.problems.ask(sheet.file, SEPARATOR, found, default=default, place=name) == "split"
    parts = {text: re.split(SEPARATORS, text) for text in texts} if split else {}
    return [
        own if own is None or own[1] is not None else ([*dict.fromkeys(_exchange(own[0], parts))], None) for own in bare
    ]


def _exchange(ids: Iterable[str], others: Mapping[str, list[str]]) -> list[str]:
    return [one for text in ids for one in others.get(text, [text])]


def meet_references(sheet: Sheet, table: pa.Table, suite: Suite) -> pa.Table:
    """Return outputs whose retrieved ids are spelled, and apart, as the relevant ones of the suite; both is asked."""
    known = flat(suite.cases[IDS]).flatten().unique()
    if RETRIEVED not in table.column_names or not len(known):
        return table
    items = flat(table[RETRIEVED]).flatten().unique()
    strange = items.filter(pc.invert(pc.is_in(items, known))).to_pylist()
    ids, given = {*known.to_pylist()}, {*items.to_pylist()}
    rules = RULES.values() if len(strange) == len(given) <= MOST_ALONE else (str.casefold,)  # where none is relevant
    become: dict[str, list[str]] = next(filter(None, (_respell(strange, ids, rule) for rule in rules)), {})
    several = {text: parts for text in strange if not ids.isdisjoint(parts := re.split(SEPARATORS, text))}
    both = not given.isdisjoint(one for (one,) in become.values())
    beside = "retrieved_contexts" in table.column_names and table["retrieved_contexts"].null_count < len(table)
    others: dict[str, list[str]] = {}
    for question, how, stays, met in ((SPELLING, "unlike", both, become), (SEPARATOR, "with", beside, several)):
        if met:
            found = f"{len(met):,} ids spelled {how} relevant ones, such as {next(iter(met))[:80]!r}"
            chosen = sheet.problems.ask(sheet.file, question, found, default=question.choices[stays], place=RETRIEVED)
            others |= met if chosen == question.choices[0] else {}
    if not others:
        return table
    lists = [own and _exchange(own, others) for own in table[RETRIEVED].to_pylist()]
    return table.set_column(table.column_names.index(RETRIEVED), RETRIEVED, pa.array(lists, STRINGS))


def _respell(strange: list[str], known: set[str], rule: Callable[[str], str]) -> dict[str, list[str]]:
    """Return the known ids that others are by a rule; empty where two of one side would be one, but for their case."""
    there = {rule(one): one for one in known}
    found = {own: [there[key]] for own in strange if (key := rule(own)) in there}
    alone = rule is str.casefold or len({one for (one,) in found.values()}) == len(found)
    return found if alone and len(there) == len(known) else {}


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
