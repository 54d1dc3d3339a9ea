"""Doing one work unit, in a worker process: load its rows, ask the evaluator, check what comes back, return tables."""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metrics.core.errors import MissingResource
from metrics.core.evaluator import (
    Aggregate,
    CaseScore,
    Evaluator,
    Findings,
    Parameters,
    Status,
    not_applicable,
    unreadable_value,
)
from metrics.core.registry import choose
from metrics.core.schema import AGGREGATES, REPLICATES, SCORES
from metrics.core.suite import Case, Outputs, Suite, join_cases
from metrics.engine.plan import Unit
from metrics.models import equip
from metrics.store import Workspace

NAMES = {
    "question": "question", "expected_answers": "expected answer", "retrieved_contexts": "retrieved contexts",
    "answer": "answer", "conditions": "conditions", "citations": "citations", "source_text": "source text",
    "trace": "trace or artifacts", "label": "label",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Job:
    """What a worker needs to do a unit: small, picklable, the same on any machine that sees the workspace."""

    workspace: Path
    suite: str
    outputs: str
    parameters: Mapping[str, Any]
    unit: Unit
    resources: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Done:
    """What a unit made: tables by name, how many cases ended in an error, seconds of work."""

    tables: Mapping[str, pa.Table]
    failed: int
    seconds: float


def perform(job: Job) -> Done:
    """Do one unit. Whatever goes wrong inside the evaluator becomes rows with status `error`."""
    begun = time.perf_counter()
    entry, parameters = choose([job.unit.evaluator], {job.unit.evaluator: job.parameters})[job.unit.evaluator]
    suite = Workspace(job.workspace).suite(job.suite)
    if entry.shape == "dataset":
        tables, failed = _data_set(job, entry, parameters, suite)
    else:
        tables, failed = _cases(job, entry, parameters, suite)
    return Done(tables, failed, time.perf_counter() - begun)


def lost(job: Job, reason: str) -> Done:
    """Return what stands for a unit that could not be done at all: every case an error with that reason."""
    entry, _ = choose([job.unit.evaluator], {job.unit.evaluator: job.parameters})[job.unit.evaluator]
    suite = Workspace(job.workspace).suite(job.suite)
    score = CaseScore({}, Status.ERROR, reason)
    if entry.shape == "dataset":
        return Done(
            {"aggregates": _aggregates(job.unit, _without_value(entry, reason, job.unit.rows))}, job.unit.rows, 0.0
        )
    cases = joined(job, suite)
    return Done(*case_tables(job, entry, suite, cases, [score] * len(cases)), 0.0)


def joined(job: Job, suite: Suite) -> list[Case]:
    """Return the cases of a unit, with the model's outputs."""
    workspace = Workspace(job.workspace)
    rows = workspace.outputs_rows(job.outputs, job.unit.start, job.unit.stop)
    return list(join_cases(suite, Outputs(rows, files=workspace.outputs_files(job.outputs))))


def _cases(job: Job, entry: Evaluator, parameters: Parameters, suite: Suite) -> tuple[dict[str, pa.Table], int]:
    cases = joined(job, suite)
    results: list[CaseScore | None] = [lacking_inputs(entry, case) for case in cases]
    open_places = [place for place, result in enumerate(results) if result is None]
    found = answered(entry, parameters, [cases[place] for place in open_places], job.resources, job.workspace / "cache")
    for place, score in zip(open_places, found, strict=True):
        results[place] = score
    return case_tables(job, entry, suite, cases, results)


def case_tables(
    job: Job, entry: Evaluator, suite: Suite, cases: Sequence[Case], results: Sequence[CaseScore | None]
) -> tuple[dict[str, pa.Table], int]:
    """Return the scores of a unit's cases as its table, with the cases that have no output; how many ended in an
    error.
    """
    scores = [result if result is not None else not_applicable("not asked") for result in results]
    if job.unit.last:
        absent = _absent(job, suite)
        cases = [*cases, *absent]
        scores += [not_applicable("the model has no output for this case")] * len(absent)
    failed = sum(score.status is Status.ERROR for score in scores)
    return {"scores": scores_table(entry, suite, cases, scores)}, failed


def _absent(job: Job, suite: Suite) -> list[Case]:
    answered = _all_outputs(job.workspace, job.outputs).restricted(job.unit.model).outputs["case_id"].unique()
    missing = suite.cases["case_id"].filter(pc.invert(pc.is_in(suite.cases["case_id"], answered)))
    return [Case(case_id=case_id, model=job.unit.model) for case_id in missing.to_pylist()]


def lacking_inputs(entry: Evaluator, case: Case) -> CaseScore | None:
    """Return why the case cannot be asked about: inputs it lacks; None where it has them all."""
    missing = [NAMES[name] for name in entry.lacking(case)]
    return not_applicable(f"the case has no {' and no '.join(missing)}") if missing else None


def answered(
    entry: Evaluator,
    parameters: Parameters,
    cases: Sequence[Case],
    settings: Mapping[str, Any],
    cache_folder: Path,
) -> list[CaseScore]:
    """Return the score of each case by an evaluator that asks no judge; the cases have every input that it needs.

    `settings` chooses the models, see metrics.models.provide. What fails is `error`, what lacks a model `skipped`.
    """
    if not cases:
        return []
    try:
        resources = equip(entry, parameters, settings, cache_folder)
        if entry.shape == "batch":
            scores: list[CaseScore] = entry(cases, parameters, **resources)
            return scores
    except Exception as failure:
        return [failed_score(failure)] * len(cases)
    return [_guarded(entry, parameters, case, resources) for case in cases]


def _guarded(entry: Evaluator, parameters: Parameters, case: Case, resources: Mapping[str, Any]) -> CaseScore:
    try:
        score: CaseScore = entry(case, parameters, **resources)
    except Exception as failure:  # one case must not take the others with it
        return failed_score(failure)
    return score


def failed_score(failure: Exception) -> CaseScore:
    """Return the score of a case that could not be asked: `skipped`, with how to get it, where only a model is
    missing.
    """
    if isinstance(failure, MissingResource):
        return CaseScore({}, Status.SKIPPED, str(failure))
    return CaseScore({}, Status.ERROR, f"{type(failure).__name__}: {failure}")


def scores_table(entry: Evaluator, suite: Suite, cases: Sequence[Case], scores: Sequence[CaseScore]) -> pa.Table:
    """One row per case and metric; a value outside its metric's range is an error, never a number."""
    columns: dict[str, list[Any]] = {name: [] for name in ("metric", "value", "status", "reason", "evidence")}
    for score in scores:
        evidence = (
            None if score.evidence is None else json.dumps(score.evidence.record, ensure_ascii=False, default=str)
        )
        for metric in entry.metrics:
            value, status, reason = score.values.get(metric.name), Status.OK, None
            if value is None:
                status = Status.NOT_APPLICABLE if score.status is Status.OK else score.status
                reason = score.reason
            elif (complaint := unreadable_value(metric, value)) is not None:
                value, status, reason = None, Status.ERROR, complaint
            columns["metric"].append(metric.name)
            columns["value"].append(value)
            columns["status"].append(status.value)
            columns["reason"].append(reason)
            columns["evidence"].append(evidence)
            evidence = None
    width = len(entry.metrics)
    case_ids = pa.array([case.case_id for case in cases], pa.string())
    positions = pc.index_in(case_ids, suite.cases["case_id"].combine_chunks())
    repeated = pa.array(np.repeat(np.arange(len(cases)), width))
    return pa.table(
        {
            "case_id": case_ids.take(repeated),
            "position": positions.take(repeated),
            "model": pa.array([case.model for case in cases], pa.string()).take(repeated),
            "run": pa.array([case.run for case in cases], pa.int32()).take(repeated),
            "evaluator": pa.array([entry.id] * (width * len(cases)), pa.string()),
            **columns,
        },
        schema=SCORES,
    )


def _data_set(job: Job, entry: Evaluator, parameters: Parameters, suite: Suite) -> tuple[dict[str, pa.Table], int]:
    unit = job.unit
    case_ids = None
    if unit.tag is not None:
        tags = suite.cases["tags"].to_pylist()
        held = [
            case_id
            for case_id, own in zip(suite.cases["case_id"].to_pylist(), tags, strict=True)
            if own and unit.tag in own
        ]
        case_ids = pa.array(held, pa.string())
        suite = suite.restricted(case_ids)
    outputs = _all_outputs(job.workspace, job.outputs).restricted(unit.model, unit.run, case_ids)
    try:
        resources = equip(entry, parameters, job.resources, job.workspace / "cache")
        findings: Findings = entry(suite, outputs, parameters, **resources)
    except MissingResource as failure:
        return {"aggregates": _aggregates(unit, _without_value(entry, str(failure), len(suite)))}, 0
    except Exception as failure:
        reason = f"{type(failure).__name__}: {failure}"
        return {"aggregates": _aggregates(unit, _without_value(entry, reason, len(suite)))}, len(suite)
    tables = {"aggregates": _aggregates(unit, findings.aggregates)}
    replicates = _replicates(unit, findings.aggregates)
    if replicates.num_rows:
        tables["replicates"] = replicates
    if unit.tag is not None:
        return tables, 0
    if findings.cases:
        cases = [Case(case_id=case_id, model=unit.model, run=unit.run or 1) for case_id in findings.cases]
        per_case = {name for score in findings.cases.values() for name in score.values}
        measured = replace(entry, metrics=tuple(metric for metric in entry.metrics if metric.name in per_case))
        tables["scores"] = scores_table(measured, suite, cases, list(findings.cases.values()))
    for name, table in (("curves", findings.curves), ("matches", findings.matches)):
        if table is not None:
            lead = {
                "model": pa.repeat(unit.model, table.num_rows),
                "run": pa.repeat(pa.scalar(unit.run, pa.int32()), table.num_rows),
            }
            tables[f"{name}/{entry.id}"] = pa.table(
                {**lead, **{column: table[column] for column in table.column_names}}
            )
    return tables, 0


def _without_value(entry: Evaluator, reason: str, cases: int) -> list[Aggregate]:
    return [Aggregate(metric.name, None, unscored=cases, reason=reason) for metric in entry.metrics]


def _aggregates(unit: Unit, aggregates: Sequence[Aggregate]) -> pa.Table:
    rows = [
        {
            "model": unit.model, "run": unit.run, "evaluator": unit.evaluator, "metric": entry.metric,
            "label": entry.label, "slice": None if unit.tag is None else f"tag={unit.tag}",
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
            "slice": None if unit.tag is None else f"tag={unit.tag}", "value": entry.value, "n": entry.n,
            "columns": json.dumps(dict(entry.columns), ensure_ascii=False), "replicates": entry.replicates,
        }
        for entry in aggregates
        if entry.label is None and entry.value is not None and entry.replicates is not None and len(entry.replicates)
    ]  # fmt: skip
    return pa.Table.from_pylist(rows, schema=REPLICATES)


@lru_cache(maxsize=2)
def _all_outputs(workspace: Path, fingerprint: str) -> Outputs:
    return Workspace(workspace).outputs(fingerprint)
