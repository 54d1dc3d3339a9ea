"""Tables of what people or judges say of a run's outputs, stored beside the runs, shared by every run of the same data.

`KIND/<suite>-<outputs>/` (the first digits of both fingerprints) has a Parquet file per set: one for each uploaded file
and one for each rater. Of two rows with the same key the one that was added later counts: each row has a number, one
more than the last of all sets, so clocks do not matter. Rows of earlier versions have none; they come before all
others, in the order of their times.
"""

import hashlib
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa
import pyarrow.compute as pc

from metrics.core.errors import InputError, InputProblem, RunNotFound
from metrics.core.files import hold_lock, list_paths, make_folder
from metrics.core.schema import LABEL_KEY, LABELS, PREFERENCE_KEY, PREFERENCES, Sampling, now
from metrics.store.own_files import own_folder
from metrics.store.run import Run
from metrics.store.sealed_tables import UNREADABLE, about_table, read_sealed_table, write_sealed_table

DIGITS = 16


@dataclass(frozen=True, slots=True)
class GivenSet:
    """One set: `id` names its file; `name` is that of the uploaded file, of the rater or of the judge.

    kind: "upload", "page" or "judge"; rows and raters: how many there are.
    """

    id: str
    name: str
    kind: str
    rows: int
    raters: int
    criteria: tuple[str, ...]
    changed: str


