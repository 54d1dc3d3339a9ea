"""An unfinished run read like a sealed one: the same numbers for what is done, marked where it is not."""

import json
import shutil
from pathlib import Path

import pytest

from metrics import engine
from metrics.analysis import leaderboard
from metrics.core.errors import RunNotFound
from metrics.core.suite import Outputs
from metrics.engine import snapshots
from metrics.engine.parts import Parts
from metrics.store import Run, Workspace
from tests.engine.engine_scenes import finished, one_thread, stopped, text_outputs, text_suite
from tests.pages.page_scenes import objects_run


def begun(units: int, repeats: int = 1) -> Run:
    """ROUGE and BLEU of `good` and `poor`, four units, of which the first ones are done."""
    suite, outputs = text_suite(), text_outputs(repeats=repeats)
    return stopped(engine.create(Workspace(), suite, outputs, ["rouge", "bleu"]), units)


def test_nothing_done_nothing_shown(workspace: Path) -> None:
    assert engine.snapshot(engine.create(Workspace(), text_suite(), text_outputs(), ["rouge"])) is None


def test_finished_evaluators_have_the_numbers_that_will_be_sealed(workspace: Path) -> None:
    run = begun(3)
    board = leaderboard(engine.snapshot(run) or run)
    engine.resume(run).wait()
    sealed = leaderboard(run)
    done = [column for column in board.columns if column.partly is None]
    assert {column.evaluator for column in done} == {"rouge"}
    assert done == [column for column in sealed.columns if column.evaluator == "rouge"]
    for column in done:
        for model in board.models:
            assert board.cells[model, column.key] == sealed.cells[model, column.key]


def test_an_evaluator_that_is_not_done_tells_how_far_it_is_and_ranks_nobody(workspace: Path) -> None:
    run = begun(3)
    board = leaderboard(engine.snapshot(run) or run)
    column = next(column for column in board.columns if column.evaluator == "bleu")
    assert column.partly == (6, 12)
    first, second = (board.cells[model, column.key] for model in ("good", "poor"))
    assert (first.value, first.n, first.rank, first.best, first.problem) == (1.0, 6, None, False, False)
    assert (second.value, second.n, second.reason) == (None, 0, "not scored yet")


def test_an_evaluator_that_has_not_begun_has_no_column(workspace: Path) -> None:
    board = leaderboard(engine.snapshot(begun(1)) or pytest.fail("no snapshot"))
    assert {column.evaluator: column.partly for column in board.columns} == {"rouge": (6, 12)}


def test_the_whole_data_set_counts_when_every_slice_of_the_model_is_there(tmp_path: Path) -> None:
    sealed = objects_run(tmp_path)
    run = engine.create(Workspace(tmp_path), sealed.suite, sealed.outputs, ["average_precision"])
    board = leaderboard(engine.snapshot(stopped(run, 1)) or run)
    assert board.columns[0].partly == (4, 8)
    key = board.columns[0].key
    assert board.cells["keen", key].value == leaderboard(sealed).cells["keen", key].value
    assert ("shy", key) not in board.cells


def test_repeats_of_the_whole_data_set_are_never_shown_for_all_of_them(tmp_path: Path) -> None:
    sealed = objects_run(tmp_path)
    made = sealed.outputs
    assert made.predictions is not None
    rows = [row | {"run": repeat} for repeat in (1, 2) for row in made.outputs.to_pylist()]
    boxes = [row | {"run": repeat} for repeat in (1, 2) for row in made.predictions.to_pylist()]
    run = engine.create(Workspace(tmp_path), sealed.suite, Outputs.from_rows(rows, boxes), ["average_precision"])
    assert engine.snapshot(stopped(run, 1)) is None, "one repeat of two"
    assert engine.snapshot(stopped(run, 1)) is not None


def test_a_snapshot_is_made_once_and_follows_the_run(workspace: Path) -> None:
    run = begun(1)
    first = engine.snapshot(run)
    assert first is not None
    written = (first.folder / "manifest.json").stat().st_mtime_ns
    assert engine.snapshot(run) == first
    assert (first.folder / "manifest.json").stat().st_mtime_ns == written
    assert Workspace().run(first.id) == first
    assert (first.name, first.state, first.workspace.path) == (run.name, "cancelled", workspace)
    later = engine.snapshot(stopped(run, 1))
    assert later is not None
    assert later.id != first.id
    assert len(later.scores) == 2 * len(first.scores)


def test_a_sealed_run_has_no_snapshot_and_none_is_left(workspace: Path) -> None:
    run = begun(2)
    found = engine.snapshot(run)
    assert found is not None
    (run.folder / "cancel").unlink()
    engine.execute(run, one_thread)
    assert engine.snapshot(run) is None
    assert not (run.folder / "unfinished").exists()
    with pytest.raises(RunNotFound, match="has moved on; open it again"):
        Workspace().run(found.id)


def test_only_the_last_snapshots_are_kept(workspace: Path) -> None:
    run = engine.create(Workspace(), text_suite(), text_outputs(), ["rouge", "bleu", "looping_detection"])
    made = [engine.snapshot(stopped(run, 1)) for _ in range(5)]
    there = [one is not None and (one.folder / "manifest.json").exists() for one in made]
    assert there == [False, False, True, True, True]


def test_a_run_that_is_sealed_meanwhile_has_none(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = begun(1)
    read = Parts.read

    def gone(self: Parts, *of: object) -> object:
        shutil.rmtree(self.folder)
        return read(self, *of)  # type: ignore[arg-type]

    monkeypatch.setattr(Parts, "read", gone)
    assert snapshots.snapshot(run) is None
    assert not list((run.folder / "unfinished").glob("*/*"))


@pytest.mark.parametrize("stamp", ["", "../../x", "0123456789ab"])
def test_a_stamp_that_is_none(workspace: Path, stamp: str) -> None:
    run = finished(Workspace(), text_suite(), text_outputs(), "rouge")
    if stamp:
        with pytest.raises(RunNotFound):
            Workspace().run(f"{run.id}@{stamp}")
    assert json.loads((run.folder / "manifest.json").read_text())["run"] == run.id
