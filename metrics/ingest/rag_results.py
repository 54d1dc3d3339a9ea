"""Open RAG Eval's result CSV: which of its columns holds which metric, and its values as one row a score.

A column is `query_id`, `query`, or a score named retrieval_score_… or generation_score_…; with repeats it is prefixed
by the repeat, `run_1_…`. A cell is a number or JSON. `consistency_NAME` holds the statistics of a score over repeats.
"""

import json
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from metrics.ingest.format_table import read_table
from metrics.ingest.problems import Problems
from metrics.ingest.sheet import Sheet

Key = tuple[str, str]  # evaluator, metric

UMBRELA_SCORES, PRECISION = "retrieval_score_umbrela_scores", "retrieval_score_precision_metrics"
NUGGETS, CITATIONS = "generation_score_autonugget_scores", "generation_score_citation_scores"
ANSWERED = "generation_score_no_answer_score"
QUESTIONS_ANSWERED = "questions_answered"  # what its plots call the share of `yes` in ANSWERED
CONSISTENCY = "consistency_"
ADJUSTED = "consistency_adjusted_index"
SCALARS: dict[str, Key] = {  # of these columns a cell is one number
    "retrieval_score_mean_umbrela_score": ("umbrela", "umbrela"),
    "generation_score_mean_nugget_assignment_score": ("autonuggetizer", "all"),
    "generation_score_vital_nuggetizer_score": ("autonuggetizer", "vital"),
    "generation_score_hallucination_score": ("hallucination_hhem", "hallucination_hhem"),
    "generation_score_citation_f1_score": ("citation", "citation_f1"),
}
INSIDE: dict[tuple[str, ...], Key] = {  # column and keys in its JSON; `#` stands for a number in both
    (PRECISION, "precision@", "#"): ("umbrela", "precision_at_#"),
    (PRECISION, "AP@", "#"): ("umbrela", "average_precision_at_#"),
    (PRECISION, "MRR"): ("umbrela", "mrr"),
    (NUGGETS, "nuggetizer_scores", "All"): ("autonuggetizer", "all"),
    (NUGGETS, "nuggetizer_scores", "All Strict"): ("autonuggetizer", "all_strict"),
    (NUGGETS, "nuggetizer_scores", "Vital"): ("autonuggetizer", "vital"),
    (NUGGETS, "nuggetizer_scores", "Vital Strict"): ("autonuggetizer", "vital_strict"),
    (NUGGETS, "nuggetizer_scores", "Weighted"): ("autonuggetizer", "weighted"),
    (NUGGETS, "nuggetizer_scores", "Weighted Strict"): ("autonuggetizer", "weighted_strict"),
    (CITATIONS, "weighted_precision"): ("citation", "citation_precision"),
    (CITATIONS, "weighted_recall"): ("citation", "citation_recall"),
    (CITATIONS, "f1"): ("citation", "citation_f1"),
    (ANSWERED, "query_answered"): ("no_answer", "no_answer"),
}
EVALUATORS = tuple(dict.fromkeys(evaluator for evaluator, _ in [*SCALARS.values(), *INSIDE.values()]))
OLDER = {  # names in earlier versions
    "generation_score_hallucination_scores": "generation_score_hallucination_score",
    "retrieval_score_precision_recall_metrics": PRECISION,
}
YES_NO = {"yes": 1.0, "no": 0.0}
PLAIN = {"query_id", "query", "retrieved_passages", "generated_answer", "expected_answer"}  # columns without scores
NAME = re.compile(r"(?:run_(\d{1,6})_)?(.*)", re.DOTALL)
RESULTS = pa.schema(
    [
        ("case_id", pa.string()),
        ("question", pa.string()),
        ("run", pa.int32()),  # null: over the repeats
        ("evaluator", pa.string()),  # of a column that is none of ours: the column
        ("metric", pa.string()),
        ("value", pa.float64()),
    ]
)


