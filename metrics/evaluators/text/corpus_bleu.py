"""Corpus BLEU: sacreBLEU's number for all answers of a model together."""

from collections.abc import Mapping
from typing import Literal

import numpy as np
from pydantic import Field

from metrics.core.evaluator import CaseScore, Example, Findings, Metric
from metrics.core.evidence import Evidence
from metrics.core.suite import Outputs, Suite
from metrics.evaluators._classification import ResamplingParameters
from metrics.evaluators.text._corpora import Compared, compare_texts, findings, signature
from metrics.evaluators.text._overlap import answered_cases, overlap_evaluator
from metrics.text.overlap.bleu import SACREBLEU, BleuCounts, Smoothing, bleu_counts, bleu_row, corpus_bleu
from metrics.text.overlap.tokenizers import Script, Tokenizer, script, tokens

Choice = Literal["auto", "13a", "intl", "zh", "char", "ja-mecab", "whitespace"]
TOKENIZER_OF: Mapping[Script, Tokenizer] = {
    "latin": "13a", "spaced": "13a", "chinese": "zh", "japanese": "char", "unspaced": "char", "none": "13a",
}  # fmt: skip
READ_CHARACTERS = 2_000  # characters of expected answers by which the tokenizer is chosen
LETTERS = answered_cases(("a b c d e", ["a b c x e"]))
CATS = answered_cases(
    ("The cat is on the mat.", ["The cat sat on the mat."]), ("It was Paris, I think.", ["It was Paris, I think."])
)


class CorpusBleuParameters(ResamplingParameters):
    """Tokens, case, orders and smoothing, under sacreBLEU's names."""

    tokenizer: Choice = Field(
        "auto",
        description="auto: 13a; zh for Chinese expected answers, char for Japanese, Thai and other scripts without "
        "spaces. 13a, intl, zh, char, ja-mecab: as sacreBLEU; whitespace: its `none`.",
    )
    lowercase: bool = Field(False, description="Ignore upper and lower case.")
    max_ngram_order: int = Field(4, ge=1, le=9, description="The highest order of n-grams.")
    smoothing: Smoothing = Field(
        "exp",
        description="What an order of n-grams without a match counts: exp, floor, add-k or none, as in sacreBLEU.",
    )
    smooth_value: float | None = Field(
        None, gt=0, le=1000, description="The value of floor (empty: .1) and of add-k (empty: 1)."
    )


@overlap_evaluator(
    id="corpus_bleu",
    title="Corpus BLEU",
    metrics=Metric("corpus_bleu", "BLEU of all answers together; of one case sentence BLEU."),
    sources=("Post 2018, sacreBLEU", "Papineni et al. 2002"),
    differs_from="bleu is the mean of sentence BLEU over cases, without smoothing, and equal to nltk; this one adds up "
    "the n-grams of all cases first, as papers on translation report it.",
    differs_from_source="Values are from 0 to 1; sacreBLEU prints 100 times as much. The tokenizer follows the script "
    "of the expected answers unless chosen; sacreBLEU's default is 13a whatever they are. Composed and decomposed "
    "characters are equal (NFC). The 95 % interval is from the variance over resamples of the cases; sacreBLEU's from "
    "quantiles.",
    examples=(
        Example(
            "two sentences, one word of fourteen tokens wrong",
            CATS,
            rows=({"metric": "corpus_bleu", "value": 0.762786559, "n": 2, "unscored": 0},),
        ),
        Example(
            "no 4-gram matches: half a match counts (exp)",
            LETTERS,
            rows=({"metric": "corpus_bleu", "value": (4 / 5 * 2 / 4 * 1 / 3 * 1 / 2 / 2) ** 0.25, "n": 1},),
        ),
        Example("without smoothing it is 0", LETTERS, expect={"corpus_bleu": 0.0}, parameters={"smoothing": "none"}),
    ),
)
def corpus_bleu_score(suite: Suite, outputs: Outputs, parameters: CorpusBleuParameters) -> Findings:
    """BLEU of all answers of a model together, as sacreBLEU computes it, with its signature.

        BLEU = BP · exp(1/N · Σₙ ln pₙ),   n = 1 … N
        pₙ   = n-grams of all answers that match / n-grams of all answers
        BP   = 1 if the answers have at least as many tokens as the expected ones, else exp(1 − expected / answers)

    From 0 to 1. An n-gram matches at most as often as in the expected answer that has it most often; of several
    expected answers the closest in length counts for BP. An order without any match counts half a match, the next one a
    quarter, … (`smoothing` = exp). The score of a case is its sentence BLEU with the same smoothing, over the orders
    that it has n-grams of (sacreBLEU's effective order).

    The column `signature` says how the number was computed, as in `nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|
    version:2.6.0`, the release of sacreBLEU whose number it is. Cases without an expected answer or without an output
    are unscored; an empty answer is one without n-grams. The 95 % interval and the paired test of two models come from
    resamples of the cases (of `cases.group` where given), in which counts are added up again.

    Evidence per case: the signature of its own score, matches and n-grams of each order, lengths. Equal to sacreBLEU's
    corpus_bleu and sentence_bleu.
    """
    texts = compare_texts(suite, outputs)
    tokenizer = _tokenizer(texts, parameters.tokenizer)

    def cut(text: str) -> list[str]:
        return tokens(text.lower() if parameters.lowercase else text, tokenizer)

    pairs = (
        ([cut(text) for text in references], cut(answer))
        for answer, references in zip(texts.answers, texts.references, strict=True)
    )
    counts = list(bleu_counts(pairs, parameters.max_ngram_order))
    rows = np.array([bleu_row(own) for own in counts], np.float64).reshape(-1, 2 + 2 * parameters.max_ngram_order)
    smoothing = parameters.smoothing, parameters.smooth_value
    single = corpus_bleu(rows, *smoothing, effective_order=True).tolist()

    def sign(references: str, effective: str) -> str:
        case, tok = "lc" if parameters.lowercase else "mixed", "none" if tokenizer == "whitespace" else tokenizer
        smooth = _smoothing(parameters)
        return signature(nrefs=references, case=case, eff=effective, tok=tok, smooth=smooth, version=SACREBLEU)

    scores = {
        case.case_id: CaseScore({"corpus_bleu": value}, evidence=_evidence(own, sign(str(len(references)), "yes")))
        for case, references, value, own in zip(texts.cases, texts.references, single, counts, strict=True)
    }
    own_rows = {"corpus_bleu": (rows, lambda sums: corpus_bleu(sums, *smoothing))}
    columns = {"corpus_bleu": {"signature": sign(texts.reference_counts, "no")}}
    return findings(suite, texts, parameters, scores, own_rows, columns)


def _evidence(counts: BleuCounts, written: str) -> Evidence:
    facts = {
        "signature": written,
        "matches": counts.matches,
        "ngrams": counts.totals,
        "answer_tokens": counts.length,
        "reference_tokens": counts.reference_length,
    }
    return Evidence(facts=facts)


def _tokenizer(texts: Compared, choice: Choice) -> Tokenizer:
    if choice != "auto":
        return choice
    read = "".join(reference[:READ_CHARACTERS] for references in texts.references for reference in references[:1])
    return TOKENIZER_OF[script(read[: 50 * READ_CHARACTERS])]


def _smoothing(parameters: CorpusBleuParameters) -> str:
    value = {"floor": 0.1, "add-k": 1.0}.get(parameters.smoothing)
    if value is None:
        return parameters.smoothing
    return f"{parameters.smoothing}[{value if parameters.smooth_value is None else parameters.smooth_value:.2f}]"
