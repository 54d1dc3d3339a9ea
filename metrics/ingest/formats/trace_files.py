"""Files of traces alone: a JSON document, lines of JSON, OpenTelemetry spans, or a folder with a file a trace."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from metrics.core.suite import Suite
from metrics.ingest.formats.json_records import first_value, line_values
from metrics.ingest.formats.table_reader import beginning_of, table_reader
from metrics.ingest.formats.unused_leaves import RECORDS, TAKEN, note_leaves
from metrics.ingest.leaf_notes import leaves_of
from metrics.ingest.media.bundle import Bundle, Rows
from metrics.ingest.media.suite_images import SuiteImages
from metrics.ingest.output_parts import Part
from metrics.ingest.problems import Loaded, Problems
from metrics.ingest.reader import Preview, Reader, Request, Upload
from metrics.ingest.sheet import Sheet
from metrics.ingest.sheet_reader import part_of
from metrics.ingest.source import Source
from metrics.ingest.tables.columns import fold
from metrics.ingest.tables.values import tables_of, text_of
from metrics.ingest.traces.chat_traces import decoded, is_conversation
from metrics.ingest.traces.otel_traces import OPERATIONS, READ, Span, is_export, is_span, spans_in, trace_of_spans
from metrics.ingest.traces.stored_trace import BESIDE, EXPECTED, is_trace, json_value, trace_from, trace_of
from metrics.text.agents.dialects import ROLES
from metrics.text.agents.traces import TraceError

SUFFIXES = (".json", ".jsonl", ".ndjson")
DEEPEST = 40  # levels of a record in which texts may hold JSON
TIMES = tuple(f"{side}_time{unit}" for side in ("start", "end") for unit in ("", "_unix_nano"))
DECIDING = (*TIMES, "parent_span_id", "parent_id")
DECIDES = re.compile(r"tool|call|reason|think|result|image|audio|file|media")  # in the type of a message or part
FAILED = ("2", "STATUS_CODE_ERROR", "ERROR", "StatusCode.ERROR")


def traces_in(document: Any) -> list[tuple[int, Any]] | None:
    """Return the traces that a JSON document consists of, numbered from 1; None where it is anything else."""
    if isinstance(document, Mapping) and isinstance(document.get("traces"), list):
        return list(enumerate(document["traces"], 1))
    if isinstance(document, list) and document and (is_span(document[0]) or not is_conversation(document)):
        return list(enumerate(document, 1)) if is_trace(document[0]) else None
    return [(1, document)] if is_trace(document) else None


def _sheet(source: Source, documents: Sequence[tuple[int, Any]], problems: Problems) -> Sheet:
    """Return a row for each trace among the records of a file (row number, value); spans are joined by their trace.

    Columns: trace, and what the records say of case_id, model and run.
    """
    spans = [(row, value) for row, value in documents if is_export(value) or is_span(value)]
    rows: list[int] = []
    records: list[dict[str, str | None]] = []
    found: list[list[Span]] = []
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
            trace = trace_from(trace_of_spans(value)) if spans else trace_of(value)
        except TraceError as failure:
            problems.left_out += 1
            problems.add(source.name, str(failure), EXPECTED, row)
            continue
        beside = value if isinstance(value, Mapping) else {}
        metadata = beside.get("metadata")
        record = {name: text_of(beside.get(name)) for name in BESIDE}
        if record["case_id"] is None and isinstance(metadata, Mapping):
            record["case_id"] = text_of(metadata.get("case_id"))
        rows.append(row)
        records.append(record | {"trace": trace.text, "case_id": record["case_id"] or trace.case_id})
    _note(source.name, problems, [value for _, value in documents], records, found)
    names = [name for name in ("trace", *BESIDE) if name == "trace" or any(record[name] for record in records)]
    table = pa.table({name: pa.array([record[name] for record in records], pa.string()) for name in names})
    return Sheet(source.name, table, np.array(rows, np.int64), problems)


def _note(
    file: str, problems: Problems, documents: Sequence[Any], records: Sequence[Mapping[str, Any]],
    traces: Sequence[Sequence[Span]] = (),
) -> None:  # fmt: skip
    """Say what of documents no trace has; `traces` are the spans that they were made from.

    What decides without its value being in a step counts as used: ids of parents, names of attributes, operations.
    """
    given = [_unpack(document) for document in documents[:RECORDS]]
    made: dict[str, list[Any]] = {name: [record.get(name) for record in records] for name in BESIDE}
    steps = [leaf for record in records[:RECORDS] for leaf in leaves_of(decoded(record["trace"]))]
    for path, value in steps:
        made.setdefault(path.replace("[]", "").rpartition(".")[2], []).append(value)
    made["total_tokens"] = made.get("tokens", [])
    made["answer"] = [text_of(value) for _, value in steps]
    made["type"] = [value for path, value in leaves_of(given) if path.endswith("type") and DECIDES.search(str(value))]
    spans = [span for trace in traces for span in trace]
    made["parent"], made["operation"] = [span.parent for span in spans], [*OPERATIONS]
    made["role"] = [*made.get("role", ()), *ROLES]
    made["string_value"] = [*made.get("string_value", ()), *OPERATIONS, *ROLES]
    made["trace_id"] = [trace[0].trace for trace in traces] if len(traces) > 1 else []
    made["status"] = [*FAILED] if any(span.error for span in spans) else []
    made["key"] = [name for span in spans for name in span.attributes if READ.fullmatch(name)]
    acting = [span for span in spans if span.attributes.get("gen_ai.operation.name") not in OPERATIONS]
    for name, value in (usage for span in acting for usage in span.attributes.items() if ".usage." in usage[0]):
        made.setdefault(name.rpartition(".")[2], []).append(value)
        made.setdefault("int_value", []).append(value)
    plain = {path.replace("[]", "").strip(".") for path, _ in leaves_of(given)}
    names = [[fold(name) for name in path.split(".")] for path in plain]
    reads = {".".join(own): TAKEN if {*DECIDING} & {*own} else " ".join(("answer", *own)) for own in names}
    note_leaves(file, problems, given, [made], reads)


def _unpack(value: Any, depth: int = DEEPEST) -> Any:
    """Return a value in which texts that hold JSON are what they hold."""
    value = decoded(value)
    if isinstance(value, Mapping) and depth:
        return {name: _unpack(inner, depth - 1) for name, inner in value.items()}
    return [_unpack(inner, depth - 1) for inner in value] if isinstance(value, list) and depth else value


def _is_folder(upload: Upload) -> bool:
    """Return whether a folder or zip holds traces, a JSON file each: several files, the first of which is one."""
    bundle = upload.folder
    files = bundle.ending(*SUFFIXES)
    if len(files) < 2 or bundle.ending(".csv", ".tsv", ".parquet"):
        return False
    text = bundle.text(files[0], Problems())
    try:
        document = json_value(text or "", files[0].suffix)
    except TraceError:
        return False
    return is_trace(document) or (isinstance(document, Mapping) and isinstance(document.get("messages"), list))


def _folder_sheet(bundle: Bundle, problems: Problems) -> Rows:
    """Return a row for each file; the file's name is the case id of a trace that does not name its case."""
    files, records = [], []
    documents: list[Any] = []
    for entry in bundle.ending(*SUFFIXES):
        text = bundle.text(entry, problems)
        try:
            document = None if text is None else json_value(text, entry.suffix)
            trace = None if document is None else trace_of(document)
        except TraceError as failure:
            problems.add(bundle.file(entry), str(failure), EXPECTED)
            trace = None
        if trace is None:
            problems.left_out += 1
            continue
        files.append(entry)
        documents += [document] if len(documents) < RECORDS else []
        records.append({"case_id": trace.case_id or entry.stem, "trace": trace.text})
    _note(bundle.name, problems, documents, records)
    return Rows(bundle.name, tables_of([records]), [1] * len(files), range(len(files)), bundle.names(files), problems)


