"""Traces in uploads: whatever tool wrote them, they are stored as one JSON of steps (metrics.text.agents.traces).

A `trace` column may hold, in each cell or record, steps of our own ({"steps": [{"tool": …, "arguments": …,
"result": …}, {"role": …, "text": …}]}), messages of OpenAI's chat, items of its Responses API, Anthropic's blocks, or
OpenTelemetry spans with gen_ai.* attributes (OTLP's JSON, or a list of spans). A file may also be nothing but traces.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metrics.core.suite import Suite
from metrics.ingest import cells
from metrics.ingest.bundle import Bundle, Rows
from metrics.ingest.columns import Columns, Role
from metrics.ingest.formats.chat_traces import conversation, is_conversation
from metrics.ingest.formats.otel_traces import Told, is_export, is_span, spans_in, told
from metrics.ingest.problems import Mask, Problems, Sheet, as_mask, flat, is_null
from metrics.ingest.source import Source
from metrics.ingest.values import finite, json_text, tables_of, text_of
from metrics.text.agents.traces import MOST_STEPS, Step, TraceError, steps_of
from metrics.text.json_text import JsonError, read_json

EXPECTED = (
    "a trace in JSON: steps, chat messages with roles, Responses items, or OpenTelemetry spans with gen_ai.* attributes"
)
SUFFIXES = (".json", ".jsonl", ".ndjson")
LONGEST = 20_000_000  # characters of one trace
TAKEN = ("case_id", "model", "run")  # what a record that is a trace may say beside it
OWN = {"steps", "artifacts", "source", "metadata", "error", "started", "seconds", "tokens", *TAKEN}
SHOWN = 80


@dataclass(frozen=True, slots=True)
class Trace:
    """A trace as it is stored, its steps, and what it says of tokens, seconds and its case."""

    text: str
    steps: Sequence[Step]
    format: str
    seconds: float | None = None
    tokens: int | None = None
    case_id: str | None = None

    @property
    def question(self) -> str | None:
        """What the user said first; None where there is no user."""
        return next((step.text for step in self.steps if step.kind == "message" and step.role == "user"), None)

    @property
    def answer(self) -> str | None:
        """What the assistant said last; None where it said nothing."""
        said = (
            step.text for step in reversed(self.steps) if step.kind == "message" and step.role in ("assistant", "model")
        )
        return next(said, None)


def read_trace(text: str) -> Trace:
    """Return the trace that a cell holds; TraceError for one of no known kind."""
    if len(text) > LONGEST:
        raise TraceError(f"{len(text):,} characters, more than {LONGEST:,}")
    return trace_of(_document(text, ".json"), text)


def trace_of(document: Any, text: str | None = None) -> Trace:
    """Return the trace that a JSON value is; `text` is how it is written, where it is known."""
    if is_export(document) or is_span(document):
        return _of_spans([document])
    if isinstance(document, list):
        if document and (is_span(document[0]) or is_export(document[0])):
            return _of_spans(document)
        if is_conversation(document):
            return _of_messages(document)
        return _own(document, text)
    if not isinstance(document, Mapping):
        raise TraceError(f"{type(document).__name__} {json_text(document)[:SHOWN]}")
    if isinstance(document.get("steps"), list):
        return _own(document, text)
    if isinstance(document.get("messages"), list):
        return _of_messages(document["messages"], document)
    if isinstance(document.get("spans"), list):
        return _of_spans(document["spans"])
    if isinstance(document.get("output"), list):
        given = document.get("input")
        asked = given if isinstance(given, list) else [{"role": "user", "content": given}] if given else []
        return _of_messages([*asked, *document["output"]], document)
    if isinstance(document.get("choices"), list):
        chosen = document["choices"][0] if document["choices"] else None
        return _of_messages([chosen.get("message") if isinstance(chosen, Mapping) else None], document)
    raise TraceError(f"an object with {', '.join(map(str, list(document)[:8])) or 'nothing'}"[:200])


def is_trace(value: Any) -> bool:
    """Return whether a record of a file, or a whole document, is a trace by itself and no row of a table."""
    if isinstance(value, list):
        return bool(value) and (is_span(value[0]) or is_conversation(value))
    if not isinstance(value, Mapping):
        return False
    own = isinstance(value.get("steps"), list) and value.keys() <= OWN
    return own or is_export(value) or is_span(value) or value.get("object") in ("response", "chat.completion")


def traces_in(document: Any) -> list[tuple[int, Any]] | None:
    """Return the traces that a whole JSON document is made of, counted from 1; None where it is a table or something
    else.
    """
    if isinstance(document, Mapping) and isinstance(document.get("traces"), list):
        return list(enumerate(document["traces"], 1))
    if isinstance(document, list) and document and (is_span(document[0]) or not is_conversation(document)):
        return list(enumerate(document, 1)) if is_trace(document[0]) else None
    return [(1, document)] if is_trace(document) else None


def sheet_of(source: Source, documents: Sequence[tuple[int, Any]], problems: Problems) -> Sheet:
    """Return a row for each trace among the records of a file (row number, value); spans are put together by their
    trace.

    Columns: trace, and what the records say of case_id, model and run.
    """
    spans = [(row, value) for row, value in documents if is_export(value) or is_span(value)]
    rows: list[int] = []
    records: list[dict[str, str | None]] = []
    if spans:
        try:
            found = list(spans_in([value for _, value in spans]).values())
        except TraceError as failure:
            raise source.error(str(failure), EXPECTED) from None
        made: Iterator[tuple[int, Any]] = enumerate(found, 1)
    else:
        made = iter(documents)
    for row, value in made:
        try:
            trace = _stored(told(value)) if spans else trace_of(value)
        except TraceError as failure:
            problems.left_out += 1
            problems.add(source.name, str(failure), EXPECTED, row)
            continue
        beside = value if isinstance(value, Mapping) else {}
        metadata = beside.get("metadata")
        record = {name: text_of(beside.get(name)) for name in TAKEN}
        if record["case_id"] is None and isinstance(metadata, Mapping):
            record["case_id"] = text_of(metadata.get("case_id"))
        rows.append(row)
        records.append(record | {"trace": trace.text, "case_id": record["case_id"] or trace.case_id})
    names = [name for name in ("trace", *TAKEN) if name == "trace" or any(record[name] for record in records)]
    table = pa.table({name: pa.array([record[name] for record in records], pa.string()) for name in names})
    return Sheet(source.name, table, np.array(rows, np.int64), problems)


def recognises(bundle: Bundle) -> bool:
    """Return whether a folder or zip holds traces, a JSON file each: several files, of which the first is one."""
    files = bundle.ending(*SUFFIXES)
    if len(files) < 2 or bundle.ending(".csv", ".tsv", ".parquet"):
        return False
    text = bundle.text(files[0], Problems())
    try:
        document = _document(text or "", files[0].suffix)
    except TraceError:
        return False
    return is_trace(document) or (isinstance(document, Mapping) and isinstance(document.get("messages"), list))


def read_bundle(bundle: Bundle, problems: Problems) -> Rows:
    """Return the traces of a folder or zip, a row for each file; a trace that does not name its case is of its file's
    name.
    """
    files, records = [], []
    for entry in bundle.ending(*SUFFIXES):
        text = bundle.text(entry, problems)
        try:
            trace = None if text is None else trace_of(_document(text, entry.suffix))
        except TraceError as failure:
            problems.add(bundle.file(entry), str(failure), EXPECTED)
            trace = None
        if trace is None:
            problems.left_out += 1
            continue
        files.append(entry)
        records.append({"case_id": trace.case_id or entry.stem, "trace": trace.text})
    return Rows(bundle, tables_of([records]), [1] * len(files), range(len(files)), files, problems)


def _document(text: str, suffix: str) -> Any:
    """Return the JSON value of a file, or the list of those on its lines; TraceError where it has none."""
    try:
        if suffix == ".json":
            return read_json(text).value
        return [read_json(line).value for line in text.splitlines() if line.strip()]
    except JsonError as failure:
        raise TraceError(f"no JSON: {failure}") from None


def unpack(sheet: Sheet, columns: Columns, role: Role, suite: Suite | None = None) -> Columns:
    """Put the sheet's traces into the form they are stored in, and take from them what it has no column for.

    That is the answer, tokens and seconds, and where the sheet holds cases the question. Without case ids a trace is of
    the case of `suite` whose question is what its user said first. Cells that are no trace are blamed.
    """
    name = columns.columns.get("trace")
    if name is None or role == "suite":
        return columns
    column = cells.text(sheet, name)
    blank = is_null(column) | as_mask(pc.match_substring_regex(column, r"^\s*$"))
    traces: list[Trace | None] = []
    wrong: dict[int, str] = {}
    for row, (text, empty) in enumerate(zip(column.to_pylist(), blank.tolist(), strict=True)):
        try:
            traces.append(None if empty else read_trace(text))
        except TraceError as failure:
            wrong[row] = str(failure)
            traces.append(None)
    bad = np.zeros(len(sheet), bool)
    bad[list(wrong)] = True
    sheet.blame(bad & ~sheet.bad, name, lambda row: wrong[row], EXPECTED)
    derived: dict[str, list[str | None]] = {
        "trace": [None if trace is None else trace.text for trace in traces],
        "answer": [None if trace is None else trace.answer for trace in traces],
        "tokens": [None if trace is None or trace.tokens is None else str(trace.tokens) for trace in traces],
        "duration_s": [None if trace is None or trace.seconds is None else repr(trace.seconds) for trace in traces],
    }
    asked = [None if trace is None else trace.question for trace in traces]
    if role == "combined":
        derived["question"] = asked
    if role == "outputs" and suite is not None and ("question" not in columns.columns):
        given = columns.columns.get("case_id")
        named = cells.text(sheet, given).to_pylist() if given else [None] * len(sheet)
        if given is None or None in named:
            derived["case_id"] = _cases(sheet, named, asked, suite)
    return _with(sheet, columns, name, derived)


def _with(sheet: Sheet, columns: Columns, name: str, derived: Mapping[str, Sequence[str | None]]) -> Columns:
    """Return the sheet with its traces as they are stored, and with columns for what it lacks."""
    mapping = dict(columns.columns)
    for canonical, values in derived.items():
        if canonical not in ("trace", "case_id") and (canonical in mapping or not any(values)):
            continue
        place = name if canonical == "trace" else mapping.get(canonical, canonical)
        while place in sheet.table.column_names and place not in (name, mapping.get(canonical)):
            place = f"{place} of the trace"  # a column of that name is something else
        array = pa.array(values, pa.string())
        if place in sheet.table.column_names:
            sheet.table = sheet.table.set_column(sheet.table.column_names.index(place), place, array)
        else:
            sheet.table = sheet.table.append_column(place, array)
        mapping[canonical] = place
    return replace(columns, columns=mapping)


def _cases(sheet: Sheet, named: Sequence[str | None], asked: Sequence[str | None], suite: Suite) -> list[str | None]:
    """Return the case of each row that does not name it: the one whose question its user asked."""
    ids: dict[str, list[str]] = {}
    pairs = zip(suite.cases["question"].to_pylist(), suite.cases["case_id"].to_pylist(), strict=True)
    for question, case_id in pairs:
        if question is not None:
            ids.setdefault(_words(question), []).append(case_id)
    found: list[str | None] = []
    wrong: dict[int, str] = {}
    for row, (case_id, question) in enumerate(zip(named, asked, strict=True)):
        fitting = [case_id] if case_id is not None else ids.get(_words(question or ""), [])
        if len(fitting) != 1:
            several = f", the question of {len(fitting)} cases" if fitting else ""
            wrong[row] = f"no case id, and a user who asks {(question or 'nothing')[:SHOWN]!r}{several}"
        found.append(fitting[0] if len(fitting) == 1 else None)
    bad: Mask = np.zeros(len(sheet), bool)
    bad[list(wrong)] = True
    sheet.blame(
        bad & ~sheet.bad, "case_id", lambda row: wrong[row], "a case id, or the question of one case of the suite"
    )
    return [f"?{row}" if case_id is None else case_id for row, case_id in enumerate(found)]  # blamed above, and once


def note(sheet: Sheet, columns: Columns, role: Role) -> str | None:
    """For a preview: of which kind the first traces are, and what would be taken from them."""
    name = columns.columns.get("trace")
    if name is None:
        return None
    kinds: dict[str, None] = {}
    for text in flat(cells.text(sheet, name)).drop_null().slice(0, 20).to_pylist():
        try:
            kinds[read_trace(text).format] = None
        except TraceError:
            kinds["unreadable"] = None
    wanted = ("question", "answer") if role == "combined" else ("answer",)
    taken = " and ".join(f"the {canonical}" for canonical in wanted if canonical not in columns.columns)
    return f"Traces: {', '.join(kinds) or 'none'}{f'; {taken} from them' if taken else ''}."


def _own(document: Any, text: str | None) -> Trace:
    stored = _clean(text if text is not None else json.dumps(document, ensure_ascii=False))
    beside = document if isinstance(document, Mapping) else {}
    seconds: Any = beside.get("seconds")
    return Trace(
        stored, steps_of(stored), str(beside.get("source") or "steps")[:SHOWN],
        float(seconds) if finite(seconds) and seconds >= 0 else None, _count(beside.get("tokens")),
        text_of(beside.get("case_id")),
    )  # fmt: skip


def _of_messages(listed: Sequence[Any], document: Mapping[str, Any] | None = None) -> Trace:
    beside = document or {}
    usage = beside.get("usage")
    tokens = _count(usage.get("total_tokens")) if isinstance(usage, Mapping) else None
    artifacts = beside.get("artifacts")
    steps = conversation(listed)
    return _packed(steps, "messages", artifacts if isinstance(artifacts, list) else None, tokens=tokens)


def _of_spans(documents: Sequence[Any]) -> Trace:
    spans = [span for group in spans_in(documents).values() for span in group]
    return _stored(told(spans))


def _stored(found: Told) -> Trace:
    return _packed(found.steps, "OpenTelemetry", None, found.seconds, found.tokens, found.case_id)


def _packed(
    steps: Sequence[Step], kind: str, artifacts: list[Any] | None, seconds: float | None = None,
    tokens: int | None = None, case_id: str | None = None,
) -> Trace:  # fmt: skip
    if len(steps) > MOST_STEPS:
        raise TraceError(f"{len(steps):,} steps, more than {MOST_STEPS:,}")
    facts = {"source": kind, "artifacts": artifacts, "seconds": seconds, "tokens": tokens}
    document = {"steps": [step.as_record() for step in steps], **{n: v for n, v in facts.items() if v is not None}}
    return Trace(_clean(json.dumps(document, ensure_ascii=False)), steps, kind, seconds, tokens, case_id)


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53 else None


def _clean(text: str) -> str:
    """Without the halves of surrogate pairs, which no table can hold."""
    return text.encode("utf-8", "replace").decode()


def _words(text: str) -> str:
    return " ".join(text.split())
