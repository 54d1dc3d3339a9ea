"""Excel workbooks: what becomes of cells, which sheet is read, and what a hostile or damaged one says."""
# ruff: noqa: E501 - a table reads better with one line a case

import datetime as dt
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from openpyxl import Workbook, load_workbook

from metrics.core.errors import InputError
from metrics.core.receipt import by_file
from metrics.engine.evaluation import EvaluationInCode
from metrics.ingest import Reading, decoded_size, inspect, load_outputs, load_suite, read_combined, read_suite
from metrics.ingest.file_roles import assign_roles, see_file
from metrics.ingest.formats import workbook
from metrics.ingest.label_files import read_labels
from metrics.library.evaluate import as_evaluation
from metrics.library.input_data import read_data
from tests.ingest.files import packed, read_refusal, write

Sheets = Mapping[str, list[list[Any]]]
CASES = [["case_id", "question", "expected_answers", "tags"], ["007", "Q1?", '["a", "b"]', "x"], ["NA", " Q2 ", "None"]]
ANSWERS = [["case_id", "model", "answer"], ["007", "m", "a"], ["NA", "m", "b"]]


def book(path: Path, sheets: Sheets, change: Callable[[Workbook], None] = lambda _: None) -> Path:
    """A workbook of those sheets, as openpyxl writes it."""
    made = Workbook()
    made.remove(made.active)
    for name, rows in sheets.items():
        sheet = made.create_sheet(name)
        for row in rows:
            sheet.append(row)
    change(made)
    made.save(path)
    return path


def parts(path: Path, changed: Mapping[str, Callable[[bytes], bytes]]) -> Path:
    """The workbook with some parts of its zip changed."""
    with zipfile.ZipFile(path) as archive:
        content = {name: archive.read(name) for name in archive.namelist()}
    for name, change in changed.items():
        content[name] = change(content[name])
    return packed(path, content)


def column(path: Path, name: str = "metadata.v") -> list[Any]:
    return list(read_suite(path).cases[name].to_pylist())


def test_a_workbook_gives_the_suite_that_a_csv_gives(tmp_path):
    found = read_suite(book(tmp_path / "s.xlsx", {"Cases": CASES}))
    text = 'case_id,question,expected_answers,tags\n007,Q1?,"[""a"", ""b""]",x\nNA, Q2 ,None,\n'
    assert found.fingerprint == read_suite(write(tmp_path, "s.csv", text)).fingerprint
    assert found.cases["case_id"].to_pylist() == ["007", "NA"]


def padded(made: Workbook) -> None:
    made["S"]["B2"].number_format = "000"


def percent(made: Workbook) -> None:
    made["S"]["B2"].number_format = "0%"


CELLS = {
    "a text": ("007", None, "007"), "a whole number": (7, None, "7"),
    "a whole number shown with zeros": (7, padded, "007"), "a whole number as a decimal": (7.0, None, "7"),
    "a decimal": (0.1, None, "0.1"), "a percentage": (0.5, percent, "0.5"),
    "more digits than Excel keeps": (1.234567890123457e19, None, "1.234567890123457e+19"),
    "a day": (dt.date(2024, 5, 1), None, "2024-05-01"),
    "a moment": (dt.datetime(2024, 5, 1, 10, 30), None, "2024-05-01T10:30:00"),
    "a time": (dt.time(10, 30), None, "10:30:00"), "a truth": (True, None, "true"),
    "a line break": ("a\nb", None, "a\nb"), "a label that looks missing": ("NA", None, "NA"),
    "an escaped return": ("a_x000D_b", None, "a\rb"), "a text that looks like a number": ("1.0", None, "1.0"),
}  # fmt: skip


@pytest.mark.parametrize(("value", "change", "text"), CELLS.values(), ids=CELLS.keys())
def test_a_cell_is_what_a_person_sees(tmp_path, value, change, text):
    rows = [["question", "v"], ["a", value]]
    assert column(book(tmp_path / "s.xlsx", {"S": rows}, change or (lambda _: None))) == [text]


def test_rows_are_numbered_as_in_the_sheet(tmp_path):
    rows: list[list[Any]] = [[], ["case_id", "question"], ["a", "?"], [], [None, "?"], ["a", "!"]]
    with pytest.raises(InputError) as failure:
        read_suite(book(tmp_path / "s.xlsx", {"S": rows}))
    assert [(problem.row, problem.found) for problem in failure.value.problems] == [
        (5, "nothing"), (6, "'a' again, first in row 3"),
    ]  # fmt: skip


TITLED = {  # rows above the names of the columns: of those of CASES, how many are titles
    "a title": ([["Evaluation 2025"], []], 1),
    "two titles": ([["Evaluation 2025"], ["by Ann"]], 2),
    "none": ([], 0),
}


