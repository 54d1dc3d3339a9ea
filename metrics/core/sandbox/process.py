"""Jobs in the sandbox: each in a process of its own that ends when it is done, or when its time is over."""

import json
import os
import secrets
import selectors
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from metrics.core.installation import STUDIO
from metrics.core.sandbox.barriers import MOST_FILES, REQUIRED

MEBIBYTE = 1 << 20
MODULE = "metrics.core.sandbox.child"
LOOK_EVERY = 0.1  # seconds between two looks at the clock and the folder
MOST_PRINTED = 4_000  # characters of what the code prints that are kept
MOST_OUTPUT = 16 * MEBIBYTE  # bytes that it may print, and bytes that it may reply
START = 30.0  # seconds that the interpreter may take to start, on a machine that is busy
PATIENCE = 10  # seconds on the clock for each of the processor
# nothing of the user's environment; numerical libraries start no threads, and sets of texts have one order
ENVIRONMENT = {
    "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "PYTHONHASHSEED": "0", "PYTHONIOENCODING": "utf-8:replace",
    "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MPLBACKEND": "agg",
}  # fmt: skip


class Bounds(NamedTuple):
    """What a job may take: seconds of the processor (on the clock PATIENCE times as many), mebibytes of memory, files.

    The processor's seconds do not depend on what else the machine does. Half as long it may wait for anything but the
    processor (sleep), where the system counts that (Linux); elsewhere only the clock ends what waits.
    """

    seconds: int = 10
    memory_mb: int = 1024
    files_mb: int = 16


