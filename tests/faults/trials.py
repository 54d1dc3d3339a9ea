"""Each fault at each operation, one after the other: what is there afterwards, what is told, and whether it goes on.

A trial is good where the folder is as it was before or as it is after, an error is told in one line as a StorageError
(of a remote place also as a RemoteError; of a read as an OSError that core.errors has words for, or a damaged file),
nothing half-written is left, and the same again ends in the same bytes as without a fault.
"""

import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from metrics.core.errors import AssayError, RemoteError, StorageError, storage_error
from tests.faults.disk import BROKEN, FAULTS, LOST, Disk, Fault
from tests.faults.operations import OPERATIONS, Operation, Seen, steady
from tests.faults.power import LEFT, restore

POWER = "power cut"


@dataclass
class Row:
    """The trials of one operation and one fault: how many points, and in how many the old or the new was there."""

    operation: str
    fault: str
    points: int = 0
    old: int = 0
    new: int = 0


class Bad(AssertionError):
    """A trial that is not good."""


class Bench:
    """One operation in a folder, which is put back to its beginning for every trial."""

    def __init__(self, operation: Operation, folder: Path):
        self.operation = operation
        self._begin, self.folder = folder / "begin", folder / "work"
        self._begin.mkdir(parents=True)
        with steady():
            operation.prepare(self._move_in())
            shutil.move(self.folder, self._begin / "kept")
            self.old = operation.seen(self.fresh())
            operation.act(self.folder)  # the trials, too, are in a process that has read things before
            with Disk(self.fresh(), moments=True) as self.counted:
                operation.act(self.folder)
            self.new = operation.seen(self.folder)
        if self.new is None or self.new == self.old:
            raise Bad(f"{operation.name} changes nothing")

    def row(self, fault: Fault, step: int = 1) -> Row:
        """Try a fault at every point that the operation allows, or at every `step`th one."""
        row = Row(self.operation.name, fault.name)
        points = self.counted.points(fault)
        for at in range(1, points + 1, max(step, points // self.operation.most)):
            with steady():
                seen = self._fail(fault, at)
                self._count(row, seen)
                self.again(f"{fault.name} at {at}")
        return row

    def power(self, step: int = 1) -> Row:
        """Cut the power after every operation, or every `step`th one, and try what may be left each time."""
        row = Row(self.operation.name, POWER)
        assert self.counted.moments is not None
        tried: set[Any] = set()
        step = max(step, len(self.counted.moments.all) // self.operation.most)
        moments = list(enumerate(self.counted.moments.all, start=1))
        for number, moment in moments[::-step]:  # what is there after the last one is what was reported as done
            row.points += 1
            seen = []
            for left in LEFT:
                tree = left(moment)
                key = tuple(sorted(tree.items(), key=lambda entry: entry[0]))
                where = f"power cut after {number} of {len(moments)}, {left.__name__}"
                if key not in tried:
                    tried.add(key)
                    with steady():
                        restore(tree, self.folder)
                        self.look(where)
                        self.again(where)
                restore(tree, self.folder)
                seen.append(self.look(where))
            row.new += all(one == self.new for one in seen)
            row.old += not all(one == self.new for one in seen)
        return row

    def _fail(self, fault: Fault, at: int) -> Seen:
        where = f"{fault.name} at {at}"
        with Disk(self.fresh(), fault, at) as disk:
            try:
                self.operation.act(self.folder)
                told = None
            except (StorageError, RemoteError) as failure:
                told = str(failure)
            except Exception as failure:
                words = failure if isinstance(failure, AssayError) else storage_error(failure)
                told = str(words or "")
                if not told or not str(disk.hit).startswith(("read", "open")):
                    where += f" ({disk.hit})"
                    raise Bad(f"{self.operation.name}, {where}: {type(failure).__name__}: {failure}") from failure
        if disk.hit is None:
            raise Bad(f"{self.operation.name}, {where}: the point was not reached")
        where += f" ({disk.hit})"
        seen = self.look(where)
        if told is None and seen != self.new:
            raise Bad(f"{self.operation.name}, {where}: nothing is told, and the new is not there")
        if told is not None and ("\n" in told or not (": " in told or "; " in told)):
            raise Bad(f"{self.operation.name}, {where}: told as {told!r}")
        left = [path.name for path in self.folder.rglob("*.part")]
        if left and fault not in (BROKEN, LOST) and not str(disk.hit).startswith("unlink"):
            raise Bad(f"{self.operation.name}, {where}: half-written {left}")
        return seen

    def again(self, where: str) -> None:
        """Do the same again, without a fault."""
        try:
            self.operation.act(self.folder)
        except Exception as failure:
            raise Bad(f"{self.operation.name}, again after {where}: {type(failure).__name__}: {failure}") from failure
        if self.operation.seen(self.folder) != self.new:
            raise Bad(f"{self.operation.name}, again after {where}: other bytes")

    def look(self, where: str) -> Seen:
        """Return what is there; Bad where it is neither the old nor the new."""
        try:
            seen = self.operation.seen(self.folder)
        except Exception as failure:
            raise Bad(f"{self.operation.name}, after {where}: {type(failure).__name__}: {failure}") from failure
        if seen not in (self.old, self.new):
            raise Bad(f"{self.operation.name}, after {where}: neither the old nor the new: {seen}")
        return seen

    def _count(self, row: Row, seen: Seen) -> None:
        row.points += 1
        row.new += seen == self.new
        row.old += seen != self.new

    def _move_in(self) -> Path:
        self.folder.mkdir(parents=True)
        return self.folder

    def fresh(self) -> Path:
        """Put the folder back to its beginning and return it."""
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(self._begin / "kept", self.folder)
        return self.folder


def rows_of(name: str) -> list[Row]:
    """Return the row of each fault of an operation, every point tried, the power cut last."""
    (operation,) = (one for one in OPERATIONS if one.name == name)
    with tempfile.TemporaryDirectory(prefix="assay-faults-") as folder:
        bench = Bench(operation, Path(folder))
        return [*(bench.row(fault) for fault in FAULTS), bench.power()]
