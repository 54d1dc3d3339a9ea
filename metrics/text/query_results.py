"""Results of queries compared: the same rows, in order or in any order, numbers within a tolerance."""

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from typing import Any

Row = Sequence[Any]  # of None, int, float and str
MATCHED = 300  # rows alike but for their numbers, up to which the best pairing is looked for


def same_rows(found: Sequence[Row], expected: Sequence[Row], *, ordered: bool, tolerance: float) -> bool:
    """Return whether two results are the same: as many rows and columns, and cells that are equal.

    Whole numbers are equal exactly; where one of two numbers is not whole by type, they are equal within `tolerance`,
    relative or absolute. A missing value equals a missing value. In any order, each row of one result is paired with
    one of the other: the best pairing is looked for among up to MATCHED rows that differ in numbers alone, beyond that
    rows are paired in the order of their values.
    """
    if len(found) != len(expected) or {len(row) for row in found} != {len(row) for row in expected}:
        return False
    if ordered:
        return all(_alike(row, other, tolerance) for row, other in zip(found, expected, strict=True))
    if Counter(map(tuple, found)) == Counter(map(tuple, expected)):
        return True
    groups: dict[Hashable, tuple[list[Row], list[Row]]] = defaultdict(lambda: ([], []))
    for side, rows in enumerate((found, expected)):
        for row in rows:
            groups[tuple("number" if _is_number(cell) else (cell,) for cell in row)][side].append(row)
    return all(_paired(*pair, tolerance) for pair in groups.values())


def _paired(found: Sequence[Row], expected: Sequence[Row], tolerance: float) -> bool:
    """Return whether each row has a partner of its own among rows that differ in their numbers alone."""
    if len(found) != len(expected):
        return False
    pairs = zip(sorted(map(_numbers, found)), sorted(map(_numbers, expected)), strict=True)
    if all(_alike(row, other, tolerance) for row, other in pairs):
        return True
    if len(found) > MATCHED:
        return False
    partners = [[place for place, other in enumerate(expected) if _alike(row, other, tolerance)] for row in found]
    return _all_matched(partners)


def _all_matched(partners: Sequence[Sequence[int]]) -> bool:
    """Return whether each row can have one of its partners for itself (augmenting paths, breadth first)."""
    taken: dict[int, int] = {}  # partner → row
    for start in range(len(partners)):
        came: dict[int, int] = {}  # partner → the row that reached it
        queue, free = [start], None
        for row in queue:
            for partner in partners[row]:
                if partner not in came:
                    came[partner] = row
                    if partner not in taken:
                        free = partner
                        break
                    queue.append(taken[partner])
            if free is not None:
                break
        if free is None:
            return False
        held = {row: partner for partner, row in taken.items()}
        while free is not None:  # each row on the path takes the partner that it reached, and frees its former one
            row = came[free]
            taken[free], free = row, held.get(row)
    return True


def _numbers(row: Row) -> list[Any]:
    return [cell for cell in row if _is_number(cell)]


def _alike(row: Row, other: Row, tolerance: float) -> bool:
    return all(_equal(one, two, tolerance) for one, two in zip(row, other, strict=True))


def _equal(one: Any, two: Any, tolerance: float) -> bool:
    if _is_number(one) and _is_number(two) and float in (type(one), type(two)):
        return math.isclose(one, two, rel_tol=tolerance, abs_tol=tolerance)
    return type(one) is type(two) and bool(one == two)


def _is_number(cell: Any) -> bool:
    return isinstance(cell, int | float)
