"""A trace as it is stored: whatever tool wrote it, it becomes one JSON of steps (metrics.text.agents.traces).

It may be steps of our own ({"steps": [{"tool": …, "arguments": …, "result": …}, {"role": …, "text": …}]}), messages of
OpenAI's chat, items of its Responses API, Anthropic's blocks, or OpenTelemetry spans with attributes of gen_ai.* or
OpenInference (OTLP's JSON, or a list of spans): in a cell of a `trace` column, or a file of its own.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count, takewhile
from typing import Any, get_args

from metrics.core.unicode_forms import without_escaped_halves, without_halves
from metrics.ingest.tables.values import finite, json_text, text_of
from metrics.ingest.traces.chat_traces import conversation, is_conversation
from metrics.ingest.traces.otel_traces import Span, SpanTrace, is_export, is_span, spans_in, trace_of_spans
from metrics.text.agents.dialects import is_message
from metrics.text.agents.message_parts import MEDIUM, WRITTEN_CALL, fold_keys, is_call, is_foreign_call, parts_of, snake
from metrics.text.agents.traces import ARGUMENTS, MOST_STEPS, RESULT, TEXT, TOOL, Kind, Step, TraceError, steps_of
from metrics.text.json_text import JsonError, read_json
from metrics.text.thoughts import split_thoughts

EXPECTED = (
    "a trace in JSON: steps, chat messages with roles, Responses items, or OpenTelemetry spans with attributes of "
    "gen_ai.* or OpenInference"
)
LONGEST = 20_000_000  # characters of one trace
BESIDE = ("case_id", "model", "run")  # what a record may hold beside its trace
OWN = {"steps", "artifacts", "source", "metadata", "error", "started", "seconds", "tokens", "cost_usd", *BESIDE}
SHOWN = 80
TOOL_NAME = re.compile(r"[A-Za-z_][\w.:/-]*")
# where an object keeps its messages: chats, Gemini, DeepEval, ShareGPT, LangChain's agents, pydantic-ai, ragas
LISTED = ("messages", "contents", "turns", "conversations", "conversation", "intermediate_steps", "all_messages",
          "chat_history", "trace", "user_input", "events", "tools_called", "tool_calls", "tool_uses")  # fmt: skip
ALONE = ("contents", "turns", "conversations", "all_messages")  # of them, those that are no columns of tables


@dataclass(frozen=True, slots=True)
class Trace:
    """A trace as it is stored, its steps, and its tokens, seconds, dollars and case where it states them."""

    text: str
    steps: Sequence[Step]
    format: str
    seconds: float | None = None
    tokens: int | None = None
    case_id: str | None = None
    cost_usd: float | None = None
    media: Counter[str] = field(default_factory=Counter)  # pictures, sounds and files in messages, by kind

    @property
    def question(self) -> str | None:
        """The user's first message; None where there is none."""
        return next((step.text for step in self.steps if step.kind == "message" and step.role == "user"), None)

    @property
    def answer(self) -> str | None:
        """The assistant's last message, its text before its pictures; None where there is none."""
        said = [step for step in self.steps if step.kind == "message"]
        while said and said[-1].role not in ("assistant", "model"):
            said.pop()
        turn = takewhile(lambda step: step.role in ("assistant", "model"), reversed(said))
        texts = [step.text for step in turn]
        plain = (text for text in texts if not (text[:1] == "[" and MEDIUM.fullmatch(text[1:-1])))
        return next(plain, next(iter(texts), None))


def read_trace(text: str) -> Trace:
    """Return the trace in a cell; TraceError where its form is unknown."""
    if len(text) > LONGEST:
        raise TraceError(f"{len(text):,} characters, more than {LONGEST:,}")
    return trace_of(json_value(text, ".json"), text)


