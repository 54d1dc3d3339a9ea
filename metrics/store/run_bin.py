"""The bin of a workspace: deleted runs, which can be restored until the bin is emptied."""

import shutil
from collections.abc import Sequence
from pathlib import Path

from metrics.core.errors import RunBusy, RunNotFound
from metrics.core.files import list_paths, make_folder, move_folder, read_json, stamp, write_json
from metrics.store.run import Run


class Bin:
    """The deleted runs of the workspace at `workspace`, and which bundled samples its user has deleted."""

    def __init__(self, workspace: Path):
        self.folder = workspace / "bin"
        self._runs = workspace / "runs"

    def ids(self) -> Sequence[str]:
        """Return the ids of the deleted runs, the last deleted first."""
        folders = [entry for entry in list_paths(self.folder, "*") if entry.is_dir()]
        return [entry.name for entry in sorted(folders, key=lambda entry: entry.stat().st_mtime_ns, reverse=True)]

    def runs(self) -> Sequence[Run]:
        """Return the deleted runs, the last deleted first."""
        return [Run(self.folder / run_id) for run_id in self.ids()]

    def put(self, run: Run) -> None:
        """Delete a run: move it here, as it is. Raises RunBusy while a process works on it."""
        if run.state in ("starting", "running"):
            raise RunBusy(f"run {run.id} is being worked on; cancel it before deleting it")
        make_folder(self.folder)
        with run.locked():  # nobody resumes it meanwhile
            self._note_sample(run, deleted=True)
            move_folder(run.home, self.folder / run.home.name)
            stamp(self.folder / run.home.name)  # the deletion

    def restore(self, run_id: str) -> Run:
        """Move a deleted run back. Raises RunNotFound where the bin has none of that id."""
        self._check(run_id)
        run = Run(make_folder(self._runs) / run_id)
        move_folder(self.folder / run_id, run.home)
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
        return tuple(read_json(self.folder / "samples.json") or ())

    def _note_sample(self, run: Run, deleted: bool) -> None:
        sample = None if run.damage else run.spec.sample
        if sample is not None:
            others = [name for name in self.samples() if name != sample]
            write_json(self.folder / "samples.json", [*others, sample] if deleted else others)

    def _check(self, run_id: str) -> None:
        if run_id not in self.ids():
            raise RunNotFound(f"there is no run {run_id!r} in the bin of {self.folder.parent}")
