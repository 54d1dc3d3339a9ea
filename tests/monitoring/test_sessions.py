"""Sessions: which lines are one unit, when it is counted, and that a killed monitor goes on with the open ones."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from metrics.core.files import read_json
from metrics.monitoring import feed, trend
from metrics.monitoring.line_reader import spellings
from metrics.monitoring.sessions import MAX_SESSION_LINES, MOST_OPEN, NAMES, QUIET_SAMPLES, Sessions, session_of
from tests.monitoring.monitor_scenes import begun, line, write

YES, NO = np.array([True]), np.array([False])


def units(sessions: Sessions, rows: list[tuple[int, float | None, int | None, bool]]) -> list[tuple[int, float]]:
    """Where each unit was counted, and its share; rows are numbers, times, sessions and hits."""
    return [
        (unit.number, float(unit.values[0]))
        for number, at, session, hit in rows
        for unit in sessions.add(number, at, session, YES if hit else NO, YES)
    ]


def test_a_line_without_a_session_counts_at_once() -> None:
    assert units(Sessions(), [(0, None, None, True), (1, 5.0, None, False)]) == [(0, 1.0), (1, 0.0)]


def test_a_session_counts_once_after_half_an_hour_without_a_line_of_it() -> None:
    rows = [(0, 0.0, 7, True), (1, 60.0, 8, False), (2, 1_700.0, 7, False), (3, 1_860.0, None, True),
            (4, 3_499.0, None, True), (5, 3_500.0, None, True)]  # fmt: skip
    assert units(Sessions(), rows) == [(3, 0.0), (3, 1.0), (4, 1.0), (5, 0.5), (5, 1.0)]


def test_without_times_it_is_over_after_a_hundred_samples() -> None:
    rows = [(0, None, 7, True), *((number, None, 9, False) for number in range(1, QUIET_SAMPLES))]
    sessions = Sessions()
    assert units(sessions, rows) == []
    assert units(sessions, [(QUIET_SAMPLES, None, None, False)]) == [(QUIET_SAMPLES, 1.0), (QUIET_SAMPLES, 0.0)]


def test_one_without_end_counts_by_the_hundred_lines() -> None:
    """As `anonymous` on every line would be."""
    found = units(Sessions(), [(number, float(number), 7, number % 4 > 0) for number in range(250)])
    assert found == [(MAX_SESSION_LINES - 1, 0.75), (2 * MAX_SESSION_LINES - 1, 0.75)]


def test_of_too_many_open_ones_the_longest_quiet_is_over() -> None:
    sessions = Sessions()
    assert units(sessions, [(number, 0.0, number, number == 0) for number in range(MOST_OPEN + 1)]) == [
        (MOST_OPEN, 1.0)
    ]
    assert len(sessions) == MOST_OPEN


def test_what_is_not_known_of_a_line_is_no_part_of_its_share() -> None:
    sessions = Sessions()
    for hits, known in (([True, False], [True, False]), ([False, False], [True, False])):
        assert not list(sessions.add(0, 0.0, 7, np.array(hits), np.array(known)))
    (unit, _) = sessions.add(1, 9_999.0, None, np.array([True, True]), np.array([True, True]))
    assert unit.values.tolist() == pytest.approx([0.5, np.nan], nan_ok=True)


@pytest.mark.parametrize(("fields", "same"), [
    ({"session_id": "s-1", "user": "u"}, {"session": "s-1"}),
    ({"conversationId": "s-1"}, {"thread_id": "s-1", "user": "u"}),
    ({"session": {}, "metadata.session_id": "s-1"}, {"group": "s-1"}),
    ({"session": "", "user": 12}, {"userId": "12"}),
])  # fmt: skip
def test_the_first_field_that_names_one_counts(fields: dict[str, Any], same: dict[str, Any]) -> None:
    names = spellings(NAMES)
    assert session_of(fields, names) == session_of(same, names) is not None


def test_no_session() -> None:
    assert session_of({"session": None, "user": " ", "id": "r-1", "thread": ["x"]}, spellings(NAMES)) is None
    assert session_of({"session": "s"}, ("chat",)) is None


def chats(count: int, each: int = 4) -> list[dict[str, Any]]:
    """Sessions of four lines that all pass or all fail, a minute apart; every fifth fails."""
    return [
        line(index, passes=index // each % 5 > 0, session=f"s-{index // each}", ts=1_763_700_000 + 60 * index)
        for index in range(count)
    ]


class TestAMonitor:
    def test_its_units_are_sessions(self, workspace: Path, tmp_path: Path) -> None:
        found = begun(workspace, window="80")
        state = feed(found, write(tmp_path / "a.jsonl", chats(160)))
        overall, metric = state.standings[:2]
        assert len(state.evidence["sessions"]) == 8, "those of the last half an hour"
        assert (overall["units"], metric["units"], state.sampled) == (32, 32, 160)
        assert overall["rate"] == pytest.approx(25 / 32)
        windows = trend(found, ("pii_leakage", "passes"))
        assert windows["rate"].tolist() == [0.8, 0.8]
        low, high = windows[["mean_low", "mean_high"]].iloc[1]
        assert (low, high) == pytest.approx((0.5840, 0.9193), abs=1e-4), "Wilson's of 20 sessions, not of 80 lines"
        assert (metric["mean_low"], metric["mean_high"]) == pytest.approx((low, high))

    def test_another_field_can_be_the_session_or_none(self, workspace: Path, tmp_path: Path) -> None:
        rows = [row | {"chat": "one"} for row in chats(40)]
        path = write(tmp_path / "a.jsonl", rows)
        assert feed(begun(workspace, "none", session="no such field"), path).standings[0]["units"] == 40
        assert feed(begun(workspace, "chat", session="chat"), path).standings[0]["units"] == 0

    def test_fed_in_parts_it_is_as_fed_at_once(self, workspace: Path, tmp_path: Path) -> None:
        rows = chats(96)
        whole, parts = begun(workspace, "whole"), begun(workspace, "parts")
        feed(whole, write(tmp_path / "a.jsonl", rows))
        for start in range(0, 96, 37):
            feed(parts, write(tmp_path / f"{start}.jsonl", rows[start : start + 37]), batch=10)
        assert parts.state.evidence == whole.state.evidence
        assert parts.state.standings[0]["units"] == whole.state.standings[0]["units"] > 10
        columns = "SELECT number, session, low, high, health FROM samples ORDER BY number"
        assert parts.query(columns).equals(whole.query(columns))

    def test_the_name_of_a_session_is_not_kept(self, workspace: Path, tmp_path: Path) -> None:
        found = begun(workspace)
        feed(
            found, write(tmp_path / "a.jsonl", [line(0, user="jane@acme-corp.org"), line(1, user="jane@acme-corp.org")])
        )
        assert found.query("SELECT DISTINCT session FROM samples")["session"].notna().tolist() == [True]
        assert not any(b"jane@" in file.read_bytes() for file in found.folder.iterdir() if file.is_file())
        assert read_json(found.folder / "state.json")["evidence"]["sessions"][0]["lines"] == 2
