"""Temporary folders: removed by their process, else by a later one; the only ways to make one."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from metrics.core import files
from metrics.core.files import scratch_folder, temporary_folder
from tests.conftest import PROJECT

MAKES = re.compile(r"\b(?:mkdtemp|mkstemp|TemporaryDirectory|NamedTemporaryFile)\(")
OTHERS = {
    "metrics/core/files.py",  # what every other uses
    "metrics/reports/archives/read.py",  # which the workspace removes
    "metrics/cli/failures.py",  # the traceback that a person is to read
}  # fmt: skip
HOLDS = "from metrics.core.files import temporary_folder as t; print(t('media'), flush=True); input()"


def holder(place: Path) -> "tuple[subprocess.Popen[str], Path]":
    """A process with a temporary folder that looks as if it were from yesterday."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDS], env=os.environ | {"TMPDIR": str(place), "PYTHONPATH": str(PROJECT)}, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    folder = Path(process.stdout.readline().strip())
    (folder / "image.png").write_bytes(b"x")
    os.utime(folder, (1, 1))
    return process, folder


@pytest.mark.attack(
    "suite author", "killed runs fill the disk with images in temporary folders", "a later one removes them"
)
def test_what_a_killed_process_has_left_is_removed_and_nothing_else(tmp_path):
    killed, left = holder(tmp_path)
    lives, used = holder(tmp_path)
    others = [tmp_path / "assay-media-of-mine", tmp_path / "elses.scratch"]
    for folder in others:
        folder.mkdir()
        os.utime(folder, (1, 1))
    (tmp_path / "assay-link.scratch").symlink_to(others[0])
    killed.kill()
    killed.communicate()
    files._remove_leftovers.cache_clear()
    with scratch_folder("media", tmp_path) as own:
        assert own.parent == tmp_path
        assert not left.exists()
        assert (used / "image.png").exists()
        assert all(folder.is_dir() for folder in others)
    assert not own.exists()
    lives.communicate("\n")
    assert not used.exists()


def test_a_folder_that_was_just_made_stays(tmp_path):
    made = tmp_path / f"assay-media-1{files.SCRATCH}"
    made.mkdir()
    files._remove_leftovers.cache_clear()
    with scratch_folder("media", tmp_path):
        assert made.is_dir()


def test_it_is_for_its_owner_only(tmp_path):
    with scratch_folder("test", tmp_path) as folder:
        assert folder.stat().st_mode & 0o777 == 0o700
    assert temporary_folder("test").stat().st_mode & 0o777 == 0o700


def test_nobody_makes_a_temporary_folder_of_another_kind():
    made = {
        path.relative_to(PROJECT).as_posix()
        for room in ("metrics", "components", "pages")
        for path in (PROJECT / room).rglob("*.py")
        if MAKES.search(path.read_text(encoding="utf-8"))
    }
    assert made == OTHERS
