"""What runs in the processes that the tests kill: a piece of work up to a state, never up to a time."""

import importlib
import os
import signal
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

from metrics.core.errors import RunBusy
from tests.faults.disk import ALL, Disk, Fault
from tests.faults.operations import OPERATIONS, steady

KILL = Fault("kill", 0, ALL)
DONE, BUSY = 0, 3  # exit codes
STAGES = ("starting", "scoring", "sealing")


class _Killed(Disk):
    """A disk at whose n-th operation the process is killed."""

    def fail(self, path: Any) -> None:
        os.kill(os.getpid(), signal.SIGKILL)


def until_killed(name: str, folder: Path, at: int) -> None:
    """Do an operation up to its n-th file operation, at which this process is killed."""
    (operation,) = (one for one in OPERATIONS if one.name == name)
    with steady(), _Killed(folder, KILL, at):
        operation.act(folder)


def together(name: str, folder: Path, ready: Any) -> None:
    """Do an operation when every process is `ready`; exit with BUSY where another one has what it needs."""
    (operation,) = (one for one in OPERATIONS if one.name == name)
    ready.wait()
    try:
        operation.act(folder)
    except RunBusy:
        sys.exit(BUSY)


class _Waits(Executor):
    """An executor whose work is never done."""

    def __init__(self, reached: Callable[[], None]):
        self._reached = reached

    def submit(self, *_: Any, **__: Any) -> Future[Any]:
        self._reached()
        return Future()


def main(stage: str, mark: str, *arguments: str) -> int:
    """Run a command that stays in a stage of its run; the file `mark` is there when it has reached it."""
    from metrics.cli.main import main as command

    executing = importlib.import_module("metrics.engine.execute")

    def wait(*_: Any, **__: Any) -> None:
        Path(mark).touch()
        threading.Event().wait()

    if stage == "starting":
        executing.load_plugins = wait  # type: ignore[attr-defined]
    elif stage == "scoring":
        executing.WorkerPool = lambda: _Waits(Path(mark).touch)  # type: ignore[attr-defined]
    elif stage == "sealing":
        from tests.engine.engine_scenes import AtOnce

        executing.WorkerPool = AtOnce  # type: ignore[attr-defined]
        executing.seal = wait  # type: ignore[attr-defined]
    return command(arguments)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
