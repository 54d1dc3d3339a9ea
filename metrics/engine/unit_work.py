"""Doing one work unit, in a worker process: load its rows, call the evaluator, check the scores, return tables."""

import gc
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metrics.core.array_types import Ints
from metrics.core.cases import Cases
from metrics.core.evaluator import Aggregate, CaseScore, Evaluator, Parameters, Status, no_output
from metrics.core.label_keys import find
from metrics.core.registry import choose
from metrics.core.sampling_design import SamplingDesign, group_equal_inputs
from metrics.core.schema import AGGREGATES, JUDGEMENTS, REPLICATES, SCORES, SLICE
from metrics.core.score_columns import STATUSES, ScoreColumns
from metrics.core.suite import Outputs, Suite, with_source
from metrics.engine.aggregate import bounds_of_missing
from metrics.engine.deadlines import Limits, begin, longest
from metrics.engine.judge_case import failed_score
from metrics.engine.load_resources import Resources
from metrics.engine.parts import Parts, UnitResult
from metrics.engine.plan import Unit, plan
from metrics.engine.run_plugins import Shipped, receive, shipped
from metrics.engine.score_cases import columns_of, score_cases, withhold_passes
from metrics.store import Run, Workspace

UNWEIGHTED = "The weights of the cases do not count here: the benchmark counts every image once."
GIVEN = "given/"  # begins the name of a table of rows that earlier runs have, see engine.reuse
YOUNG = 5 * SLICE  # objects before the garbage collector looks among them; those of a slice are freed without it


@dataclass(frozen=True, slots=True)
class Job:
    """What a worker needs to do a unit: small, picklable, the same on any machine that sees the workspace.

    `carried`: what the unit reads beside suite and outputs as a whole, for a machine that does not; see `carry`.
    `timeout`: the seconds that a case may take, 0 for no limit; `late`: the places of cases that have taken longer
    before and are errors now, with the reason; `grouped`: cases that ask the same are a group; `alone`: a batch is
    scored case by case.
    """

    workspace: Path
    suite: str
    outputs: str
    parameters: Mapping[str, Any]
    unit: Unit
    resources: Mapping[str, Any]
    run: Path
    plugins: tuple[Shipped, ...] = ()
    carried: Mapping[str, pa.Table] = field(default_factory=dict)
    timeout: float = 0.0
    late: Mapping[int, str] = field(default_factory=dict)
    grouped: bool = False
    alone: bool = False

    @classmethod
    def of(cls, run: Run, unit: Unit, late: Mapping[int, str] | None = None, alone: bool = False) -> "Job":
        """Return the job of one of a run's units."""
        spec = run.spec
        return cls(
            run.workspace.path,
            spec.suite.fingerprint,
            spec.outputs.fingerprint,
            run.evaluators[unit.evaluator],
            unit,
            spec.resources,
            run.folder,
            shipped(run),
            timeout=spec.case_timeout,
            late=dict(late or {}),
            grouped=spec.groups_equal_inputs,
            alone=alone,
        )

    def evaluator(self) -> tuple[Evaluator, Parameters]:
        """Return the unit's evaluator with its parameters."""
        return choose([self.unit.evaluator], {self.unit.evaluator: self.parameters})[self.unit.evaluator]

    def stored_suite(self) -> Suite:
        """Return the suite that the unit is about, its questions as source texts where its evaluator lacks these."""
        found = with_source(Workspace(self.workspace).suite(self.suite), self.evaluator()[0].inputs)
        return group_equal_inputs(found) if self.grouped else found

    def late_scores(self) -> dict[int, CaseScore]:
        """Return the scores of the cases that have taken too long, by place."""
        return {place: CaseScore({}, Status.ERROR, reason) for place, reason in self.late.items()}

    def carry(self) -> "Job":
        """Return the job with its own rows read: the outputs of its cases, or the scores that it follows."""
        if self.carried:
            return self
        entry, parameters = self.evaluator()
        carried: dict[str, pa.Table] = {}
        if entry.shape != "dataset":
            unit, workspace = self.unit, Workspace(self.workspace)
            rows = workspace.placed_rows(self.outputs, self.suite, unit.start, unit.stop)
            rows = rows.append_column("model", pa.repeat(pa.scalar(unit.model, pa.string()), len(rows)))
            given = Parts(self.run).read_given(unit.name)
            carried |= {GIVEN + name: table for name, table in given.items()}
            carried["rows"] = rows.take(pa.array(self._places(carried))) if given else rows
            if unit.last:
                carried["absent"] = _absent(self, self.stored_suite())
        elif entry.follows:
            carried["scores"] = _followed(self.run, self.unit.model, parameters.followed())
        return replace(self, carried=carried)

    def _places(self, carried: Mapping[str, pa.Table]) -> Ints:
        """Return the places in the unit of the rows that no earlier run gives."""
        places, given = np.arange(self.unit.stop - self.unit.start), carried.get(GIVEN + "scores")
        return places if given is None else np.setdiff1d(places, given["place"].to_numpy())

    def with_given(self, name: str, table: pa.Table, counts: int | Sequence[int]) -> pa.Table:
        """Return a table of the unit's own rows, so many (`counts`) of each, with those given, in the unit's order."""
        given = self.carried.get(GIVEN + name)
        if given is None:
            return table
        both = pa.concat_tables([table, given.select(table.column_names)])
        places = np.concatenate([np.repeat(self._places(self.carried), counts), given["place"].to_numpy()])
        return both.take(pa.array(np.argsort(places, kind="stable")))


