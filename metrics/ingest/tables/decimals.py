"""What a comma is in the numbers of a column: the decimal point of half the world, or a mark between thousands."""

import re
from typing import Literal

import pyarrow as pa
import pyarrow.compute as pc

NUMBER = r"^\s*[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,4})?\s*$"
WITH_COMMA = r"^\s*[+-]?(\d+|\d{1,3}(\.\d{3})+),\d+([eE][+-]?\d{1,4})?\s*$"  # 3,5 and 1.234,5
WITH_THOUSANDS = r"^\s*[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d+)?\s*$"  # 1,234 and 1,234.5, not 0,234
POINTED_THOUSANDS = r"^\s*[+-]?[1-9]\d{0,2}(\.\d{3})+\s*$"
POINTED = r"^[^,]*\.\d[^,]*$|,\d{3},\d{3}|,\d{3}\."  # what a number with a decimal point has

WRITTEN = re.compile(  # with blanks or apostrophes between thousands, and a unit
    r"\s*([^\W\d_]{0,3}[$€£¥]?)\s*([+−-]?(?:\d{1,3}(?:[\s'’]\d{3})+(?:[.,]\d+)?|\d[\d.,]*|[.,]\d+)(?:[eE][+-]?\d{1,4})?)"
    r"\s*([^\W\d_]{0,9}|[%‰$€£¥])\s*"
)
UNITS = {"$": "usd", "us$": "usd", "sec": "s", "seconds": "s", "token": "tokens"}
MAGNITUDES = ("k", "m", "b", "g", "t", "tsd", "mio", "mrd", "bn", "mn", "million", "billion", "thousand")
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


def without_unit(column: pa.ChunkedArray) -> tuple[list[str | None], str, str] | None:
    """Return a column's numbers without blanks, the unit that all have, "" for none, and an example; None for others.

    >>> without_unit(pa.chunked_array([["1 234,5 €", None, "3 €"]]))
    (['1234,5', None, '3'], '€', '1 234,5 €')
    """
    found = {text: WRITTEN.fullmatch(text) for text in without_absent(column).unique().to_pylist()}
    units = {None if each is None else (each[1] + each[3]).lower() for each in found.values()}
    if len(units) != 1 or not units.isdisjoint({None, *MAGNITUDES}):
        return None
    bare = {text: re.sub(r"[\s'’]", "", each[2]).replace("−", "-") for text, each in found.items() if each is not None}
    unit = next(iter(units)) or ""
    return [bare.get(text) for text in column.to_pylist()], UNITS.get(unit, unit), next(iter(bare))


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
