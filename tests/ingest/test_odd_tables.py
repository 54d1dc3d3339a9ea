"""Tables as people save and print them: titles, totals, merged cells, comments, wrong quotes; each kind has a case."""
# ruff: noqa: E501 - a table reads better with one line an input

import io
import json
from collections.abc import Callable
from typing import Any

import pytest
from openpyxl import Workbook
from openpyxl.worksheet.worksheet import Worksheet

from metrics.ingest import load_combined, read_combined, read_outputs, read_suite
from tests.ingest.files import read_refusal, write

HEADER = ["case_id", "question", "expected", "answer"]
HEAD, ROWS = ",".join(HEADER) + "\n", "7,q,a,a\n8,r,b,c\n"
RECORDS = [{"case_id": "7", "question": "q", "expected": "a", "answer": "a"},
           {"case_id": "8", "question": "r", "expected": "b", "answer": "c"}]  # fmt: skip
TEXT = json.dumps(RECORDS, indent=1)
CASES = [("7", "q", ["a"]), ("8", "r", ["b"])]


def book(*rows: list[Any], change: Callable[[Worksheet], object] = lambda _: None) -> bytes:
    """Return a workbook of one sheet with these rows."""
    made = Workbook()
    assert isinstance(made.active, Worksheet)
    for row in rows:
        made.active.append(row)
    change(made.active)
    file = io.BytesIO()
    made.save(file)
    return file.getvalue()


DATA = [HEADER, *(list(record.values()) for record in RECORDS)]
READ = {  # a file of the two cases and their answers → its name, its content, what its receipt or its notes say
    "a title": ("t.csv", "Results of May\n" + HEAD + ROWS, "lines above the header (1) is not used"),
    "a title in a row of cells": ("t.csv", "Results,,,\n,,,\n" + HEAD + ROWS, "lines above the header (2) is not used"),
    "comments above": ("t.csv", "# by a tool, in May\n" + HEAD + ROWS, "such as '# by a tool, in May'"),
    "a total": ("t.csv", HEAD + ROWS + "Total,,,\n", "rows at the end (1) is not used: they sum the others up, such as 'Total'"),
    "totals": ("t.csv", "score," + HEAD + "1,7,q,a,a\n0,8,r,b,c\n1,Sum:,,,\n.5,Average,,,\n", ""),
    "totals beside numbers": ("t.csv", HEAD.strip() + ",cost\n7,q,a,a,1\n8,r,b,c,2\nTotal (2),,,,3\n", "rows at the end (1)"),
    "names with characters without width": ("t.csv", "\ufeff\ufeff\u200b" + HEAD + ROWS, ""),
    "signs of Windows alone": ("t.csv", (HEAD + ROWS.replace("q", "“q” – 5 €")).encode("cp1252"), "Windows-1252"),
    "a title in Excel": ("t.xlsx", book(["Results of May"], [], *DATA), "rows above the header (1) is not used"),
    "a total in Excel": ("t.xlsx", book(*DATA, ["Total"]), "they sum the others up"),
    "comments in JSON": ("t.json", "// of May\n" + TEXT.replace("[", "[ /* two, */", 1), "comments, and commas"),
    "last commas in JSON": ("t.json", TEXT.replace('"a"\n', '"a",\n').replace("}\n]", "},\n]"), "comments, and commas"),
    "columns in a wrapper": ("t.json", {"data": {name: [record[name] for record in RECORDS] for name in HEADER}}, ""),
    "a line about the file": ("t.jsonl", [{"version": 1, "by": "us"}, *RECORDS], "rows (1) is not used: no column says anything of a case"),
}  # fmt: skip


@pytest.mark.parametrize(("name", "content", "said"), READ.values(), ids=READ)
def test_what_stands_around_a_table_is_no_case(tmp_path, name, content, said):
    loaded = load_combined(write(tmp_path, name, content))
    suite, outputs = loaded.value
    asked = [
        (row["case_id"], row["question"].strip("“” –5€").replace("5", ""), row["expected_answers"])
        for row in suite.cases.to_pylist()
    ]
    assert asked == CASES
    assert outputs.outputs["answer"].to_pylist() == ["a", "c"]
    assert said in "\n".join([*map(str, suite.receipt), *loaded.notes])


KEPT = {  # rows that look like sums, and are cases
    "an answer": HEAD + "7,q,a,a\nTotal,How many?,b,c\n",
    "not at the end": HEAD + "Total,,,\n7,q,a,a\n",
    "a table of one column": "question\nq\nTotal\n",
    "another word": HEAD + "7,q,a,a\nTotality,,,\n",
    "an id": HEAD + "7,q,a,a\nmean-2,,,\n",
}


@pytest.mark.parametrize("content", KEPT.values(), ids=KEPT)
def test_a_case_that_is_called_total(tmp_path, content):
    assert len(read_suite(write(tmp_path, "s.csv", content)).cases) == 2


