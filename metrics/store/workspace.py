"""The workspace: the folder with all that a user makes, its bin, and what dead processes left behind."""

import os
import re
import shutil
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from metrics.core import files
from metrics.core.errors import InputError, InputProblem, RemoteError, RunBusy, RunNotFound, did_you_mean
from metrics.core.schema import SCHEMA_VERSION
from metrics.store.board import is_board
from metrics.store.manifest import FILE as MANIFEST
from metrics.store.origin import sign_file
from metrics.store.own_files import REMOTE, own_folder
from metrics.store.run import STAMPED, Run, Snapshot
from metrics.store.run_spec import FILE as SPEC, LAST_PLACE
from metrics.store.stored_inputs import StoredInputs

if TYPE_CHECKING:
    from metrics.store.remote.transfer import Listen

UNTOUCHED = 24 * 3600  # seconds; whoever still writes has written since, on this machine or another
DEEPEST = 4  # folders below the workspace that Assay writes in
OPENED = ".import-"  # how the folder of an archive that is being opened begins


def sweep(workspace: Path) -> int:
    """Remove the half-written files and half-opened archives in a workspace that nobody has written for a day.

    Whether their process still lives cannot be asked: it may be one of another machine that shares the disk, and the
    number of a dead process is given again. Files that are whole stay, also those of a pull that broke off, which the
    next one continues. Returns how many were removed.
    """
    removed = 0
    for path in list(_half_made(workspace, DEEPEST)):
        if time.time() - _touched(path) < UNTOUCHED:
            continue
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
        removed += 1
    return removed


def _half_made(folder: Path, deeper: int) -> Iterator[Path]:
    try:
        entries = list(os.scandir(folder))
    except OSError:  # removed meanwhile, or not ours to read
        return
    for entry in entries:
        is_folder = entry.is_dir(follow_symlinks=False)
        if is_folder and entry.name.startswith(OPENED):
            yield Path(entry.path)
        elif is_folder and deeper:
            yield from _half_made(Path(entry.path), deeper - 1)
        elif files.is_half_made(entry.name) and not is_folder:
            yield Path(entry.path)


def _touched(path: Path) -> float:
    """Return when a file, or the last of those in a folder, was written; now where it is just being removed."""
    try:
        return max(one.lstat().st_mtime for one in (path, *path.rglob("*")))
    except FileNotFoundError:
        return time.time()


class Bin:
    """The deleted runs of the workspace at `workspace`, and which bundled samples its user has deleted."""

    def __init__(self, workspace: Path):
        self.folder = workspace / "bin"
        self._runs = workspace / "runs"

    def ids(self) -> Sequence[str]:
        """Return the ids of the deleted runs, the last deleted first."""
        folders = [entry for entry in files.list_paths(self.folder, "*") if entry.is_dir()]
        return [entry.name for entry in sorted(folders, key=lambda entry: entry.stat().st_mtime_ns, reverse=True)]

    def runs(self) -> Sequence[Run]:
        """Return the deleted runs, the last deleted first."""
        return [Run(self.folder / run_id) for run_id in self.ids()]

    def put(self, run: Run) -> None:
        """Delete a run: move it here, as it is. Raises RunBusy while a process works on it."""
        if run.state in ("starting", "running"):
            raise RunBusy(f"run {run.id} is being worked on; cancel it before deleting it")
        files.make_folder(self.folder)
        with run.locked():  # nobody resumes it meanwhile
            self._note_sample(run, deleted=True)
            files.move_folder(run.home, self.folder / run.home.name)
            files.stamp(self.folder / run.home.name)  # the deletion

    def restore(self, run_id: str) -> Run:
        """Move a deleted run back. Raises RunNotFound where the bin has none of that id."""
        self._check(run_id)
        run = Run(files.make_folder(self._runs) / run_id)
        files.move_folder(self.folder / run_id, run.home)
        self._note_sample(run, deleted=False)
        return run

    def empty(self, run_ids: Sequence[str] | None = None) -> int:
        """Remove these deleted runs, or all, for good; return how many. Suites and outputs stay."""
        gone = list(self.ids() if run_ids is None else run_ids)
        for run_id in gone:
            self._check(run_id)
        for run_id in gone:
            shutil.rmtree(self.folder / run_id)
        return len(gone)

    def samples(self) -> Sequence[str]:
        """Return the bundled samples whose run was deleted: they are not computed again."""
        return tuple(files.read_json(self.folder / "samples.json") or ())

    def _note_sample(self, run: Run, deleted: bool) -> None:
        sample = None if run.damage else run.spec.sample
        if sample is not None:
            others = [name for name in self.samples() if name != sample]
            files.write_json(self.folder / "samples.json", [*others, sample] if deleted else others)

    def _check(self, run_id: str) -> None:
        if run_id not in self.ids():
            raise RunNotFound(f"there is no run {run_id!r} in the bin of {self.folder.parent}")


RUN_ID = re.compile(r"[0-9]{8}-[0-9]{6}-[0-9a-f]{6}")


