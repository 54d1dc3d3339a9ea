"""One process that fuzzes one target: `python -m tests.fuzz.child NAME SEED FOLDER SECONDS`; see __main__.py.

Inputs are changed at random; those that reach a line of `metrics` for the first time are changed further. A crash is
made smaller and kept in the corpus. What ends the process (too long, too much memory in C code) is left in FOLDER as
the current input, for the parent to keep.
"""

import faulthandler
import resource
import shutil
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from random import Random
from tempfile import mkdtemp
from types import CodeType, FrameType
from typing import Any

from tests.fuzz.target import CORPUS, PROJECT, Input, Target, crash_place

EXAMPLE_SECONDS = 20  # of processor time
WAITING_SECONDS = 600  # on the clock: it waits for something
MEMORY = 3 << 30  # bytes of address space beside what the process has to begin with
LARGEST_TRACED = 20_000  # bytes: tracing makes long loops ten times as long
MOST_KEPT = 400  # inputs that are changed further
SMALLER_TRIES, SMALLER_SECONDS = 400, 15
LARGEST_KEPT = 20_000  # bytes of a crash in the corpus; of a larger one only the place is told


class NewLines:
    """Tells whether code of `metrics` reached a line that it never reached before."""

    def __init__(self) -> None:
        self._found = False
        self._left: dict[CodeType, set[int]] = {}  # lines not reached yet, by code

    def _called(self, frame: FrameType, event: str, _: Any) -> Any:
        code = frame.f_code
        left = self._left.get(code)
        if left is None:
            own = code.co_filename.startswith(f"{PROJECT}/metrics/")
            left = self._left[code] = {line for *_, line in code.co_lines() if line} if own else set()
        return self._reached if left else None  # code that was reached whole is not traced any more

    def _reached(self, frame: FrameType, event: str, _: Any) -> Any:
        left = self._left[frame.f_code]
        if frame.f_lineno in left:
            left.discard(frame.f_lineno)
            self._found = True
        return self._reached

    def took_new(self) -> bool:
        found, self._found = self._found, False
        return found

    def during(self, work: Callable[[], Any]) -> None:
        sys.settrace(self._called)
        try:
            work()
        finally:
            sys.settrace(None)


def fuzz(target: Target, known: Sequence[Input], seed: str, folder: Path, seconds: float) -> None:
    """Fuzz a target for some seconds, from its seeds and `known` inputs on; print a line for each crash."""
    warnings.simplefilter("error")
    limit()
    rng, lines = Random(seed), NewLines()
    seeds = list(target.seeds())
    pool: list[Input] = [*seeds, *known]
    places: set[str] = set()
    current = (folder / "current").open("wb", buffering=0)
    count, ends = 0, time.monotonic() + seconds
    waiting = list(pool)
    while time.monotonic() < ends:
        given = waiting.pop() if waiting else changed(target, rng.choice(pool), seeds, rng)
        current.seek(0)
        current.truncate()
        current.write(given.name.encode("utf-8", "replace") + b"\n" + given.data)
        failure = failure_of(target, given, lines if len(given.data) <= LARGEST_TRACED else None)
        count += 1
        if lines.took_new() and len(pool) < MOST_KEPT:
            pool.append(given)
        if failure is not None and (where := crash_place(failure)) not in places:
            places.add(where)
            keep(target, smaller(target, given, where), where, failure)
        if count % 20 == 0:
            (folder / "count").write_text(str(count))
    (folder / "count").write_text(str(count))


def limit() -> None:
    """End this process where an example takes too long; refuse it memory beyond its share."""
    faulthandler.register(signal.SIGPROF, file=sys.stderr, all_threads=False, chain=True)
    faulthandler.register(signal.SIGALRM, file=sys.stderr, all_threads=False, chain=True)
    with open("/proc/self/statm", encoding="ascii") as stat:
        own = int(stat.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (own + MEMORY, own + MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def changed(target: Target, given: Input, seeds: Sequence[Input], rng: Random) -> Input:
    for _ in range(1 + (rng.random() < 0.3) * rng.randint(1, 3)):
        given = target.mutate(given, seeds, rng)
    return given


def failure_of(target: Target, given: Input, lines: NewLines | None = None) -> BaseException | None:
    """Return what a target raises that it must not; the process ends where it takes too long."""
    folder = Path(mkdtemp(prefix="assay-fuzz-"))
    signal.setitimer(signal.ITIMER_PROF, EXAMPLE_SECONDS)
    signal.setitimer(signal.ITIMER_REAL, WAITING_SECONDS)
    try:
        if lines is None:
            target.holds(given, folder)
        else:
            lines.during(lambda: target.holds(given, folder))
    except Exception as failure:
        return failure
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        shutil.rmtree(folder, ignore_errors=True)
    return None


def smaller(target: Target, given: Input, where: str) -> Input:
    """Return an input with parts left out that still breaks the target at the same place."""
    left, size, ends = SMALLER_TRIES, len(given.data) // 2, time.monotonic() + SMALLER_SECONDS
    while size and left and time.monotonic() < ends:
        place = 0
        while place < len(given.data) and left and time.monotonic() < ends:
            shorter = Input(given.name, given.data[:place] + given.data[place + size :])
            failure = failure_of(target, shorter)
            left -= 1
            if failure is not None and crash_place(failure) == where:
                given = shorter
            else:
                place += size
        size //= 2
    return given


def keep(target: Target, given: Input, where: str, failure: BaseException) -> None:
    said = " ".join(str(failure).split())[:150]
    sys.stderr.write("".join(traceback.format_exception(failure)[-8:]) + "\n")
    if len(given.data) > LARGEST_KEPT:
        print(f"crash {where}: {said} ({len(given.data):,} bytes, not kept)", flush=True)
        return
    (CORPUS / target.name).mkdir(parents=True, exist_ok=True)
    (CORPUS / target.name / given.file_name).write_bytes(given.data)
    print(f"crash {where}: {said} ({given.file_name})", flush=True)


if __name__ == "__main__":
    from tests.fuzz.table import TARGETS, corpus

    name, seed, place, seconds = sys.argv[1:]
    with suppress(KeyboardInterrupt):
        fuzz(TARGETS[name], corpus(name), seed, Path(place), float(seconds))
