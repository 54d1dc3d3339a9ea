"""Shards of a run, merged: the same bytes as one process makes, and what is refused."""

from pathlib import Path

import pytest

from metrics import engine
from metrics.core.errors import InputError
from metrics.core.files import read_json, write_json
from metrics.engine.merge import merge
from metrics.engine.plan import SHARD, Shard, make_shard, own_units, plan
from metrics.store import Run, Workspace
from metrics.store.run_check import verify
from tests.engine.engine_scenes import finished, one_thread, text_outputs, text_suite

CHOSEN = ("rouge", "bleu", "consistency_statistics")


def shard_of(workspace: Path, index: int, of: int, seed: int = 0, execute: bool = True) -> Run:
    run = engine.create(Workspace(workspace), text_suite(), text_outputs(repeats=2), CHOSEN, seed=seed)
    make_shard(run, Shard(index, of))
    return engine.execute(run, one_thread) if execute else run


def test_merged_shards_are_the_bytes_of_one_run(tmp_path):
    whole = finished(Workspace(tmp_path / "whole"), text_suite(), text_outputs(repeats=2), *CHOSEN)
    shards = [shard_of(tmp_path / f"{index}", index, 5) for index in range(1, 6)]  # more than there are units
    assert all(run.state != "finished" for run in shards)
    folders = [shards[0].folder, *(run.workspace.path for run in shards[1:])]  # of runs and of workspaces
    merged = merge(folders, Workspace(tmp_path / "merged"))
    verify(merged)
    assert tables(merged) == tables(whole)


def tables(run: Run) -> dict[str, str]:
    return {name: facts["sha256"] for name, facts in (run.manifest or {})["tables"].items()}


def test_every_unit_is_in_one_shard_but_those_that_follow_scores(tmp_path):
    units = plan(shard_of(tmp_path / "all", 1, 1, execute=False))
    parts = [own_units(shard_of(tmp_path / f"{index}", index, 4, execute=False), units) for index in range(1, 5)]
    names = sorted(unit.name for part in parts for unit in part)
    assert names == sorted(unit.name for unit in units if unit.evaluator != "consistency_statistics")


def test_everything_that_does_not_fit_is_refused_at_once(tmp_path):
    first = shard_of(tmp_path / "a", 1, 4)
    stale = shard_of(tmp_path / "b", 2, 4)
    facts = read_json(stale.folder / SHARD)
    write_json(stale.folder / SHARD, facts | {"versions": facts["versions"] | {"Assay": "0.0.1"}})
    other = shard_of(tmp_path / "c", 3, 4, seed=5)
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(InputError) as failure:
        merge([first.folder, stale.folder, other.folder, empty], Workspace(tmp_path / "merged"))
    text = str(failure.value)
    assert "found no shard" in text
    assert "Assay 0.0.1" in text
    assert "shard 3/4 of another run" in text
    assert "expected shard 4 as well" in text
    assert not (tmp_path / "merged").exists()


def test_an_unfinished_shard_is_refused(tmp_path):
    run = shard_of(tmp_path / "a", 1, 1, execute=False)
    with pytest.raises(InputError, match=r"units not done; expected `resume"):
        merge([run.folder], Workspace(tmp_path / "merged"))


@pytest.mark.parametrize("text", ["0/3", "4/3", "1", "a/b", "1/0"])
def test_a_shard_is_written_as_one_of_many(text):
    with pytest.raises(InputError, match="the second of eight shards"):
        Shard.parse(text)
