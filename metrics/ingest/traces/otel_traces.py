"""OpenTelemetry's GenAI spans as traces: OTLP's JSON and flat lists of spans, recognised by their gen_ai.* attributes.

OpenInference's attributes are read as those, see openinference.

Conversations are in `gen_ai.input.messages` and `gen_ai.output.messages` (attributes of a span or of its events), in
the events used before (`gen_ai.user.message`, …), or in numbered attributes (`gen_ai.prompt.0.content`).
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from metrics.core.rounding import exact_sum
from metrics.ingest.traces.chat_traces import Conversation, decoded
from metrics.ingest.traces.openinference import gen_ai
from metrics.text.agents.traces import Step, TraceError, text_of

MOST_SPANS = 50_000
DEEPEST = 32  # of an attribute's value
MARK = "gen_ai."
CASE = ("case_id", "case.id", "assay.case_id")
AGGREGATING = ("invoke_agent", "create_agent", "invoke_workflow")  # their tokens are those of the spans inside them
OPERATIONS = (*AGGREGATING, "execute_tool")  # that decide what a span is
READ = re.compile(  # names of attributes that are read, OpenInference's among them
    r"gen_ai\.(operation\.name|tool\.(name|call\..+)|usage\..+|(input|output)\.messages|system_instructions"
    r"|(prompt|completion)(\.\d+\.(role|content|tool_calls\..+))?|event\.content)|error\.type|(assay\.)?case[._]id"
    r"|(llm|openinference|input|output|tool)\..+"
)
NUMBERED = re.compile(r"gen_ai\.(prompt|completion)\.(\d{1,4})\.(role|content)")
NUMBERED_CALL = re.compile(r"gen_ai\.completion\.(\d{1,4})\.tool_calls\.(\d{1,3})\.(id|name|arguments)")
OLD_EVENT = re.compile(r"gen_ai\.(?:(system|user|assistant|tool)\.message|(choice))")


@dataclass(frozen=True, slots=True)
class Span:
    """A span with its attributes as plain values; times in nanoseconds."""

    trace: str
    name: str
    start: int
    end: int
    attributes: Mapping[str, Any]
    events: Sequence[tuple[str, int, Mapping[str, Any]]] = ()
    error: str | None = None
    id: str = ""
    parent: str = ""


@dataclass(frozen=True, slots=True)
class SpanTrace:
    """One trace as its spans describe it: steps, duration, tokens, dollars and case; None where they do not say."""

    steps: list[Step]
    seconds: float | None = None
    tokens: int | None = None
    case_id: str | None = None
    cost_usd: float | None = None


@dataclass(slots=True)
class _Turn:
    """What happens at one moment: messages, or a call of a tool; `span` is that of a reply or a call."""

    time: int
    order: int
    messages: list[Any] = field(default_factory=list)
    span: Span | None = None
    is_call: bool = False


def is_export(document: Any) -> bool:
    """Return whether an object is an OTLP export: resourceSpans, in the spelling of JSON or of protobuf."""
    return isinstance(document, Mapping) and isinstance(_get(document, "resourceSpans", "resource_spans"), list)


def is_span(value: Any) -> bool:
    """Return whether an object is a span."""
    if not isinstance(value, Mapping) or "attributes" not in value or "name" not in value:
        return False
    return bool(_get(value, "traceId", "trace_id") or _object(value.get("context")))


def spans_in(documents: Sequence[Any]) -> dict[str, list[Span]]:
    """Return the spans of OTLP exports and of single spans, by trace, in their order; TraceError for anything else."""
    found: dict[str, list[Span]] = {}
    count = 0
    for document in documents:
        for raw, resource in _raw(document):
            count += 1
            if count > MOST_SPANS:
                raise TraceError(f"more than {MOST_SPANS:,} spans")
            span = span_of(raw, resource)
            found.setdefault(span.trace, []).append(span)
    return found


def trace_of_spans(spans: Sequence[Span]) -> SpanTrace:
    """Return the trace that spans describe, its steps in order of time.

    TraceError where none has gen_ai.* attributes, of its own or from OpenInference's. A conversation that every request
    sends again is taken once. A call that a message requests and that a span of its own executes is one step, with the
    span's times and error.
    """
    known = [
        span for span in spans
        if any(name.startswith(MARK) for name in (*span.attributes, *(name for name, _, _ in span.events)))
    ]  # fmt: skip
    if not known:
        raise TraceError(f"{len(spans):,} spans, none with gen_ai.* or OpenInference attributes")
    made = Conversation()
    depths = _depths(known)
    sent: Counter[str] = Counter()
    for turn in sorted(_turns(known), key=lambda turn: (turn.time, turn.order)):
        before = len(made.steps)
        if turn.span is not None and turn.is_call:
            _execute(made, turn.span)
        here: Counter[str] = Counter()
        for message in turn.messages:
            key = _message_key(message)
            here[key] += 1
            if here[key] > sent[key]:
                sent[key] += 1
                made.add(message, "a message")
        if turn.span is not None:
            _measure(made.steps, before, turn.span, depths)
    times = [time for span in known for time in (span.start, span.end) if time]
    acting = [span for span in known if span.attributes.get("gen_ai.operation.name") not in AGGREGATING]
    usage = [amount for span in acting if (amount := _tokens(span)) is not None]
    costs = [cost for span in acting if (cost := _cost(span)) is not None]
    cases = (text_of(span.attributes[name]) for span in spans for name in CASE if name in span.attributes)
    seconds = (max(times) - min(times)) / 1e9 if times else None
    cost = exact_sum(costs) if costs else None
    return SpanTrace(made.steps, seconds, sum(usage) if usage else None, next(cases, None), cost)


def _raw(document: Any) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    """Yield the spans of a document, each with its resource's attributes."""
    if is_span(document):
        yield document, {}
        return
    if not is_export(document):
        raise TraceError(f"{text_of(document)[:80]}, which is neither a span nor resourceSpans")
    for group in _objects(_get(document, "resourceSpans", "resource_spans")):
        resource = _attributes(_object(group.get("resource")).get("attributes"))
        for scope in _objects(_get(group, "scopeSpans", "scope_spans", "instrumentationLibrarySpans") or []):
            for span in _objects(scope.get("spans") or []):
                yield span, resource


