"""python -m metrics over-suites: a metric in several suites and in all of them."""

import csv

from metrics.cli.main import main
from tests.analysis.ranking.test_several_suites import suite_run


def test_each_suite_and_all_of_them(workspace, capsys):
    """The table of the file has a row for each model and suite, and what is said of all suites."""
    runs = [suite_run("Hard", ["a", "b"], 40, -0.3), suite_run("=Easy", ["b", "c"], 60, 0.2)]
    file = workspace / "table.csv"
    assert main(["over-suites", *(run.id for run in runs), "--metric", "faithfulness", "-o", str(file)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("Over 2 suites in Faithfulness, no model is ranked: a 0.")
    assert lines[1:3] == ["Hard, 40 cases", next(line for line in lines if line.startswith("  a  0."))]
    assert lines.count("  c  not evaluated") == 1
    rows = list(csv.DictReader(file.read_text(encoding="utf-8-sig").splitlines()))
    assert [(row["model"], row["suite"].lstrip("'")) for row in rows[:4]] == [
        ("a", "Hard"), ("a", "=Easy"), ("a", "mean of suites"), ("a", "all suites"),
    ]  # fmt: skip
    assert rows[1]["suite"] != "=Easy", "a formula is text"
    assert (rows[1]["value"], rows[1]["reason"]) == ("", "not evaluated")
    assert float(rows[3]["low"]) < float(rows[3]["value"]) < float(rows[3]["high"])
    assert (rows[3]["best_rank"], rows[3]["worst_rank"]) == ("", "")


def test_what_there_is_not(workspace, capsys):
    run = suite_run("Hard", ["a", "b"], 8)
    assert main(["over-suites", run.id, "--metric", "rouge"]) == 2
    assert "--metric: found 'rouge'; expected one of" in capsys.readouterr().err
    assert main(["over-suites", run.id, "--metric", "faithfulness", "-o", "table.png"]) == 2
    assert "table.png: found another ending; expected .csv" in capsys.readouterr().err