def perform(job: Job) -> UnitResult:
    """Do one unit. Any failure inside the evaluator becomes rows with status `error`."""
    begun = time.perf_counter()
    begin(None, longest(job.timeout))
    receive(job.plugins)
    job = job.carry()
    entry, parameters = job.evaluator()
    suite = job.stored_suite()
    resources = Resources(job.resources, job.workspace / "cache")
    _settle(entry.id)
    if entry.shape == "dataset":
        tables, failed = _data_set(job, entry, parameters, suite, resources)
    else:
        cases = unit_cases(job, suite)
        scores = score_cases(entry, parameters, cases, resources, job.timeout, job.late_scores(), job.alone)
        tables, failed = case_tables(job, entry, cases, scores)
    return UnitResult(tables, failed, time.perf_counter() - begun)


@cache
def _settle(evaluator: str) -> None:  # noqa: ARG001 - a part of the cache's key
    """Keep the garbage collector from walking over libraries and suite, and over cases and scores as they are made."""
    gc.freeze()
    young, *older = gc.get_threshold()
    if 0 < young < YOUNG:
        gc.set_threshold(YOUNG, *older)


def failed_unit(job: Job, reason: str) -> UnitResult:
    """Return the result of a unit that could not be done: every case an error with that reason, or its own.

    What earlier runs gave stays: of a unit that has nothing else it is the whole result.
    """
    entry, _ = job.evaluator()
    suite = job.stored_suite()
    if entry.shape == "dataset":
        rows = job.unit.rows
        return UnitResult({"aggregates": _aggregates(job.unit, _without_value(entry, reason, rows))}, rows, 0.0)
    job = job.carry()
    cases = unit_cases(job, suite)
    late, lost = job.late_scores(), CaseScore({}, Status.ERROR, reason)
    scores = [late.get(place, lost) for place in range(len(cases))]
    tables, failed = case_tables(job, entry, cases, columns_of(entry, cases, scores))
    if GIVEN + "judgements" in job.carried:
        tables["judgements"] = job.with_given("judgements", JUDGEMENTS.empty_table(), 0)
    return UnitResult(tables, failed, 0.0)


def unit_cases(job: Job, suite: Suite) -> Cases:
    """Return the cases of a job that carries its rows, with the model's outputs."""
    return Cases.joined(suite, job.carried["rows"], Workspace(job.workspace).outputs_files(job.outputs))


