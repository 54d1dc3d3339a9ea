"""The tables of a run as they are read: one stored Parquet file, or several, of which some models count."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from metrics.core.arrow import opened, row_groups, stored_columns, stored_rows, text_column
from metrics.core.schema import conformed

Names = tuple[tuple[str, str], ...]  # of models: as it is stored, as it is shown
Filters = Sequence[tuple[str, str, Any]]  # of pyarrow, all of which hold


class TableFile(NamedTuple):
    """A stored file. names: the models of which its rows count, each with the name that it is shown by; whole: they are
    all that it has, by their own names; evaluators: those of which rows count; None: all.
    """

    path: Path
    names: Names | None = None
    evaluators: tuple[str, ...] | None = None
    whole: bool = True

    def stored_names(self, models: Sequence[str]) -> list[str | None]:
        """Return the name that each of these models has in the file; None for one that does not count here."""
        if self.names is None:
            return list(models)
        stored = {shown: own for own, shown in self.names}
        return [stored.get(model) for model in models]

    def has(self, evaluator: str) -> bool:
        """Return whether rows of an evaluator count."""
        return self.evaluators is None or evaluator in self.evaluators

    @property
    def telling(self) -> list[str]:
        """The columns by which the rows that count are known; none where all do."""
        named = {"model": not self.whole, "evaluator": self.evaluators is not None}
        return [name for name, is_told in named.items() if is_told and name in _columns(self.path)]

    def rows(self, columns: Sequence[str] | None, filters: Filters | None, **options: Any) -> pa.Table:
        """Return the rows that count and that `filters` leave, the models by the names that they are shown by."""
        if columns is None and not filters and not self.telling:
            return stored_rows(self.path, **options)
        there = _columns(self.path)
        wanted = [name for name in (there if columns is None else columns) if name in there]
        read = None if columns is None else list(dict.fromkeys([*wanted, *self.telling]))
        conditions = [self._stored_filter(one) for one in filters or ()]
        if not self.may_hold(filters):
            return pq.read_schema(self.path).empty_table().select(wanted)
        kept = [one for one in conditions if one[1] != "not in" or len(one[2])]  # Arrow takes no empty list
        return self.select_shown(stored_rows(self.path, read, kept or None, **options)).select(wanted)

    def may_hold(self, filters: Filters | None) -> bool:
        """Return whether there may be rows which `filters` leave: whether the models that they name count here."""
        conditions = map(self._stored_filter, filters or ())
        return all(test != "in" or len(value) for _, test, value in conditions)

    def select_shown(self, rows: pa.Table) -> pa.Table:
        """Return those of the file's rows that count, the models by the names that they are shown by.

        The rows have the columns `telling`.
        """
        if "evaluator" in self.telling:
            rows = rows.filter(pc.is_in(rows["evaluator"], text_column(self.evaluators or ())))
        if "model" in self.telling:
            own, shown = (text_column([one[place] for one in self.names or ()]) for place in (0, 1))
            at = pc.index_in(rows["model"].cast(pa.string()), own)
            rows, at = rows.filter(at.is_valid()), at.drop_null().combine_chunks()
            place = rows.schema.get_field_index("model")
            rows = rows.set_column(place, rows.schema.field(place), shown.take(at).cast(rows["model"].type))
        return rows

    def _stored_filter(self, condition: tuple[str, str, Any]) -> tuple[str, str, Any]:
        """Return a condition on shown models as one on stored ones."""
        name, test, value = condition
        if name != "model" or self.names is None:
            return condition
        asked = self.stored_names([value] if isinstance(value, str) else list(value))
        return name, "not in" if test in ("!=", "not in") else "in", [own for own in asked if own is not None]

    def read_groups(self, parquet: pq.ParquetFile, groups: Sequence[int], columns: Sequence[str]) -> pa.Table:
        """Return these columns of the rows that count in these row groups of the file, which is open."""
        read = list(dict.fromkeys([*columns, *self.telling]))
        return self.select_shown(parquet.read_row_groups(groups, columns=read)).select(columns)

    def pieces(self, parquet: pq.ParquetFile, columns: Sequence[str], model: str | None) -> Iterator[pa.Table]:
        """Yield these columns of the rows that count, or of a model's, of the file, which is open."""
        if model is None:
            yield from (self.read_groups(parquet, [group], columns) for group in range(parquet.num_row_groups))
            return
        for stored in filter(None, self.stored_names([model])):
            for group in row_groups(parquet, "model", stored):
                rows = self.read_groups(parquet, [group], [*columns, "model"])
                yield rows.filter(pc.equal(rows["model"], model)).select(columns)

    @property
    def sql(self) -> str:
        """The rows that count as DuckDB selects them."""
        columns, tests = "*", ["true"]
        if not self.whole and self.names is not None:
            cases = " ".join(f"WHEN {quoted(own)} THEN {quoted(shown)}" for own, shown in self.names)
            columns += f" REPLACE (CASE model {cases} END AS model)"
            tests.append(f"model IN ({', '.join(quoted(own) for own, _ in self.names)})")
        if "evaluator" in self.telling:
            tests.append(f"evaluator IN ({', '.join(map(quoted, self.evaluators or ()))})")
        return f"SELECT {columns} FROM read_parquet({quoted(str(self.path))}) WHERE {' AND '.join(tests)}"


