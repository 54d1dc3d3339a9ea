"""How commands read files: the encoding and the sheet that options choose, and problems in groups or one by one."""
# ruff: noqa: E501 - a table reads better with one line a case

from pathlib import Path

import pytest

from metrics.cli.main import main
from metrics.store import Workspace
from tests.ingest.test_workbooks import book

SUITE = "case_id,question,expected_answer\n" + "".join(f"c{n},?,Größe {n}\n" for n in range(9))
ROUGE = ("--evaluators", "rouge")


@pytest.fixture
def files(tmp_path, workspace):
    """A suite in Windows-1252, answers in UTF-16, wrong answers, and a workbook with both."""
    (tmp_path / "suite.csv").write_bytes(SUITE.encode("cp1252"))
    answers = "case_id,answer\n" + "".join(f"c{n},Größe {n}\n" for n in range(9))
    (tmp_path / "one.csv").write_bytes(answers.encode("utf-16"))
    wrong = "case_id,answer,tokens\n" + "".join(f"c{n},x,many\n" for n in range(9)) + "zz,x,1\n"
    (tmp_path / "wrong.csv").write_text(wrong)
    rows = [line.split(",") for line in SUITE.splitlines()]
    other = [line.split(",") for line in answers.splitlines()]
    book(tmp_path / "all.xlsx", {"Cases": rows, "Answers": other})
    return tmp_path


def run(folder: Path, *arguments: str) -> int:
    return main(["evaluate", *(str(folder / text) if text.endswith(".csv") else text for text in arguments)])


def expected_answers() -> list[str]:
    cases = Workspace().run("latest").suite.cases["expected_answers"].to_pylist()
    return [answer for answers in cases[:2] for answer in answers]


def test_an_encoding_is_told_or_chosen(files, capsys):
    assert run(files, "suite.csv", "one.csv", *ROUGE) == 0
    told = capsys.readouterr().err
    assert "suite.csv was read as Windows-1252.\none.csv was read as UTF-16.\n" in told
    assert expected_answers() == ["Größe 0", "Größe 1"]
    assert run(files, "suite.csv", "one.csv", "--encoding", "suite.csv=cp1250", "--quiet", *ROUGE) == 0
    assert expected_answers()[0] == "Größe 0".encode("cp1252").decode("cp1250")


def test_the_sheets_of_one_workbook_are_chosen(files, capsys):
    (files / "answers.xlsx").write_bytes((files / "all.xlsx").read_bytes())
    sheets = ("--sheet", "answers.xlsx=Answers")
    arguments = [str(files / "all.xlsx"), str(files / "answers.xlsx"), *sheets, *ROUGE]
    assert main(["evaluate", *arguments]) == 0
    assert "all.xlsx: sheet Cases was read, not Answers." in capsys.readouterr().err
    assert Workspace().run("latest").models == ("answers",)


REFUSED = {
    "an encoding that is none": (
        ("--encoding", "klingon"), "encoding: found 'klingon'; expected one of UTF-8, Windows-1252, ISO-8859-1",
    ),
    "a file that is not given": (("--sheet", "other.xlsx=A"), "--sheet: found the file 'other.xlsx'; expected one of "),
    "a sheet of a text": (("--sheet", "Cases"), "--sheet: found 'Cases', for suite.csv, one.csv; expected an Excel file, or a data set of "),
    "a sheet of one": (("--sheet", "one.csv=A"), "--sheet: found 'one.csv=A', for one.csv; expected an Excel file, or a data set of"),
}  # fmt: skip


@pytest.mark.parametrize(("options", "text"), REFUSED.values(), ids=REFUSED.keys())
def test_options_that_fit_no_file_are_refused(files, capsys, options, text):
    assert main(["evaluate", str(files / "suite.csv"), str(files / "one.csv"), *options, *ROUGE]) == 2
    assert text in capsys.readouterr().err


def test_an_encoding_of_a_workbook_has_no_effect(files, capsys):
    arguments = [str(files / "all.xlsx"), str(files / "one.csv"), *ROUGE]
    assert main(["evaluate", *arguments, "--encoding", "utf-16", "--quiet"]) == 0  # of the other file
    assert main(["evaluate", *arguments, "--encoding", "all.xlsx=utf-16"]) == 2
    expected = "--encoding: found 'all.xlsx=utf-16', for all.xlsx; expected a file that is text"
    assert expected in capsys.readouterr().err


def test_problems_are_grouped_and_all_of_them_on_request(files, capsys):
    assert run(files, "suite.csv", "wrong.csv", "--quiet", *ROUGE) == 2
    assert capsys.readouterr().err.splitlines() == [
        "wrong.csv, column tokens, 9 rows: found 'many' (9 rows, first 2); expected a number",
        "wrong.csv, row 11, column case_id: found 'zz'; expected the id of a case of the suite",
        "2 problems in 10 rows; --all-problems prints each row",
        "--keep-good-rows skips these rows and takes the good ones",
    ]
    assert run(files, "suite.csv", "wrong.csv", "--quiet", "--all-problems", *ROUGE) == 2
    told = capsys.readouterr().err.splitlines()
    assert len(told) == 11
    assert told[0] == "wrong.csv, row 2, column tokens: found 'many'; expected a number"
