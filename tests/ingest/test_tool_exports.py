"""Exports of evaluation and tracing tools: suite and outputs as each tool means them, other kinds refused by name."""
# ruff: noqa: E501 - a table reads better with one line a case

import json
from contextlib import suppress
from typing import Any

import pytest

from metrics.core.errors import InputError
from metrics.ingest import inspect, load_combined, load_suite, read_combined, read_outputs, read_suite
from tests.ingest.files import read_refusal, write
from tests.random_seeds import LONG


def lm(doc_id: int | None = 0, **more: Any) -> dict:
    return {
        "doc_id": doc_id, "doc": {"question": "1 + 1?", "answer": "2"}, "target": "2",
        "arguments": {"gen_args_0": {"arg_0": "Q: 1 + 1?\nA:", "arg_1": {"until": ["\n"]}}},
        "resps": [["It is 2", "two"]], "filtered_resps": ["2"], "filter": "none", "metrics": ["exact_match"],
        "exact_match": 1.0, "doc_hash": "a",
    } | more  # fmt: skip


def choice(target: Any, *likelihoods: Any, **more: Any) -> dict:
    requests = [["The sky is", " red"], ["The sky is", " blue"]]
    resps = [[[value, "False"]] for value in likelihoods]
    return (
        lm(
            doc={"text": "sky"},
            target=target,
            arguments=requests,
            resps=resps,
            filtered_resps=[one[0] for one in resps],
            acc=1.0,
        )
        | more
    )


def langsmith_run(**more: Any) -> dict:
    return {
        "id": "r1", "name": "chain", "run_type": "chain", "trace_id": "r1", "session_id": "s", "parent_run_id": None,
        "inputs": {"question": "Capital?"}, "outputs": {"answer": "Paris"}, "reference_example_id": "e1",
        "start_time": "2024-01-01T00:00:00", "end_time": "2024-01-01T00:00:02.5", "total_tokens": 12, "error": None,
        "feedback_stats": {"correct": {"n": 1, "avg": 0.5}}, "extra": {"metadata": {"ls_model_name": "gpt-4o"}},
    } | more  # fmt: skip


def observation(**more: Any) -> dict:
    return {
        "id": "o1", "traceId": "t1", "type": "GENERATION", "name": "llm", "startTime": "2024", "model": "gpt-4o",
        "input": [{"role": "system", "content": "Be short."}, {"role": "user", "content": "Capital?"}],
        "output": {"role": "assistant", "content": "Paris"}, "usageDetails": {"input": 9, "output": 3, "total": 12},
        "level": "DEFAULT", "parentObservationId": None, "latency": 2.5,
    } | more  # fmt: skip


def span(kind: str, parent: str | None = None, **attributes: Any) -> dict:
    return {
        "name": kind, "span_kind": kind, "parent_id": parent, "status_code": "OK", "status_message": "",
        "start_time": "2024-01-01T00:00:00+00:00", "end_time": "2024-01-01T00:00:02.500000+00:00",
        "context": {"trace_id": "t1", "span_id": kind}, "attributes": {"openinference": {"span": {"kind": kind}}} | attributes,
    }  # fmt: skip


def event(number: int, kind: str, sample: str = "s.1", **data: Any) -> dict:
    return {"run_id": "r", "event_id": number, "sample_id": sample, "type": kind, "data": data, "created_at": "2024"}


def braintrust(**more: Any) -> dict:
    return {
        "id": "b1", "span_id": "x", "root_span_id": "x", "is_root": True, "input": {"question": "Capital?"},
        "output": "Paris", "expected": {"answer": "Paris"}, "scores": {"Factuality": 0.6}, "metadata": {"topic": "towns"},
        "metrics": {"start": 10, "end": 12.5, "tokens": 12}, "dataset_record_id": "d1", "tags": ["easy"], "error": None,
    } | more  # fmt: skip


