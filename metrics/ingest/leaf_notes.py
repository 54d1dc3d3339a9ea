"""The leaves of documents by their paths, for receipts: which field each is, or why it is not used."""

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from metrics.core.receipt import Use
from metrics.ingest.source import Problems

UNKNOWN = "nothing that is evaluated has this name"
UNSCORED = "ground truth has no scores"
MAX_PATHS = 500  # that are counted each; the rest is counted under the place where they begin
NOTHING: Mapping[str, str] = MappingProxyType({})


def leaves_of(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield path and value of each leaf of a JSON value, in order: a plain value, or a list of plain values.

    What is empty is none: null, "", {} and [].
    """
    rest = [(path, value)]
    while rest:
        place, value = rest.pop()
        if isinstance(value, Mapping) and value:
            inner = [(f"{place}.{key}" if place else str(key), value[key]) for key in value]
            rest += reversed(inner)
        elif isinstance(value, list) and any(isinstance(item, Mapping | list) for item in value):
            rest += ((f"{place}[]", item) for item in reversed(value))
        elif value is not None and value not in ("", {}, []):
            yield place, value


def enclosing_paths(path: str) -> Iterator[str]:
    """Yield a path and those of what it is in: a[].b, a[], a."""
    yield path
    yield from (path[:at] for at in range(len(path) - 1, 0, -1) if path[at] in ".[")


class Leaves:
    """Counts of the leaves of JSON values and XML elements by path, such as `[].annotations[].label`, each with one.

    The paths begin with `root`. An attribute of an element is a leaf as its children are.
    """

    def __init__(self, root: str = "") -> None:
        self.root = root
        self._found: dict[str, tuple[int, Any]] = {}

    def __len__(self) -> int:
        return len(self._found)

    def add(self, value: Any) -> None:
        """Count the leaves of a JSON value."""
        for path, leaf in leaves_of(value, self.root):
            self.count(path, leaf)

    def add_element(self, element: Any) -> None:
        """Count the attributes and texts of an XML element and of those below it.

        Of an element with an attribute `name` and a text, such as CVAT's attributes, the name belongs to the path.
        """
        rest = [(str(element.tag), element)]
        while rest:
            place, item = rest.pop()
            text = (item.text or "").strip()
            if text and not len(item) and item.get("name"):
                place = f"{place}.{item.get('name').strip()}"
            else:
                for name, value in item.attrib.items():
                    self.count(f"{place}.{name}", value)
            if text and not len(item):
                self.count(place, text)
            rest += [(f"{place}.{inner.tag}", inner) for inner in item if isinstance(inner.tag, str)]

    def count(self, path: str, example: Any) -> None:
        """Count a leaf at a path."""
        if path not in self._found and len(self._found) >= MAX_PATHS:
            path = self.root or "…"
        number, first = self._found.get(path, (0, example))
        self._found[path] = number + 1, first

    def note(
        self, problems: Problems, file: str, used: Mapping[str, str] = NOTHING, why: Mapping[str, str] = NOTHING,
        reason: str = UNKNOWN, counted: bool = True,
    ) -> None:  # fmt: skip
        """Note each path: unused because of `why`, or `used` as a field, else unused because of `reason`.

        A name in either also stands for what is below it; of several the longest counts. Without `counted` there are
        more than were looked through.
        """
        for path, (count, example) in self._found.items():
            known = next((part for part in enclosing_paths(path) if part in used or part in why), "")
            use: Use = "used" if known in used and known not in why else "unused"
            meaning = why.get(known, used.get(known, reason))
            problems.note(file, path, use, meaning, count if counted else None, example)


def note_unused(problems: Problems, file: str, place: str, values: Iterable[Any], reason: str) -> None:
    """Note that values at a place are not used, leaf by leaf."""
    leaves = Leaves(place)
    for value in values:
        leaves.add(value)
    leaves.note(problems, file, reason=reason)
