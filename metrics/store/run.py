"""A run on disk, as its readers see it: its specification, progress and, once sealed, its tables."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from datetime import datetime
from functools import cached_property, lru_cache, wraps
from inspect import signature
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import pyarrow as pa

from metrics.core.arrow import stored_rows
from metrics.core.calibration import Calibration, calibration_of, with_thresholds
from metrics.core.conventions import ASSAY, CALIBRATION, CONVENTIONS, USER
from metrics.core.errors import RunError, RunNotFound
from metrics.core.evaluator import Evaluator, Metric
from metrics.core.files import hold_lock
from metrics.core.registry import evaluators, made_as, wordings
from metrics.core.sampling_design import COLUMNS, SamplingDesign, group_equal_inputs
from metrics.core.schema import TABLES
from metrics.core.suite import Outputs, Suite, tags_of
from metrics.store.manifest import FILE as MANIFEST, digest_of
from metrics.store.own_files import INPUTS
from metrics.store.run_database import database
from metrics.store.run_files import STARTING, RunFiles
from metrics.store.run_notes import About, own_name, read_about, write_about
from metrics.store.run_progress import Progress, read_progress
from metrics.store.run_tables import StoredTable, TableFile
from metrics.store.threshold_profiles import ThresholdProfiles, Thresholds

if TYPE_CHECKING:
    import duckdb
    import pandas as pd

P = ParamSpec("P")
T = TypeVar("T")


def cache_by_run(maxsize: int) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Keep the `maxsize` latest results of a function of runs, which never change once they are sealed.

    Calls are equal where their arguments are, defaults included; all of them hashable, but for lists, taken as tuples.
    """

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        bind, cached = signature(function).bind, lru_cache(maxsize)(function)

        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> T:
            bound = bind(*args, **kwargs)
            bound.apply_defaults()
            bound.arguments |= {name: tuple(own) for name, own in bound.arguments.items() if isinstance(own, list)}
            return cached(*bound.args, **bound.kwargs)

        return call

    return decorate


SECOND = 15  # characters of a run's id that are the time it began
CLOCKS = ("progress.json", STARTING, "lock")  # the last one written tells since when `seconds_spent` is out of date
FOLDER = "unfinished"
STAMPED = "@"  # between the id of the run and the stamp


