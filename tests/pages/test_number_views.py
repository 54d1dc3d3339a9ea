"""Curves of predicted numbers and of groups: the plots, their numbers, and what opens from them."""

from pathlib import Path

import numpy as np
import pytest

from metrics.presentation.blocks import Curve
from metrics.presentation.viewers.case_texts import case_blocks, predicted_text
from metrics.reports.build import build
from metrics.store import Workspace
from tests.engine.engine_scenes import finished
from tests.evaluators import test_group_fairness as fairness, test_regression as regression
from tests.pages.conftest import Open


def test_residual_plots_and_errors(open_page: Open, workspace: Path) -> None:
    rng = np.random.default_rng(0)
    truth = rng.normal(50, 10, 30)
    run = finished(Workspace(), *regression.data_set(truth, value=truth + rng.normal(2, 3, 30)), "regression")
    page = open_page("curves", run=run.id)
    assert "Where are predictions too high or too low?" in [one.value for one in page.caption]
    (table,) = page.dataframe
    assert list(table.value["Metric"])[:3] == ["MAE ↓", "RMSE ↓", "R² ↑"]
    (group,) = [group for group in build(run).charts if group.title == "Residuals"]
    (chart,) = group.charts
    assert isinstance(chart, Curve)
    assert chart.dots
    assert len(chart.series[0].points) == 30
    assert chart.ticks[0] <= min(map(min, chart.series[0].points))


def test_rates_of_groups_and_tests_between_them(open_page: Open, workspace: Path) -> None:
    data = fairness.data_set(*fairness.random_cases(1))
    given = {"group_fairness": {"column": "tribe"}}
    run = finished(Workspace(), *data, "group_fairness", parameters=given)
    page = open_page("curves", run=run.id, view="groups")
    tests, numbers = (table.value for table in page.dataframe)
    assert set(tests["Groups"]) == {"g0 − g1", "g0 − g2", "g1 − g2"}
    assert list(numbers["Metric"])[:1] == ["Demographic parity difference ↓"]


@pytest.mark.parametrize(
    ("predicted", "shown"), [({"value": [2.5]}, "2.5"), ({"value": [2.5], "low": [2.0], "high": [3.0]}, "2.5 (2 … 3)")]
)
def test_a_case_shows_its_numbers(predicted: dict[str, list[float]], shown: str) -> None:
    suite, outputs = regression.data_set([4.0], **predicted)
    assert predicted_text(outputs.outputs.to_pylist()[0]) == shown
    assert ("True value", "4") in case_blocks(suite.cases.to_pylist()[0])
