"""A suite as a file, read back."""

import json

import pytest

from metrics.core.errors import InputError
from metrics.core.suite import Suite
from metrics.ingest import read_outputs, read_suite
from metrics.suites import suite_bytes, write_suite
from tests.suites.suite_scenes import suite

TRICKY = [
    {"case_id": "007", "question": "=1+1; NA, “quoted”\nand, a comma", "expected_answers": ["NA", "a;b", "[1]"]},
    {"case_id": "NA", "question": "😀 e\u0301 हिन्दी", "tags": ["x", "y z"], "weight": 0.25, "Own Column": "1.0"},
    {"case_id": "8", "conditions": '"a" AND NOT "b"', "source_text": " spaces ", "group": "g"},
]


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
@pytest.mark.parametrize("rows", [None, TRICKY], ids=["plain", "tricky"])
def test_jsonl_and_parquet_are_exact(tmp_path, kind, rows):
    made = suite() if rows is None else suite(rows)
    write_suite(made, tmp_path / f"suite.{kind.upper()}")
    assert read_suite(tmp_path / f"suite.{kind.upper()}").fingerprint == made.fingerprint


@pytest.mark.attack(
    "suite author", "a question that a spreadsheet would run as a formula", "cells of CSV files are neutralised"
)
def test_csv_keeps_lists_and_disarms_formulas(tmp_path):
    write_suite(suite(TRICKY), tmp_path / "suite.csv")
    back = {row["case_id"]: row for row in read_suite(tmp_path / "suite.csv").cases.to_pylist()}
    assert back["007"]["question"] == "'" + TRICKY[0]["question"]
    assert back["007"]["expected_answers"] == ["NA", "a;b", "[1]"]
    assert (back["NA"]["tags"], back["NA"]["weight"]) == (["x", "y z"], 0.25)
    assert back["NA"]["metadata.Own Column"] == "1.0"


@pytest.mark.parametrize("kind", ["jsonl", "csv", "parquet"])
@pytest.mark.parametrize("name", ["contexts", "Retrieved Contexts", "retrievalContext", "passages"])
def test_contexts_that_serve_every_model_do_so_again(tmp_path, kind, name):
    (tmp_path / "in.json").write_text(json.dumps([{"case_id": "a", "question": "q", name: ["One.", "Two."]}]))
    (tmp_path / "outputs.json").write_text(json.dumps([{"case_id": "a", "model": "m", "answer": "yes"}]))
    read = read_suite(tmp_path / "in.json")
    write_suite(read, tmp_path / f"suite.{kind}")
    back = read_suite(tmp_path / f"suite.{kind}")
    assert back.fingerprint == read.fingerprint
    used = [{line.place for line in each.receipt if line.use == "used"} for each in (read, back)]
    assert used[0] == used[1]
    assert name in used[0]
    outputs = read_outputs(tmp_path / "outputs.json", suite=back)
    assert outputs.outputs["retrieved_contexts"].to_pylist() == [["One.", "Two."]]


def test_empty_columns_are_left_out_and_what_cannot_be_written_says_so(tmp_path):
    assert suite_bytes(suite([{"case_id": "a", "question": "q"}]), "jsonl") == b'{"case_id": "a", "question": "q"}\n'
    with pytest.raises(InputError, match=r"suite\.xlsx: found the ending 'xlsx'; expected one of jsonl, csv, parquet"):
        write_suite(suite(), tmp_path / "suite.xlsx")
    with pytest.raises(InputError, match="cats: found a suite of task detection; expected cases with text"):
        suite_bytes(Suite.from_rows("cats", "detection", [{"case_id": "a"}], []), "jsonl")
    with pytest.raises(InputError, match="format: found 'yaml'"):
        suite_bytes(suite(), "yaml")


@pytest.mark.parametrize("kind", ["jsonl", "csv", "parquet"])
@pytest.mark.parametrize("text", ["plain", "a; b", "[1, 2]", "[1", "['a']", '{"page_content": "x"}', '["a","b"]'])
def test_other_texts_of_that_name_are_the_same_again(tmp_path, kind, text):
    row = {"case_id": "a", "question": "q", "metadata.retrieved_passages": text, "metadata.note": text}
    (tmp_path / "in.json").write_text(json.dumps([row]))
    read = read_suite(tmp_path / "in.json")
    write_suite(read, tmp_path / f"suite.{kind}")
    back = read_suite(tmp_path / f"suite.{kind}")
    assert back.fingerprint == read.fingerprint
    assert back.cases["metadata.retrieved_passages"].to_pylist() == [text]
