"""The workspace: the folder with everything a user makes (suites, outputs, runs)."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from secrets import token_hex
from typing import Any

from metrics.core.did_you_mean import did_you_mean
from metrics.core.errors import RunNotFound
from metrics.core.files import make_folder, write_json
from metrics.core.schema import SCHEMA_VERSION
from metrics.store.run import Run
from metrics.store.run_bin import Bin
from metrics.store.snapshot import STAMPED, Snapshot
from metrics.store.stored_inputs import StoredInputs

RUN_ID = re.compile(r"[0-9]{8}-[0-9]{6}-[0-9a-f]{6}")


class Workspace(StoredInputs):
    """A folder of suites, outputs and runs; `path` defaults to $ASSAY_WORKSPACE, else ./workspace."""

    def run(self, run_id: str, finished: bool = False) -> Run:
        """Return the run of that id; `latest` is the newest, or the newest `finished` one. Raises RunNotFound.

        ID@STAMP is a snapshot of an unfinished run, see store.snapshot.
        """
        if run_id == "latest":
            runs = (run for run in self.runs() if not finished or run.state == "finished")
            newest = next(runs, None)
            if newest is None:
                raise RunNotFound(
                    f"there is no {'finished ' * finished}run in {self.path} yet; start one with `evaluate`"
                )
            return newest
        run_id, _, stamp = run_id.partition(STAMPED)
        folder = self.path / "runs" / run_id
        if not RUN_ID.fullmatch(run_id) or not (folder / "spec.json").exists():
            hint = did_you_mean(run_id, ["latest", *(run.id for run in self.runs())])
            raise RunNotFound(
                f"there is no run {run_id!r} in {self.path}; {f'{hint} ' * bool(hint)}`python -m metrics runs` lists "
                "those there are"
            )
        return Snapshot.of(Run(folder), stamp) if stamp else Run(folder)

    def runs(self) -> Sequence[Run]:
        """Return every run that can be read, the newest first."""
        found = [run for run in self._all() if run.damage is None]
        return sorted(found, key=lambda run: run.began, reverse=True)

    def damaged_runs(self) -> dict[str, str]:
        """Return why each run that cannot be read cannot, by id, the newest first."""
        found = {run.id: run.damage for run in self._all()}
        return {run_id: found[run_id] or "" for run_id in sorted(found, reverse=True) if found[run_id]}

    def delete_run(self, run_id: str) -> None:
        """Move a run to the bin, a damaged one too. Raises RunBusy while a process works on it, RunNotFound."""
        self.bin.put(self.run(run_id))

    @property
    def bin(self) -> Bin:
        """The deleted runs."""
        return Bin(self.path)

    def _all(self) -> list[Run]:
        folders = [entry for entry in (self.path / "runs").glob("*") if RUN_ID.fullmatch(entry.name)]
        return [Run(folder) for folder in folders if (folder / "spec.json").exists()]

    def create_run(self, spec: dict[str, Any]) -> Run:
        """Create a run folder with its specification, which engine.create makes, and return the run."""
        now = datetime.now(UTC)
        run_id = f"{now:%Y%m%d-%H%M%S}-{token_hex(3)}"
        folder = make_folder(self.path / "runs" / run_id)
        head = {"schema": SCHEMA_VERSION, "id": run_id, "created": now.isoformat(timespec="seconds")}
        write_json(folder / "spec.json", head | spec)
        return Run(folder)
