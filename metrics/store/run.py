"""A run on disk, as everybody but the engine sees it: its specification, progress and, when sealed, its tables."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pyarrow.parquet as pq

from metrics.core.errors import RunCorrupt, RunError
from metrics.core.sampling_design import COLUMNS, SamplingDesign
from metrics.core.schema import SCHEMA_VERSION
from metrics.core.suite import Outputs, Suite
from metrics.store.files import held, is_held, read_json, sha256_of

if TYPE_CHECKING:
    import duckdb
    import pandas as pd

    from metrics.store.workspace import Workspace

SPEND = "judge.json"  # in the run's folder: what it has spent on its judge so far
State = Literal["queued", "running", "finished", "cancelled", "failed", "interrupted"]


@dataclass(frozen=True, slots=True)
class EvaluatorProgress:
    """How far one evaluator is: cases done of total, and how many of those ended in an error."""

    id: str
    title: str
    done: int
    total: int
    failed: int


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is; `seconds_left` is None while unknown."""

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
        self.folder = folder
        self.id = folder.name

    def __repr__(self) -> str:
        return f"Run({self.id!r}, {self.state})"

    @cached_property
    def spec(self) -> dict[str, Any]:
        """What was asked for: suite and outputs by fingerprint, evaluators with parameters, seed."""
        spec: dict[str, Any] = read_json(self.folder / "spec.json")
        if spec["schema"] > SCHEMA_VERSION:
            raise RunError(
                f"run {self.id} has schema {spec['schema']}; this Assay reads up to {SCHEMA_VERSION}: update it"
            )
        return spec

    @property
    def manifest(self) -> dict[str, Any] | None:
        """The seal: tables with rows and sha256, versions, times; None while the run is unfinished."""
        manifest: dict[str, Any] | None = read_json(self.folder / "manifest.json")
        return manifest

    @property
    def name(self) -> str:
        """The name the user gave, or one made of suite and evaluators."""
        return str(self.spec["name"])

    @property
    def created(self) -> str:
        """When the run was asked for: ISO 8601, UTC."""
        return str(self.spec["created"])

    @property
    def models(self) -> tuple[str, ...]:
        """The models, in the order of the outputs."""
        return tuple(self.spec["outputs"]["models"])

    @property
    def evaluators(self) -> dict[str, dict[str, Any]]:
        """The parameters of each evaluator by its id, in the order chosen."""
        return {entry["id"]: entry["parameters"] for entry in self.spec["evaluators"]}

    @property
    def state(self) -> State:
        """Where the run stands. `interrupted`: begun, unfinished and nobody at work on it; it can be resumed."""
        if (self.folder / "manifest.json").exists():
            return "finished"
        if is_held(self.folder / "lock"):
            return "running"
        if (self.folder / "cancel").exists():
            return "cancelled"
        if (self.folder / "failure.txt").exists():
            return "failed"
        return "interrupted" if (self.folder / "progress.json").exists() else "queued"

    @property
    def failure(self) -> str | None:
        """Why the run failed, in words; None where it did not."""
        with suppress(FileNotFoundError):
            return (self.folder / "failure.txt").read_text(encoding="utf-8")
        return None

    def progress(self) -> Progress:
        """Return how far the run is, as its process last wrote it."""
        facts = read_json(self.folder / "progress.json")
        if facts is None:
            return Progress()
        return Progress(
            tuple(EvaluatorProgress(**entry) for entry in facts["evaluators"]),
            facts["seconds_spent"],
            facts["seconds_left"],
            facts["message"],
        )

    @property
    def spend(self) -> dict[str, Any] | None:
        """What the run has spent on its `judges` so far, see metrics.judge.budget.Spend; None: it asked none."""
        spent: dict[str, Any] | None = read_json(self.folder / SPEND)
        return spent

    @property
    def workspace(self) -> Workspace:
        """The workspace the run is in."""
        from metrics.store.workspace import Workspace

        return Workspace(self.folder.parent.parent)

    @property
    def suite(self) -> Suite:
        """The suite that was evaluated."""
        return self.workspace.suite(self.spec["suite"]["fingerprint"])

    @property
    def outputs(self) -> Outputs:
        """The outputs that were evaluated, whole."""
        return self.workspace.outputs(self.spec["outputs"]["fingerprint"])

    def sampling_design(self, tag: str | None = None) -> SamplingDesign:
        """Return the weights and clusters of the suite's cases, all of them or those with a tag."""
        path = self.workspace.path / "suites" / self.spec["suite"]["fingerprint"] / "cases.parquet"
        with pq.ParquetFile(path) as file:  # read_table would import pandas: the start page waits
            return SamplingDesign.of(file.read(columns=COLUMNS), tag)

    def table_path(self, name: str) -> Path | None:
        """Return the file of a sealed table: scores, aggregates, judgements, curves/ID, matches/ID; None: it has none."""
        manifest = self.manifest
        if manifest is None:
            raise RunError(
                f"run {self.id} is {self.state}: its tables are there once it is finished (`resume` continues it)"
            )
        if name not in manifest["tables"]:
            return None
        path: Path = self.folder / manifest["tables"][name]["file"]
        if not path.exists():
            raise RunCorrupt(f"run {self.id} has lost {path.name}; restore it from a backup or evaluate again")
        return path

    def table(self, name: str) -> pd.DataFrame:
        """Return a sealed table as a data frame; empty where the run has none of that name."""
        import pandas as pd

        path = self.table_path(name)
        return pd.DataFrame() if path is None else pq.read_table(path).to_pandas()

    @property
    def scores(self) -> pd.DataFrame:
        """Score per case, model, repeat, evaluator and metric: value or none, status, reason, evidence (JSON)."""
        return self.table("scores").drop(columns="position")

    @property
    def aggregates(self) -> pd.DataFrame:
        """Number per model and metric (label, slice), with 95 % interval, counts and the metric's own columns."""
        import pandas as pd

        frame = self.table("aggregates")
        own = pd.DataFrame([json.loads(text) for text in frame.pop("columns")], index=frame.index)
        return pd.concat([frame, own], axis=1)

    @property
    def judgements(self) -> pd.DataFrame:
        """Every reply of the judge that a score rests on, with tokens, dollars and seconds; empty without a judge."""
        return self.table("judgements")

    def curves(self, evaluator: str) -> pd.DataFrame:
        """Return the curves of an evaluator: model, run, then its own columns; empty where it makes none."""
        return self.table(f"curves/{evaluator}")

    def matches(self, evaluator: str) -> pd.DataFrame:
        """Predictions matched to ground truths: model, run, then evaluator.MATCHES; empty where it makes none."""
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

    @property
    def problems(self) -> pd.DataFrame:
        """Models on the wrong side of a threshold; see metrics.analysis.findings.problems."""
        from metrics.analysis import problems

        return problems(self)

    @property
    def insights(self) -> pd.DataFrame:
        """What stands out; see metrics.analysis.findings.insights."""
        from metrics.analysis import insights

        return insights(self)

    @property
    def slices(self) -> pd.DataFrame:
        """Slices of the cases that are worse than the rest beyond chance; see metrics.analysis.slices."""
        from metrics.analysis import slices

        return slices(self)

    def query(self, sql: str, parameters: list[Any] | None = None) -> pd.DataFrame:
        """Run SQL (DuckDB) over the sealed tables: `scores`, `aggregates`, `curves_ID`, `matches_ID`.

        `suite_cases` has case_id, position, question, source_text, image, image_name, tags, perturbs and perturbation.
        """
        self.table_path("scores")  # says in words what an unfinished run lacks
        cases = self.workspace.path / "suites" / self.spec["suite"]["fingerprint"] / "cases.parquet"
        return _database(self.folder, cases).cursor().execute(sql, parameters or []).df()

    def verify(self) -> None:
        """Compare every sealed table with the manifest; RunCorrupt naming those that differ."""
        tables = (self.manifest or {"tables": {}})["tables"]
        bad = [
            name for name, facts in tables.items() if sha256_of(self.table_path(name) or self.folder) != facts["sha256"]
        ]
        if bad:
            raise RunCorrupt(f"run {self.id}: {', '.join(bad)} differ from the manifest")

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the run for writing; RunBusy where another process does. A killed process lets go of it."""
        with held(self.folder / "lock", f"run {self.id} is being worked on by another process"):
            yield


@lru_cache(maxsize=16)
def _database(folder: Path, cases: Path) -> duckdb.DuckDBPyConnection:
    """Return the tables of a sealed run as views, opened once: they never change. Ask through a cursor, one a thread."""
    import duckdb

    def scan(path: Path, options: str = "") -> str:
        return f"read_parquet('{str(path).replace(chr(39), chr(39) * 2)}'{options})"

    connection = duckdb.connect(":memory:", config={"threads": 2})
    for name, facts in read_json(folder / "manifest.json")["tables"].items():
        view = name.replace("/", "_")
        connection.execute(f'CREATE VIEW "{view}" AS SELECT * FROM {scan(folder / facts["file"])}')
    names = pq.read_schema(cases).names
    image_name = '"metadata.image_name"' if "metadata.image_name" in names else "NULL"
    connection.execute(
        f"""CREATE VIEW suite_cases AS
            SELECT case_id, file_row_number AS position, question, source_text, image, tags, {image_name} AS image_name,
                   perturbs, perturbation
            FROM {scan(cases, ", file_row_number = true")}"""
    )
    return connection
