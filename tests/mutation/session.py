"""A session of pytest that runs its tests once for every mutant, each time in a fork of itself.

The session imports and collects once. Forks first run each test unchanged and note which functions it calls. A mutant's
fork runs the tests that call the mutated function, fast ones first, up to the first failure. Processor time, not time,
is bounded: a loaded machine kills no mutant.
"""

import contextlib
import functools
import gc
import math
import os
import pickle
import resource
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from numba.core.registry import CPUDispatcher

from tests.mutation.operators import Mutant
from tests.mutation.swap import every_loop, loops_of, module_of, put

SURVIVED, KILLED = 0, 1
ROOM = 5  # a mutant may take this many times the processor time of a test,
ALLOWANCE = 30  # and so many seconds more
SLOW = 2  # tests of more seconds come last

Call = tuple[str, str]  # a file, and the outermost function in it


@dataclass
class Session:
    """A plugin that tests mutants in place of running the tests; `survivors` holds what no test noticed."""

    sample: Sequence[Mutant]
    folder: Path
    jobs: int
    survivors: list[Mutant] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    calls: dict[str, set[Call]] = field(default_factory=dict)
    scratch: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="assay-mutants-")))

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self) -> None:
        """Let properties try the same examples for every mutant; what they find is not made small, nor kept."""
        from hypothesis import Phase, settings

        phases = (Phase.explicit, Phase.generate)
        settings.register_profile("mutation", deadline=None, database=None, derandomize=True, phases=phases)
        settings.load_profile("mutation")

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Test the sample."""
        every_loop()
        gc.freeze()  # collecting would copy the memory that the forks share
        self._note_all(session.items)
        running: dict[int, Mutant] = {}
        for mutant in self.sample:
            if len(running) == self.jobs:
                self._end(running)
            tests = self._tests_of(mutant, session.items)
            running[self._fork(functools.partial(self._try, mutant, tests))] = mutant
        while running:
            self._end(running)
        shutil.rmtree(self.scratch)
        return True

    def _note_all(self, items: Sequence[pytest.Item]) -> None:
        """Note what every test calls, each in a fork of its own: no fixture or cache is filled by another test.

        UsageError where a test fails.
        """
        failed: list[str] = []
        for place in range(len(items) + self.jobs):
            if place >= self.jobs:
                pid, _ = self._wait()
                file = self.scratch / f"{pid}.noted"
                name, self.seconds[name], self.calls[name], failures = pickle.loads(file.read_bytes())
                failed += failures
            if place < len(items):
                self._fork(functools.partial(self._note, items[place]))
        if failed:
            raise pytest.UsageError(f"these fail without a mutant: {', '.join(failed)}")

    def _end(self, running: dict[int, Mutant]) -> None:
        pid, status = self._wait()
        mutant = running.pop(pid)
        if status == SURVIVED:
            self.survivors.append(mutant)
        print("survived" if status == SURVIVED else "killed  ", mutant, flush=True)

    def _note(self, item: pytest.Item) -> int:
        """Run a test unchanged and write to a file its processor time, what it calls, and whether it fails."""
        reports = _Reports()
        item.config.pluginmanager.register(reports)
        start = time.process_time()
        with _calls(str(self.folder)) as calls:
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
        found = (item.nodeid, time.process_time() - start, calls, reports.failed)
        (self.scratch / f"{os.getpid()}.noted").write_bytes(pickle.dumps(found))
        return SURVIVED

    def _tests_of(self, mutant: Mutant, items: Sequence[pytest.Item]) -> list[pytest.Item]:
        """Return the tests that call the mutated function.

        Those of a file stand together, as they share what is made for them: the file with the fastest test comes first,
        in a file the fastest test. Slow ones come last.
        """
        module_of(mutant.file)
        names = {(str(mutant.file), mutant.function)}
        names |= {(loop.py_func.__code__.co_filename, loop.py_func.__name__) for loop in loops_of(mutant)}
        files = {file for file, _ in names} if not mutant.function else set()
        found = [item for item in items if any(one in names or one[0] in files for one in self.calls[item.nodeid])]
        first: dict[Path, float] = {}
        for item in found:
            first[item.path] = min(first.get(item.path, math.inf), self.seconds[item.nodeid])

        def place(item: pytest.Item) -> tuple[bool, float, Path, float]:
            return (seconds := self.seconds[item.nodeid]) > SLOW, first[item.path], item.path, seconds

        return sorted(found, key=place)

    def _try(self, mutant: Mutant, tests: Sequence[pytest.Item]) -> int:
        """Run tests on a mutant; the process ends at the first failure."""
        if not tests:
            return SURVIVED
        put(mutant)
        tests[0].config.pluginmanager.register(_EndAtFailure())
        for item, following in _pairs(tests):
            limit = int(time.process_time() + ROOM * self.seconds[item.nodeid] + ALLOWANCE)
            resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.getrlimit(resource.RLIMIT_CPU)[1]))
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        return SURVIVED

    def _fork(self, work: Callable[[], int]) -> int:
        """Do work in a silent process, in a session and with a scratch folder of its own; return its id."""
        sys.stdout.flush()
        if pid := os.fork():
            return pid
        code = KILLED
        try:
            os.setsid()
            nothing = os.open(os.devnull, os.O_RDWR)
            for stream in (0, 1, 2):
                os.dup2(nothing, stream)
            tempfile.tempdir = os.environ["PYTEST_DEBUG_TEMPROOT"] = str(self.scratch / str(os.getpid()))
            os.mkdir(tempfile.tempdir)
            code = work()
        finally:
            os._exit(code)

    def _wait(self) -> tuple[int, int]:
        """Wait for one of the processes; what it started ends with it."""
        pid, status = os.wait()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)
        shutil.rmtree(self.scratch / str(pid), ignore_errors=True)
        return pid, status


class _Traced(CPUDispatcher):
    """A compiled loop whose calls have a frame, as machine code has none."""

    def __call__(self, *given: Any) -> Any:
        return super().__call__(*given)


class _Reports:
    def __init__(self) -> None:
        self.failed: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed.append(report.nodeid)


class _EndAtFailure:
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            os._exit(KILLED)


def _pairs(items: Sequence[pytest.Item]) -> Iterable[tuple[pytest.Item, pytest.Item | None]]:
    return zip(items, [*items[1:], None], strict=True)


@contextlib.contextmanager
def _calls(folder: str) -> Iterator[set[Call]]:
    """Yield a set that fills with the functions of a folder, and the compiled loops, that are called."""
    found: set[Call] = set()

    def note(frame: FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        if code is _Traced.__call__.__code__:
            code = frame.f_locals["self"].py_func.__code__
        if code.co_filename.startswith(folder):
            found.add((code.co_filename, code.co_qualname.partition(".<locals>")[0]))

    for loop in every_loop():
        loop.__class__ = _Traced
    threading.settrace(note)
    sys.settrace(note)
    try:
        yield found
    finally:
        sys.settrace(None)
        threading.settrace(None)  # type: ignore[arg-type]
