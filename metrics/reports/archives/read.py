"""Opening the archive of a run in a workspace: everything is checked before anything is kept."""

import errno
import hashlib
import shutil
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import BaseModel, TypeAdapter, ValidationError

from metrics.core.classes import classes_of
from metrics.core.errors import AssayError, InputError, InputProblem, storage_error, stored_at
from metrics.core.files import json_of, make_file, make_folder, move_folder, read_json, sync_folder
from metrics.core.schema import SCHEMA_VERSION, TABLES
from metrics.core.suite import ANNOTATIONS, CASES, OUTPUTS, PREDICTIONS, Suite, conform
from metrics.ingest.media.archive import UNREADABLE, Entry, open_entries
from metrics.judge.cache import Cache
from metrics.judge.open_judges import FOLDER
from metrics.reports.archives import layout
from metrics.store import Run, Workspace
from metrics.store.input_seals import contradictions, is_sealed
from metrics.store.own_files import MEDIA
from metrics.store.run_spec import RunSpec
from metrics.store.stored_inputs import TARGETS
from metrics.store.workspace import OPENED, RUN_ID

MOST_TABLE_BYTES = 4 << 30  # of one table, unpacked
CHUNK = 1 << 20
UNFIT = (ValueError, KeyError, TypeError, AttributeError)  # what JSON of another shape raises
NEEDED = (
    "run/spec.json", "run/manifest.json", "run/tables/scores.parquet", "run/tables/aggregates.parquet",
    "suite/suite.json", "suite/cases.parquet", "outputs/outputs.json", "outputs/outputs.parquet",
)  # fmt: skip
INPUTS = {
    "suite/cases.parquet": CASES, "suite/annotations.parquet": ANNOTATIONS, "outputs/outputs.parquet": OUTPUTS,
    "outputs/predictions.parquet": PREDICTIONS,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Imported:
    """The run of an archive in this workspace; `added`: it was not there before; `replies`: how many were added."""

    run: Run
    added: bool
    replies: int = 0


class _File(BaseModel):
    bytes: int
    sha256: str


class _Contents(BaseModel):
    format: str
    version: int
    run: str
    suite: str
    outputs: str
    files: dict[str, _File]


class _Answers(BaseModel):
    rows: int
    runs: list[int]


class _OutputsFacts(BaseModel):
    models: dict[str, _Answers]
    left_out: int


_Targets = TypeAdapter(dict[str, dict[str, Any]])


class _Table(BaseModel):
    file: str
    rows: int
    sha256: str


class _Seal(BaseModel):
    tables: dict[str, _Table]


def read_archive(file: Path, workspace: Workspace, name: str | None = None, replies: bool = False) -> Imported:
    """Open an archive in `workspace` and return its run, which keeps its id; opening it again changes nothing.

    name: of the file in messages. replies: add the judge's replies to the workspace's cache, for those who trust where
    the archive comes from. InputError listing everything that is damaged, missing, foreign or too large; then nothing
    is kept.
    """
    shown = name or file.name
    with stored_at(make_folder(workspace.path)):
        staged = Path(mkdtemp(prefix=OPENED, dir=workspace.path))
    try:
        contents = _unpacked(file, shown, staged)
        problems = list(_problems(staged, contents))
        if problems:
            raise InputError([InputProblem(f"{shown}: {part}", found, expected) for part, found, expected in problems])
        sync_folder(staged)
        return _kept(staged, contents, workspace, shown, replies)
    finally:
        shutil.rmtree(staged, ignore_errors=True)


def _unpacked(file: Path, shown: str, staged: Path) -> _Contents:
    """Write the archive's files below `staged`, each compared with the list of them."""
    problems: list[InputProblem] = []
    try:
        with open_entries(file, shown, problems) as entries:
            if problems:
                raise InputError(problems)
            by_name = {entry.name: entry for entry in entries}
            contents = _contents(by_name, shown)
            listed = contents.files
            names = sorted((by_name.keys() | listed.keys()) - {layout.MANIFEST})
            written = ((name, _written(name, by_name.get(name), listed.get(name), staged)) for name in names)
            problems += [InputProblem(f"{shown}: {name}", *wrong) for name, wrong in written if wrong]
    except UNREADABLE as failure:
        if told := storage_error(failure, file, everywhere=True):
            raise told from failure
        raise InputError([InputProblem(shown, str(failure) or type(failure).__name__, "a run archive (zip)")]) from None
    problems += [InputProblem(shown, f"no {name}", "a whole archive") for name in NEEDED if name not in listed]
    if problems:
        raise InputError(problems)
    return contents


def _contents(entries: dict[str, Entry], shown: str) -> _Contents:
    if layout.MANIFEST not in entries:
        raise InputError([InputProblem(shown, f"no {layout.MANIFEST}", "an archive that Assay made of a run")])
    try:
        contents = _Contents.model_validate_json(entries[layout.MANIFEST].read())
    except ValidationError as failure:
        found = f"{failure.error_count()} invalid fields"
        raise InputError([InputProblem(f"{shown}: {layout.MANIFEST}", found, "the list of an archive")]) from None
    if contents.format != layout.FORMAT or contents.version > layout.VERSION:
        found = f"{contents.format!r}, version {contents.version}"
        expected = f"{layout.FORMAT!r}, version {layout.VERSION} or earlier"
        raise InputError([InputProblem(f"{shown}: {layout.MANIFEST}", found, expected)])
    return contents


def _written(name: str, entry: Entry | None, listed: _File | None, staged: Path) -> tuple[str, str] | None:
    """Write one entry; return what was found and expected if it is not the listed file."""
    if entry is None:
        return "nothing", "the file that manifest.json lists"
    if listed is None:
        return "a file that manifest.json does not list", "only listed files"
    if not layout.NAMES.fullmatch(name):
        return "a name that no archive has", "the files of a run archive"
    if entry.size != listed.bytes:
        return f"{entry.size:,} bytes", f"{listed.bytes:,} bytes"
    target = staged / name
    make_folder(target.parent)
    digest = hashlib.sha256()
    try:
        with entry.open() as source, stored_at(target), make_file(target).open("wb") as copy:
            while chunk := source.read(CHUNK):
                digest.update(chunk)
                copy.write(chunk)
    except UNREADABLE as failure:
        return f"unreadable: {failure}", "an intact file"
    if digest.hexdigest() != listed.sha256:
        return f"sha256 {digest.hexdigest()[:12]}…", f"sha256 {listed.sha256[:12]}…: the file was changed"
    return None


def _problems(staged: Path, contents: _Contents) -> Iterator[tuple[str, str, str]]:
    """Yield file, found and expected for everything in the unpacked archive that is no sealed run."""
    try:
        raw = json_of((staged / "run/spec.json").read_bytes())
        spec = RunSpec.model_validate({**raw, "stored": raw})
        seal = _Seal.model_validate_json((staged / "run/manifest.json").read_bytes())
    except UNFIT:
        yield "run/", "a specification or a seal that is none", "spec.json and manifest.json of a sealed run"
        return
    if spec.schema_version > SCHEMA_VERSION:
        yield "run/spec.json", f"schema {spec.schema_version}", f"at most {SCHEMA_VERSION}: update this Assay"
        return
    ids = (spec.id, spec.suite.fingerprint, spec.outputs.fingerprint)
    if ids != (contents.run, contents.suite, contents.outputs) or not RUN_ID.fullmatch(spec.id):
        yield "run/spec.json", f"the run {spec.id!r}", "the run, suite and outputs of manifest.json"
    files = {f"run/{one.file}": one for one in seal.tables.values()}
    there = {name for name in contents.files if name.startswith("run/tables/")}
    for name in sorted(files.keys() ^ there):
        yield name, "a table on one side only", "the same tables in the archive and in the run's manifest"
    for name in sorted(files.keys() & there):
        if contents.files[name].sha256 != files[name].sha256:
            yield name, "another sha256 than in the run's manifest", "the table that was sealed"
    texts = {}
    for name in contents.files:
        if not name.endswith(".json"):
            continue
        try:
            texts[name] = (staged / name).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            yield name, "bytes that are no text", "JSON in UTF-8"
    try:
        digests = {name: one.sha256 for name, one in contents.files.items()}
        yield from ((name, f"it {fault}", "the run as it was sealed") for name, fault in contradictions(texts, digests))
    except UNFIT as failure:
        yield "run/manifest.json", str(failure), "the seal of a run"
    yield from _bad_tables(staged, seal)
    yield from _bad_suite(staged, contents)
    yield from _bad_outputs(staged, spec)


def _bad_tables(staged: Path, seal: _Seal) -> Iterator[tuple[str, str, str]]:
    schemas = {f"run/{one.file}": TABLES.get(name) for name, one in seal.tables.items()}
    for path in sorted(staged.rglob("*.parquet")):
        name = path.relative_to(staged).as_posix()
        try:
            with pq.ParquetFile(path) as file:
                size = sum(file.metadata.row_group(place).total_byte_size for place in range(file.num_row_groups))
                if size > MOST_TABLE_BYTES:
                    yield name, f"{size:,} bytes unpacked", f"at most {MOST_TABLE_BYTES:,}"
                    continue
                stored = file.schema_arrow
                if name in INPUTS:
                    conform(file.read(), INPUTS[name])
        except (pa.ArrowException, OSError, ValueError, AssayError) as failure:
            if told := storage_error(failure, path, everywhere=True):
                raise told from failure
            yield name, f"unreadable: {str(failure)[:80]}", "a Parquet table of Assay"
            continue
        for field in schemas.get(name) or ():
            if field.name in stored.names and stored.field(field.name).type != field.type:
                yield name, f"the column {field.name} as {stored.field(field.name).type}", str(field.type)


def _bad_suite(staged: Path, contents: _Contents) -> Iterator[tuple[str, str, str]]:
    try:
        facts = read_json(staged / "suite/suite.json")
        annotations = staged / "suite/annotations.parquet"
        cases = pq.read_table(staged / "suite/cases.parquet")
        suite = Suite(
            facts["name"], facts["task"], cases, pq.read_table(annotations) if annotations.exists() else None,
            tuple(facts["labels"]), None, facts["left_out"], tuple(facts["category_ids"]),
            tuple(facts.get("label_keys", ())), classes_of(facts.get("classes", {})),
        )  # fmt: skip
        same = suite.fingerprint == contents.suite
    except (*UNFIT, OSError, pa.ArrowException, AssayError) as failure:
        if told := storage_error(failure, staged, everywhere=True):
            raise told from failure
        yield "suite/", "a suite that cannot be read", "a suite of Assay"
        return
    if not same:
        yield "suite/", "other cases than those of the fingerprint", "the suite that was evaluated"
    for image in cases["image"].drop_null().to_pylist() if "image" in cases.column_names else ():
        if not isinstance(image, str) or not layout.NAMES.fullmatch(MEDIA + image):
            yield "suite/cases.parquet", f"the image name {image!r}", "the name of a file in suite/media"


def _bad_outputs(staged: Path, spec: RunSpec) -> Iterator[tuple[str, str, str]]:
    try:
        facts = _OutputsFacts.model_validate_json((staged / "outputs/outputs.json").read_bytes())
    except ValidationError:
        yield "outputs/outputs.json", "facts that are none", "models, their rows and repeats, and rows left out"
        return
    if (*facts.models,) != spec.outputs.models:
        yield "outputs/outputs.json", "other models than the run's", ", ".join(spec.outputs.models)
    targets = staged / "outputs" / TARGETS
    if not targets.exists():
        return
    try:
        _Targets.validate_json(targets.read_bytes())
    except ValidationError:
        yield f"outputs/{TARGETS}", "descriptions that are none", "a description for each model that was asked"


def _kept(staged: Path, contents: _Contents, workspace: Workspace, shown: str, replies: bool) -> Imported:
    """Move what was checked into the workspace, the run last."""
    run = workspace.path / "runs" / contents.run
    there = run.exists()
    if there and (run / "manifest.json").read_bytes() != (staged / "run/manifest.json").read_bytes():
        found = f"another run {contents.run} in this workspace"
        raise InputError([InputProblem(shown, found, "the same run, or none of that id")])
    for kind, fingerprint in (("suite", contents.suite), ("outputs", contents.outputs)):
        target = make_folder(workspace.path / (kind if kind.endswith("s") else f"{kind}s")) / fingerprint
        if not target.exists() and _moved(staged / kind, target):
            continue
        if not is_sealed(target):  # of an earlier version: the tables that the run was sealed with take their place
            for table in (staged / kind).glob("*.parquet"):
                table.replace(target / table.name)
        _add(staged / kind, target, f"{kind}.json")  # it has no images, or a killed process left it unfinished
    if not there:
        make_folder(run.parent)
        if not _moved(staged / "run", run):
            return _kept(staged, contents, workspace, shown, replies)  # which looks whether it is the same run
    taken = 0
    if replies and (staged / layout.REPLIES).exists():
        with closing(Cache(workspace.path / "cache" / FOLDER)) as cache:
            taken = cache.take(staged / layout.REPLIES)
    return Imported(workspace.run(contents.run), not there, taken)


def _moved(source: Path, target: Path) -> bool:
    """Move a folder to where there was none; return whether it did: another import may have been faster."""
    try:
        move_folder(source, target)
    except OSError as failure:
        if failure.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise
        return False
    return True


def _add(staged: Path, target: Path, seal: str) -> None:
    """Move the files that `target` lacks to it; the one that makes it count last."""
    names = [path.relative_to(staged) for path in sorted(staged.rglob("*")) if path.is_file()]
    lacking = [name for name in names if not (target / name).exists()]
    for name in sorted(lacking, key=lambda name: name.name == seal):
        if name.name == seal:
            sync_folder(target)
        with stored_at(target / name):
            (staged / name).replace(make_folder((target / name).parent) / name.name)
    sync_folder(target)
