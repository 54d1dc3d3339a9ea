"""Whether the code that a project file names may run: asked once a folder, remembered by what its files hold.

A project file comes with a folder, which may be anybody's: cloned, unpacked, of a pull request. So nothing that it
names runs before somebody has read it and said so, as with an .envrc of direnv. What is remembered stands in the
account's own folder, where no project can put it.
"""

import os
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

from metrics.core.errors import InputError, InputProblem
from metrics.core.files import bytes_of, write_text
from metrics.core.installation import state_folder
from metrics.core.project_file import code_references

ALLOW_ALL = "ASSAY_ALLOW_PLUGINS"  # "1": those of every folder, for a machine on which nobody is asked
ALLOW = "python -m metrics plugins allow"
BETWEEN = re.compile(r"[\s=:]+")


def allow_code(project: Path) -> list[Path]:
    """Let the code that a project file names run from now on, as its files are now; return those files."""
    remember(_key(project), str(project))
    return code_files(project)


def refuse_unasked_code(project: Path, references: Sequence[str]) -> None:
    """Raise InputError for code that a project file names, and that nobody has allowed to run."""
    if references and not is_allowed(project):
        found = f"code that is not allowed to run: {', '.join(references)}"
        expected = f"that you read it and then allow it: `{ALLOW} {project.parent}`; in CI {ALLOW_ALL}=1"
        raise InputError([InputProblem(str(project), found, expected)])


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
    """Return the files below or beside a project file that the code in it is in."""
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


def _key(project: Path) -> str:
    """Return what stands for the code of a project file as it is now."""
    files = code_files(project)
    states = tuple((str(file), file.stat().st_mtime_ns, file.stat().st_size) for file in (project, *files))
    return _digest(project.resolve(), states)


@lru_cache(maxsize=64)  # the registry asks each time that it is walked through
def _digest(project: Path, states: tuple[tuple[str, int, int], ...]) -> str:
    """Return the sha256 (hex) of where a project file is, the code that it names, and the bytes of its files."""
    digest = sha256(bytes(project))
    for text in (*code_references(project), *(sha256(bytes_of(file)).hexdigest() for file, *_ in states[1:])):
        digest.update(f"\n{text!r}".encode())
    return digest.hexdigest()
