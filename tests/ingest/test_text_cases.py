"""Text suites and outputs from CSV, JSONL, JSON and Parquet: what becomes of the values, and every problem with its text."""
# ruff: noqa: E501 - a table reads better with one line a case

import json
import math

import pytest

from metrics.core.errors import InputError
from metrics.core.suite import Suite
from metrics.ingest import load_combined, load_outputs, read_combined, read_outputs, read_suite, suite_from_frame
from tests.ingest.files import list_problems, write

ROWS = [
    {"case_id": "007", "question": "Q1?", "expected_answers": ["a", "b"], "tags": ["x"]},
    {"case_id": "NA", "question": " Q2 ", "expected_answers": ["None"], "tags": None},
]
SAME = {
    "csv": ("s.csv", 'case_id,question,expected_answers,tags\n007,Q1?,"[""a"", ""b""]",x\nNA, Q2 ,None,\n'),
    "csv, CRLF, BOM": ("s.csv", b"\xef\xbb\xbf" + b'case_id,question,expected_answers,tags\r\n007,Q1?,"[\'a\', \'b\']",x\r\nNA, Q2 ,None,\r\n'),
    "tsv": ("s.tsv", 'case_id\tquestion\texpected_answers\ttags\n007\tQ1?\t"[""a"", ""b""]"\tx\nNA\t Q2 \tNone\t\n'),
    "semicolon CSV": ("s.csv", 'case_id;question;expected_answers;tags\n007;Q1?;"[""a"", ""b""]";x\nNA; Q2 ;None;\n'),
    "numbered columns": ("s.csv", "case_id,question,expected_answer_1,expected_answer_2,tags\n007,Q1?,a,b,x\nNA, Q2 ,None,,\n"),
    "utf-16": ("s.csv", 'case_id,question,expected_answers,tags\n007,Q1?,"[""a"", ""b""]",x\nNA, Q2 ,None,\n'.encode("utf-16")),
    "wrong extension": ("s.parquet", 'case_id,question,expected_answers,tags\n007,Q1?,"[""a"", ""b""]",x\nNA, Q2 ,None,\n'),
    "blank lines": ("s.csv", '\n\ncase_id,question,expected_answers,tags\n007,Q1?,"[""a"", ""b""]",x\n\nNA, Q2 ,None,\n,,,\n'),
    "jsonl": ("s.jsonl", ROWS),
    "json": ("s.json", ROWS),
    "json in an object": ("s.json", {"name": "mine", "cases": ROWS}),
    "parquet": ("s.parquet", ROWS),
}  # fmt: skip


@pytest.mark.parametrize(("name", "content"), SAME.values(), ids=SAME.keys())
def test_every_format_gives_the_same_suite(tmp_path, name, content):
    suite = read_suite(write(tmp_path, name, content))
    picked = suite.cases.select(["case_id", "question", "expected_answers", "tags"]).to_pylist()
    assert picked == ROWS
    assert (suite.task, suite.name, suite.left_out, suite.media) == ("text", "s", 0, None)


def test_other_columns_semicolons_and_json_values(tmp_path):
    suite = read_suite(write(tmp_path, "s.csv", "question,Source Page,model\nq1,3,m\nq2,,m\n"))
    assert suite.cases["case_id"].to_pylist() == ["1", "2"]
    assert suite.cases["metadata.Source Page"].to_pylist() == ["3", None]
    assert "metadata.model" not in suite.cases.column_names
    content = "case_id,question,expected_answer,tags,ground_truth_contexts\n1,q,yes; really,a; b,c1;c2\n"
    case = read_suite(write(tmp_path, "s.csv", content)).cases.to_pylist()[0]
    assert (case["expected_answers"], case["tags"]) == (["yes; really"], ["a", "b"])
    assert case["reference_contexts"] == ["c1", "c2"]
    rows = [{"case_id": 1, "question": "", "tags": "a;b", "nested": {"deep": {"x": 1.5, "y": [1, None]}}, "flag": True}]
    case = read_suite(write(tmp_path, "s.jsonl", rows)).cases.to_pylist()[0]
    assert (case["case_id"], case["question"], case["tags"]) == ("1", None, ["a", "b"])
    assert (case["metadata.nested.deep.x"], case["metadata.nested.deep.y"]) == ("1.5", '["1",null]')
    assert case["metadata.flag"] == "true"


def suite_of(*ids: str) -> Suite:
    return Suite.from_rows("s", "text", [{"case_id": case, "question": "q"} for case in ids])


