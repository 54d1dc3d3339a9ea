"""Small tables that change, such as labels: each file holds the sha256 of its own content, compared when it is read."""

from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa

from metrics.core.arrow import stored_rows
from metrics.core.files import write_table
from metrics.store.manifest import cache_by_file, content_digest
from metrics.store.stored_facts import OWN

# what pyarrow raises for a file in which bits have changed
UNREADABLE = (OSError, ValueError, TypeError, KeyError, OverflowError, MemoryError, pa.ArrowException)


def write_sealed_table(path: Path, table: pa.Table, about: Mapping[str, str]) -> None:
    """Write a table with facts about it and their checksum, whole or not at all."""
    write_table(path, table.replace_schema_metadata({**about, OWN: _digest_of(table, about)}))


@cache_by_file
def read_sealed_table(path: Path) -> pa.Table:
    """Return a stored table, shared and read-only; those of earlier versions have no checksum.

    Raises one of UNREADABLE, a ValueError where the content has another checksum.
    """
    table = stored_rows(path)
    about = about_table(table)
    if about.pop(OWN, None) not in (None, _digest_of(table, about)):
        raise ValueError("it was changed: its content differs from its seal")
    return table


def about_table(table: pa.Table) -> dict[str, str]:
    """Return the facts that were stored with a table."""
    return {key.decode(): value.decode() for key, value in (table.schema.metadata or {}).items()}


def _digest_of(table: pa.Table, about: Mapping[str, str]) -> str:
    return content_digest([sorted(about.items()), table.to_pydict()])
