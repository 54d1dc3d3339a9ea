"""What a power cut leaves of a folder: the bytes and the names that were synced, and what may have been by chance.

A file's bytes are safe once the file was synced, a name once its folder was. Everything else may be lost, or not: the
four `LEFT` are the corners of what a disk may do. A rename from one folder to another is one change, as journals make
it. After each operation a `Moment` says what would be left.
"""

import io
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

Names = dict[str, dict[str, int]]  # folder → name → number of the file or folder
Contents = dict[int, bytes]  # by the number of the file
Tree = dict[str, bytes | None]  # path → bytes; None for a folder


@dataclass(frozen=True)
class Moment:
    """The disk after one operation: what programs see, and what is safe of it."""

    names: Names
    contents: Contents
    safe_names: Names
    safe_contents: Contents
    last: Mapping[tuple[str, str], int | None]  # what the operation changed: folder and name → number, None: gone

    def lost(self) -> Tree:
        """What was not synced is lost, names and bytes."""
        return self._tree(self.safe_names, lambda number: self.safe_contents.get(number, b""))

    def named(self) -> Tree:
        """Every name is there, with the bytes that were synced: of a new file that was not, none."""
        return self._tree(self.names, lambda number: self.safe_contents.get(number, b""))

    def torn(self) -> Tree:
        """Every name is there, with the half of the bytes that were not synced."""
        return self._tree(self.names, self._half)

    def disordered(self) -> Tree:
        """Of the names that were not synced only the last change is there: folders may be written in any order."""
        mixed = {place: dict(found) for place, found in self.safe_names.items()}
        for (folder, name), number in self.last.items():
            if number is None:
                mixed.get(folder, {}).pop(name, None)
            else:
                mixed.setdefault(folder, {})[name] = number
        return self._tree(mixed, self._half)

    def _half(self, number: int) -> bytes:
        safe, now = self.safe_contents.get(number, b""), self.contents.get(number)
        if now is None or safe == now:  # of a file that was replaced there is what was synced
            return safe
        return now[: max(len(safe), len(now) // 2)]

    def _tree(self, names: Names, content: Callable[[int], bytes]) -> Tree:
        return dict(self._below("", names, content))

    def _below(self, folder: str, names: Names, content: Callable[[int], bytes]) -> Iterator[tuple[str, bytes | None]]:
        for name, number in sorted(names.get(folder, {}).items()):
            path = f"{folder}/{name}".lstrip("/")
            if number < 0:
                yield path, None
                yield from self._below(path, names, content)
            else:
                yield path, content(number)


LEFT: tuple[Callable[[Moment], Tree], ...] = (Moment.lost, Moment.named, Moment.torn, Moment.disordered)


class Moments:
    """What is safe below a folder, kept after each operation; what is there at the beginning is."""

    def __init__(self, root: Path):
        self.root = root.resolve()
        self.all: list[Moment] = []
        self._bytes: dict[bytes, bytes] = {}  # equal contents are kept once
        names, contents = self._seen()
        self._names, self._safe_names, self._safe_contents = names, names, contents
        self._together: set[tuple[str, str]] = set()  # folders between which something was renamed

    def note(self, kind: str, path: str, source: str = "") -> None:
        """Keep what is there after an operation on `path`, which was `source` before a rename."""
        names, contents = self._seen()
        place, before = os.path.relpath(path, self.root), self._names
        self._names = names
        if kind == "create":  # a number may have been another file's before
            self._safe_contents = {number: data for number, data in self._safe_contents.items() if number != _of(path)}
        if kind == "fsync" and os.path.isdir(path):
            folder = "" if place == "." else place
            pairs = {pair for pair in self._together if folder in pair}
            self._together -= pairs
            self._safe_names = self._safe_names | {one: names[one] for one in {folder, *sum(pairs, ())} if one in names}
        elif kind == "fsync":
            self._safe_contents = self._safe_contents | {_of(path): contents[_of(path)]}
        if kind == "mkdir":  # an empty folder is a folder
            self._safe_names = {found: own for found, own in self._safe_names.items() if found != place}
        if kind == "rename" and os.path.dirname(source) != os.path.dirname(path):
            self._together.add((os.path.dirname(os.path.relpath(source, self.root)), os.path.dirname(place)))
        if kind == "rename" and os.path.isdir(path):  # a folder takes along what it has, wherever it is found later
            old = os.path.relpath(source, self.root)
            moved = {place + found[len(old) :]: own for found, own in self._safe_names.items() if _within(found, old)}
            self._safe_names = self._safe_names | moved
        changed = {
            (folder, name): names.get(folder, {}).get(name)
            for folder in before.keys() | names.keys()
            for name in before.get(folder, {}).keys() | names.get(folder, {}).keys()
            if before.get(folder, {}).get(name) != names.get(folder, {}).get(name)
        }
        self.all.append(Moment(names, contents, self._safe_names, self._safe_contents, changed))

    def _seen(self) -> tuple[Names, Contents]:
        names: Names = {}
        contents: Contents = {}
        for folder, folders, files in os.walk(self.root):
            place = os.path.relpath(folder, self.root)
            own = names.setdefault("" if place == "." else place, {})
            for name in folders:
                own[name] = -1
            for name in files:
                path = os.path.join(folder, name)
                own[name] = _of(path)
                with io.FileIO(path) as file:  # not by `open`, which is counted
                    data = file.readall()
                contents[own[name]] = self._bytes.setdefault(data, data)
        return names, contents


def _within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder + os.sep)


def _of(path: str) -> int:
    return os.stat(path).st_ino


def restore(tree: Mapping[str, bytes | None], root: Path) -> None:
    """Make a folder what a power cut has left of it."""
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir(parents=True)
    for path, data in tree.items():
        if data is None:
            (root / path).mkdir(parents=True, exist_ok=True)
        else:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_bytes(data)