SPEC = {"spec": {"completion_fns": ["gpt-3.5-turbo"], "eval_name": "match", "run_id": "r"}}
RETRIEVED = {"retrieval": {"documents": [{"document.content": "Paris is the capital.", "document.id": "d"}]}}
SPANS = [
    span("CHAIN", input={"value": "Capital?"}, output={"value": "Paris"}), span("RETRIEVER", "CHAIN", **RETRIEVED),
    span("LLM", "CHAIN", llm={"model_name": "gpt-4o", "token_count": {"total": 12}}),
]  # fmt: skip
FRAME = (
    "context.span_id,context.trace_id,name,span_kind,parent_id,start_time,end_time,status_code,attributes.input.value,"
    "attributes.input.mime_type,attributes.output.value,attributes.llm.model_name,attributes.llm.token_count.total\n"
    'a,t1,q,CHAIN,,2024-01-01 00:00:00+00:00,2024-01-01 00:00:02.5+00:00,OK,"{""query"": ""Capital?""}",application/json,Paris,,\n'
    "b,t1,l,LLM,a,,,OK,,,,gpt-4o,12.0\n"
)
ASKED, PARIS = {"question": "Capital?"}, {"answer": "Paris", "duration_s": 2.5, "tokens": 12}
BOTH = {  # file → format, content, values of the first case, values of the first output, number of outputs
    "lm-eval, generated, two repeats": ("a.jsonl", "lm_eval", [lm()], {"case_id": "0", "question": "1 + 1?", "expected_answers": ["2"], "metadata.doc.answer": "2", "metadata.lm_eval.filtered": "2", "metadata.lm_eval.exact_match": "1"}, {"model": "a", "answer": "It is 2", "run": 1}, 2),
    "lm-eval, two filters": ("a.jsonl", "lm_eval", [lm(filter="strict", exact_match=0.0), lm(filter="flexible")], {"metadata.lm_eval.strict.exact_match": "0", "metadata.lm_eval.flexible.exact_match": "1"}, {"answer": "It is 2"}, 2),
    "lm-eval, a choice by place": ("a.jsonl", "lm_eval", [choice(1, "-3.5", "-0.5")], {"question": "sky", "expected_answers": ["blue"], "choices": ["red", "blue"], "correct_choice": 1, "metadata.lm_eval.acc": "1"}, {"answer": "blue", "choice_logprobs": [-3.5, -0.5]}, 1),
    "lm-eval, a choice by text, without the responses": ("a.jsonl", "lm_eval", [{k: v for k, v in choice("red", -0.5, "-inf").items() if k != "resps"}], {"expected_answers": ["red"], "correct_choice": 0}, {"answer": "red", "choice_logprobs": [-0.5, float("-inf")]}, 1),
    "lm-eval, the prompt where no question": ("a.jsonl", "lm_eval", [lm(doc={"a": 1, "b": 2})], {"question": "Q: 1 + 1?\nA:"}, {}, 2),
    "LangSmith, runs": ("a.json", "langsmith", [langsmith_run(), langsmith_run(id="c", run_type="retriever", parent_run_id="r1", outputs={"documents": [{"page_content": "Paris is the capital."}]})], ASKED | {"case_id": "e1"}, PARIS | {"model": "gpt-4o", "retrieved_contexts": ["Paris is the capital."]}, 1),
    "LangSmith, runs of a conversation": ("a.jsonl", "langsmith", [langsmith_run(inputs={"messages": [[{"lc": 1, "type": "constructor", "id": ["langchain", "HumanMessage"], "kwargs": {"content": "Capital?", "type": "human"}}]]}, outputs={"messages": [{"type": "human", "data": {"content": "Capital?"}}, {"type": "ai", "data": {"content": "Paris"}}]})], ASKED, PARIS, 1),
    "LangSmith, results of an experiment": ("a.csv", "langsmith", "inputs.question,outputs.answer,error,reference.answer,feedback.correct,execution_time,example_id,id\nCapital?,Lyon,,Paris,0,2.5,e1,r1\nCapital?,Paris,,Paris,1,1.5,e1,r2\n", ASKED | {"case_id": "e1", "expected_answers": ["Paris"]}, {"answer": "Lyon", "duration_s": 2.5, "metadata.feedback.correct": "0"}, 2),
    "LangSmith, references as objects": ("a.jsonl", "langsmith", [{"id": "r", "inputs": {"input": "Capital?"}, "outputs": {"output": "Lyon"}, "reference_outputs": {"output": "Paris"}, "feedback": {"ok": False}}], ASKED | {"expected_answers": ["Paris"], "metadata.feedback.ok": "false"}, {"answer": "Lyon"}, 1),
    "Langfuse, traces": ("a.json", "langfuse", [{"id": "t1", "timestamp": "2024", "name": "n", "input": {"question": "Capital?"}, "output": "Paris", "sessionId": None, "userId": "u", "latency": 2.5, "totalCost": 0.01, "public": False, "scores": [{"name": "ok", "value": 1}]}], ASKED | {"case_id": "t1", "metadata.langfuse.ok": "1"}, {"answer": "Paris", "duration_s": 2.5, "cost_usd": 0.01, "model": "a"}, 1),
    "Langfuse, generations": ("a.jsonl", "langfuse", [observation()], ASKED | {"case_id": "o1"}, PARIS | {"model": "gpt-4o"}, 1),
    "Langfuse, observations with their root": ("a.json", "langfuse", [observation(id="root", type="SPAN", model=None, input="Capital?", output="Paris", usageDetails={}), observation(parentObservationId="root"), observation(id="o2", type="RETRIEVER", parentObservationId="root", output=["Paris is the capital."])], ASKED | {"case_id": "root"}, PARIS | {"model": "gpt-4o", "retrieved_contexts": ["Paris is the capital."]}, 1),
    "Phoenix, spans": ("a.jsonl", "phoenix", SPANS, ASKED | {"case_id": "t1"}, PARIS | {"model": "gpt-4o", "retrieved_contexts": ["Paris is the capital."]}, 1),
    "Phoenix, a frame with text that looks like JSON": ("a.csv", "phoenix", FRAME.replace("application/json", "text/plain"), {"case_id": "t1", "question": '{"query":"Capital?"}'}, PARIS | {"model": "gpt-4o"}, 1),
    "Phoenix, a frame of spans": ("a.csv", "phoenix", FRAME, ASKED | {"case_id": "t1"}, PARIS | {"model": "gpt-4o"}, 1),
    "Phoenix, an error": ("a.json", "phoenix", [span("CHAIN", input={"value": "Capital?"}) | {"status_code": "ERROR", "status_message": "timeout"}], ASKED, {"answer": None, "error": "timeout"}, 1),
    "OpenAI evals, log": ("a.jsonl", "openai_evals_log", [SPEC, {"final_report": {"accuracy": 1}}, event(0, "sampling", prompt=[{"role": "user", "content": "Capital?"}], sampled=["Paris"]), event(1, "match", correct=True, expected="Paris", picked="Paris", sampled="Paris")], ASKED | {"case_id": "s.1", "expected_answers": ["Paris"], "metadata.openai_evals.match.correct": "true"}, {"model": "gpt-3.5-turbo", "answer": "Paris"}, 1),
    "Braintrust, experiment": ("a.json", "braintrust", [braintrust(), braintrust(id="b2", span_id="y", is_root=False, input="inner", output="no")], ASKED | {"case_id": "d1", "expected_answers": ["Paris"], "tags": ["easy"], "metadata.topic": "towns", "metadata.braintrust.Factuality": "0.6"}, PARIS, 1),
    "Braintrust, repeats": ("a.jsonl", "braintrust", [braintrust(), braintrust(id="b2", span_id="y", root_span_id="y", output="Lyon")], {"case_id": "d1"}, {"run": 1}, 2),
}  # fmt: skip
EXAMPLE = {"input": {"question": "Capital?"}, "output": {"answer": "Paris"}, "metadata": {"topic": "towns"}}
CELLS = (
    "input,output,metadata\n"
    + ",".join(f'"{json.dumps(cell)}"'.replace('"', '""')[1:-1] for cell in EXAMPLE.values())
    + "\n"
)
EXAMPLES = {
    "JSON": ("a.json", {"data": {"dataset_id": "d", "examples": [{"id": "1", "updated_at": "2024", **EXAMPLE}]}}),
    "JSONL": ("a.jsonl", [{"example_id": "1", **EXAMPLE}]),
    "CSV": ("a.csv", CELLS),
    "CSV of a frame": ("a.csv", "example_id,input,output,metadata\n1," + ",".join(f'"{cell}"' for cell in EXAMPLE.values()) + "\n"),
}  # fmt: skip
SUITES = {
    "LangSmith, a data set": ("a.jsonl", "langsmith", [{"id": "e1", "dataset_id": "d", "inputs": {"question": "Capital?"}, "outputs": {"answer": "Paris"}, "metadata": {"topic": "towns"}, "modified_at": "2024"}], ASKED | {"case_id": "e1", "expected_answers": ["Paris"], "metadata.topic": "towns"}),
    "Langfuse, items": ("a.csv", "langfuse", 'id,datasetId,datasetName,input,expectedOutput,status\ni1,d,dn,"{""question"": ""Capital?""}",Paris,ACTIVE\n', ASKED | {"case_id": "i1", "expected_answers": ["Paris"]}),
    "Langfuse, items of texts as JSON": ("a.csv", "langfuse", 'id,datasetId,datasetName,input,expectedOutput,status\ni1,d,dn,"""Capital?""","""Paris""",ACTIVE\ni2,d,dn,"""Old?""","""No""",ARCHIVED\n', ASKED | {"case_id": "i1", "expected_answers": ["Paris"]}),
    "Langfuse, items of texts of which only some have quotes": ("a.csv", "langfuse", 'id,datasetId,datasetName,input,expectedOutput\ni1,d,dn,Capital?,"""Paris"""\ni2,d,dn,Capital?,Rome\n', ASKED | {"expected_answers": ['"Paris"']}),
    "Langfuse, items, not as CSV": ("a.json", "langfuse", [{"id": "i1", "datasetId": "d", "datasetName": "dn", "input": "Capital?", "expectedOutput": '"Paris"'}], ASKED | {"expected_answers": ['"Paris"']}),
    **{f"Phoenix, a data set, {kind}": (name, "phoenix", content, ASKED | {"case_id": "1", "expected_answers": ["Paris"], "metadata.topic": "towns"}) for kind, (name, content) in EXAMPLES.items()},
    "OpenAI evals, a data set": ("a.jsonl", "openai_evals_data", [{"input": [{"role": "system", "content": "Be short."}, {"role": "user", "content": "Capital?"}], "ideal": ["Paris", "paris"], "topic": "towns"}], ASKED | {"case_id": "1", "expected_answers": ["Paris", "paris"], "metadata.topic": "towns"}),
    "Braintrust, a data set": ("a.json", "braintrust", [{"id": "b1", "dataset_id": "d", "span_id": "b1", "root_span_id": "b1", "_xact_id": "1", "input": "Capital?", "expected": "Paris"}], ASKED | {"case_id": "b1", "expected_answers": ["Paris"]}),
}  # fmt: skip
REFUSED = {
    "lm-eval, one continuation": ("a.jsonl", [lm(arguments=[["The sky", " is"]], resps=[[[-1.0, True]]], filtered_resps=[[-1.0, True]])], "a.jsonl, row 1, column filtered_resps: found log-likelihoods that choose nothing; expected samples of tasks that generate text, or that choose between several continuations of one prompt"),
    "lm-eval, prompts that differ": ("a.jsonl", [choice(0, -1, -2, arguments=[["a", " x"], ["b", " y"]])], "a.jsonl, row 1, column arguments: found choices that differ in their prompt, or unconditional requests beside them"),
    "LangSmith, no root": ("a.json", [langsmith_run(parent_run_id="x")], "a.json: found LangSmith runs without a root run; expected an export of root runs"),
    "Langfuse, scores": ("a.json", [{"id": "s", "traceId": "t", "name": "ok", "value": 1, "dataType": "NUMERIC", "source": "API"}], "a.json: found a Langfuse export of scores, which holds no answers; expected an export of traces or observations"),
    "Langfuse, runs of data sets": ("a.jsonl", [{"id": "s", "datasetRunId": "r", "datasetRunName": "n", "datasetItemId": "i", "traceId": "t"}], "a.jsonl: found a Langfuse export of runs of data sets"),
    "Langfuse, inner observations": ("a.json", [observation(type="SPAN", parentObservationId="x")], "a.json: found Langfuse observations without the root of a trace"),
    "Phoenix, no root": ("a.jsonl", SPANS[1:], "a.jsonl: found Phoenix spans without the root span of a trace; expected all spans of the traces"),
    "OpenAI evals, graded by a model": ("a.jsonl", [SPEC, event(0, "sampling", prompt="q", sampled=["a"]), event(1, "sampling", prompt="grade", sampled=["Y"])], "a.jsonl, row 2, column type: found 2 sampling events of sample 's.1'; expected one sampling event a sample"),
    "OpenAI evals, no sample": ("a.jsonl", [SPEC, {"final_report": {}}], "a.jsonl: found an OpenAI evals log without a sample"),
    "Braintrust, no root": ("a.json", [braintrust(is_root=False)], "a.json: found Braintrust spans without a root span"),
    "Label Studio, texts": ("a.json", [{"id": 1, "data": {"text": "Paris"}, "annotations": [{"result": [{"type": "labels", "value": {"start": 0, "end": 5, "labels": ["LOC"]}}, {"type": "choices", "value": {"choices": ["good"]}}]}]}], "a.json: found Label Studio tasks of spans of text, classification; expected tasks of objects in images"),
    "Label Studio, classes of images": ("a.json", [{"id": 1, "data": {"image": "a.png"}, "annotations": [{"result": [{"type": "choices", "value": {"choices": ["cat"]}, "original_width": 9, "original_height": 9}]}]}], "a.json: found Label Studio tasks without an object: only choices; expected rectangles, polygons, ellipses or brush masks"),
    "Label Studio, JSON-MIN": ("a.json", [{"image": "a.png", "id": 1, "label": [{"x": 1, "y": 1, "width": 5, "height": 5, "rectanglelabels": ["cat"], "original_width": 9, "original_height": 9}]}], "a.json: found Label Studio's JSON-MIN, in which tasks have no annotations; expected its export as JSON"),
}  # fmt: skip