class Workspace(StoredInputs):
    """A folder of suites, outputs and runs, or the URL of one; `path` defaults to $ASSAY_WORKSPACE, else ./workspace.

    Of one at a URL the runs there are listed, and their files fetched when they are first read; what is made in it
    stays on this machine until it is pushed.
    """

    def run(self, run_id: str, finished: bool = False) -> Run:
        """Return the run of that id; `latest` is the newest, or the newest `finished` one. Raises RunNotFound.

        ID@STAMP is a snapshot of an unfinished run, see store.snapshot.
        """
        if run_id == "latest":
            runs = (run for run in self.runs() if not finished or run.state == "finished")
            newest = next(runs, None)
            if newest is None:
                raise RunNotFound(
                    f"there is no {'finished ' * finished}run in {self.place} yet; start one with `evaluate`"
                )
            return newest
        if is_board(run_id):
            raise RunNotFound(f"{run_id} is a board, joined from runs, and only read: name one of its runs here")
        run_id, _, stamp = run_id.partition(STAMPED)
        folder = self.path / "runs" / run_id
        if not RUN_ID.fullmatch(run_id) or not (_is_run(folder) or self._listed(run_id)):
            hint = did_you_mean(run_id, ["latest", *(run.id for run in self.runs())])
            raise RunNotFound(
                f"there is no run {run_id!r} in {self.place}; {f'{hint} ' * bool(hint)}`python -m metrics runs` lists "
                "those there are"
            )
        own_folder(self.path, "runs", run_id)
        return Snapshot.of(Run(folder), stamp) if stamp else Run(folder)

    def runs(self) -> Sequence[Run]:
        """Return every run that can be opened, the newest first; the others are damaged_runs."""
        found = [run for run in self._all() if run.damage is None]
        return sorted(found, key=lambda run: run.began, reverse=True)

    def finished_runs(self, suite: str | None = None) -> tuple[Run, ...]:
        """Return the runs that are finished, all of them or those of a suite, by its fingerprint, the newest first."""
        finished = (run for run in self.runs() if run.is_sealed)
        return tuple(run for run in finished if suite in (None, run.spec.suite.fingerprint))

    def damaged_runs(self) -> dict[str, str]:
        """Return why each run that cannot be opened cannot, by id, the newest first; see Run.damage."""
        found = {run.id: run.damage for run in self._all()} | self._list_remote()
        return {run_id: found[run_id] or "" for run_id in sorted(found, reverse=True) if found[run_id]}

    def delete_run(self, run_id: str) -> None:
        """Move a run to the bin, a damaged one too. Raises RunBusy while a process works on it, RunNotFound."""
        self.bin.put(self.run(run_id))

    @property
    def bin(self) -> Bin:
        """The deleted runs."""
        return Bin(self.path)

    @property
    def url(self) -> str | None:
        """The URL of a workspace that is not on this machine."""
        if not (self.path / REMOTE).exists():
            return None
        from metrics.store.remote.local_copy import remote_url

        return remote_url(self.path)

    @property
    def place(self) -> str | Path:
        """Where the workspace is, for messages: its URL or its folder."""
        return self.url or self.path

    def push(self, run: Run | str, url: str | None = None, listen: "Listen | None" = None) -> bool:
        """Send a finished run to a URL, or to that of this workspace; see store.remote.push.push."""
        from metrics.store.remote.push import push

        place = url or self.url
        if place is None:
            raise InputError([InputProblem("push", "no URL", "a URL such as s3://bucket/folder")])
        return push(self.run(run, finished=True) if isinstance(run, str) else run, place, listen)

    def pull(self, url: str, *run_ids: str, listen: "Listen | None" = None) -> Sequence[str]:
        """Fetch runs, or all, from a URL; return the ids of the new ones; see store.remote.transfer.pull."""
        from metrics.store.remote.transfer import pull

        return pull(self.path, url, run_ids, listen)

    def _listed(self, run_id: str) -> bool:
        """Return whether a remote workspace has a run that is not known here. RemoteError where that cannot be said."""
        wrong = self._list_remote(refresh=True)
        if why := wrong.get(run_id) or wrong.get(str(self.url)):
            raise RemoteError(why)
        return (self.path / "runs" / run_id / "spec.json").exists()

    def _list_remote(self, refresh: bool = False) -> dict[str, str]:
        """Update the list of runs of a remote workspace; return the errors by run, or by its URL."""
        if not (self.path / REMOTE).exists():
            return {}
        from metrics.store.remote.local_copy import list_runs

        return list_runs(self.path, refresh)

    def _all(self) -> list[Run]:
        self._list_remote()
        folders = [entry for entry in files.list_paths(self.path / "runs", "*") if RUN_ID.fullmatch(entry.name)]
        return [Run(folder) for folder in folders if _is_run(folder)]

    def create_run(self, spec: dict[str, Any]) -> Run:
        """Create a run folder with its specification, which engine.create makes, and return the run, as one made here.

        `spec` is what somebody asks for now; of a stored run it comes from `engine.repeat`, which checks where that is
        from. What dead processes left behind is swept away before: see store.leftovers.
        """
        sweep(self.path)
        now = datetime.now(UTC)
        run_id = f"{now:%Y%m%d-%H%M%S}-{token_hex(3)}"
        folder = files.make_folder(own_folder(self.path, "runs", run_id))
        place = max([time.time_ns(), *(run.place + 1 for run in self._all())])  # a clock that goes back changes nothing
        head = {
            "schema": SCHEMA_VERSION, "id": run_id, "created": now.isoformat(timespec="seconds"),
            "place": min(place, LAST_PLACE),
        }  # fmt: skip
        text = files.json_text(head | spec)
        sign_file(folder / SPEC, text.encode())  # before: a run that a kill leaves here is known as made here
        files.write_text(folder / SPEC, text)
        return Run(folder)


def _is_run(folder: Path) -> bool:
    """Return whether a folder is that of a run, a damaged one too; not one that is only being fetched or made."""
    try:
        return bool({SPEC, MANIFEST, "parts"} & {*os.listdir(folder)})
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:  # it cannot be looked into
        return True
