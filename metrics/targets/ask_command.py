"""A program as a target: the case as JSON on its input, the answer on its output; no shell."""

import asyncio
import contextlib
import json
import os
import signal
from collections.abc import Mapping
from typing import Any

from metrics.judge.completion import CallFailed
from metrics.targets.answers import LONGEST_REPLY, Answer, answer_of, clean, wrong
from metrics.targets.description import CommandTarget
from metrics.targets.templates import Fields

PIECE = 1 << 12
TEMPORARY = 75  # exit status EX_TEMPFAIL: worth another try
MAX_ERROR_SHOWN = 300


class CommandAsker:
    """Starts the program once a case, in a process group of its own, which ends with the call."""

    def __init__(self, target: CommandTarget):
        self._target = target

    def request(self, fields: Fields, run: int) -> Any:
        """Return what the program reads."""
        return {**fields, "run": run}

    async def send(self, request: Mapping[str, Any]) -> Answer:
        """Return the answer that the program writes, as text or a JSON object. Raises CallFailed."""
        try:
            transport, program = await asyncio.get_running_loop().subprocess_exec(
                _Program, *self._target.argv, start_new_session=True
            )
        except OSError as failure:
            reason = f"the program {self._target.argv[0]!r} cannot be started: {failure.strerror}"
            raise CallFailed(reason, "unusable") from None
        try:
            given = transport.get_pipe_transport(0)
            assert isinstance(given, asyncio.WriteTransport)
            given.write(json.dumps(request, ensure_ascii=False).encode("utf-8", "replace"))
            given.close()  # once it is written
            async with asyncio.timeout(self._target.timeout):
                await program.ended.wait()
        except TimeoutError:
            raise CallFailed(f"no answer in {self._target.timeout:g} s") from None
        finally:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(transport.get_pid(), signal.SIGKILL)  # and whatever it has started
            transport.close()
            await program.exited.wait()
        if program.flooded:
            raise wrong(f"an output of more than {LONGEST_REPLY:,} bytes")
        if status := transport.get_returncode():
            said = clean(" ".join(program.errors.decode("utf-8", "replace").split()))[-MAX_ERROR_SHOWN:]
            reason = f"exit status {status}: {said or 'nothing on standard error'}"
            raise CallFailed(reason, "busy" if status == TEMPORARY else "refused")
        return _read_answer(program.output.decode("utf-8", "replace"))

    async def close(self) -> None:
        """Do nothing: every process has ended."""


def _read_answer(text: str) -> Answer:
    stripped = text.strip()
    if stripped.startswith("{"):
        with contextlib.suppress(ValueError, RecursionError):
            return answer_of(json.loads(stripped))
    return answer_of(stripped)


class _Program(asyncio.SubprocessProtocol):
    """What a running program writes; `ended` once it and its output have, or it has written too much."""

    def __init__(self) -> None:
        self.output = bytearray()
        self.errors = b""  # the last of them
        self.flooded = False
        self.ended = asyncio.Event()
        self.exited = asyncio.Event()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Keep what is written."""
        if fd != 1:
            self.errors = (self.errors + data)[-PIECE:]
        elif not self.flooded:
            self.output += data
            if len(self.output) > LONGEST_REPLY:
                self.flooded = True
                self.output.clear()
                self.ended.set()

    def process_exited(self) -> None:
        """Note that the program has exited; processes that it started may still write."""
        self.exited.set()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        """Note that nobody writes any more."""
        self.ended.set()