def test_outputs_of_many_models_and_files(tmp_path):
    one = write(tmp_path, "gpt.csv", "id,output,latency_ms,cost\n1,a,1500,0.25\n2,b,,\n")
    two = write(tmp_path, "x.jsonl", [{"case_id": 1, "model": "m2", "run": 2, "response": "c", "contexts": ["k"]}])
    three = write(tmp_path, "0f3a", "case_id,answer\n1,d\n")
    loaded = load_outputs(
        [one, two, three], suite=suite_of("1", "2", "3"), model_names={three: "mine"}, filenames={three: "m3.csv"}
    )
    rows = loaded.value.outputs.select(
        ["case_id", "model", "run", "answer", "retrieved_contexts", "duration_s", "cost_usd"]
    ).to_pylist()
    assert [tuple(row.values()) for row in rows] == [
        ("1", "gpt", 1, "a", None, 1.5, 0.25), ("2", "gpt", 1, "b", None, None, None),
        ("1", "m2", 2, "c", ["k"], None, None), ("1", "mine", 1, "d", None, None, None),
    ]  # fmt: skip
    assert loaded.value.models == ("gpt", "m2", "mine")
    assert loaded.missing == 5


def test_combined(tmp_path):
    content = (
        "case_id,question,expected,model,answer,topic,note\n1,q1,e1,a,x,t1,n1\n1,q1,e1,b,y,t1,n2\n2,q2,e2,a,z,t2,n3\n"
    )
    suite, outputs = read_combined(write(tmp_path, "c.csv", content))
    assert suite.cases.select(["case_id", "question", "expected_answers", "metadata.topic"]).to_pylist() == [
        {"case_id": "1", "question": "q1", "expected_answers": ["e1"], "metadata.topic": "t1"},
        {"case_id": "2", "question": "q2", "expected_answers": ["e2"], "metadata.topic": "t2"},
    ]
    assert outputs.outputs.select(["case_id", "model", "answer", "metadata.note"]).to_pylist() == [
        {"case_id": "1", "model": "a", "answer": "x", "metadata.note": "n1"},
        {"case_id": "1", "model": "b", "answer": "y", "metadata.note": "n2"},
        {"case_id": "2", "model": "a", "answer": "z", "metadata.note": "n3"},
    ]
    assert load_combined(tmp_path / "c.csv").missing == 1


def test_rows_without_an_id(tmp_path):
    path = write(tmp_path, "c.csv", "id,question,answer\n1,q1,a\n,q2,b\n,q3,c\n")
    with pytest.raises(InputError, match=r"^c\.csv, column id, 2 rows: found nothing \(2 rows, first 3\)[^\n]*$"):
        read_combined(path)
    content = "question,answer,contexts,ground_truth,model\nq1,a,c,g,m1\nq2,b,c,g,m1\nq1,c,c,g,m2\n"
    suite, outputs = read_combined(write(tmp_path, "r.csv", content))
    assert suite.cases["case_id"].to_pylist() == ["1", "2"]
    assert outputs.outputs["case_id"].to_pylist() == ["1", "2", "1"]


