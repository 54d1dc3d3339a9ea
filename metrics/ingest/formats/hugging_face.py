"""Hugging Face data sets: a folder or zip of save_to_disk, or of Parquet or Arrow shards (test-00000-of-00002.parquet).

Classes by number get their names. Of several splits one is read: the one asked for (as a sheet of a workbook is), else
test, else validation, else the first.
"""

import re

import pyarrow as pa

from metrics.ingest.formats.arrow import read_arrow
from metrics.ingest.formats.parquet import read_parquet
from metrics.ingest.formats.table_reader import bundle_reader, choose_split
from metrics.ingest.media.archive import Entry
from metrics.ingest.media.bundle import Rows
from metrics.ingest.reader import FIRST_ROWS, Upload
from metrics.ingest.sheet import Sheet
from metrics.ingest.source import Problems, first_line
from metrics.ingest.tables.native_types import UNREADABLE

SHARD = re.compile(r"(?:(?P<split>.+)-)?(?P<number>\d{5})-of-(?P<count>\d{5})(?:-[0-9a-f]+)?\.(?:parquet|arrow)")
SAVED = ("dataset_info.json", "dataset_dict.json", "state.json")
SAVED_NAME = "data"  # which save_to_disk gives its shards in place of the split
PREFERRED = ("test", "validation")


def _splits(upload: Upload) -> dict[str, list[tuple[int, int, Entry]]]:
    """Return number, count and file of the shards of each split, in order."""
    found: dict[str, list[tuple[int, int, Entry]]] = {}
    for entry in upload.folder.ending(".parquet", ".arrow"):
        match = SHARD.fullmatch(entry.base)
        if match is None:
            continue
        folder = entry.name.rpartition("/")[0].rpartition("/")[2]
        name = match["split"] if match["split"] not in (None, SAVED_NAME) else folder
        found.setdefault(name or "data", []).append((int(match["number"]), int(match["count"]), entry))
    return {name: sorted(shards, key=lambda shard: shard[0]) for name, shards in found.items()}


def _knows(upload: Upload) -> bool:
    splits = _splits(upload)
    saved = any(entry.base in SAVED for entry in upload.folder.entries)
    return bool(splits) and (saved or len(upload.tables) > 1)


def _read(upload: Upload, problems: Problems, most: int | None = None) -> Sheet:
    bundle, splits = upload.folder, _splits(upload)
    split = choose_split(upload, splits, PREFERRED)
    others = ", ".join(name for name in splits if name != split)
    if others:
        upload.said.append(f"{upload.name}: split {split} was read, not {others}.")
    for name, members in splits.items():
        used = name == split
        problems.note(
            upload.name, f"split {name}", "used" if used else "unused",
            "records" if used else "another split was read; it can be chosen", len(members), members[0][2].name,
        )  # fmt: skip
        for _, _, entry in members:
            entry.account()
    shards = splits[split]
    count = shards[0][1]
    if [number for number, _, _ in shards] != list(range(count)) or any(of != count for _, of, _ in shards):
        found = f"{len(shards)} of {count} files of the split {split}"
        raise problems.fail(bundle.name, found, f"all files, from 00000 to {count - 1:05}")
    tables: list[pa.Table] = []
    for _, _, entry in shards:
        source = upload.source_of_entry(entry)
        read = read_parquet if source.format == "parquet" else read_arrow
        tables.append(read(source, problems, most).table)
        if most is not None and sum(map(len, tables)) >= most:
            break
    try:
        table = pa.concat_tables(tables, promote_options="default")
    except UNREADABLE as error:
        found = f"files whose columns differ ({first_line(error)})"
        raise problems.fail(bundle.name, found, "the same columns in all files of a split") from None
    rows = [row for part in tables for row in range(1, len(part) + 1)]
    which = [place for place, part in enumerate(tables) for _ in range(len(part))]
    return Rows(bundle.name, table, rows, which, bundle.names([entry for _, _, entry in shards]), problems)


def _head(upload: Upload, problems: Problems) -> tuple[Sheet, int | None]:
    return _read(upload, problems, FIRST_ROWS), None


CONTENTS = "a Hugging Face data set (save_to_disk, or Parquet shards)"
READER = bundle_reader("hugging_face", _knows, _read, _head, contents=CONTENTS, splits=_splits, preferred=PREFERRED)
