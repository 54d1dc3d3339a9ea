"""What stands in memory as a table: data frames, Arrow tables, records, Hugging Face datasets."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import pyarrow as pa
import pyarrow.compute as pc

from metrics.core.errors import InputError, InputProblem

if TYPE_CHECKING:
    import pandas as pd

EXPECTED = (
    "a data frame (pandas, polars), an Arrow table, a list of dictionaries, a Hugging Face Dataset or anything else "
    "with __arrow_c_stream__"
)
NO_VALUE = -1  # of a ClassLabel without a label


def plain_frame(given: Any, name: str) -> "pd.DataFrame | pa.Table":
    """Return what was given as a data frame or an Arrow table, values and types as they are.

    Class labels of a Hugging Face Dataset become their names. Raises InputError where it is no table, or where it has
    columns that are not text, numbers or lists of them (pictures, sounds).
    """
    if hasattr(given, "iloc"):
        return cast("pd.DataFrame", given)
    if _is_records(given):
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


def _is_records(given: Any) -> bool:
    return isinstance(given, Sequence) and not isinstance(given, str) and all(isinstance(one, Mapping) for one in given)


def _dataset(given: Any, name: str) -> pa.Table:
    """Return the rows of a Hugging Face Dataset as they are chosen and ordered in it."""
    kinds = {column: getattr(kind, "_type", "") for column, kind in (given.features or {}).items()}
    problems = [
        InputProblem(name, f"a column of type {kind}", "text, numbers or lists of them; leave it out with "
                     f"remove_columns({column!r}) and give pictures as a folder", column=column, fatal=True)
        for column, kind in kinds.items()
        if kind in ("Image", "Audio", "Video", "Pdf", "Nifti")
    ]  # fmt: skip
    if not hasattr(given, "num_rows"):
        problems.append(InputProblem(name, "a streamed Dataset", "one that is loaded: load_dataset without streaming"))
    if problems:
        raise InputError(problems)
    table: pa.Table = given.with_format("arrow")[:]
    for column, kind in kinds.items():
        if kind == "ClassLabel":
            codes = table[column]
            codes = pc.if_else(pc.equal(codes, NO_VALUE), None, codes)
            names = pa.array(given.features[column].names, pa.string())
            table = table.set_column(table.column_names.index(column), column, names.take(codes.combine_chunks()))
    return table
