"""Labels with keys (core.label_keys) in an upload: several columns, rows, objects or lists become one column of text.

    label.colour, label.breed             a column a key; also of predictions, and of nested JSON objects
    label_key, label_value                a row a label (label_key, label too)
    {"colour": "red", "breed": "poodle"}  an object in a cell
    ["colour=red", "breed=poodle"]        a list in a cell; or a text: colour=red; breed=poodle

The column then holds `colour=red; breed=poodle`; of objects in images there is a row for each of the labels.
"""

from collections.abc import Iterable

import numpy as np
import orjson
import pyarrow as pa

from metrics.core.array_types import Ints
from metrics.core.label_keys import JOINT, keys_of, labels_of, split_label
from metrics.core.suite import Suite, Task
from metrics.ingest import arrays
from metrics.ingest.arrays import is_null
from metrics.ingest.sheet import Sheet
from metrics.ingest.tables import spread_labels
from metrics.ingest.tables.class_scores import column_numbers
from metrics.ingest.tables.columns import (
    IMAGE_ALIASES,
    SCORED_ALIASES,
    SUITE_ALIASES,
    Columns,
    Role,
    fold,
    is_detection,
)
from metrics.ingest.tables.values import text_of

PREDICTED = ("predicted_label", *SCORED_ALIASES["predicted_label"], "prediction")
NAMES = ("label", *SUITE_ALIASES["label"], *PREDICTED)
SCORES = ("score", *SCORED_ALIASES["score"], "scores")
CASES = ("case_id", *SUITE_ALIASES["case_id"])


def gather(sheet: Sheet, role: Role, task: Task | None, suite: Suite | None = None) -> None:
    """Write the labels of a sheet in one column if they have keys; `suite`: the one that outputs belong to."""
    if role == "suite":
        spread_labels.join_one_hot(sheet, task)
    elif task == "classification":
        spread_labels.spread_scores(sheet)
    _join_columns(sheet, suite)
    paired = _join_pairs(sheet)
    names = {fold(name): name for name in reversed(sheet.table.column_names)}
    vision = task in ("detection", "segmentation") or (task is None and is_detection(names))
    for known in (*NAMES, *(IMAGE_ALIASES["label"] if vision else ())):
        cells = sheet.text(names[known]).to_pylist() if known in names else []
        if any(cell and cell.lstrip()[:1] in ("{", "[") for cell in cells):  # {"colour": "red"}, ["colour=red"]
            sheet.put(names[known], [cell and _of_cell(sheet, cell) for cell in cells])
    if suite is not None and suite.label_keys:  # score.colour.red becomes colour=red
        dotted = {label.replace("=", ".", 1): label for label in suite.labels}
        called = {prefix + own: label for own, label in dotted.items() for prefix in ("", *(f"{n}." for n in SCORES))}
        sheet.table = sheet.table.rename_columns([called.get(name, name) for name in sheet.table.column_names])
    label = next((names[known] for known in (*PREDICTED, *NAMES) if known in names), None)
    case = next((names[known] for known in CASES if known in names), None)
    if vision and label is not None:
        _a_row_each(sheet, label)
    elif paired and role == "suite" and case is not None and label is not None:
        _a_row_a_case(sheet, case, label)


def keys_in(sheet: Sheet, columns: Columns) -> tuple[str, ...]:
    """Return the keys of the labels in a gathered sheet; none where a label has none."""
    name = columns.columns.get("predicted_label") or columns.columns.get("label")
    texts = [] if name is None else sheet.text(name).unique().to_pylist()
    return keys_of(label for text in texts if text and text.strip() for label in labels_of(text))


def check_cases(sheet: Sheet, column: str, labels: pa.ChunkedArray | pa.Array) -> None:
    """Record as problems the true labels that give a key twice, in a file whose labels have keys."""
    texts = [text or "" for text in labels.to_pylist()]
    if keys_of(label for text in set(texts) if text.strip() for label in labels_of(text)):
        counts = [[split_label(label)[0] for label in labels_of(text)] for text in texts]
        wrong = (len(set(keys)) < len(keys) for keys in counts)
        sheet.report_values(wrong, column, texts, "one label of each key, such as colour=red; breed=poodle")


