"""A run on disk, as its readers see it: its specification, progress and, once sealed, its tables."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa
import pyarrow.parquet as pq

from metrics.core.calibration import Calibration, calibration_of, with_thresholds
from metrics.core.errors import RunCorrupt, RunError
from metrics.core.evaluator import Evaluator
from metrics.core.files import held, is_held, read_json, sha256_of
from metrics.core.registry import evaluators, note_missing, wordings
from metrics.core.sampling_design import COLUMNS, SamplingDesign
from metrics.core.schema import SCHEMA_VERSION, TABLES, conformed
from metrics.core.suite import Outputs, Suite, tags_of
from metrics.store.file_names import REMOTE
from metrics.store.own_files import own_folder
from metrics.store.run_about import About, own_name, read_about, write_about
from metrics.store.run_database import database
from metrics.store.stored_inputs import StoredInputs
from metrics.store.threshold_profiles import ThresholdProfiles, Thresholds

if TYPE_CHECKING:
    import pandas as pd

SECOND = 15  # characters of a run's id that are the time it began
SPEND = "judge.json"  # in the run's folder: the cost of its judge so far
STARTING = "starting"  # in the run's folder: held from its start until the run's own process holds the lock
CLOCKS = ("progress.json", STARTING, "lock")  # the last one written tells since when `seconds_spent` is out of date
SPECIFIED = ("name", "suite", "outputs", "evaluators")  # what every specification has
State = Literal["queued", "starting", "running", "finished", "cancelled", "failed", "interrupted"]


@dataclass(frozen=True, slots=True)
class EvaluatorProgress:
    """The progress of one evaluator: cases done of total, and how many of them failed."""

    id: str
    title: str
    done: int
    total: int
    failed: int


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a run; `seconds_spent` counts over stops and resumes, `seconds_left` is None while unknown."""

    evaluators: tuple[EvaluatorProgress, ...] = ()
    seconds_spent: float = 0.0
    seconds_left: float | None = None
    message: str = ""

    @property
    def share(self) -> float:
        """Done of total over all evaluators, 0 … 1."""
        total = sum(entry.total for entry in self.evaluators)
        return sum(entry.done for entry in self.evaluators) / total if total else 0.0


