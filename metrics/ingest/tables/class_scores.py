"""Label scores of classification outputs: long (a row per class) or wide (a column per class)."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metrics.core.array_types import Floats, Ints
from metrics.core.label_keys import labels_of
from metrics.ingest import arrays
from metrics.ingest.arrays import flat, only
from metrics.ingest.problems import Problems
from metrics.ingest.sheet import NUMBER, Sheet
from metrics.ingest.tables.columns import Columns

MOST_OTHERS = 2  # columns beside the classes that hold numbers from 0 to 1 and are none
ROUNDING = 0.01  # by which scores that are shares of 1 may miss it


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


def unlisted_classes(sheet: Sheet, classes: dict[str, str], names: Sequence[str]) -> dict[str, str]:
    """Return the columns of `names` that are classes too: with them, and only so, the scores of every row sum to 1.

    They are classes that the suite does not have, in a file whose columns are named like the classes.
    """
    shares = [name for name in names if _are_shares(sheet, name)]
    if not shares or any(name != column for name, column in classes.items()):
        return {}
    known = _scores(sheet, list(classes.values())).sum(axis=0)
    scores = _scores(sheet, shares)
    if np.allclose(known, 1, atol=ROUNDING):
        return {}
    for count in range(min(MOST_OTHERS, len(shares) - 1) + 1):
        for others in combinations(range(len(shares)), count):
            if np.allclose(known + scores.sum(axis=0) - scores[list(others)].sum(axis=0), 1, atol=ROUNDING):
                return {name: name for place, name in enumerate(shares) if place not in others}
    return {}


def _are_shares(sheet: Sheet, name: str) -> bool:
    cells = pc.drop_null(sheet.text(name).combine_chunks())
    if not len(cells) or not pc.all(pc.match_substring_regex(cells, NUMBER)).as_py():
        return False
    values = pc.cast(pc.utf8_trim_whitespace(cells), pa.float64())
    return bool(pc.all(pc.and_(pc.greater_equal(values, 0), pc.less_equal(values, 1))).as_py())


def _scores(sheet: Sheet, names: Sequence[str]) -> Floats:
    """Return the numbers of columns [names, rows], 0 where there is none."""
    unchecked = Sheet(sheet.file, sheet.table, sheet.rows, Problems())
    return np.nan_to_num(np.stack([unchecked.numbers(name) for name in names]))


def wide(sheet: Sheet, classes: dict[str, str]) -> tuple[pa.Table, Ints]:
    """Return label and score of each row and class, and the row of the sheet each comes from; empty cells give none."""
    scores = np.stack([sheet.numbers(name, low=0, high=1) for name in classes.values()], axis=1)
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
        lists = flat(sheet.lists(columns, "predicted_labels"))
        rows = np.asarray(pc.list_parent_indices(lists).to_numpy(), np.int64)
        return pa.table({"label": lists.flatten(), "score": np.ones(len(rows))}), rows
    name = found.get("predicted_label") or found.get("label") or found.get("answer")
    if name is None:
        expected = "columns label and score, or prediction, or one score column for each class of the suite"
        raise sheet.problems.fail(sheet.file, "no column with the predicted class", expected, 1)
    label = sheet.text(name)
    missing = arrays.is_blank(label)
    if "score" in found:
        sheet.report(missing, name, label, "a class")
        scores = sheet.numbers(found["score"], low=0, high=1, need=True)
        rows = np.arange(len(sheet))
    else:  # a model that gave no answer predicted nothing: no row, no problem
        own = [labels_of(text) for text in only(pa.table([label], ["label"]), ~missing)["label"].to_pylist()]
        rows = np.repeat(np.flatnonzero(~missing), [len(labels) for labels in own])
        named = pa.array([one for labels in own for one in labels], pa.string())
        return pa.table({"label": named, "score": np.ones(len(rows))}), rows
    table = pa.table({"label": label, "score": arrays.floats(scores)})
    return table.take(pa.array(rows)), rows