def trace_of(document: Any, text: str | None = None) -> Trace:
    """Return the trace in a JSON value; `text` is its JSON, where that is known."""
    if is_export(document) or is_span(document):
        return _of_spans([document])
    if isinstance(document, list):
        if document and (is_span(document[0]) or is_export(document[0])):
            return _of_spans(document)
        return _of_list(document, document, text)
    if not isinstance(document, Mapping):
        raise TraceError(f"{type(document).__name__} {json_text(document)[:SHOWN]}")
    if isinstance(document.get("spans"), list):
        return _of_spans(document["spans"])
    if isinstance(document.get("steps"), list):
        return _of_list(document["steps"], document, text)
    given = fold_keys(document)
    if "tool_name_0" in given:
        return _of_messages(list(_dspy_steps(given)))
    listed = next((given[name] for name in LISTED if isinstance(given.get(name), list)), None)
    if listed is not None:
        return _of_messages([*_asked_in(given), *listed, *_answered_in(given)], document)
    output = given.get("output")
    if isinstance(output, list):
        return _of_messages([*_asked_in(given), *output], document)
    if isinstance(output, Mapping) and isinstance(output.get("message"), Mapping):  # of Bedrock
        return _of_messages([output["message"]], document)
    for name, inner in (("choices", "message"), ("candidates", "content")):
        if isinstance(given.get(name), list):
            chosen = given[name][0] if given[name] else None
            return _of_messages([chosen.get(inner) if isinstance(chosen, Mapping) else None], document)
    if is_message(document) or is_call(document):
        return _of_messages([document])
    raise TraceError(f"an object with {', '.join(map(str, list(document)[:8])) or 'nothing'}"[:200])


