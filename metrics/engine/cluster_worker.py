"""What happens on a cluster's worker: comparing versions, keeping the inputs of runs, doing a unit.

A worker that sees the run's workspace reads it. Any other keeps copies of suites and outputs in a folder of its own
with the layout of a workspace: each file is verified by its sha256, and what was not used for longest is removed.
"""

import asyncio
import faulthandler
import math
import os
import shutil
import socket
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from metrics import models
from metrics.core.errors import AssayError
from metrics.core.evaluator import JUDGE
from metrics.core.files import make_file, make_folder, sha256_of
from metrics.core.installation import cache_folder
from metrics.core.registry import choose
from metrics.engine import deadlines, run_plugins
from metrics.engine.load_resources import Resources, missing_resources
from metrics.engine.parts import UnitResult
from metrics.engine.run_plugins import Shipped
from metrics.engine.schedulers import UnitLate
from metrics.engine.unit_work import Job

HOME = "ASSAY_WORKER_CACHE"  # the environment's name of the folder of copies
KEPT_BYTES = 50 * 2**30  # of copies, beside those of the run that is being supplied
USED_LATELY = 3600.0  # seconds in which a copy may still serve another run, and so stays
LOOK_EVERY = 0.5  # seconds between two looks at the unit
GRACE = 30.0  # seconds after a deadline in which no other thread may run before the process is ended for that
FAREWELL = 2.0  # seconds in which what is raised reaches the scheduler before the process ends
STDERR = 2


@dataclass(frozen=True, slots=True)
class Sent:
    """A file of the workspace that workers need: its path below the workspace, its bytes and their sha256."""

    path: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Probe:
    """A file in the run's folder whose text tells a worker that it sees that folder, and not another of that name."""

    path: Path
    text: str

    def seen(self) -> bool:
        """Return whether this process sees it."""
        try:
            return self.path.read_text(encoding="ascii") == self.text
        except (OSError, ValueError):
            return False


def cache_home() -> Path:
    """Return the folder of this worker's copies."""
    return Path(os.environ.get(HOME) or cache_folder() / "worker")


def perform_there(probe: Probe, function: Callable[[Job], UnitResult], job: Job) -> UnitResult:
    """Do a unit on the workspace where this worker sees it, else on the copies."""
    return in_time(function, replace(job, workspace=_workspace(probe)))


def _workspace(probe: Probe) -> Path:
    return probe.path.parents[2] if _seen(probe) else cache_home()


@lru_cache(maxsize=64)
def _seen(probe: Probe) -> bool:
    return probe.seen()


async def sees(probe: Probe) -> bool:
    """Return whether this worker sees the workspace."""
    return await asyncio.to_thread(_seen, probe)


async def lacking(files: Sequence[Sent]) -> tuple[str, str, list[str]]:
    """Return this machine, the folder of its copies, and the paths of those that are not there."""

    def look() -> list[str]:
        home = make_folder(cache_home())
        _make_room(home, files)
        for path in (home / file.path for file in files):
            if path.exists():
                os.utime(path)  # used now
        sizes = {path: path.stat().st_size for file in files if (path := home / file.path).exists()}
        return [file.path for file in files if sizes.get(home / file.path) != file.size]

    return socket.gethostname(), str(cache_home()), await asyncio.to_thread(look)


async def receive(file: Sent, offset: int, data: bytes) -> None:
    """Store a piece of a file; the last one makes it visible. Raises ValueError where the bytes are not those sent."""

    def store() -> None:
        path = cache_home() / file.path
        beside = make_file(make_folder(path.parent) / f".{path.name}.{os.getpid()}.part")
        with beside.open("r+b" if offset else "wb") as stream:
            stream.seek(offset)
            stream.write(data)
        if offset + len(data) < file.size:
            return
        if sha256_of(beside) != file.sha256:
            beside.unlink()
            raise ValueError(f"{file.path} arrived damaged")
        beside.replace(path)

    await asyncio.to_thread(store)


