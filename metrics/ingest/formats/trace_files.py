"""Files of traces alone: a JSON document, lines of JSON, OpenTelemetry spans, or a folder with a file a trace."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from metrics.core.suite import Suite
from metrics.ingest.formats.json_records import first_value, line_values
from metrics.ingest.formats.table_reader import table_reader
from metrics.ingest.media.bundle import Bundle, Rows
from metrics.ingest.media.suite_images import SuiteImages
from metrics.ingest.output_parts import Part
from metrics.ingest.reader import Preview, Reader, Request, Upload
from metrics.ingest.sheet import Sheet
from metrics.ingest.sheet_reader import part_of
from metrics.ingest.source import Loaded, Problems, Source
from metrics.ingest.tables.values import tables_of, text_of
from metrics.ingest.traces.chat_traces import is_conversation
from metrics.ingest.traces.otel_traces import is_export, is_span, spans_in, trace_of_spans
from metrics.ingest.traces.stored_trace import BESIDE, EXPECTED, is_trace, json_value, trace_from, trace_of
from metrics.ingest.traces.trace_leaves import note_trace_leaves
from metrics.ingest.unused_leaves import RECORDS
from metrics.text.agents.traces import TraceError

SUFFIXES = (".json", ".jsonl", ".ndjson")


def traces_in(document: Any) -> list[tuple[int, Any]] | None:
    """Return the traces that a JSON document consists of, numbered from 1; None where it is anything else."""
    if isinstance(document, Mapping) and isinstance(document.get("traces"), list):
        return list(enumerate(document["traces"], 1))
    if isinstance(document, list) and document and (is_span(document[0]) or not is_conversation(document)):
        return list(enumerate(document, 1)) if is_trace(document[0]) else None
    return [(1, document)] if is_trace(document) else None


def _sheet(source: Source, documents: Sequence[tuple[int, Any]], problems: Problems) -> Sheet:
    """Return a row for each trace among the records of a file (row number, value); spans are joined by their trace."""
    # Columns: trace, and what the records say of case_id, model and run.
    spans = [(row, value) for row, value in documents if is_export(value) or is_span(value)]
    rows: list[int] = []
    records: list[dict[str, str | None]] = []
    if spans:
        try:
            found = spans_in([value for _, value in spans]).values()
        except TraceError as failure:
            raise source.error(str(failure), EXPECTED) from None
        made: Iterator[tuple[int, Any]] = enumerate(found, 1)
    else:
        made = iter(documents)
    for row, value in made:
        try:
            trace = trace_from(trace_of_spans(value)) if spans else trace_of(value)
        except TraceError as failure:
            problems.skip(source.name, str(failure), EXPECTED, row)
            continue
        beside = value if isinstance(value, Mapping) else {}
        metadata = beside.get("metadata")
        record = {name: text_of(beside.get(name)) for name in BESIDE}
        if record["case_id"] is None and isinstance(metadata, Mapping):
            record["case_id"] = text_of(metadata.get("case_id"))
        rows.append(row)
        records.append(record | {"trace": trace.text, "case_id": record["case_id"] or trace.case_id})
    note_trace_leaves(source.name, problems, [value for _, value in documents], records)
    names = [name for name in ("trace", *BESIDE) if name == "trace" or any(record[name] for record in records)]
    table = pa.table({name: pa.array([record[name] for record in records], pa.string()) for name in names})
    return Sheet(source.name, table, np.array(rows, np.int64), problems)


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
    note_trace_leaves(bundle.name, problems, documents, records)
    return Rows(bundle.name, tables_of([records]), [1] * len(files), range(len(files)), bundle.names(files), problems)


def _folder_preview(upload: Upload, request: Request) -> Preview:
    table = _folder_sheet(upload.folder, request.problems).table
    note = "A trace in each file, which is named by its case."
    return Preview.of_objects(upload, "traces", "outputs", "text", table, note)


def _no_suite(upload: Upload, _: Request, __: SuiteImages) -> Loaded[Suite]:
    raise upload.error("traces, which are outputs", "a suite: a table of cases")


def _folder_outputs(upload: Upload, request: Request, suite: Suite) -> Part:
    sheet = _folder_sheet(upload.folder, request.problems)
    return part_of(sheet, suite, None, upload.model, request.model)


def _lines(source: Source, problems: Problems) -> Sheet:
    return _sheet(source, list(line_values(source, problems)), problems)


FOLDER = Reader("traces", _is_folder, _folder_preview, _no_suite, _folder_outputs, contents="traces of agents (.json)")
DOCUMENT = table_reader(
    "trace_document",
    lambda source: traces_in(source.document) is not None,
    lambda source, problems: _sheet(source, traces_in(source.document) or [], problems),
)
LINES = table_reader("trace_lines", lambda source: source.format == "jsonl" and is_trace(first_value(source)), _lines)
