"""What of the documents of traces no step has: each path is said to be unused."""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from metrics.ingest.leaf_notes import leaves_of
from metrics.ingest.source import Problems
from metrics.ingest.tables.columns import fold
from metrics.ingest.tables.values import text_of
from metrics.ingest.traces.chat_traces import decoded
from metrics.ingest.traces.otel_traces import OPERATIONS, READ, Span, is_export, is_span, spans_in
from metrics.ingest.traces.stored_trace import BESIDE
from metrics.ingest.unused_leaves import RECORDS, TAKEN, note_leaves
from metrics.text.agents.dialects import ROLES
from metrics.text.agents.traces import TraceError

DEEPEST = 40  # levels of a record in which texts may hold JSON
TIMES = tuple(f"{side}_time{unit}" for side in ("start", "end") for unit in ("", "_unix_nano"))
DECIDING = (*TIMES, "parent_span_id", "parent_id")
DECIDES = re.compile(r"tool|call|reason|think|result|image|audio|file|media")  # in the type of a message or part
FAILED = ("2", "STATUS_CODE_ERROR", "ERROR", "StatusCode.ERROR")


def note_trace_leaves(
    file: str, problems: Problems, documents: Sequence[Any], records: Sequence[Mapping[str, Any]], root: str = ""
) -> None:
    """Say what of documents no trace among the `records` made of them has; `root` is where they stand.

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
    traces = _traces_in(documents[:RECORDS])
    spans = [span for trace in traces for span in trace]
    made["parent"], made["operation"] = [span.parent for span in spans], [*OPERATIONS]
    made["role"] = [*made.get("role", ()), *ROLES]
    made["string_value"] = [*made.get("string_value", ()), *OPERATIONS, *ROLES]
    made["trace_id"] = [trace[0].trace for trace in traces] if len(traces) > 1 and not root else []
    made["status"] = [*FAILED] if any(span.error for span in spans) else []
    made["key"] = [name for span in spans for name in span.attributes if READ.fullmatch(name)]
    acting = [span for span in spans if span.attributes.get("gen_ai.operation.name") not in OPERATIONS]
    for name, value in (usage for span in acting for usage in span.attributes.items() if ".usage." in usage[0]):
        made.setdefault(name.rpartition(".")[2], []).append(value)
        made.setdefault("int_value", []).append(value)
    plain = {path.replace("[]", "").strip(".") for path, _ in leaves_of(given)}
    names = [[fold(name) for name in path.split(".")] for path in plain]
    reads = {".".join(own): TAKEN if {*DECIDING} & {*own} else " ".join(("answer", *own)) for own in names}
    note_leaves(file, problems, given, [made], reads, root)


def _traces_in(documents: Sequence[Any]) -> list[list[Span]]:
    held = [one.get("spans", one) if isinstance(one, Mapping) else one for one in documents]
    listed = [entry for one in held for entry in (one if isinstance(one, list) else [one])]
    with suppress(TraceError):  # said where the trace is read
        return list(spans_in([entry for entry in listed if is_export(entry) or is_span(entry)]).values())
    return []


def _unpack(value: Any, depth: int = DEEPEST) -> Any:
    """Return a value in which texts that hold JSON are what they hold."""
    value = decoded(value)
    if isinstance(value, Mapping) and depth:
        return {name: _unpack(inner, depth - 1) for name, inner in value.items()}
    return [_unpack(inner, depth - 1) for inner in value] if isinstance(value, list) and depth else value
