"""Overview → Case difficulty: suspects first, every case opens, fewer cases can be taken along."""

from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from components.data import case_difficulty
from metrics.store import Run, Workspace
from tests.analysis.scored import scored_run
from tests.pages.conftest import Open, Went
from tests.pages.reading import labelled
from tests.stats.test_item_response import drawn

MODELS = 16


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with a run of 16 models of which two labels are reversed, and one of 5 models."""
    folder = tmp_path_factory.mktemp("items")
    right = drawn(0, 60, MODELS, 0.2)[0]
    ability = np.argsort(right.mean(axis=0))
    right[:2] = 0.0
    right[:2, ability[: MODELS // 2]] = 1.0
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ASSAY_WORKSPACE", str(folder))
        given = {f"m{model:02}": column.tolist() for model, column in enumerate(right.T)}
        scored_run({"text_matching.passes": given, "rouge.rougeL": given})
        scored_run({"text_matching.passes": dict(list(given.items())[:5])})
    return folder


@pytest.fixture
def runs(place: Path, monkeypatch: pytest.MonkeyPatch) -> list[Run]:
    monkeypatch.setenv("ASSAY_WORKSPACE", str(place))
    return sorted(Workspace().runs(), key=lambda run: -len(run.models))


def texts(page: AppTest) -> str:
    assert not page.exception
    return "\n".join(text.value for text in [*page.text, *page.caption, *page.info])


def test_suspects_are_named_and_the_ranking_is_kept_by_fewer(runs: list[Run], open_page: Open) -> None:
    page = open_page("leaderboard", run=runs[0].id, form="items", key="text_matching/passes")
    told = texts(page)
    assert "2 of 60 cases are probably mislabelled: c0 and c1." in told or "c1 and c0." in told
    assert "Right: " in told
    table, short = (frame.value for frame in page.dataframe[:2])
    assert table["verdict"].tolist()[:2] == ["✗ suspect"] * 2
    assert len(table) == 60
    assert len(page.get("plotly_chart")) == 1
    assert short["cases"].tolist() == [10, 15, 20, 30, 40]
    assert "the ranking of the models" in told
    page.selectbox(key="items-few").set_value(20).run()
    assert page.query_params["few"] == "20"
    save = labelled(page.button, "Save the suite")
    save.click().run()
    assert "20 cases" in texts(page)


def test_five_models_are_told_what_they_need(runs: list[Run], open_page: Open) -> None:
    page = open_page("leaderboard", run=runs[1].id, form="items")
    assert "Difficulty and discrimination need 8 models; you have 5." in texts(page)
    table = page.dataframe[0].value
    assert len(table) == 60
    assert not page.get("plotly_chart")
    assert len(page.dataframe) == 1


def test_a_metric_without_right_and_wrong_is_told_so(runs: list[Run], open_page: Open) -> None:
    page = open_page("leaderboard", run=runs[0].id, form="items", evaluator="rouge")  # has no threshold
    assert "where a metric says which answers are right" in texts(page)


def test_a_click_opens_the_case(runs: list[Run], open_page: Open, went: Went, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first row is a suspect; its example shows the answer of the ablest model."""
    monkeypatch.setattr("components.views.results.case_difficulty.draw_columns", lambda *_, **__: 0)
    open_page("leaderboard", run=runs[0].id, form="items", key="text_matching/passes")
    asked = went[0]
    assert asked.pop("page") == "case"
    assert asked["case"] in ("c0", "c1")
    open_page("case", **asked)


def test_the_downloads(runs: list[Run]) -> None:
    """Every case with its verdict, and the whole cases of the short suite."""
    about = (runs[0].id, "text_matching", "passes", None)
    lines = case_difficulty.items_csv(*about).decode("utf-8-sig").splitlines()
    assert len(lines) == 61
    assert lines[0].startswith("case_id,right,models,correlation,difficulty,difficulty_low")
    assert lines[1].endswith(",suspect")
    chosen = case_difficulty.short_suite_csv(*about, 15).decode("utf-8-sig").splitlines()
    assert len(chosen) == 16
    assert "question" in chosen[0]
