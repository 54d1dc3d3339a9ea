"""chrF and chrF++: F of character n-grams, and of words, in common with the expected answer."""

import numpy as np
from pydantic import Field

from metrics.core.evaluator import CaseScore, Example, Findings, Metric
from metrics.core.evidence import Evidence
from metrics.core.suite import Outputs, Suite
from metrics.evaluators._classification import ResamplingParameters
from metrics.evaluators.text._corpora import compare_texts, findings, signature
from metrics.evaluators.text._overlap import answered_cases, overlap_evaluator
from metrics.text.overlap.bleu import CHARACTER_ORDERS, SACREBLEU, WORD_ORDERS, chrf, chrf_counts

ORDERS = {"chrf": CHARACTER_ORDERS, "chrf_plus_plus": CHARACTER_ORDERS + WORD_ORDERS}
P = (6 / 7 + 5 / 6 + 4 / 5 + 3 / 4 + 2 / 3 + 1 / 2) / 6
CAT = answered_cases(("the cats", ["the cat"]))


class ChrfParameters(ResamplingParameters):
    """How recall weighs, and whether case counts."""

    beta: float = Field(2.0, gt=0, le=10, description="Recall weighs β times as much as precision.")
    lowercase: bool = Field(False, description="Ignore upper and lower case.")


@overlap_evaluator(
    id="chrf",
    title="chrF",
    metrics=(
        Metric("chrf", "chrF of all answers together: F of character 1- to 6-grams.", primary=True, title="chrF"),
        Metric("chrf_plus_plus", "chrF++: the same with single words and pairs.", minor=True, title="chrF++"),
    ),
    sources=("Popović 2015", "Popović 2017", "Post 2018, sacreBLEU"),
    differs_from="corpus_bleu and rouge compare words; chrF gives credit for parts of words, so that inflected forms "
    "count, and needs no tokenizer.",
    differs_from_source="Numbers are sacreBLEU's, from 0 to 1 where it prints 100 times as much. Composed and "
    "decomposed characters are equal (NFC). The 95 % interval is from the variance over resamples of the cases; "
    "sacreBLEU's is from quantiles.",
    examples=(
        Example(
            "one character too many: P is the mean of 6/7, 5/6, … 1/2, and R is 1",
            CAT,
            rows=({"metric": "chrf", "value": 5 * P / (4 * P + 1), "n": 1},),
        ),
        Example(
            "chrF++ adds words: one of two is the same, and the pair is not",
            CAT,
            expect={"chrf_plus_plus": 0.762968152},
        ),
        Example("nothing in common", answered_cases(("xyz", ["abc"])), expect={"chrf": 0.0, "chrf_plus_plus": 0.0}),
    ),
)
def chrf_score(suite: Suite, outputs: Outputs, parameters: ChrfParameters) -> Findings:
    """How many character n-grams the answers share with the expected ones, recall before precision: chrF and chrF++.

        chrF = (1 + β²) · P · R / (β² · P + R)
        P, R = means over n = 1 … 6 of matching n-grams / n-grams of the answers (P), of the expected answers (R)

    From 0 to 1, β = 2. White space does not count. chrF++ takes the means over words and pairs of words, too, where a
    punctuation mark at the end of a word, or at its beginning, is a word of its own. The score of a model is that of
    the counts of all cases together, the score of a case that of its own counts; of several expected answers the one
    with the highest score of the case counts. Orders of which one side has no n-gram are left out.

    The column `signature` is sacreBLEU's, as `nrefs:1|case:mixed|eff:yes|nc:6|nw:2|space:no|version:2.6.0`. Cases
    without an expected answer or without an output are unscored; an empty answer has chrF 0. The 95 % interval and the
    paired test of two models come from resamples of the cases (of `cases.group` where given), in which counts are added
    up again.

    Evidence per case: the signature, the expected answer that counted for either score, and of chrF++ the matches and
    n-grams of each order. Equal to sacreBLEU's corpus_chrf and sentence_chrf.
    """
    texts = compare_texts(suite, outputs)
    pairs = [
        (reference, answer)
        for answer, references in zip(texts.answers, texts.references, strict=True)
        for reference in references
    ]
    if parameters.lowercase:
        pairs = [(reference.lower(), answer.lower()) for reference, answer in pairs]
    counts = chrf_counts(pairs)
    many = np.array([len(references) for references in texts.references], np.int64)
    starts = np.cumsum(many) - many
    rows, values, chosen = {}, {}, {}
    for name, orders in ORDERS.items():
        each = chrf(counts[:, :orders], parameters.beta)
        best = [start + int(np.argmax(each[start : start + own])) for start, own in zip(starts, many, strict=True)]
        own = counts[best, :orders].astype(np.float64).reshape(-1, 3 * orders)
        rows[name] = own, lambda sums, orders=orders: chrf(sums.reshape(*sums.shape[:-1], orders, 3), parameters.beta)
        values[name], chosen[name] = each[best].tolist(), (np.array(best, np.int64) - starts + 1).tolist()

    def sign(name: str, references: str) -> str:
        case, orders = "lc" if parameters.lowercase else "mixed", str(CHARACTER_ORDERS)
        words = str(ORDERS[name] - CHARACTER_ORDERS)
        return signature(nrefs=references, case=case, eff="yes", nc=orders, nw=words, space="no", version=SACREBLEU)

    scores = {
        case.case_id: CaseScore(
            {name: own[place] for name, own in values.items()},
            evidence=Evidence(
                facts={
                    "signature": sign("chrf", str(len(texts.references[place]))),
                    "expected_answer": chosen["chrf"][place],
                    "expected_answer_chrf_plus_plus": chosen["chrf_plus_plus"][place],
                    "matches": rows["chrf_plus_plus"][0][place, 2::3].astype(int).tolist(),
                    "ngrams": rows["chrf_plus_plus"][0][place, ::3].astype(int).tolist(),
                    "expected_ngrams": rows["chrf_plus_plus"][0][place, 1::3].astype(int).tolist(),
                }
            ),
        )
        for place, case in enumerate(texts.cases)
    }
    columns = {name: {"signature": sign(name, texts.reference_counts)} for name in ORDERS}
    return findings(suite, texts, parameters, scores, rows, columns)
