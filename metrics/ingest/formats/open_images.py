"""Open Images CSV: ImageID, LabelName, Confidence, XMin, XMax, YMin, YMax, … with boxes of 0–1 and classes by code.

The columns are found by name, so their order (XMax before YMin) does no harm. Ground truth has Confidence 1 in every
row and flags such as IsGroupOf, which is read as a crowd (−1, not known, as no). The names of the classes can stand
beside it, in class-descriptions*.csv; images are looked up by ImageID without an extension.
"""

import csv
import io
from collections.abc import Iterable

import pyarrow as pa
import pyarrow.compute as pc

from metrics.ingest.bundle import Bundle
from metrics.ingest.columns import OPEN_IMAGES, OPEN_IMAGES_TRUTH, fold
from metrics.ingest.problems import Sheet, flat

DESCRIPTIONS = "class-descriptions"


def recognises(columns: Iterable[str]) -> bool:
    """Return whether a table is of this format, by its columns."""
    return {fold(name) for name in columns} >= OPEN_IMAGES


def forget_unknown_flags(sheet: Sheet) -> None:
    """Take −1 (nobody looked) out of the flags."""
    if not recognises(sheet.table.column_names):
        return
    for place, name in enumerate(sheet.table.column_names):
        column = sheet.table[name]
        if fold(name) in OPEN_IMAGES_TRUTH and pa.types.is_string(column.type):
            known = pc.if_else(pc.equal(pc.utf8_trim_whitespace(column), "-1"), None, column)
            sheet.table = sheet.table.set_column(place, name, known)


def name_classes(sheet: Sheet, bundle: Bundle) -> None:
    """Put the names of class-descriptions*.csv, where the bundle has one, in place of the classes' codes."""
    names: dict[str, str] = {}
    for entry in bundle.ending(".csv"):
        if entry.base.lower().startswith(DESCRIPTIONS):
            text = bundle.text(entry, sheet.problems) or ""
            rows = csv.reader(io.StringIO(text, newline=""))
            try:
                names |= {row[0].strip(): row[1].strip() for row in rows if len(row) == 2 and all(map(str.strip, row))}
            except csv.Error as error:
                sheet.problems.add(bundle.file(entry), f"CSV that cannot be read: {error}", "rows of code and name")
    place = next((name for name in sheet.table.column_names if fold(name) == "label_name"), None)
    if not names or place is None or not recognises(sheet.table.column_names):
        return
    column = flat(sheet.table[place])
    found = pa.array(list(names.values()), pa.string()).take(pc.index_in(column, pa.array(list(names), pa.string())))
    index = sheet.table.column_names.index(place)
    sheet.table = sheet.table.set_column(index, place, pc.coalesce(found, column))