@pytest.mark.parametrize(("above", "titles"), TITLED.values(), ids=TITLED.keys())
def test_titles_stand_above_the_names_of_columns(tmp_path, above, titles):
    suite = read_suite(book(tmp_path / "s.xlsx", {"S": [*above, *CASES]}))
    assert suite.cases["case_id"].to_pylist() == ["007", "NA"]
    unused = [(line.count, line.example) for line in suite.receipt if line.use == "unused"]
    assert unused == ([(titles, above[0][0])] if titles else [])


@pytest.mark.parametrize(
    "rows", [[["question"], ["Q1?"]], [["question", None], ["1", "x"]], [["question"], ["Q1?", "Q1?"]]]
)
def test_a_header_is_no_title(tmp_path, rows):
    assert read_suite(book(tmp_path / "s.xlsx", {"S": rows})).cases["question"].to_pylist() == [rows[1][0]]


def test_questions_about_one_of_several_sheets_are_answered(tmp_path):
    rows = [["id", "question", "big", "small"], ["1", "Q?", "a", "b"]]
    path = book(tmp_path / "s.xlsx", {"A": rows, "B": ANSWERS})
    assert "s.xlsx, sheet A: found no column of answers" in read_refusal(read_combined, path)
    suite, outputs = read_combined(path, reading=Reading(answers={"models": "big,small"}))
    assert outputs.models == ("big", "small")
    assert [*by_file(suite.receipt)] == ["s.xlsx"]


def hide_first(made: Workbook) -> None:
    made.worksheets[0].sheet_state = "hidden"


SHEETS = {
    "the first": ({"A": CASES, "B": ANSWERS}, None, None, ("A", "B"), "A"),
    "an empty one is passed over": ({"A": [], "B": CASES}, None, None, ("B",), "B"),
    "a hidden one is passed over": ({"A": ANSWERS, "B": CASES}, hide_first, None, ("B",), "B"),
    "the chosen one": ({"A": ANSWERS, "B": CASES}, None, "B", ("A", "B"), "B"),
    "a hidden one when chosen": ({"A": CASES, "B": ANSWERS}, hide_first, "A", ("B",), "A"),
}


@pytest.mark.parametrize(("sheets", "change", "chosen", "offered", "read"), SHEETS.values(), ids=SHEETS.keys())
def test_the_sheet_that_is_read(tmp_path, sheets, change, chosen, offered, read):
    path = book(tmp_path / "s.xlsx", sheets, change or (lambda _: None))
    reading = Reading(sheet=chosen)
    seen = inspect(path, "suite", reading=reading)
    assert (seen.sheets, seen.sheet, seen.format, seen.encoding) == (offered, read, "xlsx", "")
    if sheets[read] is CASES:
        loaded = load_suite(path, reading=reading)
        assert loaded.value.cases["case_id"].to_pylist() == ["007", "NA"]
        others = [name for name in offered if name != read]
        said = f"s.xlsx: sheet {read} was read, not {', '.join(others)}."
        assert loaded.notes == ((said,) if len(offered) > 1 else ())


def test_suite_outputs_and_labels_in_one_workbook(tmp_path):
    labels = [["case_id", "rater", "label"], ["007", "ann", "pass"]]
    path = book(tmp_path / "all.xlsx", {"Cases": CASES, "Answers": ANSWERS, "Labels": labels})
    suite = read_suite(path)
    outputs = load_outputs(path, suite=suite, readings={path: Reading(sheet="Answers")})
    assert outputs.value.models == ("m",)
    assert outputs.notes == ("all.xlsx: sheet Answers was read, not Cases, Labels.",)
    found = read_labels(path, suite=suite, models=["m"], reading=Reading(sheet="Labels"))
    assert found.table["value"].to_pylist() == [1.0]
    with pytest.raises(InputError, match=r"all.xlsx, sheet Cases, row 1: found no column with the model's answers"):
        load_outputs(path, suite=suite)


def formula(made: Workbook) -> None:
    made.worksheets[0]["B3"] = "=1+1"


def fault(made: Workbook) -> None:
    made.worksheets[0]["B2"] = "#REF!"


def merged_header(made: Workbook) -> None:
    made.worksheets[0]["B1"] = "case_id"


