"""Jobs in the sandbox: each in a process of bubblewrap's that ends when it is done, or when its time is over."""

import json
import math
import os
import re
import selectors
import shutil
import signal
import subprocess
import sys
import sysconfig
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from functools import cache
from pathlib import Path
from typing import IO, Any, NamedTuple

MEBIBYTE = 1 << 20
PLACE, FOLDER = "/assay-sandbox/code", "/assay-sandbox/folder"  # inside: our own code, and what may be written
LOOK_EVERY = 0.1  # seconds between two looks at the clock and the folder
KEPT_OUTPUT = 4_000  # characters of what the code prints
MAX_OUTPUT = 16 * MEBIBYTE  # bytes that it may print, and bytes that it may reply
MAX_FILES = 250  # in the folder
START = 30.0  # seconds that the interpreter may take to start, on a machine that is busy
OTHER_ENDED = 75  # the exit code of a program whose other one has ended
PATIENCE = 10  # seconds on the clock for each of the processor
# nothing of the user's environment; numerical libraries start no threads, and sets of texts have one order
ENVIRONMENT = {
    "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "PYTHONHASHSEED": "0", "PYTHONIOENCODING": "utf-8:replace",
    "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MPLBACKEND": "agg", "HOME": FOLDER, "TMPDIR": FOLDER,
}  # fmt: skip
INSTALL = "code runs on Linux alone, with bubblewrap and libseccomp (Debian: apt install bubblewrap libseccomp2)"
PERMIT = "the system must let bubblewrap make user namespaces; for containers see docs/code.md"
# namespaces of its own (processes, network, users, …) without capabilities; it ends with this thread
ISOLATED = "--unshare-all --unshare-user --die-with-parent --new-session --as-pid-1 --clearenv --cap-drop ALL".split()
SYSTEM = """
    /lib /lib64 /usr/lib /usr/lib64 /usr/local/lib /etc/alternatives /etc/ld.so.cache /etc/localtime /usr/share/zoneinfo
""".split()


class Bounds(NamedTuple):
    """What each process of a job may take: seconds of the processor (on the clock PATIENCE times as many), mebibytes.

    Half as long it may wait for anything but the processor (sleep), where the system counts that.
    """

    seconds: int = 10
    memory_mb: int = 1024
    files_mb: int = 16


class Outcome(NamedTuple):
    """What a job came to: what its first program reported, and the beginning of what was printed.

    `ended` says why it was ended, or how it ended, where it did not end by itself; unless `started`, why nothing ran.
    """

    replies: Sequence[Mapping[str, Any]] = ()
    ended: str = ""
    printed: str = ""
    started: bool = True


def run(folder: Path, programs: Mapping[str, Mapping[str, Any]], bounds: Bounds) -> Outcome:
    """Run one program, or two that are joined by pipes, each in a sandbox of its own; the first reports.

    They are modules of a folder of ours, whose start.py calls `main` of each with what it is given. Nothing is run
    where the sandbox is not whole. All end when the time is over, when one prints or writes too much, when the first
    program has come to its end, or when this thread ends.
    """
    if reason := why_unavailable():
        return Outcome(ended=reason, started=False)
    with ExitStack() as stack, selectors.DefaultSelector() as selector:
        pipes = [_open_pipe(stack) for _ in range(4)]
        (reply, replying), (printed, printing), (asked, asking), (answers, answering) = pipes
        children: list[_Child] = []
        stack.callback(lambda: [child.end(0) for child in children])  # whatever happens, none is left
        for (module, given), ends in zip(programs.items(), ((answers, asking), (asked, answering)), strict=False):
            job = {"program": module, "given": given, "bounds": bounds}
            files = (*ends, *(() if children else (replying,)))
            children.append(_Child(stack, folder, job, files, printing))
        for file in (replying, printing, asked, asking, answers, answering):
            file.close()
        read = {reply: bytearray(), printed: bytearray(), **{child.status: child.told for child in children}}
        for file, kept in read.items():
            os.set_blocking(file.fileno(), False)
            selector.register(file, selectors.EVENT_READ, kept)
        why = _watch(selector, read[reply], children, bounds)
        endings = [child.end(bounds.seconds) for child in reversed(children)]  # the first ends for want of the second
        read[printed] += printed.read(MAX_OUTPUT) or b""
    replies = [json.loads(line) for line in read[reply].splitlines(keepends=True) if line.endswith(b"\n")]
    text = read[printed].decode("utf-8", "replace")[:KEPT_OUTPUT]
    return Outcome(replies[1:], why or next(filter(None, endings), ""), text, bool(replies))


