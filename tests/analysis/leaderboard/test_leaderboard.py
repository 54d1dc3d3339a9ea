"""The leaderboard of a small run whose numbers are known."""

from pathlib import Path

import pytest

from metrics.analysis import leaderboard
from metrics.analysis.leaderboard.leaderboard import relative_goodness
from metrics.core.evaluator import Direction, Metric
from metrics.store import Run, Workspace
from tests.engine.engine_scenes import MARKED, finished, text_outputs, text_suite


@pytest.fixture
def run(workspace: Path) -> Run:
    return finished(Workspace(), text_suite(12), text_outputs(12), "rouge", "looping_detection", parameters=MARKED)


def test_leaderboard_has_a_cell_for_every_model_and_metric(run: Run) -> None:
    board = leaderboard(run)
    assert board.models == ("good", "poor")
    assert board.tags == ("even", "third")
    assert {(model, column.key) for model in board.models for column in board.columns} == set(board.cells)
    good, poor = (board.cells[model, "rouge/rougeL"] for model in board.models)
    assert (good.value, good.n, good.goodness, good.rank, good.best, good.problem) == (1.0, 12, 1.0, 1, True, False)
    assert (poor.rank, poor.best, poor.problem) == (2, False, True)


def test_leaderboard_of_a_tag(run: Run) -> None:
    assert leaderboard(run, "third").cells["good", "rouge/rougeL"].n == 4


def test_lower_is_better_is_good_when_low(run: Run) -> None:
    board = leaderboard(run)
    column = next(column for column in board.columns if column.metric == "longest_repeated_substring")
    cell = board.cells["good", column.key]
    assert column.direction == "lower"
    assert cell.value is not None
    assert cell.goodness == pytest.approx(1 - cell.value)


@pytest.mark.parametrize(
    ("direction", "values", "goodness"),
    [
        pytest.param(Direction.HIGHER, [1.0, None, 3.0], [0.0, None, 1.0], id="higher"),
        pytest.param(Direction.LOWER, [1.0, 2.0, 3.0], [1.0, 0.5, 0.0], id="lower"),
        pytest.param(Direction.HIGHER, [2.0, 2.0], [None, None], id="all-equal"),
        pytest.param(Direction.NONE, [1.0, 2.0], [None, None], id="undirected"),
    ],
)
def test_goodness_of_an_open_range_is_relative(direction: Direction, values: list, goodness: list) -> None:  # type: ignore[type-arg]
    metric = Metric("m", "", high=float("inf"), direction=direction)
    assert relative_goodness(metric, values) == goodness
