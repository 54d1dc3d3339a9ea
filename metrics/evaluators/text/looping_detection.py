"""Looping detection: whether generation got stuck and repeats itself."""

import math
from collections import Counter

from pydantic import Field

from metrics.core.evaluator import CaseScore, Example, Metric, Parameters, not_applicable
from metrics.core.evaluator_decorator import evaluator
from metrics.core.evidence import Evidence
from metrics.core.suite import Case
from metrics.text.agents.dialogue import cut
from metrics.text.loops import compression_ratio, longest_repeat, loops
from metrics.text.sentences import sentences

SHOWN_CHARACTERS = 200
SHOWN_SENTENCES = 5


class LoopingParameters(Parameters):
    """What counts as a sentence."""

    min_sentence_characters: int = Field(
        10, ge=1, le=1000, description="Shorter sentences are ignored: a list of short items is not a loop."
    )


@evaluator(
    inputs=("answer",),
    synonyms=("repetition", "degeneration"),
    metrics=(
        Metric.lower(
            "looping",
            "How far the answer loops, by the worst of three views: repeated stretches, sentences, compression.",
            threshold=0.5,
            primary=True,
        ),
        Metric.detail("unique_sentences", "Distinct sentences divided by all sentences (of at least ten characters)."),
        Metric.lower(
            "longest_repeated_substring",
            "Share of the text covered by its longest repeated part and its repeats.",
            threshold=None,
            minor=True,
            title="Longest repeat",
        ),
        Metric.detail(
            "compression_ratio",
            "Bytes after zlib compression divided by bytes before; above 1 for short texts.",
            high=math.inf,
        ),
    ),
    sources=("H2O Eval Studio evaluators: Looping detection",),
    standards=("valid and reliable", "ongoing monitoring", "LLM10 unbounded consumption"),
    differs_from_source="The main number is `looping`, the worst of three views, which also sees short, numbered and "
    "late repeats and is near 0 for refrains, tables and code; H2O's three, of which unique_sentences is its main one, "
    "stand beside it. The repeats of a substring do not overlap, so that the share stays within 0 … 1. The range of "
    "compression_ratio is open above, since short texts grow when compressed; H2O states 0 to 1. White space is "
    "normalised before sentences are compared. If no sentence has ten characters, unique_sentences has no value.",
    examples=(
        Example(
            "one sentence ten times",
            {"answer": "I am stuck in a loop. " * 10},
            {"looping": 1.0, "unique_sentences": 0.1, "longest_repeated_substring": 1.0, "compression_ratio": 0.15},
        ),
        Example(
            "one of three sentences is repeated",
            {"answer": "Water boils at 100 °C. Ice melts at 0 °C. Water boils at 100 °C."},
            {"looping": 0.0, "unique_sentences": 2 / 3, "longest_repeated_substring": 44 / 64},
        ),
        Example(
            "no sentence is long enough",
            {"answer": "Yes."},
            {"unique_sentences": None, "longest_repeated_substring": 0.0, "compression_ratio": 3.0},
        ),
        Example.not_applicable("the answer is blank", {"answer": "  "}),
    ),
    version=4,
)
def looping_detection(case: Case, parameters: LoopingParameters) -> CaseScore:
    """Whether the answer repeats itself: how far it loops, and how far sentences, a stretch and its bytes repeat.

        looping = max(stretch, sentences, compression), each 0 (ordinary text) … 1 (nothing but a loop):
        stretch     = share of loops in the hundred neighbouring words that have most of them
        sentences   = share of the words that stand in sentences said twice before (of four words and more)
        compression = 1 − compression_ratio / .1, at least 0; for texts of 400 bytes and more, half of them letters

    A loop is a run of words that comes at least three times in a row, without regard to case, punctuation and the
    numbers of a list; it contains a letter and has six words or is half of the answer. Characters of Chinese, Japanese,
    Korean, Thai and the like, and rows of tables, count as words. Numbers within may change by one step, or freely in
    a run that has six words for each. Refrains, tables, code and lists of similar lines do not come three times in a
    row and stay near 0. Beside it, the three numbers of the source:

        unique_sentences           = distinct sentences / sentences
        longest_repeated_substring = its length × its occurrences / length of the answer, in characters
        compression_ratio          = bytes after zlib at level 9 / bytes of the answer in UTF-8

    Sentences shorter than ten characters are ignored in both counts; sentences that differ only in white space are
    equal. If no sentence is left, unique_sentences has no value. The substring is the longest that occurs at least
    twice without overlapping itself (0 if there is none); its occurrences do not overlap, so the value stays within
    [0, 1]. Among substrings of equal length the most frequent counts, then the first. The compression ratio of a short
    text is above 1 because zlib adds some bytes: only texts of similar length are comparable.

    A blank answer is not applicable. Evidence: the three views, the longest loop (cut) with the number of its words and
    of its repeats, the repeated substring (cut), its length and occurrences, and the most
    repeated sentences. Time is almost linear: a megabyte takes seconds.
    """
    text = case.answer or ""
    if not text.strip():
        return not_applicable("the answer is empty")
    every = sentences(text)
    counts = Counter(
        " ".join(sentence.split()) for sentence in every if len(sentence) >= parameters.min_sentence_characters
    )
    looped = loops(text, every)
    repeat = longest_repeat(text)
    values = {
        "looping": looped.worst,
        "unique_sentences": len(counts) / counts.total() if counts else None,
        "longest_repeated_substring": repeat.length * repeat.times / len(text),
        "compression_ratio": compression_ratio(text),
    }
    reason = None if counts else f"no sentence has {parameters.min_sentence_characters} characters"
    substring = text[repeat.start : repeat.start + repeat.length]
    loop = looped.longest
    facts = {
        "views": {"stretch": looped.stretch, "sentences": looped.sentences, "compression": looped.compression},
        "loop": loop and cut(text[loop.start : loop.end], SHOWN_CHARACTERS),
        "loop_words": loop and loop.length,
        "loop_times": loop and loop.times,
        "substring": cut(substring, SHOWN_CHARACTERS),
        "substring_length": repeat.length,
        "substring_times": repeat.times,
        "sentences": counts.total(),
        "repeated_sentences": [
            {"sentence": cut(sentence, SHOWN_CHARACTERS), "times": times}
            for sentence, times in counts.most_common(SHOWN_SENTENCES)
            if times > 1
        ],
    }
    return CaseScore(values, reason=reason, evidence=Evidence(facts=facts))
