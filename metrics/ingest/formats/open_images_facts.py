"""What Open Images has beside its table of boxes: the hierarchy of classes, and the classes that images lack.

The hierarchy is a tree {LabelName, Subcategory: […]} in *hierarchy*.json; its root, which is no class, is left out, and
a class that stands in it twice keeps its first place. *-imagelabels*.csv has a row ImageID, LabelName, Confidence for
each image and class that a person looked for; 0 says that the image has none.
"""

import io
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from metrics.core.classes import ClassFacts
from metrics.core.suite import STRINGS, Suite
from metrics.ingest.media.bundle import Bundle
from metrics.ingest.problems import Loaded, Problems
from metrics.ingest.tables.object_tables import find_cases

HIERARCHY, LABELS = "hierarchy", "-imagelabels"  # in the names of the files
TREE = "a tree of {LabelName, Subcategory: […]}"
DEEPEST = 100
COLUMNS = {"ImageID": pa.string(), "LabelName": pa.string(), "Confidence": pa.float64()}


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
    options = csv.ConvertOptions(column_types=COLUMNS, include_columns=list(COLUMNS))
    try:
        table = csv.read_csv(io.BytesIO(data or b""), convert_options=options)
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