def check_predictions(sheet: Sheet, labels: pa.ChunkedArray, rows: Ints, suite: Suite) -> None:
    """Record as problems the predicted labels that have none of the suite's keys; `rows`: of the sheet, of each."""
    known = {label: split_label(label)[0] in suite.label_keys for label in labels.unique().to_pylist() if label}
    pairs = zip(rows, labels.to_pylist(), strict=True)
    found = {int(row): repr(label) for row, label in pairs if label is not None and not known[label]}
    keys = ", ".join(suite.label_keys)
    sheet.blame_rows(found, None, f"a label with one of the suite's keys, {keys}, such as {suite.labels[0]}")


def _join_columns(sheet: Sheet, suite: Suite | None) -> None:
    """Join label.colour, label.breed … to one column `label`; the same of every name that labels have."""
    # Numbers are no labels but scores, where the suite's labels have no keys.
    keyed = suite is None or suite.label_keys
    columns = sheet.table.column_names
    for base in dict.fromkeys(name.partition(".")[0] for name in columns if "." in name):
        parts = {name: name.partition(".")[2] for name in columns if name.startswith(base + ".")}
        if fold(base) not in NAMES or base in columns or any("." in key for key in parts.values()):
            continue
        if not keyed and all(column_numbers(sheet, name) is not None for name in parts):
            continue
        cells = [sheet.text(name).to_pylist() for name in parts]
        joined = [_joined(sheet, zip(parts.values(), row, strict=True)) for row in zip(*cells, strict=True)]
        sheet.table = sheet.table.drop_columns(list(parts))
        sheet.put(base, joined)


def _join_pairs(sheet: Sheet) -> bool:
    """Join label_key and label_value (or label) to one column `label`; return whether there were any."""
    names = {fold(name): name for name in reversed(sheet.table.column_names)}
    value = next((names[known] for known in ("label_value", *NAMES) if known in names), None)
    if "label_key" not in names or value is None:
        return False
    key = names["label_key"]
    columns = [sheet.text(name) for name in (key, value)]
    sheet.report(is_null(columns[0]) & ~is_null(columns[1]), key, columns[0], "the key of the label")
    joined = [_joined(sheet, [pair]) for pair in zip(*(column.to_pylist() for column in columns), strict=True)]
    sheet.table = sheet.table.drop_columns([key, value])
    sheet.put("label" if fold(value) == "label_value" else value, joined)
    return True


def _of_cell(sheet: Sheet, text: str) -> str | None:
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return text
    if isinstance(value, dict) and value and not any(isinstance(one, dict | list) for one in value.values()):
        return _joined(sheet, value.items())
    if isinstance(value, list) and value and all(isinstance(one, str) and split_label(one)[0] for one in value):
        return JOINT.join(value)
    return text


def _joined(sheet: Sheet, pairs: Iterable[tuple[str | None, object]]) -> str | None:
    """Return the labels of one row as text; None without any. A semicolon would read as the end of a label."""
    labels = []
    for key, value in pairs:
        text = text_of(value)
        if key is not None and text is not None and text.strip():
            label = f"{key}={text}"
            if split_label(label) != (key.strip(), text.strip()):
                found = f"the key {key!r} with the value {text!r}"
                expected = "a key without = and ;, and a value without ;"
                sheet.problems.add(sheet.file, found, expected, fatal=True)
            labels.append(label)
    return JOINT.join(labels) or None


def _a_row_each(sheet: Sheet, name: str) -> None:
    """Repeat the rows that have several labels, one label each."""
    labels = [labels_of(text) if text else (text,) for text in sheet.text(name).to_pylist()]
    if any(len(own) > 1 for own in labels):
        sheet.take(np.repeat(np.arange(len(sheet)), [len(own) for own in labels]))
        sheet.put(name, [label for own in labels for label in own])


def _a_row_a_case(sheet: Sheet, case: str, label: str) -> None:
    """Put the labels of a case, one a row, in its first row; other values that differ are problems."""
    again, first = arrays.duplicates([sheet.table[case]])
    for name in sheet.table.column_names:
        if name != label:
            differs = arrays.differs(sheet.table[name], first)
            sheet.report(differs, name, sheet.table[name], "the same value in all rows of one case")
    texts = sheet.text(label).to_pylist()
    own: dict[int, list[str]] = {}
    for head, text in zip(first.tolist(), texts, strict=True):
        own.setdefault(head, []).extend([text] if text else [])
    sheet.bad[first[sheet.bad]] = True
    sheet.put(label, [JOINT.join(own.get(place, ())) or None for place in range(len(sheet))])
    sheet.take(np.flatnonzero(~again))
