"""What both answer correctness evaluators share: the claims of an answer compared with those of expected answers."""

from dataclasses import dataclass

from metrics.core.evaluator import CaseScore, not_applicable
from metrics.core.evidence import Evidence, Verdict
from metrics.core.suite import Case
from metrics.judge.asking import Judge
from metrics.judge.steps import (
    NO_REFERENCE_CLAIMS,
    Reference,
    answer_and_references,
    entailed_verdicts,
    entailment,
    together,
)


@dataclass(frozen=True, slots=True)
class ClaimMatch:
    """The answer compared with one expected answer: a verdict for each claim of either, and the F1 of the counts.

    tp  claims of the answer that the expected answer supports      fp  the other claims of the answer
    fn  claims of the expected answer that the answer does not support
    F1 = tp / (tp + ½ (fp + fn)), 0 without a true positive
    """

    number: int  # of the expected answer, from 1
    claims: tuple[Verdict, ...]  # of the answer
    reference_claims: tuple[Verdict, ...]

    @property
    def counts(self) -> dict[str, int]:
        """tp, fp and fn."""
        tp = sum(claim.holds == "yes" for claim in self.claims)
        fn = sum(claim.holds == "no" for claim in self.reference_claims)
        return {"tp": tp, "fp": len(self.claims) - tp, "fn": fn}

    @property
    def f1(self) -> float:
        """F1 of the claims."""
        tp, fp, fn = self.counts.values()
        return tp / (tp + 0.5 * (fp + fn)) if tp else 0.0

    @property
    def evidence(self) -> Evidence:
        """The claims of both sides with their verdicts, which expected answer it is, and the counts."""
        return Evidence(
            {"claims": self.claims, "reference_claims": self.reference_claims},
            {"expected_answer": self.number, **self.counts},
        )


async def match_claims(judge: Judge, case: Case) -> list[ClaimMatch] | CaseScore:
    """Compare the answer with every expected answer that makes a claim; not applicable where none does."""
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
        entailed_verdicts(stated, right, reference.claims, "reference_claims"),
        entailed_verdicts(reference.claims, present, stated, "claims"),
    )