@pytest.mark.parametrize(("name", "form", "content", "case", "output", "count"), BOTH.values(), ids=BOTH)
def test_cases_and_answers(tmp_path, name, form, content, case, output, count):
    """A file is one with both; the suite in it has each case once, and its answers fit that suite."""
    path = write(tmp_path, name, content)
    seen = inspect(path)
    assert (seen.format, seen.role, seen.questions) == (form, "combined", ())
    suite, outputs = read_combined(path)
    first, answered = suite.cases.to_pylist()[0], outputs.outputs.to_pylist()
    merged = answered[0] | {key: value for key, value in first.items() if value is not None}
    assert {key: merged.get(key) for key in case} == case
    assert {key: answered[0].get(key, merged.get(key)) for key in output} == output
    assert len(answered) == count
    alone = read_suite(path)
    assert (
        alone.cases["case_id"].to_pylist()
        == suite.cases["case_id"].to_pylist()
        == list(dict.fromkeys(row["case_id"] for row in answered))
    )
    assert len(read_outputs(path, suite=alone).outputs) == count


@pytest.mark.parametrize(("name", "form", "content", "case"), SUITES.values(), ids=SUITES)
def test_suites(tmp_path, name, form, content, case):
    path = write(tmp_path, name, content)
    seen = inspect(path)
    first, *rest = read_suite(path).cases.to_pylist()
    assert (seen.format, seen.role, seen.rows, seen.questions) == (form, "suite", 1 + len(rest), ())
    assert {key: first[key] for key in case} == case
    with pytest.raises(InputError, match="no column with the model's answers"):
        read_combined(path)


