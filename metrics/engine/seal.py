"""Sealing a run: its parts become the final tables, then the manifest is written, and nothing changes after that."""

import platform
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from metrics.core.evaluator import MISSING
from metrics.core.files import sha256_of, write_table, written_whole
from metrics.core.registry import choose
from metrics.core.rounding import exact_sum
from metrics.core.schema import AGGREGATES, JUDGEMENTS, REPLICATES, SCHEMA_VERSION, SCORES
from metrics.core.source_version import library_versions
from metrics.engine.aggregate import Slices, aggregate_cases
from metrics.engine.identities import identities
from metrics.engine.parts import Parts
from metrics.engine.plan import SLICED_TAGS, Unit
from metrics.store import Run
from metrics.store.manifest import FILE as MANIFEST, digest_of, file_facts, write_manifest
from metrics.store.origin import sign_file
from metrics.store.own_files import INPUTS
from metrics.store.run_notes import FILE as ABOUT

ROWS = 65_536  # of a row group: small enough to skip most of a table, large enough to read fast
RESAMPLED_ROWS = 256  # of a row group, a list of replicates each
AGGREGATED = pa.schema([SCORES.field(name) for name in ("position", "model", "metric", "value", "status", "reason")])


def seal(run: Run, units: list[Unit], parts: Parts, seconds: float) -> None:
    """Write the tables and then the manifest; after an interruption it is done again from the parts."""
    tables = write_tables(run, units, parts, run.folder)
    for folder in (run.folder, run.folder / "tables"):  # what killed processes left; the run is held by this one
        for path in folder.glob(".*.part"):
            if not path.name.startswith(f".{ABOUT}."):  # which people may be writing now
                path.unlink(missing_ok=True)
    reused: Counter[str] = Counter()
    for unit in units:
        reused.update(parts.reused(unit.name))
    write_manifest(run.folder, _manifest(run, units, tables, seconds) | ({"reused": dict(reused)} if reused else {}))
    sign_file(run.folder / MANIFEST)  # these numbers were made here: see engine.reuse


def write_tables(run: Run, units: Sequence[Unit], parts: Parts, home: Path) -> dict[str, Path]:
    """Write the tables of these stored units of a run to `home`/tables; return the file of each by name."""
    folder = home / "tables"
    tables = {"scores": _write_rows(folder / "scores.parquet", SCORES, parts.read(units, "scores"))}
    if run.spend is not None:
        path = folder / "judgements.parquet"
        tables["judgements"] = _write_rows(path, JUDGEMENTS, _paid_once(parts.read(units, "judgements")))
    for kind in ("curves", "matches"):
        for name in run.evaluators:
            pieces = list(parts.read([unit for unit in units if unit.evaluator == name], f"{kind}/{name}"))
            if pieces:
                tables[f"{kind}/{name}"] = folder / f"{kind}.{name}.parquet"
                write_table(tables[f"{kind}/{name}"], pa.concat_tables(pieces, promote_options="permissive"), ROWS)
    replicates = _replicates(units, parts)
    if replicates.num_rows:
        tables["replicates"] = folder / "replicates.parquet"
        write_table(tables["replicates"], replicates, RESAMPLED_ROWS)
    aggregates = pa.concat_tables([AGGREGATES.empty_table(), *_aggregates(run, units, parts)])
    write_table(folder / "aggregates.parquet", aggregates)
    tables["aggregates"] = folder / "aggregates.parquet"
    return tables


def _write_rows(path: Path, schema: pa.Schema, pieces: Iterator[pa.Table]) -> Path:
    """Write the pieces one after the other, never all in memory, in row groups of about ROWS; return the path."""
    options: dict[str, Any] = {"compression": "zstd", "write_page_checksum": True}
    with written_whole(path) as beside, pq.ParquetWriter(beside, schema, **options) as writer:
        for gathered in _gathered(pieces, schema):
            writer.write_table(gathered, row_group_size=ROWS)
    return path


def _gathered(pieces: Iterator[pa.Table], schema: pa.Schema) -> Iterator[pa.Table]:
    """Yield the pieces joined to tables of at least ROWS rows, and what is left at the end, which may be none."""
    waiting: list[pa.Table] = []
    for piece in pieces:
        waiting.append(piece)
        if sum(table.num_rows for table in waiting) >= ROWS:
            yield pa.concat_tables(waiting)
            waiting = []
    yield pa.concat_tables([schema.empty_table(), *waiting])


def _paid_once(judgements: Iterator[pa.Table]) -> Iterator[pa.Table]:
    """Yield the judgements, where several scores rest on a reply all but the first as answered for another one."""
    seen: set[str] = set()
    for table in judgements:
        cached = table["cached"].to_pylist()
        for place, (key, reply) in enumerate(zip(table["key"].to_pylist(), table["reply"].to_pylist(), strict=True)):
            cached[place] = cached[place] or key in seen
            if reply is not None:
                seen.add(key)
        place = table.schema.get_field_index("cached")
        yield table.set_column(place, table.schema.field(place), pa.array(cached, pa.bool_()))


