"""Opening the archive of a run in a workspace: everything is checked before anything is kept."""

import errno
import hashlib
import re
import shutil
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from metrics.core.errors import InputError, InputProblem, storage_error, stored_at
from metrics.core.files import make_file, make_folder, move_folder, sync_folder
from metrics.ingest.media.archive import UNREADABLE, Entry, open_entries
from metrics.judge.cache import Cache
from metrics.judge.open_judges import FOLDER
from metrics.judge.settings import settings_of
from metrics.reports.archives import layout
from metrics.store import Run, Workspace
from metrics.store.input_seals import FACTS, is_sealed
from metrics.store.own_files import MEDIA
from metrics.store.run_check import SEAL, SPECIFICATION, Checked, check, damaged
from metrics.store.stored_facts import Count, Digest, FileFacts, plain_of
from metrics.store.stored_inputs import TARGETS
from metrics.store.workspace import OPENED, RUN_ID

CHUNK = 1 << 20
WHOSE = r"run [0-9a-f-]+ is damaged: |of the stored (?:suite|outputs) [0-9a-f]+… "  # in what is said of a stored run
NEEDED = (
    "run/spec.json", "run/manifest.json", "run/tables/scores.parquet", "run/tables/aggregates.parquet",
    "suite/suite.json", "suite/cases.parquet", "outputs/outputs.json", "outputs/outputs.parquet",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Imported:
    """The run of an archive in this workspace; `added`: it was not there before; `replies`: how many were added."""

    run: Run
    added: bool
    replies: int = 0


class _Contents(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")
    format: str
    version: Count
    run: Annotated[str, Field(pattern=f"^{RUN_ID.pattern}$")]
    suite: Digest
    outputs: Digest
    files: dict[str, FileFacts]


_Targets = TypeAdapter(dict[str, dict[str, Any]])


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
        if problems := list(_problems(staged, contents)):
            raise InputError([InputProblem(f"{shown}: {part}", found, expected) for part, found, expected in problems])
        sync_folder(staged)
        return _kept(staged, contents, workspace, shown, replies)
    finally:
        shutil.rmtree(staged, ignore_errors=True)


def import_archive(file: Path, workspace: Path, name: str, replies: bool) -> tuple[str, str, bool]:
    """Return the id and name of the run that `read_archive` opens in that folder, and whether it was not there."""
    found = read_archive(file, Workspace(workspace), name, replies)
    return found.run.id, found.run.name, found.added


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
            written = (
                (name, _written(name, by_name.get(name), listed.get(name), _place(staged, contents, name)))
                for name in names
            )
            problems += [InputProblem(f"{shown}: {name}", *wrong) for name, wrong in written if wrong]
    except UNREADABLE as failure:
        if told := storage_error(failure, file, everywhere=True):
            raise told from failure
        raise InputError([InputProblem(shown, str(failure) or type(failure).__name__, "a run archive (zip)")]) from None
    problems += [InputProblem(shown, f"no {name}", "a whole archive") for name in NEEDED if name not in listed]
    if problems:
        raise InputError(problems)
    return contents


def _place(staged: Path, contents: _Contents, name: str) -> Path:
    """Return where an entry belongs below `staged`, which is laid out as a workspace."""
    kind, _, rest = name.partition("/")
    folders = {"run": f"runs/{contents.run}", "suite": f"suites/{contents.suite}"}
    return staged / (
        f"outputs/{contents.outputs}/{rest}"
        if kind == "outputs"
        else f"{folders[kind]}/{rest}"
        if kind in folders
        else name
    )


def _contents(entries: dict[str, Entry], shown: str) -> _Contents:
    if layout.MANIFEST not in entries:
        raise InputError([InputProblem(shown, f"no {layout.MANIFEST}", "an archive that Assay made of a run")])
    try:
        contents = _Contents.model_validate(plain_of(entries[layout.MANIFEST].read()))
    except ValueError as failure:
        found = f"{failure.error_count()} invalid fields" if isinstance(failure, ValidationError) else str(failure)
        raise InputError([InputProblem(f"{shown}: {layout.MANIFEST}", found, "the list of an archive")]) from None
    if contents.format != layout.FORMAT or contents.version > layout.VERSION:
        found = f"{contents.format!r}, version {contents.version}"
        expected = f"{layout.FORMAT!r}, version {layout.VERSION} or earlier"
        raise InputError([InputProblem(f"{shown}: {layout.MANIFEST}", found, expected)])
    return contents


def _written(name: str, entry: Entry | None, listed: FileFacts | None, target: Path) -> tuple[str, str] | None:
    """Write one entry to `target`; return what was found and expected if it is not the listed file."""
    if entry is None:
        return "nothing", "the file that manifest.json lists"
    if listed is None:
        return "a file that manifest.json does not list", "only listed files"
    if not layout.NAMES.fullmatch(name):
        return "a name that no archive has", "the files of a run archive"
    if entry.size != listed.bytes:
        return f"{entry.size:,} bytes", f"{listed.bytes:,} bytes"
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
    """Yield file, found and expected for everything in the unpacked archive that is no whole run."""
    run = Workspace(staged).run(contents.run)
    parts = check(run)
    for part in damaged(parts):
        yield _file_of(part), re.sub(WHOSE, "", part.why).partition("; restore it")[0], "the run as it was sealed"
    if damaged(parts):
        return
    spec, tables = run.spec, (run.manifest or {"tables": {}})["tables"]
    if (spec.suite.fingerprint, spec.outputs.fingerprint) != (contents.suite, contents.outputs):
        yield "run/spec.json", "other suite or outputs", "those of the archive's list"
    try:
        _ = settings_of(spec.judge) if spec.judge else None
    except InputError as failure:
        yield "run/spec.json", str(failure).partition("\n")[0], "the settings of a judge"
    sealed = {f"run/{one['file']}" for one in tables.values()}
    for name in sorted({name for name in contents.files if name.startswith("run/tables/")} - sealed):
        yield name, "a table that the run's seal does not list", "the tables that were sealed"
    for image in run.case_columns(["image"])["image"].drop_null().to_pylist():
        if not isinstance(image, str) or not layout.NAMES.fullmatch(MEDIA + image):
            yield "suite/cases.parquet", f"the image name {image!r}", "the name of a file in suite/media"
    targets = run.outputs_folder / TARGETS
    try:
        _Targets.validate_python(plain_of(targets.read_bytes()) if targets.exists() else {})
    except ValueError:
        yield f"outputs/{TARGETS}", "descriptions that are none", "a description for each model that was asked"


def _file_of(part: Checked) -> str:
    """Return the file of an archive that a part of the run is."""
    if part.table is not None:
        return f"run/tables/{part.table.replace('/', '.')}.parquet"
    return {SEAL: "run/manifest.json", SPECIFICATION: "run/spec.json"}.get(part.name, part.name)


def _kept(staged: Path, contents: _Contents, workspace: Workspace, shown: str, replies: bool) -> Imported:
    """Move what was checked into the workspace, the run last."""
    run = workspace.path / "runs" / contents.run
    there = run.exists()
    manifest = staged / "runs" / contents.run / "manifest.json"
    if there and (run / "manifest.json").read_bytes() != manifest.read_bytes():
        found = f"another run {contents.run} in this workspace"
        raise InputError([InputProblem(shown, found, "the same run, or none of that id")])
    for kind, fingerprint in (("suites", contents.suite), ("outputs", contents.outputs)):
        source, target = staged / kind / fingerprint, make_folder(workspace.path / kind) / fingerprint
        if not target.exists() and _moved(source, target):
            continue
        if not is_sealed(target):  # of an earlier version: the tables that the run was sealed with take their place
            for table in source.glob("*.parquet"):
                table.replace(target / table.name)
        _add(source, target, FACTS[kind])  # it has no images, or a killed process left it unfinished
    if not there:
        make_folder(run.parent)
        if not _moved(staged / "runs" / contents.run, run):
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
