"""The files of a run, and whether they are whole: each is compared with its seal before it is read."""

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from metrics.core.errors import RunCorrupt, RunError
from metrics.core.files import is_held, read_json
from metrics.store.manifest import FILE, digest_of, read_manifest
from metrics.store.own_files import REMOTE, own_folder
from metrics.store.run_spec import LaterSchema, RunSpec, read_spec
from metrics.store.stored_inputs import StoredInputs

SPEND = "judge.json"  # in the run's folder: the cost of its judge so far
REPAIR = "restore it from a backup, or run `python -m metrics verify {} --repair`"
STARTING = "starting"  # in the run's folder: held from its start until the run's own process holds the lock
State = Literal["queued", "starting", "running", "finished", "cancelled", "failed", "interrupted", "damaged"]
ADVICE = {  # on files from which nothing can be made again
    "spec.json": "restore it from a backup, or move the run to the bin: `python -m metrics delete {}`",
    SPEND: "restore it from a backup, or remove it: then the judge's budget starts from zero",
}


class RunFiles:
    """The specification, the seal, the state, the tables and the inputs of a run."""

    def __init__(self, folder: Path):
        self.folder = folder  # of the tables
        self.home = folder  # of the specification and the progress
        self.id = folder.name

    @cached_property
    def spec(self) -> RunSpec:
        """The specification: suite and outputs by fingerprint, evaluators with parameters, resources, seed.

        Raises RunCorrupt where it cannot be read, RunError where only a later version can read it.
        """
        try:
            return read_spec(self.home)
        except LaterSchema as failure:
            raise RunError(f"run {self.id} has {failure}") from None
        except (OSError, ValueError, RecursionError) as failure:
            raise self._unreadable("spec.json", failure) from None

    @property
    def manifest(self) -> Mapping[str, Any] | None:
        """The seal: tables with rows and sha256, versions, times; None while the run is unfinished.

        Raises RunCorrupt where it cannot be read, was changed, or seals another specification.
        """
        try:
            found = read_manifest(self.folder)
        except (OSError, ValueError, RecursionError) as failure:
            raise self._unreadable("manifest.json", failure) from None
        if found is not None and "spec" in found and self._spec_digest() != found["spec"]:
            what = "spec.json differs from its seal: it was changed after the run was finished"
            raise self.corrupt(what, advice=ADVICE["spec.json"])
        return found

    def _spec_digest(self) -> str:
        try:
            return digest_of(self.home / "spec.json")
        except OSError as failure:
            raise self._unreadable("spec.json", failure) from None

    @property
    def damage(self) -> str | None:
        """Why the run cannot be opened: its specification, seal or judge's costs are lost or damaged; None if it can.

        Whether its tables are whole is said when they are read: see `table_path`, and metrics.store.run_check.
        """
        try:
            own_folder(self.workspace.path, self.home.parent.name, self.home.name)
            _ = self.spec, self.spend
        except RunError as failure:
            return str(failure)
        return None

    @property
    def state(self) -> State:
        """The state of the run.

        `starting`: its process is there, but does not work on it yet; `interrupted`: begun and unfinished, but no
        process works on it; it can be resumed. `damaged`: see `damage`.
        """
        if self.damage is not None:
            return "damaged"
        if self.is_sealed:
            return "finished"
        if is_held(self.home / "lock"):
            return "running"
        if (self.home / "cancel").exists():
            return "cancelled"
        if (self.home / "failure.txt").exists():
            return "failed"
        if is_held(self.home / STARTING):
            return "starting"
        return "interrupted" if any((self.home / name).exists() for name in ("progress.json", STARTING)) else "queued"

    @property
    def is_sealed(self) -> bool:
        """Whether the run has a manifest; damaged or not."""
        return (self.home / FILE).exists()

    def corrupt(self, what: str, lost: bool = False, advice: str = REPAIR) -> RunCorrupt:
        """Return the error that a file of the run is lost or differs from its seal, with what can be done."""
        text = f"run {self.id} is damaged: {what}; {advice.format(self.home.name)}"
        return RunCorrupt(text, self.home.name, lost)

    def _unreadable(self, name: str, failure: BaseException | str) -> RunCorrupt:
        why = getattr(failure, "strerror", None) or failure
        return self.corrupt(f"{name} cannot be read ({why})", advice=ADVICE.get(name, REPAIR))

    @property
    def spend(self) -> dict[str, Any] | None:
        """The cost of the run's `judges` so far, see metrics.judge.budget.Spend; None: it asked none.

        Raises RunCorrupt where that cannot be read: resuming the run would start its budget from zero.
        """
        manifest = self.manifest
        if manifest is not None and "sealed" in manifest:  # not so in a snapshot of an unfinished run
            sealed: dict[str, Any] | None = manifest.get("judge")
            return sealed
        try:
            spent = read_json(self.home / SPEND)
        except (OSError, ValueError, RecursionError) as failure:
            raise self._unreadable(SPEND, failure) from None
        if spent is not None and not isinstance(spent, dict):
            raise self._unreadable(SPEND, f"it holds a {type(spent).__name__}")
        return spent

    @property
    def workspace(self) -> StoredInputs:
        """The workspace of the run, with the suites and outputs in it."""
        return StoredInputs(self.home.parent.parent)

    @property
    def suite_folder(self) -> Path:
        """The folder of the stored suite: cases.parquet, annotations.parquet, media."""
        return self._inputs("suites", self.spec.suite.fingerprint)

    @property
    def outputs_folder(self) -> Path:
        """The folder of the stored outputs: outputs.parquet, predictions.parquet, artifacts."""
        return self._inputs("outputs", self.spec.outputs.fingerprint)

    def _inputs(self, kind: str, fingerprint: str) -> Path:
        self.workspace.complete(kind, fingerprint)
        return own_folder(self.workspace.path, kind, fingerprint)

    def stored_input(self, name: str) -> Path | None:
        """Return a table of the run's inputs, such as outputs/predictions.parquet; None where they have none of it.

        Every reader passes here. Raises RunCorrupt where it is lost or differs from its seal.
        """
        kind, _, file = name.partition("/")
        seal = (self.manifest or {}).get("inputs", {}).get(name)
        seals = [] if seal is None else [seal["sha256"]]
        folder, facts = ("outputs", self.spec.outputs) if kind == "outputs" else ("suites", self.spec.suite)
        try:
            return self.workspace.file(folder, facts.fingerprint, file, seals)
        except RunCorrupt as failure:
            raise RunCorrupt(f"run {self.id} is damaged: {failure}", self.home.name, failure.lost) from None

    def input_path(self, name: str) -> Path:
        """Return a table that the run's inputs have: suite/cases.parquet, outputs/outputs.parquet. As stored_input."""
        path = self.stored_input(name)
        if path is None:
            raise self.corrupt(f"of its inputs {name} is lost", lost=True)
        return path

    def table_path(self, name: str) -> Path | None:
        """Return a sealed table's file: scores, aggregates, judgements, curves/ID, matches/ID; None without one.

        Every reader passes here. Raises RunCorrupt where it is lost or differs from its seal.
        """
        manifest = self.manifest
        if manifest is None:
            why = "its tables are there once it is finished (`resume` continues it)"
            raise RunError(f"run {self.id} is {self.state}: {why}")
        if name not in manifest["tables"]:
            return None
        sealed: str = manifest["tables"][name]["sha256"]
        path: Path = self.folder / manifest["tables"][name]["file"]
        if not path.exists() and (self.workspace.path / REMOTE).exists():
            from metrics.store.remote.local_copy import complete_run

            complete_run(self.workspace.path, path)
        if not path.exists():
            raise self.corrupt(f"table {name} is lost: there is no {path.name}", lost=True)
        if digest_of(path) != sealed:
            raise self.corrupt(f"table {name} differs from its seal: it was changed after the run was finished")
        return path
