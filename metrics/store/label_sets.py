"""Sets of people's labels of outputs: stored beside the runs, shared by every run of the same data.

`labels/<suite>-<outputs>/` (the first digits of both fingerprints) has a Parquet file per set: one for each uploaded
file and one for each rater who labels on the page. Of two labels with the same LABEL_KEY the one that was added later
counts: each row has a number, one more than the last of all sets, so clocks do not matter. Rows of earlier versions
have none; they come before all others, in the order of their times.
"""

import hashlib
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pyarrow as pa
import pyarrow.compute as pc

from metrics.core.arrow import stored_rows
from metrics.core.errors import InputError, InputProblem, RunNotFound
from metrics.core.files import held, make_folder, write_table
from metrics.core.label_schema import LABEL_KEY, LABELS, Sampling, now
from metrics.store.own_files import own_folder
from metrics.store.run import Run

DIGITS = 16


@dataclass(frozen=True, slots=True)
class LabelSet:
    """One set: `id` names its file; `name` is that of the uploaded file, or of the rater who labelled on the page."""

    id: str
    name: str
    kind: Literal["upload", "page"]
    labels: int
    raters: int
    criteria: tuple[str, ...]
    changed: str


class Labels:
    """The labels of a run's data, the same for every run of the same suite and outputs."""

    def __init__(self, run: Run):
        suite, outputs = run.spec["suite"]["fingerprint"], run.spec["outputs"]["fingerprint"]
        self.folder = own_folder(run.workspace.path, "labels", f"{suite[:DIGITS]}-{outputs[:DIGITS]}")

    @property
    def version(self) -> str:
        """A digest that changes whenever the labels do; "" while there are none."""
        facts = [(path.name, path.stat().st_mtime_ns, path.stat().st_size) for path in self._files()]
        return hashlib.sha256(repr(facts).encode()).hexdigest() if facts else ""

    def sets(self) -> list[LabelSet]:
        """Return the sets, the oldest first."""
        found = []
        for path in self._files():
            table = _read(path)
            about = _about(table)
            criteria = tuple(table["criterion"].unique().to_pylist())
            raters = len(table["rater"].unique())
            kind: Literal["upload", "page"] = "page" if about["kind"] == "page" else "upload"
            one = LabelSet(path.stem, about["name"], kind, len(table), raters, criteria, about["changed"])
            found.append((_last(table), one.changed, one))
        return [one for *_, one in sorted(found, key=lambda each: each[:2])]

    def table(self) -> pa.Table:
        """Return the labels that count, in the order in which they were given (schema LABELS)."""
        tables = [_read(path) for path in self._files()]
        if not tables:
            return LABELS.empty_table()
        return _latest(_in_order(pa.concat_tables(table.replace_schema_metadata(None) for table in tables)))

    def add(self, table: pa.Table, name: str) -> str:
        """Store an uploaded set (schema LABELS) and return its id; an equal set is stored once, and counts anew."""
        rows = table.drop_columns(["given", "number"]).to_pylist()
        set_id = "upload-" + hashlib.sha256(repr((name, rows)).encode()).hexdigest()[:DIGITS]
        path = self.folder / f"{set_id}.parquet"
        with self._locked():
            last = self._last()
            if not path.exists() or _last(_read(path)) < max(last, 0):
                _write(path, _numbered(table, last), name, "upload")
        return set_id

    def give(
        self, case_id: str, model: str, rater: str, criterion: str, value: float | None, sampling: Sampling,
        scale: tuple[float, float] = (0.0, 1.0),
    ) -> None:  # fmt: skip
        """Store one label that a rater gives on the page, on a scale; it replaces the rater's earlier one.

        Nothing changes where it is the label that was added last: a click may come twice.
        """
        with self._locked():
            path, before = self._page(rater)
            row = {
                "case_id": case_id, "model": model, "rater": rater, "criterion": criterion, "value": value,
                "low": scale[0], "high": scale[1], "sampling": sampling,
            }  # fmt: skip
            last = self._last()
            if last >= 0 and any(one.items() >= (row | {"number": last}).items() for one in before.to_pylist()):
                return
            given = pa.Table.from_pylist([row | {"given": now()}], LABELS)
            _write(path, _latest(pa.concat_tables([before, _numbered(given, last)])), rater, "page")

    def withdraw(self, case_id: str, model: str, rater: str, criterion: str) -> None:
        """Remove a label that a rater gave on the page; nothing happens where there is none."""
        with self._locked():
            path, before = self._page(rater)
            this = dict(zip(LABEL_KEY, (case_id, model, rater, criterion), strict=True))
            kept = [row for row in before.to_pylist() if any(row[name] != value for name, value in this.items())]
            if kept:
                _write(path, pa.Table.from_pylist(kept, LABELS), rater, "page")
            else:
                path.unlink(missing_ok=True)

    def remove(self, set_id: str) -> None:
        """Remove a whole set. Raises RunNotFound where there is none of that id."""
        ids = [path.stem for path in self._files()]
        if set_id not in ids:
            raise RunNotFound(f"there is no set of labels {set_id!r}; there are {', '.join(ids) or 'none'}")
        (self.folder / f"{set_id}.parquet").unlink()

    def _files(self) -> list[Path]:
        return sorted(path for path in self.folder.glob("*.parquet") if not path.name.startswith("."))

    def _last(self) -> int:
        """Return the highest number of a row; −1 while there is none."""
        return max((_last(_read(path)) for path in self._files()), default=-1)

    def _page(self, rater: str) -> tuple[Path, pa.Table]:
        """Return the file of the labels that a rater gives on the page, and those that there are."""
        path = self.folder / f"page-{hashlib.sha256(rater.encode()).hexdigest()[:DIGITS]}.parquet"
        return path, _read(path).replace_schema_metadata(None) if path.exists() else LABELS.empty_table()

    def _locked(self) -> AbstractContextManager[None]:
        """Hold the sets' lock: one rater may have two windows open."""
        return held(make_folder(self.folder) / ".lock", "these labels are being written by another window; try again")


