"""Files, folders and data frames with traces become the outputs of a suite."""
# ruff: noqa: E501 - tables read better with one line a case

import json
from typing import Any

import pandas as pd
import pytest

from metrics.core.errors import InputError
from metrics.core.suite import Suite
from metrics.ingest import inspect, outputs_from_frame, read_outputs, read_suite
from metrics.text.agents.traces import steps_of
from tests.ingest.files import list_problems, packed, unpacked, write
from tests.ingest.trace_samples import CASES, CHAT, ITEMS, KINDS, SUM, WEATHER, agent_spans, export, parts, span


@pytest.fixture
def suite():
    return Suite.from_rows("s", "text", CASES)


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
    "conversations of LangChain": ("m.jsonl", [[{"type": "human", "content": WEATHER}, {"type": "ai", "content": "It rains."}], [{"type": "human", "content": SUM}, {"type": "ai", "content": "4"}]]),
    "requests to Gemini": ("m.jsonl", [{"contents": [parts("user", {"text": WEATHER}), parts("model", {"text": "It rains."})]}, {"case_id": "c2", "contents": [parts("user", {"text": SUM}), parts("model", {"text": "4"})]}]),
    "turns of DeepEval": ("m.json", [{"turns": [{"role": "user", "content": WEATHER}, {"role": "assistant", "content": "It rains."}]}, {"turns": SUMMED}]),
    "runs of pydantic-ai": ("m.json", [[{"kind": "request", "parts": [{"part_kind": "user-prompt", "content": asked}]}, {"kind": "response", "parts": [{"part_kind": "text", "content": said}]}] for asked, said in ((WEATHER, "It rains."), (SUM, "4"))]),
    "traces under a name": ("m.json", {"traces": [{"case_id": "c1", "messages": CHAT}, SUMMED]}),
}  # fmt: skip


@pytest.mark.parametrize(("name", "content"), FILES.values(), ids=FILES.keys())
def test_files_with_traces(suite, tmp_path, name, content):
    path = write(tmp_path, name, content)
    outputs = read_outputs(path, suite=suite)
    assert answers(outputs) == BOTH
    assert outputs.models == ("m",)
    seen = inspect(path, "outputs")
    assert seen.rows == 2
    assert any("Traces: " in note and "the answer from them" in note for note in seen.notes)


@pytest.mark.parametrize("make", [packed, unpacked], ids=["zip", "folder"])
def test_a_folder_with_a_trace_a_file(suite, tmp_path, make):
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


def test_one_conversation_one_array_and_a_data_frame(suite, tmp_path):
    for content in (CHAT, {"messages": CHAT}, {"steps": KINDS["steps of our own"][0]["steps"]}):
        outputs = read_outputs(write(tmp_path, "m.json", content), suite=suite)
        assert outputs.outputs["case_id"].to_pylist() == ["c1"]
    rows = [{"case_id": "c1", "answer": "a"}, {"case_id": "c2", "answer": "b"}]
    for text in (json.dumps(rows), json.dumps(rows, indent=1)):
        assert len(read_outputs(write(tmp_path, "m.jsonl", text), suite=suite).outputs) == 2
    frame = pd.DataFrame(
        {"case_id": ["c1", "c2"], "messages": [CHAT, SUMMED], "artifacts": [[{"name": "a", "content": "x"}], None]}
    )
    outputs = outputs_from_frame(frame, suite=suite)
    assert answers(outputs) == BOTH
    assert outputs.outputs["artifacts"].to_pylist() == [['{"name":"a","content":"x"}'], None]


def test_a_file_goes_before_its_traces_and_a_question_names_the_case(suite, tmp_path):
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
    twice = Suite.from_rows("s", "text", [*CASES, {"case_id": "c3", "question": SUM}])
    stranger = [{"role": "user", "content": "Who?"}, {"role": "assistant", "content": "Me."}]
    path = write(tmp_path, "m.jsonl", [CHAT, SUMMED, stranger])
    assert list_problems(read_outputs, path, suite=twice) == [
        "m.jsonl, row 2, column case_id: found no case id, and a user who asks ' What is 2 + 2?\\n', the question of 2 "
        "cases; expected a case id, or the question of one case of the suite",
        "m.jsonl, row 3, column case_id: found no case id, and a user who asks 'Who?'; expected a case id, or the "
        "question of one case of the suite",
    ]