TRACKS = "found tracks of objects through the frames of a video (MOT); expected one image a frame, with a table of image, label and box: tracking through video is not evaluated"
SUITE_PROBLEMS = {
    "missing id": ("s.csv", "case_id,question\n1,a\n,b\n", ["s.csv, row 3, column case_id: found nothing; expected a case id"]),
    "blank id": ("s.csv", "case_id,question\n  ,b\n", ["s.csv, row 2, column case_id: found '  '; expected a case id"]),
    "duplicate id": ("s.csv", "case_id,question\n1,a\n2,b\n1,c\n",
                     ["s.csv, row 4, column case_id: found '1' again, first in row 2; expected every case once (several models' answers: a file of outputs, or one combined file)"]),
    "weights": ("s.csv", "case_id,question,weight\n1,a,x\n2,b,-1\n3,c,nan\n4,d,inf\n5,e,1e400\n6,f, 2 \n",
                ["s.csv, row 2, column weight: found 'x'; expected a number", "s.csv, row 3, column weight: found '-1'; expected a number of at least 0",
                 "s.csv, row 4, column weight: found 'nan'; expected a finite number", "s.csv, row 5, column weight: found 'inf'; expected a finite number",
                 "s.csv, row 6, column weight: found '1e400'; expected a finite number"]),
    "ragged rows": ("s.csv", "case_id,question\n1,a\n2\n3,b,c\n4,d\n",
                    ["s.csv, row 3: found 1 cells; expected 2 cells, one for each column", "s.csv, row 4: found 3 cells; expected 2 cells, one for each column"]),
    "quoted line breaks count as one row": ("s.csv", 'case_id,question\n1,"a\nb"\n,c\n', ["s.csv, row 3, column case_id: found nothing; expected a case id"]),
    "open quote": ("s.csv", 'case_id,question\n1,a\n2,"b\n3,c\n', ["s.csv, row 3: found a quote that opens and never closes: \"b\\n3,c\\n; expected a closing quote (a quote inside a quoted cell is written \"\")"]),
    "duplicate header": ("s.csv", "case_id,q,q\n1,a,b\n", ["s.csv, row 1, column q: found the name 'q' again in column 3, first in column 2; expected a different name for each column"]),
    "NUL": ("s.csv", "case_id,question\n1,a\0b\n", ["s.csv, row 2, column question: found a NUL byte; expected text"]),
    "empty": ("s.csv", "", ["s.csv: found an empty file; expected a CSV, JSONL, JSON, YAML, Parquet, Arrow or Excel file"]),
    "blank": ("s.csv", " \n\n ", ["s.csv: found a file with only whitespace; expected a CSV, JSONL, JSON, YAML, Parquet, Arrow or Excel file"]),
    "header only": ("s.csv", "case_id,question\n", ["s.csv: found no rows of data; expected at least one row below the header"]),
    "zip": ("s.csv", b"PK\x03\x04abc", ["s.csv: found a damaged zip archive or Office document; expected a CSV, JSONL, JSON, YAML, Parquet, Arrow or Excel file"]),
    "pickle": ("s.csv", b"\x80\x04\x95abc", ["s.csv: found a Python pickle (never read: it can run code); expected a CSV, JSONL, JSON, YAML, Parquet, Arrow or Excel file"]),
    "cut list": ("s.csv", 'case_id,question,tags\n1,a,"[""x"", ""y"\n', ["s.csv, row 2, column tags: found '[\"x\", \"y'; expected a list such as [\"a\", \"b\"], closed and without null"]),
    "code": ("s.csv", "case_id,question,expected\n1,a,javascript:output.length\n2,b,file://x\n3,c,python: x\n4,python is nice,d\n",
             ["s.csv, row 2, column expected: found 'javascript:output.length'; expected plain text: cells that begin with javascript: are code and are refused",
              "s.csv, row 3, column expected: found 'file://x'; expected plain text: cells that begin with file:// are code and are refused",
              "s.csv, row 4, column expected: found 'python: x'; expected plain text: cells that begin with python: are code and are refused"]),
    "promptfoo code in any column": ("s.csv", "question,__expected,topic\nq,a,javascript:1\n",
                                     ["s.csv, row 2, column topic: found 'javascript:1'; expected plain text: cells that begin with javascript: are code and are refused"]),
    "variant of nothing": ("s.csv", "case_id,question,perturbs\n1,a,\n2,b,1\n3,c,9\n", ["s.csv, row 4, column perturbs: found '9'; expected the case_id of a case in this file"]),
    "context": ("s.csv", "case_id,question,context\n1,a,b\n",
                ["s.csv, row 1, column context: found a name that means different things in different tools; expected a mapping that says which: "
                 "reference_contexts=context or metadata.context=context. DeepEval's context is the gold context, other tools' the retrieved one. Which is this?"]),
    "bad JSON lines": ("s.jsonl", '{"case_id": 1, "question": "a"}\n{"case_id": \n[1]\n\n{"case_id": 1, "question": "b"}\n',
                       ["s.jsonl, row 2: found unexpected end of data at character 13; expected an object such as {\"case_id\": \"1\", \"question\": \"…\"}",
                        "s.jsonl, row 3: found list [1]; expected an object such as {\"case_id\": \"1\", \"question\": \"…\"}",
                        "s.jsonl, row 5, column case_id: found '1' again, first in row 1; expected every case once (several models' answers: a file of outputs, or one combined file)"]),
    "cut JSON": ("s.json", '[{"case_id": 1}, {"case_', ["s.json, row 1: found unexpected end of data at line 1, character 25; expected a JSON document"]),
    "JSON of another kind": ("s.json", {"a": 1, "b": {}}, ["s.json: found an object with a, b; expected an array of objects, or an object with one under data, rows, records, examples, cases, test_cases, items, results, outputs, evals, samples, goldens, …"]),
    "deep JSON": ("s.json", "[" * 100_000, ["s.json: found JSON nested deeper than 1,024 levels; expected a JSON document"]),
    "nothing known": ("s.csv", "idx,result\n1,a\n", ["s.csv, row 1: found only the columns idx, result; expected one of the columns question, expected_answers, reference_contexts, conditions, json_schema, source_text, label, labels, true_value, reference_context_ids, choices, expected_calls, code_tests, attack_condition, criteria"]),
    "ground truth of MOT": ("gt.txt", "1,1,912,484,97,109,0,7,1\n2,1,912,484,97,109,0,7,0.9\n", [f"gt.txt: {TRACKS}"]),
    "detections of MOT": ("det.csv", "1, -1, 794.27, 247.59, 71.245, 174.88, 4.56, -1, -1, -1\n" * 3, [f"det.csv: {TRACKS}"]),
    "cut Parquet": ("s.parquet", b"PAR1abcdef", None),
}  # fmt: skip


