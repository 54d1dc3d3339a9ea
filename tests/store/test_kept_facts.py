"""What is computed of a sealed run is kept beside it, and believed only while it fits."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st
from pydantic import TypeAdapter

from metrics.core.errors import RunCorrupt
from metrics.store import Run, keep_by_run, kept_facts, origin
from metrics.store.run import Snapshot
from metrics.store.run_check import check, damaged
from metrics.store.threshold_profiles import ThresholdProfiles

computed: list[str] = []


@dataclass(frozen=True, slots=True)
class Found:
    by_pair: Mapping[tuple[str, str], float | None]
    named: frozenset[tuple[str, int]]
    ends: tuple[float, ...] = ()


@keep_by_run(maxsize=0)  # none in the process
def found(run: Run, tag: str | None = None) -> Found:
    computed.append(run.id)
    return Found({("a", "b"): math.inf, ("b", "a"): None}, frozenset({("x", 1), ("y", 2)}), (0.1 + 0.2, -0.0))


WHOLE = Found({("a", "b"): math.inf, ("b", "a"): None}, frozenset({("x", 1), ("y", 2)}), (0.1 + 0.2, -0.0))


@pytest.fixture(autouse=True)
def every_run_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_facts, "MIN_ROWS", 0)
    computed.clear()


def times(run: Run) -> int:
    """Return how often the next look computes."""
    computed.clear()
    assert found(run) == WHOLE
    return len(computed)


def kept_file(run: Run) -> Path:
    [path] = (run.folder / "kept").iterdir()
    return path


def test_a_result_is_computed_once(run: Run) -> None:
    assert (times(run), times(Run(run.folder)), len(list((run.folder / "kept").iterdir()))) == (1, 0, 1)
    found(run, "tag")
    assert len(computed) == 1


def flip(run: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
    path = kept_file(run)
    text = path.read_text()
    path.write_text(text.replace("Infinity", "0.5"))
    return run


def cut(run: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
    kept_file(run).write_bytes(b"\xff")
    return run


def threshold(run: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
    profiles = ThresholdProfiles(run.workspace.path)
    profiles.use("strict")
    profiles.put({("rouge", "rougeL"): 0.99})
    return Run(run.folder)


def version(run: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setattr(kept_facts, "source_version", lambda: {"Assay": "another"})
    return run


def user(run: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv(origin.VARIABLE, "the key of another user")
    return run


def loss(run: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
    kept_file(run).unlink()
    return run


@pytest.mark.attack(
    "workspace writer",
    "what is kept of a run is changed, or comes from elsewhere",
    "it is not believed: the number is computed again",
)
@pytest.mark.parametrize("change", [flip, cut, threshold, version, user, loss])
def test_what_does_not_fit_is_computed_again(
    run: Run, change: Callable[[Run, pytest.MonkeyPatch], Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    times(run)
    changed = change(run, monkeypatch)
    assert (times(changed), times(changed)) == (1, 0)


def test_a_result_of_another_function_or_run_is_not_taken(run: Run) -> None:
    times(run)
    path = kept_file(run)
    found(run, "tag")
    other = next(one for one in path.parent.iterdir() if one != path)
    path.write_bytes(other.read_bytes())
    assert times(run) == 1


def test_verify_names_what_is_not_believed_and_the_run_is_whole(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    times(run)
    assert {one.verdict for one in check(run)} <= {"whole", "not here"}
    path = kept_file(flip(run, monkeypatch))
    [told] = [one for one in check(run) if one.verdict == "not believed"]
    assert (told.name, damaged(check(run)), run.state) == (f"kept/{path.name}", [], "finished")


def test_a_damaged_table_is_told_although_its_result_is_kept(run: Run) -> None:
    times(run)
    path = run.table_path("scores")
    assert path is not None
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    with pytest.raises(RunCorrupt, match="scores differs"):
        found(run)


def test_nothing_is_kept_of_small_runs_and_moments_nor_where_nothing_can_be_written(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    (run.folder / "kept").write_text("no folder")
    assert (times(run), times(run)) == (1, 1)
    (run.folder / "kept").unlink()
    monkeypatch.setattr(kept_facts, "MAX_FILES", 0)
    assert (times(run), times(run)) == (1, 1)
    monkeypatch.setattr(kept_facts, "MIN_ROWS", 1_000_000)
    assert (times(run), times(run), Snapshot(run.folder / "unfinished" / "1").kept_path("x")) == (1, 1, None)


PLAIN = st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(exclude_categories=["Cs"]))
KEYS = st.tuples(st.text(st.characters(exclude_categories=["Cs"])), st.integers()) | st.text(max_size=2)


@given(st.recursive(PLAIN, lambda inner: st.lists(inner) | st.dictionaries(KEYS, inner), max_leaves=12))
def test_plain_data_comes_back_as_it_was(value: Any) -> None:
    of = TypeAdapter[Any](Any)
    assert repr(kept_facts._read(of, kept_facts._written(of, value))) == repr(value)
