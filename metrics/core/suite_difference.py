"""What differs between two suites: cases added, removed, and changed field by field."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metrics.core.array_types import Bools
from metrics.core.fields import CASE_FIELDS
from metrics.core.suite import Suite

OBJECTS = "objects"  # field of a change: the annotations of an image
UNSEEN = {each.name for each in CASE_FIELDS if each.role == "sort"}  # columns of a case that are not what it asks


@dataclass(frozen=True, slots=True)
class Change:
    """One field of one case, before and after; None for no value, and of `objects` the annotations in words."""

    case_id: str
    field: str
    before: Any
    after: Any


@dataclass(frozen=True)
class Difference:
    """The ids of cases that only the later suite has, of those only in the earlier, and what changed in others."""

    added: tuple[str, ...]
    removed: tuple[str, ...]
    changes: tuple[Change, ...]

    @cached_property
    def changed(self) -> tuple[str, ...]:
        """The ids of the cases that changed, in the order of the later suite."""
        return tuple(dict.fromkeys(change.case_id for change in self.changes))


def difference(before: Suite, after: Suite) -> Difference:
    """Return how `after` differs from `before`; the order of the cases does not matter."""
    old, new = before.cases["case_id"].combine_chunks(), after.cases["case_id"].combine_chunks()
    added = new.filter(pc.invert(pc.is_in(new, old))).to_pylist()
    removed = old.filter(pc.invert(pc.is_in(old, new))).to_pylist()
    there = pc.index_in(new, old)
    ids = new.filter(there.is_valid())
    left, right = before.cases.take(there.drop_null()), after.cases.filter(there.is_valid())
    found: list[tuple[int, Change]] = []
    for field in dict.fromkeys([*after.cases.column_names, *before.cases.column_names]):
        one, other = column_or_nulls(left, field), column_or_nulls(right, field)
        found += [
            (place, Change(ids[place].as_py(), field, one[place].as_py(), other[place].as_py()))
            for place in np.flatnonzero(differ(one, other)).tolist()
        ]
    if before.annotations is not None or after.annotations is not None:
        one_of, other_of = _objects(before), _objects(after)
        found += [
            (place, Change(id, OBJECTS, _words(one_of(id)), _words(other_of(id))))
            for place, id in enumerate(ids.to_pylist())
            if one_of(id) != other_of(id)
        ]
    found.sort(key=lambda pair: pair[0])
    return Difference(tuple(added), tuple(removed), tuple(change for _, change in found))


def column_or_nulls(table: pa.Table, name: str) -> pa.Array:
    """Return a column of a table as one array, nulls where the table lacks it."""
    return table[name].combine_chunks() if name in table.column_names else pa.nulls(len(table), pa.string())


def differ(one: pa.Array, other: pa.Array) -> Bools:
    """Return where two columns [n] have different values, of lists different items; NaN differs from itself."""
    if one.type != other.type:  # one of them is missing, or has no value at all
        pairs = zip(one.to_pylist(), other.to_pylist(), strict=True)
        return np.fromiter((a != b for a, b in pairs), bool, len(one))
    if not pa.types.is_list(one.type):
        unequal = pc.fill_null(pc.not_equal(one, other), False)
        return np.asarray(pc.or_(unequal, pc.xor(one.is_null(), other.is_null())).to_numpy(zero_copy_only=False), bool)
    sizes = [pc.fill_null(pc.list_value_length(column), -1).to_numpy() for column in (one, other)]
    differs = np.asarray(sizes[0] != sizes[1])
    alike = np.flatnonzero(~differs & (sizes[0] > 0))
    items = [column.take(pa.array(alike)).flatten() for column in (one, other)]
    differs[np.repeat(alike, sizes[0][alike])[differ(*items)]] = True
    return differs


def _objects(suite: Suite) -> Callable[[str], list[dict[str, Any]]]:
    """Return a function that gives the annotations of a case, without their numbers."""
    by_case: dict[str, list[dict[str, Any]]] = {}
    rows = [] if suite.annotations is None else suite.annotations.drop_columns(["annotation_id"]).to_pylist()
    for row in rows:
        by_case.setdefault(row.pop("case_id"), []).append(row)
    return lambda id: by_case.get(id, [])


def _words(objects: list[dict[str, Any]]) -> str:
    """Return objects as lines: label and box."""
    lines = []
    for each in objects:
        box = [each[side] for side in ("x", "y", "width", "height")]
        lines.append(f"{each['label']} " + " ".join("?" if side is None else f"{side:g}" for side in box))
    return "\n".join(lines)