def test_a_first_row_is_the_header_where_nothing_says_otherwise(tmp_path):
    path = write(tmp_path, "s.csv", 'question\n"Tell me, answer"\n"label, question"\n')
    assert read_suite(path).cases["question"].to_pylist() == ["Tell me, answer", "label, question"]
    path = write(tmp_path, "t.csv", '"case\nid",question,"expected,\nby us"\n7,q,a\n')
    assert read_suite(path).cases["case_id"].to_pylist() == ["7"]


QUOTES = {  # a table whose quotes do not fit → the row that is named
    "two open quotes": (HEAD + '1,"q,a,a\n2,"r,b,b\n3,s,c,c\n', "t.csv, row 2: found a quote that closes before r,b,b"),
    "with a backslash": (HEAD + '1,q,a,a\n2,"say \\"hi\\"",b,b\n', "t.csv, row 3: found a quote that closes before hi"),
    "other marks": ('case_id;question;expected;answer\n1;"q" x;a;a\n2;"r"s;b;b\n', "t.csv, row 3: found a quote that closes before s"),
    "over a line, before a space": ('case_id,question\n1,"q a\n2," r b\n', "t.csv, row 2: found a quote that closes before r b; expected the end of the cell behind it (a quote inside a quoted cell is written \"\""),
    "in Markdown": ("| case_id | question |\n|---|:-:|\n| 1 | q |\n", "t.csv, row 2: found a table in Markdown"),
}  # fmt: skip


@pytest.mark.parametrize(("content", "text"), QUOTES.values(), ids=QUOTES)
def test_cells_that_nothing_separates_are_refused(tmp_path, content, text):
    assert read_refusal(read_combined, write(tmp_path, "t.csv", content)).startswith(text)


WITHIN = {  # a cell → its text
    '5" pipe': '5" pipe', 'he said "no"': 'he said "no"', 'he said "no" twice': 'he said "no" twice', '5"': '5"',
    'x ""y"" z': 'x ""y"" z', '"say ""x"""': 'say "x"', '"""x"""': '"x"', '"a,\nb"': "a,\nb", '"a\nb" ': "a\nb ", '"a" b': "a b",
}  # fmt: skip


@pytest.mark.parametrize("mark", [",", ";", "\t"])
@pytest.mark.parametrize(("cell", "text"), WITHIN.items(), ids=WITHIN)
def test_quotes_within_cells_are_text(tmp_path, cell, text, mark):
    """In the middle and at the end of a row, and of the file."""
    rows = [
        ["case_id", "question", "expected"],
        ["1", cell, cell],
        ["2", "", cell],
        ["3", cell, '""'],
        ["4", "q", cell],
    ]
    path = write(tmp_path, "t.csv", "\n".join(mark.join(row) for row in rows))
    suite = read_suite(path)
    assert suite.cases["question"].to_pylist() == [text, None, text, "q"]
    assert suite.cases["expected_answers"].to_pylist() == [[text], [text], None, [text]]


def test_merged_cells_have_their_value_in_each_row(tmp_path):
    suite = read_suite(write(tmp_path, "s.csv", "case_id,question,expected\n1,q,a\n2,r,c\n"))
    merged = book(["case_id", "model", "answer"], ["1", "m", "a"], [None, "n", "b"], ["2", "m", "c"], change=lambda sheet: sheet.merge_cells("A2:A3"))  # fmt: skip
    outputs = read_outputs(write(tmp_path, "o.xlsx", merged), suite=suite).outputs.to_pylist()
    assert [(row["case_id"], row["model"], row["answer"]) for row in outputs] == [
        ("1", "m", "a"),
        ("1", "n", "b"),
        ("2", "m", "c"),
    ]


def test_a_sheet_of_notes_is_not_read(tmp_path):
    made = Workbook()
    table = made.create_sheet("Data")
    for sheet, rows in ((made["Sheet"], [["About this file"], ["made by us"]]), (table, DATA)):
        for row in rows:
            sheet.append(row)
    made.save(tmp_path / "t.xlsx")
    loaded = load_combined(tmp_path / "t.xlsx")
    assert len(loaded.value[0].cases) == 2
    assert loaded.notes == ("t.xlsx: sheet Data was read, not Sheet.",)


def test_several_texts_of_objects_are_several_answers(tmp_path):
    record = {"question": "q", "expected": [{"text": "a"}, {"text": "b"}]}
    assert read_suite(write(tmp_path, "s.json", [record])).cases["expected_answers"].to_pylist() == [["a", "b"]]


@pytest.mark.parametrize("content", [{"7": "a", "8": ""}, {"answer": {"x7": "a", "x8": "c"}, "sp": {"x7": [], "x8": [["T", 0]]}}])  # fmt: skip
def test_answers_by_case(tmp_path, content):
    """The predictions of SQuAD, and those of HotpotQA."""
    ids = list(content if "7" in content else content["answer"])
    suite = read_suite(
        write(tmp_path, "s.jsonl", [{"id": name, "question": "q" + name, "expected": "a"} for name in ids])
    )
    outputs = read_outputs(write(tmp_path, "o.json", content), suite=suite).outputs.to_pylist()
    assert [row["case_id"] for row in outputs] == ids
    assert outputs[0]["answer"] == "a"
