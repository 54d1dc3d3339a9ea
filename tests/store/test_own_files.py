"""Links, pipes and devices that something else put into a workspace are neither read nor written through."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from metrics.cli.main import main
from metrics.core.errors import RunCorrupt, StorageError
from metrics.core.files import copy_folder, make_file
from metrics.core.suite import Outputs
from metrics.engine import create, start
from metrics.store import Run, Workspace
from tests.engine.engine_scenes import finished, text_outputs, text_suite
from tests.store.conftest import copy_of

SECRET = "s3cret-of-another"


@pytest.fixture
def outside(tmp_path):
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "id_rsa").write_text(SECRET)
    return folder


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    (folder / "files").mkdir()
    (folder / "files" / ("0" * 32)).write_text("of an agent")
    outputs = Outputs(text_outputs().outputs, files=folder / "files")
    return finished(Workspace(folder / "workspace"), text_suite(), outputs, "rouge")


@pytest.fixture
def run(whole, workspace):
    return copy_of(whole, workspace)


def linked(path: Path, target: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)
    path.symlink_to(target)


def made(folder: Path) -> Path:
    folder.mkdir()
    return folder


PLANTED: dict[str, Callable[[Run, Path], None]] = {
    "a table to a file of another": lambda run, to: linked(run.table_path("scores") or run.folder, to / "id_rsa"),
    "a table to an endless device": lambda run, _: linked(run.table_path("scores") or run.folder, Path("/dev/zero")),
    "the specification": lambda run, to: linked(run.folder / "spec.json", to / "id_rsa"),
    "the log": lambda run, to: linked(run.folder / "log.txt", to / "id_rsa"),
    "the reason of a failure": lambda run, to: linked(run.folder / "failure.txt", to / "id_rsa"),
    "the folder of the tables": lambda run, to: linked(run.folder / "tables", to),
    "the cases": lambda run, to: linked(run.suite_folder / "cases.parquet", to / "id_rsa"),
    "an image": lambda run, to: linked(made(run.suite_folder / "media") / "a.png", to / "id_rsa"),
    "the folder of the images": lambda run, to: linked(run.suite_folder / "media", to),
    "an agent's file": lambda run, to: linked(run.outputs_folder / "artifacts" / ("1" * 32), to / "id_rsa"),
    "the outputs": lambda run, to: linked(run.outputs_folder, to),
    "all runs": lambda run, to: linked(shutil.move(run.folder.parent, to / "runs") and run.folder.parent, to / "runs"),
    "a pipe": lambda run, _: os.mkfifo(run.folder / "pipe"),
}


@pytest.mark.attack(
    "workspace writer", "a link in a run leads to a file of another", "no link below a workspace is followed"
)
@pytest.mark.parametrize("planted", PLANTED)
def test_a_run_with_a_link_is_neither_shown_nor_exported_nor_sent(planted, run, outside, tmp_path, capsys):
    PLANTED[planted](run, outside)
    shared = tmp_path / "shared"
    shared.mkdir()
    for command in (["archive", run.id, "-o", f"{shared}/run.zip"], ["push", run.id, f"file://{shared}/there"]):
        assert main(command) == 2
        assert "only its own files are read" in capsys.readouterr().err
    for command in (["runs"], ["export", run.id, "-o", f"{shared}/scores.csv"]):
        main(command)
    assert SECRET not in "".join(capsys.readouterr())
    assert {path.name for path in shared.rglob("*") if path.is_file()} <= {"scores.csv"}


@pytest.mark.attack(
    "workspace writer", "a link where a file is written", "links are replaced or refused, never followed"
)
def test_nothing_is_written_through_a_link(workspace, outside):
    run = create(Workspace(), text_suite(), text_outputs(), ["rouge"])
    (run.folder / "log.txt").symlink_to(outside / "id_rsa")
    with pytest.raises(StorageError, match="no link is allowed"):
        start(run)
    with pytest.raises(OSError, match="symbolic links"):
        make_file(run.folder / "log.txt")
    (run.folder / "cancel").symlink_to(outside / "new")
    assert not (outside / "new").exists()
    with pytest.raises(RunCorrupt):
        Workspace().run(run.id)
    assert (outside / "id_rsa").read_text() == SECRET


def test_a_link_among_copied_images_is_left_out(tmp_path, outside):
    source = tmp_path / "images"
    source.mkdir()
    (source / "a.png").write_text("a")
    (source / "key.png").symlink_to(outside / "id_rsa")
    (source / "all").symlink_to(outside)
    copy_folder(source, tmp_path / "copy")
    assert sorted(path.name for path in (tmp_path / "copy").rglob("*")) == ["a.png"]


def test_the_workspace_itself_may_be_a_link(whole, tmp_path):
    run = copy_of(whole, tmp_path / "disk")
    (tmp_path / "workspace").symlink_to(tmp_path / "disk")
    assert Workspace(tmp_path / "workspace").run(run.id).damage is None


def test_a_link_planted_after_a_look_is_seen(run, outside):
    assert Workspace().run(run.id) == run
    (run.folder / "tables" / "more.parquet").symlink_to(outside / "id_rsa")
    with pytest.raises(RunCorrupt, match=r"more\.parquet is a link to "):
        Workspace().run(run.id)
