"""Arrow tables and data frames: native types become text (numbers exactly), lists stay lists."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metrics.core.errors import InputError, InputProblem
from metrics.core.suite import STRINGS
from metrics.ingest.decoded_size import check_columns
from metrics.ingest.sheet import Sheet
from metrics.ingest.source import Problems, first_line
from metrics.ingest.tables.columns import fold, spellings
from metrics.ingest.tables.dataset_features import named_features
from metrics.ingest.tables.list_columns import settle_lists
from metrics.ingest.tables.values import (
    CHATS,
    GRADED,
    MAX_DEPTH,
    PASSAGES,
    TEXTS,
    TRACES,
    column_of,
    flatten,
    float_texts,
    json_text,
    text_of,
    whole,
)

if TYPE_CHECKING:
    import pandas as pd

UNREADABLE = (pa.ArrowException, OSError, ValueError, KeyError, OverflowError, MemoryError, NotImplementedError)
EXPECTED = (
    "a data frame (pandas, polars), an Arrow table, a list of dictionaries, a Hugging Face Dataset or anything else "
    "with __arrow_c_stream__"
)


def frame_sheet(given: Any, name: str, problems: Problems, known: Collection[str] | None = None) -> Sheet:
    """Return what plain_frame takes as a sheet; pandas' missing values are absent. Rows count from 1."""
    frame = plain_frame(given, name, known)
    check_columns(name, frame.shape[1])
    spread = _arrow_columns if isinstance(frame, pa.Table) else _pandas_columns
    names: list[str] = []
    columns: list[pa.Array | pa.ChunkedArray] = []
    for place in range(frame.shape[1]):
        column = str(frame.column_names[place] if isinstance(frame, pa.Table) else frame.columns[place])
        try:
            for own, values in spread(frame, place, column):
                names.append(own)
                columns.append(values)
        except (*UNREADABLE, TypeError) as error:
            found = f"values that are not text: {first_line(error)}"
            problems.add(name, found, "text, numbers or lists of text", column=column, fatal=True)
    problems.stop()
    rows = np.arange(1, len(frame) + 1, dtype=np.int64)
    return settle_lists(Sheet(name, pa.table(columns, names=names), rows, problems))


def _arrow_columns(table: pa.Table, place: int, _: str) -> Iterable[tuple[str, pa.ChunkedArray]]:
    spread = texts(table.select([place]))
    return zip(spread.column_names, spread.columns, strict=True)


def _pandas_columns(frame: "pd.DataFrame", place: int, column: str) -> Iterable[tuple[str, pa.Array | pa.ChunkedArray]]:
    series = frame.iloc[:, place]
    if series.dtype != object:
        return [(column, _text(pa.chunked_array([pa.array(series, from_pandas=True)])))]
    plain = (value.tolist() if isinstance(value, np.ndarray) else value for value in series)
    return _spread(column, [None if _missing(value) else whole(column, value) for value in plain]).items()


def texts(table: pa.Table) -> pa.Table:
    """Return every column as strings or lists of strings; structs are spread over dotted names, traces stay whole."""
    for place, (name, kind) in enumerate(zip(table.column_names, table.schema.types, strict=True)):
        kept = name in TRACES or name == "artifacts" or (name in CHATS and _of_messages(kind))
        if kept and pa.types.is_nested(kind) and kind != STRINGS:
            values = column_of([whole(name, _without_nulls(value)) for value in table[name].to_pylist()])
            table = table.set_column(place, name, values)
        elif pa.types.is_struct(kind) and name in GRADED:  # the ids of all rows are fields of it
            rows = table[name].to_pylist()
            given = (row and {key: grade for key, grade in row.items() if grade is not None} for row in rows)
            table = table.set_column(place, name, column_of([whole(name, row) for row in given]))
        elif pa.types.is_struct(kind) and fold(name) in PASSAGES | TEXTS:
            records = [flatten({name: _without_nulls(value)}) for value in table[name].to_pylist()]
            if all(name in record for record in records):  # each is one text
                table = table.set_column(place, name, column_of([record[name] for record in records]))
    for _ in range(MAX_DEPTH):
        table = table.flatten()
    return pa.table([_text(column) for column in table.columns], names=table.column_names)


def _of_messages(kind: pa.DataType) -> bool:
    item = kind.value_type if pa.types.is_list(kind) or pa.types.is_large_list(kind) else kind
    names = {field.name for field in item} if pa.types.is_struct(item) else set()
    return bool(names & {"role", "type", "kind"}) and bool(names & {"content", "parts"})


