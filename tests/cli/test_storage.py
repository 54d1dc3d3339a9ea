"""A machine that refuses to store: every command says so in one line and exits with 4, and nothing is half-written."""

import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from metrics.cli.main import main
from metrics.store import Workspace

SUITE = "case_id,question,expected_answer\n1,Capital of Peru?,Lima\n2,What is 6 x 7?,42\n"
OUTPUTS = "case_id,model,answer\n1,small,Lima\n2,small,41\n"


@pytest.fixture
def files(tmp_path):
    """A suite and outputs, as the arguments of evaluate that begin every test."""
    (tmp_path / "suite.csv").write_text(SUITE)
    (tmp_path / "outputs.csv").write_text(OUTPUTS)
    return ["evaluate", str(tmp_path / "suite.csv"), str(tmp_path / "outputs.csv"), "--evaluators", "rouge", "--quiet"]


def run(
    arguments: list[str], before: Callable[[], None] | None = None, within: tuple[str, ...] = (), **more: object
) -> tuple[int, list[str]]:
    """Return the exit code of a command in a process of its own, and the lines on its standard error."""
    command = [*within, sys.executable, "-m", "metrics", *arguments]
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True, preexec_fn=before, **more)
    return done.returncode, done.stderr.splitlines()


def limited(kind: int, most: int) -> Callable[[], None]:
    return lambda: resource.setrlimit(kind, (most, most))


def test_a_workspace_that_is_a_file_or_has_too_long_a_name(files, tmp_path, capsys):
    assert main([*files, "--workspace", str(tmp_path / "suite.csv")]) == 4
    assert capsys.readouterr().err == (
        f"{tmp_path}/suite.csv: there is a file where a folder is needed; choose another folder, then do it again: "
        "what is done is kept\n"
    )
    assert (tmp_path / "suite.csv").read_text() == SUITE
    assert main([*files, "--workspace", str(tmp_path / ("n" * 300))]) == 4
    (line,) = capsys.readouterr().err.splitlines()
    assert "the name is too long; choose a shorter one" in line
    assert len(line) < 350


@pytest.mark.parametrize("command", ["runs", "suites list", "rubric list", "cache stats", "verify latest", "samples"])
def test_what_cannot_be_read_is_not_empty(command, tmp_path, capsys):
    (tmp_path / "file").write_text("kept")
    assert main([*command.split(), "--workspace", str(tmp_path / "file" / "w")]) == 4
    assert "there is a file where a folder is needed" in capsys.readouterr().err


@pytest.mark.skipif("COVERAGE_RUN" in os.environ, reason="the figures of the coverage may not grow either")
def test_files_that_may_not_grow(files, workspace):
    code, (line,) = run(files, limited(resource.RLIMIT_FSIZE, 2_000))
    assert (code, "the file would be too large; raise the limit (`ulimit -f`)" in line) == (4, True)
    assert not list(workspace.rglob("*.part"))
    assert main(files) == 0


def test_standard_output_on_a_full_disk(files, workspace):
    assert main(files) == 0
    with Path("/dev/full").open("w") as full:
        code, lines = run(["runs"], stdout=full)
    assert (code, len(lines)) == (4, 1)
    assert lines[0].startswith("the disk is full")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_permission(files, tmp_path, capsys):
    (tmp_path / "closed").mkdir(mode=0o500)
    assert main([*files, "--workspace", str(tmp_path / "closed" / "w")]) == 4
    assert "permission is denied" in capsys.readouterr().err


@pytest.mark.parametrize(("options", "fill", "told"), [
    pytest.param("size=32k", "head -c 28000 /dev/zero > fill", "the disk is full (", id="full"),
    pytest.param("nr_inodes=8", "true", "the disk has no room for more files (0 of 8 inodes free)", id="no inodes"),
    pytest.param("ro", "true", "the disk is read-only; choose another folder", id="read-only"),
])  # fmt: skip
def test_a_disk_of_its_own(options, fill, told, files, tmp_path):
    """A small disk, mounted in a name space of its own where that is allowed."""
    place = tmp_path / "disk"
    place.mkdir()
    script = f'mount -t tmpfs -o {options} none {place} && cd {place} && {fill} && cd {Path.cwd()} && exec "$@"'
    within = ("unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script, "sh")
    if shutil.which("unshare") is None or subprocess.run([*within, "true"], capture_output=True).returncode:
        pytest.skip("needs name spaces of users, to mount a disk")
    code, (line,) = run([*files, "--workspace", str(place / "w")], within=within)
    assert code == 4
    assert told in line


def test_a_run_whose_failure_cannot_be_stored_is_interrupted_and_resumed(files, workspace, monkeypatch, capsys):
    """The disk is full from the first part on: the exit code and the line tell, the state is `interrupted`."""
    from metrics.core import files as stored

    real = stored.sync

    def full(path: Path) -> None:
        if path.parent.name == "parts" or path.name.startswith(".failure"):
            raise OSError(28, "No space left on device", str(path))
        real(path)

    monkeypatch.setattr(stored, "sync", full)
    assert main(files) == 4
    assert "the disk is full (" in capsys.readouterr().err
    (run,) = Workspace(workspace).runs()
    assert (run.state, run.failure) == ("interrupted", None)
    monkeypatch.undo()
    assert main(["resume", run.id, "--workspace", str(workspace), "--quiet"]) == 0
    assert run.state == "finished"
