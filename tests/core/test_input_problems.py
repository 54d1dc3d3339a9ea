"""Problems in groups: one line a kind, the worst first, none hidden by the mass of another."""
# ruff: noqa: E501 - a line as the user reads it

import pytest

from metrics.core.errors import InputError, InputProblem
from metrics.core.input_problems import grouped

ID = "the id of a case of the suite"
ONCE = "every case once"


def unknown(count: int) -> list[InputProblem]:
    return [InputProblem("o.csv", f"'x{row}'", ID, row, "case_id") for row in range(2, count + 2)]


AGAIN = InputProblem("o.csv", "'a' again, first in row 3", ONCE, 400, "case_id")
GROUPS = {
    "one is as it was": ([AGAIN], ["o.csv, row 400, column case_id: found 'a' again, first in row 3; expected every case once"]),
    "a rare one beside a mass": (
        [*unknown(477), AGAIN],
        ["o.csv, column case_id, 477 rows: found 'x2' (row 2), 'x3' (row 3), 'x4' (row 4) and 474 others; expected the id of a case of the suite",
         "o.csv, row 400, column case_id: found 'a' again, first in row 3; expected every case once"],
    ),
    "equal values": (
        [InputProblem("o.csv", "'cat '", "a class", row, "label") for row in range(2, 9)] + [InputProblem("o.csv", "'dgo'", "a class", 9, "label")],
        ["o.csv, column label, 8 rows: found 'cat ' (7 rows, first 2), 'dgo' (row 9); expected a class"],
    ),
    "nothing is another kind than a value": (
        [InputProblem("o.csv", "nothing", "a number", 2, "n"), InputProblem("o.csv", "'x'", "a number", 3, "n")],
        ["o.csv, row 2, column n: found nothing; expected a number", "o.csv, row 3, column n: found 'x'; expected a number"],
    ),
    "fatal first, then whole files, then rows": (
        [*unknown(2), InputProblem("o.csv", "an odd file", "another"), InputProblem("p.csv", "a PNG image", "a table", fatal=True)],
        ["p.csv: found a PNG image; expected a table", "o.csv: found an odd file; expected another",
         "o.csv, column case_id, 2 rows: found 'x2' (row 2), 'x3' (row 3); expected the id of a case of the suite"],
    ),
    "files of a zip": (
        [InputProblem(f"s.zip/labels/{name}.txt", "class '9'", "a class below 3", 1) for name in "abcd"],
        ["s.zip, 4 rows: found class '9' (labels/a.txt, row 1 and 3 more); expected a class below 3"],
    ),
    "rows that are not listed count": (
        [*unknown(3), InputProblem("o.csv", "2,000 more rows like this, from row 5 on", ID, 5, "case_id", rows=2000)],
        ["o.csv, column case_id, 2,003 rows: found 'x2' (row 2), 'x3' (row 3), 'x4' (row 4) and 2,000 others; expected the id of a case of the suite"],
    ),
    "hostile values stay on their line": (
        [InputProblem("o.csv", repr("a\x1b[31m" + "b" * 500), "a class", row, "label") for row in (2, 3)],
        ["o.csv, column label, 2 rows: found 'a\\x1b[31m" + "b" * 49 + "… (2 rows, first 2); expected a class"],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("problems", "lines"), GROUPS.values(), ids=GROUPS.keys())
def test_equal_problems_are_one_line(problems, lines):
    failure = InputError(problems)
    assert (str(failure).splitlines(), list(failure.problems)) == (lines, problems)
    assert sum(group.count for group in grouped(problems)) == sum(problem.rows for problem in problems)


def test_very_many_kinds_are_counted():
    failure = InputError(InputProblem("o.csv", "'x'", "a number", 2, f"column {place}") for place in range(80))
    assert str(failure).splitlines()[-1] == "… and 30 more kinds of problems"
