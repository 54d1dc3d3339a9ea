"""Label scores of classification outputs: long (a row per class) or wide (a column per class)."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metrics.core.array_types import Ints
from metrics.core.label_keys import labels_of
from metrics.ingest.sheet import Sheet, flat, only
from metrics.ingest.tables import sheet_cells
from metrics.ingest.tables.columns import Columns


def class_columns(columns: Sequence[str], labels: Sequence[str]) -> dict[str, str]:
    """Return class → its score column, where a file has one for each class, named like the classes or with one prefix.

    With a prefix ("score_cat") classes that the suite does not have are found too. Empty where the file is not of that
    form.
    """
    if {"label", "score"} <= set(columns):
        return {}
    prefixes = {column[: -len(label)] for label in labels if label for column in columns if column.endswith(label)}
    best: dict[str, str] = {}
    for prefix in sorted(prefixes):
        hits = {label: prefix + label for label in labels if prefix + label in columns}
        if len(hits) >= min(2, len(labels)) and len(hits) > len(best):
            best = hits
            if prefix[-1:] in ("_", ".", ":", "-", " "):
                best |= {name[len(prefix) :]: name for name in columns if name.startswith(prefix) and name != prefix}
    return best


def wide(sheet: Sheet, classes: dict[str, str]) -> tuple[pa.Table, Ints]:
    """Return label and score of each row and class, and the row of the sheet each comes from; empty cells give none."""
    scores = np.stack([sheet_cells.numbers(sheet, name, low=0, high=1) for name in classes.values()], axis=1)
    empty = np.isnan(scores).all(axis=1)
    first = next(iter(classes.values()))
    sheet.report(empty & ~sheet.bad, first, "no score in any class column", "a score from 0 to 1 for each class")
    rows, places = np.nonzero(~np.isnan(scores))
    labels = pa.array(list(classes), pa.string()).take(pa.array(places))
    return pa.table({"label": labels, "score": pa.array(scores[rows, places])}), rows


def long(sheet: Sheet, columns: Columns) -> tuple[pa.Table, Ints]:
    """Return label and score (1 where the file has none) of each row, and the row of the sheet it comes from.

    The predicted class is the column predicted_label, else label, else the answer; predicted_labels has several.
    """
    found = columns.columns
    if "predicted_labels" in found:
        lists = flat(sheet_cells.lists(sheet, columns, "predicted_labels"))
        rows = np.asarray(pc.list_parent_indices(lists).to_numpy(), np.int64)
        return pa.table({"label": lists.flatten(), "score": np.ones(len(rows))}), rows
    name = found.get("predicted_label") or found.get("label") or found.get("answer")
    if name is None:
        expected = "columns label and score, or prediction, or one score column for each class of the suite"
        raise sheet.problems.fail(sheet.file, "no column with the predicted class", expected, 1)
    label = sheet_cells.text(sheet, name)
    missing = sheet_cells.is_blank(label)
    if "score" in found:
        sheet.report(missing, name, label, "a class")
        scores = sheet_cells.numbers(sheet, found["score"], low=0, high=1, need=True)
        rows = np.arange(len(sheet))
    else:  # a model that gave no answer predicted nothing: no row, no problem
        own = [labels_of(text) for text in only(pa.table([label], ["label"]), ~missing)["label"].to_pylist()]
        rows = np.repeat(np.flatnonzero(~missing), [len(labels) for labels in own])
        named = pa.array([one for labels in own for one in labels], pa.string())
        return pa.table({"label": named, "score": np.ones(len(rows))}), rows
    table = pa.table({"label": label, "score": sheet_cells.floats(scores)})
    return table.take(pa.array(rows)), rows
