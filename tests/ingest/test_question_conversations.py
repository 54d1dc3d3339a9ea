"""Conversations in a column of questions, such as ragas' `user_input`: the question, and the trace they are."""
# ruff: noqa: E501 - tables read better with one line a case

import json

import pandas as pd
import pytest

from metrics.ingest import inspect, load_combined, read_suite
from metrics.text.agents.traces import steps_of
from tests.ingest.files import write

ASKED = {"content": "Weather in Paris?", "type": "human", "metadata": None}
CALLED = {"content": "", "type": "ai", "tool_calls": [{"name": "look", "args": {"city": "Paris"}}]}
OTHER = {"content": "", "type": "ai", "tool_calls": [{"name": "add", "args": {"x": 1, "y": [2]}}]}
GAVE, SAID = {"content": "rainy", "type": "tool"}, {"content": "It rains.", "type": "ai", "tool_calls": None}
RAGAS = [
    {"user_input": [ASKED, call, GAVE, SAID, {"content": "Thanks", "type": "human"}], "reference": "Rain was told.",
     "reference_tool_calls": call["tool_calls"], "reference_topics": ["weather"]}
    for call in (CALLED, OTHER)
]  # fmt: skip


def write_cells(path, records):
    cells = [
        {name: value if isinstance(value, str) else json.dumps(value) for name, value in row.items()} for row in records
    ]
    pd.DataFrame(cells).to_csv(path, index=False)
    return path


@pytest.mark.parametrize("name", ["a.jsonl", "a.json", "a.csv", "a.parquet"])
def test_a_sample_of_several_turns_is_case_and_trace(tmp_path, name):
    path = tmp_path / name
    made = write_cells(path, RAGAS) if path.suffix == ".csv" else write(tmp_path, name, RAGAS)
    assert inspect(made).role == "combined"
    suite, outputs = load_combined(made).value
    for row, case, output in zip(RAGAS, suite.cases.to_pylist(), outputs.outputs.to_pylist(), strict=True):
        assert (case["question"], case["expected_answers"]) == ("Weather in Paris?", ["Rain was told."])
        assert json.loads(case["metadata.reference_topics"]) == ["weather"]
        (expected,), (wanted,) = json.loads(case["expected_calls"]), row["reference_tool_calls"]
        (call,) = [step for step in steps_of(output["trace"]) if step.kind == "call"]
        assert (
            (expected["name"], expected["arguments"]) == (call.tool, call.arguments) == (wanted["name"], wanted["args"])
        )
        assert (call.result, output["answer"]) == ("rainy", "It rains.")
    assert ("user_input", "used", 2) in {(line.place, line.use, line.count) for line in suite.receipt}


USER, BOT = {"role": "user", "content": "Q?"}, {"role": "assistant", "content": "A"}
SYSTEM = {"role": "system", "content": "Be brief."}
QUESTIONS = {
    "a prompt": ([SYSTEM, USER], "Q?"), "a dialogue that goes on": ([USER, BOT, USER], json.dumps([USER, BOT, USER], separators=(",", ":"))),
    "parts": ([{"role": "user", "content": [{"type": "text", "text": "Q?"}]}], "Q?"),
    "Gemini": ([{"role": "user", "parts": [{"text": "Q?"}]}], "Q?"),
}  # fmt: skip


@pytest.mark.parametrize(("messages", "question"), QUESTIONS.values(), ids=QUESTIONS.keys())
def test_a_conversation_that_asks_is_a_question(tmp_path, messages, question):
    rows = [{"prompt": messages, "expected_answer": "A"}]
    for path in (write(tmp_path, "s.jsonl", rows), write_cells(tmp_path / "s.csv", rows)):
        assert inspect(path).role == "suite"
        assert read_suite(path).cases["question"].to_pylist() == [question]
    answered = write(tmp_path, "b.jsonl", [row | {"response": "B"} for row in rows])
    suite, outputs = load_combined(answered).value
    assert (suite.cases["question"].to_pylist(), outputs.outputs["answer"].to_pylist()) == ([question], ["B"])


@pytest.mark.parametrize(
    "question", ['[{"a": 1}]', "[1, 2]", '[{"role": "user", "content": "Q?"}, 3]', '[{"type": "x", "content": "y"}]']
)
def test_what_is_no_conversation_stays_a_text(tmp_path, question):
    path = write(tmp_path, "s.jsonl", [{"question": question, "expected_answer": "A"}])
    assert read_suite(path).cases["question"].to_pylist() == [question]


@pytest.mark.parametrize("more", [
    {"finish_reason": "stop"}, {"task": "t"}, {"system_prompt": "Be brief."}, {"source": "web"}, {"type": "agent"},
    {"plan": "p"}, {"author": "a", "content": "c"}, {"kind": "request"}, {"role": "clerk"}, {"tool_choice": "x"},
])  # fmt: skip
def test_records_of_a_table_are_no_messages(tmp_path, more):
    rows = [{"question": "Q?", "answer": "A", "expected_answer": "A", **more}]
    for name in ("a.json", "a.jsonl"):
        suite, outputs = load_combined(write(tmp_path, name, rows)).value
        assert (suite.cases["question"].to_pylist(), outputs.outputs["answer"].to_pylist()) == (["Q?"], ["A"])
