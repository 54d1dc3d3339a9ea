"""Calls in a process of their own, with limits of time and memory: readers of files that nobody can trust.

A server process that has imported the readers forks a child for each call, in milliseconds. The child ends with its
call, and with it all memory that reading took. It may be in the hands of a file: what it returns is taken as data, in
which only values of our own and of Arrow and numpy can stand, each array checked.
"""

import array
import importlib
import io
import mmap
import os
import pickle
import select
import signal
import socket
import sys
import tempfile
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import is_dataclass
from functools import cache
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeVar

from metrics.core.errors import InputError, InputProblem, describe_failure
from metrics.core.files import temporary_folder
from metrics.core.processes import LOOK_EVERY, bound_memory, end_with, start_own

T = TypeVar("T")
SECONDS, BYTES_A_SECOND = 60.0, 1_000_000  # that reading a file may take: so many and, of a larger one, more
STARTING = 60.0  # seconds that the first call may wait for the server's imports
MEMORY = max(2 << 30, os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2)  # bytes
PRELOADED = """
    metrics.library.input_data pandas metrics.ingest.file_roles PIL.Image yaml metrics.ingest.label_files
    metrics.ingest.preference_files openpyxl defusedxml.ElementTree metrics.ingest.documents pypdf
""".split()
# What a result may be made of, beside dataclasses, named tuples and errors of these packages
PACKAGES = ("metrics.core.", "metrics.ingest.", "metrics.library.", "metrics.text.chunks")
ARROW = """
    _reconstruct_table _restore_array chunked_array field list_ map_ py_buffer schema struct type_for_alias Schema Field
""".split()
OTHERS = {("builtins", "set"), ("builtins", "frozenset"), ("pathlib", "PosixPath"), ("collections", "Counter"),
          ("collections", "OrderedDict"), ("types", "MappingProxyType"), ("numpy", "ndarray"), ("numpy", "dtype"),
          ("numpy.core.multiarray", "_reconstruct"), ("numpy._core.multiarray", "_reconstruct"),
          ("numpy._core.numeric", "_frombuffer"), ("numpy.core.numeric", "_frombuffer")}  # fmt: skip


class Limits(NamedTuple):
    """What a call may take: seconds, and bytes of memory beside those of the readers' own code."""

    seconds: float = SECONDS
    memory: int = MEMORY


def limits_of(*paths: Path) -> Limits:
    """Return the limits of reading these files together, by their size."""
    size = sum(path.stat().st_size for path in paths if path.is_file())
    return Limits(SECONDS + size / BYTES_A_SECOND)


def read_in_worker(
    name: str, call: Callable[[], T], limits: Limits, watch: Callable[[float], None] = lambda _: None
) -> T:
    """Return what a call returns, or raise what it raises; `call` is a function of a module, or a partial of one.

    `watch` is told every half a second how many seconds it has taken: what it raises ends the call. InputError, by the
    `name` of what is read, where the call takes more than the limits, or ends its process.
    """
    with tempfile.TemporaryFile() as file:  # the call, and then its result
        pickle.dump((call, limits, str(_folder())), file)
        file.flush()
        told = _SERVER.start(file.fileno())
        try:
            state = _await(told, limits.seconds, watch)
        finally:
            os.close(told)
        if state == b"done":
            try:
                done, value = _load_result(file.fileno())
            except Exception:  # it may be in the hands of the file: no data, or such as do not fit each other
                state = b"malformed"
        if state != b"done":
            most = limits.memory >> 20
            found, expected = {
                b"late": (f"a file that was not read within {limits.seconds:,g} s", "one that is read in that time"),
                b"memory": (f"a file that takes more than {most:,} MiB to read", "one that takes less memory"),
                b"malformed": ("a file whose reader does not return data", "a complete file"),
            }.get(state, ("a file that ends the process that reads it", "a complete file"))
            raise InputError([InputProblem(name, found, f"{expected}: a smaller or a plainer file", fatal=True)])
    if done:
        return value  # type: ignore[no-any-return]
    raise value if isinstance(value, Exception) else RuntimeError(value)


@cache
def _folder() -> Path:
    """Return the folder for what calls keep beside their result, such as images; it ends with this process."""
    return temporary_folder("read")


def _await(told: int, seconds: float, watch: Callable[[float], None]) -> bytes:
    """Return how a call has ended, by its own words; its process is gone then, whatever it does."""
    began, said = time.monotonic() + STARTING, b""
    poll = select.poll()
    poll.register(told)
    try:
        while (left := began + seconds - time.monotonic()) > 0:
            if not poll.poll(1_000 * min(LOOK_EVERY, left)):
                watch(max(0, time.monotonic() - began))
            elif part := os.read(told, 64):
                if b"\n" not in said and b"\n" in part:  # its process has begun
                    began = time.monotonic()
                said += part
            else:
                return said.partition(b"\n")[2] or b"ended"
        return b"late"
    finally:
        if b"\n" in said:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(int(said.partition(b"\n")[0]), signal.SIGKILL)


