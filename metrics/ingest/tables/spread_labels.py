"""Classes that are spread over columns, or packed in lists with their scores: they become columns that are read.

MEL,NV,BCC: 1,0,0                                    a true class, a column each, becomes label: MEL
[{"label": "cat", "score": 0.9}, …]                  scores in a list become columns scores.cat, scores.dog, …
"labels": ["cat", "dog"], "scores": [0.9, 0.1]       so do two lists
{"prediction": {"label": "cat", "score": 0.9}}       a predicted class and its score
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import orjson
import pyarrow as pa

from metrics.core.receipt import FileQuestion
from metrics.core.suite import Task
from metrics.ingest.arrays import may_hold
from metrics.ingest.sheet import FALSE, TRUE, Sheet
from metrics.ingest.tables.columns import FIELD_NAMES, SUITE_ALIASES, USEFUL, fold, is_detection

FLAGS = {**dict.fromkeys(TRUE, 1), **dict.fromkeys(FALSE, 0)}
LEADS = re.compile(r"(?:labels?|class|is|y|target|true|gt)[_. ]", re.IGNORECASE)
TRUTHS = {name for own in USEFUL for name in (own, *SUITE_ALIASES.get(own, ()))}
CLASSES = {name for own in ("label", "labels") for name in (own, *SUITE_ALIASES[own])}
NAMES, SCORES = ("label", "class", "name"), ("score", "confidence", "probability", "prob")
LISTS = (("labels", "scores"), ("predicted_labels", "scores"), ("classes", "scores"), ("classes", "probabilities"))
PACKED = {*FIELD_NAMES, "scores", "predictions", "result", "results", "probabilities", "classification"}
MOST_CLASSES = 5_000


def join_one_hot(sheet: Sheet, task: Task | None) -> None:
    """Write the columns of 0 and 1 of a suite without a true class as `label`, or as `labels` where a row has several.

    A suite that asks or expects something else has them as metadata, unless it is said to be of classification.
    """
    names = {fold(name) for name in sheet.table.column_names}
    if task not in ("classification", None) or names & (CLASSES if task else TRUTHS) or not len(sheet):
        return
    if is_detection(sheet.table.column_names):
        return
    columns = [name for name in sheet.table.column_names if fold(name) not in FIELD_NAMES and "." not in name]
    flags = {name: own for name in columns if (own := _flags(sheet, name)) is not None}
    if len(flags) < 2:
        return
    count = np.sum(list(flags.values()), axis=0)
    shown = ", ".join(list(flags)[:5]) + (", …" if len(flags) > 5 else "")
    single = bool((count == 1).all())
    kind = "label" if single else "labels"
    ones = "one is 1 in each row" if single else f"up to {count.max()} are 1 in a row"
    found = f"columns of 0 and 1, {shown}: {ones}"
    question = FileQuestion("one_hot", "Are these the true classes of the case?", (kind, "metadata"))
    if sheet.problems.ask(sheet.file, question, found, default=kind if single else None) != kind:
        return
    lead = LEADS.match(next(iter(flags)))
    cut = lead[0] if lead and all(name.startswith(lead[0]) and name != lead[0] for name in flags) else ""
    true = [[name.removeprefix(cut) for name, cells in flags.items() if cells[row]] for row in range(len(sheet))]
    sheet.table = sheet.table.drop_columns(list(flags))
    cells = [each[0] if single else orjson.dumps(each).decode() for each in true]
    sheet.put("label" if single else "true_labels", cells)


def _flags(sheet: Sheet, name: str) -> Sequence[int] | None:
    cells = [FLAGS.get((text or "").strip().lower()) for text in sheet.text(name).to_pylist()]
    return None if None in cells else [cell for cell in cells if cell is not None]


def spread_scores(sheet: Sheet) -> None:
    """Write classes and scores in lists as a score column each, and a nested class and score as columns."""
    names = sheet.table.column_names
    for base in {name.rpartition(".")[0] for name in names} - {""}:
        parts = {part: next((name for name in names if name == f"{base}.{part}"), None) for part in ("label", "score")}
        if None not in parts.values() and not {"label", "score"} & set(names):
            plain = [name.removeprefix(f"{base}.") if name in parts.values() else name for name in names]
            sheet.table = sheet.table.rename_columns(plain)
            return
    folded = {fold(name): name for name in reversed(names)}
    for labels, scores in LISTS:
        if labels in folded and scores in folded and may_hold(sheet.text(folded[scores]), b"["):
            pair = [[_read_list(text) for text in sheet.text(folded[name]).to_pylist()] for name in (labels, scores)]
            rows = [_pair(*cells) for cells in zip(*pair, strict=True)]
            if _put_scores(sheet, rows, [folded[labels], folded[scores]]):
                return
    for name in names:
        if fold(name) not in PACKED or not may_hold(sheet.text(name), b"["):
            continue
        lists = [_read_list(text) for text in sheet.text(name).to_pylist()]
        if _put_scores(sheet, [_read_scores(items) for items in lists], [name]):
            return


def _read_list(text: str | None) -> list[Any] | None:
    if text is None or not text.lstrip().startswith("["):
        return None
    try:
        found = orjson.loads(text)
        return [orjson.loads(item) if isinstance(item, str) and item[:1] == "{" else item for item in found]
    except orjson.JSONDecodeError:
        return None


def _read_scores(items: list[Any] | None) -> dict[str, float] | None:
    """Return the scores of a list of objects, each a class and its score; None where it is another list."""
    while items and len(items) == 1 and isinstance(items[0], list):  # a batch of one
        items = items[0]
    found: dict[str, float] = {}
    for item in items or ():
        fields = item if isinstance(item, dict) else {}
        label, score = (next((fields[key] for key in keys if key in fields), None) for keys in (NAMES, SCORES))
        if not isinstance(label, str) or not isinstance(score, int | float):
            return None
        found.setdefault(label, score)
    return found or None


def _pair(labels: list[Any] | None, scores: list[Any] | None) -> dict[str, float] | None:
    if not labels or not scores or len(labels) != len(scores):
        return None
    try:
        return {str(label): float(score) for label, score in zip(labels, scores, strict=True)}
    except (TypeError, ValueError):
        return None


def _put_scores(sheet: Sheet, rows: Sequence[Mapping[str, float] | None], names: Sequence[str]) -> bool:
    """Put the scores of the rows in columns `scores.CLASS` in place of others; return whether they are."""
    filled = ~np.logical_and.reduce([np.asarray(sheet.table[name].is_null()) for name in names])
    classes = dict.fromkeys(label for row in rows for label in row or ())
    if (
        not classes
        or len(classes) > MOST_CLASSES
        or any(row is None for row, own in zip(rows, filled, strict=True) if own)
    ):
        return False
    sheet.table = sheet.table.drop_columns(list(names))
    for label in classes:
        cells = [None if row is None or label not in row else repr(row[label]) for row in rows]
        sheet.table = sheet.table.append_column(f"scores.{label}", pa.array(cells, pa.string()))
    return True
