"""The alert hook: a command of the user's that is called for each change of status."""

import json
import shlex
import subprocess
from collections.abc import Mapping
from typing import Any

from metrics.core.errors import InputError, InputProblem
from metrics.judge.redact import redact

SECONDS = 30  # that a hook may take
SHOWN = 300  # characters of a failing hook's output


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
    """Run the hook with the message as JSON on its standard input; return why it failed, None where it did not."""
    try:
        done = subprocess.run(  # noqa: S603 - the user's own command, and no shell
            words,
            input=json.dumps(message, ensure_ascii=False).encode(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"the alert hook {words[0]} took longer than {SECONDS} s and was stopped"
    except OSError as failure:
        return f"the alert hook {words[0]} could not be started: {failure.strerror or failure}"
    if done.returncode == 0:
        return None
    output = redact(done.stderr.decode(errors="replace").strip())[-SHOWN:]
    return f"the alert hook {words[0]} ended with {done.returncode}" + (f": {output}" if output else "")
