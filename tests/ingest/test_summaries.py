"""Files of summaries: the source text, the summary and the expected one are recognised at every door, and no more."""

import json

import pandas as pd
import pytest

from metrics import evaluate
from metrics.core.errors import InputError
from metrics.core.suite import Outputs, Suite
from metrics.engine.evaluation import EvaluationInCode
from metrics.ingest import inspect, load_joined, read_suite
from metrics.ingest.load import combined_from_frame
from metrics.ingest.tables.columns import guess_role, resolve
from metrics.library.input_data import read_data
from metrics.store import Workspace
from tests.engine.engine_scenes import finished
from tests.ingest.files import write

SOURCE, SUMMARY = "It rained for a week. The bridge was closed.", "Rain closed the bridge."


@pytest.mark.parametrize(("columns", "role", "expected"), [
    ("text summary", "combined", {"source_text": "text", "answer": "summary"}),
    ("document summary", "combined", {"source_text": "document", "answer": "summary"}),
    ("id dialogue summary model", "combined",
     {"case_id": "id", "source_text": "dialogue", "answer": "summary", "model": "model"}),
    ("Article Summary", "combined", {"source_text": "Article", "answer": "Summary"}),
    ("title text summary", "combined", {"source_text": "text", "answer": "summary"}),
    ("inputs.document outputs.summary", "combined", {"source_text": "inputs.document"}),
    ("article highlights", "suite", {"source_text": "article", "expected_answers": "highlights"}),
    ("article highlights summary", "combined",
     {"source_text": "article", "expected_answers": "highlights", "answer": "summary"}),
    ("source reference_summary generated_summary", "combined",
     {"source_text": "source", "expected_answers": "reference_summary", "answer": "generated_summary"}),
    ("document summary answer", "combined",
     {"source_text": "document", "expected_answers": "summary", "answer": "answer"}),
    ("text label", "suite", {"label": "label"}),
    ("text summary label", "suite", {"label": "label"}),
    ("question text summary", "suite", {"question": "question"}),
    ("question document summary", "combined",
     {"question": "question", "source_text": "document", "answer": "summary"}),
    ("document question answer", "combined", {"question": "question", "answer": "answer"}),
    ("question answer summary", "combined", {"question": "question", "answer": "answer"}),
    ("text", "suite", {}), ("text answer", "outputs", {"answer": "answer"}),
], ids=lambda value: value if isinstance(value, str) else "")  # fmt: skip
def test_what_columns_are(columns: str, role: str, expected: dict[str, str]) -> None:
    assert guess_role(columns.split()) == role
    assert resolve(columns.split(), role).columns == expected


ROWS = [{"document": f"{SOURCE} {place}", "summary": f"{SUMMARY} {place}"} for place in range(2)]
FILES = {
    "s.csv": pd.DataFrame(ROWS).to_csv(index=False),
    "s.jsonl": "".join(json.dumps(row) + "\n" for row in ROWS),
    "s.json": json.dumps(ROWS),
}


def held(pair: tuple[Suite, Outputs]) -> list[tuple[str, str]]:
    suite, outputs = pair
    return list(zip(suite.cases["source_text"].to_pylist(), outputs.outputs["answer"].to_pylist(), strict=True))


@pytest.mark.parametrize("name", FILES)
def test_a_file_alone_is_suite_and_outputs(tmp_path, name):
    path = write(tmp_path, name, FILES[name])
    expected = [(row["document"], row["summary"]) for row in ROWS]
    data = read_data(EvaluationInCode(suite=str(path)))
    assert held((data.suite, data.outputs)) == expected
    assert held(load_joined([path]).value) == expected
    assert held(combined_from_frame(pd.DataFrame(ROWS)).value) == expected


def test_columns_of_models_are_answers_and_the_summary_is_expected(tmp_path):
    path = write(tmp_path, "s.csv", "article,summary,gpt-4o,llama-3\nA b.,c,d,e\n")
    data = read_data(EvaluationInCode(suite=str(path)))
    assert data.suite.cases["source_text"].to_pylist() == ["A b."]
    assert data.suite.cases["expected_answers"].to_pylist() == [["c"]]
    assert sorted(zip(*(data.outputs.outputs[name].to_pylist() for name in ("model", "answer")), strict=True)) == [
        ("gpt-4o", "d"), ("llama-3", "e"),
    ]  # fmt: skip


def test_beside_a_file_of_outputs_it_is_asked_whose_the_summary_is(tmp_path):
    path = write(tmp_path, "s.csv", "id,document,summary\n1,A b.,c\n")
    (question,) = inspect(path, "suite").questions
    assert (question.column, question.choices) == ("summary", ("expected_answers", "metadata.summary"))
    with pytest.raises(InputError, match="summary"):
        read_suite(path)
    assert read_suite(path, mapping={"expected_answers": "summary"}).cases["expected_answers"].to_pylist() == [["c"]]


def test_a_question_is_the_source_where_no_case_has_one(workspace, judge_server, caplog):
    """Valor's Datum.text and Prediction.text."""
    judge_server.say("summary_coherence", lambda request: {"coherence": 5 if request.data["SOURCE"] == SOURCE else 1})
    suite = Suite.from_rows("s", "text", [{"case_id": "1", "question": SOURCE}])
    outputs = Outputs.from_rows([{"case_id": "1", "model": "m", "answer": SUMMARY}])
    judge = {"model": "m", "base_url": judge_server.url}
    with caplog.at_level("INFO"):
        run = evaluate(suite, outputs, ["summary_coherence"], judge=judge)
    assert run.scores["value"].tolist() == [5.0]
    note = "no case has a source text: summary_coherence will read the question as the source"
    assert note in caplog.text
    assert run.suite.cases["source_text"].to_pylist() == [None], "what is stored is what was given"


def test_a_question_is_no_source_beside_other_sources(workspace, judge_server):
    judge_server.say("summary_coherence", {"coherence": 5})
    rows = [{"case_id": "1", "question": "?", "source_text": SOURCE}, {"case_id": "2", "question": SOURCE}]
    outputs = Outputs.from_rows([{"case_id": str(n), "model": "m", "answer": SUMMARY} for n in (1, 2)])
    run = finished(
        Workspace(), Suite.from_rows("s", "text", rows), outputs, "summary_coherence",
        resources={"judge": {"model": "m", "base_url": judge_server.url}},
    )  # fmt: skip
    assert run.scores["status"].tolist() == ["ok", "not_applicable"]