def case_tables(job: Job, entry: Evaluator, cases: Cases, scores: ScoreColumns) -> tuple[dict[str, pa.Table], int]:
    """Return the table of a unit's scores, with a row for each case without an output, and how many cases failed."""
    scores = withhold_passes(entry, cases, scores)
    table = job.with_given("scores", scores_table(entry, cases, scores), len(entry.metrics))
    if job.unit.last:
        rows = job.carried["absent"]
        absent = Cases.joined(job.stored_suite(), rows.append_column("model", pa.repeat(job.unit.model, len(rows))))
        missing = columns_of(entry, absent, [no_output()] * len(rows))
        table = pa.concat_tables([table, scores_table(entry, absent, missing)])
    failed = pc.sum(pc.equal(scores.status, STATUSES.index(Status.ERROR))).as_py()
    return {"scores": table}, failed or 0


def _absent(job: Job, suite: Suite) -> pa.Table:
    """Return id and position of the cases that the unit's model has no output for; the unit is the model's last."""
    workspace, stop = Workspace(job.workspace), job.unit.stop
    start = stop - workspace.outputs_facts(job.outputs)["models"][job.unit.model]["rows"]
    absent = np.ones(len(suite), bool)
    absent[workspace.positions(job.outputs, job.suite, start, stop)] = False
    without = np.flatnonzero(absent)
    return pa.table({"case_id": suite.cases["case_id"].take(pa.array(without)), "position": without})


def scores_table(entry: Evaluator, cases: Cases, scores: ScoreColumns) -> pa.Table:
    """Return one row per case and metric (schema SCORES); a value outside its metric's range becomes an error."""
    own = {name: cases.column(name) for name in ("position", "model")}
    return _score_rows(entry, scores, **own, run=pc.fill_null(cases.column("run"), 1))


def _score_rows(entry: Evaluator, scores: ScoreColumns, **of_cases: pa.Array) -> pa.Table:
    """Return the table of `scores`; `of_cases`: position, model and run of each case."""
    width = len(entry.metrics)
    columns = {"case_id": scores.case_ids, **of_cases}
    if width != 1:
        repeated = pa.array(np.repeat(np.arange(len(scores)), width))
        columns = {name: column.take(repeated) for name, column in columns.items()}
    evaluator = pa.repeat(pa.scalar(entry.id, pa.string()), len(scores) * width)
    return pa.table(columns | {"evaluator": evaluator} | scores.rows(entry.metrics), schema=SCORES)


def _data_set(
    job: Job, entry: Evaluator, parameters: Parameters, suite: Suite, resources: Resources
) -> tuple[dict[str, pa.Table], int]:
    unit = job.unit
    case_ids = None
    if unit.tag is not None:
        case_ids = suite.matching({"tag": unit.tag})
        suite = suite.restricted(case_ids)
    outputs = _outputs(job.workspace, job.outputs, unit.model).restricted(None, unit.run, case_ids)
    try:
        given = resources.models(entry, parameters)
        if entry.follows:
            given["scores"] = job.carried["scores"]
        limits = Limits.of(entry, parameters, len(outputs.outputs), job.timeout)
        begin(None, limits.whole)
        findings = find(entry, suite, outputs, parameters, given)
    except Exception as failure:
        score = failed_score(failure)
        missing = _aggregates(unit, _without_value(entry, score.reason or "", len(suite)))
        return {"aggregates": missing}, len(suite) if score.status is Status.ERROR else 0
    begin(None, limits.longest)
    aggregates = findings.aggregates
    if not entry.weighs_cases and SamplingDesign.of(suite.cases).weights is not None:
        aggregates = [replace(row, reason=f"{row.reason or ''} {UNWEIGHTED}".strip()) for row in aggregates]
    tables = {"aggregates": _aggregates(unit, aggregates)}
    scores = _data_set_scores(entry, unit, suite, findings.cases) if findings.cases else SCORES.empty_table()
    if len(scores) and any(row.unscored for row in aggregates):
        design = SamplingDesign.of(suite.cases)
        tables["aggregates"] = bounds_of_missing(entry, tables["aggregates"], scores, design)
    replicates = _replicates(unit, findings.aggregates)
    if replicates.num_rows:
        tables["replicates"] = replicates
    if unit.tag is not None:
        return tables, 0
    if findings.cases:
        tables["scores"] = scores
    for name, table in (("curves", findings.curves), ("matches", findings.matches)):
        if table is not None:
            table = table.add_column(0, "run", pa.repeat(pa.scalar(unit.run, pa.int32()), len(table)))
            tables[f"{name}/{entry.id}"] = table.add_column(0, "model", pa.repeat(unit.model, len(table)))
    return tables, 0


