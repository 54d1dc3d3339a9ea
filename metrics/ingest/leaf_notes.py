"""The leaves of documents by their paths, for receipts: which field each is, or why it is not used."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from metrics.ingest.problems import Problems

UNKNOWN = "nothing that is evaluated has this name"
UNSCORED = "ground truth has no scores"
MAX_PATHS = 500  # that are counted each; the rest is counted under the place where they begin
NOTHING: Mapping[str, str] = MappingProxyType({})


class Leaves:
    """Counts of the leaves of JSON values and XML elements by path, such as `[].annotations[].label`, each with one.

    A list of plain values is one leaf. An attribute of an element is a leaf as its children are.
    """

    def __init__(self) -> None:
        self._found: dict[str, tuple[int, Any]] = {}

    def add(self, value: Any, path: str = "") -> None:
        """Count the leaves of a JSON value that is at a path."""
        rest = [(path, value)]
        while rest:
            place, value = rest.pop()
            if value and isinstance(value, dict):
                rest += [(f"{place}.{key}" if place else str(key), inner) for key, inner in value.items()]
            elif value and isinstance(value, list) and any(isinstance(inner, dict | list) for inner in value):
                rest += [(f"{place}[]", inner) for inner in value]
            else:
                self._count(place, path, value)

    def add_element(self, element: Any, path: str = "") -> None:
        """Count the attributes and texts of an XML element and of those below it.

        Of an element with an attribute `name` and a text, such as CVAT's attributes, the name belongs to the path.
        """
        rest = [(f"{path}.{element.tag}" if path else str(element.tag), element)]
        while rest:
            place, item = rest.pop()
            text = (item.text or "").strip()
            if text and not len(item) and item.get("name"):
                place = f"{place}.{item.get('name').strip()}"
            else:
                for name, value in item.attrib.items():
                    self._count(f"{place}.{name}", path, value)
            if text and not len(item):
                self._count(place, path, text)
            rest += [(f"{place}.{inner.tag}", inner) for inner in item if isinstance(inner.tag, str)]

    def _count(self, place: str, begin: str, example: Any) -> None:
        if place not in self._found and len(self._found) >= MAX_PATHS:
            place = begin or "…"
        self._found[place] = self._found.get(place, (0, example))[0] + 1, example

    def note(
        self, problems: Problems, file: str, used: Mapping[str, str] = NOTHING, why: Mapping[str, str] = NOTHING,
        reason: str = UNKNOWN,
    ) -> None:  # fmt: skip
        """Note each path: `used` as a field, or unused because of `why`, else of `reason`.

        A name in either also stands for what is below it; of several the longest counts.
        """
        for path, (count, example) in self._found.items():
            parts = [path[:at] for at in range(len(path), 0, -1) if at == len(path) or path[at] in ".["]
            known = next((part for part in parts if part in used or part in why), "")
            if known in used:
                problems.note(file, path, "used", used[known], count, example)
            else:
                problems.note(file, path, "unused", why.get(known, reason), count, example)


def note_unused(problems: Problems, file: str, place: str, values: Iterable[Any], reason: str) -> None:
    """Note that values at a place are not used, leaf by leaf."""
    leaves = Leaves()
    for value in values:
        leaves.add(value, place)
    leaves.note(problems, file, reason=reason)
