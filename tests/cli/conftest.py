"""What the tests of the commands share."""

import pytest

from metrics.cli import terminal


@pytest.fixture(autouse=True)
def _units_here(units_here: None) -> None:
    """No workers: those of commands are tested in tests/engine, and where a test starts a command as a process."""


@pytest.fixture(autouse=True)
def _lines_of_ours(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail where a message has a line end, which would be shown as `\\n`: only texts of others have some."""
    shown = terminal.one_line

    def checked(text: object) -> str:
        assert "\n" not in str(text), f"say each line by itself: {text!r}"
        return shown(text)

    if "terminal" not in request.path.name:
        monkeypatch.setattr(terminal, "one_line", checked)
