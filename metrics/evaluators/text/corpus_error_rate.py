"""Corpus error rates: the word and character errors of all answers of a model over what was expected; MER, WIL, WIP."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from pydantic import Field

from metrics.core.array_types import Floats
from metrics.core.evaluator import CaseScore, Example, Findings, Metric
from metrics.core.evidence import Evidence
from metrics.core.rounding import none_if_nan
from metrics.core.suite import Outputs, Suite
from metrics.evaluators._classification import ResamplingParameters
from metrics.evaluators.text._corpora import TOO_LONG, compare_texts, error_rate, findings
from metrics.evaluators.text._overlap import answered_cases, overlap_evaluator
from metrics.stats.float_tolerance import ratio
from metrics.text.answers.forms import NORMALISED, WITHOUT_PUNCTUATION, Normalise, whisper_form
from metrics.text.overlap.edits import Edits, edits

NO_TEXT = "of no expected answer is there any text that counts"
SPEECH = answered_cases(("hello word how are you", ["hello world how are you"]), ("the cat sat", ["the cat sat"]))


class _Compared(NamedTuple):
    """Items (words or characters) of an expected answer and an answer: edits, those that match, and all of each."""

    errors: float
    matches: float
    expected: int
    given: int


def preserved(sums: Floats) -> Floats:
    """Return the word information preserved, of sums [..., 3] of matches, expected words and words given."""
    matches = sums[..., 0]
    return ratio(matches, sums[..., 1]) * ratio(matches, sums[..., 2], 0.0)


def lost(sums: Floats) -> Floats:
    """Return the word information lost."""
    return 1.0 - preserved(sums)


SCORES: Mapping[str, Callable[[Floats], Floats]] = {  # of sums of counts
    "corpus_wer": error_rate, "corpus_cer": error_rate, "corpus_mer": error_rate, "corpus_wil": lost,
    "corpus_wip": preserved,
}  # fmt: skip
OPEN = ("corpus_wer", "corpus_cer")  # above


class CorpusErrorRateParameters(ResamplingParameters):
    """What of the texts counts."""

    normalise: Normalise = Field("none", description=NORMALISED)

    ignore_case: bool = Field(False, description="“paris” is “Paris”.")
    ignore_punctuation: bool = Field(False, description="“you.” is “you”: punctuation is left out.")


@overlap_evaluator(
    title="Corpus error rates",
    metrics=(
        Metric.amount("corpus_wer", "Word errors of all answers / words of all expected answers.", primary=True,
                      title="Corpus WER"),
        Metric.amount("corpus_cer", "Character errors of all answers / characters of all expected answers.",
                      title="Corpus CER"),
        Metric.lower("corpus_mer", "Word errors / words matched or in error: the match error rate.", minor=True,
                     title="Corpus MER"),
        Metric.lower("corpus_wil", "1 − word information preserved: the word information lost.", minor=True,
                     title="Corpus WIL"),
        Metric("corpus_wip", "Share of the expected words that are right · share of the words given that are.",
               minor=True, title="Corpus WIP"),
    ),
    sources=("jiwer", "Levenshtein 1966", "Morris et al. 2004, MER and WIL", "Radford et al. 2022, Whisper"),
    differs_from="edit_distance gives the mean of the cases' word and character error rates, in which a short case "
    "weighs as much as a long one; this one adds up errors and words of all cases first, as papers on speech report "
    "it.",
    differs_from_source="Of several expected answers the one with the lowest rate counts. Of several alignments with "
    "as few edits, MER, WIL and WIP take the one that RapidFuzz finds, as jiwer does.",
    examples=(
        Example(
            "one of eight words; the mean over cases would be .1",
            SPEECH,
            rows=(
                {"metric": "corpus_wer", "value": 1 / 8, "n": 2, "unscored": 0},
                {"metric": "corpus_cer", "value": 1 / 34, "n": 2},
                {"metric": "corpus_mer", "value": 1 / 8, "n": 2},
                {"metric": "corpus_wip", "value": (7 / 8) ** 2, "n": 2},
                {"metric": "corpus_wil", "value": 1 - (7 / 8) ** 2, "n": 2},
            ),
        ),
        Example(
            "normalised as Whisper's evaluation does it: asides, case and punctuation do not count",
            answered_cases(("[laughs] well it costs three dollars", ["Well, it costs 3 dollars."])),
            expect={"corpus_wer": 1 / 5},
            parameters={"normalise": "basic"}
        ),
        Example(
            "case and punctuation left out",
            answered_cases(("hello world", ["Hello, world."])),
            expect={"corpus_wer": 0.0},
            parameters={"ignore_case": True, "ignore_punctuation": True}
        ),
    ),
)  # fmt: skip
def corpus_error_rate(suite: Suite, outputs: Outputs, parameters: CorpusErrorRateParameters) -> Findings:
    """Word and character error rate of all answers of a model together, as for transcripts of speech.

        corpus_wer = Σ word edits / Σ words of the expected answers
        corpus_cer = Σ character edits / Σ characters of the expected answers

        corpus_mer = Σ word edits / Σ (words that match + word edits)
        corpus_wip = Σ matches / Σ words of the expected answers · Σ matches / Σ words of the answers
        corpus_wil = 1 − corpus_wip

    over the cases; an edit replaces, inserts or deletes one word (between white space) or character, the fewest count.
    WER and CER from 0 up, lower is better; above 1 where answers have more errors than words were expected. MER and WIL
    from 0 to 1, lower is better, and WIP, higher is better, stay there: they suit answers with many errors. The score
    of a case is its own rate. Cases without an expected answer or an output are unscored; an empty answer lacks every
    word, and preserves none. Of texts of more than 10⁸ pairs of words only WER and CER are known.

    `normalise` = basic compares texts as Whisper's evaluation does in all languages: lower case, without what stands in
    brackets, punctuation, symbols and marks as blanks; numbers stay as they were written ("3" is not "three").

    The 95 % interval and the paired test of two models come from resamples of the cases, in which errors and words are
    added up again. Equal to jiwer's wer, cer, mer, wil and wip of lists.
    """
    texts = compare_texts(suite, outputs)
    counts: dict[str, list[tuple[float, ...]]] = {name: [] for name in SCORES}
    scores, kept = {}, []
    for place, case in enumerate(texts.cases):
        answer, references = texts.answers[place], texts.references[place]
        words, characters = (_closest(of_words, answer, references, parameters) for of_words in (True, False))
        own: dict[str, tuple[float, ...]] = {
            "corpus_wer": (words.errors, words.expected),
            "corpus_cer": (characters.errors, characters.expected),
            "corpus_mer": (words.errors, words.errors + words.matches),
            "corpus_wil": (words.matches, words.expected, words.given),
            "corpus_wip": (words.matches, words.expected, words.given),
        }
        values = {name: _value(SCORES[name], row) if row[1] else None for name, row in own.items()}
        if words.expected:
            kept.append(place)
            for name, row in own.items():
                counts[name].append(row)
        reason = TOO_LONG if words.expected else NO_TEXT
        facts = {name: {"errors": own[name][0], "expected": own[name][1]} for name in OPEN}
        scores[case.case_id] = CaseScore(values, reason=reason, evidence=Evidence(facts=facts))
    texts = texts._replace(places=[texts.places[place] for place in kept], cases=[texts.cases[place] for place in kept])
    rows = {name: (np.array(own) if own else np.zeros((0, 2)), SCORES[name]) for name, own in counts.items()}
    return findings(suite, texts, parameters, scores, rows, {}, open_above=OPEN)


def _value(score: Callable[[Floats], Floats], row: tuple[float, ...]) -> float | None:
    return none_if_nan(float(score(np.array(row))))


def _closest(
    of_words: bool, answer: str, references: Sequence[str], parameters: CorpusErrorRateParameters
) -> _Compared:
    """Return how the expected answer with the lowest rate compares; zeros where none is comparable."""

    def items(text: str) -> Sequence[str]:
        plain = whisper_form(text) if parameters.normalise == "basic" else text
        plain = plain.casefold() if parameters.ignore_case else plain
        plain = plain.translate(WITHOUT_PUNCTUATION) if parameters.ignore_punctuation else plain
        return plain.split() if of_words else " ".join(plain.split())

    given = items(answer)
    found = [
        _Compared(own.distance, _matches(own, len(wanted)), len(wanted), len(given))
        for wanted in map(items, references)
        if len(wanted) and (own := edits(wanted, given))
    ]
    return min(found, key=lambda one: one.errors / one.expected, default=_Compared(0, 0, 0, 0))


def _matches(own: Edits, expected: int) -> float:
    """Return how many items stay as they are; NaN where the kinds of the edits are not known."""
    if own.substitutions is None or own.deletions is None:
        return math.nan
    return expected - own.substitutions - own.deletions
