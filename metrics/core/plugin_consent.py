"""Whether a project file may do more than compute: asked once a folder, remembered by what its files hold.

A project file comes with a folder, which may be anybody's: cloned, unpacked, of a pull request. So nothing that it
names runs, gets a key, or is read or written outside of its folder before somebody has read it and said so, as with an
.envrc of direnv. What is remembered stands in the account's own folder, where no project can put it.
"""

import os
import re
import sys
from collections.abc import Iterator, Sequence
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

from metrics.core.errors import InputError, InputProblem
from metrics.core.files import bytes_of, write_text
from metrics.core.input_problems import short
from metrics.core.installation import state_folder
from metrics.core.project_file import code_references, project_file, read_project

ALLOW_ALL = "ASSAY_ALLOW_PLUGINS"  # "1": whatever a folder asks, for a machine on which nobody is asked
ALLOW = "python -m metrics plugins allow"
BETWEEN = re.compile(r"[\s=:]+")


def allow_project(project: Path, acts: Sequence[str]) -> list[Path]:
    """Let a project file do these acts from now on, as its files are now; return the files that it is asked of."""
    for act in ("", *acts):
        remember(_key(project, act), f"{project} {act}")
    return code_files(project)


def refuse_unasked_acts(project: Path, acts: Sequence[str]) -> None:
    """Raise InputError listing what a project file would do, and nobody has allowed."""
    unasked = [act for act in dict.fromkeys(acts) if not is_remembered(_key(project, act))]
    if unasked:
        named = project.parent if project_file(project.parent) == project else project
        acts = short("; ".join(unasked), sys.maxsize)  # all of them: no long one may hide the others
        expected = f"that you read it and then allow it (`{ALLOW} {named}`; in CI {ALLOW_ALL}=1): {acts}"
        raise InputError([InputProblem(str(project), "what nobody has allowed", expected)])


def act_of_code(reference: str) -> str:
    """Return what stands for running the code of a reference."""
    return f"code {reference}"


def is_allowed(project: Path) -> bool:
    """Return whether the code that a project file names may run, as its files are now."""
    return is_remembered(_key(project))


def remember(key: str, what: str) -> None:
    """Let the code that has a key run from now on; `what` is for whoever looks into the folder."""
    if not is_remembered(key):
        write_text(_record(key), f"{what}\n")


def is_remembered(key: str) -> bool:
    """Return whether the code that has a key may run."""
    return os.environ.get(ALLOW_ALL) == "1" or _record(key).is_file()


def code_files(project: Path) -> list[Path]:
    """Return the files that the code of a project file is in, and those that say for it what is done."""
    return [*dict.fromkeys(file for text in code_references(project) for file in _files_of(project.parent, text))]


def _files_of(folder: Path, reference: str) -> Iterator[Path]:
    """Yield each file that a part of a reference names: FILE.py:OBJECT, a module, or the words of a command."""
    for word in BETWEEN.split(reference):
        parts = word.split(".")
        modules = ["/".join(parts[:size]) for size in range(1, len(parts) + 1)] if all(parts) else []
        for name in (word, *(name + end for name in modules for end in (".py", "/__init__.py"))):
            if word and os.path.isfile(folder / name):
                yield folder / name


def _record(key: str) -> Path:
    """Return the file that is there where the code that has a key may run."""
    return state_folder() / "allowed" / key


def _key(project: Path, act: str = "") -> str:
    """Return what stands for an act of a project file as it is now; without one, for its plugins."""
    files = code_files(project)
    states = tuple((str(file), file.stat().st_mtime_ns, file.stat().st_size) for file in (project, *files))
    return sha256(f"{_digest(project.resolve(), states)}\n{act}".encode(errors="replace")).hexdigest()


@lru_cache(maxsize=64)  # the registry asks each time that it is walked through
def _digest(project: Path, states: tuple[tuple[str, int, int], ...]) -> str:
    """Return the sha256 (hex) of where a project file is, what it says, and the bytes of the files that it names."""
    digest = sha256(bytes(project))
    for text in (_read_text(project), *(sha256(bytes_of(file)).hexdigest() for file, *_ in states[1:])):
        digest.update(f"\n{text!r}".encode())
    return digest.hexdigest()


def _read_text(project: Path) -> str:
    """Return all that a project file says; nothing where it cannot be read, which whoever reads it for more is told."""
    try:
        return repr(read_project(project))
    except InputError:
        return ""
