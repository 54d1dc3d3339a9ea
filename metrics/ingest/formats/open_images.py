"""Open Images CSV: ImageID, LabelName, Confidence, XMin, XMax, YMin, YMax, … with boxes of 0–1 and classes by code.

It is read as any table of objects: columns are found by name, so their order (XMax before YMin) does not matter. Ground
truth has Confidence 1 in every row and flags such as IsGroupOf, which is read as a crowd (−1, unknown, counts as no).
Class names may be in *class-descriptions*.csv beside the table; images are looked up by ImageID without an extension.
Without images their sizes are unknown: see `SuiteImages.assume_sizes`. What else a folder holds: open_images_facts.
"""

import csv
import io

import pyarrow as pa
import pyarrow.compute as pc

from metrics.ingest.arrays import flat
from metrics.ingest.media.bundle import Bundle
from metrics.ingest.problems import Problems
from metrics.ingest.reader import DESCRIPTIONS
from metrics.ingest.sheet import Sheet
from metrics.ingest.tables.columns import fold


def class_names(bundle: Bundle, problems: Problems) -> dict[str, str]:
    """Return the names of classes by code in *class-descriptions*.csv, where the folder or zip has one."""
    names: dict[str, str] = {}
    for entry in bundle.ending(".csv"):
        if DESCRIPTIONS in entry.base.lower():
            text = bundle.text(entry, problems) or ""
            rows = csv.reader(io.StringIO(text, newline=""))
            try:
                names |= {row[0].strip(): row[1].strip() for row in rows if len(row) == 2 and all(map(str.strip, row))}
            except csv.Error as error:
                problems.add(bundle.file(entry), f"CSV that cannot be read: {error}", "rows of code and name")
    return names


def name_classes(sheet: Sheet, names: dict[str, str]) -> None:
    """Replace the codes of classes by these names."""
    place = next((name for name in sheet.table.column_names if fold(name) == "label_name"), None)
    if not names or place is None:
        return
    column = flat(sheet.table[place])
    found = pa.array(list(names.values()), pa.string()).take(pc.index_in(column, pa.array(list(names), pa.string())))
    index = sheet.table.column_names.index(place)
    sheet.table = sheet.table.set_column(index, place, pc.coalesce(found, column))