WRONG = {
    "a formula never computed": ({"S": CASES}, formula, None, "s.xlsx, row 3, column question: found a formula without a stored value; expected a value: open it in Excel " "and save it again"),
    "an error of a formula": ({"S": CASES}, fault, None, "s.xlsx, row 2, column question: found '#REF!'; expected a value, not an error of a formula"),
    "two columns of one name": ({"S": CASES}, merged_header, None, "s.xlsx, column case_id: found 2 columns named 'case_id'; expected a different name for each column"),
    "no such sheet": ({"S": CASES}, None, "T", "s.xlsx: found no sheet 'T'; expected one of 'S'"),
    "an empty sheet": ({"S": CASES, "T": []}, None, "T", "s.xlsx: found an empty sheet 'T'; expected a sheet with a header and rows"),
    "nothing at all": ({"S": []}, None, None, "s.xlsx: found a workbook without a value; expected a sheet with a header and rows"),
    "a header alone": ({"S": CASES[:1]}, None, None, "s.xlsx: found no rows of data; expected at least one row below the header"),
}  # fmt: skip


@pytest.mark.parametrize(("sheets", "change", "sheet", "text"), WRONG.values(), ids=WRONG.keys())
def test_what_is_wrong_with_a_workbook(tmp_path, sheets, change, sheet, text):
    path = book(tmp_path / "s.xlsx", sheets, change or (lambda _: None))
    assert read_refusal(read_suite, path, reading=Reading(sheet=sheet)) == text


def test_a_formula_with_its_stored_value_is_its_value(tmp_path):
    path = book(tmp_path / "s.xlsx", {"S": [["question", "v"], ["a", "=1+1"]]})
    stored = parts(path, {"xl/worksheets/sheet1.xml": lambda xml: xml.replace(b"<v></v>", b"<v>2</v>").replace(
        b"<v />", b"<v>2</v>").replace(b"<v/>", b"<v>2</v>")})  # fmt: skip
    assert (load_workbook(stored, data_only=True).active["B2"].value, column(stored)) == (2, ["2"])


