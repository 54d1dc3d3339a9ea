"""Open Images CSV: ImageID, LabelName, Confidence, XMin, XMax, YMin, YMax, … with boxes of 0–1 and classes by code.

It is read as any table of objects: columns are found by name, so their order (XMax before YMin) does not matter. Ground
truth has Confidence 1 in every row and flags such as IsGroupOf, which is read as a crowd (−1, unknown, counts as no).
Class names may be in *class-descriptions*.csv beside the table; images are looked up by ImageID without an extension.
Without images their sizes are unknown: see `SuiteImages.assume_sizes`. What else a folder holds: `with_facts`.
"""

import csv
import io
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow_csv

from metrics.core.classes import ClassFacts
from metrics.core.suite import STRINGS, Suite
from metrics.ingest.arrays import flat
from metrics.ingest.media.bundle import Bundle
from metrics.ingest.reader import DESCRIPTIONS
from metrics.ingest.sheet import Sheet
from metrics.ingest.source import Loaded, Problems
from metrics.ingest.tables.columns import fold
from metrics.ingest.tables.object_tables import find_cases

HIERARCHY, LABELS = "hierarchy", "-imagelabels"  # in the names of the files
TREE = "a tree of {LabelName, Subcategory: […]}"
DEEPEST = 100
COLUMNS = {"ImageID": pa.string(), "LabelName": pa.string(), "Confidence": pa.float64()}


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


def with_facts(loaded: Loaded[Suite], bundle: Bundle, names: dict[str, str], problems: Problems) -> Loaded[Suite]:
    """Return the suite with the facts that the other files of its folder or zip hold; `names` go by class code."""
    suite, parents = loaded.value, dict[str, str]()
    for entry in bundle.ending(".json"):
        if HIERARCHY in entry.base.lower():
            for child, parent in _tree(bundle.file(entry), bundle.data(entry, problems), problems):
                parents.setdefault(names.get(child, child), names.get(parent, parent))
    listed = [entry for entry in bundle.ending(".csv") if LABELS in entry.base.lower()]
    absent = [_absent(bundle.file(entry), bundle.data(entry, problems), problems) for entry in listed]
    problems.check()
    if parents:
        suite = replace(suite, classes={label: ClassFacts(parent=parent) for label, parent in parents.items()})
    if absent:
        suite = replace(suite, cases=_with_lists(suite.cases, pa.concat_tables(absent), names))
    return replace(loaded, value=suite)


def _tree(file: str, data: bytes | None, problems: Problems) -> Iterator[tuple[str, str]]:
    """Yield each class with the one above it."""
    try:
        root = orjson.loads(data or b"{}")
        left: list[tuple[Any, str | None, int]] = [(node, None, 0) for node in root.get("Subcategory", [])]
        while left:
            node, parent, depth = left.pop(0)
            label = node["LabelName"]
            if parent is not None:
                yield label, parent
            if not isinstance(label, str) or depth > DEEPEST:
                raise ValueError
            left += [(below, label, depth + 1) for below in node.get("Subcategory", [])]
    except (ValueError, KeyError, TypeError, AttributeError):
        problems.add(file, "another JSON document", TREE, fatal=True)


def _absent(file: str, data: bytes | None, problems: Problems) -> pa.Table:
    """Return the images and the classes that they lack."""
    options = arrow_csv.ConvertOptions(column_types=COLUMNS, include_columns=list(COLUMNS))
    try:
        table = arrow_csv.read_csv(io.BytesIO(data or b""), convert_options=options)
    except (pa.ArrowInvalid, pa.ArrowKeyError) as error:
        problems.add(file, str(error)[:200], f"the columns {', '.join(COLUMNS)}", fatal=True)
        return pa.schema(COLUMNS).empty_table()
    return table.filter(pc.equal(table["Confidence"], 0))


def _with_lists(cases: pa.Table, absent: pa.Table, names: dict[str, str]) -> pa.Table:
    """Return the cases with the classes that they lack; an empty list where none is known."""
    place: Any = find_cases(absent["ImageID"].combine_chunks(), cases).fill_null(-1).to_numpy(zero_copy_only=False)
    codes = absent["LabelName"].to_pylist()
    lists: list[list[str]] = [[] for _ in range(len(cases))]
    for row in np.flatnonzero(place >= 0).tolist():
        lists[place[row]].append(names.get(codes[row], codes[row]))
    column = cases.schema.get_field_index("negative_labels")
    return cases.set_column(column, "negative_labels", pa.array([[*dict.fromkeys(each)] for each in lists], STRINGS))
