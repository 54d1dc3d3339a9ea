"""The alert hook: a command of the user's that is called for each change of status."""

import json
import os
import shlex
import signal
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from tempfile import TemporaryFile
from typing import Any

from metrics.core.errors import InputError, InputProblem
from metrics.judge.keys import redact

SECONDS = 30  # that a hook may take
MAX_OUTPUT_READ = 10_000  # bytes of a failing hook's output
MAX_OUTPUT_SHOWN = 300  # characters of it


def words_of(command: str) -> list[str]:
    """Return the command and its arguments, split as by a shell, which does not run it; InputError."""
    words, found = list[str](), repr(command)
    try:
        words = shlex.split(command)
    except ValueError as failure:
        found += f" ({failure})"
    if not words:
        raise InputError([InputProblem("--on-alert", found, "a command with its arguments")])
    return words


def call(words: list[str], message: Mapping[str, Any]) -> str | None:
    """Run the hook with the message as JSON on its standard input; return why it failed, None where it did not.

    Nothing of the message is an argument. What the hook leaves running is not waited for; it is stopped with the hook.
    """
    # files, not pipes: what the hook has started may hold a pipe open
    with TemporaryFile() as given, TemporaryFile() as said:
        given.write(json.dumps(message, ensure_ascii=False).encode())
        given.seek(0)
        try:
            hook = subprocess.Popen(  # noqa: S603 - the user's own command, and no shell
                words, stdin=given, stdout=subprocess.DEVNULL, stderr=said, start_new_session=True
            )
        except OSError as failure:
            return f"the alert hook {words[0]} could not be started: {failure.strerror or failure}"
        try:
            code = hook.wait(SECONDS)
        except BaseException as stop:
            with suppress(ProcessLookupError):
                os.killpg(hook.pid, signal.SIGKILL)
            hook.wait()
            if not isinstance(stop, subprocess.TimeoutExpired):
                raise
            return f"the alert hook {words[0]} took longer than {SECONDS} s and was stopped"
        if code == 0:
            return None
        said.seek(max(0, said.seek(0, os.SEEK_END) - MAX_OUTPUT_READ))
        output = redact(said.read().decode(errors="replace").strip())[-MAX_OUTPUT_SHOWN:]
    return f"the alert hook {words[0]} ended with {code}" + (f": {output}" if output else "")
