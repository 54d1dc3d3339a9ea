"""The Makefile and .ci/run: what they promise, tried with stand-ins for Python and make."""

import itertools
import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests import chromium as browsers

TARGETS = sorted(
    "audit bench check chromium clean coverage docs faults fuzz help lint lock mutants pictures run samples sbom setup "
    "setup-dev test types "
    "unit".split()
)

# Answers the Makefile's question about its version with the given exit status, makes a .venv whose python is a copy of
# itself, and writes down what it was asked to do. Modules called `broken` fail.
PYTHON = """#!/bin/sh
case "$1" in
    --version) echo "Python of the test" ;;
    -c) exit {status} ;;
    *) echo "$*" >> "{log}"; if [ "$2" = venv ]; then mkdir -p .venv/bin; cp "$0" .venv/bin/python; fi
        [ "$2" != "{broken}" ] ;;
esac
"""
VENV = "-m venv --clear .venv"
GET_UV = "-m pip install --quiet --require-hashes -r requirements-uv.txt"
BY_UV = "-m uv pip install --quiet --python .venv/bin/python --no-deps --require-hashes -r requirements{}.txt"
BY_PIP = "-m pip install --quiet --no-deps --require-hashes -r requirements{}.txt"
TORCH = "-m pip install --quiet -r requirements-torch.txt"
WARM_UP = "-m metrics warm-up"


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
    for file in (project / "Makefile", *project.glob("requirements*.txt")):
        shutil.copy(file, tmp_path)
    (tmp_path / "bin").mkdir()
    for command in ("sh", "make", "mkdir", "cp", "touch"):
        (tmp_path / "bin" / command).symlink_to(str(shutil.which(command)))
    return tmp_path


def test_help_lists_every_target(project: Path) -> None:
    listed = re.findall(r"^  make ([a-z-]+) +\S", make(project).stdout, re.MULTILINE)
    assert sorted(listed) == TARGETS
    phony = re.search(r"^\.PHONY: (.*)$", (project / "Makefile").read_text().replace("\\\n", ""), re.MULTILINE)
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
        script(workbench / "bin" / name, PYTHON.format(status=status, log=log, broken=""))
    path = str(workbench / "bin")
    first = make(workbench, "setup", PATH=path)
    assert first.returncode == 0, first.stderr
    assert (workbench / ".venv/bin/python").read_text() == (workbench / "bin" / chosen).read_text()
    steps = [VENV, GET_UV, BY_UV.format(""), TORCH, WARM_UP]
    assert log.read_text().splitlines() == steps
    assert make(workbench, "setup", PATH=path).returncode == 0
    assert log.read_text().splitlines() == steps, "nothing to do the second time"
    os.utime(workbench / "requirements.txt", (4e9, 4e9))
    make(workbench, "setup", PATH=path)
    assert log.read_text().splitlines() == [*steps, *steps[1:]], "new requirements, same environment"


def test_setup_without_uv_takes_pip(workbench: Path) -> None:
    log = workbench / "log"
    script(workbench / "bin" / "python3", PYTHON.format(status=0, log=log, broken="uv"))
    done = make(workbench, "setup-dev", PATH=str(workbench / "bin"))
    assert done.returncode == 0, done.stderr
    assert "uv could not install requirements.txt; pip does, which takes longer" in done.stdout
    product = [GET_UV, BY_UV.format(""), BY_PIP.format(""), TORCH, WARM_UP]
    tests = [GET_UV, BY_UV.format("-dev"), BY_PIP.format("-dev")]
    assert log.read_text().splitlines() == [VENV, *product, *tests]


def test_setup_takes_another_build_of_torch(workbench: Path) -> None:
    log = workbench / "log"
    script(workbench / "bin" / "python3", PYTHON.format(status=0, log=log, broken=""))
    make(workbench, "setup", "TORCH=--index-url CPU-BUILDS", PATH=str(workbench / "bin"))
    assert "-m pip install --quiet --index-url CPU-BUILDS -r requirements-torch.txt" in log.read_text().splitlines()


@pytest.mark.parametrize("name", [f"requirements{which}.txt" for which in ("", "-dev", "-uv", "-audit")])
def test_every_locked_package_has_a_version_and_hashes(project: Path, name: str) -> None:
    lines = re.sub(r"\\\n", "", (project / name).read_text()).splitlines()
    locked = [line for line in lines if not line.startswith("#")]
    assert locked
    assert [line for line in locked if not re.match(r"[a-z0-9.-]+==\S+ .*--hash=sha256:[0-9a-f]{64}", line)] == []


def test_the_lock_has_what_the_package_declares(project: Path) -> None:
    """Each requirement of the core and of every extra is locked, within its bounds; torch stands in its own file."""
    declared = tomllib.loads((project / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [*declared["dependencies"], *itertools.chain(*declared["optional-dependencies"].values())]
    lines = [
        line
        for name in ("requirements.txt", "requirements-torch.txt")
        for line in (project / name).read_text().splitlines()
    ]
    locked = dict(found.groups() for line in lines if (found := re.match(r"([a-z0-9.-]+)==([^\s;]+)", line)))
    for requirement in map(Requirement, wanted):
        if requirement.name != "assay":
            version = locked[canonicalize_name(requirement.name)]
            assert version in requirement.specifier, f"{requirement}: locked {version}; run make lock"


def test_setup_without_a_python_says_so(workbench: Path) -> None:
    script(workbench / "bin" / "python3", PYTHON.format(status=1, log=workbench / "log", broken=""))
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
