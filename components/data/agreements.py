"""Human labels beside a judge's scores: labels added, given; agreement, corrected means, bias and what sways it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from components.data.run_reads import of_run
from components.data.visitors import action, own_name
from components.data.workspace_runs import allowed_run, open_run, workspace
from metrics.analysis import Column
from metrics.analysis.labels import (
    calibrate,
    corrected_differences as differences,
    corrected_means as means,
    human_labels,
    judge_agreement,
    judge_bias,
    labelled_scores,
    manipulations,
    panel_agreement as panels,
    pass_rates as rates,
    rater_errors as errors,
    raters,
)
from metrics.analysis.labels.corrected_means import Corrected
from metrics.analysis.labels.label_queue import Queue, keep_draw_sizes, queue
from metrics.analysis.labels.manipulations import MANIPULATIONS, Manipulation
from metrics.core.calibration import Calibration
from metrics.core.errors import AssayError, InputError
from metrics.core.schema import LABEL_KEY
from metrics.store import Run
from metrics.store.rating_sets import GivenSet, Labels
from metrics.store.threshold_profiles import Calibrations
from metrics.suites import demo_data
from metrics.suites.demo_data import RATER
from metrics.suites.samples import sample_runs

if TYPE_CHECKING:
    from metrics.engine import Estimate

Only = tuple[str, str]  # evaluator, metric


class CorrectedMeans(NamedTuple):
    """Each model's mean as judged and as corrected, and the sample that the correction rests on, in outputs.

    split: raters differ; unsure: labels; unanswered: drawn outputs without a label; sampled: drawn with a known chance,
    among the labelled.
    """

    rows: tuple[Corrected, ...]
    split: int
    unsure: int
    unanswered: int
    sampled: int
    labelled: int
    raters: int


def label_version(run: Run) -> str:
    """Return what changes with the labels of a run."""
    return str(Labels(run).version)


bias_hints = of_run(judge_bias.bias_hints, version=label_version)
manipulation_checks = of_run(manipulations.manipulation_checks)
has_manipulations = of_run(manipulations.has_manipulations)
label_criteria = of_run(human_labels.criteria, version=label_version)
rater_agreement = of_run(raters.rater_agreement, "Comparing the raters", label_version)
rater_noise = of_run(raters.rater_noise, version=label_version)
rater_errors = of_run(errors.rater_errors, "Estimating the raters' errors", label_version)
annotator_test = of_run(errors.annotator_test, "Testing the judge against each rater", label_version)
pass_rates = of_run(rates.pass_rates, version=label_version)
agreements = of_run(judge_agreement.agreements, "Comparing scores and labels", label_version)
agreement_slices = of_run(judge_agreement.agreement_slices, "Comparing slice by slice", label_version)
acceptances = of_run(rates.acceptances, "Looking for a score to accept answers from", label_version)
rater_outputs = of_run(raters.rater_outputs, version=label_version)
has_panel = of_run(panels.has_panel)
panel_agreement = of_run(panels.panel_agreement, "Comparing the judges")


def _corrected_means(run: Run, criterion: str, only: Only, tag: str | None = None) -> CorrectedMeans:
    people = human_labels.human_labels(run, criterion)
    return CorrectedMeans(
        tuple(means.corrected_means(run, criterion, only, tag)),
        int((people.split & ~np.isnan(people.chances)).sum()),
        people.criterion.unsure, sum(people.unanswered.values()),
        int((~np.isnan(people.chances) & (people.label_counts > 0)).sum()), int((people.label_counts > 0).sum()),
        len(people.raters),
    )  # fmt: skip


corrected_means = of_run(_corrected_means, version=label_version)
corrected_differences = of_run(differences.corrected_differences, version=label_version)
corrected_pair = of_run(differences.corrected_pair, version=label_version)


def labelled_metrics(run_id: str) -> Sequence[Column]:
    """Return the metrics that labels can be compared with, judged ones first."""
    return tuple(labelled_scores.metric_columns(open_run(run_id)).values())


def cell_outputs(
    run_id: str, criterion: str, only: Only, threshold: float, cell: str, model: str | None = None,
    tag: str | None = None, passing: float | None = None,
) -> Sequence[Mapping[str, Any]]:  # fmt: skip
    """Return the outputs in one cell of the confusion of people and judge: case_id, model, judge, people."""
    run = open_run(run_id)
    labelled = labelled_scores.labelled_scores(run, *only, criterion, model, tag, passing)
    return judge_agreement.cell_outputs(run, labelled, threshold, cell)


def calibration_here(run_id: str, only: Only) -> Calibration | None:
    """Return the workspace's own calibration of a metric that fits a run's models and parameters; None without."""
    return calibrate.calibrated_here(open_run(run_id), *only)


@action("editor", "set a threshold by labels", "run_id", "criterion")
def calibrate_metric(run_id: str, only: Only, criterion: str, passing: float | None) -> Sequence[str]:
    """Set a metric's threshold by a run's labels, for later runs; return what keeps it from being set, if anything."""
    run = workspace().run(run_id)
    try:
        Calibrations(run.workspace.path).keep(calibrate.calibrate(run, *only, criterion, passing))
    except InputError as failure:
        return [str(problem) for problem in failure.problems]
    return ()


@action("editor", "forget a threshold set by labels")
def forget_calibration(found: Calibration) -> None:
    """Remove a calibration from the workspace."""
    Calibrations(workspace().path).forget(found)


def label_queue(run_id: str, criterion: str, rater: str, only: Only | None, **choice: Any) -> Queue:
    """Return what a rater has labelled and what comes next; computed on every call."""
    return queue(workspace().run(run_id), criterion, rater, only, **choice)


def label_given(run_id: str, case_id: str, model: str, rater: str, criterion: str) -> Mapping[str, Any] | None:
    """Return the label (schema LABELS) that a rater gave an output for a criterion; None without."""
    labels = _labels(run_id).table()
    for name, value in zip(LABEL_KEY, (case_id, model, rater, criterion), strict=True):
        labels = labels.filter(pc.field(name) == value)
    rows: list[Mapping[str, Any]] = labels.to_pylist()
    return rows[0] if rows else None


def label_demo() -> str | None:
    """Return the finished run of the bundled judged sample, which `start_label_demo` labels; None without."""
    run = sample_runs(workspace()).get(demo_data.LABELLED_SAMPLE)
    return run.id if run is not None and run.state == "finished" else None


@action("editor", "add the demo's labels", "run_id")
def start_label_demo(run_id: str) -> None:
    """Add the demo's labels to the run of the bundled judged sample."""
    _labels(run_id).add(demo_data.demo_labels(), demo_data.RATER)