def _without_nulls(value: Any) -> Any:
    """Return a value without the entries that are null: in a struct every row has the names of all."""
    if isinstance(value, list):
        return [_without_nulls(item) for item in value]
    if isinstance(value, dict):
        return {name: _without_nulls(inner) for name, inner in value.items() if inner is not None}
    return value


def _text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    kind = column.type
    if pa.types.is_dictionary(kind):
        if pa.types.is_string_view(kind.value_type):  # the categories of polars
            kind = pa.dictionary(kind.index_type, pa.string())
            chunks = (
                pa.DictionaryArray.from_arrays(one.indices, one.dictionary.cast(pa.string())) for one in column.chunks
            )
            column = pa.chunked_array(chunks, kind)
        return _text(column.cast(kind.value_type))
    if pa.types.is_string(kind):
        return column
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        if kind == STRINGS:
            return column
        made = (column_of(chunk.to_pylist()) for chunk in column.chunks)
        lists = (one if pa.types.is_list(one.type) else pa.nulls(len(one), STRINGS) for one in made)  # no list in it
        return pa.chunked_array(lists, STRINGS)
    if pa.types.is_boolean(kind):
        return pc.if_else(column, "true", "false")
    if pa.types.is_temporal(kind):
        return pa.chunked_array([pa.array([text_of(value) for value in column.to_pylist()], pa.string())])
    if pa.types.is_nested(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        values = (value.decode("utf-8") if isinstance(value, bytes) else value for value in column.to_pylist())
        spelled = [value if value is None or isinstance(value, str) else json_text(value) for value in values]
        return pa.chunked_array([pa.array(spelled, pa.string())])
    return float_texts(column) if pa.types.is_float64(kind) else column.cast(pa.string())


def _missing(value: Any) -> bool:
    missing = value is None or type(value).__name__ in ("NAType", "NaTType")
    return missing or (isinstance(value, float | np.floating) and value != value)


def _spread(column: str, values: list[Any]) -> dict[str, pa.Array]:
    if not any(isinstance(value, dict) for value in values):
        return {column: column_of(values)}
    records = [flatten({column: value}) for value in values]
    names = dict.fromkeys(name for record in records for name in record)
    return {name: column_of([record.get(name) for record in records]) for name in names}


def plain_frame(given: Any, name: str, known: Collection[str] | None = None) -> "pd.DataFrame | pa.Table":
    """Return what was given as a data frame or an Arrow table, values and types as they are.

    Class labels of a Hugging Face Dataset become their names. Raises InputError where it is no table, or where it has
    columns that are not text, numbers or lists of them (pictures, sounds).
    """
    if hasattr(given, "iloc") and given.ndim == 2:
        return with_index(cast("pd.DataFrame", given), known)
    if isinstance(given, Sequence) and not isinstance(given, str) and all(isinstance(one, Mapping) for one in given):
        import pandas as pd

        return pd.DataFrame(list(given), dtype=object)
    if hasattr(given, "features") and hasattr(given, "with_format"):
        return _dataset(given, name)
    if hasattr(given, "__arrow_c_stream__") or hasattr(given, "__arrow_c_array__"):
        return pa.table(given)
    found = f"a {type(given).__name__}"
    if hasattr(given, "collect"):
        found += ", which is not computed yet (.collect() does it)"
    raise InputError([InputProblem(name, found, EXPECTED)])


def with_index(frame: "pd.DataFrame", known: Collection[str] | None = None) -> "pd.DataFrame":
    """Return a frame with an index that says something as columns: one with names, or one that tells rows apart.

    The latter are ids of cases, where nothing else is and a row is a case: of outputs, those that are all `known` ids.
    """
    names = [str(name) for name in frame.index.names if name not in (None, "index")]
    if len(names) == frame.index.nlevels:
        return frame if {*names} & {*map(str, frame.columns)} else frame.reset_index()
    counted = type(frame.index).__name__ == "RangeIndex" or not all(isinstance(id, str | int) for id in frame.index)
    columns = {fold(str(name)) for name in frame.columns}
    if counted or frame.index.nlevels > 1 or not frame.index.is_unique or columns & spellings("case_id", "model"):
        return frame
    return (
        frame if known is not None and not {*map(str, frame.index)} <= {*known} else frame.reset_index(names="case_id")
    )


def _dataset(given: Any, name: str) -> pa.Table:
    """Return the rows of a Hugging Face Dataset as they are chosen and ordered in it."""
    if not hasattr(given, "num_rows"):
        expected = "one that is loaded: load_dataset without streaming"
        raise InputError([InputProblem(name, "a streamed Dataset", expected)])
    features = {
        column: {"_type": getattr(kind, "_type", ""), "names": list(getattr(kind, "names", None) or ())}
        for column, kind in (given.features or {}).items()
    }
    return named_features(name, given.with_format("arrow")[:], features)