class _Server:
    """The process that forks a child for each call; it is started with the first and ends with this process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None
        self.is_child = False

    def start(self, file: int) -> int:
        """Start a call; return the end of a pipe in which its process says its id and how it has ended."""
        reading, writing = os.pipe()
        try:
            if self.is_child:  # a document in a folder, whose other documents are to be read whatever it does
                parent = os.getpid()
                if os.fork() == 0:
                    _run(parent, file, writing)
                return reading
            with self._lock:
                try:
                    socket.send_fds(self._connected(), [b"."], [file, writing])
                except OSError:  # it has ended
                    self._socket = None
                    socket.send_fds(self._connected(), [b"."], [file, writing])
        finally:
            os.close(writing)
        return reading

    def warm_up(self) -> None:
        """Start the process, that the first call need not wait for its imports."""
        with self._lock:
            self._connected()

    def _connected(self) -> socket.socket:
        if self._socket is None:
            self._socket, theirs = socket.socketpair()
            with theirs:
                given = str(theirs.fileno()), str(os.getpid())
                process = start_own(__name__, *given, stderr=None, pass_fds=[theirs.fileno()])
            weakref.finalize(self._socket, process.kill)
        return self._socket


_SERVER = _Server()
warm_up = _SERVER.warm_up


def _serve(control: socket.socket, parent: int) -> None:
    """Fork a child for each call that the socket brings, until it is closed."""
    end_with(parent)
    waiting = list(PRELOADED)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for them
    own = os.getpid()
    while True:
        if waiting and not select.select([control], [], [], 0)[0]:  # nobody waits
            with suppress(ImportError):
                importlib.import_module(waiting.pop(0))
            continue
        _, given, _, _ = socket.recv_fds(control, 1, 2)
        if not given:
            os._exit(0)
        if os.fork() == 0:
            control.close()
            _run(own, *given)
        for descriptor in given:
            os.close(descriptor)


def _run(parent: int, descriptor: int, told: int) -> None:
    """Do the call that a file holds in a child, write its result there, and end the child."""
    state = b"ended"
    try:
        os.setpgrp()
        os.write(told, b"%d\n" % os.getpid())
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        end_with(parent)
        file = open(descriptor, "rb+")  # noqa: SIM115 - until the process ends
        file.seek(0)
        call, limits, tempfile.tempdir = pickle.load(file)  # noqa: S301 - of our own parent
        bound_memory(limits.memory)
        _SERVER.is_child = True
        try:
            made = True, call()
        except MemoryError:
            raise
        except Exception as failure:
            made = False, failure if type(failure).__module__.startswith(PACKAGES) else describe_failure(failure)
        _store_result(file, made)
        state = b"done"
    except MemoryError:
        state = b"memory"
    finally:
        os.write(told, state)
        os._exit(0)


def _store_result(file: IO[bytes], made: tuple[bool, Any]) -> None:
    """Write a result: how long its parts are, then its parts, the pickle first and the buffers of arrays after it."""
    buffers: list[pickle.PickleBuffer] = []
    parts: list[bytes | memoryview] = [pickle.dumps(made, 5, buffer_callback=buffers.append)]
    parts += [buffer.raw() for buffer in buffers]
    file.seek(0)
    file.write(array.array("q", [len(parts), *map(len, parts)]).tobytes())
    for part in parts:
        file.write(bytes(-file.tell() % 64))  # where Arrow reads fastest
        file.write(part)
    file.flush()


def _load_result(descriptor: int) -> tuple[bool, Any]:
    """Return a result, its arrays in the file itself, which has no name and ends with them."""
    whole = memoryview(mmap.mmap(descriptor, 0, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_WRITE))
    (count,) = whole[:8].cast("q")
    sizes, place = whole[8 : 8 + 8 * count].cast("q").tolist(), 8 + 8 * count
    parts = []
    for size in sizes:
        place += -place % 64
        parts.append(whole[place : place + size])
        place += size
    done, value = _Data(io.BytesIO(parts[0]), buffers=parts[1:]).load()
    return bool(done), value


class _Data(pickle.Unpickler):
    """A reader of results, in which nothing is called but what makes values."""

    def find_class(self, module: str, name: str) -> Any:
        """Return what makes a value of that name; UnpicklingError for anything else."""
        if module == "pyarrow.lib" and name in ARROW:
            import pyarrow as pa

            return _restore_checked if name == "_restore_array" else getattr(pa.lib, name)
        if (module, name) in OTHERS:
            return getattr(importlib.import_module(module), name)
        made = getattr(sys.modules.get(module), name, None) if module.startswith(PACKAGES) else None
        values = isinstance(made, type) and (
            is_dataclass(made) or issubclass(made, Exception) or (issubclass(made, tuple) and hasattr(made, "_fields"))
        )
        if not values:
            raise pickle.UnpicklingError(f"{module}.{name} in what a worker returned")
        return made


def _restore_checked(data: Sequence[Any]) -> Any:
    """Return an Arrow array of its buffers, which must fit each other."""
    import pyarrow as pa

    made = pa.lib._restore_array(data)
    made.validate(full=True)
    return made


if __name__ == "__main__":
    from metrics.core import reading_worker

    reading_worker._serve(socket.socket(fileno=int(sys.argv[1])), int(sys.argv[2]))