@pytest.mark.parametrize(("name", "content", "text"), REFUSED.values(), ids=REFUSED)
def test_refusals(tmp_path, name, content, text):
    path = write(tmp_path, name, content)
    for read in (read_suite, read_combined) if "Label" not in text else (read_suite,):
        assert read_refusal(read, path).startswith(text)


def test_an_output_of_unknown_meaning_is_asked_about(tmp_path):
    """LangSmith keeps the expected answer under the name that MLflow uses for the model's answer."""
    path = write(tmp_path, "a.jsonl", [{"inputs": {"question": "Capital?"}, "outputs": {"answer": "Paris"}}])
    for role, choices in (
        ("suite", ("expected_answers", "metadata.outputs.answer")),
        ("combined", ("answer", "expected_answers")),
    ):
        (question,) = inspect(path, role).questions
        assert (question.column, question.choices) == ("outputs.answer", choices)
        with pytest.raises(InputError, match="Data sets of LangSmith and Alpaca keep the expected answer here"):
            read_suite(path) if role == "suite" else read_combined(path)
    suite = read_suite(path, mapping={"expected_answers": "outputs.answer"})
    assert suite.cases["expected_answers"].to_pylist() == [["Paris"]]
    _, outputs = read_combined(path, mapping={"answer": "outputs.answer"})
    assert outputs.outputs["answer"].to_pylist() == ["Paris"]


