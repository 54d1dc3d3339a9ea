"""Print the tests of what a change touches, for `make check`: python -m tests.changed [BASE]

The change is what differs from BASE, by default from where the branch left `main`, uncommitted files included; on a
clean `main` it is the last commit. Tests mirror the rooms: those of a module are the files of its room's test folder
that name it, or all of them where none does. Browser tests are left to `make test`.
"""

import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

PROJECT = Path(__file__).resolve().parents[1]
FILES_OF_SETUP = ("Makefile", ".ci/run", "pyproject.toml", "tests/chromium.py")
FILES_OF_STARTS = ("Dockerfile", ".dockerignore", "compose.yaml", "app.py", "requirements.txt", ".ci/requirements.lock")
FILES_AROUND = ("compose.yaml", ".devcontainer/devcontainer.json", ".pre-commit-config.yaml", "CITATION.cff")


def changed(base: str | None = None) -> list[str]:
    """Return the paths that differ from `base` and still exist."""
    if base is None:
        branches = _git("branch", "--all", "--format=%(refname:short)")
        main = next((name for name in ("main", "origin/main") if name in branches), "HEAD")
        base = _git("merge-base", main, "HEAD")[0]
        if not _git("status", "--porcelain") and base == _git("rev-parse", "HEAD")[0]:
            base = "HEAD~1"
    paths = {*_git("diff", "--name-only", base), *_git("ls-files", "--others", "--exclude-standard")}
    return sorted(path for path in paths if (PROJECT / path).exists())


def _git(*arguments: str) -> list[str]:
    done = subprocess.run(["git", *arguments], cwd=PROJECT, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def select(paths: Iterable[str]) -> list[str]:
    """Return the test files, or tests of them, for changed paths."""
    found: set[str] = set()
    for path in map(PurePosixPath, paths):
        if str(path) in FILES_OF_STARTS:
            found.add("tests/journeys/test_starts.py")
        if path.suffix == ".md":
            found |= {f"tests/docs/test_blocks.py::test_blocks[{path.name}]"} if _has_blocks(PROJECT / path) else set()
            found.add("tests/docs/test_reference.py")
        elif str(path) in FILES_OF_SETUP or path.match("requirements*"):
            found.add("tests/test_setup.py")
        elif str(path) in FILES_AROUND:
            found.add("tests/test_files_around.py")
        elif path.parts[0] == "tests" and path.name.startswith("test_"):
            found.add(str(path))
        elif path.parts[0] == "tests" and path.suffix == ".py":
            found |= _naming(".".join(path.with_suffix("").parts), PROJECT / "tests")
        elif path.parts[0] in ("metrics", "components", "pages"):
            found |= _of_module(path)
    return sorted(test for test in found if "_browser" not in test)


def _of_module(path: PurePosixPath) -> set[str]:
    parts = path.parts[1:-1] if path.parts[0] == "metrics" else path.parts[:-1]
    room = PROJECT.joinpath("tests", *parts)
    while not any(room.glob("**/test_*.py")):
        room = room.parent
    if room == PROJECT / "tests":
        return set()
    stem = path.parent.name if path.stem == "__init__" else path.stem
    return _naming(stem, room) or {str(file.relative_to(PROJECT)) for file in room.glob("**/test_*.py")}


def _naming(name: str, folder: Path) -> set[str]:
    """Return the test files under a folder whose name or text has a name as a word."""
    word = re.compile(rf"(?<![\w]){re.escape(name)}(?![\w])")
    return {
        str(file.relative_to(PROJECT))
        for file in folder.glob("**/test_*.py")
        if file.stem == f"test_{name}" or word.search(file.read_text(encoding="utf-8"))
    }


def _has_blocks(file: Path) -> bool:
    return re.search(r"^```(bash|python)", file.read_text(encoding="utf-8"), re.MULTILINE) is not None


if __name__ == "__main__":
    print(*select(changed(*sys.argv[1:2])), sep="\n")