def _dspy_steps(given: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the calls of DSPy's agents, which number the names: thought_0, tool_name_0, tool_args_0, observation_0."""
    for place in count():
        if f"tool_name_{place}" not in given:
            return
        names = ("thought", "tool_name", "tool_args", "observation")
        yield {name: given.get(f"{name}_{place}") for name in names}


def _asked_in(given: Mapping[str, Any]) -> list[Any]:
    """Return the messages that an object states beside its steps, or before its output."""
    asked = given.get("input")
    return asked if isinstance(asked, list) else [{"role": "user", "content": asked}] if isinstance(asked, str) else []


def _answered_in(given: Mapping[str, Any]) -> list[Any]:
    answer = given.get("output")
    return [{"role": "assistant", "content": answer}] if isinstance(answer, str) else []


def _of_list(listed: Sequence[Any], document: Any, text: str | None) -> Trace:
    """Return the trace in a list: of steps of our own where each is one, else of messages."""
    if listed and all(isinstance(entry, str) and TOOL_NAME.fullmatch(entry) for entry in listed):
        return _own([{"tool": entry} for entry in listed], None)
    if len(listed) == 1 and isinstance(listed[0], list) and not is_message(listed[0]):  # a batch of LangChain's
        return _of_list(listed[0], listed[0], None)
    if any(is_message(entry) or is_foreign_call(entry) for entry in listed):
        beside = document if isinstance(document, Mapping) else {}
        return _of_messages([*_asked_in(fold_keys(beside)), *listed], beside)
    for place, entry in enumerate(listed, 1):
        _check_step(entry, f"step {place}")
    return _own(document, text)


def _check_step(entry: Any, where: str) -> None:
    """Raise TraceError for a step that is neither a call with its arguments nor a text."""
    if isinstance(entry, str) and WRITTEN_CALL.fullmatch(entry):
        raise TraceError(f"{where} is the text {entry[:SHOWN]!r}, which may be a call")
    if not isinstance(entry, Mapping) or entry.get("kind") in get_args(Kind):  # as it is stored
        return
    names = (*TOOL, *TEXT, *RESULT, *(("name",) if any(entry.get(name) is not None for name in ARGUMENTS) else ()))
    if all(entry.get(name) in (None, "") for name in names) and "role" not in entry:
        raise TraceError(f"{where} has {', '.join(map(str, list(entry)[:8])) or 'nothing'}: neither a tool nor a text")
    parts_of({name: value for name, value in entry.items() if name not in (*RESULT, "type", "kind")}, where)


def is_trace(value: Any) -> bool:
    """Return whether a record, or a whole document, is itself a trace and not a row of a table."""
    if isinstance(value, list):
        return bool(value) and (is_span(value[0]) or is_conversation(value))
    if not isinstance(value, Mapping):
        return False
    own = isinstance(value.get("steps"), list) and value.keys() <= OWN
    held = [name for name in value if snake(name) in ALONE and isinstance(value[name], list)]
    own |= len(held) == 1 and value.keys() - held <= OWN and is_conversation(value[held[0]])
    return own or is_export(value) or is_span(value) or value.get("object") in ("response", "chat.completion")


def json_value(text: str, suffix: str) -> Any:
    """Return the JSON value of a file, or the list of those on its lines; TraceError where it is not JSON."""
    try:
        if suffix == ".json":
            return read_json(text).value
        return [read_json(line).value for line in text.splitlines() if line.strip()]
    except JsonError as failure:
        raise TraceError(f"no JSON: {failure}") from None


def _own(document: Any, text: str | None) -> Trace:
    stored = without_halves(json.dumps(document, ensure_ascii=False) if text is None else text)
    if "\\u" in stored:
        stored = without_escaped_halves(stored.encode())[0].decode()
    beside = document if isinstance(document, Mapping) else {}
    return Trace(
        stored, steps_of(stored), str(beside.get("source") or "steps")[:SHOWN], _amount(beside.get("seconds")),
        _count(beside.get("tokens")), text_of(beside.get("case_id")), _amount(beside.get("cost_usd")),
    )  # fmt: skip


def _of_messages(listed: Sequence[Any], document: Mapping[str, Any] | None = None) -> Trace:
    beside = document or {}
    usage = beside.get("usage")
    tokens = _count(usage.get("total_tokens")) if isinstance(usage, Mapping) else None
    artifacts = beside.get("artifacts")
    made = conversation(listed)
    packed = _packed(made.steps, "messages", artifacts if isinstance(artifacts, list) else None, tokens=tokens)
    return replace(packed, media=made.media)


def _of_spans(documents: Sequence[Any]) -> Trace:
    spans = [span for group in spans_in(documents).values() for span in group]
    return trace_from(trace_of_spans(spans))


def trace_from(found: SpanTrace, source: str = "OpenTelemetry") -> Trace:
    """Return the trace that spans describe, as it is stored; `source`: what wrote the spans."""
    return _packed(found.steps, source, None, found.seconds, found.tokens, found.case_id, found.cost_usd)


def trace_cell(spans: Sequence[Span], source: str) -> str | None:
    """Return the spans of a tool's trace as a cell; None where no more than one call of a model or a tool is told.

    Raises TraceError for more than MOST_STEPS.
    """
    acting = [span for span in spans if span.attributes.get("gen_ai.operation.name") in ("chat", "execute_tool")]
    return trace_from(trace_of_spans(spans), source).text if len(acting) > 1 else None


def _packed(
    steps: Sequence[Step], kind: str, artifacts: list[Any] | None, seconds: float | None = None,
    tokens: int | None = None, case_id: str | None = None, cost_usd: float | None = None,
) -> Trace:  # fmt: skip
    if len(steps) > MOST_STEPS:
        raise TraceError(f"{len(steps):,} steps, more than {MOST_STEPS:,}")
    facts = {"source": kind, "artifacts": artifacts, "seconds": seconds, "tokens": tokens, "cost_usd": cost_usd}
    document = {"steps": [step.as_record() for step in steps], **{n: v for n, v in facts.items() if v is not None}}
    text = without_halves(json.dumps(document, ensure_ascii=False))
    return Trace(text, steps, kind, seconds, tokens, case_id, cost_usd)


def without_thoughts(trace: Trace) -> Trace:
    """Return a trace in whose assistant messages thoughts are steps of their own; itself where none has any."""
    steps: list[Step] = []
    for step in trace.steps:
        said = step.kind == "message" and step.role in ("assistant", "model")
        split = split_thoughts(step.text) if said else None
        if split is None:
            steps.append(step)
            continue
        if split.thoughts and split.answer:  # what the reply took stays with its answer
            steps.append(Step("reasoning", role=step.role, text=split.thoughts, depth=step.depth))
        if split.thoughts or split.answer:
            kind: Kind = "message" if split.answer else "reasoning"
            steps.append(replace(step, kind=kind, text=split.answer or split.thoughts))
    if len(steps) == len(trace.steps) and all(old is new for old, new in zip(steps, trace.steps, strict=True)):
        return trace
    stored = read_json(trace.text).value
    document = {**(stored if isinstance(stored, Mapping) else {}), "steps": [step.as_record() for step in steps]}
    return replace(trace, text=without_halves(json.dumps(document, ensure_ascii=False)), steps=steps)


def _amount(value: Any) -> float | None:
    return float(value) if finite(value) and value >= 0 else None


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53 else None