class GivenRows:
    """The rows of one kind for a run's data; every run of the same suite and outputs has the same.

    kind: the folder, and what the rows are called; schema: of the rows, which have `rater`, `criterion`, `given` and
    `number`; key: see the module.
    """

    kind: ClassVar[str]
    schema: ClassVar[pa.Schema]
    key: ClassVar[tuple[str, ...]]

    def __init__(self, run: Run):
        suite, outputs = run.spec.suite.fingerprint, run.spec.outputs.fingerprint
        self.folder = own_folder(run.workspace.path, self.kind, f"{suite[:DIGITS]}-{outputs[:DIGITS]}")

    @property
    def version(self) -> str:
        """A digest that changes whenever the rows do; "" while there are none."""
        facts = [(path.name, path.stat().st_mtime_ns, path.stat().st_size) for path in self._files()]
        return hashlib.sha256(repr(facts).encode()).hexdigest() if facts else ""

    def sets(self) -> list[GivenSet]:
        """Return the sets, the oldest first."""
        found = []
        for path in self._files():
            table = self._read_rows(path)
            about = _about(table)
            criteria = tuple(table["criterion"].unique().to_pylist())
            raters = len(table["rater"].unique())
            one = GivenSet(path.stem, about["name"], about["kind"], len(table), raters, criteria, about["changed"])
            found.append((_last(table), one))
        return [one for _, one in sorted(found, key=lambda each: (each[0], each[1].changed))]

    def table(self) -> pa.Table:
        """Return the rows that count, in the order in which they were given."""
        tables = [self._read_rows(path) for path in self._files()]
        if not tables:
            return self.schema.empty_table()
        return self._latest(_in_order(pa.concat_tables(table.replace_schema_metadata(None) for table in tables)))

    def add(self, table: pa.Table, name: str) -> str:
        """Store an uploaded set and return its id; an equal set is stored once, and counts as the latest."""
        rows = table.drop_columns(["given", "number"]).to_pylist()
        set_id = "upload-" + hashlib.sha256(repr((name, rows)).encode()).hexdigest()[:DIGITS]
        path = self.folder / f"{set_id}.parquet"
        with self._locked():
            last = self._last()
            if not path.exists() or _last(self._read_rows(path)) < max(last, 0):
                self._write(path, self._numbered(table, last), name, "upload")
        return set_id

    def keep(self, rows: Sequence[Mapping[str, Any]], rater: str, kind: str = "page") -> None:
        """Store rows that a rater gives now, in place of the rater's earlier ones with the same key.

        Nothing changes where one row is the one that was added last: a click may come twice.
        """
        with self._locked():
            path, before = self._page(rater, kind)
            last = self._last()
            if len(rows) == 1 and last >= 0:
                repeated = {**rows[0], "number": last}
                if any(one.items() >= repeated.items() for one in before.to_pylist()):
                    return
            moment = now()
            given = pa.Table.from_pylist([{**row, "given": moment} for row in rows], self.schema)
            self._write(path, self._latest(pa.concat_tables([before, self._numbered(given, last)])), rater, kind)

    def drop(self, key: tuple[str, ...], rater: str, kind: str = "page") -> None:
        """Remove a row that a rater gave; nothing happens where there is none."""
        with self._locked():
            path, before = self._page(rater, kind)
            this = dict(zip(self.key, key, strict=True))
            kept = [row for row in before.to_pylist() if any(row[name] != value for name, value in this.items())]
            if kept:
                self._write(path, pa.Table.from_pylist(kept, self.schema), rater, kind)
            else:
                path.unlink(missing_ok=True)

    def remove(self, set_id: str) -> None:
        """Remove a whole set. Raises RunNotFound where there is none of that id."""
        ids = [path.stem for path in self._files()]
        if set_id not in ids:
            raise RunNotFound(f"there is no set of {self.kind} {set_id!r}; there are {', '.join(ids) or 'none'}")
        (self.folder / f"{set_id}.parquet").unlink()

    def _files(self) -> list[Path]:
        return [path for path in list_paths(self.folder, "*.parquet") if not path.name.startswith(".")]

    def _last(self) -> int:
        return max((_last(self._read_rows(path)) for path in self._files()), default=-1)

    def _page(self, rater: str, kind: str) -> tuple[Path, pa.Table]:
        """Return the file of the rows that a rater gives, and those that there are."""
        path = self.folder / f"{kind}-{hashlib.sha256(rater.encode()).hexdigest()[:DIGITS]}.parquet"
        before = self._read_rows(path).replace_schema_metadata(None) if path.exists() else self.schema.empty_table()
        return path, before

    def _locked(self) -> AbstractContextManager[int]:
        """Hold the sets' lock: one rater may have two windows open."""
        busy = f"these {self.kind} are being written by another window; try again"
        return hold_lock(make_folder(self.folder) / ".lock", busy)

    def _numbered(self, table: pa.Table, last: int) -> pa.Table:
        place = self.schema.get_field_index("number")
        numbers = pa.array(range(last + 1, last + 1 + len(table)), pa.int64())
        return table.set_column(place, self.schema.field(place), numbers)

    def _latest(self, table: pa.Table) -> pa.Table:
        """Return the last row of each key, in their order."""
        places = table.append_column("place", pa.array(range(len(table)), pa.int64()))
        last = places.group_by(list(self.key), use_threads=False).aggregate([("place", "max")])["place_max"]
        return table.take(last.take(pc.sort_indices(last)))

    def _write(self, path: Path, table: pa.Table, name: str, kind: str) -> None:
        about = {"name": name, "kind": kind, "changed": now()}
        write_sealed_table(path, table.cast(self.schema), about)

    def _read_rows(self, path: Path) -> pa.Table:
        """Return the rows in a file. Raises InputError where it is damaged."""
        table = _read_rows(path, self.kind)
        if "number" in table.column_names:
            return table
        return table.append_column(self.schema.field("number"), pa.nulls(len(table), pa.int64()))  # of earlier versions


def _read_rows(path: Path, what: str) -> pa.Table:
    """Return a stored table. Raises InputError where it is damaged: without it, the numbers would be others."""
    try:
        return read_sealed_table(path)
    except UNREADABLE as failure:
        expected = f"{what} as Assay stored them; restore the file from a backup, or remove it"
        raise InputError([InputProblem(str(path), f"unreadable: {str(failure)[:80]}", expected)]) from None


def _last(table: pa.Table) -> int:
    highest = pc.max(table["number"]).as_py()
    return -1 if highest is None else int(highest)


