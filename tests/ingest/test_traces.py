"""Traces of every kind become steps; question and answer come from them; bad ones are listed, hostile ones too."""

import json
import random
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from metrics.core.errors import InputError
from metrics.core.suite import Suite
from metrics.ingest import inspect, load_outputs, outputs_from_frame, read_combined, read_outputs, read_suite
from metrics.ingest.traces.stored_trace import EXPECTED, read_trace
from metrics.text.agents.traces import Step, TraceError, steps_of
from tests.ingest.files import packed, unpacked, write

WEATHER, SUM = "Weather in Paris?", "What is 2 + 2?"
CASES = [{"case_id": "c1", "question": WEATHER}, {"case_id": "c2", "question": SUM}]
CALL = Step("call", tool="get_weather", arguments={"city": "Paris"}, result="rainy", id="k")
ASKED, SAID = Step("message", role="user", text=WEATHER), Step("message", role="assistant", text="It rains.")
THOUGHT = Step("reasoning", role="assistant", text="I look it up.")


@pytest.fixture
def suite() -> Suite:
    return Suite.from_rows("s", "text", CASES)


def tool_call(arguments: Any = '{"city": "Paris"}', id: str = "k") -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": "get_weather", "arguments": arguments}}


CHAT: list[dict[str, Any]] = [
    {"role": "user", "content": WEATHER},
    {"role": "assistant", "content": None, "reasoning_content": "I look it up.", "tool_calls": [tool_call()]},
    {"role": "tool", "tool_call_id": "k", "content": "rainy"},
    {"role": "assistant", "content": "It rains."},
]
BLOCKS = [
    {"role": "user", "content": [{"type": "text", "text": WEATHER}]},
    {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "I look it up."},
            {"type": "tool_use", "id": "k", "name": "get_weather", "input": {"city": "Paris"}},
        ],
    },
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "k", "content": "rainy"}]},
    {"role": "assistant", "content": [{"type": "text", "text": "It rains."}]},
]
ITEMS = [
    {"role": "user", "content": [{"type": "input_text", "text": WEATHER}]},
    {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "I look it up."}]},
    {"type": "function_call", "id": "fc_1", "call_id": "k", "name": "get_weather", "arguments": '{"city": "Paris"}'},
    {"type": "function_call_output", "call_id": "k", "output": "rainy"},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "It rains."}]},
]


def parts(role: str, *listed: dict[str, Any]) -> dict[str, Any]:
    return {"role": role, "parts": list(listed)}


HEARD = [parts("user", {"type": "text", "content": WEATHER})]
WANTED = [
    parts(
        "assistant",
        {"type": "reasoning", "content": "I look it up."},
        {"type": "tool_call", "id": "k", "name": "get_weather", "arguments": {"city": "Paris"}},
    )
]
GAVE = [parts("tool", {"type": "tool_call_response", "id": "k", "response": "rainy"})]
REPLIED = [parts("assistant", {"type": "text", "content": "It rains."})]
START = 1_700_000_000_000_000_000
SECOND = 10**9


def typed(value: Any) -> dict[str, Any]:
    """A value as OTLP spells it."""
    if isinstance(value, list):
        return {"arrayValue": {"values": [typed(item) for item in value]}}
    if isinstance(value, dict):
        return {"kvlistValue": {"values": [{"key": name, "value": typed(item)} for name, item in value.items()]}}
    return {"intValue": str(value)} if isinstance(value, int) else {"stringValue": value}


def span(name: str, begin: float, end: float, trace: str = "t1", **attributes: Any) -> dict[str, Any]:
    """A span of OTLP, from `begin` to `end` seconds; in names of attributes `__` stands for a dot."""
    named = {f"gen_ai.{key.replace('__', '.')}": value for key, value in attributes.items()}
    return {
        "traceId": trace, "spanId": name, "name": name,
        "startTimeUnixNano": str(int(START + begin * SECOND)), "endTimeUnixNano": str(int(START + end * SECOND)),
        "attributes": [{"key": key, "value": typed(value)} for key, value in named.items()], "status": {},
    }  # fmt: skip


def export(*spans: dict[str, Any], **resource: str) -> dict[str, Any]:
    attributes = [{"key": key, "value": typed(value)} for key, value in resource.items()]
    return {"resourceSpans": [{"resource": {"attributes": attributes}, "scopeSpans": [{"spans": list(spans)}]}]}


