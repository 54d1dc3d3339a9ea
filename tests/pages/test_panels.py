"""Panels and repeats in the studio: how far the judges agree, the cases they disagree on, the form."""

from pathlib import Path

import pytest

from metrics.judge.open_judges import chosen_judge
from metrics.store import Run
from tests.judge.server import JudgeServer
from tests.judge.test_panels import panel_run, said
from tests.pages.conftest import Look, Open
from tests.pages.page_scenes import told
from tests.pages.reading import labelled, press


def panelled(folder: Path) -> Run:
    """A run of two judges that differ on cases c0 and c1."""
    with JudgeServer() as first, JudgeServer() as second:
        first.say("no_answer", lambda request: said(request, "c0"))
        second.say("no_answer", lambda request: said(request, "c1"))
        return panel_run(folder, [first, second])


@pytest.fixture
def run(look_at: Look) -> Run:
    return look_at(panelled)


def test_how_far_the_judges_agree(run: Run, open_page: Open) -> None:
    """It needs no labels."""
    page = open_page("judge_agreement", run=run.id)
    (row,) = page.dataframe[0].value.to_dict("records")
    assert (row["Metric"], row["Disputed"]) == ("No-answer", "2 of 4")
    assert row["Alike"].startswith("0.750 (")
    assert any(entry.value == "No labels yet" for entry in page.subheader)


def test_the_most_disputed_cases_come_first(run: Run, open_page: Open) -> None:
    page = open_page("cases", run=run.id, evaluator="no_answer", metric="no_answer", order="disputed")
    cases = told(page, "case_list")["cases"]
    assert [case["id"] for case in cases] == ["c0", "c1", "c2", "c3"]
    assert [float(case["facts"].rpartition("spread ")[2]) for case in cases] == [1, 1, 0, 0]
    assert page.button[0].label == "Open the most disputed case"
    example = open_page("case", run=run.id, evaluator="no_answer", metric="no_answer", order="disputed", case="c1")
    assert any("2 of 4, most disputed first" in text.value for text in example.text)


def test_repeats_and_the_rule_are_saved(workspace: Path, open_page: Open) -> None:
    page = open_page("judge")
    labelled(page.text_input, "Model").set_value("gpt-4o-mini")
    numbers = {entry.label: entry for entry in page.number_input}
    numbers["Temperature"].set_value(0.7)
    numbers["Repeats"].set_value(3)
    boxes = {entry.label: entry for entry in page.selectbox}
    boxes["Combine"].set_value("mean")
    boxes["Probabilities"].set_value(True)
    labelled(page.text_area, "Further judges, one per line").set_value("second\nlocal").run()
    press(page, "Save")
    saved = chosen_judge(workspace)
    assert saved is not None
    assert (saved.repeats, saved.combine, saved.probabilities) == (3, "mean", True)
    assert [(judge.model, judge.repeats, judge.temperature) for judge in saved.panel] == [
        ("second", 3, 0.7), ("local", 1, 0.0),
    ]  # fmt: skip