def _last(table: pa.Table) -> int:
    """Return the highest number of a table's rows; −1 where they have none."""
    highest = pc.max(table["number"]).as_py()
    return -1 if highest is None else int(highest)


def _numbered(table: pa.Table, last: int) -> pa.Table:
    """Return a table whose rows are numbered on from `last`."""
    place = LABELS.get_field_index("number")
    return table.set_column(place, LABELS.field(place), pa.array(range(last + 1, last + 1 + len(table)), pa.int64()))


def _in_order(table: pa.Table) -> pa.Table:
    """Return the rows in the order in which they were added: those without a number first, by their times."""
    given = pc.if_else(pc.is_null(table["number"]), pc.fill_null(table["given"], ""), "")
    place = pa.array(range(len(table)), pa.int64())
    keys = pa.table({"number": pc.fill_null(table["number"], -1), "given": given, "place": place})
    return table.take(pc.sort_indices(keys, [(name, "ascending") for name in keys.column_names]))


def _latest(table: pa.Table) -> pa.Table:
    """Return the last row of each LABEL_KEY, in their order."""
    places = table.append_column("place", pa.array(range(len(table)), pa.int64()))
    last = places.group_by(list(LABEL_KEY), use_threads=False).aggregate([("place", "max")])["place_max"]
    return table.take(last.take(pc.sort_indices(last)))


def _write(path: Path, table: pa.Table, name: str, kind: str) -> None:
    about = {"name": name, "kind": kind, "changed": now()}
    write_table(path, table.cast(LABELS).replace_schema_metadata(about))


def _read(path: Path) -> pa.Table:
    """Return the labels in a file. Raises InputError where it is damaged: without it, agreement would be another."""
    try:
        table = stored_rows(path)
    except (OSError, pa.ArrowException) as failure:
        expected = "labels as Assay stored them; restore the file from a backup, or remove it"
        raise InputError([InputProblem(str(path), f"unreadable: {str(failure)[:80]}", expected)]) from None
    if "number" in table.column_names:
        return table
    return table.append_column(LABELS.field("number"), pa.nulls(len(table), pa.int64()))  # of an earlier version


def _about(table: pa.Table) -> dict[str, str]:
    held = table.schema.metadata or {}
    return {name: held.get(name.encode(), b"").decode() for name in ("name", "kind", "changed")}
