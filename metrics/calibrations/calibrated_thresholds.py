"""The thresholds in force: which calibrations fit the evaluators of a run or monitor, their parameters and models."""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from metrics import models
from metrics.core.calibration import Calibration, calibration_of, latest
from metrics.core.evaluator import JUDGE, LOCAL_MODELS, Evaluator, Parameters
from metrics.core.registry import evaluators
from metrics.judge.settings import JudgeSettings, settings_of
from metrics.store.threshold_profiles import Calibrations

# those of embedders by tests/benchmarks/bench_thresholds, those of the local judge by bench_local_judge
TABLE = Path(__file__).with_name("calibrations.json")
# parameters that no case's number depends on, or models
NOT_SETTINGS = {"threshold", "thresholds", "primary", *LOCAL_MODELS}


@cache
def shipped() -> Sequence[Calibration]:
    """Return the calibrations that come with Assay, by evaluator and metric: measured on public and our own labels."""
    return tuple(calibration_of(record) for record in json.loads(TABLE.read_text(encoding="utf-8")))


def models_used(entry: Evaluator, parameters: Parameters, resources: Mapping[str, Any]) -> dict[str, str] | None:
    """Return what the evaluator's numbers rest on: sha256 of weights, and the judge, by resource.

    None where it is not known: the weights are not on this machine yet, or no judge is chosen.
    """
    own = entry.settings(parameters, resources)
    found: dict[str, str | None] = {name: models.weights_of(name, own) for name in entry.local_models(parameters)}
    if JUDGE in parameters.used(entry.resources):
        judge = own.get(JUDGE)
        prompts = [prompt.id for prompt in entry.prompts]
        judges = settings_of(judge).judges if judge else ()
        found[JUDGE] = " + ".join(one.calibrated_as(prompts) for one in judges) or None
    known = {name: one for name, one in found.items() if one is not None}
    return known if len(known) == len(found) else None


def settings_used(parameters: Parameters) -> dict[str, Any]:
    """Return the parameters that differ from their defaults and that a case's number may depend on, as plain data."""
    given: dict[str, Any] = parameters.model_dump(mode="json", exclude_defaults=True, exclude=NOT_SETTINGS)
    return given


def calibrations_for(
    entry: Evaluator, parameters: Parameters, resources: Mapping[str, Any], workspace: Path
) -> list[Calibration]:
    """Return the calibrations that fit: the workspace's own before those that come with Assay."""
    ours = [one for one in shipped() if one.evaluator == entry.id]
    own = [one for one in Calibrations(workspace).all() if one.evaluator == entry.id]
    if not ours and not own:
        return []
    used = models_used(entry, parameters, resources)
    settings = settings_used(parameters)
    fitting = (one for one in (*ours, *own) if used is not None and dict(one.models) == used)
    return latest(one for one in fitting if one.version == entry.version and dict(one.settings) == settings)


def calibrated_by(
    entry: Evaluator, parameters: Parameters, resources: Mapping[str, Any], workspace: Path
) -> dict[str, Any]:
    """Return what a specification stores of the calibrations that fit; nothing where none does.

    `calibrated`: the thresholds in force, by metric or parameter; `calibrations`: the records of all.
    """
    found = calibrations_for(entry, parameters, resources, workspace)
    if not found:
        return {}
    return {"calibrated": in_force(entry, parameters, found), "calibrations": [one.record() for one in found]}


def shipped_for(judge: JudgeSettings) -> Iterator[Calibration]:
    """Yield what comes with Assay about evaluators with this judge, at their default parameters."""
    for one in shipped():
        if JUDGE not in one.models:  # before its evaluator is imported
            continue
        entry = evaluators()[one.evaluator]
        used = models_used(entry, entry.parameters.model_validate({}), {JUDGE: judge})
        if one.version == entry.version and dict(one.models) == used:
            yield one


def in_force(entry: Evaluator, parameters: Parameters, found: list[Calibration]) -> dict[str, float]:
    """Return the thresholds that calibrations set, by metric or parameter, where the parameters give none."""
    given = parameters.model_dump()
    set_by_hand = {*parameters.thresholds, *([entry.primary.name] if parameters.threshold is not None else [])}
    return {
        one.metric: one.threshold
        for one in found
        if one.threshold is not None and one.metric not in set_by_hand and given.get(one.metric) is None
    }
