"""The values of Open RAG Eval's result CSV as one row a score; see formats/open_rag_eval.py."""

from pathlib import Path

import pyarrow as pa

from metrics.ingest.formats.open_rag_eval import SCALARS, is_result, scores_of
from metrics.ingest.formats.tool_records import Fault, names_of, records_of
from metrics.ingest.problems import Problems
from metrics.ingest.reader import Upload
from metrics.ingest.tables.values import text_of

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
