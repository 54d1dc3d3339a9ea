"""Law: each value of an upload changes what is read, or is refused, or the receipt says that it is not used.

So nothing is lost in silence, whatever reader takes the file.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from metrics.core.errors import InputError
from metrics.core.receipt import Receipt
from metrics.core.suite import Outputs, Suite
from metrics.ingest import Loaded, load_combined, load_outputs, load_suite
from tests.fuzz.reader_seeds import SEEDS
from tests.fuzz.reader_targets import good_suites
from tests.fuzz.target import Input
from tests.laws.leaves import leaves

# Readers of which not every leaf is accounted for yet, with the leaves; none may be added.
OPEN: dict[str, set[str]] = {}
Read = Callable[[Path], Loaded[Any]]


def ways() -> dict[str, Read]:
    """Every way to read an upload."""
    outputs = {
        f"outputs of {name}": lambda path, suite=suite: load_outputs(path, suite=suite, keep_unknown_classes=True)
        for name, suite in good_suites().items()
    }
    return {"suite": load_suite, "combined": load_combined, **outputs}  # type: ignore[dict-item]


def result(read: Read, given: Input, data: bytes, folder: Path) -> tuple[str, Receipt] | None:
    """What is read, as a text that differs where anything does, and its receipt; None where it is refused."""
    path = folder / given.name
    path.write_bytes(data)
    try:
        value = read(path).value
    except InputError:
        return None
    parts = value if isinstance(value, tuple) else (value,)
    return " ".join(map(_facts, parts)), tuple(line for part in parts for line in part.receipt)


def _facts(part: Suite | Outputs) -> str:
    if isinstance(part, Suite):
        return f"{part.fingerprint} {part.category_ids} {part.name}"
    return part.fingerprint


def is_named(path: str, receipt: Receipt) -> bool:
    """Whether the receipt says that what is at a path is not used, or was decided."""
    inside = f".{_plain(path)}."
    return any(
        f".{place}." in inside
        for line in receipt
        if line.use in ("unused", "asked")
        for place in (_plain(line.place), _plain(f"{line.file}.{line.place}".partition("/")[2]))
        if place
    )


def _plain(place: str) -> str:
    return re.sub(r"\[\w*\]", "", place).strip(".")


@pytest.mark.parametrize("name", SEEDS)
def test_no_leaf_is_lost(name: str, tmp_path: Path) -> None:
    lost: set[str] = set()
    for given in SEEDS[name][:3]:
        read = {what: way for what, way in ways().items() if result(way, given, given.data, tmp_path)}
        for path, change in leaves(given):
            data, silent = change(), []
            for way in read.values():
                before = result(way, given, given.data, tmp_path)
                after = result(way, given, data, tmp_path)
                assert before is not None
                silent.append(after is not None and after[0] == before[0] and not is_named(path, after[1]))
            if silent and all(silent):
                lost.add(path)
    assert lost == OPEN.get(name, set())