def span_of(raw: Mapping[str, Any], resource: Mapping[str, Any]) -> Span:
    """Return a span of a record as OTLP or an SDK writes it; `resource`: its resource's attributes."""
    context = _object(raw.get("context"))
    attributes = {name: value for name, value in resource.items() if name in CASE} | _attributes(raw.get("attributes"))
    attributes = gen_ai(attributes) | attributes
    start = _time(_get(raw, "startTimeUnixNano", "start_time_unix_nano", "start_time", "startTime"))
    end = _time(_get(raw, "endTimeUnixNano", "end_time_unix_nano", "end_time", "endTime")) or start
    events = [
        (text_of(event.get("name")), _time(_get(event, "timeUnixNano", "time_unix_nano", "timestamp", "time")),
         _attributes(event.get("attributes")) | {"body": event.get("body")})
        for event in _objects(raw.get("events") or [])
    ]  # fmt: skip
    status = _object(raw.get("status"))
    code = text_of(_get(status, "code", "status_code"))
    error = None
    if code in ("2", "STATUS_CODE_ERROR", "ERROR", "StatusCode.ERROR") or "error.type" in attributes:
        caught = next((text_of(event[2].get("exception.message")) for event in events if event[0] == "exception"), "")
        message = text_of(_get(status, "message", "description"))
        error = message or caught or text_of(attributes.get("error.type")) or "failed"
    trace = text_of(_get(raw, "traceId", "trace_id") or _get(context, "trace_id", "traceId"))
    id = text_of(_get(raw, "spanId", "span_id") or _get(context, "span_id", "spanId"))
    parent = text_of(_get(raw, "parentSpanId", "parent_span_id", "parent_id"))
    return Span(trace, text_of(raw.get("name")), start, end, attributes, events, error, id, parent)


def _turns(spans: Sequence[Span]) -> Iterator[_Turn]:
    """Yield what each span received when it began and replied when it ended; at equal times the outer span is first."""
    for order, span in enumerate(spans):
        attributes = span.attributes
        if attributes.get("gen_ai.operation.name") == "execute_tool" or "gen_ai.tool.name" in attributes:
            yield _Turn(span.start, order, span=span, is_call=True)
            continue
        received, replied = _messages(span)
        if received:
            yield _Turn(span.start, order, received)
        if replied:
            yield _Turn(max(span.end, span.start), order, replied, span)


