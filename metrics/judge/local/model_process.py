"""A GGUF model in a process of its own: a file that makes the library crash or never end ends that process alone.

The file's chat template is a program, which the library runs while it loads the file and at each question, without a
limit of steps or depth; its numbers are sizes that the library takes. Both sides send JSON.
"""

import json
import os
import secrets
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Mapping
from contextlib import suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from metrics.core.errors import describe_failure
from metrics.core.processes import LOOK_EVERY, bound_memory, end_with, start_own
from metrics.judge.completion import LONGEST_BODY

WINDOW = 8_192  # tokens of prompt and reply together: 230 MB of memory
LOADING, BYTES_A_SECOND = 60.0, 20_000_000  # seconds that loading may take, beside those of reading the file
ANSWERING = 3_600.0  # seconds that an answer may take
ROOM = 8 << 30  # bytes of memory beside twice those of the file: window and buffers


class ModelEnded(Exception):
    """The model's process has ended, or was ended; the text says why."""


class ModelProcess:
    """The process of one file, for one question at a time. `stopped`, where set, ends it amid a question.

    Raises ModelEnded where it crashes or takes too long while it loads the file, ValueError where the file is refused.
    """

    def __init__(self, path: Path, stopped: threading.Event):
        self._pipe, theirs = Pipe()
        given = str(theirs.fileno()), str(os.getpid()), str(path.absolute())
        quiet = {"GGML_NO_BACKTRACE": "1"}
        self._process = start_own(__name__, *given, environment=quiet, pass_fds=[theirs.fileno()])
        theirs.close()
        self.end = weakref.finalize(self, _end, self._process, self._pipe)
        self._received("loading the model", LOADING + path.stat().st_size / BYTES_A_SECOND, stopped)

    def ask(self, body: Mapping[str, Any], stopped: threading.Event) -> Any:
        """Return the library's reply to the body of a chat completion. Raises ModelEnded, ValueError."""
        try:
            self._pipe.send_bytes(json.dumps(body).encode())
        except OSError:
            raise self._ended("answering") from None
        return self._received("answering", ANSWERING, stopped)

    def _received(self, doing: str, seconds: float, stopped: threading.Event) -> Any:
        due = time.monotonic() + seconds
        try:
            while not self._pipe.poll(LOOK_EVERY):
                if stopped.is_set() or time.monotonic() > due:
                    why = "was stopped" if stopped.is_set() else f"took longer than {seconds:,.0f} s and was ended"
                    raise self._ended(doing, why)
            made = json.loads(self._pipe.recv_bytes(LONGEST_BODY))
        except (EOFError, OSError):
            raise self._ended(doing) from None
        if "failure" in made:
            raise ValueError(made["failure"])
        return made["reply"]

    def _ended(self, doing: str, why: str = "") -> ModelEnded:
        """End the process; return why it did, where nobody knows by its signal."""
        with suppress(subprocess.TimeoutExpired):  # its pipe is closed before it is gone
            self._process.wait(LOOK_EVERY if not why else 0)
        code = self._process.poll() or 0
        self.end()
        if not why:
            why = f"ended by {signal.Signals(-code).name}" if code < 0 else "ended"
        return ModelEnded(f"the process of the local model {why} while {doing}")


def _end(process: "subprocess.Popen[bytes]", pipe: Connection) -> None:
    """End a process, whatever it does."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    pipe.close()


def _loaded(path: str) -> Any:
    """Return the library's server of a file, which is asked by calls."""
    import xllamacpp

    asked = xllamacpp.CommonParams()
    asked.model.path = path
    asked.n_ctx = WINDOW
    asked.n_parallel = 1
    asked.warmup = False
    asked.verbosity = -1
    asked.offline = True
    asked.api_keys = [secrets.token_urlsafe()]  # no other user of this machine may call its port
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    asked.cpuparams.n_threads = asked.cpuparams_batch.n_threads = allowed
    return xllamacpp.Server(asked)


def _serve(pipe: Connection, parent: int, path: str) -> None:
    """Load the file and answer the questions of the pipe until it is closed."""
    end_with(parent)
    bound_memory(2 * os.path.getsize(path) + ROOM)
    made: dict[str, Any] = {"reply": None}
    try:
        server = _loaded(path)
    except Exception as failure:
        server, made = None, {"failure": describe_failure(failure)}
    while True:
        pipe.send_bytes(json.dumps(made).encode())
        try:
            body = pipe.recv_bytes()
        except EOFError:
            os._exit(0)  # the library's threads are not waited for
        try:
            said = server.handle_chat_completions(json.loads(body))
            made = {"reply": json.loads(said) if isinstance(said, str | bytes) else said}
        except Exception as failure:
            made = {"failure": describe_failure(failure)}


if __name__ == "__main__":
    _serve(Connection(int(sys.argv[1])), int(sys.argv[2]), sys.argv[3])
