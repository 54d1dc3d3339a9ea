"""Calls for a worker that never end, fill the memory, end their process, or return what is no data."""

import os
from typing import Any


def endless(*_: object) -> None:
    """Go on for ever in one call of C code."""
    pow(3, 1 << 40)


def fill_memory(*_: object) -> int:
    """Ask for more memory than any machine has."""
    return sum(len(bytearray(1 << 28)) for kept in [[bytearray(1 << 28) for _ in range(64)]] for _ in kept)


def end_process(*_: object) -> None:
    """End the process, as a fault in C code does."""
    os.abort()


class Command:
    """What becomes a call where it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, ("made-by-a-worker",)


def return_command() -> Command:
    """Return a call in place of data."""
    return Command()