USUAL = Bounds()


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a job came to.

    `replies`: what the child reported, after the barriers. `barriers`: those in force; `missing`: required ones that
    are not, and then nothing was run. `ended` says in words why the process was ended, or how it ended, where it did
    not end by itself; without `barriers` it did not start. `printed`: the beginning of what it wrote to its outputs.
    `cpu_s`: processor time.
    """

    replies: Sequence[Mapping[str, Any]] = ()
    barriers: Sequence[str] = ()
    missing: Sequence[str] = ()
    ended: str = ""
    printed: str = ""
    cpu_s: float = 0.0


@dataclass(slots=True)
class _Pipe:
    kept: bytearray = field(default_factory=bytearray)
    size: int = 0


def run(job: Mapping[str, Any], bounds: Bounds = USUAL, required: Sequence[str] = REQUIRED) -> Outcome:
    """Do a job of metrics.core.sandbox.child in a process of its own, behind the barriers.

    Nothing is run where one of the `required` barriers is missing. The process sees an empty folder, which is removed,
    an environment without the user's variables, no open file of this process, and no network; it is ended when its
    time is over, when it prints or writes too much, or when this thread ends.
    """
    token = secrets.token_hex(16)
    with tempfile.TemporaryDirectory(prefix="assay-sandbox-") as made:
        folder = Path(made) / "work"
        folder.mkdir(0o700)
        given = {
            **job,
            "token": token,
            "folder": str(folder),
            "required": list(required),
            "parent": os.getpid(),
            "limits": {
                "cpu_s": bounds.seconds,
                "memory": bounds.memory_mb * MEBIBYTE,
                "file_size": bounds.files_mb * MEBIBYTE,
                "disk": bounds.files_mb * MEBIBYTE,
            },
        }
        try:
            return _done(given, bounds, folder)
        finally:
            _emptied(folder)


@cache
def in_force() -> tuple[str, ...]:
    """Return the barriers that this machine puts up, found out once by a process that runs nothing."""
    return tuple(run({"kind": "none"}, required=()).barriers)


def _done(job: Mapping[str, Any], bounds: Bounds, folder: Path) -> Outcome:
    reply, theirs = os.pipe()
    place = str(STUDIO)
    process = subprocess.Popen(  # noqa: S603 - our own interpreter on our own module
        [sys.executable, "-s", "-P", "-B", "-m", MODULE, str(theirs)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd=folder,
        pass_fds=(theirs,),
        env={**ENVIRONMENT, "PYTHONPATH": place, "HOME": str(folder), "TMPDIR": str(folder)},
    )
    os.close(theirs)
    written, printed = process.stdin, process.stdout
    assert written is not None
    assert printed is not None
    try:
        with suppress(BrokenPipeError), written as pipe:
            pipe.write(json.dumps(job).encode())
        pipes = {printed.fileno(): _Pipe(), reply: _Pipe()}
        why = _read_pipes(pipes, reply, job["token"], bounds, folder, process.pid)
    finally:
        os.kill(process.pid, signal.SIGKILL)  # Popen.kill would wait for it, and then nobody knows what it used
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        printed.close()
        os.close(reply)
    output, replied = pipes.values()
    replies = _replies(bytes(replied.kept), job["token"])
    first = replies[0] if replies else {}
    cpu_s = used.ru_utime + used.ru_stime
    ended = why or _ending(process.returncode, cpu_s >= bounds.seconds)
    text = output.kept.decode("utf-8", "replace")[:MOST_PRINTED]
    return Outcome(replies[1:], first.get("barriers", ()), first.get("missing", ()), ended, text, cpu_s)


def _read_pipes(pipes: Mapping[int, _Pipe], reply: int, token: str, bounds: Bounds, folder: Path, pid: int) -> str:
    """Read the pipes until the process closes them; return why it has to be ended before, in words."""
    started, began, busy_before = time.monotonic(), False, 0.0
    with selectors.DefaultSelector() as selector:
        for descriptor in pipes:
            selector.register(descriptor, selectors.EVENT_READ)
        while selector.get_map():
            for key, _ in selector.select(LOOK_EVERY):
                pipe, portion = pipes[key.fd], os.read(key.fd, 65_536)
                pipe.size += len(portion)
                if key.fd == reply or len(pipe.kept) < 4 * MOST_PRINTED:
                    pipe.kept += portion
                if not portion:
                    selector.unregister(key.fd)
                if pipe.size > MOST_OUTPUT:
                    return f"printed more than {MOST_OUTPUT // MEBIBYTE} MiB"
            now = time.monotonic()
            if not began and token.encode() in pipes[reply].kept:  # the barriers are up: the time of the code begins
                began, started, busy_before = True, now, _busy_seconds(pid) or 0.0
            if now - started > (PATIENCE * bounds.seconds if began else START):
                return f"took longer than {PATIENCE * bounds.seconds} s" if began else "the sandbox did not start"
            busy = _busy_seconds(pid) if began and now - started > bounds.seconds / 2 else None
            if busy is not None and now - started - (busy - busy_before) > bounds.seconds / 2:
                return f"waited longer than {bounds.seconds / 2:g} s"
            if _too_full(folder, bounds.files_mb * MEBIBYTE):
                return "wrote too many or too large files"
    return ""


def _busy_seconds(pid: int) -> float | None:
    """Return how long the threads of a process ran or waited for the processor; None where nobody counts it."""
    try:
        tasks = [(place / "schedstat").read_text().split()[:2] for place in Path(f"/proc/{pid}/task").iterdir()]
    except OSError:
        return None
    return sum(int(nanoseconds) for task in tasks for nanoseconds in task) / 1e9


def _too_full(folder: Path, most: int) -> bool:
    """Return whether the folder holds more than it may; empty where the folder of the code is in memory."""
    count = size = 0
    with suppress(OSError):
        for place, folders, files in os.walk(folder):
            count += len(folders) + len(files)
            if count > MOST_FILES:
                return True
            for name in files:
                with suppress(OSError):
                    size += os.lstat(os.path.join(place, name)).st_blocks * 512
    return size > most


def _emptied(folder: Path) -> None:
    """Remove what the code left; links are removed, not followed."""
    with suppress(OSError, RecursionError):
        shutil.rmtree(folder)


def _replies(text: bytes, token: str) -> list[dict[str, Any]]:
    """Return the lines that have the token; whatever else the code wrote there is nothing."""
    found = []
    for line in text.splitlines():
        with suppress(ValueError, RecursionError):
            reply = json.loads(line)
            if isinstance(reply, dict) and secrets.compare_digest(str(reply.pop("token", "")).encode(), token.encode()):
                found.append(reply)
    return found


def _ending(code: int, spent: bool) -> str:
    """Return how a process ended that was not ended by us; "" where it ended by itself with nothing wrong."""
    if code == 0:
        return ""
    if code == -signal.SIGXCPU or (code == -signal.SIGKILL and spent):
        return "used up its processor time"
    return f"ended by signal {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
