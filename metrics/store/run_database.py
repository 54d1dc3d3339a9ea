"""A finished run as tables that SQL asks, in DuckDB."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from metrics.core.arrow import stored_columns
from metrics.core.schema import TABLES
from metrics.store.run_tables import StoredTable, quoted

if TYPE_CHECKING:
    import duckdb

SQL_TYPES = {
    pa.string(): "VARCHAR", pa.int32(): "INTEGER", pa.int64(): "BIGINT", pa.float64(): "DOUBLE",
    pa.bool_(): "BOOLEAN", pa.list_(pa.float64()): "DOUBLE[]",
}  # fmt: skip


@lru_cache(maxsize=16)
def database(tables: tuple[tuple[str, StoredTable | None], ...], cases: Path) -> duckdb.DuckDBPyConnection:
    """Return the tables of a sealed run and the cases of its suite as views (see Run.query); one cursor per thread."""
    import duckdb

    connection = duckdb.connect(":memory:", config={"threads": 2})
    for name, table in tables:
        source = "(SELECT 1) WHERE false" if table is None else table.sql
        columns = _columns(TABLES[name], table.columns if table else []) if name in TABLES else "*"
        view = name.replace("/", "_").replace('"', '""')
        connection.execute(f'CREATE VIEW "{view}" AS SELECT {columns} FROM {source}')
    names = stored_columns(cases)
    image_name = '"metadata.image_name"' if "metadata.image_name" in names else "NULL"
    connection.execute(
        f"""CREATE VIEW suite_cases AS
            SELECT case_id, file_row_number AS position, question, source_text, image, tags, {image_name} AS image_name,
                   perturbs, perturbation
            FROM read_parquet({quoted(str(cases))}, file_row_number = true)"""
    )
    return connection


def _columns(schema: pa.Schema, stored: Sequence[str]) -> str:
    """Return the columns of a schema as SQL selects them: typed nulls for those that are not stored."""
    return ", ".join(
        f'"{field.name}"' if field.name in stored else f'CAST(NULL AS {SQL_TYPES[field.type]}) AS "{field.name}"'
        for field in schema
    )
