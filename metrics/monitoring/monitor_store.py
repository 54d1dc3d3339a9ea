"""A monitor's folder: what it judges by, how far it has read, and its samples in parts that are written as a whole.

    monitors/NAME/spec.json      what it judges by; never changes
    monitors/NAME/state.json     how far it has read, and which parts count: replaced as a whole by every commit
    monitors/NAME/samples-….parquet, scores-….parquet

A commit writes its part first and the state last. If the process is killed between the two, it leaves a part that no
state names; the next process deletes it and does the same work again. So nothing is lost and nothing counts twice.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pydantic import BaseModel, ConfigDict, Field

from metrics.calibrations.calibrated_thresholds import calibrated_by
from metrics.core.arrow import stored_rows
from metrics.core.calibration import Calibration, calibration_of, with_thresholds
from metrics.core.errors import InputError, InputProblem, RunNotFound, stored_at
from metrics.core.files import hold_lock, is_held, list_paths, make_folder, write_table
from metrics.core.registry import choose
from metrics.core.schema import conformed
from metrics.engine.load_resources import saved_settings
from metrics.judge.settings import settings_of
from metrics.monitoring.health import CRITICAL, MINIMUM, WARNING, Limits
from metrics.monitoring.monitor_status import Chosen
from metrics.monitoring.windows import Window
from metrics.store import Workspace
from metrics.store.manifest import check_digest, digest_of, read_sealed, write_sealed
from metrics.store.origin import effects_of, from_elsewhere, is_signed, sign_file
from metrics.store.own_files import own_folder
from metrics.store.sealed_tables import UNREADABLE

if TYPE_CHECKING:
    import pandas as pd

FOLDER = "monitors"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
SCHEMA_VERSION = 1
MERGED = 64  # small parts that become one
BAD_LINES = 50  # the latest that are listed; all are counted
SOURCES = 200  # the latest files that are recognised
CHANGES = 50  # the latest changes of status that are listed
READ_TRIES = 5

# the confidence sequence and the status after the sample; null: the metric has no threshold, or of an earlier version
BAND = (("low", pa.float64()), ("high", pa.float64()), ("health", pa.string()))
SAMPLES = pa.schema(
    [
        ("number", pa.int64()),  # of the sample, from 0
        ("window", pa.int64()),  # see Window.of
        ("source", pa.string()),
        ("line", pa.int64()),
        ("id", pa.string()),
        ("key", pa.uint64()),  # of id, model and repeat, by which duplicates are recognised; null: the line has no id
        ("at", pa.timestamp("us")),  # UTC, from the line; null: it has none, and windows do not need it
        ("model", pa.string()),
        ("question", pa.string()),  # a preview, as the answer
        ("answer", pa.string()),
        ("passed", pa.bool_()),  # null: not judged
        ("session", pa.int64()),  # see sessions.session_of; null: none, or sampled by an earlier version
        *BAND,  # of all together
    ]
)
SCORES = pa.schema(
    [
        ("number", pa.int64()),  # of the sample
        ("evaluator", pa.string()),
        ("metric", pa.string()),
        ("value", pa.float64()),
        ("status", pa.string()),
        ("reason", pa.string()),
        ("passed", pa.bool_()),  # null: no value, or no threshold
        *BAND,  # of the metric
    ]
)


PART_SCHEMAS = {"samples": SAMPLES, "scores": SCORES}


class Spec(BaseModel):
    """What a monitor samples and judges by. It never changes, so that the monitor's numbers stay comparable."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    evaluators: dict[str, dict[str, Any]]
    resources: dict[str, Any] = Field(default_factory=dict)
    rate: float = 0.01
    seed: int = 0
    window: str = "100"
    minimum: int = MINIMUM
    warning: float = WARNING
    critical: float = CRITICAL
    id: str | None = None
    time: str | None = None
    session: str | None = None
    mapping: dict[str, str] = Field(default_factory=dict)
    calibrated: dict[str, dict[str, Any]] = Field(default_factory=dict)  # by evaluator: what calibrated_by returns

    @property
    def parameters(self) -> dict[str, dict[str, Any]]:
        """The parameters of each evaluator by its id, with its calibrated thresholds."""
        return {id: with_thresholds(values, self.thresholds(id)) for id, values in self.evaluators.items()}

    @property
    def chosen_evaluators(self) -> Chosen:
        """The evaluators with these parameters."""
        return choose(list(self.evaluators), self.parameters)

    def thresholds(self, id: str) -> dict[str, float]:
        """Return the calibrated thresholds of an evaluator in force, by metric or parameter."""
        return dict(self.calibrated.get(id, {}).get("calibrated", {}))

    def calibrations(self, id: str) -> dict[str, Calibration]:
        """Return what is known about an evaluator's metrics with the monitor's models, by metric or parameter."""
        return {one.metric: one for one in map(calibration_of, self.calibrated.get(id, {}).get("calibrations", []))}

    @property
    def limits(self) -> Limits:
        """Return the limits that the status is decided by."""
        return Limits(self.minimum, self.warning, self.critical)

    def complete(self, workspace: Path | None = None) -> "Spec":
        """Return it with every parameter of every evaluator, so that new defaults change nothing; InputError.

        In a `workspace` also with the thresholds calibrated for its models, and with the weights of a local judge.
        """
        spec = self.model_copy(update={"evaluators": _values(self.evaluators)})
        if workspace is None:
            return spec
        resources = saved_settings(self.resources)
        calibrated = {
            id: found
            for id, (entry, values) in choose(list(spec.evaluators), spec.evaluators).items()
            if (found := calibrated_by(entry, values, resources, workspace))
        }
        return spec.model_copy(update={"resources": resources, "calibrated": calibrated})

    def differs(self, given: Mapping[str, Any]) -> list[InputProblem]:
        """Return what `given` would change; the pace and budget of a judge may change."""
        own = self.model_dump()
        found = []
        for name, value in given.items():
            part = {"resources": _bearing, "evaluators": _values}.get(name, lambda whole: whole)
            if part(value) != part(own[name]):
                expected = f"{own[name]!r}, which the monitor was created with; or another --name"
                found.append(InputProblem(f"--{name}", repr(value), expected))
        return found


