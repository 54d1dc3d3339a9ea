"""The project file: `assay.toml`, or `[tool.assay]` in `pyproject.toml`, of the folder one works in."""

import tomllib
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any

from metrics.core.errors import InputError, InputProblem
from metrics.core.files import bytes_of

NAMES = ("assay.toml", "pyproject.toml")
BYTES = 1 << 20
CODE = ("plugin", "target", "config")  # keys of an evaluation that may name code, or a file that says what is done


def project_file(folder: Path) -> Path | None:
    """Return the project file of a folder: assay.toml, else a pyproject.toml with [tool.assay]; None without one."""
    files = [folder / name for name in NAMES]
    return next((file for file in files if file.is_file() and _is_project(file)), None)


def read_project(file: Path) -> dict[str, Any]:
    """Return what a project file says, unchecked. InputError where it cannot be read, or is no TOML."""
    found = read_toml(file, "a project file")
    if file.name == "pyproject.toml":
        found = found.get("tool", {}).get("assay", {})
    return found


def read_toml(file: Path, expected: str) -> dict[str, Any]:
    """Return what a TOML file of settings says. InputError, with what was `expected`, where it cannot be read."""
    try:
        text = bytes_of(file)
        if len(text) > BYTES:
            raise InputError([InputProblem(str(file), f"{len(text):,} bytes", f"at most {BYTES:,}")])
        return tomllib.loads(text.decode("utf-8"))
    except OSError as failure:
        raise InputError([InputProblem(str(file), failure.strerror or "unreadable", expected)]) from None
    except (ValueError, RecursionError) as failure:  # of TOML or of UTF-8; lists in lists in lists …
        raise InputError([InputProblem(str(file), f"TOML that cannot be read: {failure}", "TOML")]) from None


def project_plugins(file: Path) -> list[str]:
    """Return the references under `plugins`. InputError where they are no list of texts."""
    found = read_project(file).get("plugins", [])
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
        raise InputError(
            [InputProblem(str(file), repr(found), "a list of MODULE:OBJECT or FILE.py:OBJECT", column="plugins")]
        )
    return found


def code_references(file: Path) -> list[str]:
    """Return each text of a project file under `plugins`, and under CODE in its evaluations.

    None where the file cannot be read, which whoever reads it for more is told.
    """
    try:
        found = read_project(file)
    except InputError:
        return []
    evaluations = found.get("evaluate")
    sections = [found.get("defaults"), *(evaluations.values() if isinstance(evaluations, dict) else ())]
    given = [found.get("plugins"), *(own.get(key) for own in sections if isinstance(own, dict) for key in CODE)]
    return [*chain.from_iterable(map(texts_in, given))]


def texts_in(value: Any) -> list[str]:
    """Return the texts in a value of a TOML file."""
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [value] if isinstance(value, str) else [*chain.from_iterable(map(texts_in, parts))]


def _is_project(file: Path) -> bool:
    if file.name != "pyproject.toml":
        return True
    stored = file.stat()
    return _has_settings(file, stored.st_mtime_ns, stored.st_size)


@lru_cache(maxsize=64)  # the registry asks each time that it is walked through
def _has_settings(file: Path, written: int, size: int) -> bool:  # noqa: ARG001 - parts of the cache's key
    try:
        return bool(read_project(file))
    except InputError:
        return False  # not ours to complain about
