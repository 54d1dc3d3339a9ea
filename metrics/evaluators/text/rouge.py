"""ROUGE: overlap of n-grams and subsequences with the expected answers."""

from collections.abc import Iterator, Sequence
from itertools import tee

from pydantic import Field

from metrics.core.evaluator import CaseScore, Example, Metric, Parameters
from metrics.core.evidence import Evidence
from metrics.core.suite import Case
from metrics.evaluators.text._overlap import TokenizedCase, overlap_evaluator, tokenize_cases
from metrics.evaluators.text.bleu import CAT
from metrics.text.overlap.rouge import ROUGE_TYPES, TOKENIZER_OF, Rouge, RougeText, RougeType, rouge, too_long
from metrics.text.overlap.tokenizers import CHOICES, Tokenizer, TokenizerChoice

DOGS = {"answer": "running dogs", "expected_answers": ["the dog runs"]}


class RougeParameters(Parameters):
    """Which variants to compute, on which tokens, and whether on stems or words."""

    rouge_types: tuple[RougeType, ...] = Field(
        ROUGE_TYPES, min_length=1, description="The variants to compute; the others have no value."
    )
    tokenizer: TokenizerChoice = Field("auto", description=f"How a text is cut into tokens. {CHOICES}")
    use_stemmer: bool = Field(
        False,
        description="Compare Porter stems of English words (a–z, four letters and more) instead of the words; words in "
        "other scripts stay as they are.",
    )


@overlap_evaluator(
    id="rouge",
    title="ROUGE",
    default_needs=("worded_answers",),
    metrics=(
        Metric("rouge1", "F of single tokens in common.", minor=True),
        Metric("rouge2", "F of pairs of neighbouring tokens in common.", minor=True),
        Metric("rougeL", "F of the longest common subsequence of tokens.", primary=True),
        Metric("rougeLsum", "F of the union of longest common subsequences, line by line.", minor=True),
    ),
    sources=("Valor metrics: ROUGE", "H2O Eval Studio evaluators: ROUGE", "Lin 2004"),
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
            DOGS,
            {"rouge1": 0.0, "rouge2": None, "rougeL": 0.0, "rougeLsum": None},
            parameters={"rouge_types": ["rouge1", "rougeL"]},
        ),
        Example(
            "common stems, in another order", DOGS, {"rouge1": 0.8, "rougeL": 0.4}, parameters={"use_stemmer": True}
        ),
        Example(
            "Chinese characters are tokens, punctuation is none",
            {"answer": "猫坐在垫子上。", "expected_answers": ["猫坐在沙发上"]},
            {"rouge1": 4 / 6, "rouge2": 2 / 5, "rougeL": 4 / 6, "rougeLsum": 4 / 6},
        ),
        Example(
            "words in other scripts, in lower case",
            {"answer": "Кошка сидит на ковре.", "expected_answers": ["кошка спит на ковре"]},
            {"rouge1": 3 / 4, "rouge2": 1 / 3, "rougeL": 3 / 4},
        ),
        Example.not_applicable(
            "no token in the letters a–z, which the chosen tokenizer needs",
            {"answer": "猫", "expected_answers": ["猫"]},
            parameters={"tokenizer": "ascii"},
        ),
    ),
    version=3,
    differs_from="rougeLsum splits at line breaks only, as rouge_score does; Hugging Face's evaluate gives the same.",
    differs_from_source="The number is F, as in Hugging Face's evaluate, on which Valor rests, though Valor's text "
    "speaks of recall and of splitting rougeL at full stops. rougeLsum splits at line breaks only. With several "
    "expected answers the highest F of each variant counts. rouge_score sees only a–z and 0–9; here other scripts have "
    "tokens of their own, and a text without tokens has no value instead of 0. H2O's threshold .75 is no default here: "
    "few good answers reach it.",
)
def rouge_score(cases: Sequence[Case], parameters: RougeParameters) -> list[CaseScore]:
    """How much of the expected answer's wording is in the answer, and the reverse: F of ROUGE-1, -2, -L and -Lsum.

        P = common / units of the answer,  R = common / units of the expected answer,  F = 2·P·R / (P + R)

    Units and what is common: *rouge1*, *rouge2*: n-grams, each as often as both texts have it; *rougeL*: tokens, the
    longest common subsequence; *rougeLsum*: tokens, for each line of the expected answer those in its longest common
    subsequence with any line of the answer. Lines end at line breaks only.

    Tokens are in lower case. `tokenizer` "auto" goes by the script of the expected answers: Latin text has runs of a–z
    and 0–9, exactly as rouge_score; Cyrillic, Greek, Arabic, Hebrew, Indic, Korean, Ethiopic … text words (sacrebleu's
    `intl`); Chinese single characters (`zh`); Japanese, Thai, Lao, Khmer, Burmese and texts without letters every
    character (`char`). Then punctuation does not count. In mixed text most letters decide; if the answer has no token
    in that way, being in another script, both have characters. Scores of different tokenizers are not comparable.

    With several expected answers, the highest F counts, separately for each variant. Nothing in common and an empty
    answer give 0. A text that has no token is not applicable: punctuation alone, or another script where `ascii` was
    chosen. A variant that was not requested has no value. Identical texts of a single token have no pairs: rouge2 is 0.
    Nor have *rougeL* and *rougeLsum* a value where the subsequences take too long to find: as a rule, of two texts of
    more than 250,000 tokens.

    Evidence: the tokenizer; precision, recall, F and the number of the expected answer (from 1) of each variant. Equal
    to the rouge_score package where the tokenizer is `ascii`.
    """

    def tokens_of(text: str, tokenizer: Tokenizer) -> RougeText:
        return RougeText(text, parameters.use_stemmer, tokenizer)

    read, counted = tee(tokenize_cases(cases, parameters.tokenizer, TOKENIZER_OF, tokens_of))
    pairs = ((text, case.answer) for case in counted if not case.lacking for text in case.references if text)
    found = rouge(pairs, parameters.rouge_types)
    return [case.without_tokens if case.lacking else _score(case, found, parameters.rouge_types) for case in read]


def _score(
    case: TokenizedCase[RougeText], found: Iterator[dict[RougeType, Rouge]], types: Sequence[RougeType]
) -> CaseScore:
    """Return the score of a case; `found` has next what each expected answer with a token gives."""
    scored = {number: next(found) for number, reference in enumerate(case.references, 1) if reference}
    long = [kind for kind in types if any(kind not in own for own in scored.values())]
    best = {kind: max(scored, key=lambda number: scored[number][kind].f) for kind in types if kind not in long}
    values: dict[str, float | None] = {
        kind: scored[best[kind]][kind].f if kind in best else None for kind in ROUGE_TYPES
    }
    if len(case.answer) > max(map(len, case.references)):  # it is too long, and not what was expected
        values |= dict.fromkeys(long, 0.0)
    facts: dict[str, object] = {"tokenizer": case.tokenizer}
    facts |= {kind: {**scored[number][kind]._asdict(), "expected_answer": number} for kind, number in best.items()}
    if len(case.answer) == 1 and "rouge2" in best:
        facts["note"] = "the answer has 1 token, so no pairs: rouge2 is 0 whatever it says"
    reasons = [too_long(long)] if long else []
    if len({*types}) < len(ROUGE_TYPES):
        reasons.append("not among the chosen rouge_types")
    return CaseScore(values, reason="; ".join(reasons) or None, evidence=Evidence(facts=facts))