def test_archived_items_and_texts_as_json_are_in_the_receipt(tmp_path):
    name, _, content, _ = SUITES["Langfuse, items of texts as JSON"]
    suite = read_suite(write(tmp_path, name, content))
    assert (suite.cases["case_id"].to_pylist(), suite.left_out) == (["i1"], 0)
    said = "\n".join(map(str, suite.receipt))
    assert "records (1) is not used: archived items of a data set are no cases" in said
    assert "input (2) is texts written as JSON, read without their quotes" in said


ALPACA = {  # a file → the question of its first two cases
    "Alpaca's form": ("a.csv", 'instruction,input,output\nName the capital.,France,Paris\nSay hi.,"",Hi\n', ["Name the capital.\n\nFrance", "Say hi."]),
    "Alpaca's form, JSON": ("a.json", [{"instruction": "Name it.", "input": "France", "output": "Paris"}, {"instruction": "Say hi.", "input": "", "output": "Hi"}], ["Name it.\n\nFrance", "Say hi."]),
    "without inputs": ("a.csv", "instruction,output\nSay hi.,Hi\nSay ho.,Ho\n", ["Say hi.", "Say ho."]),
    "Dolly's": ("a.jsonl", [{"instruction": "Say hi.", "response": "Hi"}, {"instruction": "Say ho.", "response": "Ho"}], ["Say hi.", "Say ho."]),
}  # fmt: skip


