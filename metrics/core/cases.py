"""Cases of a suite joined with a model's outputs: as rows for evaluators of a case, as columns for whoever can."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import repeat
from pathlib import Path
from typing import Any, Self, overload

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metrics.core.array_types import Bools
from metrics.core.arrow import plain_column
from metrics.core.fields import OUTPUT_FIELDS, RETRIEVED, NotGiven
from metrics.core.suite import CASES, METADATA, OUTPUTS, Case, Outputs, Suite
from metrics.core.unicode_forms import normalized

JOINED = 2_000  # rows that join_cases has in memory at once
POSITION = pa.field("position", pa.int32())
SCHEMA = pa.unify_schemas([OUTPUTS, CASES, pa.schema([POSITION])])
FIELDS = frozenset(SCHEMA.names)
NAMES = ("case_id", "model", "run", "artifacts", "error")  # which are looked up or shown, not compared
DEFAULTS = Case()._asdict()
COLUMNS = tuple(name for name in Case._fields if name in SCHEMA.names)


class Cases(Sequence[Case]):
    """Cases in order: a sequence of Case, whose fields are columns as well.

    `columns` by name: those of CASES, of OUTPUTS and `position` as far as they are there, and `metadata.*`. A null in a
    column stands for what the field of a Case has by default. `files` is the folder of the stored files that
    `artifacts` names.
    """

    def __init__(self, columns: Mapping[str, pa.Array], files: Path | None = None):
        self._columns = columns
        self._files = files

    @classmethod
    def joined(cls, suite: Suite, rows: pa.Table, files: Path | None = None) -> Self:
        """Return a case for each row of outputs, in their order. Raises KeyError for a case that the suite lacks.

        `rows` may have a column `position`, else the cases are looked up.
        """
        if POSITION.name not in rows.column_names:
            rows = rows.append_column(POSITION, places(suite, rows["case_id"]))
        at = rows[POSITION.name].to_numpy()
        first = int(at.min(initial=len(suite)))
        # stored outputs are in the suite's order: what a slice costs must not grow with the suite
        near = suite.cases.slice(first, max(0, int(at.max(initial=-1)) - first + 1))
        own = near if len(near) == len(at) and (np.diff(at) == 1).all() else near.take(pa.array(at - first))
        both = dict(zip(own.column_names, own.columns, strict=True))
        both |= dict(zip(rows.column_names, rows.columns, strict=True))
        # most columns have no value in most suites, and need not be carried along
        empty = {name for name in FIELDS if name in both and both[name].null_count == len(rows) > 0}
        columns = {name: column.combine_chunks() for name, column in both.items() if name not in empty}
        # an output without text is scored as an empty answer: leaving it out would reward silence
        columns["answer"] = pc.fill_null(columns.get("answer", pa.nulls(len(rows), pa.string())), "")
        return cls(columns, files)

    @classmethod
    def of(cls, cases: Sequence[Case]) -> "Cases":
        """Return plain cases with columns; Cases as they are."""
        if isinstance(cases, Cases):
            return cases
        columns = {
            name: plain_column(
                [None if isinstance(own := getattr(case, name), NotGiven) else own for case in cases],
                SCHEMA.field(name).type,
            )
            for name in COLUMNS
        }
        for name in dict.fromkeys(name for case in cases for name in case.metadata):
            columns[METADATA + name] = plain_column([case.metadata.get(name) for case in cases], pa.string())
        made = cls(columns, cases[0].files if len(cases) else None)
        made._rows = list(cases)
        return made

    def column(self, name: str) -> pa.Array:
        """Return a field of the cases [n], null where there is none."""
        found = self._columns.get(name)
        return pa.nulls(len(self), SCHEMA.field(name).type) if found is None else found

    def lacks(self, name: str) -> Bools:
        """Return which cases [n] have no value in a field; see `Case.has`."""
        column = self.column(name)
        if pa.types.is_list(column.type) and name not in RETRIEVED:
            column = pc.fill_null(pc.list_value_length(column), 0)
            return np.asarray(column.to_numpy() == 0)
        return np.asarray(column.is_null().to_numpy(zero_copy_only=False), bool)

    def places_of(self, name: str) -> list[int]:
        """Return the places of the cases that have a value in this column of metadata."""
        found = self._columns.get(METADATA + name)
        return [] if found is None else np.flatnonzero(found.is_valid().to_numpy(zero_copy_only=False)).tolist()

    def take(self, places: pa.Array) -> "Cases":
        """Return the cases at these places."""
        return Cases({name: column.take(places) for name, column in self._columns.items()}, self._files)

    def compose_texts(self) -> "Cases":
        """Return the cases with their texts in composed characters (Unicode's NFC): é is one, however it was written.

        Names are left as they are. These cases themselves where nothing changes.
        """
        changed = {name: own for name, column in self._columns.items() if (own := _compose(name, column)) is not column}
        return Cases({**self._columns, **changed}, self._files) if changed else self

    def __len__(self) -> int:
        return len(self._columns["case_id"])

    def __iter__(self) -> Iterator[Case]:
        return iter(self._rows)

    @overload
    def __getitem__(self, place: int) -> Case: ...
    @overload
    def __getitem__(self, place: slice) -> list[Case]: ...
    def __getitem__(self, place: int | slice) -> Case | list[Case]:
        return self._rows[place]

    @cached_property
    def _rows(self) -> list[Case]:
        values: dict[str, Iterable[Any]] = {name: repeat(default) for name, default in DEFAULTS.items()}
        values |= {name: _plain(self._columns[name], DEFAULTS[name]) for name in COLUMNS if name in self._columns}
        values |= {"files": repeat(self._files), "metadata": self._metadata()}
        rows = zip(*values.values(), strict=False)
        return list(map(tuple.__new__, repeat(Case), rows))  # Case._make without a check of the length

    def _metadata(self) -> Iterable[Mapping[str, str]]:
        own = {
            name.removeprefix(METADATA): column.to_pylist()
            for name, column in self._columns.items()
            if name.startswith(METADATA) and column.null_count < len(column)
        }
        if not own:
            return repeat(DEFAULTS["metadata"])
        rows = zip(*own.values(), strict=True)
        return ({name: text for name, text in zip(own, row, strict=True) if text is not None} for row in rows)


def with_plain_output(case: Case) -> Case:
    """Return a case with a plain output in place of the model's: a sample of each field that the model gave."""
    given = [field for field in OUTPUT_FIELDS if field.role in ("answer", "measure") and field.name in Case._fields]
    for field in given:
        if field.name != "error" and case.has(field.name):
            size = len(getattr(case, field.each_of or field.name)) if field.is_list else 0
            plain: Any = (field.samples[0],) * size if field.is_list else field.samples[0]
            case = case._replace(**{field.name: plain})
    return case


def compose_tables(suite: Suite, outputs: Outputs) -> tuple[Suite, Outputs]:
    """Return a suite of text and its outputs with their texts in composed characters, see `Cases.compose_texts`.

    Their fingerprints stay those of what was read.
    """
    if suite.task != "text":
        return suite, outputs
    cases, rows = (
        pa.table({name: _compose(name, table[name]) for name in table.column_names})
        for table in (suite.cases, outputs.outputs)
    )
    return replace(suite, cases=cases), replace(outputs, outputs=rows)


def join_cases(suite: Suite, outputs: Outputs) -> Iterator[Case]:
    """Yield one Case per row of `outputs`, in its order. Raises KeyError for a row whose case the suite lacks."""
    rows = outputs.outputs.append_column(POSITION, places(suite, outputs.outputs["case_id"]))
    for start in range(0, len(rows), JOINED):
        yield from Cases.joined(suite, rows.slice(start, JOINED), outputs.files)


def places(suite: Suite, case_ids: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return the place of each case in the suite. Raises KeyError for one that the suite lacks."""
    own = suite.cases["case_id"]
    if case_ids.equals(own):  # most often every case has one output: there is nothing to look up
        return pa.chunked_array([np.arange(len(own), dtype=np.int32)])
    found = pc.index_in(case_ids, own.combine_chunks())
    if found.null_count:
        raise KeyError(case_ids.filter(found.is_null())[0].as_py())
    return found


def _compose(name: str, column: Any) -> Any:
    return column if name in NAMES else compose_column(column)


def compose_column(column: Any) -> Any:
    """Return a column of texts, or of lists of them, in composed characters; itself where nothing changes."""
    if isinstance(column, pa.ChunkedArray):
        given = column.chunks
        chunks = [compose_column(chunk) for chunk in given]
        same = all(new is old for new, old in zip(chunks, given, strict=True))
        return column if same else pa.chunked_array(chunks, column.type)
    if pa.types.is_list(column.type):
        own = column.flatten()
        items = compose_column(own)
        if items is own:
            return column
        ends = np.append(0, np.cumsum(pc.fill_null(pc.list_value_length(column), 0).to_numpy())).astype(np.int32)
        return pa.ListArray.from_arrays(pa.array(ends), items, column.type, mask=column.is_null())
    if not pa.types.is_string(column.type):
        return column
    other = pc.fill_null(pc.invert(pc.string_is_ascii(column)), False)
    if not pc.any(other).as_py():
        return column
    texts = column.filter(other).to_pylist()
    made = [normalized("NFC", text) for text in texts]
    return column if made == texts else pc.replace_with_mask(column, other, pa.array(made, column.type))


def _plain(column: pa.Array, default: Any) -> Iterable[Any]:
    """Return a column's values, of lists as tuples, with the field's default in place of null."""
    if column.null_count == len(column):
        return repeat(default, len(column))
    if pa.types.is_list(column.type):
        rows = _tuples(column)
        if not column.null_count or not isinstance(default, NotGiven):
            return rows
        return (row if given else default for row, given in zip(rows, column.is_valid().to_pylist(), strict=True))
    values = column.to_pylist()
    return [default if value is None else value for value in values] if column.null_count else values


def _tuples(column: pa.ListArray) -> Iterator[tuple[Any, ...]]:
    """Return the lists of a column as tuples, of null an empty one; their items are converted all at once."""
    items = tuple(column.flatten().to_pylist())
    sizes = pc.fill_null(pc.list_value_length(column), 0).to_numpy()
    if (sizes == 1).all():  # as expected answers mostly are
        return zip(items, strict=False)
    ends = np.cumsum(sizes).tolist()
    return map(items.__getitem__, map(slice, [0, *ends[:-1]], ends))
