"""Recorded answers: killed at ten moments, nothing answered is asked twice and nothing is lost."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from metrics.core.errors import RunBusy, RunError, StorageError
from metrics.core.suite import Suite
from metrics.store.table_files import table_bytes
from metrics.targets import complete, targets_of
from metrics.targets.recording import FILE, folder_of, read_entries, recording

PROJECT = Path(__file__).resolve().parents[2]
STOPS = (0, 1, 2, 5, 6, 9, 13, 14, 17, 19)  # answers after which the process is killed
ASK = """
import sys
from metrics.targets import complete
complete(sys.argv[1], {"url": sys.argv[2], "concurrency": 4})
"""


def lines(file: Path) -> int:
    return file.read_bytes().count(b"\n") if file.exists() else 0


def test_killed_at_ten_moments(bot, twenty, workspace, tmp_path):
    file = tmp_path / "suite.jsonl"
    file.write_bytes(table_bytes(twenty.cases, "jsonl"))
    (target,) = targets_of(bot.url)
    recorded = folder_of(workspace, target) / FILE
    for stop in STOPS:
        bot.allowed = stop
        before = bot.asked.total()
        process = subprocess.Popen([sys.executable, "-c", ASK, str(file), bot.url], cwd=PROJECT)
        # every allowed answer is on disk, and further cases wait for theirs
        while lines(recorded) < stop or bot.asked.total() - before <= stop - lines(recorded):
            assert process.poll() is None
            time.sleep(0.01)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        assert lines(recorded) == stop
    bot.allowed = None
    outputs = complete(twenty, bot.url)
    assert outputs.outputs["answer"].to_pylist() == [f"A q{n}" for n in range(20)]
    assert bot.answered == Counter({f"q{n}": 1 for n in range(20)})


@pytest.mark.parametrize("cut", [1, 7, 60])
def test_a_line_cut_short_is_asked_again_and_no_other(cut, bot, twenty, workspace):
    complete(twenty, {"url": bot.url, "concurrency": 1})
    (target,) = targets_of(bot.url)
    file = folder_of(workspace, target) / FILE
    os.truncate(file, file.stat().st_size - cut)
    assert len(read_entries(file.parent)) == 19
    outputs = complete(twenty, bot.url)
    assert outputs.outputs["error"].null_count == 20
    assert bot.answered - Counter({f"q{n}": 1 for n in range(20)}) == Counter(["q19"])
    assert len(read_entries(file.parent)) == lines(file) == 20


def test_more_cases_and_more_repeats_ask_only_what_is_new(bot, twenty, workspace):
    complete(twenty.filter(search="q1"), bot.url)
    assert bot.asked.total() == 11
    complete(twenty, bot.url)
    assert bot.asked.total() == 20
    outputs = complete(twenty, bot.url, repeats=3)
    assert (set(bot.asked.values()), sorted(outputs.outputs["run"].unique().to_pylist())) == ({3}, [1, 2, 3])
    complete(twenty, {"url": bot.url, "name": "other", "timeout": 9}, repeats=3)
    assert set(bot.asked.values()) == {3}
    complete(twenty, {"url": bot.url, "version": "2"})
    assert set(bot.asked.values()) == {4}
    complete(twenty, bot.url, fresh=True)
    assert set(bot.asked.values()) == {5}


def test_equal_questions_are_asked_once(bot, workspace):
    suite = Suite.from_rows("s", "text", [{"case_id": str(n), "question": "q"} for n in range(5)])
    assert (complete(suite, bot.url).outputs["answer"].to_pylist(), bot.asked) == (["A q"] * 5, Counter(["q"]))


def test_half_of_a_surrogate_pair_is_no_question_mark(bot, workspace):
    (target,) = targets_of(bot.url)
    with recording(workspace, target) as kept:
        asyncio.run(kept.put({"key": "k", "calls": [{"name": "add", "arguments": {"a": "x\ud800y"}}]}))
    entry = read_entries(folder_of(workspace, target))["k"]
    assert entry["calls"] == [{"name": "add", "arguments": {"a": "x\ufffdy"}}]


def test_a_damaged_line_is_named_and_one_process_asks(bot, twenty, workspace):
    complete(twenty, bot.url)
    (target,) = targets_of(bot.url)
    with recording(workspace, target), pytest.raises(RunBusy, match="is being asked by another process"):
        complete(twenty, bot.url)
    file = folder_of(workspace, target) / FILE
    file.write_bytes(b"{broken}\n" + file.read_bytes())
    with pytest.raises(RunError, match=r"answers.jsonl, line 1, is damaged"):
        complete(twenty, bot.url)


def test_a_full_disk_leaves_whole_lines(bot, twenty, workspace, monkeypatch):
    (target,) = targets_of(bot.url)
    write, left = os.write, [300]

    def full(descriptor: int, content: bytes) -> int:
        if left[0] <= 0:
            raise OSError(28, "No space left on device")
        done = write(descriptor, bytes(content[: left[0]]))
        left[0] -= done
        return done

    with monkeypatch.context() as patched:
        patched.setattr(os, "write", full)
        with pytest.raises(StorageError, match="the disk is full"):
            complete(twenty, bot.url)
    kept = read_entries(folder_of(workspace, target))
    assert 0 < len(kept) < 20
    assert lines(folder_of(workspace, target) / FILE) == len(kept)
    assert complete(twenty, bot.url).outputs["error"].null_count == 20
