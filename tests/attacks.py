"""The attacks that tests show a defence against: what their markers say, read from the source."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

TESTS = Path(__file__).parent
# Who a boundary of .github/SECURITY.md keeps out, in its order.
WHO = ("suite author", "model", "judge", "browser", "network", "worker", "workspace writer", "package")


class Attack(NamedTuple):
    """One attack: who makes it, what it does, the defence, and the test that shows the defence."""

    who: str
    attack: str
    defence: str
    test: str


def attacks(folder: Path = TESTS) -> list[Attack]:
    """Return every `pytest.mark.attack(who, attack, defence)` of the tests in a folder, by who and test.

    Raises ValueError for a marker that is not three texts, or names somebody unknown.
    """
    found = [one for path in sorted(folder.rglob("test_*.py")) for one in _of_file(path, folder)]
    return sorted(found, key=lambda one: (WHO.index(one.who), one.test))


def _of_file(path: Path, folder: Path) -> Iterator[Attack]:
    place = path.relative_to(folder).as_posix()
    source = path.read_text(encoding="utf-8")
    if ".attack(" not in source:
        return
    yield from _within(ast.parse(source), place)


def _within(node: ast.AST, place: str) -> Iterator[Attack]:
    """Yield what the markers below a node say; `place` names the file, the class and the test that they stand in."""
    if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        place = f"{place}::{node.name}"
    elif isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.attack":
        said = [one.value for one in node.args if isinstance(one, ast.Constant) and isinstance(one.value, str)]
        if len(said) != 3 or node.keywords or said[0] not in WHO:
            raise ValueError(f"{place}: attack(WHO, attack, defence), WHO one of {', '.join(WHO)}")
        yield Attack(*said, place)
    for child in ast.iter_child_nodes(node):
        yield from _within(child, place)
