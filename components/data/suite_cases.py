"""The cases of a suite for forms and tables: values, neighbours, copies; whether a condition or schema works."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from components.data.suite_drafts import Criteria, drafted_suite
from metrics.core.suite import CASES, Suite
from metrics.suites import free_id
from metrics.text.condition_form import ConditionForm, form_of
from metrics.text.conditions import ConditionError, parse_condition
from metrics.text.json_text import JsonError, violations

if TYPE_CHECKING:
    import pandas as pd


class CaseToEdit(NamedTuple):
    """One case: values by column; objects: annotation_id, label, x, y, width, height; image: its file.

    before, after: ids of its neighbours among the cases that meet the criteria; place: from 1, 0 where it is not one of
    them; total: how many these are.
    """

    values: Mapping[str, Any]
    objects: pd.DataFrame
    image: Path | None
    before: str | None
    after: str | None
    place: int
    total: int


def suite_case(fingerprint: str, draft: str, criteria: Criteria, case_id: str) -> CaseToEdit | None:
    """Return a case of a draft; None where it has no such case."""
    import pandas as pd

    suite = drafted_suite(fingerprint, draft)
    rows = suite.cases.filter(pc.equal(suite.cases["case_id"], case_id)).to_pylist()
    if not rows:
        return None
    ids = suite.matching(criteria)
    place = pc.index(ids, case_id).as_py()
    columns = ["annotation_id", "label", "x", "y", "width", "height"]
    objects = pd.DataFrame(columns=columns)
    if suite.annotations is not None:
        own = suite.annotations.filter(pc.equal(suite.annotations["case_id"], case_id))
        objects = pd.DataFrame(own.select(columns).to_pylist(), columns=columns)
    name = rows[0]["image"]
    image = suite.media / Path(name).name if suite.media is not None and name else None
    return CaseToEdit(
        rows[0], objects, image,
        ids[place - 1].as_py() if place > 0 else None,
        ids[place + 1].as_py() if 0 <= place < len(ids) - 1 else None,
        place + 1, len(ids),
    )  # fmt: skip


def editable_cases(
    fingerprint: str, draft: str, criteria: Criteria, columns: Sequence[str], limit: int, offset: int
) -> tuple[pd.DataFrame, int]:
    """Return some columns of some of the cases that meet the criteria, in the suite's order, and how many do.

    A column that the suite does not have is empty; a list without items is an empty list.
    """
    import pandas as pd

    suite = drafted_suite(fingerprint, draft)
    ids = suite.matching(criteria)
    rows = suite.cases.take(pc.index_in(ids.slice(offset, limit), suite.cases["case_id"].combine_chunks()))
    found: dict[str, Any] = {}
    for name in columns:
        values = rows[name].to_pylist() if name in rows.column_names else [None] * len(rows)
        if name in CASES.names and pa.types.is_list(CASES.field(name).type):
            found[name] = pd.Series([list(value or ()) for value in values], dtype=object)
        elif name == "weight":
            found[name] = pd.Series(values, dtype="float64")
        else:
            found[name] = pd.Series(values, dtype="string")
    return pd.DataFrame(found, columns=list(columns)), len(ids)


def copies(fingerprint: str, draft: str, criteria: Criteria, chosen: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Return rows to add: the `chosen` cases (none: all that meet the criteria) under new ids."""
    suite = drafted_suite(fingerprint, draft)
    wanted = pa.array(chosen, pa.string()) if chosen else suite.matching(criteria)
    taken = set(suite.cases["case_id"].to_pylist())
    return [
        {name: value for name, value in row.items() if value is not None and not name.startswith("image_")}
        | {"case_id": free_id(taken, row["case_id"])}
        for row in suite.cases.filter(pc.is_in(suite.cases["case_id"], wanted)).to_pylist()
    ]


def next_case_ids(fingerprint: str, draft: str, count: int = 1) -> list[str]:
    """Return ids for new cases: those that follow the last one's number, as in c7 → c8, that no case has."""
    suite: Suite = drafted_suite(fingerprint, draft)
    ids = suite.cases["case_id"].to_pylist()
    stem, digits = re.fullmatch(r"(.*?)(\d{0,15})", ids[-1], re.DOTALL).groups()  # type: ignore[union-attr] # fits any text
    stem, digits = (stem, digits) if digits else ("case-", str(len(ids)))
    taken, number = set(ids), int(digits)
    found: list[str] = []
    while len(found) < count:
        number += 1
        if (id := f"{stem}{number:0{len(digits)}d}") not in taken:
            found.append(id)
    return found


def condition_problem(condition: str) -> str:
    """Return why a condition cannot be read, with the place; "" where it can."""
    try:
        parse_condition(condition)
    except ConditionError as failure:
        return str(failure)
    return ""


def condition_form(condition: str) -> ConditionForm | None:
    """Return a condition as a form; None where it cannot be read or is nested too deeply."""
    if not condition.strip():
        return ConditionForm(True, ())
    return None if condition_problem(condition) else form_of(condition)


def try_condition(condition: str, text: str) -> tuple[bool, list[tuple[str, bool]]]:
    """Return whether a text satisfies a condition, and each string and expression of it with whether it was found."""
    parsed = parse_condition(condition)
    found = parsed.terms_in(text)
    return parsed.holds(found), [(term.written, there) for term, there in zip(parsed.terms, found, strict=True)]


def schema_problem(schema: str) -> str:
    """Return why a JSON Schema cannot be used; "" where it can."""
    try:
        violations(None, schema)
    except JsonError as failure:
        return str(failure)
    return ""
