"""An unfinished run read like a sealed one: the same numbers for what is done, marked where it is not."""

import shutil
from dataclasses import replace
from unittest.mock import ANY

import pytest

from metrics import engine
from metrics.analysis import leaderboard
from metrics.core.errors import RunNotFound
from metrics.core.suite import Outputs
from metrics.engine import snapshots
from metrics.engine.parts import Parts
from metrics.store import Run, Workspace
from tests.engine.engine_scenes import one_thread, stopped, text_outputs, text_suite
from tests.pages.page_scenes import objects_run


def begun(units: int) -> Run:
    """ROUGE and BLEU of `good` and `poor`, four units, of which the first ones are done."""
    return stopped(engine.create(Workspace(), text_suite(), text_outputs(), ["rouge", "bleu"]), units)


def test_a_run_is_read_while_it_goes_on(workspace):
    """What is done has the numbers that will be sealed, the rest says how far it is and ranks nobody."""
    run = begun(0)
    assert engine.snapshot(run) is None, "nothing is done"

    first = engine.snapshot(stopped(run, 1))
    written = (first.folder / "manifest.json").stat().st_mtime_ns
    assert engine.snapshot(run) == first
    assert (first.folder / "manifest.json").stat().st_mtime_ns == written
    assert Workspace().run(first.id) == first
    assert (first.name, first.state, first.workspace.path) == (run.name, "cancelled", workspace)
    assert {column.evaluator: column.partly for column in leaderboard(first).columns} == {"rouge": (6, 12)}

    later = engine.snapshot(stopped(run, 2))
    assert later.id != first.id
    board = leaderboard(later)
    column = next(column for column in board.columns if column.evaluator == "bleu")
    assert column.partly == (6, 12)
    good, poor = (board.cells[model, column.key] for model in ("good", "poor"))
    assert (good.value, good.n, good.rank, good.best, good.problem) == (1.0, 6, None, False, False)
    assert (poor.value, poor.n, poor.reason) == (None, 0, "not scored yet")

    (run.folder / "cancel").unlink()
    engine.execute(run, one_thread)
    sealed = leaderboard(run)
    done = [column for column in board.columns if column.partly is None]
    assert done == [column for column in sealed.columns if column.evaluator == "rouge"]
    for column in done:
        for model in board.models:
            final = sealed.cells[model, column.key]  # whose p is one of more tests
            assert board.cells[model, column.key] == replace(final, rank=ANY, last_rank=ANY, best=ANY)
    assert engine.snapshot(run) is None
    assert not (run.folder / "unfinished").exists()
    with pytest.raises(RunNotFound, match="has moved on; open it again"):
        Workspace().run(later.id)


def test_the_whole_data_set_counts_when_every_slice_is_there_and_never_its_repeats(tmp_path):
    sealed = objects_run(tmp_path)
    run = engine.create(Workspace(tmp_path), sealed.suite, sealed.outputs, ["average_precision"])
    board = leaderboard(engine.snapshot(stopped(run, 1)) or run)
    assert board.columns[0].partly == (4, 8)
    key = board.columns[0].key
    assert board.cells["keen", key].value == leaderboard(sealed).cells["keen", key].value
    assert ("shy", key) not in board.cells
    sealed = objects_run(tmp_path)
    made = sealed.outputs
    rows = [row | {"run": repeat} for repeat in (1, 2) for row in made.outputs.to_pylist()]
    boxes = [row | {"run": repeat} for repeat in (1, 2) for row in made.predictions.to_pylist()]
    run = engine.create(Workspace(tmp_path), sealed.suite, Outputs.from_rows(rows, boxes), ["average_precision"])
    assert engine.snapshot(stopped(run, 1)) is None, "one repeat of two"
    assert engine.snapshot(stopped(run, 1)) is not None


def test_only_the_last_snapshots_are_kept(workspace):
    run = engine.create(Workspace(), text_suite(), text_outputs(), ["rouge", "bleu", "looping_detection"])
    made = [engine.snapshot(stopped(run, 1)) for _ in range(5)]
    there = [one is not None and (one.folder / "manifest.json").exists() for one in made]
    assert there == [False, False, True, True, True]


def test_a_run_that_is_sealed_meanwhile_has_none(workspace, monkeypatch):
    run = begun(1)
    read = Parts.read

    def gone(self: Parts, *of: object) -> object:
        shutil.rmtree(self.folder)
        return read(self, *of)  # type: ignore[arg-type]

    monkeypatch.setattr(Parts, "read", gone)
    assert snapshots.snapshot(run) is None
    assert not list((run.folder / "unfinished").glob("*/*"))


@pytest.mark.parametrize("place", ["hold_lock", "table_facts", "write_manifest"])
def test_what_is_sealed_while_it_is_read_leaves_nothing_behind(place, workspace, monkeypatch):
    run = begun(1)

    def seal_meanwhile(*_args, **_kwargs):
        (run.folder / "cancel").unlink(missing_ok=True)
        engine.execute(run, one_thread)

    there = getattr(snapshots, place)
    monkeypatch.setattr(snapshots, place, lambda *given: (seal_meanwhile(), there(*given))[1])
    assert engine.snapshot(run) is None
    assert run.state == "finished"
    assert not [each for each in (run.folder / "unfinished").glob("*") if each.is_dir()]
