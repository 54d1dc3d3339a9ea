"""What imports is whole: no change to a key of an archive's JSON leaves a damaged run, or one with other numbers."""

import copy
import json
import os
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from metrics.analysis import leaderboard
from metrics.core.errors import InputError
from metrics.reports.archives import layout
from metrics.reports.archives.read import read_archive
from metrics.reports.archives.write import archive
from metrics.store import Run, Workspace
from metrics.store.run_check import check, damaged
from tests.pages.page_scenes import judged_run, objects_run
from tests.reports.sealed_again import FACTS, SEAL, SPEC, TWICE, entries, pack, seal_again

FILES = (SEAL, SPEC, *FACTS.values())
OTHER: dict[str, Callable[[Any], Any]] = {
    "retyped": lambda value: {"a": value} if isinstance(value, list | str) else [value],
    "as text": str,
    "as a flag": lambda _: True,
    "nothing": lambda _: None,
    "negative": lambda value: -1 - value if isinstance(value, int | float) else -1,
    "huge": lambda _: 10**30,
    "infinite": lambda _: float("inf"),
    "no number": lambda _: float("nan"),
}
EVERY = os.environ.get("HYPOTHESIS_PROFILE") == "long"
SOME = 8  # of `make test`
Way = tuple[str | int, ...]


def ways(facts: Any, before: Way = ()) -> Iterator[Way]:
    """Yield the way to each key; of a list's items to those of the first."""
    inside = facts.items() if isinstance(facts, dict) else enumerate(facts[:1]) if isinstance(facts, list) else ()
    for key, value in inside:
        yield (*before, key)
        yield from ways(value, (*before, key))


def mutations(facts: dict[str, Any], way: Way) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the facts with each change to one key."""
    for name in ("dropped", "twice", "aliased", "capital", *OTHER):
        made = copy.deepcopy(facts)
        place: Any = made
        for key in way[:-1]:
            place = place[key]
        key, value = way[-1], place[way[-1]]
        if name in OTHER:
            place[key] = OTHER[name](value)
        elif isinstance(key, int):
            place.append(copy.deepcopy(value)) if name == "twice" else place.pop(key)
        elif name == "twice":
            place[key + TWICE] = OTHER["retyped"](value)
        else:
            del place[key]
            if name != "dropped":
                place[{"schema": "schema_version"}.get(key, f"{key}_") if name == "aliased" else key.upper()] = value
        yield name, made


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[dict[str, bytes], Run]]:
    """The entries of the archives of a run with a judge and of one with objects, without what is only for reading."""
    made = {}
    for name, make in (("judged", judged_run), ("objects", objects_run)):
        run = make(tmp_path_factory.mktemp(name))
        whole = entries(archive(run, media=False, replies=False))
        kept = (layout.MANIFEST, *(each for each in whole if each.startswith(("run/", "suite/", "outputs/"))))
        made[name] = {each: whole[each] for each in kept}, run
    return made


def numbers(run: Run) -> Any:
    """Return what is read of a run's tables, and by the page that shows them."""
    cells = leaderboard(run).cells
    return (
        run.scores.to_json(),
        run.aggregates.to_json(),
        [(key, cell.value, cell.low, cell.high) for key, cell in cells.items()],
    )


@pytest.mark.attack(
    "suite author",
    "a key of an archive is dropped, doubled, retyped, negated, huge or renamed, and every checksum made to fit",
    "what is imported passes the check of `verify`",
)
@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("kind", ["judged", "objects"])
def test_what_imports_is_whole(packed, kind: str, file: str, tmp_path: Path) -> None:
    contents, run = packed[kind]
    before, facts = numbers(run), json.loads(contents[file])
    refused = kept = 0
    tried = [(way, *each) for way in ways(facts) for each in mutations(facts, way)]
    for way, name, changed in tried if EVERY else random.Random(f"{kind} {file}").sample(tried, SOME):
        place = tmp_path / str(refused + kept)
        place.mkdir()
        (place / "a.zip").write_bytes(pack(seal_again(contents, {file: changed})))
        try:
            found = read_archive(place / "a.zip", Workspace(place / "w")).run
        except InputError:
            assert not [each for each in (place / "w").rglob("*") if each.is_file()]
            refused += 1
            continue
        kept += 1
        assert not damaged(check(found)), (way, name)
        assert numbers(found) == before, (way, name)
    assert refused > kept, "most changes matter"


def test_an_archive_that_was_only_sealed_again_is_whole(packed, tmp_path: Path) -> None:
    contents, run = packed["judged"]
    (tmp_path / "a.zip").write_bytes(pack(seal_again(contents)))
    assert read_archive(tmp_path / "a.zip", Workspace(tmp_path / "w")).run.id == run.id
