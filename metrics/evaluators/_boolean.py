"""The boolean family: a case passes or fails, and a failure is attributed to retrieval or to generation."""

from collections.abc import Awaitable, Callable, Coroutine
from functools import wraps
from typing import Any, ParamSpec

from metrics.core.errors import Unreadable
from metrics.core.evaluator import CaseScore, Direction, Metric, Status
from metrics.core.evidence import Evidence
from metrics.core.suite import Case

P = ParamSpec("P")
SHOWN_FINDINGS = 50  # of a case, in its evidence; `found` counts them all


def boolean_metrics(passing: str) -> tuple[Metric, ...]:
    """Return the family's five metrics; `passing` completes "share of answers that …"."""

    def failing(name: str, description: str) -> Metric:
        return Metric(name, description, direction=Direction.LOWER, threshold=0.5, binary=True, minor=True)

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


def score_by_findings(case: Case, find: Callable[[str, str], list[dict[str, Any]]]) -> CaseScore:
    """Return the score of a case that passes unless something that is not exempt is found in its answer.

    `find` takes a text and its place ("answer", "context 1" …) and returns the findings, each with `exempt`.
    """
    answer = find(case.answer or "", "answer")
    contexts = [
        finding
        for number, context in enumerate(case.retrieved_contexts, 1)
        for finding in find(context, f"context {number}")
    ]
    contexts_pass = all(finding["exempt"] for finding in contexts) if case.retrieved_contexts else None
    found = [*answer, *contexts]
    evidence = Evidence(facts={"findings": found[:SHOWN_FINDINGS], "found": len(found)})
    return boolean_score(all(finding["exempt"] for finding in answer), contexts_pass, evidence)


def counting_unreadable(score: Callable[P, Awaitable[CaseScore]]) -> Callable[P, Coroutine[Any, Any, CaseScore]]:
    """Decorate a function so that a judge's reply that cannot be read counts only as a parse failure."""

    @wraps(score)
    async def counted(*args: P.args, **kwargs: P.kwargs) -> CaseScore:
        try:
            return await score(*args, **kwargs)
        except Unreadable as failure:
            return CaseScore({"parse_failures": 1.0}, Status.PARSE_FAILURE, str(failure))

    return counted