class Run(RunFiles):
    """One evaluation in a workspace. Reads only; a finished run never changes.

    apart: what a board shows and does not rank, by (model, evaluator): see store.board.Apart; nothing of one run.
    """

    apart: Mapping[tuple[str, str], Any] = MappingProxyType({})

    def __repr__(self) -> str:
        return f"Run({self.id!r}, {self.state})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Run) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def _key(self) -> tuple[Path, str]:
        """Return the cache key of what is read from the run: its folder and the thresholds that override its own."""
        return self.folder, repr(self.given_thresholds)

    @property
    def seal_digest(self) -> str:
        """The sha256 of a finished run's seal, which says all that its tables and inputs hold."""
        return digest_of(self.folder / MANIFEST)

    def kept_path(self, name: str) -> Path | None:
        """Return the file of that name in which something computed of the run is kept; None where nothing may be."""
        return self.folder / "kept" / name

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
        return self.spec.created

    @property
    def sealed(self) -> str:
        """When the run was finished, of an unfinished one when it was created: ISO 8601, UTC."""
        return str((self.manifest or {}).get("sealed", self.created))

    @property
    def began(self) -> tuple[int, int, str]:
        """Return the sort key of runs in the order in which they were made: `place`, then, of earlier versions in one
        second, by the time of the specification's file, then by id.
        """
        spec = self.home / "spec.json"
        return self.place, (spec if spec.exists() else self.home).stat().st_mtime_ns, self.id

    @property
    def place(self) -> int:
        """The moment when the run was made, in ns, but later than that of every run which was there then.

        Of earlier versions, and where the specification cannot be read, the second in its id.
        """
        with suppress(RunError):
            if self.spec.place is not None:
                return self.spec.place
        with suppress(ValueError):
            return int(datetime.strptime(f"{self.id[:SECOND]} +0000", "%Y%m%d-%H%M%S %z").timestamp()) * 1_000_000_000
        return 0

    @property
    def models(self) -> tuple[str, ...]:
        """The models, in the order of the outputs."""
        return self.spec.outputs.models

    def shown_name(self, entry: str) -> str | None:
        """Return the model that is meant by an entry of a board, `run:model` or a name; None for none of the run."""
        model = entry.removeprefix(f"{self.id}:")
        return model if model in self.models else None

    def behind(self, model: str, evaluator: str = "") -> Run:  # noqa: ARG002 - of a board they count
        """Return the run that made a model's numbers of an evaluator, else its answers: of a board one of its runs."""
        return self

    @cached_property
    def evaluators(self) -> Mapping[str, dict[str, Any]]:
        """The parameters of each evaluator by its id, in the order chosen, with its calibrated thresholds."""
        return {entry.id: with_thresholds(entry.parameters, entry.calibrated) for entry in self.spec.evaluators}

    def calibrations(self, id: str) -> dict[str, Calibration]:
        """Return what was known when the run began about an evaluator's metrics with its models, by metric."""
        records = (record for entry in self.spec.evaluators if entry.id == id for record in entry.calibrations)
        return {one.metric: one for one in map(calibration_of, records)}

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

    @property
    def made_as(self) -> str:
        """What it has of another system's conventions, in a sentence; empty where it was made in Assay's own way."""
        system, resources = self.spec.as_in, self.spec.resources
        return made_as(system, list(self.evaluators), self.evaluators, resources) if system else ""

    @property
    def made_of(self) -> tuple[str, ...]:
        """What of the data it evaluates, if not all, `made_as`, and what earlier runs gave it, a sentence each."""
        suite, made_as = self.spec.suite, self.made_as
        reused: Mapping[str, int] = (self.manifest or {}).get("reused", {})
        several = f"{len(reused)} earlier runs, the last " if len(reused) > 1 else "run "
        latest = max(reused, default="")
        of = f"{several}{latest} of {latest[:4]}-{latest[4:6]}-{latest[6:8]}"
        said = [f"{sum(reused.values()):,} scores reused from {of}"] if reused else []
        return (*suite.in_words(suite.cases).values(), *([made_as] if made_as else []), *said)

    def threshold_of(self, evaluator: str, metric: Metric) -> str:
        """Return whose the threshold in force of a metric is: see core.conventions; empty where it has none."""
        entry = next((one for one in self.spec.evaluators if one.id == evaluator), None)
        if metric.threshold is None or entry is None:
            return ""
        if metric.name in self.given_thresholds.get(evaluator, {}):
            return USER
        own = entry.parameters.get("threshold") if metric.primary else None
        given = entry.parameters.get("thresholds", {}).get(metric.name, own)
        if given is None:
            return CALIBRATION if metric.name in entry.calibrated else ASSAY
        system = CONVENTIONS.get(self.spec.as_in or "")
        return system.title if system and system.threshold(evaluator, metric.name) == given else USER

    def metric(self, evaluator: str, metric: str) -> Metric | None:
        """Return a metric of an evaluator as the run's parameters make it; None where this version does not have it."""
        known = self.evaluator(evaluator)
        return None if known is None else next((one for one in known.metrics if one.name == metric), None)

    @cached_property
    def given_thresholds(self) -> Thresholds:
        """The thresholds of the workspace's profile in force: they stand over those that the run began with."""
        return ThresholdProfiles(self.workspace.path).thresholds()

    def wordings(self, id: str) -> dict[str, str]:
        """Return the texts of the user's own that an evaluator's numbers rest on; see core.registry.wordings."""
        return wordings(id, self.evaluators.get(id, {}), self.spec.resources)

    def wording(self, id: str) -> str:
        """Return the same in words: `claims 1a2b3c4d5e6f, …`; empty where there are none."""
        return ", ".join(f"{name} {sha}" for name, sha in self.wordings(id).items())

    @property
    def partly(self) -> Mapping[str, tuple[int, int]]:
        """The evaluators of which the tables have only a part, rows done of all; none in a sealed run."""
        return {}

    @property
    def cancelling(self) -> bool:
        """Whether the run was asked to stop and has not yet stopped."""
        return (self.home / "cancel").exists() and self.state == "running"

    @property
    def failure(self) -> str | None:
        """Why the run failed; None where it did not."""
        with suppress(OSError):
            return (self.home / "failure.txt").read_text(encoding="utf-8", errors="replace")
        return None

    def progress(self) -> Progress:
        """Return the progress that the run's process last wrote, its time up to now while the process is there."""
        found = read_progress(self.home)
        if self.state not in ("starting", "running"):
            return found
        touched = [file.stat().st_mtime for name in CLOCKS if (file := self.home / name).exists()]
        return replace(found, seconds_spent=found.seconds_spent + max(0.0, time.time() - max(touched)))

    @property
    def suite(self) -> Suite:
        """The suite that was evaluated."""
        self._check_inputs("suite/")
        return self.workspace.suite(self.spec.suite.fingerprint)

    def cases_at(self, places: Sequence[int]) -> Suite:
        """Return these of the suite's cases alone, in this order."""
        self._check_inputs("suite/")
        return self.workspace.cases_at(self.spec.suite.fingerprint, places)

    @property
    def outputs(self) -> Outputs:
        """The outputs that were evaluated, whole, with what was changed in them before."""
        self._check_inputs("outputs/")
        facts = self.spec.outputs
        return replace(self.workspace.outputs(facts.fingerprint), changes=facts.changes)

    def _check_inputs(self, prefix: str) -> None:
        """Raise RunCorrupt where a table of the inputs whose names begin so is not what was sealed."""
        for name in INPUTS:
            if name.startswith(prefix):
                self.stored_input(name)

    @property
    def targets(self) -> dict[str, dict[str, Any]]:
        """The descriptions of the models that Assay itself asked, by name; none where the outputs were uploaded."""
        return self.workspace.targets(self.spec.outputs.fingerprint)

    @property
    def sampled_suite(self) -> Suite:
        """The suite with the groups that intervals take: its own, or of cases that ask the same.

        Its fingerprint is another one than the run's.
        """
        return group_equal_inputs(self.suite) if self.spec.groups_equal_inputs else self.suite

    @cache_by_run(maxsize=4)
    def sampling_design(self, tag: str | None = None) -> SamplingDesign:
        """Return the weights and clusters of the suite's cases, all of them or those with a tag."""
        grouped = self.spec.groups_equal_inputs
        return SamplingDesign.of(self.sampled_suite.cases if grouped else self.case_columns(COLUMNS), tag)

    @property
    def case_tags(self) -> tuple[str, ...]:
        """The tags of the suite's cases, the most frequent first; nothing else of the suite is read."""
        return tags_of(self.case_columns(["tags"]))

    def case_columns(self, names: Sequence[str]) -> pa.Table:
        """Return these columns of the suite's cases; the others are not read."""
        return stored_rows(self.input_path("suite/cases.parquet"), names)

    def table(self, name: str) -> pd.DataFrame:
        """Return a sealed table as a data frame; see `stored_table`."""
        frame: pd.DataFrame = self.stored_table(name).to_pandas()
        return frame

    def stored_table(
        self, name: str, columns: Sequence[str] | None = None, filters: list[Any] | None = None
    ) -> pa.Table:
        """Return a sealed table, all of it or some columns and the rows that `filters` (of pyarrow) leave.

        The tables of core.schema have the columns of today's schema, null where an earlier version stored none. Without
        rows where the run has no table of that name. Raises RunError for an unfinished run, RunCorrupt as table_path.
        """
        table, schema = self.stored(name), TABLES.get(name)
        if table is None:
            return (schema or pa.schema([])).empty_table()
        return table.rows(columns, filters) if schema is None else table.rows_as(schema, columns, filters)

    def stored(self, name: str) -> StoredTable | None:
        """Return a sealed table, or one of the inputs such as outputs/predictions.parquet; None without one.

        Every reader passes here. Raises RunError for an unfinished run, RunCorrupt as table_path and stored_input.
        """
        path = self.stored_input(name) if name in INPUTS else self.table_path(name)
        return None if path is None else StoredTable((TableFile(path),))

    def needed(self, name: str) -> StoredTable:
        """Return a table that every run has, such as scores or outputs/outputs.parquet. As `stored`."""
        found = self.stored(name)
        if found is None:
            raise self.corrupt(f"{name} is lost", lost=True)
        return found

    @property
    def table_names(self) -> tuple[str, ...]:
        """The names of the sealed tables."""
        return tuple((self.manifest or {"tables": ()})["tables"])

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
        return tuple(name.removeprefix(prefix) for name in self.table_names if name.startswith(prefix))

    def query(self, sql: str, parameters: list[Any] | None = None) -> pd.DataFrame:
        """Run SQL (DuckDB) over the sealed tables: `scores`, `aggregates`, `judgements`, `curves_ID`, `matches_ID`.

        The first three have the columns of today's schema, whichever version sealed the run. `suite_cases` has
        case_id, position, question, source_text, image, image_name, tags, perturbs and perturbation.
        """
        return self._database().execute(sql, parameters or []).df()

    def query_rows(self, sql: str, parameters: list[Any] | None = None) -> pa.Table:
        """Return what `query` asks for as Arrow has it: with nulls."""
        return self._database().sql(sql, params=parameters).to_arrow_table()

    def _database(self) -> duckdb.DuckDBPyConnection:
        names = dict.fromkeys([*TABLES, *self.table_names])
        tables = tuple((name, self.stored(name)) for name in names)  # raises RunError for an unfinished run
        cases = self.input_path("suite/cases.parquet")
        return database(tables, cases).cursor()

    def locked(self) -> AbstractContextManager[int]:
        """Hold the run for writing. Raises RunBusy where another process does; a killed process releases it."""
        return hold_lock(self.home / "lock", f"run {self.id} is being worked on by another process")


class Snapshot(Run):
    """An unfinished run at one moment. Its tables never change; its specification and its state are the run's."""

    def __init__(self, folder: Path):
        super().__init__(folder)
        self.home = folder.parents[1]
        self.id = f"{self.home.name}{STAMPED}{folder.name}"

    @classmethod
    def of(cls, run: Run, stamp: str) -> Snapshot:
        """Return the snapshot of a run with that stamp. Raises RunNotFound where there is no longer one."""
        folder = run.home / FOLDER / stamp
        if not stamp.isalnum() or not (folder / "manifest.json").exists():
            raise RunNotFound(f"run {run.home.name} has moved on; open it again")
        return cls(folder)

    def kept_path(self, name: str) -> None:
        """Return None: of one moment nothing is kept."""

    @property
    def partly(self) -> Mapping[str, tuple[int, int]]:
        """The evaluators of which the tables have only a part: rows done of all."""
        return {name: (done, total) for name, (done, total) in (self.manifest or {}).get("partly", {}).items()}
