"""The way to the terminal: whatever is printed passes here, and nothing in it can act on the terminal or the CI runner.

Names, replies of models and error messages are written by others. An escape sequence in one would set the window's
title, fill the clipboard or overwrite lines; so control characters are shown, as `\\u001b`, also where the output goes
to a file or a pipe: it is looked at later. JSON stays the same JSON that way. Tables on standard output are data: exact
in a pipe, shown like any text on a terminal and in the log of a CI runner, which is a pipe, too
(`metrics.cli.options.write_output`). On standard error, where messages
and tracebacks go, and from there into the logs of runs, keys are redacted. A line end within a line, of a name that has
one, is shown as well (`one_line`): nobody can write a line that looks like one of ours.
"""

import logging
import os
import re
import stat
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import IO, Any

# control characters but tab and line end; what reorders the text around it; halves of characters; line ends of Unicode
CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
# of runners: GitHub's at the start of a line; GitHub's old form, Azure's and TeamCity's anywhere
COMMANDS = re.compile(r"^[^\S\n]*::|##(?:vso|teamcity)?\[", re.MULTILINE)
RUNNERS = ("CI", "TF_BUILD", "TEAMCITY_VERSION")  # of which each sets one of these variables


class Shown:
    """A text stream that shows control characters, and takes the meaning from what GitHub's runner would obey."""

    def __init__(self, stream: IO[str], clean: Callable[[str], str] = str):
        self.stream = stream
        self._clean = clean
        self._start = True  # of a line

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)

    def write(self, text: str) -> int:
        """Write the text as it is shown."""
        written, text = len(text), self._clean(text)
        # "x" before it: a line that is continued cannot begin with a command
        self.stream.write(escape_controls(text) if self._start else escape_controls(f"x{text}")[1:])
        _, line_end, rest = text.rpartition("\n")
        self._start = (bool(line_end) or self._start) and not rest.strip()
        return written

    def writelines(self, lines: Iterable[str]) -> None:
        """Write each text as it is shown."""
        for line in lines:
            self.write(line)


def protect(redact: Callable[[str], str]) -> None:
    """Let everything that this process prints or logs from now on pass here, standard error through `redact` too."""
    for name, clean in (("stdout", str), ("stderr", redact)):
        stream = getattr(sys, name)
        if stream is not None and not isinstance(stream, Shown):
            setattr(sys, name, Shown(stream, clean))
            # log handlers of the stream write to the protected one that wraps it
            for logger in (logging.root, *logging.root.manager.loggerDict.values()):
                for handler in getattr(logger, "handlers", ()):
                    if isinstance(handler, logging.StreamHandler) and handler.stream is stream:
                        handler.setStream(getattr(sys, name))


def protected_stream(stream: IO[str]) -> IO[str]:
    """Return the stream behind, for colours and cursor movements of our own; texts go through `shown` first."""
    return stream.stream if isinstance(stream, Shown) else stream


def is_looked_at(stream: IO[str]) -> bool:
    """Return whether what is written to a stream is for a terminal, or may be for the log of a CI runner."""
    in_file = False
    with suppress(OSError):  # of a stream that is no file at all
        in_file = stat.S_ISREG(os.fstat(stream.fileno()).st_mode)
    return stream.isatty() or (not in_file and any(os.environ.get(name) for name in RUNNERS))


def escape_controls(text: str) -> str:
    """Return `text` with each control character as `\\u001b`, and nothing that a runner obeys."""
    return COMMANDS.sub(_escaped, CONTROLS.sub(_escaped, text))


def one_line(text: object) -> str:
    """Return `text` with each line end as `\\n`, so that it is one line whatever is in it."""
    return str(text).replace("\n", "\\n")


def _escaped(found: "re.Match[str]") -> str:
    return found[0][:-1] + f"\\u{ord(found[0][-1]):04x}"
