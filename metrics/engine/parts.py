"""The parts of an unfinished run: a folder a unit, valid once its unit.json is there, which is written last."""

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from metrics.core.files import read_json, write_json, write_table
from metrics.core.schema import TABLES, conformed
from metrics.engine.plan import Unit

LAST = "unit.json"  # of the files of a part
LONG = 16 * 2**20  # bytes


@dataclass(frozen=True, slots=True)
class UnitResult:
    """What a unit made: tables by name, how many cases ended in an error, seconds of work.

    On its way to another process a LONG table is compressed: a pickle of it takes three times its memory.
    """

    tables: Mapping[str, pa.Table]
    failed: int
    seconds: float

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpacked, ({name: _packed(table) for name, table in self.tables.items()}, self.failed, self.seconds)


def _packed(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression="lz4" if table.nbytes > LONG else None)
    with pa.ipc.new_stream(sink, table.schema, options=options) as stream:
        stream.write_table(table)
    packed: bytes = sink.getvalue().to_pybytes()
    return packed


def _unpacked(packed: Mapping[str, bytes], failed: int, seconds: float) -> UnitResult:
    return UnitResult({name: pa.ipc.open_stream(one).read_all() for name, one in packed.items()}, failed, seconds)


class Parts:
    """The parts folder of a run."""

    def __init__(self, run_folder: Path):
        self.folder = run_folder / "parts"

    def write(self, name: str, result: UnitResult) -> None:
        """Store the result of a unit; readers see it whole or not at all."""
        folder = self.folder / name
        files = {table: table.replace("/", ".") + ".parquet" for table in result.tables}
        for table, file in files.items():
            write_table(folder / file, result.tables[table])
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