async def make_ready(
    probe: Probe,
    plugins: tuple[Shipped, ...],
    evaluators: Mapping[str, Mapping[str, Any]],
    resources: Mapping[str, Any],
    weights: Mapping[str, str],
) -> str | None:
    """Import the evaluators, compile their loops and open their models; return what this worker lacks for them.

    `plugins`: those of the run, which are loaded here. `weights`: the sha256 of each model's weights where the run was
    started, as "evaluator model".
    """

    def ready() -> str | None:
        try:
            run_plugins.receive(plugins)
            chosen = choose(list(evaluators), evaluators)
        except AssayError as failure:
            return str(failure)
        own = Resources(resources, _workspace(probe) / "cache")
        for entry, parameters in chosen.values():
            if reason := missing_resources(entry, parameters, resources):
                return f"{entry.id}: {reason}"
            for name, sha256 in model_weights(evaluators, resources, entry.id).items():
                if weights.get(name) not in (None, sha256):
                    return f"{name}: other weights than where the run was started"
            own.models(entry, parameters)
        if any("annotations" in entry.inputs for entry, _ in chosen.values()):
            from metrics.vision.warm_up import warm_up

            warm_up()
        return None

    return await asyncio.to_thread(ready)


def model_weights(
    evaluators: Mapping[str, Mapping[str, Any]], resources: Mapping[str, Any], *ids: str
) -> dict[str, str]:
    """Return the sha256 of the weights of the evaluators' models that are on this machine, as "evaluator model"."""
    found = {}
    for id, (entry, parameters) in choose(list(ids), {id: evaluators[id] for id in ids}).items():
        own = entry.settings(parameters, resources)
        for name in parameters.used(entry.resources):
            if name != JUDGE and (sha256 := models.weights_of(name, own)):
                found[f"{id} {name}"] = sha256
    return found


def _make_room(home: Path, files: Sequence[Sent]) -> None:
    """Remove the copies that were not used for longest, down to KEPT_BYTES; never those of `files`."""
    needed = {file.path.split("/")[1] for file in files}
    copies = []
    for folder in [*home.glob("suites/*"), *home.glob("outputs/*")]:
        stored = [entry.stat() for entry in folder.rglob("*") if entry.is_file()]
        used = max((entry.st_mtime for entry in stored), default=0.0)
        copies.append((used, sum(entry.st_size for entry in stored), folder))
    total = sum(size for _, size, _ in copies)
    for used, size, folder in sorted(copies):
        if total <= KEPT_BYTES or used > time.time() - USED_LATELY:
            return
        if folder.name not in needed:
            shutil.rmtree(folder, ignore_errors=True)
            total -= size


def in_time(function: Callable[[Job], UnitResult], job: Job) -> UnitResult:
    """Return what the function makes of a unit, or raise what it raises.

    Raises UnitLate where a step takes longer than it may; this process ends soon after, as the unit would go on in it.
    Where C code lets no thread run it ends without a word, and the scheduler gives the unit to another worker.
    """
    done: Future[UnitResult] = Future()
    step: list[tuple[float, int | None, float]] = [(math.inf, None, math.inf)]  # due, place, seconds

    def note(place: int | None, seconds: float) -> None:
        due = time.monotonic() + seconds
        step[0] = (due, place, seconds)
        _switch.set_deadline(id(done), due)

    def work() -> None:
        deadlines.watched_by(note)
        try:
            done.set_result(function(job))
        except BaseException as failure:
            done.set_exception(failure)

    threading.Thread(target=work, name="unit", daemon=True).start()
    while not wait([done], LOOK_EVERY).done:
        due, place, seconds = step[0]
        if due < time.monotonic():
            threading.Timer(FAREWELL, os._exit, (1,)).start()
            raise UnitLate(place, seconds)
    _switch.set_deadline(id(done), math.inf)
    return done.result()


class _Switch:
    """Ends this process some time after the first deadline of its units, from C code that needs no turn to run."""

    def __init__(self) -> None:
        self._dues: dict[int, float] = {}
        self._armed = (math.inf, -math.inf)  # for which deadline, and when
        self._lock = threading.Lock()

    def set_deadline(self, unit: int, due: float) -> None:
        """Set the deadline of a unit's step; infinity for one that is done. Costs little where it was set just now."""
        with self._lock:
            self._dues[unit] = due
            if due == math.inf:
                del self._dues[unit]
            now, first = time.monotonic(), min(self._dues.values(), default=math.inf)
            if first == math.inf:
                faulthandler.cancel_dump_traceback_later()
                self._armed = (math.inf, now)
            elif first < self._armed[0] or now > self._armed[1] + LOOK_EVERY:
                faulthandler.dump_traceback_later(max(first - now, 0) + GRACE, exit=True, file=STDERR)
                self._armed = (first, now)


_switch = _Switch()
