"""BLEU: n-gram precision against the expected answers."""

import math
from typing import Annotated

from pydantic import Field, field_validator

from metrics.core.evaluator import CaseScore, Example, Metric, Parameters, evaluator
from metrics.core.evidence import Evidence
from metrics.core.suite import Case
from metrics.text.overlap.bleu import bleu, bleu_counts

CAT = {"answer": "the cat is on the mat", "expected_answers": ["the cat sat on the mat"]}


class BleuParameters(Parameters):
    """How BLEU-4 weighs the n-gram orders."""

    weights: tuple[Annotated[float, Field(ge=0, le=1)], ...] = Field(
        (0.25, 0.25, 0.25, 0.25),
        min_length=1,
        max_length=9,
        description="Weights of the 1-, 2-, 3- … gram precisions in bleu4; bleu1 to bleu3 weigh their orders equally.",
    )

    @field_validator("weights")
    @classmethod
    def _weigh_something(cls, weights: tuple[float, ...]) -> tuple[float, ...]:
        if not any(weights):
            raise ValueError("at least one weight above 0")
        return weights


@evaluator(
    id="bleu",
    title="BLEU",
    inputs=("answer", "expected_answers"),
    metrics=(
        Metric("bleu1", "BLEU of single tokens.", minor=True),
        Metric("bleu2", "BLEU of 1- and 2-grams, weighted equally.", minor=True),
        Metric("bleu3", "BLEU of 1- to 3-grams, weighted equally.", minor=True),
        Metric("bleu4", "BLEU of 1- to 4-grams, weighted by the parameter.", primary=True),
    ),
    sources=("Valor metrics: BLEU", "H2O Eval Studio evaluators: BLEU", "Papineni et al. 2002"),
    standards=("NIST AI RMF: valid and reliable", "SR 11-7: outcomes analysis"),
    differs_from_source=(
        "Four numbers are given at once, bleu1 to bleu4; Valor's one is bleu4, with its weights as the parameter. "
        "Tokens are separated by white space, which Valor leaves open. There is no smoothing, as in nltk by default. "
        "Valor sets no threshold; .75 is H2O's."
    ),
    examples=(
        Example("one word of six differs", CAT, {"bleu1": 5 / 6, "bleu2": math.sqrt(0.5), "bleu3": 0.5, "bleu4": 0.0}),
        Example(
            "identical texts that are too short for 4-grams",
            {"answer": "Paris it is", "expected_answers": ["Paris it is"]},
            {"bleu1": 1.0, "bleu2": 1.0, "bleu3": 1.0, "bleu4": 0.0},
        ),
        Example(
            "of several references, the best counts for each n-gram and the closest in length for brevity",
            {"answer": "the red cat", "expected_answers": ["the red dog sat", "a red cat"]},
            {"bleu1": 1.0, "bleu2": 1.0, "bleu3": 0.0},
        ),
        Example("your own weights, for two orders", CAT, {"bleu4": math.sqrt(0.5)}, parameters={"weights": [0.5, 0.5]}),
    ),
)
def bleu_score(case: Case, parameters: BleuParameters) -> CaseScore:
    """How many of the answer's n-grams are in an expected answer, with a penalty for brevity: sentence BLEU-1 to -4.

        BLEU-N = BP · exp(Σₙ wₙ · ln pₙ),   n = 1 … N,   wₙ = 1/N (in bleu4: the parameter `weights`)
        pₙ     = n-grams of the answer that match / n-grams of the answer
        BP     = 1 for an answer longer than the reference, else exp(1 − reference length / answer length)

    An n-gram matches at most as often as it occurs in the expected answer that has it most often; the reference length
    is that of the expected answer closest in length, the shorter on a tie. Tokens are separated by whitespace; case
    matters.

    There is no smoothing. An order without a match makes BLEU 0, which appears as about 1e-77 because nltk uses
    2.2e-308 for pₙ = 0. Identical texts of fewer than n tokens give the same, and the evidence then says so. No token
    in common, or an answer without tokens, gives exactly 0.

    Evidence: matches and n-grams of each order, lengths, brevity penalty. Equal to nltk.translate.bleu_score's
    sentence_bleu.
    """
    references = [expected.split() for expected in case.expected_answers]
    tokens = (case.answer or "").split()
    counts = bleu_counts(references, tokens, max(4, len(parameters.weights)))
    values = {f"bleu{n}": bleu(counts, [1 / n] * n) for n in (1, 2, 3)} | {"bleu4": bleu(counts, parameters.weights)}
    short = next((n for n, total in enumerate(counts.totals[:4], 1) if not total), None)
    unmatched = next((n for n, found in enumerate(counts.matches[:4], 1) if not found), None)
    note = None
    if short is not None:
        note = f"the answer has {len(tokens)} tokens, so no {short}-grams: BLEU-{short} and up are 0 whatever it says"
    elif unmatched is not None:
        note = f"no {unmatched}-gram of the answer is in an expected answer: BLEU-{unmatched} and up are 0"
    facts = {
        "matches": list(counts.matches),
        "ngrams": list(counts.totals),
        "answer_tokens": counts.length,
        "reference_tokens": counts.reference_length,
        "brevity_penalty": counts.brevity_penalty,
        "note": note,
    }
    return CaseScore(values, reason=note, evidence=Evidence(facts=facts))
