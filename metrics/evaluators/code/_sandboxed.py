"""What the evaluators that run something share: their parameters, and when nothing is run."""

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from metrics.core.evaluator import CaseScore, Parameters, Status
from metrics.core.evidence import Evidence
from metrics.core.sandbox.barriers import BARRIERS, REQUIRED
from metrics.core.sandbox.process import Bounds, Outcome, run

NOT_ALLOWED = (
    "nothing was run: this evaluator runs what the model wrote, in a sandbox on this machine, only where its parameter "
    "`allow` is set"
)


class SandboxParameters(Parameters):
    """Whether something is run, and what it may take."""

    allow: bool = Field(
        False,
        title="Run what the models wrote",
        description="Run what the models wrote, in a sandbox on the machine that computes the run. Off: nothing is "
        "run, and the cases have no value.",
    )
    allow_missing_barriers: bool = Field(
        False,
        title="Run it even without barriers that are missing",
        description="Run it even where this system lacks barriers of the sandbox (Linux 5.13 or newer has them): it "
        "can then read and change files and use the network as you can. Only for code that you would run yourself.",
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


def run_job(job: Mapping[str, Any], parameters: SandboxParameters, times: int = 1) -> Outcome | CaseScore:
    """Return what a job came to; the score of the case instead where nothing may be run, or could be.

    It may take the seconds of the parameters that many `times`.
    """
    if not parameters.allow:
        return CaseScore({}, Status.SKIPPED, NOT_ALLOWED)
    bounds = Bounds(parameters.seconds * times, parameters.memory_mb)
    outcome = run(job, bounds, () if parameters.allow_missing_barriers else REQUIRED)
    if outcome.missing:
        lacking = "; ".join(BARRIERS[name] for name in outcome.missing)
        reason = f"nothing was run, as this machine cannot keep to this: {lacking}"
        return CaseScore(
            {}, Status.SKIPPED, reason, Evidence(facts={"barriers": ", ".join(outcome.barriers) or "none"})
        )
    if not outcome.barriers:
        return CaseScore({}, Status.ERROR, f"the sandbox did not start: {outcome.ended or 'no reply'}")
    return outcome
