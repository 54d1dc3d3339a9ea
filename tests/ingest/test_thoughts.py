"""Thoughts before answers: stripped and kept beside, said in the receipt, or left in where a person says so."""

import json

import pandas as pd
import pytest

from metrics.core.suite import Suite
from metrics.ingest import load_outputs, read_combined
from metrics.ingest.load import outputs_from_frame
from metrics.ingest.source import Reading
from metrics.text.agents.traces import steps_of
from tests.ingest.files import write
from tests.text.test_thoughts import THOUGHTS

ANSWERS = ["<think>It may be Lyon.</think>\n\nParis", "It may be Lyon.\n</think>\nParis", "Paris", "<think>It may be"]
CHAT = [{"role": "user", "content": "?"}, {"role": "assistant", "content": ANSWERS[0]}]


def suite(count=4, **more):
    return Suite.from_rows("s", "text", [{"case_id": str(place), "question": "?", **more} for place in range(count)])


def rows(name="answer", values=ANSWERS, **more):
    return [{"case_id": str(place), name: value, **more} for place, value in enumerate(values)]


def write_table(path, records):
    """A CSV or a workbook of records, by the extension."""
    frame = pd.DataFrame(records)
    frame.to_csv(path, index=False) if path.suffix == ".csv" else frame.to_excel(path, index=False)
    return path


@pytest.mark.parametrize("name", ["m.jsonl", "m.json", "m.csv", "m.parquet", "m.xlsx"])
def test_thoughts_are_kept_beside_the_answer(tmp_path, name):
    path = tmp_path / name
    made = write_table(path, rows()) if path.suffix in (".csv", ".xlsx") else write(tmp_path, name, rows())
    outputs = load_outputs(made, suite=suite()).value
    assert outputs.outputs["answer"].to_pylist() == ["Paris", "Paris", "Paris", None]
    assert outputs.outputs["metadata.reasoning"].to_pylist() == ["It may be Lyon."] * 2 + [None, "It may be"]
    said = {line.place: (line.use, line.count) for line in outputs.receipt}
    assert said["answer: thoughts"] == ("kept", 3)
    assert said["answer: answers after thoughts"] == ("unused", 1)
    (asked,) = [line.meaning for line in outputs.receipt if line.use == "asked"]
    assert asked == "thoughts or end marks around 3 of 4 answers: reasoning=strip, as it seems; else reasoning=keep"


@pytest.mark.parametrize(("text", "thoughts", "answer"), THOUGHTS.values(), ids=THOUGHTS.keys())
def test_every_mark_is_looked_for(text, thoughts, answer):
    (row,) = outputs_from_frame(pd.DataFrame(rows(values=[text])), suite=suite(1)).outputs.to_pylist()
    assert (row["answer"], row.get("metadata.reasoning") or "") == (answer, thoughts)


def test_a_person_may_keep_them(tmp_path):
    path = write(tmp_path, "m.jsonl", rows())
    outputs = load_outputs(path, suite=suite(), readings={path: Reading(answers={"reasoning": "keep"})}).value
    assert outputs.outputs["answer"].to_pylist() == ANSWERS
    assert "metadata.reasoning" not in outputs.outputs.column_names


def test_end_marks_without_thoughts_are_said():
    outputs = outputs_from_frame(pd.DataFrame(rows(values=["Paris</s>", "Rome"])), suite=suite(2))
    assert outputs.outputs["answer"].to_pylist() == ["Paris", "Rome"]
    assert "metadata.reasoning" not in outputs.outputs.column_names
    said = {line.place: (line.use, line.count, line.example) for line in outputs.receipt}
    assert said["answer: end marks"] == ("unused", 1, "</s>")
    kept = outputs_from_frame(pd.DataFrame(rows(values=["Paris</s>"])), suite=suite(1), answers={"reasoning": "keep"})
    assert kept.outputs["answer"].to_pylist() == ["Paris</s>"]


def test_a_column_of_that_name_stays(tmp_path):
    outputs = load_outputs(write(tmp_path, "m.jsonl", rows(reasoning="my own")), suite=suite()).value
    assert outputs.outputs["metadata.reasoning"].to_pylist() == ["my own"] * 4
    assert outputs.outputs["metadata.reasoning of answer"].to_pylist()[0] == "It may be Lyon."


def test_a_frame_and_a_file_with_both(tmp_path):
    frame = outputs_from_frame(pd.DataFrame(rows()), suite=suite())
    assert frame.outputs["answer"].to_pylist()[:2] == ["Paris", "Paris"]
    both = [{"question": str(place), "expected_answer": "Paris", "answer": text} for place, text in enumerate(ANSWERS)]
    _, outputs = read_combined(write(tmp_path, "b.jsonl", both))
    assert outputs.outputs.equals(read_combined(write_table(tmp_path / "b.csv", both))[1].outputs)
    assert outputs.outputs["metadata.reasoning"].to_pylist() == ["It may be Lyon."] * 2 + [None, "It may be"]


def test_of_classes_and_numbers():
    classes = Suite.from_rows(
        "s", "classification", [{"case_id": "0", "label": "cat"}, {"case_id": "1", "label": "dog"}]
    )
    labels = rows("label", ["<think>A dog?</think>cat", "dog"])
    assert outputs_from_frame(pd.DataFrame(labels), suite=classes).predictions["label"].to_pylist() == ["cat", "dog"]
    numbers = Suite.from_rows("s", "regression", [{"case_id": "0", "true_value": 1.0}])
    frame = pd.DataFrame(rows("prediction", ["<think>One?</think>\n2"]))
    assert outputs_from_frame(frame, suite=numbers).outputs["predicted_value"].to_pylist() == [2.0]


@pytest.mark.parametrize(("answers", "texts"), [
    ({}, [("message", "?"), ("reasoning", "It may be Lyon."), ("message", "Paris")]),
    ({"reasoning": "keep"}, [("message", "?"), ("message", ANSWERS[0])]),
], ids=["strip", "keep"])  # fmt: skip
@pytest.mark.parametrize("own", [False, True], ids=["messages", "steps of our own"])
def test_in_traces(answers, texts, own):
    trace = {"steps": [{"role": each["role"], "text": each["content"]} for each in CHAT]} if own else CHAT
    frame = pd.DataFrame([{"case_id": "0", "trace": json.dumps(trace)}])
    (row,) = outputs_from_frame(frame, suite=suite(1), answers=answers).outputs.to_pylist()
    assert [(step.kind, step.text) for step in steps_of(row["trace"])] == texts
    assert row["answer"] == texts[-1][1]
