"""Phoenix: spans with OpenInference attributes (JSON, JSONL, or a data frame of spans as CSV or Parquet).

A trace is a case: its root span has the question (`input.value`) and the answer (`output.value`), its retriever spans
the retrieved contexts, its LLM spans model, tokens and cost. Several calls of models or tools are its trace, with their
times. Spans without the root of their trace are refused. The output of examples of a data set (input, output, metadata
and nothing else) is the expected answer.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import orjson

from metrics.core.rounding import exact_sum
from metrics.ingest.formats.opik import convert_items
from metrics.ingest.formats.tool_records import (
    Fault,
    Numbered,
    Record,
    Refused,
    amount,
    count,
    drop_unnamed_models,
    group,
    lookup,
    metadata,
    seconds_between,
    tool_reader,
)
from metrics.ingest.tables.messages import ANSWERS, QUESTIONS, texts_in
from metrics.ingest.tables.values import item_text, json_text, text_of
from metrics.ingest.traces.otel_traces import Span, span_of
from metrics.ingest.traces.stored_trace import trace_cell
from metrics.ingest.unused_leaves import SUMMED, TAKEN
from metrics.text.agents.traces import TraceError

KNOWN = ("attributes.openinference", "attributes.input", "attributes.output", "attributes.llm", "attributes.retrieval")
KIND = "openinference.span.kind"
JSON = "application/json"
DOCUMENTS = "attributes.retrieval.documents"
WHOLE = "all spans of the traces, or their root spans (get_spans_dataframe without a filter, or root_spans_only=True)"

SIDES = {"input", "output", "metadata"}  # of an example of a data set


def _knows(names: frozenset[str]) -> bool:
    plain = {name.partition(".")[0] for name in names}
    if plain >= SIDES and plain <= {*SIDES, "id", "example_id", "node_id", "updated_at"}:
        return all(any(name.startswith(f"{side}.") for name in names) for side in ("input", "output"))
    traced = names & {"context.trace_id", "context.span_id", "trace_id"}
    kinds = names & {"span_kind", "parent_id", "attributes.openinference.span.kind", "attributes.openinference.span"}
    return bool(traced) and bool(kinds) and not names.isdisjoint(KNOWN)


def _convert(records: Sequence[Numbered], fault: Callable[[int, Fault], None]) -> Iterator[Numbered]:
    if any(record.keys() >= SIDES for _, record in records):
        own = {"output": "expected_output", "example_id": "id"}
        return convert_items([(row, {own.get(key, key): value for key, value in one.items()}) for row, one in records])
    traces: dict[str, list[Record]] = {}
    roots: list[Numbered] = []
    for row, record in records:
        trace = text_of(lookup(record, "context.trace_id") or record.get("trace_id"))
        if not trace:
            fault(row, Fault("no trace id", "a span with context.trace_id", "context.trace_id"))
            continue
        traces.setdefault(trace, []).append(record)
        if lookup(record, "parent_id") in (None, "", "None"):
            roots.append((row, record | {"_trace": trace}))
    if not roots and records:
        raise Refused("Phoenix spans without the root span of a trace", WHOLE)
    questions, more = texts_in([_value(record, "input") for _, record in roots], QUESTIONS)
    answers, others = texts_in([_value(record, "output") for _, record in roots], ANSWERS, last=True)
    made = []
    for place, (row, record) in enumerate(roots):
        found: Record = {"case_id": record["_trace"], "question": questions[place], "answer": text_of(answers[place])}
        found |= metadata("input", more[place]) | metadata("output", others[place])
        own = lookup(record, "attributes.metadata")
        found |= metadata("" if isinstance(own, Mapping) else "phoenix.metadata", own)
        spans = [_span(span) for span in traces[record["_trace"]]]
        try:
            found["trace"] = trace_cell(spans, "Phoenix")
        except TraceError as failure:
            fault(row, Fault(str(failure), "spans of fewer steps", "context.trace_id"))
            continue
        made.append((row, found | _facts(record, traces[record["_trace"]])))
    drop_unnamed_models([found for _, found in made])
    return iter(made)


def _value(record: Record, side: str) -> Any:
    """Return what went in or came out of a span: its text, or its JSON where it says that it is JSON."""
    value, kind = (lookup(record, f"attributes.{side}.{name}") for name in ("value", "mime_type"))
    if isinstance(value, Mapping | list) and kind not in (None, JSON):
        return json_text(value)  # of a table, whose cells are JSON already
    if isinstance(value, str) and kind == JSON:
        try:
            return orjson.loads(value)
        except orjson.JSONDecodeError:
            return value
    return value


def _facts(root: Record, spans: Sequence[Record]) -> Record:
    models = dict.fromkeys(model for span in spans if (model := text_of(lookup(span, "attributes.llm.model_name"))))
    totals = [count(lookup(span, "attributes.llm.token_count.total")) for span in spans]
    tokens = [total for total in totals if total is not None]
    costs = [cost for span in spans if (cost := amount(lookup(span, "attributes.llm.cost.total"))) is not None]
    contexts = [
        text for span in spans if isinstance(listed := lookup(span, DOCUMENTS), list)
        for entry in listed if (text := _document(entry))
    ]  # fmt: skip
    failed = str(lookup(root, "status_code")).upper() == "ERROR"
    return {
        "model": next(iter(models)) if len(models) == 1 else None,
        "retrieved_contexts": contexts or None,
        "duration_s": seconds_between(lookup(root, "start_time"), lookup(root, "end_time")),
        "tokens": sum(tokens) if tokens else None,
        "cost_usd": exact_sum(costs) if costs else None,
        "error": (text_of(lookup(root, "status_message")) or "error") if failed else None,
    }


def _span(record: Record) -> Span:
    attributes = group(record, "attributes")
    attributes = dict(attributes) if isinstance(attributes, Mapping) else {}
    if lookup(attributes, KIND) is None:
        attributes[KIND] = record.get("span_kind")
    names = ("name", "start_time", "end_time", "parent_id")
    ids = {name: lookup(record, f"context.{name}") or record.get(name) for name in ("trace_id", "span_id")}
    status = {"code": record.get("status_code"), "message": record.get("status_message")}
    return span_of({name: record.get(name) for name in names} | ids | {"attributes": attributes, "status": status}, {})


def _document(entry: Any) -> str | None:
    """Return the text of a retrieved document, whose entries may be named document.content."""
    text = lookup(entry, "document.content") if isinstance(entry, Mapping) else None
    return text_of(text) if text is not None else item_text(entry)


READS = {
    "id": "case_id", "example_id": "case_id", "input": "question metadata.input", "metadata": "metadata",
    "output": "expected_answers metadata.expected_output", "updated_at": "metadata", "node_id": "metadata",
    "context.trace_id": "case_id", "trace_id": "case_id", "name": "trace", "start_time": TAKEN,
    "end_time": TAKEN, "status_code": "status_code", "status_message": "error trace", "attributes.metadata": "metadata",
    **{f"attributes.{side}": "trace" for side in ("input", "output")},
    **{f"attributes.{side}.value": f"{TAKEN} trace" for side in ("input", "output")},
    **{f"attributes.{side}.mime_type": "mime_type" for side in ("input", "output")},
    DOCUMENTS: "retrieved_contexts", "attributes.tool": "trace", "attributes.llm.model_name": "model",
    **{f"attributes.llm.{side}_messages": "trace" for side in ("input", "output")},
    "attributes.llm.token_count.total": SUMMED, "attributes.llm.cost.total": SUMMED,
}  # fmt: skip
READER = tool_reader("phoenix", _knows, _convert, READS, deciding={"mime_type": JSON, "status_code": "ERROR"})
