"""A damaged run is made again from what is whole: the bytes that were sealed, or a run of its own beside it."""

import shutil
from pathlib import Path

import pytest

from metrics.core.errors import RunCorrupt
from metrics.engine.repair import repair
from metrics.store import Run, Workspace
from metrics.store.run_check import check, damaged
from tests.engine.engine_scenes import finished, one_thread, text_outputs, text_suite
from tests.pages.page_scenes import objects_run
from tests.store.test_seal import flip


@pytest.fixture(scope="module")
def sealed(tmp_path_factory):
    return objects_run(tmp_path_factory.mktemp("sealed"))


@pytest.fixture
def run(sealed, tmp_path):
    shutil.copytree(sealed.workspace.path, tmp_path / "workspace")
    return Workspace(tmp_path / "workspace").run(sealed.id)


def files(run: Run) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(run.folder.rglob("*.parquet"))}


@pytest.mark.parametrize("damage", [flip, Path.unlink], ids=["changed", "lost"])
def test_damaged_tables_come_back_with_the_bytes_that_were_sealed(run, damage):
    before = files(run)
    for name in ("aggregates", "matches.average_precision", "replicates"):
        damage(run.folder / "tables" / f"{name}.parquet")
    done = repair(run, one_thread)
    assert done.again is None
    assert sorted(done.parts) == ["table aggregates", "table matches/average_precision", "table replicates"]
    assert files(run) == before
    assert [one.id for one in Workspace(run.workspace.path).runs()] == [run.id], "what was computed for it is gone"
    assert repair(run, one_thread) == ((), None)


def test_a_run_whose_seal_is_damaged_is_evaluated_again_beside_it(run):
    flip(run.folder / "manifest.json")
    done = repair(run, one_thread)
    assert done.parts == ()
    assert run.state == "damaged"
    assert done.again.aggregates.shape
    assert not damaged(check(done.again))


def test_other_bytes_never_take_the_place_of_what_was_sealed(workspace, monkeypatch):
    run = finished(Workspace(), text_suite(), text_outputs(), "bleu")
    flip(run.folder / "tables/scores.parquet")
    before = files(run)
    monkeypatch.setattr("metrics.engine.seal.ROWS", 5)  # as another version writes them: other row groups
    done = repair(run, one_thread)
    assert (files(run), len(done.again.scores)) == (before, 48)


@pytest.mark.parametrize("name", ["cases.parquet", "annotations.parquet"])
def test_nothing_is_made_from_a_damaged_suite(run, name):
    flip(run.suite_folder / name)
    flip(run.folder / "tables/scores.parquet")
    with pytest.raises(RunCorrupt, match=f"{name} differs from its seal"):
        repair(run, one_thread)
    assert len(Workspace(run.workspace.path).runs()) == 1


@pytest.mark.parametrize("text", ["{", None], ids=["unreadable", "another seed"])
def test_nothing_is_made_from_a_damaged_specification(run, text):
    path = run.folder / "spec.json"
    path.write_text(text or path.read_text().replace('"seed": 0', '"seed": 1'))
    with pytest.raises(RunCorrupt, match=r"spec\.json"):
        repair(Run(run.folder), one_thread)
    assert not Workspace(run.workspace.path).runs()