def _folder_preview(upload: Upload, request: Request) -> Preview:
    table = _folder_sheet(upload.folder, request.problems).table
    note = "A trace in each file, which is named by its case."
    return Preview.of_objects(upload, "traces", "outputs", "text", table, note)


def _folder_suite(upload: Upload, _: Request, __: SuiteImages) -> Loaded[Suite]:
    raise upload.error("traces, which are outputs", "a suite: a table of cases")


def _folder_outputs(upload: Upload, request: Request, suite: Suite) -> Part:
    sheet = _folder_sheet(upload.folder, request.problems)
    return part_of(sheet, suite, None, upload.stem, request.model)


def _read_lines(source: Source, problems: Problems) -> Sheet:
    return _sheet(source, list(line_values(source, problems)), problems)


FOLDER = Reader(
    "traces", _is_folder, _folder_preview, _folder_suite, _folder_outputs, contents="traces of agents (.json)"
)
DOCUMENT = table_reader(
    "trace_document",
    lambda source: traces_in(source.document) is not None,
    lambda source, problems: _sheet(source, traces_in(source.document) or [], problems),
)
LINES = table_reader(
    "trace_lines",
    lambda source: source.format == "jsonl" and is_trace(first_value(source)),
    _read_lines,
    beginning_of(_read_lines),
)
