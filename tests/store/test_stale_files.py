"""What dead processes left in a workspace is swept away after a day, never what somebody still writes."""

import os
import time
from pathlib import Path

import pytest

from metrics import engine
from metrics.core.files import written_whole
from metrics.reports.archives.write import archive
from metrics.store import Run, Workspace
from metrics.store.run_check import verify
from metrics.store.workspace import UNTOUCHED, sweep
from tests.engine.engine_scenes import text_outputs, text_suite
from tests.pages.page_scenes import objects_run

OLD, NEW = UNTOUCHED + 3600, UNTOUCHED - 3600  # seconds since it was written


def aged(path: Path, seconds: float) -> Path:
    then = time.time() - seconds
    os.utime(path, (then, then))
    return path


@pytest.mark.parametrize("place", ["", "runs/20260101-000000-abcdef/tables", "suites/x/media", "reviews"])
@pytest.mark.parametrize(("age", "left"), [(OLD, False), (NEW, True)], ids=["of yesterday", "of today"])
def test_half_written_files(workspace, place, age, left):
    folder = workspace / place
    folder.mkdir(parents=True, exist_ok=True)
    half, whole = folder / ".scores.parquet.99.part", folder / "scores.parquet"
    for path in (half, whole):
        path.write_text("half")
        aged(path, age)
    assert sweep(workspace) == (not left)
    assert (half.exists(), whole.exists()) == (left, True)


def test_what_is_still_being_written_stays(workspace):
    for name, age in ((".import-old", OLD), (".import-new", NEW)):
        (workspace / name / "run").mkdir(parents=True)
        (workspace / name / "run" / "spec.json").write_text("{")
        aged(workspace / name / "run" / "spec.json", age)
        aged(workspace / name / "run", OLD)
        aged(workspace / name, OLD)
    assert sweep(workspace) == 1
    assert [path.name for path in workspace.iterdir()] == [".import-new"]
    with written_whole(workspace / "runs" / "x" / "scores.parquet") as beside:
        beside.write_text("so far")
        assert sweep(workspace) == 0
    assert (workspace / "runs" / "x" / "scores.parquet").read_text() == "so far"


def test_it_is_done_when_a_run_is_made(run):
    half = run.folder / "tables" / ".scores.parquet.99.part"
    half.write_text("half")
    aged(half, OLD)
    engine.create(Workspace(), text_suite(), text_outputs(), ["bleu"])
    assert not half.exists()
    verify(run)


@pytest.mark.attack("workspace writer", "a link among half-written files leads elsewhere", "links are not followed")
def test_links_are_not_followed(workspace, tmp_path):
    target = tmp_path / "kept"
    target.mkdir()
    (target / ".x.1.part").write_text("kept")
    aged(target / ".x.1.part", OLD)
    (workspace / "elsewhere").symlink_to(target)
    (workspace / ".import-x").symlink_to(target)
    sweep(workspace)
    assert (target / ".x.1.part").exists()


def test_half_written_files_are_no_part_of_what_is_sealed_or_sent(tmp_path):
    (tmp_path / "here").mkdir()
    run = objects_run(tmp_path / "here")
    whole = archive(run)
    folders = [each for root in (run.folder, run.suite_folder, run.outputs_folder) for each in every_folder(root)]
    assert run.suite_folder / "media" in folders
    for folder in folders:
        (folder / ".half.99.part").write_text("half")
    verify(Run(run.folder))
    assert archive(Run(run.folder)) == whole
    url = f"file://{tmp_path}/remote"
    Workspace(tmp_path / "here").push(run, url)
    there = Workspace(tmp_path / "there")
    there.pull(url)
    verify(there.run(run.id))
    assert not [*(tmp_path / "there").rglob(".half*"), *(tmp_path / "remote").rglob(".half*")]


def every_folder(root: Path) -> list[Path]:
    return [root, *(path for path in root.rglob("*") if path.is_dir())]