OpenFile = tuple[pq.ParquetFile, TableFile]


@dataclass(frozen=True, slots=True)
class StoredTable:
    """A table of a run, in one file or several, in the order of its rows."""

    files: tuple[TableFile, ...]

    @property
    def columns(self) -> list[str]:
        """The names of its columns; of an older release it may lack some."""
        return list(dict.fromkeys(name for file in self.files for name in _columns(file.path)))

    def rows(self, columns: Sequence[str] | None = None, filters: Filters | None = None, **options: Any) -> pa.Table:
        """Return the table, all of it or some columns and the rows that `filters` (of pyarrow) leave."""
        read = [file.rows(columns, filters, **options) for file in self._files_that_may_hold(filters)]
        found = [rows for rows in read if len(rows)] or read[:1]
        return found[0] if len(found) == 1 else pa.concat_tables(found, promote_options="permissive")

    def rows_as(
        self, schema: pa.Schema, columns: Sequence[str] | None = None, filters: Filters | None = None
    ) -> pa.Table:
        """Return the same with the columns of a schema, null where they are not stored."""
        return pa.concat_tables(
            conformed(file.rows(columns, filters), schema, columns) for file in self._files_that_may_hold(filters)
        )

    def _files_that_may_hold(self, filters: Filters | None) -> Sequence[TableFile]:
        """Return the files that may have rows which `filters` leave; one in any case, for its columns."""
        return [file for file in self.files if file.may_hold(filters)] or self.files[:1]

    def pieces(self, columns: Sequence[str], model: str | None = None) -> Iterator[pa.Table]:
        """Yield these columns of the table, or of the rows of a model, a row group at a time."""
        with self.opened(None if model is None else [model]) as files:
            for parquet, file in files:
                yield from file.pieces(parquet, columns, model)

    @contextmanager
    def opened(self, models: Sequence[str] | None = None, **options: Any) -> Iterator[list[OpenFile]]:
        """Open its files, or those in which rows of `models` count, by row groups; `options` are those of pyarrow."""
        files = [file for file in self.files if models is None or any(file.stored_names(models))]
        with ExitStack() as stack:
            yield [(stack.enter_context(opened(file.path, **options)), file) for file in files]

    @property
    def sql(self) -> str:
        """The table as DuckDB selects from it: in brackets."""
        if all(file.whole and file.evaluators is None for file in self.files):  # as one scan: of many it is quicker
            paths = ", ".join(quoted(str(file.path)) for file in self.files)
            return f"(SELECT * FROM read_parquet([{paths}], union_by_name = true))"
        return f"({' UNION ALL BY NAME '.join(file.sql for file in self.files)})"


def quoted(text: str) -> str:
    """Return a text as SQL has it."""
    return "'" + text.replace("'", "''") + "'"


def mean_sql(column: str) -> str:
    """Return the mean of a column in a group as SQL, added in one order: `avg` rounds by how threads share the rows."""
    return f"list_avg(list_sort(list({column})))"


def listed(values: Iterable[str | int]) -> str:
    """Return values as SQL has them behind IN: they reach the scan, as those of a subquery do not."""
    return ", ".join(quoted(value) if isinstance(value, str) else str(value) for value in values) or "NULL"


@lru_cache(maxsize=4096)
def _columns(path: Path) -> tuple[str, ...]:
    return tuple(stored_columns(path))