def _in_order(table: pa.Table) -> pa.Table:
    """Return the rows in the order in which they were added: those without a number first, by their times."""
    given = pc.if_else(pc.is_null(table["number"]), pc.fill_null(table["given"], ""), "")
    place = pa.array(range(len(table)), pa.int64())
    keys = pa.table({"number": pc.fill_null(table["number"], -1), "given": given, "place": place})
    return table.take(pc.sort_indices(keys, [(name, "ascending") for name in keys.column_names]))


def _about(table: pa.Table) -> dict[str, str]:
    held = about_table(table)
    return {name: held.get(name, "") for name in ("name", "kind", "changed")}


class Labels(GivenRows):
    """The labels of a run's data (schema LABELS), the same for every run of the same suite and outputs."""

    kind = "labels"
    schema = LABELS
    key = LABEL_KEY

    def give(
        self,
        case_id: str,
        model: str,
        rater: str,
        criterion: str,
        value: float | None,
        sampling: Sampling,
        scale: tuple[float, float] = (0.0, 1.0),
    ) -> None:
        """Store one label that a rater gives on the page, on a scale; it replaces the rater's earlier one."""
        key = dict(zip(LABEL_KEY, (case_id, model, rater, criterion), strict=True))
        self.keep([{**key, "value": value, "low": scale[0], "high": scale[1], "sampling": sampling}], rater)

    def withdraw(self, case_id: str, model: str, rater: str, criterion: str) -> None:
        """Remove a label that a rater gave on the page; nothing happens where there is none."""
        self.drop((case_id, model, rater, criterion), rater)


class Preferences(GivenRows):
    """The preferences of a run's data (schema PREFERENCES), the same for every run of the same suite and outputs."""

    kind = "preferences"
    schema = PREFERENCES
    key = PREFERENCE_KEY

    def give(self, row: Mapping[str, Any]) -> None:
        """Store a person's preference (see preference_schema.preference) in place of the earlier one."""
        self.keep([row], row["rater"])

    def withdraw(self, row: Mapping[str, Any]) -> None:
        """Remove a person's preference; nothing happens where there is none."""
        self.drop(tuple(row[name] for name in PREFERENCE_KEY), row["rater"])

    def judged(self, rows: Sequence[Mapping[str, Any]], judge: str) -> None:
        """Store a judge's preferences in place of its earlier ones of the same cases, pairs and orders."""
        if rows:
            self.keep(rows, judge, "judge")


SIZES = pa.schema([("case_id", pa.string()), ("model", pa.string()), ("size", pa.float64())])


class DrawSizes:
    """The relative chances of a criterion's outputs (schema SIZES), and the metric whose scores gave them.

    They are written once, before the first label that rests on them, and hold for every run of the same data: an
    estimate from labels drawn with unequal chances needs the chances of then, not those that another judge's scores
    would give now.
    """

    def __init__(self, run: Run, criterion: str):
        name = hashlib.sha256(criterion.encode()).hexdigest()[:DIGITS]
        self.path = Labels(run).folder / "sizes" / f"{name}.parquet"

    def table(self) -> pa.Table | None:
        """Return the stored sizes; None while there are none."""
        return _read_rows(self.path, "chances of being drawn") if self.path.exists() else None

    def metric(self) -> tuple[str, str] | None:
        """Return evaluator and metric that gave the sizes; None while there are none."""
        found = self.table()
        held = {} if found is None else about_table(found)
        return (held["evaluator"], held["metric"]) if held else None

    def keep(self, outputs: Sequence[tuple[str, str]], sizes: Sequence[float], metric: tuple[str, str]) -> None:
        """Store the sizes of outputs (case id, model) unless there are some already."""
        with hold_lock(make_folder(self.path.parent) / ".lock", "these labels are being written; try again"):
            if not self.path.exists():
                cases, models = zip(*outputs, strict=True)
                about = {"evaluator": metric[0], "metric": metric[1]}
                write_sealed_table(self.path, pa.table([cases, models, sizes], SIZES), about)
