"""The tables of a run as Arrow tables and polars data frames."""

from typing import TYPE_CHECKING

import pyarrow as pa

from metrics.core.errors import InputError, InputProblem, MissingResource
from metrics.core.schema import TABLES
from metrics.store import Run

if TYPE_CHECKING:
    import polars as pl


def arrow_table(run: Run, name: str) -> pa.Table:
    """Return a table of a finished run: those of core.schema, curves/ID and matches/ID. InputError on another name."""
    known = [*TABLES, *(f"curves/{id}" for id in run.curve_names()), *(f"matches/{id}" for id in run.match_names())]
    if name not in known:
        raise InputError([InputProblem(f"run {run.id}", f"the table {name!r}", "one of " + ", ".join(known))])
    if name == "aggregates":  # the evaluators' own columns are spread as in the data frame
        return pa.Table.from_pandas(run.aggregates, preserve_index=False)
    table = run.stored_table(name)
    return table.drop_columns("position") if name == "scores" else table


def polars_frame(run: Run, name: str) -> "pl.DataFrame":
    """Return the same as a polars data frame. Raises MissingResource where polars is not installed."""
    try:
        import polars as pl
    except ImportError:
        raise MissingResource(
            "polars is not installed: pip install polars, or take run.arrow(...), which needs no other package"
        ) from None
    frame = pl.from_arrow(arrow_table(run, name))
    assert isinstance(frame, pl.DataFrame)
    return frame
