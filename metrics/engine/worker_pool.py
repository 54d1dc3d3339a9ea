"""Processes of this machine that do units, each with a thread here that gives it work and ends it when that is due."""

import ctypes
import math
import os
import signal
import threading
import time
from collections.abc import Callable, MutableSequence
from concurrent.futures import Executor, Future
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnContext
from pathlib import Path
from queue import SimpleQueue
from typing import IO, Any

from metrics.core.errors import stored_at
from metrics.core.files import lock_open, make_file, make_folder
from metrics.core.processes import LOOK_EVERY, end_with
from metrics.core.terminal_escapes import protect
from metrics.engine import deadlines
from metrics.engine.schedulers import UnitLate, UnitLost
from metrics.judge.keys import redact

AT_ONCE = 4  # runs; each has a worker per core, so more would not be quicker, and memory has an end
WINDOW = 2 * (os.cpu_count() or 1)  # calls at once: enough to keep the workers busy, little enough to stop soon
WHOLE = -1.0  # in a worker's cell: it is at its unit as a whole
# of a worker's cell: when its step must be done (time.monotonic is the same in all processes), which, how long it has
DUE, PLACE, SECONDS = 0, 1, 2

Call = tuple[Callable[..., Any], tuple[Any, ...]]


class RunSlot:
    """A run's turn, which ends with its process where it is not given back."""

    def __init__(self, workspace: Path):
        self._folder = workspace / "turns"
        self._held: IO[str] | None = None

    def try_take(self) -> bool:
        """Take one of the turns, if one is free, and return whether this run has one."""
        for place in range(AT_ONCE):
            if self._held is not None:
                break
            path = make_folder(self._folder) / str(place)
            with stored_at(path):
                stream = make_file(path).open("w")
            if lock_open(stream):
                self._held = stream
            else:
                stream.close()
        return self._held is not None

    def give_back(self) -> None:
        """Let another run have it."""
        if self._held is not None:
            self._held.close()
            self._held = None


class WorkerPool(Executor):
    """An executor of one worker process per core that ends a worker which does not keep its deadlines.

    A future fails with UnitLate then, with UnitLost where the worker died; the other workers go on. Workers are
    started as they are needed, and end when this process does, however it ends. With a `turn` it takes no call before
    that is taken, and gives it back when it is shut down.
    """

    def __init__(self, turn: RunSlot | None = None) -> None:
        self._turn = turn
        self._calls: SimpleQueue[tuple[Future[Any], Call] | None] = SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._workers: set[_Worker] = set()
        self._open = 0  # calls that are not done
        self._dropped = False
        self._lock = threading.Lock()

    @property
    def window(self) -> int:
        """How many calls it takes at once."""
        return WINDOW if self._turn is None or self._turn.try_take() else 0

    @property
    def waits(self) -> str | None:
        """What it waits for, in words; None where it works."""
        return None if self.window else f"waiting for one of {AT_ONCE} other runs to end"

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **named: Any) -> "Future[Any]":
        """Give a call to the next worker that is free; `named` is not supported."""
        if named:
            raise TypeError("a worker takes no named arguments")
        future: Future[Any] = Future()
        with self._lock:
            self._open += 1
            if self._open > len(self._threads) < (os.cpu_count() or 1):
                self._threads.append(threading.Thread(target=self._serve, name="worker", daemon=True))
                self._threads[-1].start()
        self._calls.put((future, (function, arguments)))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Let the workers end when all is done; where `cancel_futures`, at once, whatever they do."""
        if cancel_futures:
            with self._lock:
                self._dropped = True
                workers = list(self._workers)
            for worker in workers:
                worker.kill()
        for _ in self._threads:
            self._calls.put(None)
        if self._turn is not None:
            self._turn.give_back()
        if wait:
            for thread in self._threads:
                thread.join()

    def _serve(self) -> None:
        """Do calls with a worker of this thread's own, until there are no more."""
        worker: _Worker | None = None
        try:
            while (given := self._calls.get()) is not None:
                future, call = given
                if self._dropped:
                    future.cancel()
                if future.set_running_or_notify_cancel():
                    try:
                        worker = worker or self._started()
                        future.set_result(worker.do(call))
                    except BaseException as failure:
                        if isinstance(failure, UnitLost) and worker is not None:
                            self._end(worker)
                            worker = None
                        future.set_exception(failure)
                with self._lock:
                    self._open -= 1
        finally:
            if worker is not None:
                self._end(worker)

    def _started(self) -> "_Worker":
        worker = _Worker(get_context("spawn"))
        with self._lock:
            self._workers.add(worker)
            dropped = self._dropped
        if dropped:  # while it was started
            worker.kill()
        return worker

    def _end(self, worker: "_Worker") -> None:
        worker.end()
        with self._lock:
            self._workers.discard(worker)


