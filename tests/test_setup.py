"""The Makefile and .ci/run: what they promise, tried with stand-ins for Python and make."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests import chromium as browsers

TARGETS = sorted(
    "bench check chromium clean docs help lint lock pictures run samples setup setup-dev test types unit".split()
)

# Answers the Makefile's question about its version with the given exit status, makes a .venv whose python is a copy of
# itself, and writes down what it was asked to do.
PYTHON = """#!/bin/sh
case "$1" in
    --version) echo "Python of the test" ;;
    -c) exit {status} ;;
    *) echo "$*" >> "{log}"; if [ "$2" = venv ]; then mkdir -p .venv/bin; cp "$0" .venv/bin/python; fi ;;
esac
"""


def script(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)


def make(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    outer = {
        name: value for name, value in os.environ.items() if not name.startswith("MAKE")
    }  # make test runs these tests
    return subprocess.run(["make", *arguments], cwd=folder, env=outer | environment, capture_output=True, text=True)


@pytest.fixture
def workbench(project: Path, tmp_path: Path) -> Path:
    """A folder with the Makefile, the requirements and, in bin/, the few commands that recipes need, but no Python."""
    for name in ("Makefile", "requirements.txt", "requirements-dev.txt"):
        shutil.copy(project / name, tmp_path)
    (tmp_path / "bin").mkdir()
    for command in ("sh", "make", "mkdir", "cp", "touch"):
        (tmp_path / "bin" / command).symlink_to(str(shutil.which(command)))
    return tmp_path


def test_help_lists_every_target(project: Path) -> None:
    listed = re.findall(r"^  make ([a-z-]+) +\S", make(project).stdout, re.MULTILINE)
    assert sorted(listed) == TARGETS
    phony = re.search(r"^\.PHONY: (.*)$", (project / "Makefile").read_text(), re.MULTILINE)
    assert phony
    assert sorted(phony[1].split()) == TARGETS


@pytest.mark.parametrize("target", TARGETS)
def test_each_target_has_a_recipe(project: Path, target: str) -> None:
    dry = make(project, "--dry-run", "--always-make", target)
    assert dry.returncode == 0, dry.stderr
    assert dry.stdout.strip()


@pytest.mark.parametrize(
    ("pythons", "chosen"),
    [
        pytest.param({"python3": 0}, "python3", id="the only one"),
        pytest.param({"python3": 1, "python3.12": 0, "python3.11": 0}, "python3.12", id="python3 is too old"),
        pytest.param({"python3": 1, "python": 0}, "python", id="last resort"),
    ],
)
def test_setup_finds_a_python_once(workbench: Path, pythons: dict[str, int], chosen: str) -> None:
    log = workbench / "log"
    for name, status in pythons.items():
        script(workbench / "bin" / name, PYTHON.format(status=status, log=log))
    path = str(workbench / "bin")
    first = make(workbench, "setup", PATH=path)
    assert first.returncode == 0, first.stderr
    assert (workbench / ".venv/bin/python").read_text() == (workbench / "bin" / chosen).read_text()
    steps = ["-m venv --clear .venv", "-m pip install --quiet -r requirements.txt", "-m metrics warm-up"]
    assert log.read_text().splitlines() == steps
    assert make(workbench, "setup", PATH=path).returncode == 0
    assert log.read_text().splitlines() == steps, "nothing to do the second time"
    os.utime(workbench / "requirements.txt", (4e9, 4e9))
    make(workbench, "setup", PATH=path)
    assert log.read_text().splitlines() == [*steps, *steps[1:]], "new requirements, same environment"


def test_setup_without_a_python_says_so(workbench: Path) -> None:
    script(workbench / "bin" / "python3", PYTHON.format(status=1, log=workbench / "log"))
    failed = make(workbench, "setup", PATH=str(workbench / "bin"))
    assert failed.returncode == 2
    assert (
        "No Python 3.11 or newer with venv was found. Install one (Debian: apt install python3-venv)." in failed.stderr
    )
    assert not (workbench / ".venv").exists()


def test_a_failed_install_leaves_no_stamp(workbench: Path) -> None:
    (workbench / ".venv/bin").mkdir(parents=True)
    script(workbench / ".venv/bin/python", "#!/bin/sh\nexit 1\n")
    assert make(workbench, "setup").returncode == 2
    assert not (workbench / ".venv/.setup").exists()


def test_ci_runs_make_test_from_any_folder(project: Path, tmp_path: Path) -> None:
    script(tmp_path / "make", f'#!/bin/sh\necho "$PWD $*" > {tmp_path}/log\nexit 7\n')
    done = subprocess.run(
        [project / ".ci/run"], cwd=tmp_path, env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    )
    assert (tmp_path / "log").read_text() == f"{project} test\n"
    assert done.returncode == 7, "a failure is passed on"


def test_the_checks_cannot_be_ignored(project: Path) -> None:
    makefile = (project / "Makefile").read_text()
    assert "|| true" not in makefile
    assert not re.search(r"^\t@?-", makefile, re.MULTILINE)


@pytest.mark.parametrize(
    ("content", "found"),
    [
        pytest.param("#!/bin/sh\necho Chromium 1\n", True, id="starts"),
        pytest.param("#!/bin/sh\nexit 1\n", False, id="a stub that does not start"),
        pytest.param(None, False, id="absent"),
    ],
)
def test_the_chosen_chromium(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str | None, found: bool) -> None:
    path = tmp_path / "browser"
    if content:
        script(path, content)
    monkeypatch.setenv("ASSAY_CHROMIUM", str(path))
    assert browsers.find() == (str(path) if found else None)
