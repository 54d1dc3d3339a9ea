"""What a command prints: lines, which nobody else can begin; what stands in them: metrics.core.terminal_escapes."""

from typing import IO

from metrics.core import terminal_escapes
from metrics.core.terminal_escapes import one_line


def protect() -> None:
    """Let everything that this process prints from now on be shown as text, without keys on standard error."""
    terminal_escapes.protect(_without_keys)


def say(*lines: object, file: IO[str] | None = None, flush: bool = False) -> None:
    """Print each of these as one line, whatever is in it, on standard output or another stream."""
    for line in lines:
        print(one_line(line), file=file, flush=flush)


def _without_keys(text: str) -> str:
    if text.isspace():
        return text
    from metrics.judge.keys import redact  # on use: most commands print no message

    return redact(text)