def _aggregates(run: Run, units: Sequence[Unit], parts: Parts) -> Iterator[pa.Table]:
    tags = run.case_tags[:SLICED_TAGS]
    slices: Slices = {None: run.sampling_design()} | {f"tag={tag}": run.sampling_design(tag) for tag in tags}
    for name, (entry, _) in choose(list(run.evaluators), run.evaluators).items():
        own = [unit for unit in units if unit.evaluator == name]
        if not own:  # a snapshot, in which the evaluator has not begun
            continue
        if entry.shape == "dataset":
            yield _over_repeats(pa.concat_tables(parts.read(own, "aggregates")))
            continue
        scores = _gathered(parts.read(own, "scores", AGGREGATED.names), AGGREGATED)
        yield aggregate_cases(entry, scores, run.models, slices, run.spec.seed)


def _replicates(units: Sequence[Unit], parts: Parts) -> pa.Table:
    """Return the replicates, sorted by slice; of repeats their means, and nothing where a repeat lacks the number."""
    repeats: dict[tuple[str, str, str | None], list[Unit]] = {}
    for unit in units:
        repeats.setdefault((unit.evaluator, unit.model, unit.tag), []).append(unit)
    found = [REPLICATES.empty_table()]
    for same in repeats.values():
        read = [list(parts.read([unit], "replicates")) for unit in same]
        tables = [pa.concat_tables(pieces) for pieces in read if pieces]
        if len(same) == 1:
            found += tables
        elif len(tables) == len(same):
            found.append(pa.Table.from_pylist(list(_mean_replicates(tables)), schema=REPLICATES))
    return pa.concat_tables(found).sort_by("slice")


def _mean_replicates(tables: Sequence[pa.Table]) -> Iterator[dict[str, Any]]:
    pooled: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in (row for table in tables for row in table.to_pylist()):
        pooled.setdefault((row["metric"], row["columns"]), []).append(row)
    for same in pooled.values():
        if len(same) == len(tables):
            mean = {name: np.mean([row[name] for row in same], axis=0) for name in ("value", "replicates")}
            yield same[-1] | mean


def _over_repeats(aggregates: pa.Table) -> pa.Table:
    """Return the aggregates of a data-set evaluator: of one repeat unchanged, of several with their mean added."""
    rows = aggregates.to_pylist()
    repeats = {model: {row["run"] for row in rows if row["model"] == model} for model in {row["model"] for row in rows}}
    pooled: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in rows:
        if len(repeats[row["model"]]) == 1:
            row["run"] = None
        else:
            key = tuple(row[name] for name in ("model", "evaluator", "metric", "label", "slice", "columns"))
            pooled.setdefault(key, []).append(row)
    return pa.Table.from_pylist(rows + [_pool(same) for same in pooled.values()], schema=AGGREGATES)


def _pool(same: list[dict[str, Any]]) -> dict[str, Any]:
    values = [row["value"] for row in same if row["value"] is not None]
    fields = ("n", "unscored", "not_applicable", "parse_failure", "error", "skipped")
    counts = {name: sum(row[name] for row in same) for name in fields}
    mean = exact_sum(values) / len(values) if values else None
    reason = f"mean of {len(values)} repeats" if values else same[0]["reason"]
    bounds = {name: _pool_bound(same, name) for name in ("if_worst", "if_best")}
    without = dict.fromkeys(("run", "low", "high", "interval"))
    return same[0] | counts | bounds | without | {"value": mean, "reason": reason}


def _pool_bound(same: list[dict[str, Any]], name: str) -> float | None:
    """Return the mean over repeats of a bound, of the value where no case is missing; None where one has none."""
    if all(row[name] is None for row in same):
        return None
    missing = [any(row[status.value] for status in MISSING) for row in same]
    ends = [row[name] if lacks else row["value"] for row, lacks in zip(same, missing, strict=True)]
    return None if None in ends else exact_sum(ends) / len(ends)


def table_facts(tables: Mapping[str, Path], home: Path) -> dict[str, dict[str, Any]]:
    """Return what a manifest in `home` says of each table: file, rows, sha256."""
    return {
        name: {"file": str(path.relative_to(home)), "rows": pq.read_metadata(path).num_rows, "sha256": sha256_of(path)}
        for name, path in tables.items()
    }


def _manifest(run: Run, units: list[Unit], tables: dict[str, Path], seconds: float) -> dict[str, Any]:
    spec = run.spec
    spend = run.spend
    return {
        "schema": SCHEMA_VERSION,
        "run": run.id,
        "sealed": datetime.now(UTC).isoformat(timespec="seconds"),
        "seconds": round(seconds, 3),
        "units": len(units),
        "suite": spec.suite.fingerprint,
        "outputs": spec.outputs.fingerprint,
        "seed": spec.seed,
        "evaluators": spec.stored["evaluators"],
        "identities": identities(run.evaluators, spec.resources, (spec.suite.fingerprint, spec.outputs.fingerprint)),
        **({} if spend is None else {"judge": spend}),
        "spec": digest_of(run.folder / "spec.json"),
        "inputs": {name: file_facts(path) for name in INPUTS if (path := run.stored_input(name)) is not None},
        "tables": table_facts(tables, run.folder),
        "versions": {"python": platform.python_version(), **library_versions()},
    }