def has_demo_labels(run_id: str) -> bool:
    """Return whether labels of a run are the demo's."""
    return any(one.name == RATER for one in label_sets(run_id))


def label_sets(run_id: str) -> list[GivenSet]:
    """Return the sets of human labels of a run."""
    return _labels(run_id).sets()


@action("editor", "label an output", "run_id", "criterion", "case_id")
def give_label(
    run_id: str, case_id: str, model: str, rater: str, criterion: str, value: float | None, sampling: str,
    ends: tuple[float, float], only: Only | None = None,
) -> None:  # fmt: skip
    """Keep a label, in place of the rater's earlier one; the rater is the visitor where people sign in.

    only: the metric whose scores gave the chance of a `weighted` one; picked where other chances are stored.
    """
    if sampling == "weighted" and not (only and keep_draw_sizes(workspace().run(run_id), criterion, only)):
        sampling = "picked"
    _labels(run_id).give(case_id, model, own_name() or rater, criterion, value, sampling, ends)  # type: ignore[arg-type]


@action("editor", "withdraw a label", "run_id", "criterion", "case_id")
def withdraw_label(run_id: str, case_id: str, model: str, rater: str, criterion: str) -> None:
    """Remove a rater's label of an output; the rater is the visitor where people sign in."""
    _labels(run_id).withdraw(case_id, model, own_name() or rater, criterion)


@action("editor", "add labels", "run_id", "name")
def add_labels(run_id: str, table: pa.Table, name: str) -> None:
    """Add the labels of a file (schema LABELS) to a run."""
    _labels(run_id).add(table, name)


@action("editor", "remove labels", "run_id", "set_id")
def remove_labels(run_id: str, set_id: str) -> None:
    """Remove a set of labels from a run."""
    _labels(run_id).remove(set_id)


def _labels(run_id: str) -> Labels:
    return Labels(workspace().run(run_id))


def answer_variants() -> dict[str, Manipulation]:
    """Return the kinds of variants of answers, by name."""
    return dict(MANIPULATIONS)


def unasked_variants() -> Sequence[str]:
    """Return the kinds that no judge writes."""
    from metrics.perturbations.answers import UNASKED_KINDS

    return UNASKED_KINDS


def _estimate(run: Run, kinds: tuple[str, ...], cases: int) -> Estimate | str | None:
    from metrics import engine
    from metrics.perturbations.answers import judged_again

    try:
        made = judged_again(run, kinds, cases, is_rehearsal=True)
        varied = made.varied
        return engine.estimate(
            varied.suite, varied.outputs, made.evaluators, made.parameters, made.resources, run.workspace.path
        )
    except AssayError as failure:
        return str(failure)


variants_estimate = of_run(_estimate, "Estimating the judge calls")


@action("editor", "judge variants of answers", "run_id")
def judge_variants(run_id: str, kinds: Sequence[str], cases: int) -> tuple[str, str]:
    """Make variants of some answers of a run and start a run that judges them; return its id, or "" and why not."""
    from metrics import engine
    from metrics.perturbations.answers import judged_again

    here = workspace()
    try:
        run = judged_again(allowed_run(run_id), kinds, cases).create(here)
        engine.start(run)
    except AssayError as failure:
        return "", str(failure)
    return run.id, ""
