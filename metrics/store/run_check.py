"""Checking a sealed run: which of its files are as they were sealed, which differ, which are lost.

An archive is imported where the same check finds all of it whole.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Literal, NamedTuple

import pyarrow as pa

from metrics.core.arrow import opened
from metrics.core.errors import AssayError, RunCorrupt, RunError, storage_error
from metrics.core.registry import evaluators
from metrics.core.schema import TABLES
from metrics.core.suite import ANNOTATIONS, CASES, OUTPUTS, PREDICTIONS, conform
from metrics.store.input_seals import MEDIA, has_fingerprint, input_facts, is_sealed
from metrics.store.kept_facts import damaged_facts
from metrics.store.manifest import has_manifest, listing_facts
from metrics.store.own_files import INPUTS, REMOTE
from metrics.store.run import Run, Snapshot

Verdict = Literal["whole", "differs", "lost", "not sealed", "not here", "not believed"]
NEEDED = ("cases.parquet", "outputs.parquet")  # of every suite and of all outputs
BAD = ("differs", "lost")
SCHEMAS = dict(zip(INPUTS, (CASES, ANNOTATIONS, OUTPUTS, PREDICTIONS), strict=True))
MOST_TABLE_BYTES = 4 << 30  # of one table, unpacked
SEAL, SPECIFICATION, TABLE = "seal", "specification", "table "
ASKED = ("suite", "outputs", "seed", "evaluators")  # of the specification, which every manifest repeats


class Checked(NamedTuple):
    """One part of a run: `seal`, `specification`, `table NAME`, `suite/cases.parquet`, `suite/media` …

    verdict: `not sealed` was stored by an earlier version without a checksum; `not here` are images that an archive or
    a workspace at a URL left out; `not believed` was kept beside the run by another user, or changed: its numbers are
    computed again. why: in words, for all but the first.
    """

    name: str
    verdict: Verdict
    why: str = ""

    @property
    def table(self) -> str | None:
        """The name of the table that it is."""
        return self.name.removeprefix(TABLE) if self.name.startswith(TABLE) else None


def check(run: Run) -> list[Checked]:
    """Return every part of a finished run with its verdict. Raises RunError for an unfinished one."""
    try:
        manifest = run.manifest
    except RunCorrupt as failure:
        name = SPECIFICATION if has_manifest(run.folder) else SEAL
        return [Checked(name, _verdict(failure), str(failure))]
    if manifest is None:
        raise RunError(f"run {run.id} is {run.state}: only a finished run is sealed")
    specification = _specification(run)
    if specification.verdict in BAD:  # it names suite and outputs
        return [Checked(SEAL, "whole"), specification, *_tables(run)]
    checks = (_tables, _inputs, _contradictions, _media, _kept_facts)
    return [Checked(SEAL, "whole"), specification, *(found for check in checks for found in check(run))]


def can_be_made_again(found: list[Checked]) -> bool:
    """Return whether what is damaged can be computed from what is whole: tables can, and the seal of a new run."""
    return all(one.table is not None or one.name == SEAL for one in damaged(found))


def damaged(found: list[Checked]) -> list[Checked]:
    """Return the parts that differ or are lost."""
    return [one for one in found if one.verdict in BAD]


def verify(run: Run) -> None:
    """Compare every file that a run rests on with its seal. Raises RunCorrupt naming those that differ."""
    if bad := damaged(check(run)):
        words = (f"{one.name} {'is lost' if one.verdict == 'lost' else 'differs from its seal'}" for one in bad)
        raise run.corrupt(", ".join(words))


def _verdict(failure: RunCorrupt) -> Verdict:
    return "lost" if failure.lost else "differs"


def _specification(run: Run) -> Checked:
    try:
        spec, manifest = run.spec, run.manifest or {}
    except RunError as failure:
        return Checked(SPECIFICATION, "differs", str(failure))
    said = {**spec.stored, "suite": spec.suite.fingerprint, "outputs": spec.outputs.fingerprint}
    other = [name for name in ASKED if name in manifest and manifest[name] != said[name]]
    ids = {spec.id or run.home.name, *([] if isinstance(run, Snapshot) else [str(manifest.get("run", run.id))])}
    if ids != {run.home.name}:
        other.append(f"run: {', '.join(map(repr, sorted(ids)))}")
    if other:
        return Checked(SPECIFICATION, "differs", f"the seal says other {', '.join(other)}")
    for entry in spec.evaluators:
        known = evaluators().get(entry.id)
        try:
            _ = run.evaluator(entry.id) if known is not None and known.version == entry.version else None
        except (ValueError, TypeError, KeyError, AttributeError, AssayError) as failure:
            why = str(failure).partition("\n")[0]
            return Checked(SPECIFICATION, "differs", f"parameters of {entry.id} that it does not have ({why})")
    return Checked(SPECIFICATION, "whole")


def _tables(run: Run) -> Iterator[Checked]:
    tables = (run.manifest or {"tables": {}})["tables"]
    for name in (*tables, *({"scores", "aggregates"} - {*tables})):
        try:
            path = run.table_path(name)
            if path is None:
                raise run.corrupt(f"table {name} is lost: the seal has none", lost=True)
            if fault := _table_fault(path, TABLES.get(name), tables[name].get("rows")):
                raise run.corrupt(f"table {name} {fault}")
        except RunCorrupt as failure:
            yield Checked(TABLE + name, _verdict(failure), str(failure))
        else:
            yield Checked(TABLE + name, "whole")


def _table_fault(path: Path, schema: pa.Schema | None, rows: int | None, is_input: bool = False) -> str | None:
    """Return what is wrong with a table that has the bytes that were sealed; None where nothing is.

    rows: how many the seal states. All of it is decoded, so that whoever reads it later can.
    """
    try:
        with opened(path) as file:
            groups = [file.metadata.row_group(place) for place in range(file.num_row_groups)]
            size = sum(group.total_byte_size for group in groups)
            if size > MOST_TABLE_BYTES:
                return f"has {size:,} bytes unpacked, more than {MOST_TABLE_BYTES:,}"
            stored = file.schema_arrow
            if is_input and schema is not None:
                conform(file.read(), schema)
            held = sum(len(batch) for batch in file.iter_batches(65_536, columns=None))
            stated = {file.metadata.num_rows, sum(group.num_rows for group in groups), held if rows is None else rows}
    except (pa.ArrowException, OSError, ValueError, AssayError) as failure:
        if told := storage_error(failure, path, everywhere=True):
            raise told from failure
        return f"is unreadable: {str(failure)[:80]}"
    if stated != {held}:
        return f"has {held:,} rows; stated are {', '.join(f'{count:,}' for count in sorted(stated - {held}))}"
    for field in schema or ():
        if not is_input and field.name in stored.names and stored.field(field.name).type != field.type:
            return f"has the column {field.name} as {stored.field(field.name).type}, which is {field.type}"
    return None


def _contradictions(run: Run) -> Iterator[Checked]:
    """Yield the facts about suite and outputs that are not those of their tables."""
    spec = run.spec
    try:
        suite, outputs = input_facts(run.suite_folder), input_facts(run.outputs_folder)
        run.stored_input("suite/annotations.parquet")
        cases = opened(run.input_path("suite/cases.parquet")).metadata.num_rows
        with opened(run.input_path("outputs/outputs.parquet")) as file:
            rows = file.read(columns=["model", "run"]).to_pylist()
    except (RunError, OSError, ValueError, pa.ArrowException):  # told with its tables
        return
    if {suite["cases"], spec.suite.cases} != {cases} or suite["task"] != spec.suite.task:
        words = f"{suite['cases']:,} and {spec.suite.cases:,} cases, {suite['task']} and {spec.suite.task}"
        yield Checked("suite/suite.json", "differs", f"it and the specification state {words}; there are {cases:,}")
    elif is_sealed(run.suite_folder) and not has_fingerprint(run.suite_folder):
        yield Checked("suite/suite.json", "differs", "other cases than those of the fingerprint that names the suite")
    models: dict[str, list[int]] = {}
    for row in rows:
        models.setdefault(row["model"], []).append(row["run"])
    stated = {model: (facts["rows"], [*facts["runs"]]) for model, facts in outputs["models"].items()}
    held = {model: (len(runs), sorted({*runs})) for model, runs in models.items()}
    if [*stated.items()] != [*held.items()] or [*held] != [*spec.outputs.models]:
        yield Checked("outputs/outputs.json", "differs", "it states other models, rows or repeats than its table has")
    elif spec.outputs.rows not in (0, len(rows)):
        why = f"it states {spec.outputs.rows:,} rows of outputs; there are {len(rows):,}"
        yield Checked(SPECIFICATION, "differs", why)


def _inputs(run: Run) -> Iterator[Checked]:
    for name in INPUTS:
        kind, _, file = name.partition("/")
        folder = run.suite_folder if kind == "suite" else run.outputs_folder
        if not folder.exists():
            if file in NEEDED:
                yield Checked(name, "lost", f"run {run.id} is damaged: there is no {folder}; restore it from a backup")
            continue
        try:
            path = run.stored_input(name)
            sealed = file in input_facts(folder).get("files", {}) or name in (run.manifest or {}).get("inputs", {})
        except RunCorrupt as failure:
            yield Checked(name, _verdict(failure), str(failure))
            continue
        if path is None:
            continue
        if fault := _table_fault(path, SCHEMAS[name], None, is_input=True):
            yield Checked(name, "differs", f"run {run.id} is damaged: {name} {fault}; restore it from a backup")
        elif sealed or has_fingerprint(folder):
            yield Checked(name, "whole")
        elif kind == "suite":
            why = "the suite's content has another fingerprint than the one that it is named by"
            yield Checked(name, "differs", why)
        else:
            yield Checked(name, "not sealed", "stored by an earlier version, which kept no checksum")


def _media(run: Run) -> Iterator[Checked]:
    for kind, folder in (("suites", run.suite_folder), ("outputs", run.outputs_folder)):
        name = f"{'suite' if kind == 'suites' else kind}/{MEDIA[kind]}"
        try:
            said = input_facts(folder).get("media") if folder.exists() else None
        except RunCorrupt:  # told with its tables
            continue
        if said is not None and (run.workspace.path / REMOTE).exists():
            yield Checked(name, "not here", "a workspace at a URL has them, and gives them when they are shown")
        elif said is not None:
            yield _listed(name, folder / MEDIA[kind], said)


def _kept_facts(run: Run) -> Iterator[Checked]:
    for path in damaged_facts(run):
        yield Checked(f"kept/{path.name}", "not believed", "not written by this user, or changed: it is computed again")


def _listed(name: str, folder: Path, said: dict[str, object]) -> Checked:
    if not folder.exists():
        return Checked(name, "not here", f"{said['files']:,} files, which an archive can leave out")
    found = listing_facts(folder)
    if found == said:
        return Checked(name, "whole")
    why = f"{found['files']:,} files of {found['bytes']:,} bytes; sealed were {said['files']:,} of {said['bytes']:,}"
    return Checked(name, "lost" if found["files"] < said["files"] else "differs", why)