def _messages(span: Span) -> tuple[list[Any], list[Any]]:
    received, replied = _conversation(span.attributes)
    for name, _, attributes in span.events:
        more = _conversation(attributes)
        received, replied = received + more[0], replied + more[1]
        if match := OLD_EVENT.fullmatch(name):
            body = _object(decoded(attributes.get("body"))) or attributes
            own = _object(decoded(body.get("message"))) or body
            content = decoded(own.get("content", attributes.get("gen_ai.event.content")))
            if isinstance(content, Mapping):
                own = content
            role = text_of(own.get("role")) or match[1] or "assistant"
            message = {**own, "role": role, "tool_calls": decoded(own.get("tool_calls"))}
            if role == "tool":
                message["tool_call_id"] = own.get("tool_call_id") or own.get("id") or body.get("id")
            (replied if match[2] else received).append(message)
    return received, replied


def _conversation(attributes: Mapping[str, Any]) -> tuple[list[Any], list[Any]]:
    received, replied = (_listed(attributes.get(f"gen_ai.{side}.messages")) for side in ("input", "output"))
    instructions = _listed(attributes.get("gen_ai.system_instructions"))
    if instructions:
        received = [{"role": "system", "parts": instructions}, *received]
    received += _listed(attributes.get("gen_ai.prompt"), "user")
    replied += _listed(attributes.get("gen_ai.completion"), "assistant")
    numbered: dict[tuple[str, int], dict[str, Any]] = {}
    calls: dict[tuple[int, int], dict[str, Any]] = {}
    for name, value in attributes.items():
        if match := NUMBERED.fullmatch(name):
            content = decoded(value) if match[3] == "content" else value
            numbered.setdefault((match[1], int(match[2])), {})[match[3]] = content
        elif match := NUMBERED_CALL.fullmatch(name):
            calls.setdefault((int(match[1]), int(match[2])), {})[match[3]] = value
    for (place, _), call in sorted(calls.items()):
        numbered.setdefault(("completion", place), {}).setdefault("tool_calls", []).append(call)
    for (side, _), message in sorted(numbered.items()):
        default = "user" if side == "prompt" else "assistant"
        (received if side == "prompt" else replied).append({"role": default, **message})
    return received, replied


def _execute(made: Conversation, span: Span) -> None:
    attributes = span.attributes
    tool = text_of(attributes.get("gen_ai.tool.name")) or span.name.removeprefix("execute_tool ")
    id = text_of(attributes.get("gen_ai.tool.call.id")) or made.requested(tool)
    seconds = max(0, span.end - span.start) / 1e9 if span.start else None
    made.call(id, tool, attributes.get("gen_ai.tool.call.arguments"), _written(span.start), seconds)
    made.answer(id, attributes.get("gen_ai.tool.call.result"), span.error)


def _measure(steps: list[Step], before: int, span: Span, depths: Mapping[str, int]) -> None:
    """Give the steps that a span added its depth, and the first of them its tokens, cost and, of a reply, its times."""
    depth = depths.get(span.id) or None
    for place in range(before, len(steps)):
        steps[place] = replace(steps[place], depth=depth)
    if before < len(steps):
        steps[before] = replace(steps[before], tokens=_tokens(span), cost_usd=_cost(span))
        if steps[before].kind != "call" and span.start:
            seconds = max(0, span.end - span.start) / 1e9
            steps[before] = replace(steps[before], started=_written(span.start), seconds=seconds)


def _depths(spans: Sequence[Span]) -> dict[str, int]:
    """Return in how many of the spans each one is, less those that every one is in; 0 where ids go round in a ring."""
    parents = {span.id: span.parent for span in spans if span.id}
    found = {}
    for id in parents:
        above, inner = parents[id], 0
        while above in parents and inner < DEEPEST:
            above, inner = parents[above], inner + 1
        found[id] = 0 if inner == DEEPEST else inner
    acting = [
        found[span.id] for span in spans if span.id and span.attributes.get("gen_ai.operation.name") not in AGGREGATING
    ]
    least = min(acting, default=0)
    return {id: max(0, depth - least) for id, depth in found.items()}


