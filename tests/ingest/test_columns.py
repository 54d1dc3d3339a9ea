"""The mapping: aliases of each tool, what is asked, what the user says."""
# ruff: noqa: E501 - a table reads better with one line a case

from functools import partial

import pandas as pd
import pytest

from metrics.core.suite import Suite
from metrics.ingest.load import outputs_from_frame, suite_from_frame
from metrics.ingest.source import Problems
from metrics.ingest.tables.columns import fold, guess_role, resolve

SUITE = Suite.from_rows("s", "text", [{"case_id": "1", "question": "?"}])
FOLDED = {
    "Expected Output": "expected_output", "expectedOutput": "expected_output", "expected-output": "expected_output",
    "CaseID": "case_id", "XMin": "x_min", " id ": "id", "inputs.question": "inputs.question", "HTTPCode2": "http_code2",
}  # fmt: skip

TOOLS = {
    "ours": ("case_id,question,expected_answer,tags", "suite", {"case_id": "case_id", "question": "question", "expected_answers": "expected_answer", "tags": "tags"}),
    "ragas": ("user_input,retrieved_contexts,reference_contexts,response,reference", "combined",
              {"question": "user_input", "retrieved_contexts": "retrieved_contexts", "reference_contexts": "reference_contexts", "answer": "response", "expected_answers": "reference"}),
    "ragas, older": ("question,answer,contexts,ground_truths", "combined",
                     {"question": "question", "answer": "answer", "retrieved_contexts": "contexts", "expected_answers": "ground_truths"}),
    "DeepEval": ("input,actual_output,expected_output,context,retrieval_context,token_cost,completion_time", "combined",
                 {"question": "input", "answer": "actual_output", "expected_answers": "expected_output", "reference_contexts": "context",
                  "retrieved_contexts": "retrieval_context", "cost_usd": "token_cost", "duration_s": "completion_time"}),
    "Open RAG Eval": ("query_id,query,query_run,passage_id,passage,generated_answer", "combined",
                      {"case_id": "query_id", "question": "query", "run": "query_run", "context_ids": "passage_id", "retrieved_contexts": "passage", "answer": "generated_answer"}),
    "ids and errors": ("id,output,retrieved_contexts,retrieved_context_ids,error_message", "outputs",
                       {"case_id": "id", "answer": "output", "retrieved_contexts": "retrieved_contexts", "context_ids": "retrieved_context_ids", "error": "error_message"}),
    "H2O test lab": ("key,input,corpus,expected_output,actual_output,actual_duration,cost,model_key", "combined",
                     {"case_id": "key", "question": "input", "expected_answers": "expected_output", "answer": "actual_output",
                      "duration_s": "actual_duration", "cost_usd": "cost", "model": "model_key"}),
    "promptfoo": ("testIdx,vars.question,provider.id,response.output,latencyMs,cost", "combined",
                  {"case_id": "testIdx", "question": "vars.question", "model": "provider.id", "answer": "response.output", "duration_s": "latencyMs", "cost_usd": "cost"}),
    "MLflow": ("inputs,outputs,expectations.expected_response", "combined",
               {"question": "inputs", "answer": "outputs", "expected_answers": "expectations.expected_response"}),
    "MLflow, older": ("inputs,predictions,targets", "combined", {"question": "inputs", "answer": "predictions", "expected_answers": "targets"}),
    "summaries": ("id,article,model_response", "combined", {"case_id": "id", "source_text": "article", "answer": "model_response"}),
    "calls of tools": ("id,expected_tools,messages", "combined", {"case_id": "id", "expected_calls": "expected_tools", "trace": "messages"}),
    "files alone": ("case_id,artifacts", "outputs", {"case_id": "case_id", "artifacts": "artifacts"}),
    "code alone": ("case_id,test_code", "suite", {"case_id": "case_id", "code_tests": "test_code"}),
    "a canonical name beats an alias": ("response,answer,case_id", "outputs", {"case_id": "case_id", "answer": "answer"}),
    "numbered columns": ("case_id,question,answer,contexts_1,contexts_2", "combined",
                         {"case_id": "case_id", "question": "question", "answer": "answer", "retrieved_contexts": "contexts_#"}),
    "actual and predicted classes": ("id,actual,predicted", "combined", {"case_id": "id", "label": "actual", "predicted_label": "predicted"}),
    "named classes": ("id,true_class,pred", "combined", {"case_id": "id", "label": "true_class", "predicted_label": "pred"}),
    "actual beside what is expected": ("question,expected,actual,predicted", "combined", {"question": "question", "expected_answers": "expected", "predicted_label": "predicted"}),
    "OpenAI's ideal": ("id,input,ideal,model_output", "combined", {"case_id": "id", "question": "input", "expected_answers": "ideal", "answer": "model_output"}),
    "corners": ("image,label,xmin,ymin,xmax,ymax", "suite", {"image": "image", "label": "label", "xmin": "xmin", "ymin": "ymin", "xmax": "xmax", "ymax": "ymax"}),
    "Open Images": ("ImageID,LabelName,Confidence,XMin,XMax,YMin,YMax", "outputs",
                    {"image": "ImageID", "label": "LabelName", "score": "Confidence", "xmin": "XMin", "xmax": "XMax", "ymin": "YMin", "ymax": "YMax"}),
}  # fmt: skip