@pytest.mark.parametrize(("name", "content", "questions"), ALPACA.values(), ids=ALPACA)
def test_an_instruction_asks_and_what_its_output_is_is_asked(tmp_path, name, content, questions):
    path = write(tmp_path, name, content)
    (question,) = inspect(path).questions
    assert (inspect(path).role, question.choices) == ("combined", ("answer", "expected_answers"))
    for read in (read_suite, read_combined):
        with pytest.raises(InputError, match=f"expected_answers={question.column}"):
            read(path)
    suite = read_suite(path, mapping={"expected_answers": question.column})
    assert suite.cases["question"].to_pylist() == questions
    assert suite.cases["expected_answers"].to_pylist()[1] in (["Hi"], ["Ho"])
    suite, outputs = read_combined(path, mapping={"answer": question.column})
    assert (suite.cases["question"].to_pylist(), len(outputs.outputs)) == (questions, 2)


def test_an_output_beside_a_model_is_its_answer_and_a_mapped_input_the_question(tmp_path):
    path = write(tmp_path, "a.csv", "instruction,output,model\nSay hi.,Hi,m\n")
    assert read_combined(path)[1].outputs["answer"].to_pylist() == ["Hi"]
    path = write(tmp_path, "b.csv", "instruction,input,output\nBe short.,Say hi.,Hi\n")
    suite = read_suite(path, mapping={"question": "input", "expected_answers": "output"})
    assert suite.cases["question"].to_pylist() == ["Say hi."]


