"""What the tests of the commands share."""

import pytest


@pytest.fixture(autouse=True)
def _units_here(units_here: None) -> None:
    """No workers: those of commands are tested in tests/engine, and where a test starts a command as a process."""
