"""Suites and outputs on disk: each stored once under its fingerprint, and never changed."""

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from metrics.core import files, suite as columns
from metrics.core.arrow import may_hold, opened, rows_at, stored_rows
from metrics.core.cases import POSITION, places
from metrics.core.classes import class_records
from metrics.core.errors import RunCorrupt, RunNotFound
from metrics.core.schema import SCHEMA_VERSION, SLICE, conformed
from metrics.core.suite import OUTPUTS, Outputs, Suite, conform
from metrics.store.input_seals import checked_input, damaged, input_facts, read_suite, sealed
from metrics.store.own_files import REMOTE, own_folder, tighten
from metrics.store.run_spec import FINGERPRINT

CASES, ANNOTATIONS = "cases.parquet", "annotations.parquet"
ANSWERS, PREDICTIONS = "outputs.parquet", "predictions.parquet"
PIECE = 50_000  # rows
FILES = "artifacts"  # folder of stored outputs
TARGETS = "targets.json"  # in that folder: the models that Assay itself asked, described


@cache
def _cache_of_process(_workspace: Path) -> Path:
    return files.temporary_folder("cache")


class StoredInputs:
    """The suites and outputs of a workspace; `path` defaults to $ASSAY_WORKSPACE, else ./workspace.

    Of a workspace at a URL it is the local copy, see store.remote.local_copy.
    """

    def __init__(self, path: str | Path | None = None):
        place = path or os.environ.get("ASSAY_WORKSPACE") or "workspace"
        if isinstance(place, str) and "://" in place:
            from metrics.store.remote.local_copy import local_path

            place = local_path(place)
        self.path = Path(place).absolute()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self.path)!r})"

    def cache_file(self, name: str) -> Path:
        """Return the file or folder of the cache that has a name, for what is computed again where it is missing.

        Of a workspace that may only be read, and has no such file, it is one of this process alone.
        """
        kept = self.path / "cache" / name
        there = next(folder for folder in (kept.parent, *kept.parents) if folder.exists())
        return kept if kept.is_file() or os.access(there, os.W_OK) else _cache_of_process(self.path) / name

    def save_suite(self, suite: Suite, made: Mapping[str, Any] | None = None) -> str:
        """Store a suite under its fingerprint, once, with a copy of its media; return the fingerprint.

        `made`: the suite that it was made from (parent) and how, see metrics.suites.suite_history.
        """
        tighten(self.path)
        folder = files.make_folder(own_folder(self.path, "suites", suite.fingerprint).parent) / suite.fingerprint
        if not (folder / "suite.json").exists():
            files.write_table(folder / "cases.parquet", suite.cases, SLICE * 8)  # so that one case reads few others
            if suite.annotations is not None:
                files.write_table(folder / "annotations.parquet", suite.annotations)
            if suite.media is not None and suite.media.absolute() != folder / "media":
                files.copy_folder(suite.media, folder / "media")
            facts = {
                "schema": SCHEMA_VERSION,
                "name": suite.name,
                "task": suite.task,
                "labels": suite.labels,
                "category_ids": suite.category_ids,
                "cases": len(suite),
                "left_out": suite.left_out,
                "label_keys": suite.label_keys,
                **({"classes": class_records(suite.classes)} if suite.classes else {}),
                "created": datetime.now(UTC).isoformat(timespec="milliseconds"),
                **(made or {}),
            }
            files.write_json(folder / "suite.json", sealed(folder, facts))
        return suite.fingerprint

    def save_outputs(self, outputs: Outputs, suite: Suite) -> str:
        """Store outputs under their fingerprint, once, ordered by model and then as in `suite`; return the fingerprint.

        The order lets a reader of one model's slice, or of one case, skip nearly all of the file.
        """
        folder = files.make_folder(own_folder(self.path, "outputs", outputs.fingerprint).parent) / outputs.fingerprint
        if not (folder / "outputs.json").exists():
            table = _ordered(outputs.outputs, outputs, suite)
            files.write_table(folder / "outputs.parquet", table, SLICE)
            if outputs.predictions is not None:
                # within an image the file's order of predictions decides ties, so only whole images move
                files.write_table(
                    folder / "predictions.parquet", _ordered(outputs.predictions, outputs, suite), SLICE * 8
                )
            if outputs.files is not None and outputs.files.absolute() != folder / FILES:
                files.copy_folder(outputs.files, folder / FILES)
            rows = table.group_by(["model", "run"], use_threads=False).aggregate([("case_id", "count")]).to_pylist()
            models: dict[str, dict[str, Any]] = {model: {"rows": 0, "runs": []} for model in outputs.models}
            for entry in rows:
                models[entry["model"]]["rows"] += entry["case_id_count"]
                models[entry["model"]]["runs"] = sorted([*models[entry["model"]]["runs"], entry["run"]])
            facts = {"schema": SCHEMA_VERSION, "models": models, "left_out": outputs.left_out}
            files.write_json(folder / "outputs.json", sealed(folder, facts))
        if outputs.targets and not (folder / TARGETS).exists():
            files.write_json(folder / TARGETS, outputs.targets)
        return outputs.fingerprint

    def suite(self, fingerprint: str) -> Suite:
        """Return the stored suite of that fingerprint; its tables are shared and read-only."""
        self.complete("suites", fingerprint, media=True)
        return _load_suite(self._needed("suites", fingerprint), self.file("suites", fingerprint, ANNOTATIONS))

    def cases_at(self, fingerprint: str, places: Sequence[int]) -> Suite:
        """Return these cases of a stored suite alone, in this order, with their annotations."""
        self.complete("suites", fingerprint, media=True)
        cases, annotations = self._needed("suites", fingerprint), self.file("suites", fingerprint, ANNOTATIONS)
        found = conform(rows_at(cases, places), columns.CASES)
        own = [("case_id", "in", found["case_id"].to_pylist())]
        objects = None if annotations is None else conform(stored_rows(annotations, filters=own), columns.ANNOTATIONS)
        return read_suite(cases.parent, found, objects)

    def outputs(self, fingerprint: str, model: str | None = None) -> Outputs:
        """Return the stored outputs of that fingerprint, whole or of one model, whose rows alone are read then."""
        answers, predictions = self._needed("outputs", fingerprint), self.file("outputs", fingerprint, PREDICTIONS)
        rows = None if model is None else [("model", "=", model)]
        return Outputs(
            conform(stored_rows(answers, filters=rows), OUTPUTS),
            None if predictions is None else conform(stored_rows(predictions, filters=rows), columns.PREDICTIONS),
            self.outputs_facts(fingerprint)["left_out"],
            self.outputs_files(fingerprint),
            self.targets(fingerprint),
        )

    def targets(self, fingerprint: str) -> dict[str, dict[str, Any]]:
        """Return the descriptions of the models that were asked for stored outputs, by name; none for uploads."""
        return files.read_json(self._folder("outputs", fingerprint) / TARGETS) or {}

    def outputs_files(self, fingerprint: str) -> Path | None:
        """Return the folder with the files of the stored outputs' artifacts; None where there are none."""
        folder = self._folder("outputs", fingerprint) / FILES
        return folder if folder.exists() else None

    def outputs_facts(self, fingerprint: str) -> dict[str, Any]:
        """Return facts about stored outputs: `models` (name → rows, runs, in file order), `left_out`."""
        return input_facts(self._folder("outputs", fingerprint))

    def outputs_rows(self, fingerprint: str, start: int, stop: int, known: Collection[str] = ()) -> pa.Table:
        """Return rows start … stop of the stored outputs without reading the others, nor columns that are `known`.

        Columns without a value are left out.
        """
        path = self._needed("outputs", fingerprint)
        metadata, filled = _metadata(path)
        groups = range(start // SLICE, min(-(-stop // SLICE), metadata.num_row_groups))
        with opened(path, metadata=metadata) as file:
            columns = [name for name in filled if name not in known]
            found = file.read_row_groups(groups, columns=columns, use_threads=False)
        return found.slice(start % SLICE, stop - start)

    def positions(self, fingerprint: str, suite: str, start: int, stop: int) -> pa.ChunkedArray:
        """Return the place in a stored suite of each of the cases in rows start … stop of stored outputs."""
        path, cases = self._needed("outputs", fingerprint), self._needed("suites", suite)
        return _positions(path, cases).slice(start, stop - start)

    def placed_rows(self, fingerprint: str, suite: str, start: int, stop: int) -> pa.Table:
        """Return rows start … stop of stored outputs with the `position` of their cases in a stored suite.

        That tells their ids, and the rows tell their model, so these columns are not read.
        """
        rows = self.outputs_rows(fingerprint, start, stop, known=("case_id", "model"))
        return rows.append_column(POSITION, self.positions(fingerprint, suite, start, stop))

    def file(self, kind: str, fingerprint: str, name: str, seals: Collection[str] = ()) -> Path | None:
        """Return a file of a stored suite (kind `suites`) or `outputs`; None where there never was one of that name.

        Every reader passes here. Raises RunCorrupt where it is lost or differs from its seal, see input_seals.
        """
        folder = self._folder(kind, fingerprint)
        if (self.path / REMOTE).exists():
            from metrics.store.remote.local_copy import listed_digests

            seals = {*seals, *listed_digests(self.path, kind, fingerprint, name)}
        return checked_input(folder, name, seals)

    def suites(self) -> list[dict[str, Any]]:
        """Return fingerprint, name, task, number of cases … of every stored suite, the newest first."""
        stored = files.list_paths(self.path / "suites", "*/suite.json")
        stored.sort(key=lambda path: -path.stat().st_mtime_ns)
        return [{"fingerprint": path.parent.name, **facts} for path in stored for facts in _readable(path.parent)]

    def rename_suite(self, fingerprint: str, name: str) -> None:
        """Give a stored suite another name, and keep the names that it had; runs keep the name that they were given."""
        path = self._folder("suites", fingerprint) / "suite.json"
        facts = input_facts(path.parent)
        if facts["name"] != name:
            stored = path.stat()
            files.write_json(path, facts | {"name": name, "names": [*facts.get("names", ()), facts["name"]]})
            os.utime(path, ns=(stored.st_atime_ns, stored.st_mtime_ns))  # suites are listed by when they were stored
            _load_suite.cache_clear()

    def complete(self, kind: str, fingerprint: str, media: bool = False) -> None:
        """Fetch what the local copy of a remote workspace lacks of a suite or outputs; `media`: with the images."""
        if (self.path / REMOTE).exists():
            from metrics.store.remote.local_copy import complete_inputs

            complete_inputs(self.path, kind, fingerprint, media)

    def _folder(self, kind: str, fingerprint: str) -> Path:
        self.complete(kind, fingerprint)
        folder = self.path / kind / fingerprint
        if not FINGERPRINT.fullmatch(fingerprint) or not folder.exists():
            why = "was a part of the workspace removed?"
            raise RunNotFound(f"the {kind} {fingerprint[:12]}… are not in {self.path}; {why}")
        return own_folder(self.path, kind, fingerprint)

    def _needed(self, kind: str, fingerprint: str) -> Path:
        """Return the file of the cases of a suite, or of the answers in outputs."""
        name = CASES if kind == "suites" else ANSWERS
        path = self.file(kind, fingerprint, name)
        if path is None:
            raise damaged(self._folder(kind, fingerprint), f"{name} is lost", lost=True)
        return path


def _ordered(table: pa.Table, outputs: Outputs, suite: Suite) -> pa.Table:
    """Return `table` sorted by model, case and repeat; rows equal in all three keep their order."""
    model = pc.index_in(table["model"], pa.array(outputs.models, pa.string())).to_numpy().astype(np.int64)
    position = pc.index_in(table["case_id"], suite.cases["case_id"].combine_chunks()).to_numpy()
    run = table["run"].to_numpy()
    key = (model * len(suite) + position) * (int(run.max(initial=0)) + 1) + run
    if (key[1:] >= key[:-1]).all():
        return table
    order = pa.array(np.argsort(key, kind="stable"))
    # in pieces: one take of more than 2 GiB of text overflows its offsets
    return pa.concat_tables(table.take(order.slice(start, PIECE)) for start in range(0, len(order), PIECE))


def _readable(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the facts of a stored suite, unless they are damaged: one must not hide the others."""
    with suppress(RunCorrupt):
        yield input_facts(folder)


@lru_cache(maxsize=1024)
def answers_digest(workspace: Path, fingerprint: str, model: str) -> str:
    """Return a digest of a model's outputs and predictions without its name; of all outputs where they have files."""
    found = StoredInputs(workspace).outputs(fingerprint, model)
    tables = [table for table in (found.outputs, found.predictions) if table is not None]
    filled = [
        table.select([name for name in table.column_names if name != "model" and table[name].null_count < len(table)])
        for table in tables
    ]
    return columns.fingerprint(*filled, *([fingerprint] if "artifacts" in filled[0].column_names else []))


@lru_cache(maxsize=8)
def _metadata(path: Path) -> tuple[pq.FileMetaData, list[str]]:
    """Return what a stored file says of its row groups, and the columns with a value in one of them.

    Of a million rows that takes longer to read than a slice of the rows.
    """
    found = pq.read_metadata(path)
    names = found.schema.to_arrow_schema().names  # a list is one column in the file, too
    groups = [found.row_group(group) for group in range(found.num_row_groups)]
    return found, [name for place, name in enumerate(names) if any(may_hold(group.column(place)) for group in groups)]


@lru_cache(maxsize=2)
def _positions(outputs: Path, cases: Path) -> pa.ChunkedArray:
    """Return the place in a suite of the case of each row of outputs, found once for all slices, model by model."""
    with opened(outputs, metadata=_metadata(outputs)[0]) as file:
        case_ids = file.read(columns=["case_id"])["case_id"]
    rows = [facts["rows"] for facts in input_facts(outputs.parent)["models"].values()]
    ends = np.cumsum(rows).tolist()
    annotations = cases.with_name(ANNOTATIONS)
    suite = _load_suite(cases, annotations if annotations.exists() else None)
    found = [places(suite, case_ids.slice(end - own, own)) for own, end in zip(rows, ends, strict=True)]
    return pa.chunked_array([chunk for one in found for chunk in one.chunks], pa.int32())


@lru_cache(maxsize=8)
def _load_suite(cases: Path, annotations: Path | None) -> Suite:
    """Return a stored suite; columns of cases without a value, which most suites have, are not read but made."""
    metadata, filled = _metadata(cases)
    own = conform(conformed(stored_rows(cases, filled), metadata.schema.to_arrow_schema()), columns.CASES)
    objects = None if annotations is None else conform(stored_rows(annotations), columns.ANNOTATIONS)
    return read_suite(cases.parent, own, objects)
