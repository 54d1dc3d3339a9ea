"""Readability: six indices of how hard an English answer is to read."""

import math
from collections.abc import Sequence

from pydantic import Field

from metrics.core.evaluator import CaseScore, Example, Metric, Parameters, not_applicable
from metrics.core.evaluator_decorator import evaluator
from metrics.core.evidence import Evidence
from metrics.core.suite import Case
from metrics.text.languages import LEFT_OUT, detect, letters_in
from metrics.text.readability import WORD, is_complex, readability, text_counts

SHOWN_WORDS = 20
TITLES = {
    "flesch_reading_ease": ("Flesch reading ease", "Ease of reading: 100 very easy, 60–70 plain English, 0 very hard."),
    "flesch_kincaid_grade": ("Flesch–Kincaid grade", "US school grade, from words per sentence and syllables."),
    "gunning_fog": ("Gunning fog", "Years of schooling, from words per sentence and complex words."),
    "smog": ("SMOG", "US school grade, from words of three syllables and more."),
    "coleman_liau": ("Coleman–Liau", "US school grade, from letters per word and sentences per word."),
    "automated_readability_index": ("ARI", "US school grade, from letters per word and words per sentence."),
}
PLAIN = "The cat sat on the mat. It was warm there, and the sun was shining."


class ReadabilityParameters(Parameters):
    """How much text is needed."""

    min_letters: int = Field(
        20, ge=1, le=10_000, description="Letters that a text needs for its language to be detected; shorter: no value."
    )


@evaluator(
    id="readability",
    tasks=("text", "agent"),
    inputs=("answer",),
    metrics=tuple(
        Metric.neutral(
            name, text, low=-math.inf, high=math.inf, title=title, primary=name == "flesch_reading_ease",
            minor=name not in ("flesch_reading_ease", "flesch_kincaid_grade"),
        )
        for name, (title, text) in TITLES.items()
    ),
    sources=(
        "Flesch 1948", "Kincaid et al. 1975", "Gunning 1952", "McLaughlin 1969", "Coleman & Liau 1975",
        "Smith & Senter 1967", "textstat",
    ),
    standards=("valid and reliable",),
    differs_from="No other evaluator looks at how hard a text is; perplexity asks how likely a language model finds "
    "it.",
    differs_from_source="The formulas are the published ones. textstat rounds Coleman and Liau's .0588 to .058, has "
    "Gunning's complex words from a list of easy ones, leaves out sentences of two words, and looks syllables up in a "
    "dictionary or hyphenates; here they follow from the spelling. SMOG was made for thirty sentences, and is given "
    "for any.",
    examples=(
        Example(
            "two sentences, 15 words, 16 syllables, 50 letters",
            {"answer": PLAIN},
            {
                "flesch_reading_ease": 206.835 - 1.015 * 7.5 - 84.6 * 16 / 15,
                "flesch_kincaid_grade": 0.39 * 7.5 + 11.8 * 16 / 15 - 15.59,
                "gunning_fog": 0.4 * 7.5,
                "smog": 3.1291,
                "coleman_liau": 0.0588 * 100 * 50 / 15 - 0.296 * 100 * 2 / 15 - 15.8,
                "automated_readability_index": 4.71 * 50 / 15 + 0.5 * 7.5 - 21.43,
            },
        ),
        Example.not_applicable("another language", {"answer": "Bücher dürfen Sie 28 Tage lang behalten, Filme nur 7."}),
        Example.not_applicable("too short", {"answer": "Paris."}),
    ),
)  # fmt: skip
def readability_scores(cases: Sequence[Case], parameters: ReadabilityParameters) -> list[CaseScore]:
    """How hard an English answer is to read, by six formulas: reading ease and school grades.

        Flesch reading ease   206.835 − 1.015·w/s − 84.6·y/w
        Flesch–Kincaid grade  .39·w/s + 11.8·y/w − 15.59
        Gunning fog           .4·(w/s + 100·x/w)
        SMOG                  1.043·√(30·p/s) + 3.1291
        Coleman–Liau          .0588·100·c/w − .296·100·s/w − 15.8
        ARI                   4.71·c/w + .5·w/s − 21.43

    with w words, s sentences, y syllables, c letters and digits, p words of three syllables and more, and x those of
    them that have three without the endings -es, -ed and -ing. Neither end is better: what is right depends on the
    readers. A higher ease is easier; a higher grade is harder.

    Syllables follow from the spelling: runs of vowels, less an e that is not heard, and one more where two vowels part.
    That gives a number of the CMU dictionary for 92 % of its words, and for 98 % of the words of running text. Words
    with a hyphen are one word; links, code and addresses do not count.

    The formulas are for English: a text that the local detector takes for another language, or that has fewer than
    `min_letters` letters, is not applicable. Evidence: the counts, the complex words (the first 20), and the language
    that was detected. Equal to textstat's formulas for the same counts, but for Coleman–Liau's .0588.
    """
    return [_score(case.answer or "", parameters) for case in cases]


def _score(answer: str, parameters: ReadabilityParameters) -> CaseScore:
    prose = LEFT_OUT.sub(" ", answer)
    letters = letters_in(prose)
    if letters < parameters.min_letters:
        return not_applicable(
            f"{letters} letters are too few to tell the language: {parameters.min_letters} are needed"
        )
    found = detect(answer)
    facts = {"language": found.language, "probability": round(found.probability, 6)}
    if found.language != "en":
        return not_applicable(
            f"the answer is in {found.language}, and the formulas are for English", Evidence(facts=facts)
        )
    counts = text_counts(prose)
    if counts is None:
        return not_applicable("the answer has no word", Evidence(facts=facts))
    hard = dict.fromkeys(word for word in WORD.findall(prose) if is_complex(word))
    facts |= {**counts._asdict(), "hard_words": list(hard)[:SHOWN_WORDS]}
    return CaseScore(readability(counts)._asdict(), evidence=Evidence(facts=facts))