@pytest.mark.attack(
    "suite author", "costs of a trace whose sum no float holds", "it is a problem of its row, as infinity is"
)
def test_costs_beyond_the_floats_are_a_problem_of_their_row(tmp_path):
    calls = [{"type": "GENERATION", "id": f"o{place}", "calculatedTotalCost": 1e308} for place in range(2)]
    trace = {"id": "t1", "timestamp": "2024", "name": "n", "input": {"question": "Q?"}, "output": "A", "latency": 1.0}
    path = write(tmp_path, "a.json", [trace | {"public": False, "observations": calls}])
    with pytest.raises(InputError, match="row 1, column cost_usd: found 'inf'; expected a finite number"):
        read_combined(path)


def test_a_bad_record_is_listed_and_can_be_left_out(tmp_path):
    lines = [json.dumps(lm()), "[1]", json.dumps(lm(None)), json.dumps(lm(2, doc=[1])), "{", json.dumps(lm(3))]
    path = write(tmp_path, "a.jsonl", "\n".join(lines))
    with pytest.raises(InputError) as caught:
        read_combined(path)
    assert [problem.row for problem in caught.value.problems] == [2, 3, 4, 5]
    loaded = load_combined(path, keep_good_rows=True)
    assert (loaded.value[0].cases["case_id"].to_pylist(), len(loaded.problems)) == (["0", "3"], 4)


ODD: dict[str, Any] = {"null": None, "a number": 1, "a huge number": 10**400, "a text": "x", "a list": [1], "an object": {"a": 1}, "a deep list": json.loads("[" * 200 + "]" * 200), "half a character": "\ud800"}  # fmt: skip
RECORDS = {
    "lm-eval": lm(), "LangSmith": langsmith_run(), "Langfuse": observation(), "Braintrust": braintrust(),
    "Phoenix": SPANS[0], "OpenAI evals": event(0, "sampling", prompt="q", sampled=["a"]),
}  # fmt: skip


@pytest.mark.parametrize("record", RECORDS.values(), ids=RECORDS)
def test_a_value_of_another_type_is_read_or_refused(tmp_path, record):
    """Whatever stands in an entry, the file is read, or ends in a list of problems."""
    readers = (inspect, load_suite, load_combined)
    for number, (key, odd) in enumerate((key, odd) for key in record for odd in ODD.values()):
        content = json.dumps([{**record, key: odd}]) if number % 2 else json.dumps({**record, key: odd})
        path = write(tmp_path, "a.json" if number % 2 else "a.jsonl", content)
        for read in readers if LONG else readers[number % 3 :][:1]:
            with suppress(InputError):
                read(path)
