"""Panels and repeats in the studio: how far the judges agree, the cases they disagree on, the form."""

from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from metrics.judge.workspace_judge import chosen_judge
from metrics.store import Run, Workspace
from tests.judge.server import JudgeServer
from tests.judge.test_panels import panel_run, said
from tests.pages.page_scenes import told


@pytest.fixture(scope="module")
def panelled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with a run of two judges that differ on cases c0 and c1."""
    folder = tmp_path_factory.mktemp("panel")
    with JudgeServer() as first, JudgeServer() as second:
        first.say("no_answer", lambda request: said(request, "c0"))
        second.say("no_answer", lambda request: said(request, "c1"))
        panel_run(folder, [first, second])
    return folder


@pytest.fixture
def run(panelled: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("ASSAY_WORKSPACE", str(panelled))
    monkeypatch.setattr("components.data.ensure_samples", lambda: False)
    return Workspace().run("latest")


def test_how_far_the_judges_agree(run: Run, open_page: Callable[..., AppTest]) -> None:
    """It needs no labels."""
    page = open_page("judge_agreement", run=run.id)
    assert not page.exception
    (row,) = page.dataframe[0].value.to_dict("records")
    assert (row["metric"], row["disputed"]) == ("No-answer", "2 of 4")
    assert row["alike"].startswith("0.750 (")
    assert any(entry.value == "No labels yet" for entry in page.subheader)


def test_the_most_disputed_cases_come_first(run: Run, open_page: Callable[..., AppTest]) -> None:
    page = open_page("cases", run=run.id, evaluator="no_answer", metric="no_answer", order="disputed")
    assert not page.exception
    cases = told(page, "case_list")["cases"]
    assert [case["id"] for case in cases] == ["c0", "c1", "c2", "c3"]
    assert [float(case["facts"].rpartition("spread ")[2]) for case in cases] == [1, 1, 0, 0]
    assert page.button[0].label == "Open the most disputed case"
    example = open_page("example", run=run.id, evaluator="no_answer", metric="no_answer", order="disputed", case="c1")
    assert any("2 of 4, most disputed first" in text.value for text in example.text)


def test_repeats_and_the_rule_are_saved(workspace: Path, open_page: Callable[..., AppTest]) -> None:
    page = open_page("judge")
    next(entry for entry in page.text_input if entry.label == "Model").set_value("gpt-4o-mini")
    numbers = {entry.label: entry for entry in page.number_input}
    numbers["Temperature"].set_value(0.7)
    numbers["Repeats"].set_value(3)
    boxes = {entry.label: entry for entry in page.selectbox}
    boxes["Combine"].set_value("mean")
    boxes["Probabilities"].set_value(True)
    next(entry for entry in page.text_area if entry.label == "Further judges, one per line").set_value(
        "second\nlocal"
    ).run()
    next(button for button in page.button if button.label == "Save").click().run()
    saved = chosen_judge(workspace)
    assert saved is not None
    assert (saved.repeats, saved.combine, saved.probabilities) == (3, "mean", True)
    assert [(judge.model, judge.repeats, judge.temperature) for judge in saved.panel] == [
        ("second", 3, 0.7), ("local", 1, 0.0),
    ]  # fmt: skip
