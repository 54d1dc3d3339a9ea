"""Problems: which models are on the wrong side of a threshold?"""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from metrics.store import Run
from tests.pages.conftest import HOSTILE


def test_the_gravest_come_first_with_value_interval_and_n(run: Run, open_page: Callable[..., AppTest]) -> None:
    page = open_page("problems", run=run.id, list="metrics")
    assert not page.exception
    table = page.dataframe[0].value
    assert set(table["model"]) == {"blunt", HOSTILE}
    assert table["severity"].iloc[0] == "Significant"
    assert table["threshold"].str.startswith("≥ ").all()
    assert page.text[0].value.startswith(f"{len(table)} problems in 2 of 3 models")


def test_filters_have_counts_and_come_from_the_address(run: Run, open_page: Callable[..., AppTest]) -> None:
    page = open_page("problems", run=run.id, model="blunt")
    assert set(page.dataframe[0].value["model"]) == {"blunt"}
    assert any(option.startswith("blunt (") for option in page.sidebar.multiselect[1].options)


def test_no_problem_is_good_news(run: Run, open_page: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch) -> None:
    from components import data

    none = data.problems(run.id).iloc[:0]
    monkeypatch.setattr("components.data.problems", lambda run_id: none)
    page = open_page("problems", run=run.id)
    assert not page.exception
    assert page.subheader[0].value == "No model is on the wrong side of a threshold"


def test_problems_are_grouped_by_model_and_evaluator(run: Run, open_page: Callable[..., AppTest]) -> None:
    every = open_page("problems", run=run.id, list="metrics").dataframe[0].value
    groups = open_page("problems", run=run.id).dataframe[0].value
    assert len(groups) == len(every.groupby(["model", "evaluator"]))
    assert groups["problems"].sum() == len(every)
    assert "Accuracy" in groups["metrics"].iloc[0]
    assert groups["worst"].str.contains(", threshold ≥ ").all()


def button(page: AppTest, label: str) -> AppTest:
    return next(one for one in page.button if one.label == label).click().run()


def test_thresholds_are_set_by_the_best_model_and_removed(
    run: Run, open_page: Callable[..., AppTest], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / "own"
    shutil.copytree(run.workspace.path, copy)
    monkeypatch.setenv("ASSAY_WORKSPACE", str(copy))
    page = open_page("problems", run=run.id, view="set")
    before = page.dataframe[0].value
    assert "profile Thresholds" not in set(before["from"])
    page = button(page, "As the best model")
    assert not page.exception
    after = page.dataframe[0].value
    assert set(after["from"]) == {"profile Thresholds"}
    accuracy = after.set_index("metric").loc["Classification: Accuracy\N{NO-BREAK SPACE}↑"]
    assert accuracy["threshold"] == f"≥ {float(accuracy['best']) * 0.98:g}"
    assert accuracy["problems"] == 2
    assert accuracy["code"] == "classification.accuracy"
    board = open_page("problems", run=run.id)
    assert "Thresholds: profile Thresholds" in [text.value for text in board.text]
    page = button(page, "Remove")
    assert page.dataframe[0].value["threshold"].tolist() == before["threshold"].tolist()


def test_a_profile_is_made_and_removed(
    run: Run, open_page: Callable[..., AppTest], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(run.workspace.path, tmp_path / "own")
    monkeypatch.setenv("ASSAY_WORKSPACE", str(tmp_path / "own"))
    page = open_page("problems", run=run.id, view="set")
    page.text_input[0].set_value("Release gate")
    page = button(page, "Create")
    assert "Release gate" in [one.value for one in page.selectbox]
    page = button(page, "Remove profile")
    assert "As each run was started" in [one.value for one in page.selectbox]
