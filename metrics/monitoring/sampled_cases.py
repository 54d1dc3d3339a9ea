"""From sampled lines to cases: columns are mapped as in any upload; kept texts are cut and redacted."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from metrics.core.cases import join_cases
from metrics.core.errors import InputError, InputProblem, describe_failure
from metrics.core.suite import Case
from metrics.ingest.sheet import Sheet
from metrics.ingest.sheet_reader import combined_of
from metrics.ingest.source import Problems
from metrics.ingest.tables.values import tables_of
from metrics.judge.keys import redact
from metrics.monitoring.line_reader import Record
from metrics.text.sensitive.secrets import secrets
from metrics.text.sensitive.spans import redacted

PREVIEW = 200  # characters of a text that are kept
MARGIN = 2_000  # characters after them in which a secret that begins before may end
BREAK = "\x1e"  # between texts; it is replaced within them
PRODUCTION = "production"  # the model of a line without one


def cases_of(
    source: str, records: Sequence[Record], mapping: Mapping[str, str] | None = None
) -> tuple[list[tuple[Record, Case]], list[InputProblem]]:
    """Return the case of each record that can be one, and what is wrong with the others.

    Records with the same fields are read together; where that fails, each by itself. So one record never changes how
    another is read. A null field is absent.
    """
    alike: dict[tuple[str, ...], list[Record]] = {}
    for record in records:
        held = {name: value for name, value in record.fields.items() if value is not None}
        alike.setdefault(tuple(sorted(held)), []).append(replace(record, fields=held))
    pairs: list[tuple[Record, Case]] = []
    problems: list[InputProblem] = []
    for group in alike.values():
        read = [_together(source, group, mapping or {})]
        if read[0][0] is None and len(group) > 1:
            read = [_together(source, [record], mapping or {}) for record in group]
        for found, wrong in read:
            pairs += found or []
            problems += wrong
    return sorted(pairs, key=lambda pair: pair[0].line), sorted(problems, key=lambda problem: problem.row or 0)


def _together(
    source: str, records: Sequence[Record], mapping: Mapping[str, str]
) -> tuple[list[tuple[Record, Case]] | None, list[InputProblem]]:
    lines = np.array([record.line for record in records], np.int64)
    rows: list[dict[str, Any]] = [
        {"case_id": str(place)} | {name: value for name, value in record.fields.items() if name != "case_id"}
        for place, record in enumerate(records)
    ]
    try:
        sheet = Sheet(source, tables_of([rows]), lines, Problems(keep_good_rows=True))
        known = {name: column for name, column in mapping.items() if column in sheet.table.column_names}
        loaded = combined_of(sheet, source, "text", known, PRODUCTION)
    except InputError as failure:
        first = failure.problems[0] if failure.problems else InputProblem(source, str(failure), "a record of a case")
        return None, [InputProblem(source, first.found, first.expected, own.line, first.column) for own in records]
    except (ValueError, pa.ArrowException, RecursionError) as failure:
        found = f"a record that cannot be read ({describe_failure(failure)})"
        return None, [InputProblem(source, found, "texts, numbers and lists", record.line) for record in records]
    suite, outputs = loaded.value
    pairs = [(records[int(case.case_id)], case) for case in join_cases(suite, outputs)]
    by_row = {problem.row: problem for problem in reversed(loaded.problems)}  # one problem a line is enough
    return pairs, [by_row[row] for row in sorted(row for row in by_row if row is not None)]


def previews(texts: Sequence[str | None]) -> list[str | None]:
    """Return the first 200 characters of each text, secrets redacted before cutting, control characters replaced."""
    joined = redact(BREAK.join(_start(text or "") for text in texts))  # together: it looks through the environment
    found = joined.split(BREAK) if texts else []
    return [
        None if text is None else shown if len(shown) <= PREVIEW else shown[: PREVIEW - 1] + "…"
        for text, shown in zip(texts, found, strict=True)
    ]


def _start(text: str) -> str:
    start = text[: PREVIEW + MARGIN]
    for secret in reversed(secrets(start)):
        start = start[: secret.start] + redacted(start, secret, MARGIN) + start[secret.end :]
    return start if start.isprintable() else "".join(c if c.isprintable() or c in "\n\t" else "\ufffd" for c in start)
