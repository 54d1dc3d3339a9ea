"""The leaderboard of a small run whose numbers are known."""

from pathlib import Path

import pytest

from metrics import engine
from metrics.analysis import leaderboard
from metrics.analysis.leaderboard.leaderboard import _equal, relative_goodness
from metrics.core.evaluator import Direction, Metric
from metrics.store import Run, Workspace
from tests.analysis.scored import scored_run
from tests.engine.engine_scenes import MARKED, finished, stopped, text_outputs, text_suite


@pytest.fixture(scope="module")
def run(shelf: Workspace) -> Run:
    return finished(shelf, text_suite(12), text_outputs(12), "rouge", "looping_detection", parameters=MARKED)


def test_leaderboard_has_a_cell_for_every_model_and_metric(run: Run) -> None:
    board = leaderboard(run)
    assert (board.models, board.tags) == (("good", "poor"), ("even", "third"))
    assert {(model, column.key) for model in board.models for column in board.columns} == set(board.cells)
    good, poor = (board.cells[model, "rouge/rougeL"] for model in board.models)
    assert (good.value, good.n, good.goodness, good.rank, good.best, good.problem) == (1.0, 12, 1.0, 1, True, False)
    assert (poor.rank, poor.best, poor.problem) == (2, False, True)


@pytest.mark.parametrize(("direction", "values", "goodness"), [
    pytest.param(Direction.HIGHER, [1.0, None, 3.0], [0.0, None, 1.0], id="higher"),
    pytest.param(Direction.LOWER, [1.0, 2.0, 3.0], [1.0, 0.5, 0.0], id="lower"),
    pytest.param(Direction.HIGHER, [2.0, 2.0], [None, None], id="all-equal"),
    pytest.param(Direction.NONE, [1.0, 2.0], [None, None], id="undirected"),
])  # fmt: skip
def test_goodness_of_an_open_range_is_relative(direction: Direction, values: list, goodness: list) -> None:
    assert relative_goodness(Metric("m", "", high=float("inf"), direction=direction), values) == goodness


def test_a_metric_without_a_better_end_is_not_ranked(workspace: Path) -> None:
    for models in ("a", "ab"):
        values = {model: [float(model == "a")] * 12 for model in models}
        cells = leaderboard(scored_run({"no_answer": values, "answer_correctness": values})).cells
        found = cells["a", "no_answer/no_answer"]
        assert (found.value, found.rank, found.last_rank, found.ranked, found.untested) == (1.0, None, None, 0, None)
        ranked = cells["a", "answer_correctness/answer_correctness"]
        assert (ranked.rank, ranked.last_rank, ranked.ranked) == (1, 1, len(models))
        assert ranked.best is (len(models) > 1)


def test_the_only_model_with_a_value_is_the_first_of_one(workspace: Path) -> None:
    name = "answer_correctness"
    cells = leaderboard(scored_run({name: {"speaks": [0.5] * 4, "mute": [None] * 4}})).cells
    speaks, mute = (cells[model, f"{name}/{name}"] for model in ("speaks", "mute"))
    assert (speaks.rank, speaks.last_rank, speaks.ranked, speaks.best, speaks.problem) == (1, 1, 1, True, True)
    assert (mute.value, mute.rank, mute.best, mute.problem, mute.untested) == (None, None, False, False, None)


def test_numbers_repeat_each_other_only_where_every_model_has_them_alike() -> None:
    assert _equal(0.5, 0.5 + 5e-10)
    assert not _equal(0.5, 0.5 + 5e-9)
    assert _equal(None, None)
    assert not _equal(None, 0.0)
    assert not _equal(0.0, None)


def test_an_evaluator_under_way_ranks_and_blames_nobody(workspace: Path) -> None:
    run = stopped(engine.create(Workspace(), text_suite(), text_outputs(), ["rouge"], parameters=MARKED), 1)
    cells = leaderboard(engine.snapshot(run) or run).cells
    done, to_come = (cells[model, "rouge/rougeL"] for model in ("good", "poor"))
    assert (done.value, done.n, done.reason) == (1.0, 6, None)
    assert (to_come.value, to_come.n, to_come.reason) == (None, 0, "not scored yet")
    for cell in (done, to_come):
        assert (cell.rank, cell.last_rank, cell.ranked, cell.best, cell.problem) == (None, None, 0, False, False)
