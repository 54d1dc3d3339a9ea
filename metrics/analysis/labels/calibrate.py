"""Calibration on a run's own labels: the threshold of a metric, for the models that it was computed with."""

import numpy as np

from metrics.analysis.labels.human_labels import criteria
from metrics.analysis.labels.judge_agreement import ENOUGH_CASES, Agreement, agreement, lacking
from metrics.analysis.labels.labelled_scores import LabelledScores, labelled_scores, metric_columns
from metrics.calibrations.calibrated_thresholds import models_used, settings_used
from metrics.core.calibration import FEWEST_LABELS, Calibration, separates
from metrics.core.errors import InputError, InputProblem
from metrics.core.registry import evaluators
from metrics.store import Run
from metrics.store.threshold_profiles import Calibrations

PROCEDURE = "highest balanced accuracy on the labels, its figure on cases left out of resamples"


def calibrate(run: Run, evaluator: str, metric: str, criterion: str, passing: float | None = None) -> Calibration:
    """Return what a run's labels of a criterion say about one of its metrics, with the threshold that they set.

    Grades from `passing` on are good, see `labelled_scores`. The threshold has the highest balanced accuracy on all
    labels; its own figure is that on the cases which resamples left out, of a random sample where there is one. It is
    None where the labels show that the metric does not separate good from bad. Raises InputError for fewer than 30
    outputs with label and score, labels of one kind only, a metric without a better end, an evaluator of another
    version, or a model that is no longer there.
    """
    known = evaluators()[evaluator]
    parameters = known.parameters(**run.evaluators[evaluator])
    both = labelled_scores(run, evaluator, metric, criterion, passing=passing)
    counted = both.part(both.counted)
    models = models_used(known, parameters, run.spec.resources)
    problems = [*_shortcomings(counted, f"{evaluator}.{metric}", criterion), *_version(run, known.version, evaluator)]
    if models is None:
        problems.append(InputProblem(evaluator, "a model that is not on this machine", "the model that the run used"))
    if problems or models is None:
        raise InputError(problems)
    found = agreement(both, threshold=None)
    auc, low, high = _known_auc(found)
    picked = ", picked outputs" if found.sample == "labelled" else ""
    good = separates(auc, low) and found.suggested.value is not None
    return Calibration(
        evaluator=evaluator,
        version=known.version,
        metric=metric,
        models=models,
        threshold=float(f"{found.suggested.value:.4g}") if good and found.suggested.value is not None else None,
        n=found.n,
        passed=int(counted.passed.sum()),
        data=f"“{criterion}” of suite {run.spec.suite.name}{picked}",
        auc=auc,
        auc_low=low,
        auc_high=high,
        balanced=found.balanced.value,
        balanced_low=found.balanced.low,
        balanced_high=found.balanced.high,
        procedure=PROCEDURE,
        settings=settings_used(parameters),
    )


def calibrated_here(run: Run, evaluator: str, metric: str) -> Calibration | None:
    """Return the workspace's own calibration of a metric that fits the run's models and parameters; None without."""
    known = evaluators()[evaluator]
    parameters = known.parameters(**run.evaluators[evaluator])
    models = models_used(known, parameters, run.spec.resources)
    wanted = (evaluator, known.version, metric, models, settings_used(parameters))
    stored = reversed(Calibrations(run.workspace.path).all())
    fits = (one for one in stored if (one.evaluator, one.version, one.metric, one.models, one.settings) == wanted)
    return next(fits, None)


def chosen_metric(run: Run, name: str) -> tuple[str, str]:
    """Return evaluator and metric that `METRIC` or `EVALUATOR.METRIC` names. Raises InputError where it is not one."""
    there = [key for key, column in metric_columns(run).items() if column.direction != "none"]
    found = [key for key in there if name in (key[1], ".".join(key))]
    if len(found) != 1:
        expected = ", ".join(".".join(key) for key in (found or there)) or "a run with values per case"
        raise InputError([InputProblem("--metric", repr(name), f"one of {expected}")])
    return found[0]


def chosen_criterion(run: Run, wanted: str | None, metric: str) -> str:
    """Return the criterion asked for, else the metric's own or the only one. Raises InputError where there is none."""
    names = [one.name for one in criteria(run)]
    asked = [name for name in names if name == (wanted or metric)] or (names if wanted is None else [])
    if len(asked) != 1:
        expected = f"one of {', '.join(names)}" if names else "labels of the run's outputs: --labels FILE"
        raise InputError([InputProblem("--criterion", repr(wanted) if wanted else "none", expected)])
    return asked[0]


def _shortcomings(both: LabelledScores, metric: str, criterion: str) -> list[InputProblem]:
    """Return why the labels cannot calibrate the metric."""
    where, n, good = f"labels of “{criterion}”", len(both.score), int(both.passed.sum())
    problems = []
    if both.column.direction == "none":
        problems.append(InputProblem(metric, "neither end of it is better", "a metric with a direction"))
    if n < FEWEST_LABELS:
        found = f"{n} outputs with a label and a score"
        problems.append(InputProblem(where, found, f"at least {FEWEST_LABELS}", column=metric))
    elif lacking(n, both.clusters):
        found = f"labels of {len(np.unique(both.clusters))} independent cases"
        problems.append(InputProblem(where, found, f"of at least {ENOUGH_CASES}", column=metric))
    elif not 0 < good < n:
        found = f"all {n} of them {'pass' if good else 'fail'}"
        problems.append(InputProblem(where, found, "outputs that pass and outputs that fail", column=metric))
    return problems


def _version(run: Run, version: int, evaluator: str) -> list[InputProblem]:
    used = run.spec.version(evaluator)
    if used == version:
        return []
    return [InputProblem(run.id, f"version {used} of {evaluator}", f"a run of version {version}: evaluate again")]


def _known_auc(found: Agreement) -> tuple[float, float, float]:
    """Return AUC and interval, which outputs of both kinds have."""
    value, low, high = found.auc.value, found.auc.low, found.auc.high
    if value is None:
        raise ValueError("outputs of one kind only have no AUC")
    return value, value if low is None else low, value if high is None else high