SHEET = "xl/worksheets/sheet1.xml"
DOCTYPE = b'<!DOCTYPE worksheet [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'
CELL = b'<c r="A2" t="inlineStr"><is><t>007</t></is></c>'  # as openpyxl writes it
HOSTILE: dict[str, tuple[Mapping[str, Callable[[bytes], bytes]], str]] = {
    "entities": ({SHEET: lambda xml: DOCTYPE + xml.replace(b"007", b"&b;")}, "a workbook that cannot be read"),
    "a cut sheet": ({SHEET: lambda xml: xml[: len(xml) // 2]}, "a workbook that cannot be read"),
    "a sheet that is no XML": ({SHEET: lambda _: b"PK"}, "a workbook that cannot be read"),
    "no sheets": ({"xl/workbook.xml": lambda _: b"<a/>"}, "a workbook"),
    "a text that is not there": ({SHEET: lambda xml: xml.replace(CELL, b'<c r="A2" t="s"><v>999999</v></c>')}, "a workbook that cannot be read"),
    "a number that is none": ({SHEET: lambda xml: xml.replace(CELL, b'<c r="A2" t="n"><v>x</v></c>')}, "a workbook that cannot be read"),
    "zeros without end": ({SHEET: lambda xml: xml.replace(b"</sheetData>", b"</sheetData>" + b" " * (12 << 20))}, f"entry '{SHEET}': compressed more than 200 : 1"),
}  # fmt: skip


@pytest.mark.attack(
    "suite author",
    "a workbook declares entities, endless zeros or texts that are not there",
    "its parts are bounded together, and its XML may declare nothing",
)
@pytest.mark.parametrize(("changed", "found"), HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_or_damaged_workbook_is_refused(tmp_path, changed, found):
    path = parts(book(tmp_path / "s.xlsx", {"S": CASES}), changed)
    with pytest.raises(InputError) as failure:
        read_suite(path)
    assert failure.value.problems[0].found.startswith(found)


def test_a_size_that_the_file_only_states_costs_nothing(tmp_path):
    path = book(tmp_path / "s.xlsx", {"S": CASES})
    wide = parts(path, {SHEET: lambda xml: xml.replace(b'ref="A1:D3"', b'ref="A1:XFD1048576"')})
    assert read_suite(wide).cases["case_id"].to_pylist() == ["007", "NA"]


LIMITS = {
    "cells": ("SLOTS", 6, "found more than 6 cells; expected a smaller sheet, or a CSV or Parquet file"),
    "rows": ("ROWS", 2, "found more than 2 rows; expected a smaller sheet, or a CSV or Parquet file"),
}


@pytest.mark.parametrize(("name", "limit", "text"), LIMITS.values(), ids=LIMITS.keys())
def test_limits(tmp_path, monkeypatch, name, limit, text):
    path = book(tmp_path / "s.xlsx", {"S": CASES})
    monkeypatch.setattr(workbook, name, limit)
    with pytest.raises(InputError, match=text):
        read_suite(path)


def test_parts_and_far_rows_are_bounded(tmp_path, monkeypatch):
    path = book(tmp_path / "s.xlsx", {"S": CASES})
    monkeypatch.setitem(decoded_size.LIMITS, "workbook", replace(decoded_size.LIMITS["workbook"], most=100))
    with pytest.raises(InputError, match=r"bytes that unpack to more than 100; .*; or a CSV or Parquet file"):
        read_suite(path)
    monkeypatch.undo()
    monkeypatch.setattr(workbook, "ROWS", 1_000)
    far = parts(path, {SHEET: lambda xml: xml.replace(b'<row r="3"', b'<row r="999999999"')})
    with pytest.raises(InputError, match="more than 1,000 rows"):
        read_suite(far)


def test_the_preview_of_a_large_workbook_reads_its_beginning(tmp_path, monkeypatch):
    path = book(tmp_path / "s.xlsx", {"S": [["case_id", "question"], *([str(n), "?"] for n in range(500))]})
    assert inspect(path).rows == 500
    monkeypatch.setattr(workbook, "WHOLE_BYTES", 100)
    seen = inspect(path)
    assert (seen.rows, len(seen.first)) == (None, 20)
    assert len(read_suite(path)) == 500


OTHERS = {
    "Word": ({"[Content_Types].xml": "<a/>", "word/document.xml": "<a/>"}, "a Word document"),
    "PowerPoint": ({"[Content_Types].xml": "<a/>", "ppt/presentation.xml": "<a/>"}, "a PowerPoint presentation"),
    "binary Excel": ({"[Content_Types].xml": "<a/>", "xl/workbook.bin": "x"}, "a binary Excel workbook (.xlsb; save it as .xlsx)"),
    "LibreOffice": ({"mimetype": "application/vnd.oasis.opendocument.spreadsheet", "content.xml": "<a/>"}, "an OpenDocument file (save a spreadsheet as .xlsx or CSV)"),
}  # fmt: skip


@pytest.mark.parametrize(("entries", "found"), OTHERS.values(), ids=OTHERS.keys())
def test_other_office_documents_are_named(tmp_path, entries, found):
    with pytest.raises(InputError) as failure:
        read_suite(packed(tmp_path / "s.xlsx", entries))
    assert failure.value.problems[0].found == found


def test_a_workbook_under_another_name_and_in_a_zip(tmp_path):
    path = book(tmp_path / "s.xlsx", {"S": CASES})
    assert len(read_suite(path.rename(tmp_path / "s.csv"))) == 2
    outer = packed(tmp_path / "data.zip", {"cases.xlsx": (tmp_path / "s.csv").read_bytes()})
    assert len(read_suite(outer)) == 2


APART = {  # the sheets of a workbook with cases in one and answers in another → the models, and the rows of answers
    "a column of models": ({"Questions": CASES, "Answers": [*ANSWERS, ["NA", "n", "c"]]}, ["m", "n"]),
    "the other way round": ({"Answers": ANSWERS, "Questions": CASES}, ["m"]),
    "named by its sheet": ({"Questions": CASES, "phi": [[row[0], row[2]] for row in ANSWERS]}, ["phi"]),
    "joined by the question": (
        {"Notes": [["Of June"]], "Questions": CASES, "Answers": [["question", "answer"], ["Q1?", "a"], ["Q2", "b"]]},
        ["Answers"],
    ),
}


@pytest.mark.parametrize("door", ["command", "page", "python"])
@pytest.mark.parametrize(("sheets", "models"), APART.values(), ids=APART.keys())
def test_a_sheet_of_cases_and_one_of_answers_are_both_read(tmp_path, sheets, models, door):
    path = book(tmp_path / "s.xlsx", sheets)
    seen = see_file(path)
    assert (seen.role, assign_roles({str(path): seen}).outputs) == ("both", (str(path),))
    more = {"outputs": [str(path)]} if door == "page" else {}
    given = as_evaluation(str(path), None, None, {}) if door == "python" else None
    data = read_data(given or EvaluationInCode.model_validate({"suite": str(path), **more}), door)
    assert (list(data.outputs.models), len(data.suite)) == (models, 2)
    assert {line.file for line in data.receipt} >= {f"s.xlsx, sheet {name}" for name in sheets if name != "Notes"}
    assert not [
        line for line in data.receipt if line.use == "unused" and line.place in ("sheet Questions", "sheet Answers")
    ]


def test_a_chosen_sheet_is_the_only_one(tmp_path):
    path = book(tmp_path / "s.xlsx", {"Questions": CASES, "Answers": ANSWERS})
    with pytest.raises(InputError, match="sheet Questions, row 1: found no column with the model's answers"):
        read_combined(path, reading=Reading(sheet="Questions"))
    assert inspect(path, "suite").sheet == "Questions"
