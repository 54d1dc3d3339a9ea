"""The boolean family: a case passes or fails, and a failure is attributed to retrieval or to generation."""

from collections.abc import Awaitable, Callable
from functools import wraps
from typing import ParamSpec

from metrics.core.errors import Unreadable
from metrics.core.evaluator import CaseScore, Metric, Status
from metrics.core.evidence import Evidence

P = ParamSpec("P")
ONE_CAUSE = (  # how the family differs from its source
    "generation_failures leaves out failures whose contexts fail too, so that a failure has one cause; H2O gives it as "
    "equal to all failures."
)


def boolean_metrics(passing: str) -> tuple[Metric, ...]:
    """Return the family's five metrics; `passing` completes "share of answers that …"."""

    def failing(name: str, description: str) -> Metric:
        return Metric.lower(name, description, threshold=0.5, binary=True, minor=True)

    return (
        Metric("passes", f"Share of answers that {passing}.", threshold=0.5, binary=True, primary=True),
        failing("failures", f"Share of answers that do not pass: 1 − share that {passing}."),
        failing("retrieval_failures", "Share of cases whose retrieved contexts themselves fail the check."),
        failing("generation_failures", "Share of cases whose answer fails although the contexts pass."),
        failing("parse_failures", "Share of cases whose judgement could not be read."),
    )


def boolean_score(
    answer_passes: bool, contexts_pass: bool | None = None, evidence: Evidence | None = None
) -> CaseScore:
    """Return the score of a case whose answer passed or failed; `contexts_pass` None: the contexts were not checked.

    A failure is attributed to generation unless the contexts failed too.
    """
    failed = not answer_passes
    return CaseScore(
        {
            "passes": float(answer_passes),
            "failures": float(failed),
            "retrieval_failures": None if contexts_pass is None else float(not contexts_pass),
            "generation_failures": float(failed and contexts_pass is not False),
            "parse_failures": 0.0,
        },
        reason="the retrieved contexts were not checked" if contexts_pass is None else None,
        evidence=evidence,
    )


def counting_unreadable(score: Callable[P, Awaitable[CaseScore]]) -> Callable[P, Awaitable[CaseScore]]:
    """Decorate a function so that a judge's reply that cannot be read counts only as a parse failure."""

    @wraps(score)
    async def count_unreadable(*args: P.args, **kwargs: P.kwargs) -> CaseScore:
        try:
            return await score(*args, **kwargs)
        except Unreadable as failure:
            return CaseScore({"parse_failures": 1.0}, Status.PARSE_FAILURE, str(failure))

    return count_unreadable