@cache
def why_unavailable() -> str:
    """Return why nothing can be run here, and what to install; "" where code can be run."""
    if sys.platform != "linux" or not shutil.which("bwrap"):
        return f"bubblewrap is not here: {INSTALL}"
    try:
        return _options()[1]
    except (ImportError, RuntimeError, OSError) as failure:
        return f"libseccomp is not here ({failure}): {INSTALL}"


@cache
def _options() -> tuple[Sequence[str], str]:
    """Return the options that bubblewrap takes here, and why it does not start with any."""
    paths = [sysconfig.get_paths(vars={"base": base, "platbase": base}) for base in (sys.prefix, sys.base_prefix)]
    named = {one[name] for one in paths for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    named |= {*SYSTEM, f"{sys.base_prefix}/lib", f"{sys.prefix}/pyvenv.cfg"}
    binds = [word for path in sorted(named) for word in ("--ro-bind-try", path, path)]
    devices = [word for path in ("/dev/null", "/dev/urandom") for word in ("--dev-bind", path, path)]
    environment = [word for name, value in ENVIRONMENT.items() for word in ("--setenv", name, value)]
    python = ("--ro-bind", os.path.realpath(sys.executable), sys.executable)
    said = ""
    for more in (["--disable-userns"], []):  # absent before 0.8; a container may forbid it alone
        options = [*ISOLATED, *more, *binds, *devices, *python, *environment]
        with ExitStack() as stack:
            rules = _rules(stack)
            last = f"--seccomp {rules} --size 4096 --tmpfs {FOLDER} --".split()
            command = ["bwrap", *options, *last, sys.executable, "-P", "-S", "-c", ""]
            silent: dict[str, Any] = {"stdin": subprocess.DEVNULL, "capture_output": True, "pass_fds": [rules]}
            done = subprocess.run(command, check=False, **silent)  # noqa: S603 - bubblewrap, by our own options
        if not done.returncode:
            return options, ""
        said = " ".join(done.stderr.decode("utf-8", "replace").split())[-300:] or f"exit code {done.returncode}"
    return [], f"bubblewrap is refused ({said}): {PERMIT}"


def _open_pipe(stack: ExitStack) -> tuple[IO[bytes], IO[bytes]]:
    """Return the ends of a new pipe; the stack closes what is still open."""
    reading, writing = os.pipe()
    reader = stack.enter_context(os.fdopen(reading, "rb", buffering=0))
    return reader, stack.enter_context(os.fdopen(writing, "wb", buffering=0))


def _rules(stack: ExitStack) -> int:
    """Return the number of a pipe with the filter of system calls."""
    from metrics.core.sandbox.system_calls import filter_program  # on use: other systems lack what it imports

    reader, writer = _open_pipe(stack)
    writer.write(filter_program())
    writer.close()
    return reader.fileno()


class _Child:
    """A process of bubblewrap's with a program inside; it has the files that it is given, and no other."""

    def __init__(
        self, stack: ExitStack, folder: Path, job: Mapping[str, Any], files: Sequence[IO[bytes]], printing: IO[bytes]
    ) -> None:
        self.busy, self.told = 0.0, bytearray()
        self.status, telling = _open_pipe(stack)
        passed = [_rules(stack), telling.fileno(), *(file.fileno() for file in files)]
        size = job["bounds"].files_mb * MEBIBYTE
        command = [
            "bwrap", *_options()[0], "--seccomp", str(passed[0]), "--json-status-fd", str(passed[1]),
            "--ro-bind", str(folder), PLACE, "--size", str(size), "--tmpfs", FOLDER, "--chdir", FOLDER,
            "--remount-ro", "/", "--", sys.executable, "-s", "-P", "-B", f"{PLACE}/start.py",
        ]  # fmt: skip
        self.process = subprocess.Popen(  # noqa: S603 - bubblewrap, by our own options
            command, stdin=subprocess.PIPE, stdout=printing, stderr=subprocess.STDOUT, pass_fds=passed
        )
        telling.close()
        content = json.dumps({**job, "pipes": passed[2:4], "reply": (*passed[4:], None)[0]}).encode()
        assert self.process.stdin is not None
        with suppress(BrokenPipeError), self.process.stdin as pipe:
            pipe.write(content)

    def look(self) -> int:
        """Count how long its threads have run or waited for the processor; return how many files it has made."""
        known = re.search(rb'"child-pid": (\d+)\D', self.told)
        with suppress(OSError):
            inside = Path("/proc", known[1].decode() if known else "0")
            tasks = [(task / "schedstat").read_text().split()[:2] for task in (inside / "task").iterdir()]
            self.busy = max(self.busy, sum(int(nanoseconds) for task in tasks for nanoseconds in task) / 1e9)
            folder = os.statvfs(f"{inside}/root{FOLDER}")
            return folder.f_files - folder.f_ffree
        return 0

    def end(self, seconds: int) -> str:
        """End it and all that is inside; return how it had ended before, "" where nothing was wrong."""
        if self.process.returncode is not None:
            return ""
        os.kill(self.process.pid, signal.SIGKILL)  # Popen.kill would wait for it, and then nobody knows what it used
        _, status, used = os.wait4(self.process.pid, 0)
        code = self.process.returncode = os.waitstatus_to_exitcode(status)
        if code <= 0 or code == OTHER_ENDED:
            return ""
        number = code - 128  # bubblewrap's way to say which signal it was
        if number == signal.SIGKILL and used.ru_utime + used.ru_stime >= 0.8 * seconds:  # counted by ticks
            return "used up its processor time"
        named = number in set(signal.Signals)
        return f"ended by signal {signal.Signals(number).name}" if named else f"ended with exit code {code}"


def _watch(selector: selectors.BaseSelector, reply: bytearray, children: Sequence[_Child], bounds: Bounds) -> str:
    """Read until the first program has finished, or all have ended; return why they have to be ended before."""
    started = last = time.monotonic()
    began, busy_before, idle = False, 0.0, 0.0
    while selector.get_map() and b'"exit-code": 0' not in children[0].told:
        ready = selector.select(LOOK_EVERY)
        for key, _ in ready:
            key.data.extend(portion := os.read(key.fd, 65_536))
            if not portion:
                selector.unregister(key.fileobj)
            if len(key.data) > MAX_OUTPUT:
                return f"printed more than {MAX_OUTPUT // MEBIBYTE} MiB"
        if max(map(_Child.look, children)) > MAX_FILES:
            return "wrote too many files"
        now, busy = time.monotonic(), math.fsum(child.busy for child in children)
        if not began and reply:  # the barriers are up: the time of the code begins
            began, started, idle = True, now, 0.0
        waited = now - last - (busy - busy_before)
        idle = max(0.0, idle + (min(0.0, waited) if ready else waited))  # what waits for us to read does not wait
        last, busy_before = now, busy
        if now - started > (PATIENCE * bounds.seconds if began else START):
            return f"took longer than {PATIENCE * bounds.seconds} s" if began else "the sandbox did not start"
        if began and busy and idle > bounds.seconds / 2:  # 0 where nobody counts
            return f"waited longer than {bounds.seconds / 2:g} s"
    return ""
