"""The workspace: the folder with everything a user makes (suites, outputs, runs)."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from secrets import token_hex
from typing import Any

from metrics.core.errors import RunNotFound
from metrics.core.files import make_folder, write_json
from metrics.core.schema import SCHEMA_VERSION
from metrics.store.run import Run
from metrics.store.stored_inputs import StoredInputs

RUN_ID = re.compile(r"[0-9]{8}-[0-9]{6}-[0-9a-f]{6}")


class Workspace(StoredInputs):
    """A folder of suites, outputs and runs; `path` defaults to $ASSAY_WORKSPACE, else ./workspace."""

    def run(self, run_id: str, finished: bool = False) -> Run:
        """Return the run of that id; `latest` is the newest, or the newest `finished` one. Raises RunNotFound."""
        if run_id == "latest":
            runs = (run for run in self.runs() if not finished or run.state == "finished")
            newest = next(runs, None)
            if newest is None:
                raise RunNotFound(
                    f"there is no {'finished ' * finished}run in {self.path} yet; start one with `evaluate`"
                )
            return newest
        folder = self.path / "runs" / run_id
        if not RUN_ID.fullmatch(run_id) or not (folder / "spec.json").exists():
            raise RunNotFound(
                f"there is no run {run_id!r} in {self.path}; `python -m metrics runs` lists those there are"
            )
        return Run(folder)

    def runs(self) -> Sequence[Run]:
        """Return every run, the newest first."""
        folders = [entry for entry in (self.path / "runs").glob("*") if RUN_ID.fullmatch(entry.name)]
        found = [Run(folder) for folder in folders if (folder / "spec.json").exists()]
        return sorted(found, key=lambda run: run.began, reverse=True)

    def create_run(self, spec: dict[str, Any]) -> Run:
        """Create a run folder with its specification, which engine.create makes, and return the run."""
        now = datetime.now(UTC)
        run_id = f"{now:%Y%m%d-%H%M%S}-{token_hex(3)}"
        folder = make_folder(self.path / "runs" / run_id)
        head = {"schema": SCHEMA_VERSION, "id": run_id, "created": now.isoformat(timespec="seconds")}
        write_json(folder / "spec.json", head | spec)
        return Run(folder)