ASKED = {
    "context alone, in a combined file": ("question,answer,context,expected", "combined", None, {"context": ("retrieved_contexts", "reference_contexts", "metadata.context")}),
    "context alone, in a suite": ("question,context,expected", "suite", None, {"context": ("reference_contexts", "metadata.context")}),
    "context beside retrieved ones": ("question,answer,context,retrieval_context", "combined", None, {}),
    "context beside gold ones": ("question,answer,context,reference_contexts", "combined", None, {}),
    "numbered contexts": ("case_id,question,answer,context_1,context_2", "combined", None, {"context_#": ("retrieved_contexts", "reference_contexts", "metadata.context")}),
    "label beside a question": ("case_id,question,label", "suite", None, {"label": ("label", "tags", "metadata.label")}),
    "label beside expected answers": ("case_id,question,expected,label,tags", "suite", None, {"label": ("label", "tags", "metadata.label")}),
    "label alone is the class": ("case_id,label", "suite", None, {}),
    "label where tags are known": ("case_id,question,label,tags", "suite", None, {}),
    "label, the task is known": ("case_id,question,label", "suite", "classification", {}),
    "labels": ("case_id,question,expected,labels", "suite", None, {"labels": ("labels", "tags", "label", "metadata.labels")}),
    "answer in a suite without expected ones": ("id,question,answer", "suite", None, {"answer": ("expected_answers", "metadata.answer")}),
    "answer in a suite with expected ones": ("id,question,answer,reference", "suite", None, {}),
    "answer beside a model's": ("question,answer,prediction", "combined", None, {"answer": ("expected_answers", "answer")}),
    "answer beside a model's, with expected ones": ("question,answer,prediction,expected", "combined", None, {}),
    "answer beside a model's, in outputs": ("case_id,answer,prediction", "outputs", None, {}),
    "two predicted classes": ("case_id,label,prediction", "outputs", "classification", {"label": ("predicted_label", "metadata.label")}),
}  # fmt: skip


@pytest.mark.parametrize(("name", "folded"), FOLDED.items(), ids=FOLDED.keys())
def test_fold(name, folded):
    assert fold(name) == folded


@pytest.mark.parametrize(("header", "role", "mapping"), TOOLS.values(), ids=TOOLS.keys())
def test_tools(header, role, mapping):
    columns = header.split(",")
    assert guess_role(columns) == role
    resolved = resolve(columns, role)
    assert resolved.columns == mapping
    assert not resolved.questions


@pytest.mark.parametrize(("header", "role", "task", "asked"), ASKED.values(), ids=ASKED.keys())
def test_asked(header, role, task, asked):
    resolved = resolve(header.split(","), role, task)
    assert {question.column: question.choices for question in resolved.questions} == asked
    assert not set(asked) & set(resolved.columns.values())


@pytest.mark.parametrize("choice", ["retrieved_contexts", "reference_contexts", "metadata.context"])
def test_an_answer_settles_the_question(choice):
    resolved = resolve(["question", "answer", "context", "expected"], "combined", mapping={choice: "context"})
    assert not resolved.questions
    assert {**resolved.columns, **resolved.metadata}[choice] == "context"


def test_what_the_other_file_and_the_task_settle():
    resolved = resolve(["id", "question", "context"], "suite", mapping={"retrieved_contexts": "context"})
    assert not resolved.questions
    assert resolved.ignored == ("context",)
    assert resolve(["case_id", "question", "label"], "suite", "text").columns["tags"] == "label"
    assert resolve(["case_id", "answer"], "outputs", mapping={"case_id": "qid"}).columns["case_id"] == "case_id"


def test_the_users_mapping_goes_first():
    resolved = resolve(
        ["id", "Prompt", "question", "note"], "suite", mapping={"question": "prompt", "metadata.q": "question"}
    )
    assert resolved.columns == {"case_id": "id", "question": "Prompt"}
    assert resolved.metadata == {"metadata.q": "question"}
    assert resolved.unmapped == ("note",)


def test_wrong_mappings_are_listed():
    problems = Problems()
    resolve(
        ["id", "question"],
        "suite",
        mapping={"questoin": "question", "expected_answers": "gold"},
        problems=problems,
        file="s.csv",
    )
    assert [str(problem)[:50] for problem in problems.listed] == [
        "s.csv: found a mapping for 'questoin'; expected one of case_id, question, expected_answers"[:50],
        "s.csv: found no column 'gold' for expected_answers; expected one of id, question"[:50],
    ]


@pytest.mark.parametrize(("read", "header", "proposal"), [
    (suite_from_frame, ["question", "réponse_attendue"], "expected_answers=réponse_attendue"),
    (suite_from_frame, ["question", "erwartete_antwort", "expected_answer"], ""),
    (suite_from_frame, ["question", "antwort"], ""),  # an answer is no part of a suite
    (partial(outputs_from_frame, suite=SUITE), ["case_id", "answer", "contexte"], "retrieved_contexts=contexte"),
    (partial(outputs_from_frame, suite=SUITE), ["case_id", "answer", "antwort"], ""),
])  # fmt: skip
def test_metadata_that_another_language_names_like_a_field_is_proposed(read, header, proposal):
    receipt = read(pd.DataFrame([["1"] * len(header)], columns=header)).receipt
    said = [line.meaning.partition("; perhaps ")[2] for line in receipt if "perhaps" in line.meaning]
    assert said == ([f"{proposal}: map the column so"] if proposal else [])
