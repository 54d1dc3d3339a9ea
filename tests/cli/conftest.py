"""What the tests of the commands share."""

import io
import sys
from contextlib import suppress

import pytest

from metrics.cli import terminal
from metrics.cli.main import main


@pytest.fixture(autouse=True)
def _units_here(units_here):
    """No workers: those of commands are tested in tests/engine, and where a test starts a command as a process."""


@pytest.fixture(autouse=True)
def _lines_of_ours(request, monkeypatch):
    """Fail where a message has a line end, which would be shown as `\\n`: only texts of others have some."""
    shown = terminal.one_line

    def checked(text: object) -> str:
        assert "\n" not in str(text), f"say each line by itself: {text!r}"
        return shown(text)

    if "terminal" not in request.path.name:
        monkeypatch.setattr(terminal, "one_line", checked)


class Terminal(io.StringIO):
    """A terminal that remembers what was sent to it."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def on_terminal(monkeypatch):
    """What commands, run in a folder one after the other, send to a terminal."""

    def send(folder, *commands):
        terminal_of_all = Terminal()
        monkeypatch.chdir(folder)
        monkeypatch.setenv("TERM", "xterm-256color")
        monkeypatch.setattr(sys, "stdout", terminal_of_all)
        monkeypatch.setattr(sys, "stderr", terminal_of_all)
        terminal.protect()
        for command in commands:
            with suppress(SystemExit):
                main(command)
        return terminal_of_all.getvalue()

    return send
