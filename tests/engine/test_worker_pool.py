"""Workers that do not come to an end, in Python or in C code that lets no other thread run: they are ended."""

import operator
import os
import signal
import subprocess
import sys
import time
import warnings
from concurrent.futures import BrokenExecutor, CancelledError
from pathlib import Path

import psutil
import pytest

from metrics.engine import deadlines
from metrics.engine.schedulers import UnitLate, UnitLost
from metrics.engine.worker_pool import WorkerPool
from tests.processes import alive

GRACE = 0.2  # seconds that a step may take which never ends


@pytest.fixture(scope="module")
def pool():
    pool = WorkerPool()
    yield pool
    pool.shutdown(cancel_futures=True)


@pytest.fixture
def own_pool():
    """A pool that the test shuts down, or whose workers write where the test reads."""
    pool = WorkerPool()
    yield pool
    pool.shutdown(cancel_futures=True)


def endless_in_c(*_: object) -> object:
    """A power of a billion digits: one call of C code, which lets no other thread run."""
    return operator.pow(7, 10**10)


def endless_in_python(*_: object) -> None:
    while True:
        pass


def late(place: int | None, endless: object) -> None:
    """Begin a step that is done in time, then one that never ends."""
    deadlines.begin(0, 600)
    deadlines.begin(place, GRACE)
    assert callable(endless)
    endless()


def started(pid_file: Path, endless: object) -> None:
    pid_file.with_suffix(".part").write_text(str(os.getpid()))
    pid_file.with_suffix(".part").replace(pid_file)
    assert callable(endless)
    endless()


def with_a_child(pid_file: Path) -> None:
    subprocess.Popen(["sleep", "600"])
    started(pid_file, endless_in_c)


def written(pid_file: Path) -> int:
    while not pid_file.exists():
        time.sleep(0.02)
    return int(pid_file.read_text())


def gone(process: psutil.Process | int) -> None:
    while alive(process):  # one that stayed would end in the test's own timeout
        time.sleep(0.02)


def test_calls_return_and_raise_as_they_would_here(pool):
    assert [each.result() for each in [pool.submit(operator.add, 1, number) for number in range(20)]] == [*range(1, 21)]
    with pytest.raises(ZeroDivisionError):
        pool.submit(operator.truediv, 1, 0).result()
    with pytest.raises(TypeError, match="generator"):  # which cannot be sent back
        pool.submit(_generator).result()
    assert pool.submit(os.getpid).result() != os.getpid()


def _generator() -> object:
    return (number for number in range(3))


@pytest.mark.parametrize(("place", "endless"), [(3, endless_in_c), (None, endless_in_python)], ids=["a case", "a unit"])
@pytest.mark.attack("suite author", "a case keeps a worker busy for ever, even inside C code", "the worker is killed")
def test_a_step_that_takes_too_long_ends_its_worker_alone(pool, place, endless):
    doomed = pool.submit(late, place, endless)
    assert pool.submit(operator.add, 1, 1).result() == 2
    with pytest.raises(UnitLate) as failure:
        doomed.result()
    assert (failure.value.place, failure.value.seconds) == (place, GRACE)
    assert pool.submit(operator.add, 1, 2).result() == 3


def test_a_worker_that_dies_costs_its_own_call_alone(pool):
    doomed = pool.submit(signal.raise_signal, signal.SIGKILL)
    with pytest.raises(UnitLost):
        doomed.result()
    assert pool.submit(operator.add, 1, 1).result() == 2


@pytest.mark.attack(
    "suite author", "a worker goes on computing after its run was cancelled", "cancel kills the workers"
)
def test_dropping_the_work_ends_it_at_once_with_what_it_has_started(own_pool, tmp_path):
    future = own_pool.submit(with_a_child, tmp_path / "pid")
    worker = psutil.Process(written(tmp_path / "pid"))
    children = worker.children()
    assert len(children) == 1
    never = [own_pool.submit(operator.add, 1, 1) for _ in range(40)]
    own_pool.shutdown(wait=False, cancel_futures=True)
    with pytest.raises(BrokenExecutor):
        future.result()
    for process in (worker, *children):
        gone(process)
    for one in never:
        with pytest.raises((CancelledError, BrokenExecutor)):
            one.result()


PARENT = """
import sys
from pathlib import Path
from metrics.engine.worker_pool import WorkerPool
from tests.engine import test_worker_pool as those
if __name__ == "__main__":
    pool = WorkerPool()
    try:
        pool.submit(those.started, Path(sys.argv[1]), those.endless_in_c).result()
    finally:
        pool.shutdown(cancel_futures=True)
"""


@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGINT])
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a worker follows its parent once its C code returns")
@pytest.mark.attack("suite author", "a worker outlives its killed run", "the kernel kills workers with their parent")
def test_workers_end_with_their_parent(project, tmp_path, ending):
    script = tmp_path / "parent.py"
    script.write_text(PARENT)
    parent = subprocess.Popen(
        [sys.executable, str(script), str(tmp_path / "pid")],
        env=os.environ | {"PYTHONPATH": str(project)}, stderr=subprocess.DEVNULL,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip
    worker = written(tmp_path / "pid")
    parent.send_signal(ending)
    parent.wait()
    gone(worker)


@pytest.mark.attack("model", "what a worker prints on standard error drives the terminal or holds a key", "it is shown as text, without keys")  # fmt: skip  # noqa: E501
def test_what_a_worker_prints_is_text(own_pool, capfd):
    own_pool.submit(warnings.warn, "no sk-abcdefgh12345678 \x1b[2J").result()
    assert "UserWarning: no [key] \\u001b[2J" in capfd.readouterr().err
