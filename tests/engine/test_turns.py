"""Many runs started in one studio: so many work at once, the others wait, say so, and go on."""

import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from metrics import engine
from metrics.engine.turns import AT_ONCE, Turn
from metrics.store import Run, Workspace
from tests.engine.engine_scenes import text_outputs, text_suite
from tests.judge.judge_scenes import asked
from tests.judge.server import JudgeServer

Started = tuple[Run, "subprocess.Popen[bytes]"]


@pytest.fixture
def others(workspace: Path) -> Iterator[list[Turn]]:
    """As many runs as may work at once, all at work."""
    turns = [Turn(workspace) for _ in range(AT_ONCE)]
    assert all(turn.taken() for turn in turns)
    yield turns
    for turn in turns:
        turn.give_back()


@pytest.fixture
def waiting(workspace: Path, others: list[Turn]) -> Iterator[Started]:
    """A run that was started beside them."""
    run = engine.create(Workspace(), text_suite(), text_outputs(), ["rouge"])
    process = engine.start(run)
    until(lambda: run.progress().message.startswith("waiting for one of 4 other runs"), process)
    yield run, process
    process.kill()
    process.wait()


def until(happened: Callable[[], bool], process: "subprocess.Popen[bytes]") -> None:
    while not happened():
        assert process.poll() is None
        time.sleep(0.05)


@pytest.mark.attack("browser", "starts thirty runs at once", "four compute at a time, the others wait their turn")
def test_a_run_too_many_waits_until_another_ends(waiting: Started, others: list[Turn]) -> None:
    run, process = waiting
    assert run.state == "running"
    assert sum(entry.done for entry in run.progress().evaluators) == 0
    others[-1].give_back()
    process.wait()
    assert run.state == "finished"
    assert others[-1].taken(), "it has given its turn back"


def test_a_run_that_waits_can_be_cancelled(waiting: Started) -> None:
    run, process = waiting
    engine.cancel(run)
    process.wait()
    assert run.state == "cancelled"


def test_a_turn_ends_with_its_process(waiting: Started, others: list[Turn]) -> None:
    run, process = waiting
    process.kill()
    process.wait()
    others[0].give_back()
    assert others[0].taken()
    assert run.state == "interrupted"


def test_a_run_that_only_asks_its_judge_takes_no_turn(workspace: Path, judge_server: JudgeServer) -> None:
    judge_server.latency = 3600
    run = asked(workspace, judge_server.url, "rouge", "faithfulness")
    process = engine.start(run)
    turns = [Turn(workspace) for _ in range(AT_ONCE)]
    try:
        until(lambda: bool(judge_server.calls), process)
        until(lambda: all(entry.done == entry.total for entry in run.progress().evaluators[:1]), process)
        until(lambda: all(turn.taken() for turn in turns), process)
        engine.cancel(run)
        process.wait()
        assert run.state == "cancelled"
    finally:
        process.kill()
        process.wait()
        for turn in turns:
            turn.give_back()
