"""TER: the edits, shifts of phrases among them, that make the answer an expected one."""

import re

import numpy as np
from pydantic import Field

from metrics.core.evaluator import CaseScore, Example, Findings, Metric, not_applicable, output_failure
from metrics.core.evidence import Evidence
from metrics.core.suite import Outputs, Suite
from metrics.evaluators._classification import ResamplingParameters
from metrics.evaluators.text._corpora import compare_texts, error_rate, findings, signature
from metrics.evaluators.text._overlap import answered_cases, overlap_evaluator
from metrics.text.overlap.bleu import SACREBLEU

PUNCTUATION = re.compile(r"[.,?:;!\"()]")
TOO_LONG = "an expected answer and the answer are too long to compare"


class TerParameters(ResamplingParameters):
    """What of the texts counts."""

    case_sensitive: bool = Field(False, description="Distinguish upper and lower case.")
    no_punct: bool = Field(False, description="Leave out . , ? : ; ! quotes and round brackets.")

    def words(self, text: str) -> list[str]:
        """Return the words of a text."""
        text = text if self.case_sensitive else text.lower()
        return (PUNCTUATION.sub("", text) if self.no_punct else text).split()


@overlap_evaluator(
    title="TER",
    metrics=Metric.amount("ter", "Edits and shifts of phrases / words of the expected answers.", title="TER"),
    sources=("Snover et al. 2006", "Post 2018, sacreBLEU"),
    differs_from="edit_distance's word_error_rate is the same without shifts: a phrase that moves costs all its words.",
    differs_from_source="Numbers are sacreBLEU's, limits of the search for shifts included; values are shares where it "
    "prints 100 times as much. Its options `normalized` and `asian_support` are not offered: white space separates "
    "words. Composed and decomposed characters are equal (NFC). The 95 % interval is from the variance over resamples "
    "of the cases; sacreBLEU's from quantiles. Texts of more than some 7,000 words are not scored.",
    examples=(
        Example(
            "a phrase that moves is one edit",
            answered_cases(("The cat sat on the mat", ["on the mat sat the cat"])),
            rows=({"metric": "ter", "value": 2 / 6, "n": 1},),
        ),
        Example(
            "edits of all cases / words of all cases",
            answered_cases(("a b c d", ["a b c d"]), ("e x y", ["e f"])),
            rows=({"metric": "ter", "value": 2 / 6, "n": 2},),
        ),
        Example(
            "the fewest edits of several expected answers, over their mean length",
            answered_cases(("a x", ["a b", "a b c d"])),
            rows=({"metric": "ter", "value": 1 / 3, "n": 1},),
        ),
    ),
    version=2,
)  # fmt: skip
def ter(suite: Suite, outputs: Outputs, parameters: TerParameters) -> Findings:
    """How many edits make the answers the expected ones, per expected word: translation edit rate (TER).

        TER = edits of all cases / words of the expected answers of all cases

    An edit inserts, deletes or replaces a word, or shifts a phrase of up to 10 words by up to 50. From 0, lower is
    better; above 1 where there are more edits than words. The search is Tercom's: the shift that lowers the number of
    the other edits most is taken, as long as one does. Of several expected answers the fewest edits count, and the mean
    of their lengths. Words are in lower case unless `case_sensitive`; punctuation is part of its word. The score of a
    case is its edits over its words.

    The column `signature` is sacreBLEU's. Cases without an expected answer or without an output are unscored; an empty
    answer has as many edits as words are expected. The 95 % interval, whose variance falls with the rate, and the
    paired test of two models come from resamples of the cases (of `cases.group` where given), in which edits and words
    are added up again.

    Evidence per case: the signature, edits, expected words, and the expected answer that counted. Equal to sacreBLEU's
    TER.
    """
    from metrics.evaluators.text._edit_rate import edit_count  # on use: it is compiled

    texts = compare_texts(suite, outputs)

    def sign(references: str) -> str:
        case, punct = "mixed" if parameters.case_sensitive else "lc", "no" if parameters.no_punct else "yes"
        return signature(
            nrefs=references, case=case, tok="tercom", norm="no", punct=punct, asian="no", version=SACREBLEU
        )

    kept, rows, scores = [], [], dict(texts.missing)
    for place, (case, answer) in enumerate(zip(texts.cases, texts.answers, strict=True)):
        made, wanted = parameters.words(answer), [parameters.words(text) for text in texts.references[place]]
        counts = [edit_count(made, reference) for reference in wanted]
        edits = [count for count in counts if count is not None]
        if len(edits) < len(counts):
            longer = len(made) > max(map(len, wanted))
            scores[case.case_id] = (output_failure if longer else not_applicable)(TOO_LONG)
            continue
        row = [float(min(edits)), sum(map(len, wanted)) / len(wanted)]
        kept.append(place)
        rows.append(row)
        facts = {
            "signature": sign(str(len(wanted))),
            "edits": min(edits),
            "expected_words": row[1],
            "expected_answer": edits.index(min(edits)) + 1,
        }
        scores[case.case_id] = CaseScore({"ter": float(error_rate(np.array(row)))}, evidence=Evidence(facts=facts))
    texts = texts._replace(
        places=[texts.places[place] for place in kept], cases=[texts.cases[place] for place in kept], missing={}
    )
    own = {"ter": (np.array(rows, np.float64).reshape(-1, 2), error_rate)}
    return findings(
        suite, texts, parameters, scores, own, {"ter": {"signature": sign(texts.reference_counts)}}, open_above=["ter"]
    )
