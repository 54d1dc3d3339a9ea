"""What the evaluators that run something share: their parameters, and when nothing is run."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pydantic import Field

from metrics.core.evaluator import CaseScore, Parameters, Status
from metrics.core.sandbox.process import Bounds, Outcome, run

JOBS = Path(__file__).with_name("jobs")
NOT_ALLOWED = (
    "nothing was run: this evaluator runs what the model wrote, in a sandbox on this machine, only where its parameter "
    "`allow` is set"
)


class SandboxParameters(Parameters):
    """Whether something is run, and what it may take."""

    retired = MappingProxyType({"allow_missing_barriers": "without a whole sandbox nothing is run any more"})

    allow: bool = Field(
        False,
        title="Run what the models wrote",
        description="Run what the models wrote, in a sandbox on the machine that computes the run. Off: nothing is "
        "run, and the cases have no value.",
    )
    seconds: int = Field(
        10,
        ge=1,
        le=600,
        description="Processor time that a case may take, in seconds. Half as long it may wait, as for a sleep to end; "
        "on a machine that does other things it may take ten times as long on the clock.",
    )
    memory_mb: int = Field(
        1024, title="Memory, MiB", ge=128, le=65_536, description="Memory that a case may take, in MiB."
    )

    def reads_as_written(self) -> bool:
        """Return that what is run is run as it was written."""
        return True


def run_job(
    jobs: Mapping[str, Mapping[str, Any]], parameters: SandboxParameters, times: int = 1
) -> Outcome | CaseScore:
    """Return what one job, or two that are joined, came to; the score instead where nothing may be run, or could be.

    `jobs` maps a program of the folder `jobs` to what it is given. It may take the parameters' seconds so many `times`.
    """
    if not parameters.allow:
        return CaseScore({}, Status.SKIPPED, NOT_ALLOWED)
    bounds = Bounds(parameters.seconds * times, parameters.memory_mb)
    outcome = run(JOBS, jobs, bounds)
    if not outcome.started:
        return CaseScore({}, Status.SKIPPED, f"nothing was run: {outcome.ended or 'the sandbox did not start'}")
    return outcome