class _Worker:
    """A worker process, for the one thread that has started it: on Linux the process ends with that thread."""

    def __init__(self, context: SpawnContext):
        self._cell = context.RawArray(ctypes.c_double, [math.inf, WHOLE, math.inf])
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_work, args=(os.getpid(), theirs, self._cell))
        self._process.start()
        theirs.close()

    def do(self, call: Call) -> Any:
        """Return what the call returns, or raise what it raises; UnitLate or UnitLost where the worker is gone."""
        try:
            self._pipe.send(call)
            while not self._pipe.poll(LOOK_EVERY):
                self._look()
            done, value = self._pipe.recv()
        except (EOFError, ConnectionError) as failure:
            raise UnitLost(f"the worker process ended: {type(failure).__name__}", place=self._place) from None
        if done:
            return value
        raise value

    def _look(self) -> None:
        """Raise UnitLost where the process is gone, and UnitLate after ending it where its step has taken too long."""
        if not self._process.is_alive() and not self._pipe.poll():
            raise UnitLost("the worker process ended", place=self._place)
        due, _, seconds = self._cell
        place = self._place
        if due < time.monotonic() and self._cell[DUE] == due:  # else it has begun the next step meanwhile
            self.kill()
            raise UnitLate(place, seconds)

    @property
    def _place(self) -> int | None:
        """The place of the case that the worker is at; None where it is at its unit as a whole."""
        place = self._cell[PLACE]
        return None if place == WHOLE else int(place)

    def kill(self) -> None:
        """End the process and what it has started, whatever they do."""
        if hasattr(os, "killpg") and self._process.pid:
            with suppress(ProcessLookupError, PermissionError):  # it has no group yet, or is gone
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.kill()

    def end(self) -> None:
        """End the process, which has nothing to do."""
        self.kill()
        self._process.join()
        self._pipe.close()


def _work(parent: int, pipe: Connection, cell: MutableSequence[float]) -> None:
    """Do calls in a worker process until the pipe is closed."""
    if hasattr(os, "setpgrp"):
        os.setpgrp()  # a group of its own, without the terminal's Ctrl-C: the parent ends it then
    end_with(parent)
    protect(redact)  # what a plugin or a library prints here is on the run's terminal, or in its log
    deadlines.watched_by(lambda place, seconds: _note(cell, place, seconds))
    while True:
        try:
            function, arguments = pipe.recv()
        except EOFError:
            return
        try:
            made: tuple[bool, Any] = True, function(*arguments)
        except BaseException as failure:
            made = False, failure
        _note(cell, None, math.inf)
        try:
            pipe.send(made)
        except Exception as failure:  # nothing was sent: it cannot be pickled, or the parent is gone
            pipe.send((False, TypeError(f"{type(made[1]).__name__}: {failure}")))
        del made, arguments  # a table of a million rows must not wait for the next unit


def _note(cell: MutableSequence[float], place: int | None, seconds: float) -> None:
    cell[DUE] = math.inf  # so that no look takes the old time for the new place
    cell[PLACE], cell[SECONDS] = WHOLE if place is None else place, seconds
    cell[DUE] = time.monotonic() + seconds