class Run:
    """One evaluation in a workspace. Reads only; a finished run never changes."""

    def __init__(self, folder: Path):
        self.folder = folder  # of the tables
        self.home = folder  # of the specification and the progress
        self.id = folder.name

    def __repr__(self) -> str:
        return f"Run({self.id!r}, {self.state})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Run) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def _key(self) -> tuple[Path, str]:
        """What reads of a run are kept by: its folder and the thresholds that stand over its own."""
        return self.folder, repr(self.given_thresholds)

    @cached_property
    def spec(self) -> dict[str, Any]:
        """The specification: suite and outputs by fingerprint, evaluators with parameters, resources, seed."""
        path = self.home / "spec.json"
        spec = _read_spec(path, path.stat().st_mtime_ns)
        if spec["schema"] > SCHEMA_VERSION:
            raise RunError(
                f"run {self.id} has schema {spec['schema']}; this Assay reads up to {SCHEMA_VERSION}: update it"
            )
        return spec

    @property
    def damage(self) -> str | None:
        """Why the specification cannot be read; None where it can."""
        try:
            own_folder(self.workspace.path, self.home.parent.name, self.home.name)
            lacks = [name for name in SPECIFIED if name not in self.spec]
        except RunError as failure:
            return str(failure)
        except (OSError, ValueError, TypeError, KeyError) as failure:
            return f"run {self.id} is damaged: spec.json cannot be read ({failure}); restore it from a backup"
        return f"run {self.id} is damaged: spec.json has no {' and no '.join(lacks)}" if lacks else None

    @property
    def manifest(self) -> dict[str, Any] | None:
        """The seal: tables with rows and sha256, versions, times; None while the run is unfinished."""
        manifest: dict[str, Any] | None = read_json(self.folder / "manifest.json")
        return manifest

    @property
    def name(self) -> str:
        """The name that people gave it, else one made of its suite and models."""
        return self.about.name or self.own_name

    @property
    def own_name(self) -> str:
        """The name that it was started with, else one made of its suite and models."""
        return own_name(self.spec)

    @property
    def about(self) -> About:
        """The name, notes and tags that people gave it."""
        return read_about(self.home)

    def describe(self, **said: Any) -> None:
        """Change the `name`, `notes` or `tags` that people gave it; what is sealed stays. InputError as write_about."""
        write_about(self.home, replace(self.about, **said))

    @property
    def created(self) -> str:
        """When the run was created: ISO 8601, UTC."""
        return str(self.spec["created"])

    @property
    def began(self) -> tuple[str, int]:
        """What sorts runs by time: the second in the id, and within one the time of the specification."""
        return self.id[:SECOND], (self.home / "spec.json").stat().st_mtime_ns

    @property
    def models(self) -> tuple[str, ...]:
        """The models, in the order of the outputs."""
        return tuple(self.spec["outputs"]["models"])

    @property
    def evaluators(self) -> dict[str, dict[str, Any]]:
        """The parameters of each evaluator by its id, in the order chosen, with its calibrated thresholds."""
        return {
            entry["id"]: with_thresholds(entry["parameters"], entry.get("calibrated", {}))
            for entry in self.spec["evaluators"]
        }

    def calibrations(self, id: str) -> dict[str, Calibration]:
        """Return what was known when the run began about an evaluator's metrics with its models, by metric."""
        entry: Mapping[str, Any] = next((one for one in self.spec["evaluators"] if one["id"] == id), {})
        return {one.metric: one for one in map(calibration_of, entry.get("calibrations", []))}

    def evaluator(self, id: str) -> Evaluator | None:
        """Return an evaluator as the run's parameters make it (its metrics, the thresholds in force).

        As declared where the run did not use it; None where this version of Assay does not have it.
        """
        known = evaluators().get(id)
        values = self.evaluators.get(id)
        if known is None or values is None:
            return known
        there = {metric.name for metric in known.metrics}
        given = {name: value for name, value in self.given_thresholds.get(id, {}).items() if name in there}
        values = {**values, "thresholds": {**values.get("thresholds", {}), **given}}
        return known.with_parameters(known.parameters(**values))

    @cached_property
    def given_thresholds(self) -> Thresholds:
        """The thresholds of the workspace's profile in force: they stand over those that the run began with."""
        return ThresholdProfiles(self.workspace.path).thresholds()

    def wordings(self, id: str) -> dict[str, str]:
        """Return the texts of the user's own that an evaluator's numbers rest on; see core.registry.wordings."""
        return wordings(id, self.evaluators.get(id, {}), self.spec.get("resources", {}))

    def wording(self, id: str) -> str:
        """Return the same in words: `claims 1a2b3c4d5e6f, …`; empty where there are none."""
        return ", ".join(f"{name} {sha}" for name, sha in self.wordings(id).items())

    @property
    def state(self) -> State:
        """The state of the run.

        `starting`: its process is there, but does not work on it yet; `interrupted`: begun and unfinished, but no
        process works on it; it can be resumed.
        """
        if (self.home / "manifest.json").exists():
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
    def partly(self) -> Mapping[str, tuple[int, int]]:
        """The evaluators of which the tables have only a part, rows done of all; none in a sealed run."""
        return {}

    @property
    def cancelling(self) -> bool:
        """Whether the run was asked to stop and has not yet stopped."""
        return self.state == "running" and (self.home / "cancel").exists()

    @property
    def failure(self) -> str | None:
        """Why the run failed; None where it did not."""
        with suppress(FileNotFoundError):
            return (self.home / "failure.txt").read_text(encoding="utf-8")
        return None

    def progress(self) -> Progress:
        """Return the progress that the run's process last wrote, its time up to now while the process is there."""
        path = self.home / "progress.json"
        facts = read_json(path)
        if facts is None:
            found = Progress()
        else:
            found = Progress(**facts | {"evaluators": tuple(EvaluatorProgress(**one) for one in facts["evaluators"])})
        if self.state not in ("starting", "running"):
            return found
        touched = [file.stat().st_mtime for name in CLOCKS if (file := self.home / name).exists()]
        return replace(found, seconds_spent=found.seconds_spent + max(0.0, time.time() - max(touched)))

    @property
    def spend(self) -> dict[str, Any] | None:
        """The cost of the run's `judges` so far, see metrics.judge.budget.Spend; None: it asked none."""
        spent: dict[str, Any] | None = read_json(self.home / SPEND)
        return spent

    @property
    def workspace(self) -> StoredInputs:
        """The workspace of the run, with the suites and outputs in it."""
        return StoredInputs(self.home.parent.parent)

    @property
    def suite_folder(self) -> Path:
        """The folder of the stored suite: cases.parquet, annotations.parquet, media."""
        return self._inputs("suites", self.spec["suite"]["fingerprint"])

    @property
    def outputs_folder(self) -> Path:
        """The folder of the stored outputs: outputs.parquet, predictions.parquet, artifacts."""
        return self._inputs("outputs", self.spec["outputs"]["fingerprint"])

    def _inputs(self, kind: str, fingerprint: str) -> Path:
        self.workspace.complete(kind, fingerprint)
        return own_folder(self.workspace.path, kind, fingerprint)

    @property
    def suite(self) -> Suite:
        """The suite that was evaluated."""
        return self.workspace.suite(self.spec["suite"]["fingerprint"])

    @property
    def outputs(self) -> Outputs:
        """The outputs that were evaluated, whole, with what was changed in them before."""
        changes = tuple(self.spec["outputs"].get("changes", ()))
        return replace(self.workspace.outputs(self.spec["outputs"]["fingerprint"]), changes=changes)

    @property
    def targets(self) -> dict[str, dict[str, Any]]:
        """The descriptions of the models that Assay itself asked, by name; none where the outputs were uploaded."""
        return self.workspace.targets(self.spec["outputs"]["fingerprint"])

    def sampling_design(self, tag: str | None = None) -> SamplingDesign:
        """Return the weights and clusters of the suite's cases, all of them or those with a tag."""
        return SamplingDesign.of(self.case_columns(COLUMNS), tag)

    @property
    def case_tags(self) -> tuple[str, ...]:
        """The tags of the suite's cases, the most frequent first; nothing else of the suite is read."""
        return tags_of(self.case_columns(["tags"]))

    def case_columns(self, names: Sequence[str]) -> pa.Table:
        """Return these columns of the suite's cases; the others are not read."""
        with pq.ParquetFile(self.suite_folder / "cases.parquet") as file:
            return file.read(columns=list(names))  # read_table would import pandas: the start page waits

    def table_path(self, name: str) -> Path | None:
        """Return a sealed table's file: scores, aggregates, judgements, curves/ID, matches/ID; None without one."""
        manifest = self.manifest
        if manifest is None:
            raise RunError(
                f"run {self.id} is {self.state}: its tables are there once it is finished (`resume` continues it)"
            )
        if name not in manifest["tables"]:
            return None
        path: Path = self.folder / manifest["tables"][name]["file"]
        if not path.exists() and (self.workspace.path / REMOTE).exists():
            from metrics.store.remote.local_copy import complete_run

            complete_run(self.workspace.path, path)
        if not path.exists():
            raise RunCorrupt(f"run {self.id} has lost {path.name}; restore it from a backup or evaluate again")
        return path

    def table(self, name: str) -> pd.DataFrame:
        """Return a sealed table as a data frame; see `stored_table`."""
        frame: pd.DataFrame = self.stored_table(name).to_pandas()
        return frame

    def stored_table(
        self, name: str, columns: Sequence[str] | None = None, filters: list[Any] | None = None
    ) -> pa.Table:
        """Return a sealed table, all of it or some columns and the rows that `filters` (of pyarrow) leave.

        The tables of core.schema have the columns of today's schema, null where an earlier version stored none. Without
        rows where the run has no table of that name. Raises RunError for an unfinished run, RunCorrupt for a lost file.
        """
        path, schema = self.table_path(name), TABLES.get(name)
        if path is None:
            return (schema or pa.schema([])).empty_table()
        stored = None
        if columns is not None:
            there = pq.read_schema(path).names
            stored = [column for column in columns if column in there]
        if filters is not None:
            found = pq.read_table(path, columns=stored, filters=filters)
        else:
            with pq.ParquetFile(path) as file:  # read_table would import pandas: the start page waits
                found = file.read(columns=stored)
        return found if schema is None else conformed(found, schema, columns)

    @property
    def scores(self) -> pd.DataFrame:
        """The score per case, model, repeat, evaluator and metric: value or none, status, reason, evidence (JSON)."""
        return self.table("scores").drop(columns="position")

    @property
    def aggregates(self) -> pd.DataFrame:
        """The value per model and metric (label, slice), with 95 % interval, counts and the metric's own columns."""
        import pandas as pd

        frame = self.table("aggregates")
        own = pd.DataFrame([json.loads(text) for text in frame.pop("columns")], index=frame.index)
        return pd.concat([frame, own], axis=1)

    @property
    def judgements(self) -> pd.DataFrame:
        """Every reply of the judge that a score rests on, with tokens, dollars and seconds; no rows without a judge."""
        return self.table("judgements")

    def curves(self, evaluator: str) -> pd.DataFrame:
        """Return the curves of an evaluator: model, run, then its own columns; empty without any."""
        return self.table(f"curves/{evaluator}")

    def matches(self, evaluator: str) -> pd.DataFrame:
        """Return the predictions matched to ground truths: model, run, then evaluator.MATCHES; empty without any."""
        return self.table(f"matches/{evaluator}")

    def curve_names(self) -> tuple[str, ...]:
        """Return the evaluators that have curves."""
        return self._names("curves/")

    def match_names(self) -> tuple[str, ...]:
        """Return the evaluators that have matches."""
        return self._names("matches/")

    def _names(self, prefix: str) -> tuple[str, ...]:
        tables: Mapping[str, Any] = (self.manifest or {"tables": {}})["tables"]
        return tuple(name.removeprefix(prefix) for name in tables if name.startswith(prefix))

    def query(self, sql: str, parameters: list[Any] | None = None) -> pd.DataFrame:
        """Run SQL (DuckDB) over the sealed tables: `scores`, `aggregates`, `judgements`, `curves_ID`, `matches_ID`.

        The first three have the columns of today's schema, whichever version sealed the run. `suite_cases` has
        case_id, position, question, source_text, image, image_name, tags, perturbs and perturbation.
        """
        for name in ("scores", *(self.manifest or {"tables": ()})["tables"]):  # raises RunError for an unfinished run
            self.table_path(name)
        return database(self.folder, self.suite_folder / "cases.parquet").cursor().execute(sql, parameters or []).df()

    def verify(self) -> None:
        """Compare every sealed table with the manifest. Raises RunCorrupt naming those that differ."""
        tables = (self.manifest or {"tables": {}})["tables"]
        bad = [
            name for name, facts in tables.items() if sha256_of(self.table_path(name) or self.folder) != facts["sha256"]
        ]
        if bad:
            raise RunCorrupt(f"run {self.id}: {', '.join(bad)} differ from the manifest")

    def locked(self) -> AbstractContextManager[None]:
        """Hold the run for writing. Raises RunBusy where another process does; a killed process releases it."""
        return held(self.home / "lock", f"run {self.id} is being worked on by another process")


@lru_cache(maxsize=1024)
def _read_spec(path: Path, written: int) -> dict[str, Any]:  # noqa: ARG001 - a part of the cache's key
    """Return a specification, which is never changed; lists of runs read every one."""
    spec: dict[str, Any] = read_json(path)
    for entry in spec.get("evaluators", ()) if isinstance(spec, dict) else ():
        if "plugin" in entry:  # it may be missing here: what the run says of it is known from now on
            note_missing(entry["id"], entry["version"], entry["plugin"].get("declared", {}))
    return spec
