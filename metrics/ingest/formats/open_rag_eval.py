"""Open RAG Eval's result CSV: a row a query, its answer and passages, and a column a score; `run_1_…` with repeats.

A column is `query_id`, `query`, or a score named retrieval_score_… or generation_score_…; with repeats it is prefixed
by the repeat, `run_1_…`. A cell is a number or JSON. `consistency_NAME` holds the statistics of a score over repeats.
As an upload it is cases and answers; each score is the number `score.NAME` of its output, by Assay's name, which
`own_scores` reads, with the details as its reason.
"""

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from metrics.core.fields import METADATA, REASON, SCORE
from metrics.ingest.formats.tool_records import Fault, Numbered, Record, names_of, records_of, references, tool_reader
from metrics.ingest.leaf_notes import leaves_of
from metrics.ingest.reader import Upload
from metrics.ingest.source import Problems
from metrics.ingest.tables.values import text_of
from metrics.ingest.unused_leaves import OTHERS, SUMMED

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
INSIDE: dict[str, Key] = {  # column and keys in its JSON; `#` stands for a number in both
    f"{PRECISION}.precision@.#": ("umbrela", "precision_at_#"),
    f"{PRECISION}.AP@.#": ("umbrela", "average_precision_at_#"),
    f"{PRECISION}.MRR": ("umbrela", "mrr"),
    f"{NUGGETS}.nuggetizer_scores.All": ("autonuggetizer", "all"),
    f"{NUGGETS}.nuggetizer_scores.All Strict": ("autonuggetizer", "all_strict"),
    f"{NUGGETS}.nuggetizer_scores.Vital": ("autonuggetizer", "vital"),
    f"{NUGGETS}.nuggetizer_scores.Vital Strict": ("autonuggetizer", "vital_strict"),
    f"{NUGGETS}.nuggetizer_scores.Weighted": ("autonuggetizer", "weighted"),
    f"{NUGGETS}.nuggetizer_scores.Weighted Strict": ("autonuggetizer", "weighted_strict"),
    f"{CITATIONS}.weighted_precision": ("citation", "citation_precision"),
    f"{CITATIONS}.weighted_recall": ("citation", "citation_recall"),
    f"{CITATIONS}.f1": ("citation", "citation_f1"),
    f"{ANSWERED}.query_answered": ("no_answer", "no_answer"),
}
EVALUATORS = tuple(dict.fromkeys(evaluator for evaluator, _ in [*SCALARS.values(), *INSIDE.values()]))
DETAILS = {  # columns that say how a score came about
    UMBRELA_SCORES: "umbrela.umbrela", NUGGETS: "autonuggetizer.all", CITATIONS: "citation.citation_f1",
}  # fmt: skip
OLDER = {  # names in earlier versions
    "generation_score_hallucination_scores": "generation_score_hallucination_score",
    "retrieval_score_precision_recall_metrics": PRECISION,
}
YES_NO = {"yes": 1.0, "no": 0.0}
NAME = re.compile(r"(?:run_(\d{1,6})_)?(.*)", re.DOTALL)
NUMBER = re.compile(r"\.(\d+)$")
SCORED = re.compile(r"(?:run_\d{1,6}_)?(?:retrieval|generation)_score_.+|consistency_.+", re.DOTALL)
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

    A score that stands in two columns is taken once. Columns of other scores keep their name as `evaluator` with the
    metric `value`, `consistency_NAME` columns theirs with a metric for each statistic. Raises InputError listing every
    cell that is neither empty, a number nor JSON of the known form, or where the file holds no scores.
    """
    problems = Problems()
    source = Upload(path, filename).source
    names = names_of(source)
    if "query_id" not in names:
        raise problems.fail(source.name, "no column query_id", "a result CSV of Open RAG Eval", 1)
    rows = []
    for row, record in records_of(source, problems) if is_result(names) else ():

        def fault(wrong: Fault, row: int = row) -> None:
            problems.add(source.name, wrong.found, wrong.expected, row, wrong.column)

        ids = text_of(record.get("query_id")), text_of(record.get("query"))
        rows += [(*ids, run, *key, value) for run, key, value in scores_of(record, fault)]
    problems.check()
    if not rows:
        expected = "columns such as " + ", ".join(list(SCALARS)[:2])
        raise problems.fail(source.name, "no column with scores", expected, 1)
    return pa.Table.from_pylist([dict(zip(RESULTS.names, row, strict=True)) for row in rows], RESULTS)


def scores_of(record: Record, fault: Callable[[Fault], None]) -> Iterator[tuple[int | None, Key, float]]:
    """Yield repeat (None: over the repeats), evaluator and metric, and value of each score of a row.

    Of a column that is none of Assay's the evaluator is the column. A score that stands in two columns is taken once.
    Cells that are neither empty, a number nor JSON of the known form are faults.
    """
    seen = set()
    for name, value in record.items():
        run, column = column_of(name)
        if not SCORED.fullmatch(column):
            continue
        nested = column.startswith(CONSISTENCY) or any(path.startswith(f"{column}.") for path in INSIDE)
        listed = dict(_inside(column, value)) if nested else {SCALARS.get(column, (column, "value")): value}
        numbers = {key: _number(entry) for key, entry in listed.items()}
        if None in numbers.values() or (nested and not isinstance(value, dict)):
            if nested or column in SCALARS:  # others are texts, or the grades of single passages
                expected = "a JSON object with the numbers of this column" if nested else "a number"
                fault(Fault(repr(text_of(value))[:80], expected, name))
            continue
        for key, number in numbers.items():
            if number is not None and math.isfinite(number) and (run, key) not in seen:  # NaN: the tool has no value
                seen.add((run, key))
                yield run, key, number


def column_of(name: str) -> tuple[int | None, str]:
    """Return the repeat and the column of a name in the file; None for what is over the repeats, or of the query."""
    number, column = NAME.fullmatch(name).groups()  # type: ignore[union-attr]  # any name matches
    column = OLDER.get(column, column)
    return (int(number or 1) if number or not column.startswith(CONSISTENCY) else None), column


def _inside(column: str, value: Any) -> Iterator[tuple[Key, Any]]:
    for path, entry in leaves_of(value, column):
        plain, number = NUMBER.sub(".#", path), NUMBER.search(path)
        if column.startswith(CONSISTENCY) and path.startswith(f"{column}.stats."):
            yield (column, path.removeprefix(f"{column}.stats.")), entry
        elif plain in INSIDE:
            evaluator, metric = INSIDE[plain]
            yield (evaluator, metric.replace("#", number[1] if number else "")), entry


def _number(value: Any) -> float | None:
    """Return a number, also one in text, or yes and no as 1 and 0; None for anything else."""
    if isinstance(value, str) and value.lower() in YES_NO:
        return YES_NO[value.lower()]
    try:
        return None if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        return None


def is_result(names: frozenset[str]) -> bool:
    """Return whether a file with these columns is a result CSV."""
    return "query_id" in names and any(map(SCORED.fullmatch, names))


def _convert(records: Sequence[Numbered], fault: Callable[[int, Fault], None]) -> Iterator[Numbered]:
    for row, record in records:
        shared: Record = {"case_id": text_of(record.get("query_id")), "question": text_of(record.get("query"))}
        if expected := references(record.get("expected_answer")):
            shared["expected_answers"] = expected
        runs: dict[int, Record] = {}
        for name, cell in record.items():
            run, column = column_of(name)
            if column not in ("query_id", "query", "expected_answer"):
                runs.setdefault(run or 1, {}).update(_cells(column, cell))
        main_first = sorted(scores_of(record, partial(fault, row)), key=lambda found: found[1] not in SCALARS.values())
        for run, (evaluator, metric), value in main_first:
            if metric == ADJUSTED or not evaluator.startswith(CONSISTENCY):
                name = evaluator if metric in ("value", ADJUSTED) else f"{evaluator}.{metric}"
                runs[run or 1][METADATA + SCORE + name] = repr(value)
        yield from ((row, shared | {"run": str(run)} | own) for run, own in sorted(runs.items()))


def _cells(column: str, cell: Any) -> Record:
    """Return what a cell becomes beside its scores: the answer with its citations, the passages, or metadata."""
    if column == "generated_answer" and isinstance(cell, list):
        parts = [part for part in cell if isinstance(part, Mapping)]
        texts = (" ".join([str(part.get("text", "")), *map(str, part.get("citations") or ())]) for part in parts)
        return {"answer": " ".join(texts)}
    if column == "generated_answer":
        return {"answer": text_of(cell)}
    if column == "retrieved_passages" and isinstance(cell, Mapping):
        return {"retrieved_contexts": list(map(str, cell.values())), "context_ids": list(cell)}
    if column in (*SCALARS, PRECISION, ANSWERED):
        return {}  # nothing but scores
    if column in DETAILS or column.startswith(CONSISTENCY):
        return {METADATA + SCORE + DETAILS.get(column, column) + REASON: text_of(cell)}
    return {METADATA + (SCORE if SCORED.fullmatch(column) else "") + column: text_of(cell)}


READER = tool_reader("open_rag_eval", is_result, _convert, {OTHERS: SUMMED})
