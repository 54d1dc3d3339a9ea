"""The claims of an answer held against those of each expected answer, as both answer correctnesses need it."""

from dataclasses import dataclass
from typing import Any

from metrics.core.evaluator import CaseScore, not_applicable
from metrics.core.suite import Case
from metrics.judge.asking import Judge
from metrics.judge.steps import (
    NO_REFERENCE_CLAIMS,
    Reference,
    answer_and_references,
    entailed_rows,
    entailment,
    together,
)


@dataclass(frozen=True, slots=True)
class ClaimMatch:
    """The answer against one expected answer: evidence per claim, and the F1 of the counts.

    tp  answer claims that the expected answer's claims support      fp  the other answer claims
    fn  claims of the expected answer that the answer's do not support
    F1 = tp / (tp + ½ (fp + fn)), 0 without a true positive
    """

    number: int  # of the expected answer, from 1
    rows: list[dict[str, Any]]  # per claim of the answer
    reference_rows: list[dict[str, Any]]

    @property
    def counts(self) -> dict[str, int]:
        """tp, fp and fn."""
        tp = sum(row["verdict"] == "supported" for row in self.rows)
        fn = sum(row["verdict"] == "unsupported" for row in self.reference_rows)
        return {"tp": tp, "fp": len(self.rows) - tp, "fn": fn}

    @property
    def f1(self) -> float:
        """F1 of the claims."""
        tp, fp, fn = self.counts.values()
        return tp / (tp + 0.5 * (fp + fn)) if tp else 0.0

    @property
    def evidence(self) -> dict[str, Any]:
        """Which expected answer, the counts, the claims of both sides with their verdicts."""
        return {
            "expected_answer": self.number,
            **self.counts,
            "claims": self.rows,
            "reference_claims": self.reference_rows,
        }


async def match_claims(judge: Judge, case: Case) -> list[ClaimMatch] | CaseScore:
    """Return the answer against every expected answer that makes a claim; not applicable where none does."""
    stated, expected = await answer_and_references(judge, case.answer, case.expected_answers, case.question)
    if not expected:
        return not_applicable(NO_REFERENCE_CLAIMS)
    return await together(_match(judge, stated, reference) for reference in expected)


async def _match(judge: Judge, stated: tuple[str, ...], reference: Reference) -> ClaimMatch:
    right, present = await together(
        [entailment(judge, stated, reference.claims), entailment(judge, reference.claims, stated)]
    )
    return ClaimMatch(
        reference.number,
        entailed_rows(stated, right, "reference_claims"),
        entailed_rows(reference.claims, present, "answer_claims"),
    )
