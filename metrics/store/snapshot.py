"""A snapshot of an unfinished run: the tables of what is done so far, read as those of a sealed run are.

`runs/<id>/unfinished/<stamp>/` has the tables and a manifest; the stamp names the parts that they are made of.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from metrics.core.errors import RunNotFound
from metrics.store.run import Run

FOLDER = "unfinished"
STAMPED = "@"  # between the id of the run and the stamp


class Snapshot(Run):
    """An unfinished run at one moment. Its tables never change; its specification and its state are the run's."""

    def __init__(self, folder: Path):
        super().__init__(folder)
        self.home = folder.parents[1]
        self.id = f"{self.home.name}{STAMPED}{folder.name}"

    @classmethod
    def of(cls, run: Run, stamp: str) -> Snapshot:
        """Return the snapshot of a run with that stamp. Raises RunNotFound where there is no longer one."""
        folder = run.home / FOLDER / stamp
        if not stamp.isalnum() or not (folder / "manifest.json").exists():
            raise RunNotFound(f"run {run.home.name} has moved on; open it again")
        return cls(folder)

    @property
    def partly(self) -> Mapping[str, tuple[int, int]]:
        """The evaluators of which the tables have only a part: rows done of all."""
        return {name: (done, total) for name, (done, total) in (self.manifest or {}).get("partly", {}).items()}
