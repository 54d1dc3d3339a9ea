"""metrics.board: the models of all runs of a suite, read as a run."""

from pathlib import Path

import pytest

import metrics
from metrics.core.errors import InputError, RunNotFound
from metrics.testing import assert_metric
from tests.engine.engine_scenes import finished, text_outputs, text_suite


def test_a_board_is_read_as_a_run(workspace: Path) -> None:
    runs = [
        finished(metrics.Workspace(), text_suite(24), text_outputs(24, (model,)), "rouge") for model in ("good", "poor")
    ]
    board = metrics.board("turns")
    assert isinstance(board, metrics.Run)
    assert board == metrics.Workspace().run("board") == metrics.board(runs[0].spec.suite.fingerprint[:6])
    assert {entry.name: entry.answers.run.id for entry in board.entries} == {run.models[0]: run.id for run in runs}
    assert set(board.aggregates["model"]) == {"good", "poor"}
    assert "good" in board.headline
    assert "good" in board._repr_html_()
    assert "good" in str(board)
    assert b"good" in board.export("aggregates")
    assert len(board.slices) >= 0
    assert board.show("c1").outputs
    for refused in (lambda: board.archive(workspace / "board.zip"), lambda: board.describe(name="x")):
        with pytest.raises(InputError, match=f"a board, joined from runs.*{runs[0].id}"):
            refused()
    with pytest.raises(AssertionError, match="poor"):
        assert_metric(board, "rougeL", not_worse_than=f"{runs[0].id}:good")


def test_without_a_run(workspace: Path) -> None:
    with pytest.raises(RunNotFound):
        metrics.board()