@pytest.mark.parametrize(("name", "content", "texts"), SUITE_PROBLEMS.values(), ids=SUITE_PROBLEMS.keys())
def test_suite_problems(tmp_path, name, content, texts):
    with pytest.raises(InputError) as caught:
        read_suite(write(tmp_path, name, content))
    found = [str(problem) for problem in caught.value.problems]
    if texts is None:
        assert found
    else:
        assert found == texts


OUTPUT_PROBLEMS = {
    "unknown case": ("case_id,model,answer\n1,m,a\n9,m,b\n", ["o.csv, row 3, column case_id: found '9'; expected the id of a case of the suite"]),
    "twice": ("case_id,model,answer\n1,m,a\n1,m,b\n1,n,c\n",
              ["o.csv, row 3, column case_id: found case '1' of model 'm' again, first in row 2; expected one answer per case, model and run (repeats: a column run)"]),
    "no id": ("question,answer\nq,a\n", ["o.csv, row 1: found no column with the case ids, only the columns question, answer; expected a column case_id, id, key, query_id, example_id, task_id, test_idx"]),
    "no answer": ("case_id,model\n1,m\n", ["o.csv, row 1: found no column with the model's answers, only the columns case_id, model; expected a column answer, output, response, … or retrieved_contexts"]),
    "numbers": ("case_id,answer,run,tokens,latency\n1,a,0,-1,x\n2,a,1.5,1.5,-2\n",
                ["o.csv, row 2, column run: found '0'; expected a number from 1 to 2.14748e+09", "o.csv, row 2, column latency: found 'x'; expected a number",
                 "o.csv, row 2, column tokens: found '-1'; expected a number of at least 0",
                 "o.csv, row 3, column run: found '1.5'; expected a whole number", "o.csv, row 3, column latency: found '-2'; expected a number of at least 0",
                 "o.csv, row 3, column tokens: found '1.5'; expected a whole number"]),
    "no model": ("case_id,model,answer\n1,,a\n", ["o.csv, row 2, column model: found nothing; expected the name of the model"]),
    "passages that disagree": ("case_id,passage,answer\n1,p,a\n1,q,b\n", ["o.csv, row 3, column answer: found 'b', but 'a' in row 2; expected one answer for each case · model · run"]),
    "ids that fit no contexts": ("case_id,answer,contexts,context_ids\n1,a,x;y,p1\n2,b,x;y,p1;p1\n", ["o.csv, row 2, column context_ids: found 1 ids for 2 contexts; expected an id for each context, or none at all"]),
}  # fmt: skip


@pytest.mark.parametrize(("content", "texts"), OUTPUT_PROBLEMS.values(), ids=OUTPUT_PROBLEMS.keys())
def test_output_problems(tmp_path, content, texts):
    assert list_problems(read_outputs, write(tmp_path, "o.csv", content), suite=suite_of("1", "2")) == texts


def test_problems_of_all_files_at_once_and_conflicts_in_one(tmp_path):
    one = write(tmp_path, "a.csv", "case_id,answer\n1,x\n9,y\n")
    two = write(tmp_path, "b.csv", "")
    three = write(tmp_path, "c.csv", "case_id,model,answer\n1,a,again\n")
    with pytest.raises(InputError) as caught:
        read_outputs([one, two, three], suite=suite_of("1"))
    assert [(problem.file, problem.row) for problem in caught.value.problems] == [("a.csv", 3), ("b.csv", None)]
    with pytest.raises(
        InputError, match=r"c\.csv, row 2, column case_id: found case '1' of model 'a' again, first in a\.csv, row 2"
    ):
        read_outputs([one, three], suite=suite_of("1", "9"))
    path = write(tmp_path, "c.csv", "case_id,question,expected,model,answer\n1,q,e,a,x\n1,q,E,b,y\n1,q,e,a,z\n")
    with pytest.raises(InputError) as caught:
        read_combined(path)
    assert [(problem.row, problem.column, problem.found) for problem in caught.value.problems] == [
        (3, "expected_answers", "['E']"), (4, "case_id", "case '1' of model 'a' again, first in row 2"),
    ]  # fmt: skip


