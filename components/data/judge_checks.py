"""What sways a run's judge: its checks on variants of answers, and the run that judges such variants."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from components.data.agreements import label_version
from components.data.run_reads import of_run
from components.data.visitors import action
from components.data.workspace_runs import workspace
from metrics.analysis.labels import judge_bias, manipulations
from metrics.analysis.labels.manipulations import MANIPULATIONS, Manipulation
from metrics.core.errors import AssayError

if TYPE_CHECKING:
    from metrics.engine import Estimate
    from metrics.store import Run

bias_hints = of_run(judge_bias.bias_hints, version=label_version)
manipulation_checks = of_run(manipulations.manipulation_checks)
has_manipulations = of_run(manipulations.has_manipulations)


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
        run = judged_again(here.run(run_id), kinds, cases).create(here)
        engine.start(run)
    except AssayError as failure:
        return "", str(failure)
    return run.id, ""
