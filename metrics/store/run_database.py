"""A sealed run as a database: DuckDB views over its Parquet files, opened once, as they never change."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from metrics.core.schema import TABLES
from metrics.store.manifest import read_manifest

if TYPE_CHECKING:
    import duckdb

SQL_TYPES = {
    pa.string(): "VARCHAR", pa.int32(): "INTEGER", pa.int64(): "BIGINT", pa.float64(): "DOUBLE",
    pa.bool_(): "BOOLEAN", pa.list_(pa.float64()): "DOUBLE[]",
}  # fmt: skip


@lru_cache(maxsize=16)
def database(folder: Path, cases: Path) -> duckdb.DuckDBPyConnection:
    """Return a sealed run's tables and the cases of its suite as views (see Run.query); use one cursor per thread."""
    import duckdb

    def scan(path: Path, options: str = "") -> str:
        return f"read_parquet('{str(path).replace(chr(39), chr(39) * 2)}'{options})"

    connection = duckdb.connect(":memory:", config={"threads": 2})
    tables = (read_manifest(folder) or {"tables": {}})["tables"]
    for name in [*TABLES, *(name for name in tables if name not in TABLES)]:
        path = folder / tables[name]["file"] if name in tables else None
        source = "(SELECT 1) WHERE false" if path is None else scan(path)
        columns = (
            "*" if name not in TABLES else _columns(TABLES[name], [] if path is None else pq.read_schema(path).names)
        )
        view = name.replace("/", "_").replace('"', '""')
        connection.execute(f'CREATE VIEW "{view}" AS SELECT {columns} FROM {source}')
    names = pq.read_schema(cases).names
    image_name = '"metadata.image_name"' if "metadata.image_name" in names else "NULL"
    connection.execute(
        f"""CREATE VIEW suite_cases AS
            SELECT case_id, file_row_number AS position, question, source_text, image, tags, {image_name} AS image_name,
                   perturbs, perturbation
            FROM {scan(cases, ", file_row_number = true")}"""
    )
    return connection


def _columns(schema: pa.Schema, stored: Sequence[str]) -> str:
    """Return the columns of a schema as SQL selects them: typed nulls for those that are not stored."""
    return ", ".join(
        f'"{field.name}"' if field.name in stored else f'CAST(NULL AS {SQL_TYPES[field.type]}) AS "{field.name}"'
        for field in schema
    )
