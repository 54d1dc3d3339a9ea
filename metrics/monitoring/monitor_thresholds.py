"""A monitor's thresholds that belong to models: where they come from, and what has changed since it was created."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from metrics.analysis.leaderboard.leaderboard import Column, column_of
from metrics.calibrations.calibrated_thresholds import calibrated_by, models_used
from metrics.core.errors import InputError, InputProblem
from metrics.core.evaluator import Direction
from metrics.core.registry import choose
from metrics.monitoring.monitor_store import Monitor, Spec


class Recalibrated(NamedTuple):
    """A metric, or a parameter that is a cutoff, that was calibrated after the monitor was created.

    `own`: the threshold that the monitor judges by, None for none; `now`: that of a monitor created today.
    """

    evaluator: str
    metric: str
    own: float | None
    now: float


def columns(spec: Spec) -> list[Column]:
    """Return the monitored metrics as a leaderboard shows them, each with its threshold and its calibration."""
    return [
        replace(
            column_of(f"{entry.id}/{metric.name}", entry, metric, {}, metric.minor),
            by_model=bool(entry.local_models(parameters)) and metric.direction is not Direction.NONE,
            calibration=spec.calibrations(entry.id).get(metric.name),
        )
        for entry, parameters in spec.chosen_evaluators.values()
        for metric in entry.metrics
        if metric.primary or not metric.minor
    ]


def check_weights(monitor: Monitor, resources: Mapping[str, Any]) -> None:
    """Raise InputError where a threshold was calibrated for other weights than those that would judge now."""
    spec = monitor.spec
    problems = []
    for id, (entry, parameters) in choose(list(spec.evaluators), spec.evaluators).items():
        in_force = [one for one in spec.calibrations(id).values() if one.metric in spec.thresholds(id)]
        now = models_used(entry, parameters, resources) if in_force else None
        for one in in_force:
            if now is not None and now != dict(one.models):
                changed = ", ".join(f"{name} {now.get(name, 'none')[:12]}" for name in {**one.models, **now})
                stored = ", ".join(f"{name} {value[:12]}" for name, value in one.models.items())
                expected = f"{stored}, for which its threshold {one.threshold:g} was calibrated; or another --name"
                problems.append(InputProblem(f"monitor {monitor.name}", f"{id} with {changed}", expected))
    if problems:
        raise InputError(problems)


def recalibrated(monitor: Monitor) -> list[Recalibrated]:
    """Return the thresholds that a monitor created today would have otherwise."""
    spec, workspace = monitor.spec, monitor.folder.parent.parent
    return [
        Recalibrated(id, metric, spec.thresholds(id).get(metric), now)
        for id, (entry, parameters) in choose(list(spec.evaluators), spec.evaluators).items()
        for metric, now in calibrated_by(entry, parameters, spec.resources, workspace).get("calibrated", {}).items()
        if spec.thresholds(id).get(metric) != now
    ]
