"""The parts of an unfinished run: a file for each unit that is done, with all that it made."""

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from metrics.core.files import ROW_GROUP, write_bytes
from metrics.core.schema import TABLES, conformed
from metrics.engine.plan import Unit

ENDING, GIVEN = ".unit", ".given"
_WRITTEN = pa.ipc.IpcWriteOptions(compression="lz4", use_threads=False)  # read once and soon: quick, not small


@dataclass(frozen=True, slots=True)
class UnitResult:
    """What a unit made: tables by name, how many cases ended in an error, seconds of work; rows `reused` by run.

    On its way to another process its tables become `file`, the bytes that are stored: whoever did the unit encodes and
    compresses them, and the process that drives the run, which serves every worker, only writes and syncs.
    """

    tables: Mapping[str, pa.Table]
    failed: int
    seconds: float
    file: bytes = b""
    reused: Mapping[str, int] = field(default_factory=dict)

    def packed(self) -> bytes:
        """Return the bytes of a part: a line of JSON, with the length of each table, then the tables' Arrow streams."""
        if self.file:
            return self.file
        streams = {name: _stream(table) for name, table in self.tables.items()}
        sizes = {name: stream.size for name, stream in streams.items()}
        facts: dict[str, Any] = {"tables": sizes, "failed": self.failed, "seconds": self.seconds}
        facts |= {"reused": dict(self.reused)} if self.reused else {}
        return b"".join([json.dumps(facts).encode(), b"\n", *streams.values()])

    def __reduce__(self) -> tuple[Any, ...]:
        return UnitResult, ({}, self.failed, self.seconds, self.packed(), self.reused)


class Parts:
    """The parts folder of a run."""

    def __init__(self, run_folder: Path):
        self.folder = run_folder / "parts"

    def write(self, name: str, result: UnitResult, ending: str = ENDING) -> None:
        """Store the result of a unit, or (GIVEN) what earlier runs have of it; readers see it whole or not at all."""
        write_bytes(self.file(name, ending), result.packed())

    def file(self, name: str, ending: str = ENDING) -> Path:
        """Return the path of a unit's file, which is there once the unit is stored; GIVEN: of what it was given."""
        return self.folder / (name + ending)

    def read_given(self, name: str) -> dict[str, pa.Table]:
        """Return the tables that earlier runs give a unit; none where they give it nothing."""
        found: dict[str, pa.Table] = {}
        with suppress(FileNotFoundError), self.file(name, GIVEN).open("rb") as file:
            for table in _facts(file)["tables"]:
                found[table] = pa.concat_tables(_pieces(file, None))
        return found

    def reused(self, name: str) -> dict[str, int]:
        """Return how many rows of a unit, done or not, earlier runs gave, by run."""
        for ending in (GIVEN, ENDING):
            with suppress(FileNotFoundError), self.file(name, ending).open("rb") as file:
                return dict(_facts(file).get("reused", {}))
        return {}

    def failed(self, name: str) -> int | None:
        """Return how many cases of a stored unit failed; None where the unit is not stored."""
        with suppress(FileNotFoundError), self.file(name).open("rb") as file:
            return int(_facts(file)["failed"])
        return None

    def stored(self, units: Iterable[Unit]) -> list[Unit]:
        """Return those of these units that are stored."""
        with suppress(FileNotFoundError):
            there = {entry.name for entry in os.scandir(self.folder)}
            return [unit for unit in units if unit.name + ENDING in there]
        return []

    def read(self, units: Iterable[Unit], table: str, columns: list[str] | None = None) -> Iterator[pa.Table]:
        """Yield one table of each of these stored units that has it, in pieces where it is long.

        FileNotFoundError for a unit that is gone.
        """
        schema = TABLES.get(table)
        for unit in units:
            with self.file(unit.name).open("rb") as file:
                sizes = _facts(file)["tables"]
                if table in sizes:
                    before = list(sizes.values())[: list(sizes).index(table)]
                    file.seek(sum(before), os.SEEK_CUR)
                    for found in _pieces(file, columns):
                        yield found if schema is None else conformed(found, schema, columns)


def _facts(file: IO[bytes]) -> dict[str, Any]:
    return dict(json.loads(file.readline()))


def _stream(table: pa.Table) -> pa.Buffer:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema, options=_WRITTEN) as writer:
        writer.write_table(table.combine_chunks(), max_chunksize=ROW_GROUP)
    return sink.getvalue()


def _pieces(file: IO[bytes], columns: list[str] | None) -> Iterator[pa.Table]:
    """Yield the table whose stream begins here in its batches, `columns` of it if named; an empty one as it is."""
    begin = file.tell()
    wanted = None
    if columns is not None:
        with pa.ipc.open_stream(file) as reader:
            wanted = [place for place, name in enumerate(reader.schema.names) if name in columns]
        file.seek(begin)
    with pa.ipc.open_stream(file, options=pa.ipc.IpcReadOptions(included_fields=wanted, use_threads=False)) as reader:
        piece = None
        for batch in reader:
            piece = pa.Table.from_batches([batch])
            yield piece
        if piece is None:
            yield reader.schema.empty_table()
