"""Turns at this machine's processors: of the runs that a studio has started, so many keep workers at once."""

from pathlib import Path
from typing import IO

from metrics.core.errors import stored_at
from metrics.core.files import lock_open, make_file, make_folder

AT_ONCE = 4  # runs; each has a worker per core, so more would not be quicker, and memory has an end


class RunSlot:
    """A run's turn, which ends with its process where it is not given back."""

    def __init__(self, workspace: Path):
        self._folder = workspace / "turns"
        self._held: IO[str] | None = None

    def try_take(self) -> bool:
        """Take one of the turns, if one is free, and return whether this run has one."""
        for place in range(AT_ONCE):
            if self._held is not None:
                break
            path = make_folder(self._folder) / str(place)
            with stored_at(path):
                stream = make_file(path).open("w")
            if lock_open(stream):
                self._held = stream
            else:
                stream.close()
        return self._held is not None

    def give_back(self) -> None:
        """Let another run have it."""
        if self._held is not None:
            self._held.close()
            self._held = None