def _data_set_scores(entry: Evaluator, unit: Unit, suite: Suite, scores: Mapping[str, CaseScore]) -> pa.Table:
    """Return the table of the scores that a data-set evaluator gives cases, of the metrics that they have."""
    if not isinstance(scores, ScoreColumns):
        given = dict.fromkeys(name for score in scores.values() for name in score.values)
        settled = list(map(entry.settle, scores.values()))
        scores = ScoreColumns.of(pa.array(list(scores), pa.string()), list(given), settled)
    return _score_rows(
        replace(entry, metrics=tuple(metric for metric in entry.metrics if metric.name in scores.metrics)),
        scores,
        position=pc.index_in(scores.case_ids, suite.cases["case_id"].combine_chunks()),
        model=pa.repeat(pa.scalar(unit.model, pa.string()), len(scores)),
        run=pa.repeat(pa.scalar(unit.run or 1, pa.int32()), len(scores)),
    )


def _without_value(entry: Evaluator, reason: str, cases: int) -> list[Aggregate]:
    return [Aggregate(metric.name, None, unscored=cases, reason=reason) for metric in entry.metrics]


def _slice(unit: Unit) -> str | None:
    return None if unit.tag is None else f"tag={unit.tag}"


def _aggregates(unit: Unit, aggregates: Sequence[Aggregate]) -> pa.Table:
    rows = [
        {
            "model": unit.model, "run": unit.run, "evaluator": unit.evaluator, "metric": entry.metric,
            "label": entry.label, "slice": _slice(unit),
            "value": entry.value, "low": entry.low, "high": entry.high, "interval": entry.interval,
            "n": entry.n, "unscored": entry.unscored, "reason": entry.reason,
            "not_applicable": 0, "parse_failure": 0, "error": 0, "skipped": 0,
            "columns": json.dumps(dict(entry.columns), ensure_ascii=False),
        }
        for entry in aggregates
    ]  # fmt: skip
    return pa.Table.from_pylist(rows, schema=AGGREGATES)


def _replicates(unit: Unit, aggregates: Sequence[Aggregate]) -> pa.Table:
    """Return the replicates of the numbers over all labels."""
    rows = [
        {
            "model": unit.model, "evaluator": unit.evaluator, "metric": entry.metric,
            "slice": _slice(unit), "value": entry.value, "n": entry.n,
            "columns": json.dumps(dict(entry.columns), ensure_ascii=False), "replicates": entry.replicates,
        }
        for entry in aggregates
        if entry.label is None and entry.value is not None and entry.replicates is not None and len(entry.replicates)
    ]  # fmt: skip
    return pa.Table.from_pylist(rows, schema=REPLICATES)


@lru_cache(maxsize=1)  # the slices of a model come one after the other
def _followed(folder: Path, model: str, evaluators: tuple[str, ...]) -> pa.Table:
    """Return the stored scores of a model by these evaluators of a run that is being done."""
    run = Run(folder)
    units = [unit for unit in plan(run) if unit.model == model and unit.evaluator in evaluators]
    columns = [name for name in SCORES.names if name != "evidence"]
    return pa.concat_tables([SCORES.empty_table().select(columns), *Parts(folder).read(units, "scores", columns)])


@lru_cache(maxsize=1)  # the tags of a model come one after the other
def _outputs(workspace: Path, fingerprint: str, model: str) -> Outputs:
    return Workspace(workspace).outputs(fingerprint, model)
