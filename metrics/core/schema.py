"""The tables in a run. Every later version reads every earlier one.

To add a column: put it last in its schema; readers see null in the runs that lack it (store.run conforms them). For any
other change raise SCHEMA_VERSION. Both need a golden run, see tests/golden/make.py.
"""

from collections.abc import Sequence

import pyarrow as pa

SCHEMA_VERSION = 1
SLICE = 2_000  # cases a work unit scores, and rows a row group of the stored outputs holds

SCORES = pa.schema(
    [
        ("case_id", pa.string()),
        ("position", pa.int32()),  # of the case in the suite: lets readers skip row groups
        ("model", pa.string()),
        ("run", pa.int32()),
        ("evaluator", pa.string()),
        ("metric", pa.string()),
        ("value", pa.float64()),
        ("status", pa.string()),
        ("reason", pa.string()),
        ("evidence", pa.string()),  # JSON (core.evidence), on the row of the evaluator's first metric
    ]
)
AGGREGATES = pa.schema(
    [
        ("model", pa.string()),
        ("run", pa.int32()),  # null: all repeats
        ("evaluator", pa.string()),
        ("metric", pa.string()),
        ("label", pa.string()),  # null: over all labels
        ("slice", pa.string()),  # null: all cases; else "tag=NAME"
        ("value", pa.float64()),
        ("low", pa.float64()),  # 95 % interval
        ("high", pa.float64()),
        ("interval", pa.string()),  # the method of low and high: wilson, bootstrap …
        ("n", pa.int64()),  # what the value rests on
        ("unscored", pa.int64()),
        ("not_applicable", pa.int64()),
        ("parse_failure", pa.int64()),
        ("error", pa.int64()),
        ("skipped", pa.int64()),
        ("reason", pa.string()),  # why there is no value, or no interval
        ("columns", pa.string()),  # JSON: the metric's own columns (iou, average, max_dets …)
        ("if_worst", pa.float64()),  # value if unscored cases had the metric's worst; null: all are scored
        ("if_best", pa.float64()),  # … the best
    ]
)
JUDGEMENTS = pa.schema(  # only of runs with a judge
    [
        ("case_id", pa.string()),
        ("model", pa.string()),
        ("run", pa.int32()),
        ("evaluator", pa.string()),
        ("judge", pa.string()),
        ("step", pa.string()),  # id of the prompt
        ("key", pa.string()),  # of the reply in the judge's cache; also in the score's evidence
        ("reply", pa.string()),  # verbatim; null where none came
        ("prompt_tokens", pa.int64()),  # null: the provider gave none
        ("completion_tokens", pa.int64()),
        ("cost_usd", pa.float64()),  # null: the price is unknown
        ("cached", pa.bool_()),  # answered before or for another score: paid for once
        ("seconds", pa.float64()),
        ("error", pa.string()),  # why there is no reply, or why it could not be read
    ]
)
REPLICATES = pa.schema(  # only of runs with data-set evaluators that resample; sorted by slice
    [
        ("model", pa.string()),
        ("evaluator", pa.string()),
        ("metric", pa.string()),
        ("slice", pa.string()),  # null: all cases; else "tag=NAME"
        ("value", pa.float64()),  # of repeats the mean
        ("n", pa.int64()),  # what the value rests on
        ("columns", pa.string()),  # JSON: the metric's own columns
        ("replicates", pa.list_(pa.float64())),  # the value in each resample; resamples of two models pair
    ]
)
TABLES = {"scores": SCORES, "aggregates": AGGREGATES, "judgements": JUDGEMENTS, "replicates": REPLICATES}


def conformed(table: pa.Table, schema: pa.Schema, columns: Sequence[str] | None = None) -> pa.Table:
    """Return a stored table with the columns of `schema` (or those named), null where the table has none."""
    wanted = schema.names if columns is None else columns
    if table.column_names == list(wanted):
        return table
    return pa.table(
        {
            name: table[name] if name in table.column_names else pa.nulls(len(table), schema.field(name).type)
            for name in wanted
        }
    )
