"""Processes are killed and stopped at any state of their work, or do the same at once; what is left goes on.

A kill comes at the n-th operation on a file, a signal in a stage of a run; HYPOTHESIS_PROFILE=long tries every one.
"""

import itertools
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from metrics import engine
from metrics.store import Workspace
from metrics.store.run_check import verify
from tests.engine.engine_scenes import AtOnce, text_outputs, text_suite
from tests.faults.operations import OPERATIONS, steady
from tests.faults.trials import Bench
from tests.judge.judge_scenes import asked
from tests.kills.children import ALL, BUSY, DONE, STAGES, together, until_killed

LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
POINTS = 2  # of an operation at which it is killed, where not all are tried
GUARD = 300  # seconds, against a test that hangs
BY_NAME = {operation.name: operation for operation in OPERATIONS}
PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["tests.kills.children"])
PLACES = (*STAGES, "judging")  # where a run is stopped
STOPS = {signal.SIGINT: 130, signal.SIGTERM: 143}


@pytest.mark.parametrize("name", BY_NAME)
def test_killed_at_any_file_it_goes_on_to_the_same_bytes(name: str, tmp_path: Path) -> None:
    bench = Bench(BY_NAME[name], tmp_path)
    last = sum(bench.counted.counts[kind] for kind in ALL)
    points = bench.operation.most if LONG else POINTS
    step = max(1, last // points)
    exits = []
    for at in range(last, 0, -step):
        process = PROCESSES.Process(target=until_killed, args=(name, bench.fresh(), at))
        process.start()
        process.join(GUARD)
        exits.append(process.exitcode)
        with steady():
            bench.look(f"a kill at {at}")
            bench.again(f"a kill at {at}")
    # a fresh process may do less than one that has read things before: it may be done before the last point
    assert set(exits[1:]) == {-signal.SIGKILL}
    assert exits[0] in (-signal.SIGKILL, DONE)


@pytest.mark.parametrize(
    ("stage", "stop"), [*itertools.product(PLACES, STOPS)] if LONG else [*zip(PLACES, [*STOPS] * 2, strict=True)]
)
def test_stopped_in_a_stage_it_says_how_to_go_on(stage, stop, workspace, tmp_path, judge_server):
    mark = tmp_path / "reached"
    if stage == "judging":
        judge_server.latency = GUARD
        run = asked(workspace, judge_server.url, "faithfulness", cases=2)
    else:
        run = engine.create(Workspace(), text_suite(3), text_outputs(3), ["rouge"])
    command = [sys.executable, "-m", "tests.kills.children", stage, str(mark), "resume", run.id, "--quiet"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    while not (mark.exists() or judge_server.calls):
        assert process.poll() is None
        time.sleep(0.01)
    children = psutil.Process(process.pid).children(recursive=True)
    process.send_signal(stop)
    _, told = process.communicate(timeout=GUARD)
    assert (process.returncode, told) == (STOPS[stop], f"stopped; `python -m metrics resume {run.id}` continues it\n")
    assert not psutil.wait_procs(children, timeout=GUARD)[1]
    assert run.state == ("queued" if stage == "starting" else "interrupted")
    judge_server.latency = 0
    assert engine.execute(run, AtOnce).state == "finished"
    verify(run)


@pytest.mark.parametrize("stop", [*STOPS] if LONG else [signal.SIGTERM])
def test_stopped_outside_of_a_run_a_command_says_so(stop: signal.Signals, workspace: Path) -> None:
    """Reading a log from standard input, to which nobody writes."""
    create = ["monitor", "-", "--evaluators", "pii_leakage", "--name", "chat", "--quiet"]
    process = subprocess.Popen(
        [sys.executable, "-m", "metrics", *create], stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    while not (workspace / "monitors" / "chat" / "spec.json").exists():
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(stop)
    _, told = process.communicate(timeout=GUARD)
    assert process.returncode == STOPS[stop]
    assert told.startswith("stopped; ")
    assert "Traceback" not in told


def at_once(name: str, folder: Path) -> list[int | None]:
    """Do an operation in two processes that begin together; return how they exited, sorted."""
    ready = PROCESSES.Barrier(2)
    two = [PROCESSES.Process(target=together, args=(name, folder, ready)) for _ in range(2)]
    for process in two:
        process.start()
    for process in two:
        process.join(GUARD)
    return sorted(process.exitcode if process.exitcode is not None else -1 for process in two)


@pytest.mark.parametrize("name", [
    "evaluate text", "evaluate with a judge", "monitor a log", "give a label", "import an archive", "merge shards",
    "save a suite with images", "set thresholds", "pull a run", "log rows",
])  # fmt: skip
def test_two_at_once_leave_what_one_would(name: str, tmp_path: Path) -> None:
    bench = Bench(BY_NAME[name], tmp_path)
    codes = at_once(name, bench.fresh())
    assert codes in ([DONE, DONE], [DONE, BUSY])
    assert bench.look("two at once") == bench.new


def test_a_clock_that_is_set_back_in_the_middle_of_a_run(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real, jumped = time.time, 0.0
    monkeypatch.setattr(time, "time", lambda: real() - jumped)
    seconds: list[float] = []

    def listen(progress: object) -> None:
        nonlocal jumped
        jumped += 86_400
        seconds.append(run.progress().seconds_spent)

    run = engine.create(Workspace(), text_suite(3), text_outputs(3), ["rouge"])
    engine.execute(run, AtOnce, listen)
    assert run.state == "finished"
    assert len(seconds) >= 3
    assert min(seconds) >= 0
    assert seconds == sorted(seconds)
    assert (run.manifest or {})["seconds"] < GUARD


def test_a_claim_of_before_the_clock_was_set_back_holds_nobody_up(tmp_path, monkeypatch):
    from metrics.models.vectors import VectorCache

    first, second = (VectorCache(tmp_path / "vectors.sqlite3") for _ in range(2))
    assert first.claim([b"text"]) == {b"text"}
    assert second.claim([b"text"]) == set()
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() - 86_400)
    assert second.claim([b"text"]) == {b"text"}
    first.close()
    second.close()
