"""A monitor that an earlier version made: its files are read, and its samples are the first evidence."""

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from metrics.monitoring import drifts, feed, trend
from metrics.monitoring.monitor_store import Monitor
from tests.monitoring.monitor_scenes import begun, line, write

NEW_COLUMNS = ["session", "low", "high", "health"]


def aged(found: Monitor, health: str) -> Monitor:
    """The monitor as version 1 of its files: no sessions, no evidence, a status by the latest window."""
    facts = json.loads((found.folder / "spec.json").read_text())
    del facts["sha256"]
    del facts["spec"]["session"]
    (found.folder / "spec.json").write_text(json.dumps(facts))
    state = json.loads((found.folder / "state.json").read_text())
    del state["evidence"], state["seals"], state["sha256"]
    for standing in state["standings"]:
        del standing["since"], standing["units"]
        standing["health"] = health
    (found.folder / "state.json").write_text(json.dumps(state))
    for file in found.folder.glob("*.parquet"):
        table = pq.read_table(file)
        pq.write_table(table.drop_columns([name for name in NEW_COLUMNS if name in table.column_names]), file)
    return found


@pytest.fixture
def old(workspace: Path, tmp_path: Path) -> Monitor:
    found = begun(workspace, window="20")
    feed(found, write(tmp_path / "a.jsonl", [line(index) for index in range(60)]))
    return aged(found, "warning")


def test_it_is_shown_as_it_was(old: Monitor) -> None:
    windows = trend(old)
    assert windows["rate"].tolist() == [1.0, 1.0, 1.0]
    assert windows["low"].isna().all()
    assert set(windows["health"]) == {"insufficient_data"}
    assert (old.state.health, old.state.standings[0]["judged"], drifts(old)) == ("warning", 20, [])


def test_fed_again_it_is_as_if_never_another_had(old: Monitor, workspace: Path, tmp_path: Path) -> None:
    more = write(tmp_path / "b.jsonl", [line(index) for index in range(60, 75)])
    state = feed(old, more)
    assert state.health == "healthy"
    assert [(change["previous"], change["status"]) for change in state.changes][-1] == ("warning", "healthy")
    new = begun(workspace, "new", window="20")
    feed(new, tmp_path / "a.jsonl")
    assert (state.evidence, state.standings) == (feed(new, more).evidence, new.state.standings)
    windows = trend(old)
    assert windows["low"].isna().tolist() == [True, True, True, False]
    assert windows["judged"].tolist() == [20, 20, 20, 15]


def test_small_parts_of_both_become_one(old: Monitor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("metrics.monitoring.monitor_store.MERGED", 4)
    feed(old, write(tmp_path / "b.jsonl", [line(index) for index in range(60, 70)]))
    assert len(old.state.parts) == 1
    known = old.query("SELECT number, session, health FROM samples ORDER BY number")
    assert known["health"].notna().tolist() == [False] * 60 + [True] * 10
    assert len(old.query("SELECT low FROM scores WHERE low IS NOT NULL")) == 10


def test_lines_that_were_sampled_before_bring_it_up_to_date_too(old: Monitor, tmp_path: Path) -> None:
    state = feed(old, write(tmp_path / "b.jsonl", [line(3)]))
    assert (state.sampled, state.duplicates, state.health, state.changes[-1]["status"]) == (60, 1, "healthy", "healthy")