def _values(evaluators: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    return {id: values.model_dump(mode="json") for id, (_, values) in choose(list(evaluators), evaluators).items()}


def _bearing(resources: Mapping[str, Any]) -> dict[str, Any]:
    judge = resources.get("judge")
    return {**resources, "judge": settings_of(judge).with_weights().numbers() if judge else None}


@dataclass(slots=True)
class State:
    """How far a monitor has read. `read` counts lines that are not blank; of these `bad` could not be used, `sampled`
    were judged (or judging failed), `unscored` of them have no result, and `duplicates` had been sampled before.
    """

    parts: list[str] = field(default_factory=list)
    number: int = 0  # of the next part
    read: int = 0
    bad: int = 0
    sampled: int = 0
    unscored: int = 0
    duplicates: int = 0
    bad_lines: list[dict[str, Any]] = field(default_factory=list)
    sources: list[dict[str, Any]] = field(default_factory=list)  # name, offset, line, open, mark
    standings: list[dict[str, Any]] = field(default_factory=list)  # Standing, all together first
    lately: int = 0  # number of samples of the latest window
    evidence: dict[str, Any] | None = None  # see Evidence.as_json; None: not fed since an earlier version
    # sequence, status, previous, sampled; at: when it was seen; line_at: time of the latest line before it, if it has
    # one; told: whether the hook was called, None where there was none
    changes: list[dict[str, Any]] = field(default_factory=list)
    hook_failures: list[str] = field(default_factory=list)
    reference: dict[str, str] | None = None  # run and model
    spend: dict[str, Any] = field(default_factory=dict)
    updated: str = ""
    seals: dict[str, str] = field(default_factory=dict)  # the sha256 of each part's file; of an earlier version none

    @property
    def health(self) -> str:
        """The status of all together."""
        return str(self.standings[0]["health"]) if self.standings else "insufficient_data"


class Monitor:
    """One monitor of a workspace. The process that holds it writes; all others only read."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.name = folder.name

    @property
    def spec(self) -> Spec:
        """Return the specification of the monitor. Raises InputError where its file cannot be read."""
        try:
            return Spec.model_validate(read_sealed(self.folder / "spec.json")["spec"])
        except (OSError, ValueError, TypeError, KeyError, RecursionError) as failure:
            raise self._damaged("spec.json", failure) from None

    @property
    def window(self) -> Window:
        """The window that its pass rates cover."""
        return Window.parse(self.spec.window)

    @property
    def state(self) -> State:
        """How far it has read, as last committed. Raises InputError where the file cannot be read."""
        try:
            facts = read_sealed(self.folder / "state.json")
            return State() if facts is None else State(**facts)
        except (OSError, ValueError, TypeError, RecursionError) as failure:
            raise self._damaged("state.json", failure) from None

    def check_origin(self) -> None:
        """Raise InputError where the monitor was not created here and does more than compute; see store.origin."""
        spec = self.spec
        if (effects := effects_of(spec.evaluators, spec.resources)) and not is_signed(self.folder / "spec.json"):
            raise from_elsewhere(f"monitor {self.name}", effects)

    def _damaged(self, name: str, failure: BaseException) -> InputError:
        expected = "the file that the monitor wrote: restore it from a backup, or begin a monitor of another --name"
        return InputError([InputProblem(str(self.folder / name), str(failure).partition("\n")[0], expected)])

    @property
    def is_running(self) -> bool:
        """Whether a process is working on it."""
        return is_held(self.folder / "lock")

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Hold the monitor for writing, and delete what a killed process left; RunBusy where another one holds it."""
        busy = f"the monitor {self.name} is in use by another process; choose another --name"
        with hold_lock(self.folder / "lock", busy):
            named = {f"{kind}-{part}.parquet" for part in self.state.parts for kind in PART_SCHEMAS}
            with stored_at(self.folder):
                for file in self.folder.iterdir():
                    if file.suffix == ".part" or (file.suffix == ".parquet" and file.name not in named):
                        file.unlink()
            yield

    def commit(self, state: State, samples: pa.Table | None = None, scores: pa.Table | None = None) -> None:
        """Write samples and their scores as the next part, where there are any, then the state that names it."""
        gone: list[str] = []
        if samples is not None and scores is not None and len(samples):
            part = f"{state.number:08d}"
            self._write(state, part, samples, scores)
            state.parts.append(part)
            state.number += 1
            small = [part for part in state.parts if "-" not in part]
            if len(small) == MERGED:
                merged = f"{small[0]}-{small[-1]}"
                self._write(state, merged, *(self._read_parts(state, kind, small) for kind in ("samples", "scores")))
                state.parts = [part for part in state.parts if part not in small] + [merged]
                gone = small
        state.seals = {name: seal for name, seal in state.seals.items() if name.split("-", 1)[1][:-8] in state.parts}
        state.updated = datetime.now(UTC).isoformat(timespec="seconds")
        write_sealed(self.folder / "state.json", asdict(state))
        with stored_at(self.folder):
            for part in gone:
                for kind in PART_SCHEMAS:
                    self._file(kind, part).unlink()

    def _write(self, state: State, part: str, samples: pa.Table, scores: pa.Table) -> None:
        for kind, table in (("samples", samples), ("scores", scores)):
            file = self._file(kind, part)
            write_table(file, table)
            state.seals[file.name] = digest_of(file)

    def _file(self, kind: str, part: str) -> Path:
        return self.folder / f"{kind}-{part}.parquet"

    def _whole_file(self, state: State, kind: str, part: str) -> Path:
        """Return the file of a part. Raises InputError naming it where it is lost or differs from its seal."""
        file = self._file(kind, part)
        try:
            return check_digest(file, state.seals.get(file.name))
        except (OSError, ValueError) as failure:
            raise self._damaged(file.name, failure) from None

    def _read_parts(self, state: State, kind: str, parts: list[str], columns: Sequence[str] | None = None) -> pa.Table:
        """Return rows of parts; those of an earlier version lack columns. Raises InputError naming a damaged file."""
        tables = []
        for part in parts:
            file = self._whole_file(state, kind, part)
            try:
                tables.append(conformed(stored_rows(file, columns), PART_SCHEMAS[kind], columns))
            except UNREADABLE as failure:
                raise self._damaged(file.name, failure) from None
        return pa.concat_tables(tables)

    def latest(self, least: int) -> Iterator[tuple[pa.Table, pa.Table]]:
        """Yield samples and scores of the parts that hold the latest `least` samples or more, the oldest first."""
        parts: list[str] = []
        state, held_samples = self.state, 0
        for part in reversed(state.parts):
            if held_samples >= least:
                break
            parts.append(part)
            held_samples += len(self._read_parts(state, "samples", [part], ["number"]))
        for part in reversed(parts):
            yield self._read_parts(state, "samples", [part]), self._read_parts(state, "scores", [part])

    def keys(self, least: int) -> list[int]:
        """Return the keys of the latest `least` samples with a key, or more, the oldest first."""
        found: list[list[int]] = []
        state = self.state
        for part in reversed(state.parts):
            if sum(map(len, found)) >= least:
                break
            column = self._read_parts(state, "samples", [part], ["key"])["key"]
            found.append(column.drop_null().to_pylist())
        return [key for keys in reversed(found) for key in keys]

    def query(self, sql: str, parameters: list[Any] | None = None) -> "pd.DataFrame":
        """Return the result of a SQL query (DuckDB) over `samples` and `scores`, as last committed."""
        import duckdb

        for attempt in range(READ_TRIES):
            state = self.state
            connection = duckdb.connect(":memory:", config={"threads": 2})
            try:
                for kind, schema in PART_SCHEMAS.items():
                    files = [str(self._whole_file(state, kind, part)) for part in state.parts]
                    if files:  # those of an earlier version lack columns
                        connection.register(f"no_{kind}", schema.empty_table())
                        rows = connection.read_parquet(files, union_by_name=True)
                        rows.create_view(f"stored_{kind}")
                        connection.execute(f"CREATE VIEW {kind} AS FROM no_{kind} UNION ALL BY NAME FROM stored_{kind}")
                    else:
                        connection.register(kind, schema.empty_table())
                return connection.execute(sql, parameters or []).df()
            except (duckdb.IOException, InputError):
                if attempt == READ_TRIES - 1 or self.state.parts == state.parts:  # else parts were merged in between
                    raise
            except duckdb.Error as failure:
                if state.seals:
                    raise
                raise self._damaged("samples or scores", failure) from None
            finally:
                connection.close()
        raise AssertionError("unreachable")


def monitor(workspace: Workspace, name: str) -> Monitor:
    """Return the monitor of that name; RunNotFound where there is none."""
    folder = own_folder(workspace.path, FOLDER, check_name(name))
    if not (folder / "spec.json").exists():
        raise RunNotFound(f"there is no monitor {name!r} in {workspace.path}; `python -m metrics monitor` creates one")
    return Monitor(folder)


def monitors(workspace: Workspace) -> list[Monitor]:
    """Return every monitor of a workspace, by name."""
    return [Monitor(spec.parent) for spec in list_paths(workspace.path / FOLDER, "*/spec.json")]


def create(workspace: Workspace, name: str, spec: Spec) -> Monitor:
    """Create a monitor that judges by `spec`, completed in this workspace, and return it."""
    folder = make_folder(own_folder(workspace.path, FOLDER, check_name(name)))
    facts = {"schema": SCHEMA_VERSION, "created": datetime.now(UTC).isoformat(timespec="seconds")}
    write_sealed(folder / "spec.json", facts | {"spec": spec.complete(workspace.path).model_dump(mode="json")})
    sign_file(folder / "spec.json")
    return Monitor(folder)


def check_name(name: str) -> str:
    """Return the name where it is fit for a folder, else raise InputError."""
    if not NAME.fullmatch(name):
        expected = "up to 64 letters, digits, dots, dashes and underscores, a letter or digit first"
        raise InputError([InputProblem("--name", repr(name), expected)])
    return name
