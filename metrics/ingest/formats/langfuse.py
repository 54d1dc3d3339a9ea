"""Langfuse: traces or observations (case and answer), and items of data sets (a suite).

A trace's input is the question and its output the answer; of observations that of the root of each trace is read, or
each generation where there are only generations. Documents of retrievers are retrieved contexts. Several generations or
calls of tools are the trace, with their times, tokens and cost. Scores of a trace are kept as `metadata.langfuse.NAME`.
Exports of scores, sessions and runs of data sets hold no answers and are refused. Archived items are no cases.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from metrics.core.rounding import exact_sum
from metrics.ingest.formats.tool_records import (
    Fault,
    Numbered,
    Record,
    Refused,
    amount,
    count,
    drop_unnamed_models,
    lookup,
    metadata,
    references,
    tool_reader,
)
from metrics.ingest.tables.columns import fold
from metrics.ingest.tables.messages import ANSWERS, CHAT, QUESTIONS, REFERENCES, texts_in
from metrics.ingest.tables.values import item_text, text_of
from metrics.ingest.traces.chat_traces import decoded
from metrics.ingest.traces.otel_traces import Span, span_of
from metrics.ingest.traces.stored_trace import trace_cell
from metrics.ingest.unused_leaves import SUMMED, TAKEN
from metrics.text.agents.traces import TraceError

OF_TRACES = {"session_id", "user_id", "release", "public", "bookmarked", "html_path", "total_cost", "project_id",
             "observations", "environment"}  # fmt: skip
OF_OBSERVATIONS = {
    "parent_observation_id", "completion_start_time", "model_parameters", "usage_details", "cost_details",
    "provided_model_name", "prompt_tokens", "calculated_total_cost", "level",
}  # fmt: skip
OF_SCORES = {"data_type", "source", "string_value", "config_id", "author_user_id", "score_value"}
TRACES = "an export of traces or observations, or the items of a data set"


def _kind(names: frozenset[str] | set[str]) -> str:
    """Return what the records are, by the names in them; "" where they are not Langfuse's."""
    names = {fold(name) for name in names}
    if names >= {"trace", "observations"}:
        return "download"
    if names >= {"dataset_run_id", "dataset_item_id"}:
        return "runs of data sets"
    if "expected_output" in names and names & {"dataset_id", "dataset_name", "source_trace_id"}:
        return "items"
    if "trace_id" in names and names & {"type", "start_time"} and len(names & OF_OBSERVATIONS) > 1:
        return "observations"
    if names >= {"name", "value"} and "trace_id" in names and len(names & OF_SCORES) > 1:
        return "scores"
    if names >= {"id", "timestamp", "input", "output"} and len(names & OF_TRACES) > 1:
        return "traces"
    return "sessions" if names >= {"id", "traces", "project_id"} else ""


def _knows(names: frozenset[str]) -> bool:
    return bool(_kind(names))


def _convert(records: Sequence[Numbered], fault: Callable[[int, Fault], None]) -> Iterator[Numbered]:
    kind = _kind({str(name) for _, record in records for name in record})
    if kind in ("scores", "sessions", "runs of data sets"):
        raise Refused(f"a Langfuse export of {kind}, which holds no answers", TRACES)
    plain = [(row, {fold(str(name)): value for name, value in record.items()}) for row, record in records]
    if kind == "download":
        plain = [(row, _downloaded(record)) for row, record in plain]
    beside: dict[str, list[Record]] = {}
    if kind == "observations":
        plain, beside = _roots(plain)
    questions, more = texts_in([record.get("input") for _, record in plain], QUESTIONS)
    answers, others = texts_in([record.get("output") for _, record in plain], ANSWERS, last=True)
    expected, _ = texts_in([record.get("expected_output") for _, record in plain], REFERENCES, last=True)
    made = []
    for place, (row, record) in enumerate(plain):
        case = text_of(record.get("id"))
        if kind == "items" and record.get("status") == "ARCHIVED":
            fault(row, Fault("archived items of a data set are no cases", ""))
            continue
        if not case:
            fault(row, Fault("no id", "a record with id", "id"))
            continue
        found: Record = {"case_id": case, "question": questions[place], "expected_answers": references(expected[place])}
        found |= metadata("input", more[place]) | metadata("output", others[place])
        own = record.get("metadata")
        found |= metadata("" if isinstance(own, Mapping) else "langfuse.metadata", own)
        if kind != "items":
            inner = beside.get(text_of(record.get("trace_id")) or "") or _observations(record)
            try:
                trace = trace_cell([_span(one) for one in inner], "Langfuse")
            except TraceError as failure:
                fault(row, Fault(str(failure), "observations of fewer steps", "id"))
                continue
            found |= {"answer": text_of(answers[place]), "trace": trace} | _facts(record, inner)
        made.append((row, found))
    drop_unnamed_models([found for _, found in made])
    return iter(made)


