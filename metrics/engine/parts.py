"""The parts of an unfinished run: a folder a unit, valid once its unit.json is there, which is written last."""

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from metrics.core.files import parquet_bytes, read_json, write_bytes, write_json
from metrics.core.schema import TABLES, conformed
from metrics.engine.plan import Unit

LAST = "unit.json"  # of the files of a part


@dataclass(frozen=True, slots=True)
class UnitResult:
    """What a unit made: tables by name, how many cases ended in an error, seconds of work.

    On its way to another process its tables become `files`, the bytes that are stored: whoever did the unit encodes and
    compresses them, and the process that drives the run, which serves every worker, only writes and syncs.
    """

    tables: Mapping[str, pa.Table]
    failed: int
    seconds: float
    files: Mapping[str, bytes] = field(default_factory=dict)

    def packed(self) -> Mapping[str, bytes]:
        """Return the tables as the bytes of Parquet files."""
        return self.files or {name: parquet_bytes(table) for name, table in self.tables.items()}

    def __reduce__(self) -> tuple[Any, ...]:
        return UnitResult, ({}, self.failed, self.seconds, self.packed())


class Parts:
    """The parts folder of a run."""

    def __init__(self, run_folder: Path):
        self.folder = run_folder / "parts"

    def write(self, name: str, result: UnitResult) -> None:
        """Store the result of a unit; readers see it whole or not at all."""
        folder = self.folder / name
        packed = result.packed()
        files = {table: table.replace("/", ".") + ".parquet" for table in packed}
        for table, file in files.items():
            write_bytes(folder / file, packed[table])
        write_json(folder / LAST, {"tables": files, "failed": result.failed, "seconds": result.seconds})

    def failed(self, name: str) -> int | None:
        """Return how many cases of a stored unit failed; None where the unit is not stored."""
        facts = read_json(self.folder / name / LAST)
        return None if facts is None else int(facts["failed"])

    def stored(self, units: Iterable[Unit]) -> list[Unit]:
        """Return those of these units that are stored."""
        with suppress(FileNotFoundError):
            there = {entry.name for entry in os.scandir(self.folder)}
            return [unit for unit in units if unit.name in there and (self.folder / unit.name / LAST).exists()]
        return []

    def read(self, units: Iterable[Unit], table: str, columns: list[str] | None = None) -> Iterator[pa.Table]:
        """Yield one table of each of these stored units that has it, in pieces where it is long.

        FileNotFoundError for a unit that is gone.
        """
        for unit in units:
            folder = self.folder / unit.name
            facts = read_json(folder / LAST)
            if facts is None:
                raise FileNotFoundError(folder / LAST)
            if file := facts["tables"].get(table):
                schema = TABLES.get(table)
                for found in _pieces(folder / file, columns):
                    yield found if schema is None else conformed(found, schema, columns)


def _pieces(path: Path, columns: list[str] | None) -> Iterator[pa.Table]:
    """Yield a table in its row groups; an empty one as it is."""
    with pq.ParquetFile(path) as file:
        if file.num_row_groups < 2:
            yield file.read(columns)
        else:
            for group in range(file.num_row_groups):
                yield file.read_row_group(group, columns)
