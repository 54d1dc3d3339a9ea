"""What a comma is in the numbers of a column: the decimal point of half the world, or a mark between thousands."""

from typing import Literal

import pyarrow as pa
import pyarrow.compute as pc

NUMBER = r"^\s*[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,4})?\s*$"
WITH_COMMA = r"^\s*[+-]?(\d+|\d{1,3}(\.\d{3})+),\d+([eE][+-]?\d{1,4})?\s*$"  # 3,5 and 1.234,5
WITH_THOUSANDS = r"^\s*[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d+)?\s*$"  # 1,234 and 1,234.5, not 0,234
POINTED_THOUSANDS = r"^\s*[+-]?[1-9]\d{0,2}(\.\d{3})+\s*$"
POINTED = r"^[^,]*\.\d[^,]*$|,\d{3},\d{3}|,\d{3}\."  # what a number with a decimal point has

ABSENT = ("na", "n/a", "nan", "null", "none")

Mark = Literal["comma", "point"]


def decimal_mark(column: pa.ChunkedArray) -> Mark | Literal["either"] | None:
    """Return the decimal mark of a column with commas in its numbers; None where it has none, or holds other texts."""
    cells = without_absent(column)
    if not _any(cells, ","):
        return None
    with_comma, with_thousands = (pc.match_substring_regex(cells, form) for form in (WITH_COMMA, WITH_THOUSANDS))
    numbers = pc.or_(pc.or_(with_comma, with_thousands), pc.match_substring_regex(cells, NUMBER))
    if not pc.all(numbers).as_py():
        return None
    comma = pc.any(pc.and_not(with_comma, with_thousands)).as_py()
    point = _any(cells, POINTED)
    return "either" if comma == point else "comma" if comma else "point"


def without_absent(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return the cells of a column of numbers that say more than that there is none."""
    return column.filter(pc.invert(pc.is_in(pc.utf8_lower(column), pa.array([None, *ABSENT], pa.string()))))


def are_thousands(column: pa.ChunkedArray) -> bool:
    """Return whether every number of a column may have points between its thousands: 1.037, 12.500, no 0.5 or 7."""
    cells = without_absent(column)
    return len(cells) > 0 and bool(pc.all(pc.match_substring_regex(cells, POINTED_THOUSANDS)).as_py())


def with_points(column: pa.ChunkedArray, mark: str) -> pa.ChunkedArray:
    """Return the numbers of a column with that decimal mark as they are written with a point."""
    if mark == "point":
        return pc.replace_substring(column, ",", "")
    pointless = pc.match_substring_regex(column, f",|{POINTED_THOUSANDS}")  # 1.234 is so many thousands
    plain = pc.if_else(pointless, pc.replace_substring(column, ".", ""), column)
    return pc.replace_substring(plain, ",", ".")


def _any(cells: pa.ChunkedArray, pattern: str) -> bool:
    return bool(pc.any(pc.match_substring_regex(cells, pattern)).as_py())