def _downloaded(record: Record) -> Record:
    trace = record.get("trace")
    plain = {fold(str(name)): value for name, value in trace.items()} if isinstance(trace, Mapping) else {}
    return plain | {"observations": record.get("observations"), "scores": record.get("scores")}


def _roots(records: Sequence[Numbered]) -> tuple[list[Numbered], dict[str, list[Record]]]:
    """Return the observations that are rows, and those of each trace: its roots, or all where all are generations."""
    kinds = {str(record.get("type")).upper() for _, record in records}
    if kinds == {"GENERATION"}:
        return list(records), {}
    roots = [one for one in records if not one[1].get("parent_observation_id")]
    if not roots:
        found = "Langfuse observations without the root of a trace, and not only generations"
        raise Refused(found, "an export of traces, of all observations, or of generations alone (filter: Type)")
    beside: dict[str, list[Record]] = {}
    for _, record in records:
        beside.setdefault(text_of(record.get("trace_id")) or "", []).append(record)
    return roots, beside


def _observations(record: Record) -> list[Record]:
    listed = record.get("observations")
    listed = listed if isinstance(listed, list) else []
    return [{fold(str(name)): value for name, value in one.items()} for one in listed if isinstance(one, Mapping)]


def _facts(record: Record, inner: Sequence[Record]) -> Record:
    generations = [one for one in inner if str(one.get("type")).upper() == "GENERATION"]
    models = {
        model
        for one in [record, *generations]
        if (model := text_of(one.get("model") or one.get("provided_model_name") or one.get("provided_usage_model")))
    }
    retrieved = (one.get("output") for one in inner if str(one.get("type")).upper() == "RETRIEVER")
    contexts = [text for output in retrieved for text in _documents(output)]
    tokens = [number for one in (generations or [record]) if (number := _tokens(one)) is not None]
    costs = [cost for one in generations if (cost := _cost(one)) is not None]
    cost = _cost(record)
    failed = str(record.get("level")).upper() == "ERROR"
    found: Record = {
        "model": next(iter(models)) if len(models) == 1 else None,
        "retrieved_contexts": contexts or None,
        "duration_s": amount(record.get("latency")),
        "tokens": sum(tokens) if tokens else None,
        "cost_usd": cost if cost is not None or not costs else exact_sum(costs),
        "error": (text_of(record.get("status_message")) or "error") if failed else None,
    }
    scores = record.get("scores")
    for score in scores if isinstance(scores, list) else []:
        if isinstance(score, Mapping) and score.get("name"):
            value = score.get("stringValue") if score.get("value") is None else score["value"]
            found |= metadata(f"langfuse.{score['name']}", value)
    return found


