"""Drift: whether recent scores are distributed like those of a reference run."""

from dataclasses import dataclass, replace

import numpy as np

from metrics.analysis.comparison.run_settings import changed_wordings, same_parameters
from metrics.core.array_types import Floats
from metrics.core.did_you_mean import one_of
from metrics.core.errors import InputError, InputProblem
from metrics.core.registry import wordings
from metrics.monitoring.monitor_store import Monitor
from metrics.stats.corrections import LEVEL, holm
from metrics.stats.drift import drift
from metrics.store import Run, Workspace

LEAST = 20  # scores on each side, below which nothing is tested
LARGEST = 5_000  # scores on each side that are tested: more take time and add nothing


@dataclass(frozen=True, slots=True)
class MetricDrift:
    """One metric's recent scores beside those of the reference run; statistics are None where there are too few.

    `p` is the smaller p of the two tests, adjusted by Holm over both tests of all metrics; `drifted`: it is below .05.
    """

    evaluator: str
    metric: str
    n: int
    n_reference: int
    mean: float | None
    mean_reference: float | None
    ks: float | None = None
    ks_p: float | None = None
    psi: float | None = None
    psi_p: float | None = None
    p: float | None = None
    reason: str | None = None

    @property
    def drifted(self) -> bool:
        """Whether the two distributions differ significantly."""
        return self.p is not None and self.p < LEVEL


def reference_of(workspace: Workspace, run_id: str, model: str | None = None) -> dict[str, str]:
    """Return the run, and the one model of it, to measure drift against; RunNotFound, RunError, InputError."""
    run = workspace.run(run_id, finished=True)
    run.table_path("scores")
    if model is None and len(run.models) > 1:
        raise InputError(
            [InputProblem("--reference-model", "none", f"one of the models of run {run.id}: {', '.join(run.models)}")]
        )
    if model is not None and model not in run.models:
        raise InputError([InputProblem("--reference-model", repr(model), one_of(model, run.models))])
    return {"run": run.id, "model": model or run.models[0]}


def drifts(monitor: Monitor) -> list[MetricDrift]:
    """Return the drift of each metric from the monitor's reference run; none where it has no reference."""
    reference = monitor.state.reference
    if reference is None:
        return []
    run = Workspace(monitor.folder.parent.parent).run(reference["run"], finished=True)
    rows = [
        _one(monitor, run, reference["model"], entry.id, metric.name)
        for entry, _ in monitor.spec.chosen.values()
        for metric in entry.metrics
        if metric.primary or not metric.minor
    ]
    tested = [place for place, row in enumerate(rows) if row.reason is None]
    adjusted = holm(np.array([[rows[place].ks_p, rows[place].psi_p] for place in tested], dtype=float).ravel())
    for place, p in zip(tested, adjusted.reshape(-1, 2).min(axis=1).tolist(), strict=True):
        rows[place] = replace(rows[place], p=p)
    return rows


def _one(monitor: Monitor, run: Run, model: str, evaluator: str, metric: str) -> MetricDrift:
    own = run.evaluators.get(evaluator)
    before = run.query(
        """SELECT value FROM scores WHERE model = ? AND evaluator = ? AND metric = ? AND value IS NOT NULL
           ORDER BY case_id, run""",
        [model, evaluator, metric],
    )["value"].to_numpy(np.float64)
    recent = _recent_scores(monitor, evaluator, metric)
    mean, mean_before = (float(values.mean()) if len(values) else None for values in (recent, before))
    reason = None
    if own is None:
        reason = "the reference run does not have this evaluator"
    elif not same_parameters(evaluator, own, monitor.spec.parameters[evaluator]):
        reason = "the reference run used other parameters"
    elif wordings := _changed_wordings(monitor, run, evaluator):
        reason = f"the reference run used {wordings}"
    elif min(len(recent), len(before)) < LEAST:
        reason = f"fewer than {LEAST} scores"
    row = MetricDrift(evaluator, metric, len(recent), len(before), mean, mean_before, reason=reason)
    if reason is not None:
        return row
    rng = np.random.default_rng(monitor.spec.seed)
    a, b = (
        values if len(values) <= LARGEST else rng.choice(values, LARGEST, replace=False) for values in (before, recent)
    )
    found = drift(a, b, monitor.spec.seed)
    return replace(row, ks=found.ks, ks_p=found.ks_p, psi=found.psi, psi_p=found.psi_p)


def _changed_wordings(monitor: Monitor, run: Run, evaluator: str) -> str:
    own = wordings(evaluator, monitor.spec.evaluators[evaluator], monitor.spec.resources)
    return changed_wordings(run.wordings(evaluator), own)


def _recent_scores(monitor: Monitor, evaluator: str, metric: str) -> Floats:
    """Return the values of the samples that the status rests on."""
    window = monitor.window
    if window.seconds is None:
        recent, bound = "number >= ?", monitor.state.sampled - monitor.state.lately
    else:
        recent, bound = """ "at" > (SELECT max("at") FROM samples) - to_seconds(?)""", window.seconds
    frame = monitor.query(
        f"""SELECT value FROM scores JOIN (SELECT number FROM samples WHERE {recent}) USING (number)
            WHERE evaluator = ? AND metric = ? AND value IS NOT NULL ORDER BY number""",
        [bound, evaluator, metric],
    )
    return frame["value"].to_numpy(np.float64)
