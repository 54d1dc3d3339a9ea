"""Who can read what Assay stores: its owner, whatever the umask says and whatever an earlier version left open."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from metrics.core.files import make_file, make_folder
from metrics.store import Workspace
from metrics.store.own_files import FOLDERS
from tests.conftest import PROJECT
from tests.engine.engine_scenes import text_outputs, text_suite


def open_to_others(root: Path) -> list[str]:
    return [str(path) for path in [root, *root.rglob("*")] if path.stat().st_mode & 0o077]


@pytest.mark.attack(
    "worker", "another user of the machine reads runs, images, caches and logs", "folders 0700, files 0600"
)
def test_nobody_else_can_read_what_commands_store(tmp_path: Path) -> None:
    place = tmp_path / "made" / "by" / "assay"
    environment = os.environ | {
        "ASSAY_WORKSPACE": str(place), "XDG_CACHE_HOME": str(tmp_path / "cache"), "PYTHONPATH": str(PROJECT),
    }  # fmt: skip
    command = [sys.executable, str(Path(__file__).with_name("private_commands.py")), str(tmp_path)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert {"runs", "suites", "outputs", "labels", "monitors", "targets", "bin", "cache"} <= set(os.listdir(place))
    roots = [tmp_path / "made", tmp_path / "other", *(tmp_path / "cache").glob("*")]
    assert [path for root in roots for path in open_to_others(root)] == []
    assert {path.name for path in place.iterdir() if path.is_dir()} <= set(FOLDERS)
    assert (tmp_path / "run.zip").stat().st_mode & 0o077, "what a person asked for follows the umask"


@pytest.mark.attack("worker", "a workspace of an earlier version is open to others", "it is tightened when written to")
def test_folders_of_an_earlier_version_are_tightened(workspace: Path) -> None:
    for name in ("runs", "suites", "monitors", "of the user"):
        (workspace / name).mkdir(parents=True)
        (workspace / name).chmod(0o755)
    workspace.chmod(0o755)
    Workspace().save_suite(text_suite())
    modes = {path.name: path.stat().st_mode & 0o777 for path in workspace.iterdir()}
    assert modes == {"runs": 0o700, "suites": 0o700, "monitors": 0o700, "of the user": 0o755}
    assert workspace.stat().st_mode & 0o777 == 0o755, "it may be a folder of the user's that was there before"


def test_a_folder_and_those_above_it(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        make_folder(tmp_path / "a" / "b" / "c")
        make_folder(tmp_path / "a" / "b" / "c")
        (tmp_path / "old.log").touch(0o644)
        make_file(tmp_path / "old.log")
    finally:
        os.umask(before)
    assert open_to_others(tmp_path / "a") == []
    assert open_to_others(tmp_path / "old.log") == []


def test_images_are_copied_for_the_owner_only(workspace: Path, tmp_path: Path) -> None:
    suite, outputs = text_suite(), text_outputs()
    (tmp_path / "files").mkdir(mode=0o755)
    (tmp_path / "files" / "a").write_text("x")
    fingerprint = Workspace().save_outputs(type(outputs)(outputs.outputs, files=tmp_path / "files"), suite)
    assert open_to_others(workspace / "outputs" / fingerprint) == []
