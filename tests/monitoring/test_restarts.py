"""A monitor that is fed again, by two, or killed: what was counted stays, and nothing is counted twice."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from metrics.core.errors import RunBusy
from metrics.monitoring import feed, monitor_store, runner
from metrics.monitoring.line_reader import mark
from metrics.monitoring.monitor_store import Monitor
from tests.conftest import PROJECT
from tests.monitoring.monitor_scenes import begun, line, write

TABLES = ("samples", "scores")


def tables(monitor: Monitor) -> str:
    """Everything that is stored of samples, in order, as text: there a missing value equals another."""
    frames = [monitor.query(f"SELECT * FROM {name} ORDER BY ALL") for name in TABLES]
    return "".join(frame.to_csv() for frame in frames)


def facts(monitor: Monitor) -> dict[str, Any]:
    state = monitor.state
    changes = [{name: value for name, value in change.items() if name != "at"} for change in state.changes]
    return {
        name: changes if name == "changes" else getattr(state, name)
        for name in state.__slots__
        if name not in ("updated", "spend")
    }


class TestRestarts:
    def test_a_longer_file_goes_on_under_another_name_too(self, workspace: Path, tmp_path: Path) -> None:
        lines = [line(index) for index in range(50)]
        whole, parts = begun(workspace, "whole"), begun(workspace, "parts")
        feed(whole, write(tmp_path / "a.jsonl", lines))
        short = write(tmp_path / "app.log", lines[:20])
        feed(parts, short)
        with short.open("ab") as stream:
            stream.write(b"".join(json.dumps(each).encode() + b"\n" for each in lines[20:]))
        state = feed(parts, short.rename(tmp_path / "app.log.1"))
        assert (state.read, state.sampled, len(state.sources)) == (50, 50, 1)
        assert parts.query("SELECT id, line FROM samples ORDER BY number").equals(
            whole.query("SELECT id, line FROM samples ORDER BY number")
        )

    def test_a_rewritten_file_begins_anew_and_another_is_another(self, workspace: Path, tmp_path: Path) -> None:
        found = begun(workspace)
        path = write(tmp_path / "a.jsonl", [line(index) for index in range(10)])
        feed(found, path)
        feed(found, write(path, [line(index) for index in range(100, 105)]))
        state = feed(found, write(tmp_path / "b.jsonl", [line(index) for index in range(200, 203)]))
        assert (state.read, state.sampled, len(state.sources)) == (18, 18, 3)

    def test_a_file_cut_off_while_it_is_read_begins_anew(self, workspace, tmp_path, monkeypatch) -> None:
        found, path = begun(workspace), write(tmp_path / "a.jsonl", [line(index) for index in range(20)])

        def cut(*given: Any) -> str | None:
            path.write_bytes(b"")
            return mark(*given)

        with monkeypatch.context() as patch:
            patch.setattr(runner, "mark", cut)
            assert feed(found, path).read == 20
        assert feed(found, write(path, [line(index) for index in range(100, 110)])).read == 30

    def test_duplicates_are_judged_once_across_restarts(self, workspace: Path, tmp_path: Path) -> None:
        found = begun(workspace)
        lines = [line(0), line(1), line(0), {"answer": "no id"}, {"answer": "no id"}, line(1, model="other")]
        assert feed(found, write(tmp_path / "a.jsonl", lines)).duplicates == 1
        state = feed(found, write(tmp_path / "b.jsonl", [line(9), line(1)]))
        assert (state.read, state.sampled, state.duplicates) == (8, 6, 2)
        state = feed(found, write(tmp_path / "c.jsonl", [line(1), line(0)]))  # nothing else
        assert (state.read, state.sampled, state.duplicates) == (10, 6, 4)

    def test_small_parts_become_one(self, workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(monitor_store, "MERGED", 5)
        found = begun(workspace)
        feed(found, write(tmp_path / "a.jsonl", [line(index) for index in range(8)]), batch=1)
        assert found.state.parts == ["00000000-00000004", "00000005", "00000006", "00000007"]
        assert found.query("SELECT number FROM samples ORDER BY number")["number"].tolist() == list(range(8))
        assert len(list(found.folder.glob("*.parquet"))) == 8
        assert sum(len(samples) for samples, _ in found.latest(2)) == 2

    def test_two_processes_do_not_feed_one_monitor(self, workspace: Path, tmp_path: Path) -> None:
        found = begun(workspace)
        with found.hold():
            assert found.is_running
            with pytest.raises(RunBusy, match="the monitor chat is in use by another process"):
                feed(Monitor(found.folder), write(tmp_path / "a.jsonl", [line(0)]))
        assert not found.is_running


KILLED = """
import os, signal, sys
from pathlib import Path
from metrics.monitoring import feed, monitor
from metrics.monitoring import monitor_store
from metrics.core import files
from metrics.store import Workspace

monitor_store.MERGED = 8
name, count, moment = sys.argv[3], int(sys.argv[4]), sys.argv[5]
calls = 0
def after(function, before):
    def called(*given, **named):
        global calls
        calls += 1
        if before and calls == count:
            os.kill(os.getpid(), signal.SIGKILL)
        made = function(*given, **named)
        if not before and calls == count:
            os.kill(os.getpid(), signal.SIGKILL)
        return made
    return called
where, _, what = name.rpartition(".")
owner = {"store": monitor_store, "files": files}[where]
setattr(owner, what, after(getattr(owner, what), moment == "before"))
feed(monitor(Workspace(sys.argv[1]), "chat"), Path(sys.argv[2]), batch=5)
"""


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Monitor]:
    """A file with bad lines and duplicates, and a monitor that was fed with it in one go."""
    lines = [
        b"not json" if index % 50 == 7 else line(index // 2 if index % 20 == 9 else index, passes=index % 3 != 0)
        for index in range(60)
    ]
    folder = tmp_path_factory.mktemp("undisturbed")
    path, found = write(folder / "a.jsonl", lines), begun(folder / "workspace", rate=0.97)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(monitor_store, "MERGED", 8)
        feed(found, path, batch=5)
    return path, found


@pytest.mark.parametrize(("function", "count", "moment"), [
    pytest.param("store.write_table", 1, "before", id="before the first part"),
    pytest.param("store.write_table", 4, "before", id="between samples and scores"),
    pytest.param("files.sync", 7, "before", id="while a part is written beside"),
    pytest.param("store.write_sealed", 3, "before", id="between part and state"),
    pytest.param("store.write_sealed", 3, "after", id="after a state"),
    pytest.param("store.write_table", 17, "after", id="while parts are merged"),
    pytest.param("store.write_sealed", 8, "after", id="before merged parts are cleared away"),
])  # fmt: skip
def test_killed_at_any_moment_it_ends_the_same(function, count, moment, workspace, undisturbed, monkeypatch) -> None:
    """kill -9 of a real process, then the same feed again: counts, samples and scores of an undisturbed one."""
    monkeypatch.setattr(monitor_store, "MERGED", 8)
    path, whole = undisturbed
    found = begun(workspace, rate=0.97)
    command = [sys.executable, "-c", KILLED, str(workspace), str(path), function, str(count), moment]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)
    assert done.returncode == -9, done.stderr
    assert found.state.read < whole.state.read
    feed(found, path, batch=5)
    assert (facts(found), tables(found)) == (facts(whole), tables(whole))
    assert len(list(found.folder.iterdir())) == len(list(whole.folder.iterdir()))
