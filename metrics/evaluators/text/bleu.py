"""BLEU: n-gram precision against the expected answers."""

import math
from collections.abc import Mapping, Sequence
from itertools import repeat, tee
from typing import Annotated

from pydantic import Field, field_validator

from metrics.core.evaluator import CaseScore, Example, Metric, Parameters
from metrics.core.evidence import Evidence
from metrics.core.suite import Case
from metrics.evaluators.text._overlap import TokenizedCase, overlap_evaluator, tokenize_cases
from metrics.text.overlap.bleu import BleuCounts, bleu, bleu_counts
from metrics.text.overlap.tokenizers import CHOICES, Script, Tokenizer, TokenizerChoice, tokens

TOKENIZER_OF: Mapping[Script, Tokenizer] = {
    "latin": "whitespace", "spaced": "whitespace", "chinese": "zh", "japanese": "char", "unspaced": "char",
    "none": "char",
}  # fmt: skip
UNIFORM = (0.25, 0.25, 0.25, 0.25)
CAT = {"answer": "the cat is on the mat", "expected_answers": ["the cat sat on the mat"]}


def bleu_metrics(orders: int) -> tuple[Metric, ...]:
    """Return bleu1 … bleuN; the last one, of all orders, is weighted by the parameter and primary."""
    weighing = dict.fromkeys(range(1, orders), "weighted equally") | {orders: "weighted by the parameter"}
    return tuple(
        Metric(f"bleu{n}", f"BLEU of 1- to {n}-grams, {how}.", minor=n < orders, primary=n == orders)
        for n, how in weighing.items()
    )


class BleuParameters(Parameters):
    """What the tokens are, and how the n-gram orders are weighed."""

    tokenizer: TokenizerChoice = Field("auto", description=f"How a text is cut into tokens. {CHOICES}")
    weights: tuple[Annotated[float, Field(ge=0, le=1)], ...] = Field(
        UNIFORM,
        min_length=1,
        max_length=100,
        description="Weights of the 1-, 2-, 3- … gram precisions: N of them make bleuN; those below it weigh equally.",
    )

    @field_validator("weights")
    @classmethod
    def _weigh_something(cls, weights: tuple[float, ...]) -> tuple[float, ...]:
        if not any(weights):
            raise ValueError("at least one weight above 0")
        return weights

    def measured(self, declared: tuple[Metric, ...]) -> tuple[Metric, ...]:
        """Return a metric for each order that has a weight."""
        return declared if len(self.weights) == len(declared) else bleu_metrics(len(self.weights))


@overlap_evaluator(
    id="bleu",
    title="BLEU",
    default_needs=("worded_answers",),
    metrics=bleu_metrics(len(UNIFORM)),
    sources=("Valor metrics: BLEU", "H2O Eval Studio evaluators: BLEU", "Papineni et al. 2002"),
    differs_from_source="All orders are given at once, bleu1 to bleuN; Valor's one is the last, of as many orders as "
    "weights (nltk's rule). Tokens, which Valor leaves open, are separated by white space where the script does so; "
    "Chinese, Japanese, Thai and other scripts without spaces have characters as tokens. There is no smoothing, as in "
    "nltk. H2O's threshold .75 is no default here: few good answers reach it.",
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
        Example(
            "Chinese characters are tokens, as no space separates words",
            {"answer": "猫坐在垫子上", "expected_answers": ["猫坐在沙发上"]},
            {"bleu1": 4 / 6, "bleu2": math.sqrt(4 / 6 * 2 / 5), "bleu3": (4 / 6 * 2 / 5 * 1 / 4) ** (1 / 3)},
        ),
        Example(
            "sacrebleu's 13a separates punctuation",
            {"answer": "It is Paris.", "expected_answers": ["It is Paris !"]},
            {"bleu1": 3 / 4},
            parameters={"tokenizer": "13a"},
        ),
        Example("your own weights, for two orders", CAT, {"bleu2": math.sqrt(0.5)}, parameters={"weights": [0.5, 0.5]}),
        Example.not_applicable("no token to compare with", {"answer": "Paris", "expected_answers": [" "]}),
    ),
    version=4,
)
def bleu_score(cases: Sequence[Case], parameters: BleuParameters) -> list[CaseScore]:
    """How many of the answer's n-grams are in an expected answer, with a penalty for brevity: sentence BLEU-1 to -N.

        BLEU-N = BP · exp(Σₙ wₙ · ln pₙ),   n = 1 … N,   wₙ the parameter `weights`, of which there are N (default 4)
        pₙ     = n-grams of the answer that match / n-grams of the answer
        BP     = 1 for an answer longer than the reference, else exp(1 − reference length / answer length)

    The orders below N, bleu1 …, weigh theirs equally. An n-gram matches at most as often as it occurs in the expected
    answer that has it most often; the reference length is that of the expected answer closest in length, the shorter on
    a tie. Case matters.

    `tokenizer` "auto" goes by the script of the expected answers: white space separates the tokens of Latin, Cyrillic,
    Greek, Arabic, Hebrew, Indic, Korean, Ethiopic … text; Chinese has sacrebleu's `zh` (every Chinese character a
    token), Japanese, Thai, Lao, Khmer, Burmese and texts without letters have every character as one. In mixed text
    most letters decide. Scores of different tokenizers are not comparable: choose one for a suite of several languages.

    There is no smoothing. An order without a match makes BLEU 0, which appears as about 1e-77 because nltk uses
    2.2e-308 for pₙ = 0. Identical texts of fewer than n tokens give the same, and the evidence then says so. No token
    in common, or an empty answer, gives exactly 0. Expected answers without any token are not applicable.

    Evidence: the tokenizer, matches and n-grams of each order, lengths, brevity penalty. Equal to
    nltk.translate.bleu_score's sentence_bleu of the tokens.
    """

    read, counted = tee(tokenize_cases(cases, parameters.tokenizer, TOKENIZER_OF, tokens))
    texts = ((list(filter(None, case.references)), case.answer) for case in counted)
    counts = bleu_counts(texts, len(parameters.weights))
    return list(map(_score, read, counts, repeat(parameters.weights)))


def _score(case: TokenizedCase[list[str]], counts: BleuCounts, weights: Sequence[float]) -> CaseScore:
    if case.lacking:
        return case.without_tokens
    equal = ([1 / n] * n for n in range(1, len(weights)))
    values = {f"bleu{len(own)}": bleu(counts, own) for own in (*equal, weights)}
    short = next((n for n, total in enumerate(counts.totals, 1) if not total), None)
    unmatched = next((n for n, found in enumerate(counts.matches, 1) if not found), None)
    note = None
    if short is not None:
        note = f"the answer has {counts.length} tokens, so no {short}-grams: BLEU-{short} and up are 0 whatever it says"
    elif unmatched is not None:
        note = f"no {unmatched}-gram of the answer is in an expected answer: BLEU-{unmatched} and up are 0"
    facts = {
        "tokenizer": case.tokenizer,
        "matches": counts.matches,
        "ngrams": counts.totals,
        "answer_tokens": counts.length,
        "reference_tokens": counts.reference_length,
        "brevity_penalty": counts.brevity_penalty,
        "note": note,
    }
    return CaseScore(values, reason=note, evidence=Evidence(facts=facts))
