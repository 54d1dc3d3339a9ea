"""What went wrong: which models are on the wrong side of a threshold?"""

from dataclasses import replace
from pathlib import Path

import pytest

from components.data import run_reads, thresholds
from components.views.results import threshold_table
from metrics.analysis import leaderboard
from metrics.calibrations.calibrated_thresholds import shipped
from metrics.core.suite import Outputs, Suite
from metrics.presentation.guarantee_words import whose_thresholds
from metrics.presentation.questions.what_went_wrong import Problem, answer, what_went_wrong
from metrics.reports.build import build
from metrics.store import Run, Workspace
from tests.engine.engine_scenes import finished
from tests.pages.conftest import HOSTILE, Look, Open, animals_run
from tests.pages.reading import press


def test_the_gravest_come_first_with_value_interval_and_n(run: Run, open_page: Open) -> None:
    page = open_page("problems", run=run.id, list="metrics")
    table = page.dataframe[0].value
    assert set(table["Model"]) == {"blunt", HOSTILE}
    assert table["Severity"].iloc[0] == "Significant"
    assert table["Threshold"].str.startswith("≥ ").all()
    assert page.text[0].value.startswith(f"2 of 3 models miss thresholds, {len(table)} in all: ")


def test_filters_have_counts_and_come_from_the_address(run: Run, open_page: Open) -> None:
    page = open_page("problems", run=run.id, model="blunt")
    assert set(page.dataframe[0].value["Model"]) == {"blunt"}
    assert any(option.startswith("blunt (") for option in page.sidebar.multiselect[1].options)


def test_no_problem_is_good_news(run: Run, open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    from components.data import run_reads

    none = run_reads.problems(run.id).iloc[:0]
    monkeypatch.setattr("components.data.run_reads.problems", lambda run_id: none)
    page = open_page("problems", run=run.id)
    assert page.subheader[0].value == "No model is on the wrong side of a threshold"


def test_problems_are_grouped_by_model_and_evaluator(run: Run, open_page: Open) -> None:
    every = open_page("problems", run=run.id, list="metrics").dataframe[0].value
    groups = open_page("problems", run=run.id).dataframe[0].value
    assert len(groups) == len(every.groupby(["Model", "Evaluator"]))
    assert groups["Problems"].astype(int).sum() == len(every)
    assert "Accuracy" in groups["Metrics"].iloc[0]
    assert groups["Worst"].str.contains(", threshold ≥ ").all()


def test_thresholds_are_set_by_the_best_model_and_removed(look_at_copy: Look, open_page: Open) -> None:
    run = look_at_copy(animals_run)
    page = open_page("thresholds", run=run.id)
    before = page.dataframe[0].value
    assert "profile Thresholds" not in set(before["from"])
    page = press(page, "As the best model")
    assert not page.exception
    after = page.dataframe[0].value
    assert set(after["from"]) == {"profile Thresholds"}
    accuracy = after.set_index("metric").loc["Classification: Accuracy\N{NO-BREAK SPACE}↑"]
    assert accuracy["threshold"] == pytest.approx(float(accuracy["best"]) * 0.98)
    assert accuracy["problems"] == 2
    assert accuracy["code"] == "classification.accuracy"
    board = open_page("problems", run=run.id)
    assert "Thresholds: profile Thresholds" in [text.value for text in board.text]
    page = press(page, "Remove")
    assert page.dataframe[0].value["threshold"].equals(before["threshold"])


def test_what_is_typed_into_the_table_is_set(look_at_copy: Look, monkeypatch: pytest.MonkeyPatch) -> None:
    run, set_before = look_at_copy(animals_run), {}
    columns = run_reads.leaderboard(run.id).columns
    monkeypatch.setattr(thresholds, "set_thresholds", set_before.update)
    edits = {0: {"threshold": 0.123}, 1: {"threshold": None}, 2: {"chosen": True}}
    monkeypatch.setattr(threshold_table.st, "session_state", {"table": {"edited_rows": edits}})
    threshold_table._set_edited("table", columns)
    wanted = {(columns[place].evaluator, columns[place].metric): value for place, value in ((0, 0.123), (1, None))}
    assert set_before == {key: value for key, value in wanted.items() if value != columns[1].threshold}
    assert threshold_table._ticked("table", columns) == [columns[2]]


def test_a_profile_is_made_and_removed(look_at_copy: Look, open_page: Open) -> None:
    page = open_page("thresholds", run=look_at_copy(animals_run).id)
    page.text_input[0].set_value("Release gate")
    page = press(page, "Create")
    assert "Release gate" in [one.value for one in page.selectbox]
    page = press(page, "Remove profile")
    assert "As each run was started" in [one.value for one in page.selectbox]


@pytest.mark.parametrize(("severities", "said"), [
    ([], "No model is on the wrong side of a threshold"),
    (["low"] * 6, "1 of 2 models misses thresholds, 6 in all: none significantly"),
    (["high", "low"], "1 of 2 models misses thresholds, 2 in all: 1 significantly"),
])  # fmt: skip
def test_the_answer_says_one_thing(severities: list[str], said: str) -> None:
    one = Problem("m", "e", "E", "t", 0.7, 0.6, 0.8, 0.75, "higher", 9, "low", "")
    assert answer([replace(one, severity=severity) for severity in severities], 2).partition(" (")[0] == said


def test_the_thresholds_have_an_owner(run: Run, workspace: Path) -> None:
    columns = [column for column in leaderboard(run).columns if column.threshold is not None and not column.minor]
    assert whose_thresholds(columns) == "the thresholds are Assay's by default"
    owned = {of: replace(columns[0], threshold_of=of) for of in ("user", "calibration", "H2O Eval Studio")}
    assert {of: whose_thresholds([one]) for of, one in owned.items()} == {
        "user": "the thresholds are your own",
        "calibration": "the thresholds are calibrated on labels",
        "H2O Eval Studio": "the thresholds are H2O Eval Studio's",
    }
    for known, said in (
        (shipped()[0], "public labels ("),
        (replace(shipped()[0], data="“ok” of suite s"), "labels of “ok”"),
    ):
        on = whose_thresholds([replace(owned["calibration"], calibration=known)])
        assert on.startswith(f"the thresholds are calibrated on {said}")
    mixed = whose_thresholds([owned["user"], *columns[1:2]])
    assert mixed == "of the thresholds 1 is your own, 1 is Assay's by default"
    assert what_went_wrong(run)[0].text.endswith("; the thresholds are Assay's by default.")


def test_where_nothing_is_scored_no_threshold_is_spoken_of(workspace: Path) -> None:
    suite = Suite.from_rows("t", "text", [{"case_id": "c", "question": "q", "expected_answers": ["yes"]}])
    outputs = Outputs.from_rows([{"case_id": "c", "model": "m", "answer": None, "error": "down"}])
    nothing = finished(Workspace(), suite, outputs, "exact_match")
    assert all(cell.value is None for cell in leaderboard(nothing).cells.values())
    assert what_went_wrong(nothing) == []
    assert not any("threshold" in line for line in build(nothing).summary.fails)
