"""JSON in other layouts than a list of records, and the dumps of libraries: read as the records that they are."""
# ruff: noqa: E501 - a table reads better with one line a case

import copy
import json
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pandas as pd
import pytest

from metrics.core.errors import InputError
from metrics.ingest import (
    Reading,
    inspect,
    load_combined,
    load_suite,
    outputs_from_frame,
    read_combined,
    read_outputs,
    read_suite,
    suite_from_frame,
)
from metrics.ingest.tables.values import flatten
from tests.ingest.files import write
from tests.random_seeds import LONG

ROW = {"question": "Capital?", "expected_answer": "Paris", "answer": "Lyon"}
READ = {"question": "Capital?", "expected_answers": ["Paris"], "answer": "Lyon"}
SQUAD = {"version": "v2.0", "data": [{"title": "T", "paragraphs": [{"context": "It is Paris.", "qas": [
    {"id": "a", "question": "Capital?", "answers": [{"text": "Paris", "answer_start": 6}, {"text": "It is Paris", "answer_start": 0}]},
    {"id": "b", "question": "Mayor?", "answers": [], "is_impossible": True}]}]}]}  # fmt: skip
TALK = [
    {"content": "Hi", "type": "human"}, {"content": "Hm", "type": "ai", "tool_calls": [{"name": "look", "args": {"q": "x"}}]},
    {"content": "seen", "type": "tool"}, {"content": "Done", "type": "ai", "tool_calls": None},
]  # fmt: skip
DOCUMENT = {"page_content": "It is Paris.", "metadata": {"source": "a"}}
CHAINED = {"lc": 1, "type": "constructor", "id": ["langchain", "Document"], "kwargs": DOCUMENT}
BOTH: dict[str, tuple[str, Any, dict[str, Any]]] = {  # file, content, values of the first case and output
    "columns of lists": ("a.json", {name: [value, "x"] for name, value in ROW.items()}, READ),
    "columns by index (pandas)": ("a.json", {name: {"0": value, "1": "x"} for name, value in ROW.items()}, READ),
    "rows by index (pandas)": ("a.json", {"r1": ROW, "r2": ROW | {"question": "x"}}, READ | {"case_id": "r1"}),
    "split (pandas)": ("a.json", {"columns": list(ROW), "index": [0], "data": [list(ROW.values())]}, READ),
    "table (pandas)": ("a.json", {"schema": {"fields": []}, "data": [ROW]}, READ),
    "lists of lists in columns (ragas)": ("a.json", {"question": ["q", "r"], "contexts": [["a", "b"], ["c"]], "ground_truths": [["g"], ["h"]], "answer": ["x", "y"]}, {"retrieved_contexts": ["a", "b"], "expected_answers": ["g"]}),
    "DeepEval's test run": ("a.json", {"testCases": [{"input": "q", "actualOutput": "a", "expectedOutput": "e", "context": ["g"], "retrievalContext": ["r"]}], "conversationalTestCases": []}, {"answer": "a", "expected_answers": ["e"], "reference_contexts": ["g"], "retrieved_contexts": ["r"]}),
    "DeepEval's results": ("a.json", {"test_results": [{"input": "q", "actual_output": "a", "success": True, "metrics_data": [{"name": "x", "score": 0.5}]}]}, {"question": "q", "answer": "a", "metadata.success": "true"}),
    "DeepEval's conversation": ("a.json", [{"scenario": "s", "expected_output": "e", "turns": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Done"}]}], {"question": "Hi", "answer": "Done", "metadata.scenario": "s"}),
    "ragas' MultiTurnSample": ("a.jsonl", [{"user_input": TALK, "reference": "Booked"}], {"question": "Hi", "answer": "Done", "expected_answers": ["Booked"]}),
    "ragas' SingleTurnSample": ("a.jsonl", [{"user_input": "q", "response": "a", "reference": "e", "retrieved_contexts": ["r"]}], {"question": "q", "answer": "a", "expected_answers": ["e"]}),
    "LangChain's question answering": ("a.json", [{"query": "q", "answer": "e", "result": "a"}], {"question": "q", "answer": "a", "expected_answers": ["e"]}),
    "LangChain's result alone": ("a.json", [{"query": "q", "result": "a"}], {"question": "q", "answer": "a"}),
    "LangChain's documents": ("a.json", [{"input": "q", "answer": "a", "context": [DOCUMENT, CHAINED]}], {"retrieved_contexts": ["It is Paris.", "It is Paris."]}),
    "LangChain's sources": ("a.json", [{"question": "q", "answer": "a", "source_documents": [CHAINED]}], {"retrieved_contexts": ["It is Paris."]}),
    "MLflow, OpenAI's replies": ("a.jsonl", [{"inputs": {"messages": [{"role": "user", "content": "Hi"}]}, "outputs": {"choices": [{"message": {"role": "assistant", "content": "Hello"}}]}, "expectations": {"expected_response": "Hello!"}}], {"question": "Hi", "answer": "Hello", "expected_answers": ["Hello!"]}),
    "Opik, an experiment": ("a.json", [{"input": {"q": "x"}, "output": "a", "expected_output": {"a": "b"}, "feedback_scores": [{"name": "ok", "value": 0.5}]}], {"question": "x", "answer": "a", "expected_answers": ["b"], "metadata.opik.ok": "0.5"}),
    "MLflow, an agent's evaluation": ("a.json", [{"request": {"messages": [{"role": "user", "content": "q"}]}, "response": "a", "expected_facts": ["f"], "guidelines": {"tone": ["Be kind"], "length": "Be brief"}, "expected_response": "e", "retrieved_context": [{"doc_uri": "u", "content": "c"}]}], {"question": "q", "answer": "a", "expected_answers": ["e"], "criteria": ["States: f", "Be kind", "Be brief"], "retrieved_contexts": ["c"]}),
    "MLflow, traces": ("a.json", [{"trace_id": "t", "request": '{"question": "q"}', "response": '"a"', "assessments": [{"assessment_name": "expected_response", "expectation": {"value": "e"}}, {"assessment_name": "ok", "feedback": {"value": True}}]}], {"case_id": "t", "question": "q", "answer": "a", "expected_answers": ["e"]}),
    "MLflow, a frame as pandas prints it": ("a.csv", "inputs,outputs,expectations\n{'question': 'q'},a,\"{'expected_response': 'e', 'expected_facts': ['f']}\"\n", {"question": "q", "answer": "a", "expected_answers": ["e"], "criteria": ["States: f"]}),
    "MLflow, expectations by name": ("a.json", [{"inputs": {"question": "q"}, "outputs": "a", "expectations": [{"name": "expected_response", "value": "e"}, {"name": "guidelines", "value": ["Be brief"]}]}], {"expected_answers": ["e"], "criteria": ["Be brief"]}),
    "ShareGPT": ("a.jsonl", [{"id": "x", "expected": "e", "conversations": [{"from": "human", "value": "q"}, {"from": "gpt", "value": "a"}]}], {"case_id": "x", "question": "q", "answer": "a", "expected_answers": ["e"]}),
    "reference and hypothesis": ("a.csv", "id,reference,hypothesis\n1,the cat,the bat\n", {"expected_answers": ["the cat"], "answer": "the bat"}),
    "a separator in the first line": ("a.csv", "sep=;\r\nquestion;expected_answer;answer\r\nCapital?;Paris;Lyon\r\n", READ),
    "a quoted separator": ("a.csv", '"sep=|"\nquestion|expected_answer|answer\nCapital?|Paris|Lyon\n', READ),
}  # fmt: skip
SUITES: dict[str, tuple[str, Any, dict[str, Any]]] = {
    "SQuAD": ("a.json", SQUAD, {"case_id": "a", "question": "Capital?", "expected_answers": ["Paris", "It is Paris"], "reference_contexts": ["It is Paris."], "metadata.title": "T"}),
    "SQuAD, flat": ("a.jsonl", [{"id": "a", "question": "Capital?", "context": "It is Paris.", "answers": {"text": ["Paris"], "answer_start": [6]}}], {"expected_answers": ["Paris"], "reference_contexts": ["It is Paris."]}),
    "NQ-open": ("a.jsonl", [{"question": "Who?", "answer": ["Ann", "A."]}], {"expected_answers": ["Ann", "A."]}),
    "Agent Skills": ("evals.json", {"skill_name": "s", "evals": [{"id": 1, "prompt": "p", "expected_output": "e", "files": ["f.csv"], "assertions": ["It has a chart", "It is short"]}]}, {"case_id": "1", "question": "p", "criteria": ["It has a chart", "It is short"], "metadata.files": '["f.csv"]'}),
    "Agent Skills, expectations": ("evals.json", {"skill_name": "s", "evals": [{"id": 1, "prompt": "p", "expectations": ["It has a chart"]}]}, {"criteria": ["It has a chart"]}),
    "TriviaQA": ("a.jsonl", [{"question": "q", "answer": {"value": "Paris", "aliases": ["paris", "Paris"]}}], {"expected_answers": ["Paris", "paris"]}),
    "TriviaQA, its own spelling": ("a.json", {"Data": [{"Question": "q", "QuestionId": "t", "Answer": {"Value": "Paris", "Aliases": ["paris"]}}], "Domain": "web"}, {"question": "q", "expected_answers": ["Paris", "paris"]}),
    "HotpotQA": ("a.jsonl", [{"id": "x", "question": "q", "answer": "e", "supporting_facts": {"title": ["T"], "sent_id": [0]}, "context": {"title": ["T"], "sentences": [["s"]]}}], {"case_id": "x", "question": "q", "expected_answers": ["e"]}),
    "Valor": ("a.json", [{"datum": {"uid": "u", "text": None, "metadata": {"site": "north"}}, "annotations": [{"labels": [{"key": "animal", "value": "dog", "score": None}, {"key": "size", "value": "small"}], "polygon": None}]}], {"case_id": "u", "label": "animal=dog; size=small", "metadata.site": "north"}),
    "valor-lite": ("a.json", [{"uid": "u", "groundtruth": "dog", "predictions": ["dog", "cat"], "scores": [0.9, 0.1]}], {"case_id": "u", "label": "dog"}),
    "a datum of another tool": ("a.json", [{"question": "q", "expected_answer": "e", "datum": {"uid": "u"}, "annotations": [{"labels": [{"key": [1], "value": "x"}]}, 7]}], {"question": "q", "expected_answers": ["e"]}),
    "Agent Skills, behaviour": ("evals.json", [{"skills": ["s"], "query": "q", "expected_behavior": ["It has a chart"]}], {"question": "q", "criteria": ["It has a chart"]}),
    "Agent Skills, objects": ("evals.json", {"skill_name": "s", "evals": [{"id": 1, "prompt": "p", "assertions": [{"name": "chart", "description": "It has a chart", "type": "llm"}, {"text": "It is short"}]}]}, {"criteria": ["It has a chart", "It is short"]}),
    "Opik, in cells of JSON": ("a.csv", 'id,input,expected_output\n1,"{""question"": ""q""}","{""answer"": ""e""}"\n', {"question": "q", "expected_answers": ["e"]}),
    "a test set of agents": ("a.json", {"name": "t", "tests": [{"input": "q", "expected": {"answer": "e"}, "complexity": "simple"}], "tags": {"x": [0]}}, {"question": "q", "expected_answers": ["e"], "metadata.complexity": "simple"}),
    "a test set of agents, whose input is an object": ("a.json", [{"input": {"query": "q", "tone": "mild"}, "expected": "e"}], {"question": "q", "expected_answers": ["e"], "metadata.input.tone": "mild"}),
    "an input that is an object of a text": ("a.json", [{"input": {"text": "q"}, "expected": "e"}], {"question": "q", "expected_answers": ["e"]}),
    "lists of answers": ("a.json", {"data": [{"question": "q", "answers": ["a", "b"]}]}, {"expected_answers": ["a", "b"]}),
    "records two names down": ("a.json", {"dataset": {"name": "n", "items": [{"question": "q", "expected_answer": "e"}]}}, {"expected_answers": ["e"]}),
    "results by id, under a name": ("a.json", {"project": "p", "results": {"e1": {"input": "q", "reference": "e"}, "e2": {"input": "r", "reference": "f"}}}, {"case_id": "e1", "question": "q", "expected_answers": ["e"]}),
    "a list of as many tags beside": ("a.json", {"tags": ["x"], "items": [{"question": "q", "expected_answer": "e"}]}, {"question": "q", "tags": None}),
    "Opik": ("a.json", [{"id": "i", "data": {"input": {"question": "q", "tone": "mild"}, "expected_output": {"answer": "e"}, "note": "n"}, "assertions": ["Is kind", {"assertion": "Is short"}]}], {"case_id": "i", "question": "q", "expected_answers": ["e"], "criteria": ["Is kind", "Is short"], "metadata.input.tone": "mild", "metadata.note": "n"}),
    "Opik, a suite": ("a.json", {"name": "s", "items": [{"data": {"input": "q"}, "assertions": ["Is kind"]}]}, {"case_id": "1", "question": "q", "criteria": ["Is kind"]}),
    "MLflow, in cells of JSON": ("a.csv", 'inputs,expectations\n"{""question"": ""q""}","{""expected_facts"": [""f""], ""guidelines"": ""Be brief"", ""level"": 2}"\n', {"question": "q", "criteria": ["States: f", "Be brief"], "metadata.expectations.level": "2"}),
    "MLflow, passages": ("a.json", [{"inputs": {"q": "x"}, "expectations": {"expected_retrieved_context": [{"doc_uri": "d", "content": "c"}, {"doc_uri": "e"}]}}], {"reference_context_ids": ["d", "e"], "reference_contexts": ["c"]}),
    "MLflow": ("a.json", [{"inputs": {"question": "q"}, "expectations": {"expected_facts": ["It is free"], "guidelines": ["Be brief"], "expected_response": "e"}}], {"question": "q", "expected_answers": ["e"], "criteria": ["States: It is free", "Be brief"]}),
    "criteria in two columns": ("a.csv", 'question,criteria,guidelines\nq,"[""a"", ""b""]",c\n', {"criteria": ["a", "b", "c"]}),
    "facts in a table": ("a.csv", 'question,expected_facts\nq,"[""f"", ""g""]"\n', {"criteria": ["States: f", "States: g"]}),
    "criteria in one column": ("a.csv", "question,rubric\nq,Names the town\n", {"criteria": ["Names the town"]}),
    **{f"under {name}": ("a.json", {"version": 1, name: [{"question": "q", "expected_answer": "e"}]}, {"question": "q", "expected_answers": ["e"]}) for name in ("data", "rows", "items", "examples", "test_cases", "testCases", "samples", "goldens", "questions")},
}  # fmt: skip


@pytest.mark.parametrize(("name", "content", "values"), BOTH.values(), ids=BOTH)
def test_cases_and_answers(tmp_path, name, content, values):
    path = write(tmp_path, name, content)
    suite, outputs = load_combined(path).value
    row = outputs.outputs.to_pylist()[0] | {
        key: value for key, value in suite.cases.to_pylist()[0].items() if value is not None
    }
    assert {key: row.get(key) for key in values} == values


@pytest.mark.parametrize(("name", "content", "values"), SUITES.values(), ids=SUITES)
def test_suites(tmp_path, name, content, values):
    path = write(tmp_path, name, content)
    assert (inspect(path).role, inspect(path).questions) == ("suite", ())
    case = load_suite(path).value.cases.to_pylist()[0]
    assert {key: case.get(key) for key in values} == values


def test_what_stands_beside_the_records_is_named(tmp_path):
    suite = load_suite(write(tmp_path, "a.json", {"version": 1, "meta": {"by": "Ann"}, "items": [ROW]})).value
    unused = {line.place: line.example for line in suite.receipt if line.use == "unused"}
    assert unused == {"version": "1", "meta.by": "Ann", "answer": "Lyon"}


def test_lists_of_answers_can_be_a_models(tmp_path):
    path = write(tmp_path, "a.jsonl", [{"question": "Who?", "answer": ["Ann", "A."]}])
    assert [str(line) for line in load_suite(path).value.receipt if line.use == "asked"] == [
        "a.jsonl: answer was decided: lists of texts beside questions: answer=expected, as it seems; else answer=model"
    ]
    _, outputs = load_combined(path, reading=Reading(answers={"answer": "model"})).value
    assert outputs.outputs["answer"].to_pylist() == ['["Ann","A."]']


def test_programs_of_evalplus_are_answers(tmp_path):
    path = write(tmp_path, "a.jsonl", [{"task_id": "HumanEval/0", "solution": "x = 1"}] * 2)
    seen = inspect(path)
    assert (seen.role, seen.mapping) == ("outputs", {"case_id": "task_id", "answer": "solution"})


ODD: dict[str, Any] = {
    "null": None, "a number": 1, "a text": "x", "a list": [1], "an object": {"a": 1}, "a deep list": json.loads("[" * 99 + "]" * 99),
}  # fmt: skip
DOCUMENTS = {
    "promptfoo": {"prompts": ["x"], "tests": [{"vars": {"q": "x"}, "threshold": 0.5, "options": {"transform": "x"}, "assert": [
        {"type": "assert-set", "threshold": 0.5, "assert": [{"type": "contains", "value": ["a"]}, {"type": "word-count", "value": {"min": 1, "max": 2}}]},
        {"$ref": "#/a/b"}, {"type": "contains-any", "value": "a,b"}, {"type": "similar", "value": ["a"]}]}],
        "defaultTest": {"assert": [{"type": "cost", "threshold": 1}]}, "assertionTemplates": {"b": {"type": "contains", "value": "x", "weight": 2}}},
    "SQuAD": SQUAD, "columns": {"question": ["a"], "answer": ["b"]}, "split": {"columns": ["question"], "index": [0], "data": [["a"]]},
    "ragas": [{"user_input": TALK, "reference": "y"}], "TriviaQA": [{"question": "q", "answer": {"value": "a", "aliases": ["b"]}}],
    "LangChain": [{"input": "q", "answer": "a", "context": [CHAINED]}], "DeepEval": {"testCases": [{"input": "q", "actualOutput": "a"}]},
    "MLflow": [{"inputs": {"question": "q"}, "outputs": {"choices": [{"message": {"role": "assistant", "content": "a"}}]}, "expectations": {"expected_facts": ["f"], "expected_retrieved_context": [{"doc_uri": "d"}]}}],
    "Opik": {"items": [{"id": "i", "data": {"input": {"q": "x"}, "expected_output": "e"}, "assertions": [{"text": "a"}]}]},
}  # fmt: skip


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path to each value within a document."""
    if path:
        yield path
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from places(inner, (*path, key))


@pytest.mark.parametrize("document", DOCUMENTS.values(), ids=DOCUMENTS)
def test_a_value_of_another_type_is_read_or_refused(tmp_path, document):
    """Whatever stands anywhere, the file is read, or ends in a list of problems."""
    readers = (inspect, load_suite, load_combined)
    for number, (place, odd) in enumerate((place, odd) for place in places(document) for odd in ODD.values()):
        inner = made = copy.deepcopy(document)
        for key in place[:-1]:
            inner = inner[key]
        inner[place[-1]] = odd
        path = write(tmp_path, "a.json", made)
        for read in readers if LONG else readers[number % 3 :][:1]:
            with suppress(InputError):
                read(path)


@pytest.mark.parametrize("kind", ["jsonl", "json", "parquet", "frame"])
def test_an_answer_that_is_an_object_is_its_json(tmp_path, kind):
    """Objects of extracted values are answers; those of fields and of the scores of classes are spread as before."""
    bill, other = {"vendor": "Acme", "total": 1250, "lines": [{"item": "pen"}]}, {"vendor": "Bolt"}
    cases = [
        {"id": "1", "question": "q", "expected_answer": bill},
        {"id": "2", "question": "r", "expected_answer": other},
    ]
    rows = [{"id": "1", "model": "m", "answer": bill}, {"id": "2", "model": "m", "answer": other}]
    if kind == "frame":
        suite = suite_from_frame(pd.DataFrame(cases))
        outputs = outputs_from_frame(pd.DataFrame(rows), suite=suite)
    else:
        suite = read_suite(write(tmp_path, f"s.{kind}", cases))
        outputs = read_outputs(write(tmp_path, f"o.{kind}", rows), suite=suite)
    texts = ['{"vendor":"Acme","total":1250,"lines":[{"item":"pen"}]}', '{"vendor":"Bolt"}']
    assert suite.cases["expected_answers"].to_pylist() == [[text] for text in texts]
    assert outputs.outputs["answer"].to_pylist() == texts


@pytest.mark.parametrize(
    ("record", "flat"),
    [
        ({"output": {"answer": "x", "contexts": ["y"]}}, {"output.answer": "x", "output.contexts": ["y"]}),
        ({"output": {"cat": 0.9, "dog": 0.1}}, {"output.cat": 0.9, "output.dog": 0.1}),
        ({"prediction": {"cat": 3.5, "dog": -1}}, {"prediction.cat": 3.5, "prediction.dog": -1}),
        ({"reference": {"text": "x", "page": 1}}, {"reference.text": "x", "reference.page": 1}),
        ({"ground_truth": {"total": 12}}, {"ground_truth": '{"total":12}'}),
        ({"notes": {"total": 12}}, {"notes.total": 12}),
    ],
)
def test_objects_of_fields_are_spread(record, flat):
    assert flatten(record) == flat


def test_fiftyones_numbers_are_truth_and_prediction(tmp_path):
    truth, found = {"_cls": "Regression", "value": 2.5}, {"_cls": "Regression", "value": 3.0}
    file = write(tmp_path, "a.json", {"samples": [{"filepath": "a.png", "ground_truth": truth, "net": found}]})
    suite, outputs = read_combined(file)
    assert (suite.cases["true_value"].to_pylist(), outputs.outputs["predicted_value"].to_pylist()) == ([2.5], [3.0])
    odd = [{"filepath": "a", "ground_truth": {"_cls": [1]}, "net": {"_cls": [1]}, "question": "q", "expected": "e"}]
    assert read_suite(write(tmp_path, "b.json", odd)).cases["question"].to_pylist() == ["q"]
