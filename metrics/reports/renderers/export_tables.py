"""The tables of a run as flat rows: what `export` writes."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

from metrics import analysis
from metrics.ingest.formats.open_rag_eval import read_rag_results
from metrics.presentation.board_words import FROM_RUN, from_run
from metrics.presentation.safe_text import safe
from metrics.reports.exchange.exporters import WHATS
from metrics.store import Run

AGGREGATES = ["model", "evaluator", "metric", "label", "slice", "value", "low", "high", "n", "unscored"]
COUNTS = ["run", "interval", "not_applicable", "parse_failure", "error", "skipped", "reason", "if_worst", "if_best"]
SCORES = ["case_id", "model", "run", "evaluator", "metric", "value", "status", "reason"]
ANALYSES = {
    "problems": analysis.problems, "insights": analysis.insights, "flips": analysis.flips,
    "flip_rates": analysis.flip_rates, "compliance": analysis.compliance_table,
    "slices": analysis.slices,
}  # fmt: skip


def table(run: Run, what: str, model: str | None = None) -> pd.DataFrame:
    """One of WHATS as a data frame of flat rows, in the engine's order; ValueError on any other name.

    Of aggregates and scores only the rows of `model` where one is given.

    aggregates: AGGREGATES, the evaluators' own columns (iou, area …; absent ones null), COUNTS, where prompts
    are worded by the user `wording` (their sha256). scores: SCORES.
    Where cases have images, their names follow the case_id as `image`. curves, matches: model, run, evaluator, then the
    columns of the evaluators that have them. problems, insights,
    flips, flip_rates, compliance, slices: as metrics.analysis gives them. On a board FROM_RUN comes last.
    Integers with nulls stay integers; every text has passed metrics.presentation.safe_text.safe.
    """
    own = None if model is None else [("model", "=", model)]
    if what == "aggregates":
        found = _aggregates(run, own)
    elif what == "scores":
        found = run.stored_table("scores", SCORES, own)
    elif what == "curves":
        found = _joined((name, run.stored(f"curves/{name}")) for name in run.curve_names())
    elif what == "matches":
        found = _joined((name, run.stored(f"matches/{name}")) for name in run.match_names())
    elif what == "judgements":
        found = _judgements(run)
    elif what in ANALYSES:
        found = pa.Table.from_pandas(ANALYSES[what](run), preserve_index=False)
    else:
        raise ValueError(f"a run has no table {what!r}; it has {', '.join(WHATS)}")
    return _frame(_with_runs(run, _with_images(run, found)))


def filled_tables(run: Run) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield every table with rows but the slices: searching them can take minutes, `export --what slices` does it."""
    for what in WHATS:
        if what != "slices" and len(frame := table(run, what)):
            yield what, frame


def _with_images(run: Run, found: pa.Table) -> pa.Table:
    """Return a table with the name of each case's image behind its id, where there are some."""
    if "case_id" not in found.column_names or "image" in found.column_names or not any(run.suite.image_names.values()):
        return found
    names = pa.array([run.suite.image_names.get(id) for id in found["case_id"].to_pylist()], pa.string())
    return found.add_column(found.column_names.index("case_id") + 1, "image", names)


def _with_runs(run: Run, found: pa.Table) -> pa.Table:
    """Return a table of a board with the run that each row comes from, last; what is of no one model is of them all."""
    if not from_run(run, None):
        return found
    none = [None] * len(found)
    columns = (found[name].to_pylist() if name in found.column_names else none for name in ("model", "evaluator"))
    runs = [from_run(run, *key)[FROM_RUN] for key in zip(*columns, strict=True)]
    return found.append_column(FROM_RUN, pa.array(runs, pa.string()))


def _frame(found: pa.Table) -> pd.DataFrame:
    frame: pd.DataFrame = _safe(found).to_pandas(
        types_mapper={pa.int64(): pd.Int64Dtype(), pa.int32(): pd.Int32Dtype()}.get
    )
    return frame


def rag_scores(path: str) -> pd.DataFrame:
    """Return the scores in a result CSV of Open RAG Eval as rows of SCORES; the model is the file's name."""
    found = read_rag_results(path)
    count = len(found)
    texts = {"model": Path(path).stem, "status": "ok", "reason": None}
    given = {name: pa.array([text] * count, pa.string()) for name, text in texts.items()}
    return _frame(pa.table({name: given[name] if name in given else found[name] for name in SCORES}))


def _aggregates(run: Run, filters: list[Any] | None) -> pa.Table:
    rows = run.stored_table("aggregates", filters=filters)
    own = [json.loads(text) for text in rows["columns"].to_pylist()]
    names = list(dict.fromkeys(name for columns in own for name in columns))
    found = rows.select(AGGREGATES)
    for name in names:
        label = name if name not in rows.column_names else f"own_{name}"
        found = found.append_column(label, _column([columns.get(name) for columns in own]))
    for name in COUNTS:
        found = found.append_column(name, rows[name])
    wordings = {id: run.wording(id) for id in run.evaluators}
    if any(wordings.values()):
        wording = [wordings.get(id) or None for id in rows["evaluator"].to_pylist()]
        found = found.append_column("wording", pa.array(wording, pa.string()))
    return found


def _judgements(run: Run) -> pa.Table:
    """Return JUDGEMENTS with verdict and reason of each reply as columns; several are joined by line breaks."""
    found = run.stored_table("judgements")
    parts = [_reply_parts(reply) for reply in found["reply"].to_pylist()]
    for name in ("reason", "verdict"):
        place = found.column_names.index("reply")
        found = found.add_column(place, name, pa.array([one[name] for one in parts], pa.string()))
    return found


def _reply_parts(reply: str | None) -> dict[str, str | None]:
    """Return the verdict of a reply without its reasons, as compact JSON, and the reasons."""
    try:
        value = json.loads(reply or "")
    except ValueError:
        return {"verdict": None, "reason": None}
    entries = value.get("replies", [value]) if isinstance(value, dict) else [value]
    reasons = [str(entry["reason"]) for entry in entries if isinstance(entry, dict) and entry.get("reason")]
    verdicts = [
        {name: part for name, part in entry.items() if name != "reason"} if isinstance(entry, dict) else entry
        for entry in entries
    ]
    verdict = verdicts[0] if len(verdicts) == 1 and "replies" not in value else verdicts
    return {"verdict": json.dumps(verdict, ensure_ascii=False), "reason": "\n".join(reasons) or None}


def _column(values: Sequence[Any]) -> pa.Array:
    """Return the values as one Arrow column; of mixed kinds as text."""
    try:
        return pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return pa.array([None if value is None else str(value) for value in values])


def _joined(parts: Iterator[tuple[str, Any]]) -> pa.Table:
    tables = []
    for name, table in parts:
        found = table.rows()
        tables.append(found.add_column(2, "evaluator", pa.array([name] * found.num_rows, pa.string())))
    if not tables:
        return pa.table({name: pa.array([], pa.string()) for name in ("model", "run", "evaluator")})
    return pa.concat_tables(tables, promote_options="permissive")


def _safe(found: pa.Table) -> pa.Table:
    """Return every text column with `safe` applied to each distinct value once."""
    for place, field in enumerate(found.schema):
        if pa.types.is_string(field.type) or pa.types.is_large_string(field.type):
            coded = found[field.name].combine_chunks().dictionary_encode()
            coded = coded.combine_chunks() if isinstance(coded, pa.ChunkedArray) else coded
            words = pa.array([safe(word) for word in coded.dictionary.to_pylist()], field.type)
            found = found.set_column(place, field.name, words.take(coded.indices))
    return found
