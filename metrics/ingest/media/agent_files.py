"""Files that agents wrote, in a folder or zip beside outputs: found by name, limited in size, kept under new names."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from metrics.core.files import make_folder, temporary_folder
from metrics.core.suite import STRINGS, Outputs
from metrics.ingest.media.archive import UNREADABLE, Entry, open_entries
from metrics.ingest.media.images import write_once
from metrics.ingest.source import Loaded, Problems, first_line
from metrics.ingest.tables.values import json_text
from metrics.text.agents.artifacts import MOST_ARTIFACTS, ArtifactError, artifacts_of

FILES = "a folder or a zip of the files that agents made"
NAMES = 32  # hex digits of sha256
BATCH = 1_000  # outputs whose traces are in memory at once
DEEPEST = 4  # folders that a model's and a case's name may make, as org/model/case does


def attach_files(
    outputs: Outputs, path: str | Path, *, destination: str | Path | None = None, filename: str | None = None,
    keep_good_rows: bool = False,
) -> Loaded[Outputs]:  # fmt: skip
    """Return the outputs with the files of a folder or zip as artifacts, so that their content can be checked.

    A file is an artifact of an output that names it, in `artifacts` or in its trace, or in whose folder it is:
    `MODEL/CASE/…`, or `CASE/…` where there is one model. A name is looked up in the list of files: in the output's
    folder, then as a whole, then as the end of a name that only one file has; it is never used as a path. A named file
    that is not there is a missing artifact.

    Files are stored in `destination` under the sha256 of their content; where None, in a temporary folder that is
    removed when the process ends. Entries that leave the archive, links, archives in the archive, and entries
    compressed beyond the limit are refused, as for images. InputError with every problem; with `keep_good_rows` the
    files that could be read are attached.
    """
    place = Path(path)
    file = filename or place.name
    problems = Problems(keep_good_rows)
    folder = Path(destination) if destination is not None else temporary_folder("files")
    found: list[Any] = []
    try:
        with open_entries(place, file, found) as entries:
            attached = [] if found else list(_attached(outputs, entries, folder, file, problems))
    except UNREADABLE as error:
        why = "no such file" if isinstance(error, FileNotFoundError) else f"no readable zip ({first_line(error)})"
        raise problems.fail(file, why, FILES) from None
    problems.extend(found)
    problems.check()
    if found:
        return Loaded(outputs, problems.listed)
    index = outputs.outputs.column_names.index("artifacts")
    table = outputs.outputs.set_column(index, "artifacts", pa.array(attached, STRINGS))
    return Loaded(replace(outputs, outputs=table, files=folder), problems.listed)


def _attached(
    outputs: Outputs, entries: list[Entry], folder: Path, file: str, problems: Problems
) -> Iterator[list[str] | None]:
    files = _Files([entry for entry in entries if not entry.hidden], folder, file, problems)
    alone = len(outputs.models) == 1
    taken = False
    table = outputs.outputs.select(["case_id", "model", "artifacts", "trace"])
    for row in (row for batch in table.to_batches(BATCH) for row in batch.to_pylist()):
        listed = list(row["artifacts"] or [])
        own = files.within(f"{row['model']}/{row['case_id']}/") or (files.within(f"{row['case_id']}/") if alone else {})
        try:
            named = [artifact for artifact in artifacts_of(listed, row["trace"]) if not artifact.has_facts]
        except ArtifactError:  # the evaluator reports it
            yield listed or None
            continue
        made = {artifact.name: files.find(artifact.name, own) for artifact in named}
        known = {entry.name for entry in made.values() if entry is not None}
        made |= {name: entry for name, entry in own.items() if entry.name not in known}
        if len(made) + len(listed) > MOST_ARTIFACTS:
            found = f"{len(made):,} files of case {row['case_id']!r}"
            problems.add(file, found, f"at most {MOST_ARTIFACTS:,} artifacts of a case")
            yield listed or None
            continue
        taken = taken or any(entry is not None for entry in made.values())
        stored = (files.store(name, entry) for name, entry in made.items())
        yield [*listed, *(text for text in stored if text is not None)] or None
    if not taken:
        some = ", ".join(entry.name for entry in entries[:3])
        problems.add(
            file,
            f"{len(entries):,} files ({some}{', …' * (len(entries) > 3)}), none of which is named by an output",
            "names that are in the column artifacts or in the traces, or a folder named like the case id",
        )


class _Files:
    """The files by name; each is stored once."""

    def __init__(self, entries: Sequence[Entry], folder: Path, file: str, problems: Problems):
        self._folder = folder
        self._file = file
        self._problems = problems
        self._stored: dict[str, str | None] = {}
        self._by_name = {entry.name: entry for entry in entries}
        self._by_base: dict[str, list[Entry]] = {}
        self._by_folder: dict[str, list[Entry]] = {}
        for entry in entries:
            self._by_base.setdefault(entry.base, []).append(entry)
            parts = entry.name.split("/")
            for depth in range(1, min(len(parts), DEEPEST + 1)):
                self._by_folder.setdefault("/".join(parts[:depth]) + "/", []).append(entry)

    def within(self, folder: str) -> dict[str, Entry]:
        """Return the files in a folder (`CASE/`, `MODEL/CASE/`), by their names in it."""
        return {entry.name[len(folder) :]: entry for entry in self._by_folder.get(folder, [])}

    def find(self, name: str, own: dict[str, Entry]) -> Entry | None:
        """Return the file that a name refers to; None where there is none, or several fit."""
        plain = name.replace("\\", "/").removeprefix("./")
        if plain in own:
            return own[plain]
        if plain in self._by_name:
            return self._by_name[plain]
        same = self._by_base.get(plain.rsplit("/", 1)[-1], [])
        mine = set(own.values())
        same = [entry for entry in same if entry in mine] or same
        choice = [entry for entry in same if entry.name.endswith("/" + plain)] or same
        return choice[0] if len(choice) == 1 else None

    def store(self, name: str, entry: Entry | None) -> str | None:
        """Return the artifact as the column has it, stored or missing; None where the file cannot be read."""
        if entry is None:
            return json_text({"name": name, "missing": True})
        if entry.name not in self._stored:
            self._stored[entry.name] = self._write(entry)
        stored = self._stored[entry.name]
        return None if stored is None else json_text({"name": name, "stored": stored, "bytes": entry.size})

    def _write(self, entry: Entry) -> str | None:
        make_folder(self._folder)
        try:
            data = entry.read()
        except Exception as error:  # a decompressor raises errors of its own on a damaged zip
            found = f"{entry.name}: a file that cannot be read ({first_line(error)})"
            self._problems.add(self._file, found, "a complete file")
            return None
        stored = hashlib.sha256(data).hexdigest()[:NAMES]
        write_once(self._folder / stored, data)
        return stored
