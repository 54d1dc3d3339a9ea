"""The tables of runs, labels and preferences. Every later version reads every earlier one.

To add a column: put it last in its schema; readers see null in the runs that lack it (store.run conforms them). For any
other change raise SCHEMA_VERSION. Both need a golden run, see tests/golden/make.py.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Literal

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


Sampling = Literal["random", "drawn", "weighted", "picked", "seen", "unknown"]
SAMPLINGS: dict[Sampling, str] = {
    "random": "the file's cases are a random sample of the suite's, or all of them",
    "drawn": "the studio drew the case at random and asked for it",
    "weighted": "the queue, or `labels next`, drew the cases with stored chances, higher where scores leave doubt",
    "picked": "the case was picked for what it is",
    "seen": "a person chose the output and saw the judge's verdict",
    "unknown": "the file does not say how its cases were chosen",
}
LABELS = pa.schema(
    [
        ("case_id", pa.string()),
        ("model", pa.string()),
        ("rater", pa.string()),
        ("criterion", pa.string()),
        ("value", pa.float64()),  # pass 1, fail 0, or a grade; null: unsure
        ("low", pa.float64()),  # the scale the label was given on: 0 … 1 for pass and fail; null: unknown
        ("high", pa.float64()),
        ("sampling", pa.string()),  # how the case came to be labelled, see SAMPLINGS: random ones stand for the others
        ("given", pa.string()),  # ISO 8601, UTC
        ("number", pa.int64()),  # counts the rows added to a run's labels; null before they are, and in older files
    ]
)
LABEL_KEY = ("case_id", "model", "rater", "criterion")  # of two labels with the same key, the later number counts
By = Literal["people", "judge"]
CRITERION = "quality"  # where nobody names another
BOTH_BAD = "both bad"  # the note of a tie of two bad answers
PREFERENCES = pa.schema(
    [
        ("case_id", pa.string()),
        ("model_a", pa.string()),  # of the two models, the one whose name sorts first
        ("model_b", pa.string()),
        ("rater", pa.string()),  # a person, or the judge
        ("by", pa.string()),  # see By
        ("criterion", pa.string()),
        ("outcome", pa.float64()),  # 1: model_a's answer is preferred, 0: model_b's, 0.5: a tie
        ("shown_first", pa.string()),  # the model whose answer stood first or left; null: unknown
        ("note", pa.string()),  # BOTH_BAD, or the judge's reason
        ("given", pa.string()),  # ISO 8601, UTC
        ("number", pa.int64()),  # counts the rows added to a run's preferences; null before they are
        ("turn", pa.string()),  # of a judge, who compares both orders, shown_first; else ""
    ]
)
# of two preferences with the same key, the later number counts
PREFERENCE_KEY = ("case_id", "model_a", "model_b", "rater", "by", "criterion", "turn")


def now() -> str:
    """Return the current time as column `given` holds it: ISO 8601, UTC, to the microsecond."""
    return datetime.now(UTC).isoformat()


def preference(
    case_id: str,
    one: str,
    other: str,
    outcome: float,
    *,
    rater: str,
    by: By = "people",
    criterion: str = CRITERION,
    shown_first: str | None = None,
    note: str = "",
) -> dict[str, object]:
    """Return a row of PREFERENCES, not yet given nor numbered; `outcome` is that of `one`: 1, 0.5 or 0."""
    a, b = sorted((one, other))
    return {
        "case_id": case_id,
        "model_a": a,
        "model_b": b,
        "rater": rater,
        "by": by,
        "criterion": criterion,
        "outcome": outcome if a == one else 1 - outcome,
        "shown_first": shown_first,
        "note": note,
        "turn": (shown_first or "") if by == "judge" else "",
    }
