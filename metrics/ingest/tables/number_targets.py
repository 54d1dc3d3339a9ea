"""Whether true values are numbers to be predicted, where the names of columns leave it open: read off their cells."""

from collections.abc import Mapping
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from metrics.core.suite import Task
from metrics.ingest.sheet import Sheet
from metrics.ingest.tables.columns import Columns, Question, Role, fold, truth_beside
from metrics.ingest.tables.decimals import NUMBER, without_absent

PLAIN = ("y_true", "target")  # what tools of classification, of regression and of text call the truth
BESIDE = ("question", "input", "prompt", "query", "user_input")  # a column that makes it an answer in text
MANY = 20  # whole numbers; fewer are classes
FRACTION = r"[.eE]"


def task_of(sheet: Sheet, role: Role, mapping: Mapping[str, str] | None) -> Task | None:
    """Return regression where the true values are numbers with fractions; None where the names of columns decide.

    A mapping of the column, or of a true value, decides too.
    """
    given = mapping or {}
    if "true_value" in given:
        return "regression"
    column = _column(sheet)
    if role == "outputs" or column is None or column in given.values():
        return None
    cells = _cells(sheet, column)
    fractions = pc.any(pc.match_substring_regex(cells, FRACTION)).as_py()
    return "regression" if _are_numbers(cells) and fractions else None


def asked(sheet: Sheet, columns: Columns, task: Task | None, mapping: Mapping[str, str] | None) -> Columns:
    """Return the columns with a question where true values are many whole numbers: classes, or numbers to predict."""
    column, given = _column(sheet), (mapping or {}).values()
    if column is None or task is not None or columns.columns.get("label") != column or column in given:
        return columns
    if not are_many_numbers(sheet):
        return columns
    question = Question(
        column, ("true_value", "label"), "Are these numbers to be predicted (regression), or the numbers of classes?"
    )
    kept = {name: own for name, own in columns.columns.items() if name != "label"}
    return replace(columns, columns=kept, questions=(*columns.questions, question))


def are_many_numbers(sheet: Sheet) -> bool:
    """Return whether true values are so many different numbers that these may not be of classes."""
    column = _column(sheet)
    cells = None if column is None else _cells(sheet, column)
    return cells is not None and len(cells.unique()) > MANY and _are_numbers(cells)


def _column(sheet: Sheet) -> str | None:
    names = {fold(name): name for name in reversed(sheet.table.column_names)}
    if not names.keys().isdisjoint(BESIDE):
        return None
    return next((names[plain] for plain in (*PLAIN, truth_beside(names.keys())) if plain in names), None)


def _cells(sheet: Sheet, column: str) -> pa.Array:
    return without_absent(sheet.decimal_points(column)).combine_chunks()


def _are_numbers(cells: pa.Array) -> bool:
    return len(cells) > 0 and bool(pc.all(pc.match_substring_regex(cells, NUMBER)).as_py())
