"""ROUGE: overlap of n-grams and subsequences with the expected answers."""

from pydantic import Field

from metrics.core.evaluator import CaseScore, Example, Metric, Parameters, evaluator
from metrics.core.evidence import Evidence
from metrics.core.suite import Case
from metrics.evaluators.text.bleu import CAT
from metrics.text.overlap.rouge import ROUGE_TYPES, RougeType, rouge, rouge_tokens


class RougeParameters(Parameters):
    """Which variants to compute, and whether on stems or words."""

    rouge_types: tuple[RougeType, ...] = Field(
        ROUGE_TYPES, min_length=1, description="The variants to compute; the others have no value."
    )
    use_stemmer: bool = Field(
        False, description="Compare Porter stems of English words of four letters and more instead of the words."
    )


@evaluator(
    id="rouge",
    title="ROUGE",
    inputs=("answer", "expected_answers"),
    metrics=(
        Metric("rouge1", "F of single tokens in common.", minor=True),
        Metric("rouge2", "F of pairs of neighbouring tokens in common.", minor=True),
        Metric("rougeL", "F of the longest common subsequence of tokens.", primary=True),
        Metric("rougeLsum", "F of the union of longest common subsequences, line by line.", minor=True),
    ),
    sources=("Valor metrics: ROUGE", "H2O Eval Studio evaluators: ROUGE", "Lin 2004"),
    standards=("NIST AI RMF: valid and reliable", "SR 11-7: outcomes analysis"),
    examples=(
        Example("one word of six differs", CAT, {"rouge1": 5 / 6, "rouge2": 0.6, "rougeL": 5 / 6, "rougeLsum": 5 / 6}),
        Example(
            "lines in another order: only rougeLsum ignores it",
            {"answer": "blue sea\nred sun", "expected_answers": ["red sun\nblue sea"]},
            {"rouge1": 1.0, "rouge2": 2 / 3, "rougeL": 0.5, "rougeLsum": 1.0},
        ),
        Example(
            "the best of several references counts",
            {"answer": "forty two", "expected_answers": ["the answer is forty two", "Forty-two."]},
            {"rouge1": 1.0, "rouge2": 1.0, "rougeL": 1.0},
        ),
        Example(
            "no common word, and only two variants requested",
            {"answer": "running dogs", "expected_answers": ["the dog runs"]},
            {"rouge1": 0.0, "rouge2": None, "rougeL": 0.0, "rougeLsum": None},
            parameters={"rouge_types": ["rouge1", "rougeL"]},
        ),
        Example(
            "common stems, in another order",
            {"answer": "running dogs", "expected_answers": ["the dog runs"]},
            {"rouge1": 0.8, "rougeL": 0.4},
            parameters={"use_stemmer": True},
        ),
    ),
    differs_from="rougeLsum splits at line breaks only, as rouge_score does; Hugging Face's evaluate gives the same.",
    differs_from_source=(
        "The number is F, as in Hugging Face's evaluate, on which Valor rests, though Valor's text speaks of recall "
        "and of splitting rougeL at full stops. rougeLsum splits at line breaks only. With several expected answers "
        "the highest F of each variant counts. Valor sets no threshold; .75 is H2O's."
    ),
)
def rouge_score(case: Case, parameters: RougeParameters) -> CaseScore:
    """How much of the expected answer's wording is in the answer, and the reverse: F of ROUGE-1, -2, -L and -Lsum.

        P = common / units of the answer,  R = common / units of the expected answer,  F = 2·P·R / (P + R)

    Units and what is common: *rouge1*, *rouge2*: n-grams, each as often as both texts have it; *rougeL*: tokens, the
    longest common subsequence; *rougeLsum*: tokens, for each line of the expected answer those in its longest common
    subsequence with any line of the answer. Tokens are runs of a–z and 0–9 of the lower-cased text.

    With several expected answers, the highest F counts, separately for each variant. Nothing in common gives 0. Text in
    scripts other than Latin has no tokens and scores 0; the evidence says so. A variant that was not requested has no
    value.

    Evidence: precision, recall, F and the number of the expected answer (from 1) of each variant. Equal to the
    rouge_score package with its default tokenizer.
    """
    answer = case.answer or ""
    scored = [
        rouge(expected, answer, parameters.rouge_types, parameters.use_stemmer) for expected in case.expected_answers
    ]
    best = {kind: max(range(len(scored)), key=lambda index: scored[index][kind].f) for kind in parameters.rouge_types}
    values: dict[str, float | None] = {
        kind: scored[best[kind]][kind].f if kind in best else None for kind in ROUGE_TYPES
    }
    facts: dict[str, object] = {
        kind: {**scored[index][kind]._asdict(), "expected_answer": index + 1} for kind, index in best.items()
    }
    if not rouge_tokens(answer):
        facts["note"] = "the answer has no letters a–z or digits, all that ROUGE sees"
    elif not any(map(rouge_tokens, case.expected_answers)):
        facts["note"] = "the expected answers have no letters a–z or digits, all that ROUGE sees"
    reason = None if len(best) == len(ROUGE_TYPES) else "not among the chosen rouge_types"
    return CaseScore(values, reason=reason, evidence=Evidence(facts=facts))