def _tokens(span: Span) -> int | None:
    names = ("input_tokens", "output_tokens", "prompt_tokens", "completion_tokens")
    amounts = [_whole(span.attributes.get(f"gen_ai.usage.{name}")) for name in names]
    known = [amount for amount in amounts if amount is not None]
    return sum(known) if known else None


def _cost(span: Span) -> float | None:
    """Return the dollars that a span states, as instrumentations that compute them do."""
    value = _get(span.attributes, "gen_ai.usage.cost", "gen_ai.usage.total_cost", "gen_ai.cost.total_cost")
    return float(value) if isinstance(value, int | float) and 0 <= value < 1e9 else None


def _message_key(message: Any) -> str:
    """Return a key that is the same for a reply and for that message when it is sent again."""
    if not isinstance(message, Mapping):
        return text_of(message)
    kept = {name: value for name, value in message.items() if name not in ("finish_reason", "name", "index")}
    return json.dumps(kept, sort_keys=True, default=str)


def _listed(value: Any, role: str | None = None) -> list[Any]:
    found = decoded(value)
    if isinstance(found, list):
        return found
    if isinstance(found, Mapping):
        return [found]
    return [{"role": role, "content": found}] if role and isinstance(found, str) and found.strip() else []


def _attributes(value: Any) -> dict[str, Any]:
    """Return attributes as plain values, from OTLP's list of keys and typed values or from an object, nested or not."""
    if isinstance(value, list):
        return {text_of(entry.get("key")): _plain(entry.get("value")) for entry in _objects(value)}
    spread: dict[str, Any] = {}
    for name, inner in _object(value).items():
        if name in ("gen_ai", "gen_ai.", "error", "case", "assay") and isinstance(inner, Mapping):
            spread |= _spread(name.rstrip("."), inner)
        else:
            spread[name] = inner
    return spread


def _spread(prefix: str, value: Mapping[str, Any], depth: int = 0) -> dict[str, Any]:
    """Return nested attributes under dotted names; arguments and results of calls stay whole."""
    spread: dict[str, Any] = {}
    for name, inner in value.items():
        path = f"{prefix}.{name}"
        whole = path in ("gen_ai.tool.call.arguments", "gen_ai.tool.call.result") or depth > DEEPEST
        spread |= _spread(path, inner, depth + 1) if isinstance(inner, Mapping) and not whole else {path: inner}
    return spread


def _plain(value: Any, depth: int = 0) -> Any:
    """Return OTLP's AnyValue as a plain value: {"stringValue": "a"} is "a"."""
    if not isinstance(value, Mapping) or len(value) != 1 or depth > DEEPEST:
        return value
    ((kind, inner),) = value.items()
    if kind in ("arrayValue", "array_value"):
        return [_plain(item, depth + 1) for item in _object(inner).get("values") or []]
    if kind in ("kvlistValue", "kvlist_value"):
        pairs = _objects(_object(inner).get("values") or [])
        return {text_of(pair.get("key")): _plain(pair.get("value"), depth + 1) for pair in pairs}
    if kind in ("intValue", "int_value"):
        return _whole(inner)
    return inner if kind in ("stringValue", "boolValue", "doubleValue", "bytesValue",
                             "string_value", "bool_value", "double_value", "bytes_value") else value  # fmt: skip


def _written(time: int) -> str | None:
    """Return a time in nanoseconds as ISO 8601; None for 0, or a time beyond the calendar."""
    try:
        return datetime.fromtimestamp(time / 1e9, UTC).isoformat() if time else None
    except (OverflowError, ValueError, OSError):
        return None


def _time(value: Any) -> int:
    """Return a time in nanoseconds since 1970, from OTLP's numbers or ISO 8601 text; 0 where it is neither."""
    number = _whole(value)
    if number is not None:
        return number
    try:
        moment = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        return 0
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0, int(aware.timestamp() * 1e6)) * 1000


def _whole(value: Any) -> int | None:
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= 20:
        return int(value)
    whole = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 2**63
    return int(value) if whole else None


def _get(value: Mapping[str, Any], *names: str) -> Any:
    return next((value[name] for name in names if value.get(name) is not None), None)


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _objects(value: Any) -> list[Mapping[str, Any]]:
    return [entry for entry in value if isinstance(entry, Mapping)] if isinstance(value, list) else []
