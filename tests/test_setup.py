"""The Makefile, its locks and .ci/run: what they promise, tried with stand-ins for Python and make."""

import itertools
import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests import chromium as browsers

TARGETS = sorted(
    "audit bench check chromium clean coverage docs fuzz help lint lock mutants pictures pythons run samples sbom "
    "setup setup-dev test test-long types".split()
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
VENV = "-m venv --clear .venv"
LOCKED = "-m pip install --quiet --no-compile --no-deps --require-hashes -r {}"
TORCH = "-m pip install --quiet {}torch==2.13.0"
WARM_UP = "-m metrics warm-up"
PRODUCT = [LOCKED.format(".ci/requirements.lock"), TORCH.format(""), WARM_UP]


def script(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)


def make(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    outer = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}  # make runs these tests
    return subprocess.run(["make", *arguments], cwd=folder, env=outer | environment, capture_output=True, text=True)


@pytest.fixture
def workbench(project: Path, tmp_path: Path) -> Path:
    """A folder with the Makefile, the requirements and, in bin/, the few commands that recipes need, but no Python."""
    (tmp_path / ".ci").mkdir()
    for file in (project / "Makefile", *project.glob("requirements*"), *project.glob(".ci/requirements*")):
        shutil.copy(file, tmp_path / file.relative_to(project))
    (tmp_path / "bin").mkdir()
    for command in ("sh", "make", "mkdir", "cp", "touch", "awk", "grep"):
        (tmp_path / "bin" / command).symlink_to(str(shutil.which(command)))
    return tmp_path


def test_help_lists_every_target_and_each_has_a_recipe(project: Path) -> None:
    listed = re.findall(r"^  make ([a-z-]+) +\S", make(project).stdout, re.MULTILINE)
    assert sorted(listed) == TARGETS
    phony = re.search(r"^\.PHONY: (.*)$", (project / "Makefile").read_text().replace("\\\n", ""), re.MULTILINE)
    assert phony
    assert sorted(phony[1].split()) == TARGETS
    dry = make(project, "--dry-run", "--always-make", *TARGETS)
    assert dry.returncode == 0, dry.stderr


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
    steps = [VENV, *PRODUCT]
    assert log.read_text().splitlines() == steps
    assert make(workbench, "setup", PATH=path).returncode == 0
    assert log.read_text().splitlines() == steps, "nothing to do the second time"
    os.utime(workbench / ".ci" / "requirements.lock", (4e9, 4e9))
    make(workbench, "setup-dev", "TORCH=--index-url CPU-BUILDS", PATH=path)
    again = [LOCKED.format(".ci/requirements.lock"), TORCH.format("--index-url CPU-BUILDS "), WARM_UP]
    assert log.read_text().splitlines() == [*steps, *again, LOCKED.format("/dev/stdin")], "the same environment"


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


def versions(lock: str) -> dict[str, str]:
    return dict(re.findall(r"^([a-z0-9.-]+)==([^\s;]+)", lock, re.MULTILINE))


@pytest.mark.parametrize("name", [".ci/requirements.lock", ".ci/requirements-dev.lock"])
def test_every_locked_package_has_a_version_and_hashes(project: Path, name: str) -> None:
    lines = re.sub(r"\\\n", "", (project / name).read_text()).splitlines()
    locked = [line for line in lines if not line.startswith("#")]
    assert locked
    assert [line for line in locked if not re.match(r"[a-z0-9.-]+==\S+ .*--hash=sha256:[0-9a-f]{64}", line)] == []


def test_the_files_that_make_lock_writes_have_what_the_project_declares(project: Path) -> None:
    """requirements.txt names every requirement once, as locked, torch among them."""
    declared = tomllib.loads((project / "pyproject.toml").read_text(encoding="utf-8"))
    wanted = [
        *declared["project"]["dependencies"],
        *itertools.chain(*declared["project"]["optional-dependencies"].values()),
    ]
    locked = versions((project / ".ci" / "requirements.lock").read_text())
    assert "torch" not in locked
    locked |= versions("\n".join(declared["tool"]["uv"]["constraint-dependencies"]))
    extras: dict[str, set[str]] = {}
    for requirement in map(Requirement, wanted):
        name = canonicalize_name(requirement.name)
        if name != "assay":
            assert locked[name] in requirement.specifier, f"{requirement}: locked {locked[name]}; run make lock"
            extras.setdefault(name, set()).update(requirement.extras)
    lines = (project / "requirements.txt").read_text().splitlines()
    stated: list[Any] = [Requirement(line) for line in lines if not line.startswith("#")]
    assert [(one.name, one.extras, str(one.specifier)) for one in stated] == [
        (name, extras[name], f"=={locked[name]}") for name in sorted(extras)
    ], "run make lock"
    parts = (project / ".ci" / "requirements-dev.lock").read_text().split("\n# ")[1:]
    for part in parts:
        name, _, lock = part.partition("\n")
        group = {canonicalize_name(Requirement(one).name) for one in declared["dependency-groups"][name]}
        assert group <= {*versions(lock)}, "run make lock"
    assert len(parts) == len(declared["dependency-groups"])


def test_ci_runs_make_test_from_any_folder(project: Path, tmp_path: Path) -> None:
    script(tmp_path / "make", f'#!/bin/sh\necho "$PWD $*" > {tmp_path}/log\nexit 7\n')
    done = subprocess.run(
        [project / ".ci/run"], cwd=tmp_path, env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    )
    assert (tmp_path / "log").read_text() == f"{project} test\n"
    assert done.returncode == 7, "a failure is passed on"


@pytest.mark.parametrize("broken", ["ruff", "lint-imports", "mypy", "pytest", None])
def test_a_check_that_fails_fails_the_target(workbench: Path, broken: str | None) -> None:
    tools = workbench / ".venv/bin"
    tools.mkdir(parents=True)
    for name in ("ruff", "lint-imports", "mypy"):
        script(tools / name, f"#!/bin/sh\necho {name} says so\nexit {int(name == broken)}\n")
    script(
        tools / "python",
        f'#!/bin/sh\necho "$*" >> {workbench}/log\ncase "$2" in pytest) exit {int(broken == "pytest")};; esac\n',
    )
    (tools.parent / "pythons/uv").mkdir(parents=True)
    for stamp in (".setup", ".setup-dev", "pythons/uv/.setup"):
        (tools.parent / stamp).touch()
        os.utime(tools.parent / stamp, (5e9, 5e9))
    done = make(workbench, "test", "ARGS=-k rouge")
    assert (done.returncode != 0) is (broken is not None), done.stdout + done.stderr
    if broken not in ("ruff", "lint-imports"):
        assert "mypy says so" in done.stdout
        assert "-k rouge" in (workbench / "log").read_text()
    makefile = (workbench / "Makefile").read_text()
    assert not re.search(r"^\t@?-|\|\| true", makefile, re.MULTILINE), "nothing is passed over"


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
