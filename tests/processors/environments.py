"""Environments whose numbers must be the same: `python -m tests.processors.environments [NAME …]`.

Every supported Python that is found (on PATH, by uv or by pyenv) gets the locked packages that compute. `lowest` has
the lowest versions that pyproject.toml allows instead, and `newest`, which is made only where it is named, what the
package index has today. They stand in .venv/pythons, and are made again when pyproject.toml or the lock has changed.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

PROJECT = Path(__file__).parents[2]
FOLDER = PROJECT / ".venv" / "pythons"
LOCK = PROJECT / ".ci" / "requirements.lock"
STATED = PROJECT / "pyproject.toml"
OWN = f"{sys.version_info.major}.{sys.version_info.minor}"
SUPPORTED = ("3.11", "3.12", "3.13")
USUAL = (*(version for version in SUPPORTED if version != OWN), "lowest")
NEWEST = "newest"


def made_environments() -> dict[str, Path]:
    """Return the Python of every environment that is there and up to date."""
    made = {name: FOLDER / name / "bin" / "python" for name in (*SUPPORTED, "lowest", NEWEST)}
    return {name: python for name, python in made.items() if _stamp_of(name).exists()}


def make_environment(name: str, uv: str) -> str:
    """Make an environment if it is not there, and return what became of it."""
    if _stamp_of(name).exists():
        return "is there"
    python = find_python(name) if name in SUPPORTED else sys.executable
    if python is None:
        return "left out: no such Python was found on PATH, by uv or by pyenv"
    shutil.rmtree(FOLDER / name, ignore_errors=True)
    _run(uv, "venv", "-q", "--no-project", "--python", python, str(FOLDER / name))
    with tempfile.TemporaryDirectory() as folder:
        locked = Path(folder) / "locked.txt"
        locked.write_text("\n".join(_constraints(name)), encoding="utf-8")
        how = {"lowest": ["--resolution", "lowest-direct"], NEWEST: []}.get(name, [])
        into = ["--python", str(FOLDER / name / "bin" / "python")]
        _run(uv, "pip", "install", "-q", "--no-config", *into, *how, "-r", str(STATED), "-c", str(locked))
    _stamp_of(name).touch()
    return f"made with {python}"


def find_python(version: str) -> str | None:
    """Return the program of a Python of that version; a shim of pyenv may be one in name only."""
    for program in _programs(version):
        is_it = f"import sys; sys.exit('%d.%d' % sys.version_info[:2] != {version!r})"
        try:
            if subprocess.run([program, "-c", is_it], capture_output=True, check=False).returncode == 0:
                return program
        except OSError:
            continue
    return None


def _programs(version: str) -> Iterator[str]:
    if program := shutil.which(f"python{version}"):
        yield program
    if pyenv := shutil.which("pyenv"):
        root = subprocess.run([pyenv, "root"], capture_output=True, text=True, check=False).stdout.strip()
        yield from map(str, sorted(Path(root, "versions").glob(f"{version}.*/bin/python{version}"), reverse=True))
    found = subprocess.run(
        [_uv(), "python", "find", "--no-project", version], capture_output=True, text=True, check=False
    )
    if found.returncode == 0:
        yield found.stdout.strip()


def _constraints(name: str) -> Iterator[str]:
    """Yield the locked versions; of `lowest` but those of packages with a range, and what these bring."""
    free = {"pydantic-core"} | set(
        re.findall(r'^    "([a-z0-9-]+)>=', STATED.read_text(encoding="utf-8"), re.MULTILINE)
    )
    for line in LOCK.read_text(encoding="utf-8").splitlines() if name != NEWEST else ():
        if (pin := re.match(r"([a-z0-9-]+)==[^ ;]+(?: ;[^\\]*)?", line)) and not (name == "lowest" and pin[1] in free):
            yield pin[0].strip()


def _stamp_of(name: str) -> Path:
    """Return the file that is there once an environment of these requirements has been made whole."""
    given = b"".join(file.read_bytes() for file in (STATED, LOCK))
    return FOLDER / name / f".{hashlib.sha256(given).hexdigest()[:16]}"


def _uv() -> str:
    return str(FOLDER / "uv" / "bin" / "uv")


def _run(*command: str) -> None:
    subprocess.run(command, check=True, env=os.environ | {"UV_PYTHON_DOWNLOADS": "never"})


if __name__ == "__main__":
    for each in sys.argv[1:] or USUAL:
        print(f"{each}: {make_environment(each, _uv())}", flush=True)
