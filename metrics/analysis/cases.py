"""The cases behind a number: paged, worst first, without loading the run."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from metrics.registry import evaluators
from metrics.store import Run

if TYPE_CHECKING:
    import pandas as pd

PREVIEW = 160  # characters of the question, or of what stands for it
TEXT = "coalesce(question, source_text, image_name, image, suite_cases.case_id)"


@dataclass(frozen=True, slots=True)
class CasePage:
    """Some rows of a list of cases and how many there are in all.

    Columns: case_id, model, run, value, status, reason, preview, tags, errors (false positives and missed objects of an
    image; null for text).
    """

    rows: pd.DataFrame
    total: int


def cases(
    run: Run,
    evaluator: str,
    metric: str,
    model: str | None = None,
    tag: str | None = None,
    status: str | None = None,
    search: str | None = None,
    worst_first: bool = True,
    limit: int = 100,
    offset: int = 0,
) -> CasePage:
    """The cases behind one metric of one model (or of all): those with the worst value first, unscored ones last.

    A metric of the whole data set (mAP) has no value per case; its cases come by their number of errors. `search` is
    looked for in case id and question, without regard to case.
    """
    source, arguments, order = _source(run, evaluator, metric, worst_first)
    conditions = []
    for name, wanted in (("model", model), ("status", status)):
        if wanted is not None:
            conditions.append(f"s.{name} = ?")
            arguments.append(wanted)
    if tag is not None or search:  # conditions on the suite's own columns: the cases that meet them, once
        conditions.append("s.case_id IN (SELECT case_id FROM suite_cases WHERE TRUE")
        if tag is not None:
            conditions[-1] += " AND list_contains(tags, ?)"
            arguments.append(tag)
        if search:
            conditions[-1] += f" AND (contains(lower(case_id), ?) OR contains(lower({TEXT}), ?))"
            arguments += [search.lower()] * 2
        conditions[-1] += ")"
    found = f"FROM ({source}) s WHERE {' AND '.join(['TRUE', *conditions])}"
    total = _count(run.folder, found, tuple(arguments))
    # the page's rows first, their texts after: sorting and counting never touch the suite
    rows = run.query(
        f"""
        WITH shown AS (
            SELECT * {found} ORDER BY {order}, position, model, run LIMIT {int(limit)} OFFSET {int(offset)}
        )
        SELECT case_id, model, run, value, status, reason, left({TEXT}, {PREVIEW}) AS preview,
               coalesce(tags, []) AS tags, errors
        FROM shown JOIN (SELECT * EXCLUDE position FROM suite_cases) suite_cases USING (case_id)
        ORDER BY {order}, position, model, run""",
        arguments,
    )
    return CasePage(rows, total)


@lru_cache(maxsize=512)
def _count(run_folder: Path, found: str, arguments: tuple[Any, ...]) -> int:
    """How many rows a filter leaves: asked once, for a sealed run never changes."""
    return int(Run(run_folder).query(f"SELECT count(*) AS total {found}", list(arguments))["total"].iloc[0])


def _source(run: Run, evaluator: str, metric: str, worst_first: bool) -> tuple[str, list[Any], str]:
    """The SQL of one row per case and model, its arguments, and the order in which they come."""
    entry = evaluators().get(evaluator)
    lower_is_better = entry is not None and entry.metric(metric).direction.value == "lower"
    ascending = worst_first != lower_is_better
    by_value = f"value {'ASC' if ascending else 'DESC'} NULLS LAST"
    measured = run.query("SELECT DISTINCT metric FROM scores WHERE evaluator = ?", [evaluator])["metric"].tolist()
    if measured:
        # macro F1 has no value per case: its cases are those of the evaluator's metric that has one
        metric = metric if metric in measured else measured[0]
        columns = "case_id, position, model, run, value, status, reason, NULL::BIGINT AS errors"
        return f"SELECT {columns} FROM scores WHERE evaluator = ? AND metric = ?", [evaluator, metric], by_value
    if evaluator in run.match_names():
        # one row for each image and model, also for images without any object
        source = f"""
            SELECT k.case_id, k.position, r.model, r.run, NULL::DOUBLE AS value, 'ok' AS status, NULL AS reason,
                   coalesce(m.errors, 0) AS errors
            FROM suite_cases k
            CROSS JOIN (SELECT DISTINCT model, run FROM "matches_{evaluator}") r
            LEFT JOIN (SELECT case_id, model, run, count(*) FILTER (kind LIKE 'f%') AS errors
                       FROM "matches_{evaluator}" GROUP BY ALL) m USING (case_id, model, run)"""
        return source, [], f"errors {'DESC' if worst_first else 'ASC'}"
    source = """
        SELECT case_id, position, NULL AS model, NULL::INTEGER AS run, NULL::DOUBLE AS value,
               'ok' AS status, NULL AS reason, NULL::BIGINT AS errors
        FROM suite_cases"""
    return source, [], "position"
