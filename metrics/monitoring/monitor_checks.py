"""Whether a monitor can judge by its specification, which evaluators fit a file, and thresholds of models."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from metrics.analysis.leaderboard.leaderboard import Column, column_of
from metrics.calibrations.calibrated_thresholds import calibrated_by, models_used
from metrics.core.errors import InputError, InputProblem
from metrics.core.evaluator import Direction, Evaluator
from metrics.core.registry import choose, evaluators
from metrics.core.suite import Case
from metrics.engine.load_resources import missing_resources
from metrics.judge.keys import redact
from metrics.monitoring.line_reader import Place, Sampler, file_blocks, id_names, sampled
from metrics.monitoring.monitor_status import judged_metrics
from metrics.monitoring.monitor_store import Monitor, Spec
from metrics.monitoring.sampled_cases import cases_of

LINES_TRIED = 100  # sampled lines by which evaluators are chosen
FIRST = 50  # bad lines listed where no line is good


def check(spec: Spec) -> None:
    """Raise InputError where an evaluator is unfit for a monitor or lacks its model, or none has a threshold."""
    chosen = spec.chosen_evaluators
    problems = []
    for entry, parameters in chosen.values():
        if entry.shape == "dataset":
            problems.append(InputProblem("--evaluators", entry.id, "evaluators that score each case by itself"))
        elif not {"text", "agent"} & set(entry.tasks):
            problems.append(InputProblem("--evaluators", entry.id, f"evaluators of text; it is for {entry.tasks[0]}"))
        elif reason := missing_resources(entry, parameters, spec.resources):
            problems.append(InputProblem("--evaluators", f"{entry.id}, which cannot be used", reason))
    if not problems and not any(metric.primary for metric, _ in judged_metrics(chosen).values()):
        own = [f"--threshold {entry.id}.{entry.primary.name}=NUMBER" for entry, _ in chosen.values()]
        expected = "one whose primary metric has a threshold"
        if any(entry.local_models(parameters) for entry, parameters in chosen.values()):
            expected += f", calibrated for its models (python -m metrics calibrate) or given: {', '.join(own)}"
        problems.append(InputProblem("--evaluators", ", ".join(chosen), expected))
    try:
        Sampler(spec.rate, spec.seed)
    except InputError as failure:
        problems += failure.problems
    if not 0 <= spec.critical <= spec.warning <= 1:
        below = f"{spec.critical:g}, with a warning below {spec.warning:g}"
        problems.append(InputProblem("--critical", below, "pass rates 0 ≤ critical ≤ warning ≤ 1"))
    if problems:
        raise InputError(problems)


def fitting(path: Path, spec: Spec) -> list[str]:
    """Return the evaluators that a monitor of this file uses by default: those without models whose inputs are there.

    They are chosen by the first sampled lines; InputError where no line is good.
    """
    bad: list[InputProblem] = []

    def complain(line: int, found: str, expected: str) -> None:
        if len(bad) < FIRST:
            bad.append(InputProblem(path.name, redact(found), expected, line))

    with path.open("rb") as stream:
        sampler = Sampler(spec.rate, spec.seed)
        lines = sampled(file_blocks(stream, 0), Place(), sampler, id_names(spec.id), complain, ends=True)
        records = list(islice(filter(None, lines), LINES_TRIED))
    pairs, wrong = cases_of(path.name, records, spec.mapping) if records else ([], [])
    cases = [case for _, case in pairs]
    found = [entry.id for entry in evaluators().values() if cases and _fits(entry, cases)]
    if not found:
        usable = f"{len(cases)} sampled lines that can be judged"
        more = InputProblem(path.name, usable, "--evaluators whose inputs they have")
        raise InputError([*bad, *wrong, more])
    return found


def _fits(entry: Evaluator, cases: Sequence[Case]) -> bool:
    fit = "text" in entry.tasks and entry.shape != "dataset" and not entry.needs
    return fit and any(_has_inputs(entry, case) for case in cases)


def _has_inputs(entry: Evaluator, case: Case) -> bool:
    def has(name: str) -> bool:
        # whether expected answers are JSON is a matter of a whole suite: here they are words
        return bool(case.expected_answers if name == "worded_answers" else getattr(case, name, None))

    return not entry.lacking(has) and all(map(has, entry.default_needs))


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