KEPT = "case_id,question,weight\n1,a,1\n,b,1\n2,c,x\n1,d,1\n3\n4,e,\n"


def test_good_rows_of_combined_files_can_be_kept(tmp_path):
    content = "case_id,question,model,answer,tokens\n1,q,a,x,no\n1,q,b,y,1\n2,q2,a,z,1\n2,other,b,z,1\n"
    loaded = load_combined(write(tmp_path, "c.csv", content), keep_good_rows=True)
    suite, outputs = loaded.value
    assert suite.cases["question"].to_pylist() == ["q", "q2"]
    assert outputs.outputs.select(["case_id", "model"]).to_pylist() == [
        {"case_id": "1", "model": "b"}, {"case_id": "2", "model": "a"},
    ]  # fmt: skip
    assert (suite.left_out, outputs.left_out) == (0, 2)  # each row once


def test_no_good_row_and_many_problems(tmp_path):
    with pytest.raises(InputError, match="no valid row"):
        read_suite(write(tmp_path, "s.csv", "case_id,question\n,a\n"), keep_good_rows=True)
    path = write(tmp_path, "s.csv", "case_id,question,weight\n" + "".join(f"{row},q,x\n" for row in range(3000)))
    with pytest.raises(InputError, match=r"column weight, 3,000 rows: found 'x' \(3,000 rows, first") as caught:
        read_suite(path)
    assert caught.value.problems[-1].found == "2,000 more rows like this, from row 1,002 on"


def test_huge_cells_are_listed(tmp_path, monkeypatch):
    from metrics.ingest.formats.delimited import read_delimited
    from metrics.ingest.source import Problems, open_source

    path = write(tmp_path, "s.csv", "case_id,question\n1," + "x" * 300_000 + "\n2,y\n")
    problems = Problems()
    monkeypatch.setattr("metrics.ingest.formats.delimited.FIELD_BYTES", 200_000)
    sheet = read_delimited(open_source(path), problems)
    assert sheet.bad.tolist() == [True, False]
    assert (
        str(problems.listed[0])
        == "s.csv, row 2, column question: found 300,000 bytes; expected cells of at most 200,000 bytes"
    )


LARGE = 2**128
NUMBERS = {"case_id": LARGE, "question": "q", "expected_answers": [LARGE + 1, -(2**64)], "note": LARGE + 2,
           "json_schema": {"const": LARGE + 3}, "deep": {"list": [LARGE + 4, {"x": LARGE + 5}]}}  # fmt: skip


@pytest.mark.parametrize("name", ["s.json", "s.jsonl", "s.yaml", "frame"])
def test_whole_numbers_of_any_size(tmp_path, name):
    rows = [NUMBERS, NUMBERS | {"case_id": LARGE + 1}]
    if name == "frame":
        suite = suite_from_frame(rows)
    else:
        suite = read_suite(write(tmp_path, name, json.dumps(rows) if name == "s.yaml" else rows))
    case, other = suite.cases.to_pylist()
    assert (case["case_id"], other["case_id"]) == (str(LARGE), str(LARGE + 1))
    assert (case["expected_answers"], case["metadata.note"]) == ([str(LARGE + 1), str(-(2**64))], str(LARGE + 2))
    assert [str(LARGE + 3) in case["json_schema"], str(LARGE + 5) in case["metadata.deep.list"]] == [True, True]


@pytest.mark.parametrize("name", ["s.json", "s.jsonl"])
def test_not_a_number_is_no_value(tmp_path, name):
    rows = [
        {
            "case_id": "1",
            "question": "q",
            "expected_answer": "e",
            "weight": math.nan,
            "note": math.nan,
            "latency": math.nan,
        }
    ]
    suite = read_suite(write(tmp_path, name, rows))
    case = suite.cases.to_pylist()[0]
    assert (case["weight"], case["metadata.note"]) == (None, None)
    answers = [{"case_id": "1", "answer": "a", "duration_s": math.nan, "tokens": 3, "retrieved_contexts": math.nan}]
    [row] = read_outputs(write(tmp_path, name, answers), suite=suite).outputs.to_pylist()
    assert (row["duration_s"], row["tokens"], row["retrieved_contexts"]) == (None, 3, None)
