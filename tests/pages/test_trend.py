"""Trend: is it getting better from run to run?"""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from components.views.results import metric_trend
from components.widgets.literal import literal
from metrics.analysis import Difference, Stop
from metrics.store import Run, Workspace
from tests.analysis.comparison.test_compare import outputs, suite
from tests.components.board_scenes import cell, column
from tests.engine.engine_scenes import dated, finished
from tests.pages.conftest import HOSTILE, Look, Open, Went
from tests.pages.page_scenes import objects_run
from tests.pages.reading import press

PASSES = "text_matching/passes"


def three_runs(folder: Path) -> Run:
    """Three runs of one suite: `a` 4, 19 and 19 of 20 right; a model with a hostile name worse in the last."""
    for day, (of_a, hostile) in enumerate([(4, 20), (19, 20), (19, 5)], 1):
        right = {"a": set(range(of_a)), HOSTILE: set(range(hostile))}
        run = finished(Workspace(folder), suite(), outputs(right), "text_matching", "rouge", name=f"Version {day}")
        last = dated(run, day)
    return last


@pytest.fixture
def runs(look_at: Look) -> list[Run]:
    """The runs, the oldest first, in the workspace that the pages look at."""
    look_at(three_runs)
    return Workspace().runs()[::-1]


def texts(page: AppTest) -> str:
    assert not page.exception
    return "\n".join(element.value for kind in (page.subheader, page.text, page.caption) for element in kind)


def test_the_newest_run_is_held_against_the_one_before(runs: list[Run], open_page: Open) -> None:
    page = open_page("trend", run=runs[0].id, key=PASSES)
    said = texts(page)
    answer = f"No: worse than in the run before: {HOSTILE[:29]}…; 1 other without significant change"
    assert said.startswith(literal(answer))
    assert f"{HOSTILE} · Version 3, 3 Mar 2026, 12:00" in said
    assert "0.250 (95 % 0.112–0.469) · n 20" in said
    assert "0 cases better, 15 worse, 5 equal" in said
    assert "“Better” = significant after Holm correction (2 tests, 5 %)" in said
    table = page.dataframe[0].value
    assert table["run"].str[:9].tolist() == ["Version 3"] * 2 + ["Version 2"] * 2 + ["Version 1"] * 2
    assert table["words"].tolist() == [
        "worse", "equal on every case", "equal on every case", "better", "first", "first",
    ]  # fmt: skip
    assert "settings" not in page.dataframe[0].proto.columns


def test_the_address_chooses_metric_models_and_point(runs: list[Run], open_page: Open) -> None:
    page = open_page("trend", run=runs[1].id, key="rouge/rougeL", model="a", at=runs[1].id, of="a", correction="none")
    said = texts(page)
    assert "a · Version 2, 2 Mar 2026, 12:00" in said
    assert "without correction" in said
    assert page.dataframe[0].value["model"].unique().tolist() == ["a"]
    drawn = json.loads(page.get("plotly_chart")[0].proto.spec)
    assert [trace["name"] for trace in drawn["data"]] == ["a"]
    metric = next(box for box in page.sidebar.selectbox if box.label.startswith("Metric"))
    metric.set_value(PASSES).run()
    assert page.query_params["key"] in (PASSES, [PASSES])
    assert "0.950" in texts(page)


@pytest.mark.parametrize(("label", "leads"), [
    ("See its cases", {"page": "cases", "run": 1, "model": "a", "evaluator": "text_matching", "metric": "passes"}),
    ("Overview of this run", {"page": "leaderboard", "run": 1}),
    ("Compare with the run before", {"page": "compare", "run": 0, "other": 1, "a": "a", "b": "a", "key": PASSES}),
])  # fmt: skip
def test_a_point_leads_on(runs: list[Run], open_page: Open, went: Went, label: str, leads: dict) -> None:
    press(open_page("trend", run=runs[2].id, key=PASSES, at=runs[1].id, of="a"), label)
    assert went == [{name: runs[value].id if isinstance(value, int) else value for name, value in leads.items()}]


def test_a_first_run_has_nothing_to_be_compared_with(runs: list[Run], open_page: Open) -> None:
    page = open_page("trend", run=runs[2].id, key=PASSES, at=runs[0].id, of="a")
    assert not [button for button in page.button if button.label.startswith("Compare")]
    assert "Since the run before" not in "\n".join(text.value for text in page.text)


def test_one_run_teaches(workspace: Path, open_page: Open, went: Went) -> None:
    run = finished(Workspace(), suite(), outputs(), "text_matching")
    page = open_page("trend")
    assert page.subheader[0].value == "This suite has been evaluated once"
    press(page, "Evaluate this suite again")
    assert went == [{"page": "evaluate", "from": "stored", "suite": run.spec.suite.fingerprint}]


def test_detection_leads_to_the_objects(workspace: Path, open_page: Open) -> None:
    first = objects_run(workspace)
    run = finished(Workspace(), first.suite, first.outputs, "average_precision")
    page = open_page("trend", run=run.id)
    assert literal("No: nothing has changed since the run before") in texts(page)
    assert any(button.label == "See its objects" for button in page.button)


@pytest.mark.parametrize(("verdicts", "said"), [
    (["better", "open"], "Yes: better than in the run before: m0; 1 other without significant change"),
    (["worse"], "No: worse than in the run before: m0"),
    (["worse", "better"], "It depends: better than in the run before m1, worse m0"),
    (["better"] * 5, "Yes: better than in the run before: m0, m1, m2 and 2 more"),
    (["higher"], "Higher than in the run before: m0"),
    (["equal", "equal"], "No: nothing has changed since the run before, in 2 models"),
    (["leaning"], "No significant change since the run before, in 1 model"),
    ([None], "No model has a number that can be compared with an earlier run's"),
])  # fmt: skip
def test_the_answer(verdicts: list[Any], said: str) -> None:
    assert metric_trend.answer([stop_of(f"m{index}", found) for index, found in enumerate(verdicts)]) == said


@pytest.mark.parametrize(("p", "said"), [(None, False), (0.2, True)])
def test_a_change_that_was_not_tested_has_no_p(p: float | None, said: bool) -> None:
    stop = stop_of("m0", "equal")
    assert isinstance(stop.change, Difference)
    facts = metric_trend.change_facts(replace(stop, change=replace(stop.change, p=p, adjusted=p)))
    assert (" · p 0.200, adjusted 0.200 · " in facts) == said
    assert ("adjusted" in facts) == said


def stop_of(model: str, significance: Any) -> Stop:
    """The last run of a model, with a change of that significance since the run before."""
    change = None
    if significance:
        change = Difference(
            column=column("rouge/l"), n=20, only_a=0, only_b=0, neither=0, clusters=20, a=0.5, b=0.6, difference=0.1,
            test="sign_flips", wins=5, losses=2, ties=13, significance=significance,
        )  # fmt: skip
    return Stop("r2", "run", "2026-03-01T12:00:00+00:00", model, cell(0.6), "r1", change)
