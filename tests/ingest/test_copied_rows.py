"""Rows that come again: exact copies are one row, and what is wrong is counted once, by its row, at every door."""

import pytest

from metrics.core.errors import InputError
from metrics.core.receipt import short_lines
from metrics.engine.evaluation import EvaluationInCode
from metrics.library.input_data import read_data
from tests.ingest.files import write

HEADER = "id,question,expected,answer_a,answer_b\n"
ROWS = "".join(f"{row},Q{row}?,e{row},a{row},b{row}\n" for row in range(1, 7))
OTHER = "5,Q5?,e5,changed,b5\n"


def read(path, **more):
    files = {"suite": str(path), "read": ["models=answer_a,answer_b"]}
    return read_data(EvaluationInCode.model_validate(files | more))


def test_copies_are_one_row_and_said_once(tmp_path):
    data = read(write(tmp_path, "s.csv", HEADER + ROWS + "3,Q3?,e3,a3,b3\n2,Q2?,e2,a2,b2\n"))
    assert (len(data.suite), len(data.outputs.outputs), data.suite.left_out, data.outputs.left_out) == (6, 12, 0, 0)
    [again] = [line for line in data.receipt if line.place == "rows again"]
    assert (again.count, again.meaning) == (2, "they are copies of others")
    assert short_lines(data.receipt)[:2] == ["s.csv: 6 rows, 5 parts used", "s.csv: 2 rows are copies of others"]


def test_a_row_that_differs_is_one_bad_row_with_its_number(tmp_path):
    path = write(tmp_path, "a_file_with_quite_a_long_name.csv", HEADER + ROWS + "3,Q3?,e3,a3,b3\n" + OTHER)
    with pytest.raises(InputError, match="case '5' of model 'a' again, first in row 6;") as told:
        read(path)
    assert [(problem.row, problem.rows) for problem in told.value.problems] == [(9, 1)]
    data = read(path, keep_good_rows=True)
    assert (len(data.suite), data.suite.left_out + data.outputs.left_out) == (6, 1)
    assert [line.count for line in data.receipt if line.place == "rows" and line.use == "used"] == [6]


@pytest.mark.parametrize("suite", [True, False])
def test_copies_in_a_suite_and_in_outputs(tmp_path, suite):
    cases = write(tmp_path, "s.csv", "id,expected\n1,a\n2,b\n3,c\n" + "2,b\n" * suite)
    answers = write(tmp_path, "m.csv", "id,answer\n1,a\n2,b\n3,c\n" + "1,a\n" * (not suite))
    data = read_data(EvaluationInCode.model_validate({"suite": str(cases), "outputs": [str(answers)]}))
    assert (len(data.suite), len(data.outputs.outputs)) == (3, 3)
    assert [line.file for line in data.receipt if line.place == "rows again"] == ["s.csv" if suite else "m.csv"]


def test_answers_that_are_missing_and_empty_ones_are_said(tmp_path):
    cases = write(tmp_path, "s.csv", "id,question,expected\n1,A?,a\n2,B?,b\n3,C?,c\n")
    lazy, empty = write(tmp_path, "lazy.csv", "id,answer\n1,a\n"), write(tmp_path, "e.csv", "id,answer\n1,a\n2,\n3,\n")
    said: list[str] = []
    given = {"suite": str(cases), "outputs": [str(lazy), str(empty)]}
    read_data(EvaluationInCode.model_validate(given), tell=lambda _, *lines: said.extend(lines))
    assert said[-2:] == [
        "lazy has no answer to 2 of 3 cases: these are unscored",
        "e has 2 empty answers: scored as an answer that says nothing",
    ]
