"""The attacks that tests show a defence against: what their markers say, read from the source."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

TESTS = Path(__file__).parent
# Who a boundary of SECURITY.md keeps out, in its order.
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
    for node in ast.parse(source).body:
        within = getattr(node, "name", "")
        for call in ast.walk(node):
            if not (isinstance(call, ast.Call) and ast.unparse(call.func) == "pytest.mark.attack"):
                continue
            said = [one.value for one in call.args if isinstance(one, ast.Constant) and isinstance(one.value, str)]
            if len(said) != 3 or call.keywords or said[0] not in WHO:
                raise ValueError(f"{place}:{call.lineno}: attack(WHO, attack, defence), WHO one of {', '.join(WHO)}")
            yield Attack(*said, f"{place}::{within}" if within else place)
