"""Corpus error rates: the word and character errors of all answers of a model over all words expected."""

from collections.abc import Sequence

import numpy as np
from pydantic import Field

from metrics.core.evaluator import CaseScore, Example, Findings, Metric
from metrics.core.evaluator_decorator import evaluator
from metrics.core.evidence import Evidence
from metrics.core.suite import Outputs, Suite
from metrics.evaluators._classification import ResamplingParameters
from metrics.evaluators.text._corpora import compare_texts, error_rate, findings
from metrics.text.answers.forms import WITHOUT_PUNCTUATION
from metrics.text.overlap.edits import edits

SPEECH = {
    "cases": [
        {"case_id": "1", "expected_answers": ["hello world how are you"]},
        {"case_id": "2", "expected_answers": ["the cat sat"]},
    ],
    "outputs": [{"case_id": "1", "answer": "hello word how are you"}, {"case_id": "2", "answer": "the cat sat"}],
}


class CorpusErrorRateParameters(ResamplingParameters):
    """Whether case and punctuation count."""

    ignore_case: bool = Field(False, description="“paris” is “Paris”.")
    ignore_punctuation: bool = Field(False, description="“you.” is “you”: punctuation is left out.")


@evaluator(
    id="corpus_error_rate",
    title="Corpus error rates",
    inputs=("answer", "expected_answers"),
    metrics=(
        Metric.lower(
            "corpus_wer", "Word errors of all answers / words of all expected answers.", high=np.inf, threshold=None,
            primary=True, title="Corpus WER",
        ),
        Metric.lower(
            "corpus_cer", "Character errors of all answers / characters of all expected answers.", high=np.inf,
            threshold=None, title="Corpus CER",
        ),
    ),
    has_thresholds=False,
    sources=("jiwer", "Levenshtein 1966"),
    standards=("valid and reliable", "outcomes analysis"),
    differs_from=(
        "edit_distance gives the mean of the cases' word and character error rates, in which a short case weighs as "
        "much as a long one; this one adds up errors and words of all cases first, as papers on speech report it."
    ),
    differs_from_source="Of several expected answers the one with the lowest rate counts.",
    examples=(
        Example(
            "one of eight words; the mean over cases would be .1",
            SPEECH,
            rows=(
                {"metric": "corpus_wer", "value": 1 / 8, "n": 2, "unscored": 0},
                {"metric": "corpus_cer", "value": 1 / 34, "n": 2},
            ),
        ),
        Example(
            "case and punctuation left out",
            {
                "cases": [{"case_id": "1", "expected_answers": ["Hello, world."]}],
                "outputs": [{"case_id": "1", "answer": "hello world"}],
            },
            rows=({"metric": "corpus_wer", "value": 0.0},),
            parameters={"ignore_case": True, "ignore_punctuation": True},
        ),
    ),
)  # fmt: skip
def corpus_error_rate(suite: Suite, outputs: Outputs, parameters: CorpusErrorRateParameters) -> Findings:
    """Word and character error rate of all answers of a model together, as for transcripts of speech.

        corpus_wer = Σ word edits / Σ words of the expected answers
        corpus_cer = Σ character edits / Σ characters of the expected answers

    over the cases; an edit replaces, inserts or deletes one word (between white space) or character, the fewest count.
    From 0 up, lower is better; above 1 where answers have more errors than words were expected. The score of a case is
    its own rate. Cases without an expected answer or an output are unscored; an empty answer lacks every word. The 95 %
    interval and the paired test of two models come from resamples of the cases, in which errors and words are added up
    again. Equal to jiwer's wer and cer of lists.
    """
    texts = compare_texts(suite, outputs)
    counts: dict[str, list[tuple[float, float]]] = {"corpus_wer": [], "corpus_cer": []}
    scores = {}
    for case, answer, references in zip(texts.cases, texts.answers, texts.references, strict=True):
        values: dict[str, float | None] = {}
        for name, own in counts.items():
            own.append(_fewest(name == "corpus_wer", answer, references, parameters))
            values[name] = own[-1][0] / own[-1][1] if own[-1][1] else None
        facts = {name: {"errors": own[-1][0], "expected": own[-1][1]} for name, own in counts.items()}
        scores[case.case_id] = CaseScore(values, evidence=Evidence(facts=facts))
    rows = {name: (np.array(own, np.float64).reshape(-1, 2), error_rate) for name, own in counts.items()}
    return findings(suite, texts, parameters, scores, rows, {}, bounded=False)


def _fewest(
    words: bool, answer: str, references: Sequence[str], parameters: CorpusErrorRateParameters
) -> tuple[float, float]:
    """Return the errors and the length of the expected answer with the lowest rate; (0, 0) where none is comparable."""

    def items(text: str) -> Sequence[str]:
        plain = text.casefold() if parameters.ignore_case else text
        plain = plain.translate(WITHOUT_PUNCTUATION) if parameters.ignore_punctuation else plain
        return plain.split() if words else " ".join(plain.split())

    found = [
        (float(own.distance), float(len(wanted)))
        for wanted in map(items, references)
        if len(wanted) and (own := edits(wanted, items(answer)))
    ]
    return min(found, key=lambda pair: pair[0] / pair[1], default=(0.0, 0.0))