def read_rag_results(path: str | Path, filename: str | None = None) -> pa.Table:
    """Return the scores in a result CSV of Open RAG Eval as rows of RESULTS, by the names that Assay gives them.

    A score that stands in two columns is taken once. Columns of other numbers keep their name as `evaluator` with the
    metric `value`, `consistency_NAME` columns theirs with a metric for each statistic. Raises InputError listing every
    cell that is neither empty, a number nor JSON of the known form, or where the file holds no scores.
    """
    problems = Problems()
    sheet, _ = read_table(path, filename, problems)
    if "query_id" not in sheet.table.column_names:
        raise problems.fail(sheet.file, "no column query_id", "a result CSV of Open RAG Eval", 1)
    ids = sheet.table["query_id"].to_pylist()
    questions = sheet.table["query"].to_pylist() if "query" in sheet.table.column_names else [None] * len(ids)
    found: dict[tuple[int, int | None, str, str], float] = {}
    for name in sheet.table.column_names:
        number, column = NAME.fullmatch(name).groups()  # type: ignore[union-attr]  # any name matches
        column = OLDER.get(column, column)
        if column in PLAIN:
            continue
        run = None if column.startswith(CONSISTENCY) else int(number or 1)
        for row, evaluator, metric, value in _scores(sheet, name, column):
            found.setdefault((row, run, evaluator, metric), value)
    problems.check()
    if not found:
        raise problems.fail(sheet.file, "no column with scores", "columns such as " + ", ".join(list(SCALARS)[:2]), 1)
    rows = [
        (ids[row], questions[row], run, evaluator, metric, value)
        for (row, run, evaluator, metric), value in sorted(found.items(), key=lambda entry: entry[0][0])
    ]
    return pa.Table.from_pylist([dict(zip(RESULTS.names, row, strict=True)) for row in rows], RESULTS)


def _scores(sheet: Sheet, name: str, column: str) -> Iterator[tuple[int, str, str, float]]:
    """Yield row, evaluator, metric and value of each score in one column."""
    texts = sheet.text(name).to_pylist()
    cells = [(row, _json(text)) for row, text in enumerate(texts) if text and text.strip()]
    nested = column.startswith(CONSISTENCY) or any(keys[0] == column for keys in INSIDE)
    if not nested and column not in SCALARS and not all(_number(value) is not None for _, value in cells):
        return  # texts, or the grades of single passages
    for row, value in cells:
        if column.startswith(CONSISTENCY):
            listed = {(column, key): entry for key, entry in _items(_entry(value, "stats"))}
        elif nested:
            listed = dict(_inside(column, value))
        else:
            listed = {SCALARS.get(column, (column, "value")): value}
        numbers = {key: _number(entry) for key, entry in listed.items()}
        if None in numbers.values() or (nested and not isinstance(value, dict)):
            expected = "a JSON object with the numbers of this column" if nested else "a number"
            sheet.problems.add(sheet.file, repr(texts[row])[:80], expected, int(sheet.rows[row]), name)
            continue
        for (evaluator, metric), number in numbers.items():
            if number is not None and math.isfinite(number):  # NaN: the tool has no value
                yield row, evaluator, metric, number


def _inside(column: str, value: Any) -> Iterator[tuple[Key, Any]]:
    for (name, *keys), (evaluator, metric) in INSIDE.items():
        inner = value if name == column else None
        for key in keys:
            if key != "#":
                inner = _entry(inner, key)
        if keys[-1] == "#":
            numbered = ((number, entry) for number, entry in _items(inner) if number.isdecimal())
            yield from (((evaluator, metric.replace("#", number)), entry) for number, entry in numbered)
        elif inner is not None:
            yield (evaluator, metric), inner


def _items(value: Any) -> list[tuple[str, Any]]:
    return list(value.items()) if isinstance(value, dict) else []


def _entry(value: Any, key: str) -> Any:
    return value.get(key) if isinstance(value, dict) else None


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _number(value: Any) -> float | None:
    """Return a JSON number, or yes and no as 1 and 0; None for anything else."""
    if isinstance(value, str):
        return YES_NO.get(value.lower())
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value)
    except OverflowError:
        return None