def agent_spans(structured: bool = False) -> list[dict[str, Any]]:
    """An agent that asks a model twice and calls a tool between; messages as JSON text, or as values."""
    write = (lambda value: value) if structured else json.dumps
    first = [WANTED[0] | {"finish_reason": "tool_call"}]
    return [
        span("invoke_agent", 0, 6, operation__name="invoke_agent", input__messages=write(HEARD),
             output__messages=write(REPLIED), usage__input_tokens=999),
        span("chat 1", 1, 2, operation__name="chat", input__messages=write(HEARD), output__messages=write(first),
             usage__input_tokens=30, usage__output_tokens=5),
        span("execute_tool get_weather", 3, 3.5, operation__name="execute_tool", tool__name="get_weather",
             tool__call__id="k", tool__call__result="rainy"),
        span("chat 2", 4, 5, operation__name="chat", input__messages=write(HEARD + WANTED + GAVE),
             output__messages=write(REPLIED), usage__input_tokens=60, usage__output_tokens=7),
    ]  # fmt: skip


def flat(spans: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The spans as the console exporter prints them: a context, times as text, attributes by name."""

    def written(time: str) -> str:
        return datetime.fromtimestamp(int(time) / SECOND, UTC).isoformat()

    return [
        {
            "name": each["name"], "context": {"trace_id": "0x1", "span_id": each["spanId"]},
            "start_time": written(each["startTimeUnixNano"]), "end_time": written(each["endTimeUnixNano"]),
            "status": {"status_code": "UNSET"},
            "attributes": {entry["key"]: next(iter(entry["value"].values())) for entry in each["attributes"]},
        }
        for each in spans
    ]  # fmt: skip


def old_events() -> dict[str, Any]:
    """A chat span that tells the conversation by events, as the conventions did before 1.37."""
    made = span("chat", 0, 1, operation__name="chat", system="openai")
    tool_calls = [{"id": "k", "type": "function", "function": {"name": "get_weather", "arguments": {"city": "Paris"}}}]
    told = [
        ("gen_ai.user.message", {"content": WEATHER}),
        ("gen_ai.assistant.message", {"tool_calls": json.dumps(tool_calls)}),
        ("gen_ai.tool.message", {"id": "k", "content": "rainy"}),
        ("gen_ai.choice", {"message": json.dumps({"role": "assistant", "content": "It rains."})}),
    ]
    made["events"] = [
        {
            "name": name,
            "timeUnixNano": str(START),
            "attributes": [{"key": k, "value": typed(v)} for k, v in own.items()],
        }
        for name, own in told
    ]
    return made


def numbered() -> dict[str, Any]:
    """A span whose conversation stands in numbered attributes."""
    named = {
        "prompt__0__role": "user", "prompt__0__content": WEATHER, "completion__0__role": "assistant",
        "completion__0__tool_calls__0__id": "k", "completion__0__tool_calls__0__name": "get_weather",
        "completion__0__tool_calls__0__arguments": '{"city": "Paris"}',
    }  # fmt: skip
    return span("openai.chat", 0, 1, **named)


KINDS: dict[str, tuple[Any, list[Step]]] = {
    "OpenAI's messages": (CHAT, [ASKED, THOUGHT, CALL, SAID]),
    "an object with messages": ({"messages": CHAT, "model": "m"}, [ASKED, THOUGHT, CALL, SAID]),
    "Anthropic's blocks": (BLOCKS, [ASKED, THOUGHT, CALL, SAID]),
    "Responses items": (ITEMS, [ASKED, THOUGHT, CALL, SAID]),
    "a response": ({"object": "response", "input": WEATHER, "output": ITEMS[1:]}, [ASKED, THOUGHT, CALL, SAID]),
    "a chat completion": ({"object": "chat.completion", "choices": [{"message": CHAT[3]}]}, [SAID]),
    "spans, messages as text": (export(*agent_spans()), [ASKED, THOUGHT, CALL, SAID]),
    "spans, messages as values": (export(*agent_spans(structured=True)), [ASKED, THOUGHT, CALL, SAID]),
    "spans, flat": (flat(agent_spans()), [ASKED, THOUGHT, CALL, SAID]),
    "spans, out of order": (export(*reversed(agent_spans())), [ASKED, THOUGHT, CALL, SAID]),
    "spans under a name": ({"spans": flat(agent_spans())}, [ASKED, THOUGHT, CALL, SAID]),
    "spans with events": (export(old_events()), [ASKED, CALL, SAID]),
    "spans with numbered attributes": ([numbered()], [ASKED, Step("call", tool="get_weather", arguments={"city": "Paris"}, id="k")]),
    "steps of our own": ({"steps": [{"role": "user", "text": WEATHER}, {"tool": "a"}]}, [ASKED, Step("call", tool="a")]),
    "DeepEval's calls": ([{"name": "a", "output": 2}], [Step("call", tool="a", result=2)]),
}  # fmt: skip


@pytest.mark.parametrize(("document", "expected"), KINDS.values(), ids=KINDS.keys())
def test_a_trace_of_every_kind(document: Any, expected: list[Step]) -> None:
    trace = read_trace(json.dumps(document))
    untimed = [Step(**{**plain(step), "started": None, "seconds": None}) for step in trace.steps]
    assert untimed == expected
    assert steps_of(trace.text) == tuple(trace.steps)
    again = read_trace(trace.text)
    assert (again.steps, again.text) == (tuple(trace.steps), trace.text)
    asked = [step.text for step in expected if step.role == "user"]
    said = [step.text for step in expected if step.role == "assistant" and step.kind == "message"]
    assert (trace.question, trace.answer) == (next(iter(asked), None), said[-1] if said else None)


def plain(step: Step) -> dict[str, Any]:
    return {name: getattr(step, name) for name in Step.__slots__}


def test_spans_say_when_how_long_and_how_many_tokens() -> None:
    for text in (json.dumps(export(*agent_spans(), case_id="c9")),) * 2:
        trace = read_trace(text)
        call = trace.steps[2]
        assert (trace.seconds, trace.tokens, trace.case_id) == (6.0, 102, "c9")
        assert (call.started, call.seconds) == ("2023-11-14T22:13:23+00:00", 0.5)
        again = read_trace(trace.text)
        assert (again.seconds, again.tokens, again.format) == (6.0, 102, "OpenTelemetry")


def failing(**status: Any) -> list[Step]:
    made = span("execute_tool a", 0, 1, operation__name="execute_tool", tool__name="a")
    return list(read_trace(json.dumps(export(made | status))).steps)


def test_what_counts_as_a_failed_call() -> None:
    assert failing(status={"code": 2, "message": "timeout"})[0].error == "timeout"
    assert failing(status={"code": "STATUS_CODE_ERROR"})[0].error == "failed"
    caught = {"name": "exception", "attributes": [{"key": "exception.message", "value": {"stringValue": "boom"}}]}
    assert failing(status={"code": 2}, events=[caught])[0].error == "boom"
    assert failing(status={"code": 1})[0].error is None
    for result, error in (
        ("Error: no such table\nmore", "Error: no such table"),
        ('{"error": {"code": 3}}', '{"code": 3}'),
        ('{"isError": true, "content": []}', "failed"),
        ('{"error": null}', None),
        ("No error at all", None),
    ):
        steps = read_trace(json.dumps([*CHAT[:2], {"role": "tool", "tool_call_id": "k", "content": result}])).steps
        assert steps[-1].error == error


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ([{"role": "tool", "tool_call_id": "?", "content": "x"}], [Step("message", role="tool", text="x")]),
        ([{"role": "assistant", "content": "", "tool_calls": [tool_call("{bad", "")]}],
         [Step("call", tool="get_weather", arguments="{bad")]),
        ([{"role": "assistant", "function_call": {"name": "f", "arguments": "{}"}},
          {"role": "function", "name": "f", "content": "1"}], [Step("call", tool="f", arguments={}, result="1")]),
        ([{"role": "user", "content": [{"type": "text", "text": "see"}, {"type": "image_url", "image_url": {"url": "x"}}]}],
         [Step("message", role="user", text="see"), Step("message", role="user", text="[image]")]),
        ([{"type": "web_search_call", "id": "w", "status": "failed", "action": {"query": "q"}}],
         [Step("call", tool="web_search", arguments={"query": "q"}, error="failed", id="w")]),
        ([{"role": "assistant", "content": None, "refusal": "I cannot."}],
         [Step("message", role="assistant", text="I cannot.")]),
        ([{"role": "user", "content": "a\x00b \ud800"}], [Step("message", role="user", text="a\x00b \ud800")]),
    ],
    ids=["an answer nobody asked for", "arguments that are no JSON", "functions of old", "a picture", "a hosted tool",
         "a refusal", "NUL and half a surrogate pair"],
)  # fmt: skip
def test_odd_messages(messages: list[dict[str, Any]], expected: list[Step]) -> None:
    assert read_trace(json.dumps(messages)).steps == expected


BAD = {
    "no JSON": ("Thought: I call a tool", "no JSON: Expecting value at line 1, column 1"),
    "half of it": ('[{"role": "user"', "no JSON: "),
    "a number": ("7", "int 7"),
    "an object of something else": ('{"a": 1, "b": 2}', "an object with a, b"),
    "nothing": ("{}", "an object with nothing"),
    "a message without a role": ('[{"role": "user", "content": "a"}, {"content": "b"}]', "message 2 has no role"),
    "a message that is none": ('[{"role": "user", "content": "a"}, "b"]', "message 2 is str, not an object"),
    "spans of a web server": (
        json.dumps(export(span("GET /", 0, 1) | {"attributes": []})),
        "1 spans, none with gen_ai",
    ),
    "steps that are none": ('{"steps": [1]}', "step 1 is int, not an object"),
    "nested deep": ("[" * 5_000 + "]" * 5_000, "no JSON: nested deeper than 64 levels"),
    "NaN": ('{"steps": [{"tool": "a", "seconds": NaN}]}', "no JSON: NaN"),
}


@pytest.mark.parametrize(("text", "found"), BAD.values(), ids=BAD.keys())
def test_bad_traces_are_listed_with_their_row(suite: Suite, tmp_path: Path, text: str, found: str) -> None:
    rows = [{"case_id": "c1", "trace": json.dumps(CHAT)}, {"case_id": "c2", "trace": text}]
    path = write(tmp_path, "m.jsonl", rows)
    with pytest.raises(InputError) as caught:
        read_outputs(path, suite=suite)
    (problem,) = caught.value.problems
    assert (problem.row, problem.column, problem.expected) == (2, "trace", EXPECTED)
    assert problem.found.startswith(found)
    kept = load_outputs(path, suite=suite, keep_good_rows=True)
    assert kept.value.outputs["answer"].to_pylist() == ["It rains."]
    assert (kept.value.left_out, kept.missing) == (1, 1)


def test_no_more_steps_than_are_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("metrics.ingest.traces.stored_trace.MOST_STEPS", 3)
    with pytest.raises(TraceError, match="4 steps, more than 3"):
        read_trace(json.dumps(CHAT))


def answers(outputs: Any) -> dict[str, str | None]:
    table = outputs.outputs
    assert all(steps_of(text) for text in table["trace"].to_pylist())
    return dict(zip(table["case_id"].to_pylist(), table["answer"].to_pylist(), strict=True))


BOTH = {"c1": "It rains.", "c2": "4"}
SUMMED = [{"role": "user", "content": f" {SUM}\n"}, {"role": "assistant", "content": "4"}]
SUM_SPAN = span(
    "chat", 0, 1, "t2", operation__name="chat", input__messages=json.dumps([parts("user", {"type": "text", "content": SUM})]),
    output__messages=json.dumps([parts("assistant", {"type": "text", "content": "4"})]),
)  # fmt: skip
RESPONSE = {"object": "response", "id": "resp_1", "input": SUM, "output": [{"role": "assistant", "content": "4"}]}
FILES: dict[str, tuple[str, Any]] = {
    "a column of text": ("m.csv", pd.DataFrame({"id": ["c1", "c2"], "trace": [json.dumps(CHAT), json.dumps(SUMMED)]}).to_csv(index=False)),
    "a field of JSONL": ("m.jsonl", [{"case_id": "c1", "trace": CHAT}, {"case_id": "c2", "trace": {"messages": SUMMED}}]),
    "a field of JSON": ("m.json", [{"case_id": "c1", "messages": CHAT}, {"case_id": "c2", "messages": SUMMED}]),
    "a field of Parquet": ("m.parquet", [{"case_id": "c1", "messages": CHAT}, {"case_id": "c2", "messages": SUMMED}]),
    "spans in a field": ("m.jsonl", [{"case_id": "c1", "trace": export(*agent_spans())}, {"case_id": "c2", "trace": export(SUM_SPAN)}]),
    "a conversation a line": ("m.jsonl", [CHAT, SUMMED]),
    "a conversation an object": ("m.jsonl", [{"messages": CHAT}, {"messages": SUMMED}]),
    "an array of conversations": ("m.json", [CHAT, SUMMED]),
    "responses": ("m.jsonl", [{"object": "response", "input": WEATHER, "output": ITEMS[1:]}, RESPONSE]),
    "an export of two traces": ("m.json", export(*agent_spans(), SUM_SPAN)),
    "exports a line, one trace over two": ("m.jsonl", [export(*agent_spans()[:2]), export(*agent_spans()[2:]), export(SUM_SPAN)]),
    "spans a line": ("m.jsonl", [*agent_spans(), SUM_SPAN]),
    "an array of spans": ("m.json", [SUM_SPAN, *agent_spans()]),
    "steps of our own a line": ("m.jsonl", [{"case_id": "c2", "steps": [{"role": "assistant", "text": "4"}]}, {"case_id": "c1", "steps": [{"role": "assistant", "text": "It rains."}]}]),
    "traces under a name": ("m.json", {"traces": [{"case_id": "c1", "messages": CHAT}, SUMMED]}),
}  # fmt: skip


@pytest.mark.parametrize(("name", "content"), FILES.values(), ids=FILES.keys())
def test_files_with_traces(suite: Suite, tmp_path: Path, name: str, content: Any) -> None:
    path = write(tmp_path, name, content)
    outputs = read_outputs(path, suite=suite)
    assert answers(outputs) == BOTH
    assert outputs.models == ("m",)
    seen = inspect(path, "outputs")
    assert seen.rows == 2
    assert any("Traces: " in note and "the answer from them" in note for note in seen.notes)


@pytest.mark.parametrize("make", [packed, unpacked], ids=["zip", "folder"])
def test_a_folder_with_a_trace_a_file(suite: Suite, tmp_path: Path, make: Any) -> None:
    entries = {"c1.json": export(*agent_spans()), "deep/c2.jsonl": "\n".join(json.dumps(each) for each in [SUM_SPAN])}
    path = make(tmp_path / "m.zip", entries)
    assert answers(read_outputs(path, suite=suite, model_names={path: "m"})) == BOTH
    assert (inspect(path).format, inspect(path).rows, inspect(path).role) == ("traces", 2, "outputs")
    with pytest.raises(InputError, match="traces, which are outputs"):
        read_suite(path)
    bad = make(tmp_path / "bad.zip", {"c1.json": CHAT, "c2.json": "{", "c3.json": SUMMED})
    with pytest.raises(InputError) as caught:
        read_outputs(bad, suite=suite)
    found = [(problem.file, problem.found[:8]) for problem in caught.value.problems]
    assert sorted(found) == [("bad.zip/c2.json", "no JSON:"), ("bad.zip/c3.json", "'c3'")]


def test_one_conversation_alone(suite: Suite, tmp_path: Path) -> None:
    for content in (CHAT, {"messages": CHAT}, {"steps": KINDS["steps of our own"][0]["steps"]}):
        outputs = read_outputs(write(tmp_path, "m.json", content), suite=suite)
        assert outputs.outputs["case_id"].to_pylist() == ["c1"]


def test_what_a_file_says_itself_goes_before_its_traces(suite: Suite, tmp_path: Path) -> None:
    row = {"case_id": "c1", "answer": "my own", "tokens": 3, "latency": 1.5, "trace": export(*agent_spans())}
    table = read_outputs(write(tmp_path, "m.jsonl", [row]), suite=suite).outputs
    assert table.select(["answer", "tokens", "duration_s"]).to_pylist() == [
        {"answer": "my own", "tokens": 3, "duration_s": 1.5}
    ]
    del row["answer"], row["tokens"], row["latency"]
    table = read_outputs(write(tmp_path, "m.jsonl", [row]), suite=suite).outputs
    assert table.select(["answer", "tokens", "duration_s"]).to_pylist() == [
        {"answer": "It rains.", "tokens": 102, "duration_s": 6.0}
    ]


def test_a_case_that_no_trace_names_is_told_by_its_question(suite: Suite, tmp_path: Path) -> None:
    twice = Suite.from_rows("s", "text", [*CASES, {"case_id": "c3", "question": SUM}])
    stranger = [{"role": "user", "content": "Who?"}, {"role": "assistant", "content": "Me."}]
    path = write(tmp_path, "m.jsonl", [CHAT, SUMMED, stranger])
    with pytest.raises(InputError) as caught:
        read_outputs(path, suite=twice)
    assert [str(problem) for problem in caught.value.problems] == [
        "m.jsonl, row 2, column case_id: found no case id, and a user who asks ' What is 2 + 2?\\n', the question of 2 "
        "cases; expected a case id, or the question of one case of the suite",
        "m.jsonl, row 3, column case_id: found no case id, and a user who asks 'Who?'; expected a case id, or the "
        "question of one case of the suite",
    ]


def test_suite_and_outputs_in_one_file(tmp_path: Path) -> None:
    rows = [{"messages": CHAT, "expected_answer": "rain"}, {"messages": SUMMED, "expected_answer": "4"}]
    suite, outputs = read_combined(write(tmp_path, "m.jsonl", rows))
    assert suite.cases["question"].to_pylist() == [WEATHER, f" {SUM}\n"]
    assert suite.cases["expected_answers"].to_pylist() == [["rain"], ["4"]]
    assert list(answers(outputs).values()) == ["It rains.", "4"]


def test_a_data_frame(suite: Suite) -> None:
    frame = pd.DataFrame(
        {"case_id": ["c1", "c2"], "messages": [CHAT, SUMMED], "artifacts": [[{"name": "a", "content": "x"}], None]}
    )
    outputs = outputs_from_frame(frame, suite=suite)
    assert answers(outputs) == BOTH
    assert outputs.outputs["artifacts"].to_pylist() == [['{"name":"a","content":"x"}'], None]


def test_artifacts_keep_their_names_in_json(suite: Suite, tmp_path: Path) -> None:
    listed = [{"name": "a.json", "content": "{}"}, "b.csv"]
    for name in ("m.jsonl", "m.json"):
        outputs = read_outputs(write(tmp_path, name, [{"case_id": "c1", "artifacts": listed}]), suite=suite)
        assert outputs.outputs["artifacts"].to_pylist() == [['{"name":"a.json","content":"{}"}', "b.csv"]]


def test_a_jsonl_that_is_one_array_is_still_read(suite: Suite, tmp_path: Path) -> None:
    rows = [{"case_id": "c1", "answer": "a"}, {"case_id": "c2", "answer": "b"}]
    for text in (json.dumps(rows), json.dumps(rows, indent=1)):
        assert len(read_outputs(write(tmp_path, "m.jsonl", text), suite=suite).outputs) == 2


ODD = [
    None, True, 0, -1, 2**60, 1.5, "", "x", "\x00", "\ud800", [], {}, [[]], [None], {"": None}, "[" * 300, {"role": []},
    {"type": "tool_use"}, {"stringValue": {}}, {"kvlistValue": {"values": [1]}}, "9" * 400, "x" * 50_000, {"attributes": 3},
]  # fmt: skip


def spoilt(value: Any, draw: random.Random) -> Any:
    """The value with some part of it replaced, dropped or doubled."""
    if isinstance(value, dict) and value and draw.random() < 0.9:
        name = draw.choice(list(value))
        if draw.random() < 0.1:
            return {key: inner for key, inner in value.items() if key != name}
        return value | {name: spoilt(value[name], draw)}
    if isinstance(value, list) and value and draw.random() < 0.9:
        place = draw.randrange(len(value))
        if draw.random() < 0.1:
            return [*value, value[place]]
        return [*value[:place], spoilt(value[place], draw), *value[place + 1 :]]
    return draw.choice(ODD)


@pytest.mark.parametrize("kind", KINDS)
def test_spoilt_traces_are_read_or_refused(kind: str) -> None:
    draw = random.Random(kind)
    for _ in range(60):
        document = KINDS[kind][0]
        for _ in range(draw.randint(1, 4)):
            document = spoilt(document, draw)
        try:
            trace = read_trace(json.dumps(document))
        except TraceError as failure:
            assert str(failure)  # noqa: PT017 - both outcomes are good
            continue
        trace.text.encode()
        assert len(steps_of(trace.text)) == len(trace.steps)


def test_huge_traces() -> None:
    spans = [span(f"chat {place}", place, place + 1, input__messages=json.dumps(HEARD * 20)) for place in range(200)]
    assert read_trace(json.dumps(export(*spans))).steps
    with pytest.raises(TraceError, match="characters, more than"):
        read_trace(" " * 20_000_001)
