"""Many runs started in one studio: so many work at once, the others wait, say so, and go on."""

import threading
import time
from collections.abc import Callable

import pytest

from metrics import engine
from metrics.engine.worker_pool import AT_ONCE, RunSlot, WorkerPool
from metrics.store import Workspace
from tests.engine.engine_scenes import text_outputs, text_suite
from tests.judge.judge_scenes import asked

WAITING = "waiting for one of 4 other runs to end"


@pytest.fixture
def others(workspace):
    """As many runs as may work at once, all at work."""
    turns = [RunSlot(workspace) for _ in range(AT_ONCE)]
    assert all(turn.try_take() for turn in turns)
    yield turns
    for turn in turns:
        turn.give_back()


def until(happened: Callable[[], bool], works: Callable[[], bool]) -> None:
    while not happened():
        assert works() or happened()
        time.sleep(0.05)


@pytest.mark.attack("browser", "starts thirty runs at once", "four compute at a time, the others wait their turn")
def test_a_run_too_many_waits_until_another_ends(workspace, others):
    """Its turn ends with its process: the first is killed when it has one, the second ends well."""
    run = engine.create(Workspace(), text_suite(), text_outputs(), ["rouge"])
    process = engine.start(run)
    until(lambda: run.progress().message == WAITING, lambda: process.poll() is None)
    assert run.state == "running"
    assert sum(entry.done for entry in run.progress().evaluators) == 0
    others[-1].give_back()
    until(lambda: run.progress().message != WAITING, lambda: process.poll() is None)
    process.kill()
    process.wait()
    assert run.state in ("interrupted", "finished")
    assert others[-1].try_take()
    others[-1].give_back()
    engine.resume(run).wait()
    assert run.state == "finished"
    assert others[-1].try_take(), "it has given its turn back"


def test_a_run_that_waits_can_be_cancelled(workspace, others):
    run = engine.create(Workspace(), text_suite(), text_outputs(), ["rouge"])
    engine.execute(
        run, lambda: WorkerPool(RunSlot(workspace)), lambda now: engine.cancel(run) if now.message == WAITING else None
    )
    assert run.state == "cancelled"


def test_a_run_that_only_asks_its_judge_takes_no_turn(workspace, judge_server):
    judge_server.latency = 3600
    run = asked(workspace, judge_server.url, "rouge", "faithfulness")
    working = threading.Thread(target=engine.execute, args=(run, lambda: WorkerPool(RunSlot(workspace))))
    working.start()
    turns = [RunSlot(workspace) for _ in range(AT_ONCE)]
    until(lambda: bool(judge_server.calls), working.is_alive)
    until(lambda: all(entry.done == entry.total for entry in run.progress().evaluators[:1]), working.is_alive)
    until(lambda: all(turn.try_take() for turn in turns), working.is_alive)
    engine.cancel(run)
    working.join()
    assert run.state == "cancelled"
    for turn in turns:
        turn.give_back()