def _span(record: Record) -> Span:
    """Return an observation as a span of OpenTelemetry's GenAI conventions."""
    kind, sides = str(record.get("type")).upper(), [decoded(record.get(name)) for name in ("input", "output")]
    attributes: Record = {"gen_ai.operation.name": "invoke_agent"}
    if kind == "GENERATION":
        said, replied = (_said(value, role) for value, role in zip(sides, ("user", "assistant"), strict=True))
        attributes = {
            "gen_ai.operation.name": "chat", "gen_ai.input.messages": said, "gen_ai.output.messages": replied,
            "gen_ai.usage.input_tokens": _tokens(record), "gen_ai.usage.cost": _cost(record),
        }  # fmt: skip
    elif kind == "TOOL":
        attributes = {
            "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": record.get("name"),
            "gen_ai.tool.call.arguments": sides[0], "gen_ai.tool.call.result": sides[1],
        }  # fmt: skip
    status = {"code": str(record.get("level")).upper(), "message": record.get("status_message")}
    facts = {name: record.get(name) for name in ("name", "start_time", "end_time", "trace_id")}
    ids = {"span_id": record.get("id"), "parent_id": record.get("parent_observation_id")}
    return span_of(facts | ids | {"attributes": attributes, "status": status}, {})


def _said(value: Any, role: str) -> list[Record]:
    """Return the messages of a generation's input or output; a text or an object without roles is one of `role`."""
    if isinstance(value, Mapping):
        value = next((value[name] for name in CHAT if isinstance(value.get(name), list)), value)
    listed = value if isinstance(value, list) else [value]
    messages = [message for entry in listed if isinstance(entry, Mapping) and (message := _message(entry))]
    text = None if messages else item_text(value)
    return messages or ([{"role": role, "content": text}] if text else [])


def _message(entry: Mapping[str, Any]) -> Record | None:
    """Return a message in OpenAI's form, None where it has no role; calls of LangChain have args."""
    if not isinstance(entry.get("role"), str):
        return None
    calls = entry.get("tool_calls") or lookup(entry, "additional_kwargs.tool_calls")
    listed = [call for call in calls if isinstance(call, Mapping)] if isinstance(calls, list) else []
    spelled = [{**call, "arguments": call["args"]} if "args" in call else call for call in listed]
    kept = {name: entry[name] for name in ("role", "content", "tool_call_id") if entry.get(name) is not None}
    return kept | ({"tool_calls": spelled} if spelled else {})


def _cost(record: Record) -> float | None:
    places = ("total_cost", "calculated_total_cost", "cost_details.total")
    return next((cost for place in places if (cost := amount(lookup(record, place))) is not None), None)


def _tokens(record: Record) -> int | None:
    places = ("usage.total", "usage_details.total", "total_tokens", "usage.total_tokens", "total_usage")
    return next((number for place in places if (number := count(lookup(record, place))) is not None), None)


def _documents(output: Any) -> list[str]:
    if isinstance(output, Mapping):
        output = next((value for value in output.values() if isinstance(value, list)), [output])
    return [text for item in (output if isinstance(output, list) else [output]) if (text := item_text(item))]


NUMBERS = (
    "usage.total", "usage_details.total", "total_tokens", "usage.total_tokens", "total_usage", "total_cost",
    "calculated_total_cost", "cost_details.total",
)  # fmt: skip
MODELS = ("model", "provided_model_name", "provided_usage_model")
READS = {
    "id": "case_id", "parent_observation_id": "case_id", "input": "question trace metadata.input", "name": "trace",
    "output": "answer trace retrieved_contexts metadata.output", "expected_output": "expected_answers",
    "metadata": "metadata", "latency": TAKEN, "status_message": "error trace", "level": "level", "status": "status",
    **{f"scores.{name}": TAKEN for name in ("name", "value", "string_value")},
    **dict.fromkeys(NUMBERS, SUMMED), **dict.fromkeys(MODELS, "model"),
}  # fmt: skip
NESTED = {f"{place}.{name}": columns for place in ("trace", "observations") for name, columns in READS.items()}
READER = tool_reader("langfuse", _knows, _convert, READS | NESTED, deciding={"level": "ERROR", "status": "ACTIVE"})
