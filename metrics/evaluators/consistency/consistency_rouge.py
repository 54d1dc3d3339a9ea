"""Consistency by ROUGE: how similar in wording the answers of repeated runs are."""

from collections.abc import Sequence
from itertools import combinations

from pydantic import Field, field_validator

from metrics.core.evaluator import CaseScore, Example, Findings, Metric, Parameters, not_applicable
from metrics.core.evaluator_decorator import evaluator
from metrics.core.evidence import Evidence
from metrics.core.suite import Case, Outputs, Suite
from metrics.evaluators.consistency._examples import repeated_answers
from metrics.evaluators.consistency._repeats import NO_OUTPUT, repeats_by_case, summarised, too_few
from metrics.text.overlap.rouge import TOKENIZER_OF, RougeText, RougeType, rouge, too_long
from metrics.text.overlap.tokenizers import CHOICES, TokenizerChoice, tokenized

TYPES: tuple[RougeType, ...] = ("rouge1", "rouge2", "rougeL")
PARTS = {"precision": "precision", "recall": "recall", "f1": "f"}
SHOWN_PAIRS = 50
UNITS: dict[RougeType, str] = {
    "rouge1": "single tokens", "rouge2": "token pairs", "rougeL": "longest common subsequences",
    "rougeLsum": "longest common subsequences line by line",
}  # fmt: skip


def metrics_of(types: Sequence[RougeType]) -> tuple[Metric, ...]:
    """Return precision, recall and F1 of each variant; the primary one is F1 of rougeL, or of the first without it."""
    main = "rougeL" if "rougeL" in types else types[0]
    return tuple(
        Metric(
            f"{kind}_{part}",
            f"Mean {part.replace('f1', 'F1')} of {UNITS[kind]} over the pairs of answers.",
            primary=(kind, part) == (main, "f1"),
            minor=part != "f1",
        )
        for kind in types
        for part in PARTS
    )


class RougeConsistencyParameters(Parameters):
    """Which variants to compute, on which tokens, and whether on stems or words."""

    rouge_types: tuple[RougeType, ...] = Field(TYPES, min_length=1, description="The variants to compute.")
    tokenizer: TokenizerChoice = Field("auto", description=f"How a text is cut into tokens. {CHOICES}")
    use_stemmer: bool = Field(
        False,
        description="Compare Porter stems of English words (a–z, four letters and more) instead of the words; words in "
        "other scripts stay as they are.",
    )

    @field_validator("rouge_types")
    @classmethod
    def _once(cls, types: tuple[RougeType, ...]) -> tuple[RougeType, ...]:
        return tuple(dict.fromkeys(types))

    def measured(self, declared: tuple[Metric, ...]) -> tuple[Metric, ...]:
        """Return the metrics of the chosen variants."""
        return declared if self.rouge_types == TYPES else metrics_of(self.rouge_types)


@evaluator(
    id="consistency_rouge",
    title="Consistency: ROUGE",
    tasks=("text", "agent"),
    inputs=("answer",),
    metrics=metrics_of(TYPES),
    repeats=True,
    default_needs=("repeats",),
    has_thresholds=False,
    sources=("Open RAG Eval: consistency, rouge_score", "Lin 2004"),
    standards=("NIST AI RMF: valid and reliable", "SR 11-7: ongoing monitoring", "SR 11-7: outcomes analysis"),
    examples=(
        Example(
            "three answers make three pairs, and an empty fourth is only counted",
            repeated_answers(["the cat sat on the mat", "the cat is on the mat", "the cat", " "]),
            rows=(
                {"metric": "rouge1_precision", "value": (5 / 6 + 1 + 1) / 3, "n": 1, "unscored": 0},
                {"metric": "rouge1_recall", "value": (5 / 6 + 1 / 3 + 1 / 3) / 3},
                {"metric": "rouge1_f1", "value": (5 / 6 + 0.5 + 0.5) / 3},
                {"metric": "rouge2_f1", "value": (0.6 + 1 / 3 + 1 / 3) / 3},
                {"metric": "rougeL_f1", "value": (5 / 6 + 0.5 + 0.5) / 3},
            ),
        ),
        Example(
            "a mean over cases; a single run is not applicable",
            repeated_answers(["yes", "Yes!"], ["yes", "no"], ["no"]),
            rows=({"metric": "rougeL_f1", "value": 0.5, "n": 2, "unscored": 1},),
        ),
    ),
    differs_from="rouge compares with the expected answers; consistency_bertscore compares meanings instead of words.",
    differs_from_source=(
        "The formula does not differ: rouge_score without stemming. Other scripts than Latin have tokens of their own, "
        "as in rouge. Empty answers, and answers without any token, are not compared."
    ),
    version=2,
)
def consistency_rouge(suite: Suite, outputs: Outputs, parameters: RougeConsistencyParameters) -> Findings:
    """How similar in wording the answers of a model to one case are over repeated runs: ROUGE of all pairs.

    For every pair of non-empty answers, with the earlier run as the reference: precision, recall and F1 of ROUGE-1, -2
    and -L (see `rouge`). The score of a case is the mean over its pairs, n·(n−1)/2 for n answers; that of the model is
    the mean over cases, with a bootstrap interval over cases. A score of 1 means that all runs say the same.

    A case needs two non-empty answers, else it is not applicable; empty answers are counted in the evidence and not
    compared. The `tokenizer` is one for all answers of a case, with "auto" by their script as in `rouge`. An answer
    without any token under it (punctuation alone) is not compared either. As in `rouge`, ROUGE-L of very long answers
    has no value.

    Evidence: the tokenizer, the runs compared, the number of empty answers, F1 of each pair (the first 50).
    """
    cases = {case_id: _case(repeats, parameters) for case_id, repeats in repeats_by_case(suite, outputs).items()}
    return summarised(suite, metrics_of(parameters.rouge_types), cases)


def _case(repeats: list[Case], parameters: RougeConsistencyParameters) -> CaseScore:
    if not repeats:
        return not_applicable(NO_OUTPUT)
    answered = [case for case in repeats if (case.answer or "").strip()]
    facts: dict[str, object] = {"runs": [case.run for case in answered], "empty": len(repeats) - len(answered)}
    if len(answered) < 2:
        return too_few("answers that are not empty", len(answered), facts)
    types = parameters.rouge_types
    tokenizer, texts, _ = tokenized(
        [case.answer or "" for case in answered],
        "",
        parameters.tokenizer,
        TOKENIZER_OF,
        lambda text, name: RougeText(text, parameters.use_stemmer, name),
    )
    facts["tokenizer"] = tokenizer
    readable = [(case.run, text) for case, text in zip(answered, texts, strict=True) if text]
    if len(readable) < 2:
        reason = f"fewer than two answers have a token ({tokenizer})"
        return not_applicable(reason, Evidence(facts=facts))
    pairs = list(combinations(readable, 2))
    found = list(rouge(((first, second) for (_, first), (_, second) in pairs), types))
    facts["pairs"] = [
        {"runs": [first, second], **{kind: scores[kind].f for kind in types if kind in scores}}
        for ((first, _), (second, _)), scores in zip(pairs[:SHOWN_PAIRS], found, strict=False)
    ]
    long = [kind for kind in types if any(kind not in scores for scores in found)]
    values = {
        f"{kind}_{part}": None if kind in long else sum(getattr(scores[kind], name) for scores in found) / len(found)
        for kind in types
        for part, name in PARTS.items()
    }
    return CaseScore(values, reason=too_long(long) if long else None, evidence=Evidence(facts=facts))
