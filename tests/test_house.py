"""The house has no circles: not among files and not among rooms, imports inside functions and for typing included."""

import ast
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[1]
FILES = {
    ".".join(path.relative_to(PROJECT).with_suffix("").parts).removesuffix(".__init__"): path
    for top in ("metrics", "components", "pages")
    for path in (PROJECT / top).rglob("*.py")
}


def imported(path: Path) -> Iterator[str]:
    """The modules that a file imports, of our own and others; the project has no relative imports."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} has a relative import in line {node.lineno}"
            names = (f"{node.module}.{alias.name}" for alias in node.names)
            yield from (name if name in FILES else str(node.module) for name in names)


def room(name: str) -> str:
    """The folder of metrics/ that a file is in; components/ and pages/ are one room each."""
    top, _, rest = name.partition(".")
    return f"{top}.{rest.partition('.')[0]}" if top == "metrics" and rest else top


def circle(arrows: Mapping[str, set[str]]) -> list[str]:
    """The nodes of a circle in order, the first one again at its end; none without a circle."""
    try:
        TopologicalSorter(arrows).prepare()
    except CycleError as failure:
        return list(failure.args[1])
    return []


@pytest.fixture(scope="module")
def arrows() -> dict[str, set[str]]:
    return {name: {to for to in imported(path) if to in FILES} - {name} for name, path in FILES.items()}


def test_no_circle_among_files(arrows: dict[str, set[str]]) -> None:
    assert circle(arrows) == []


def test_no_circle_among_rooms(arrows: dict[str, set[str]]) -> None:
    rooms: dict[str, set[str]] = {}
    for name, targets in arrows.items():
        rooms.setdefault(room(name), set()).update(room(to) for to in targets)
    # the package's own front door names every public function
    assert circle({name: targets - {name, "metrics"} for name, targets in rooms.items() if name != "metrics"}) == []


def test_a_circle_is_found() -> None:
    assert circle({"a": {"b"}, "b": {"c"}, "c": set()}) == []
    assert set(circle({"a": {"b"}, "b": {"c"}, "c": {"b"}})) == {"b", "c"}
