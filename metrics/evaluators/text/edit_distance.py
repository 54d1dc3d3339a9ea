"""Edit distance: how many characters and words must change to make the answer of the expected one."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pydantic import Field

from metrics.core.evaluator import CaseScore, Example, Metric, Parameters
from metrics.core.evaluator_decorator import evaluator
from metrics.core.evidence import Evidence
from metrics.core.suite import Case
from metrics.evaluators.text._tokenized import tokenize_cases
from metrics.evaluators.text.bleu import TOKENIZER_OF
from metrics.text.overlap.edits import Edits, edits
from metrics.text.overlap.tokenizers import CHOICES, Script, Tokenizer, TokenizerChoice, tokens

WORDS_OF: Mapping[Script, Tokenizer] = {**TOKENIZER_OF, "none": "whitespace"}
TOO_LONG = "the texts are too long to compare character by character"


class EditDistanceParameters(Parameters):
    """What words are, and whether case counts."""

    tokenizer: TokenizerChoice = Field("auto", description=f"How a text is cut into words. {CHOICES}")
    ignore_case: bool = Field(False, description="“paris” is “Paris”.")


@evaluator(
    id="edit_distance",
    title="Edit distance",
    inputs=("answer", "expected_answers"),
    metrics=(
        Metric("edit_similarity", "1 − character edits / characters of the longer text.", primary=True),
        Metric.lower(
            "edit_distance", "Characters to insert, delete or replace.", high=math.inf, threshold=None, minor=True,
            unit="characters",
        ),
        Metric.lower(
            "character_error_rate", "Character edits / characters of the expected answer (CER).", high=math.inf,
            threshold=None, minor=True, title="Character error rate",
        ),
        Metric.lower(
            "word_error_rate", "Word edits / words of the expected answer (WER).", high=math.inf, threshold=None,
            minor=True, title="Word error rate",
        ),
        Metric("word_similarity", "1 − word edits / words of the longer text.", minor=True),
    ),
    has_thresholds=False,
    sources=("Levenshtein 1966", "RapidFuzz", "jiwer"),
    standards=("valid and reliable", "outcomes analysis"),
    differs_from=(
        "rougeL counts what both texts have in common in order; here also what has to be replaced. ter lets whole "
        "phrases move at the cost of one edit."
    ),
    differs_from_source=(
        "Distances are those of RapidFuzz, the error rates of a case those of jiwer for words between spaces. Texts in "
        "scripts without spaces have characters as words unless `tokenizer` says otherwise. White space around a "
        "text does not count, and composed and decomposed characters are equal (NFC). The mean over cases weighs every "
        "case alike; jiwer's rate of a list, of all its words together, is that of corpus_error_rate."
    ),
    examples=(
        Example(
            "one of six words and three of 22 characters",
            {"answer": "the cat is on the mat", "expected_answers": ["the cat sat on the mat"]},
            {
                "edit_similarity": 19 / 22, "edit_distance": 3, "character_error_rate": 3 / 22,
                "word_error_rate": 1 / 6, "word_similarity": 5 / 6,
            },
        ),
        Example(
            "Levenshtein's classic: kitten, sitting",
            {"answer": "sitting", "expected_answers": ["kitten"]},
            {"edit_distance": 3, "edit_similarity": 4 / 7, "character_error_rate": 0.5, "word_error_rate": 1},
        ),
        Example(
            "a rate can exceed 1",
            {"answer": "one two three", "expected_answers": ["four"]},
            {"word_error_rate": 3, "word_similarity": 0},
        ),
        Example(
            "the closest of several expected answers",
            {"answer": "Berlin", "expected_answers": ["Munich", "Bern"]},
            {"edit_distance": 2, "edit_similarity": 4 / 6},
        ),
        Example(
            "an empty answer",
            {"answer": "", "expected_answers": ["Paris"]},
            {"edit_similarity": 0, "edit_distance": 5, "character_error_rate": 1, "word_error_rate": 1},
        ),
        Example.not_applicable("no expected answer has text", {"answer": "Paris", "expected_answers": [" "]}),
    ),
)  # fmt: skip
def edit_distance(cases: Sequence[Case], parameters: EditDistanceParameters) -> list[CaseScore]:
    """How many characters, and words, must change to make the answer of the expected one: Levenshtein's distance.

        distance   = the fewest insertions, deletions and replacements of one character
        similarity = 1 − distance / max(characters of the answer, characters of the expected answer)
        error rate = distance / characters (CER), or words (WER), of the expected answer

    Similarities are from 0 to 1, higher is better; distances and rates from 0, lower is better, and a rate exceeds 1
    where the answer has more wrong words than the expected one has words. Of several expected answers the one with the
    highest similarity counts, separately for characters and words.

    An empty answer has similarity 0. Expected answers without text are not applicable; two texts of more than some
    300,000 characters are not compared. Case counts unless `ignore_case`. Evidence: for characters and words the
    expected answer that counted, its length, the length of the answer, and how many items were replaced, inserted and
    deleted. Equal to RapidFuzz's Levenshtein, and to jiwer's wer and cer of one text.
    """
    scores = []
    for case, split in zip(cases, tokenize_cases(cases, parameters.tokenizer, WORDS_OF, tokens), strict=True):
        if split.lacking:
            scores.append(split.not_applicable)
            continue
        changed = _changes(parameters)
        characters = _closest([changed(one) for one in case.expected_answers], changed(case.answer or ""))
        fold = str.casefold if parameters.ignore_case else str
        words = _closest([list(map(fold, reference)) for reference in split.references], list(map(fold, split.answer)))
        scores.append(_score(split.tokenizer, characters, words))
    return scores


def _changes(parameters: EditDistanceParameters) -> Callable[[str], str]:
    def changed(text: str) -> str:
        made = text.strip()
        return made.casefold() if parameters.ignore_case else made

    return changed


Closest = tuple[int, Edits, int, int]  # the number of the expected answer, its edits, its length and the answer's


def _closest(references: Sequence[Sequence[str]], answer: Sequence[str]) -> Closest | None:
    """Return the reference with the highest similarity, the first of several; None where all are too long."""
    found = [
        (number, own, len(reference), len(answer))
        for number, reference in enumerate(references, 1)
        if reference and (own := edits(reference, answer))
    ]
    return max(found, key=_similarity, default=None)


def _similarity(closest: Closest) -> float:
    _, own, wanted, made = closest
    return 1 - own.distance / max(wanted, made)


def _score(tokenizer: str, characters: Closest | None, words: Closest | None) -> CaseScore:
    values: dict[str, float | None] = {}
    facts: dict[str, Any] = {"tokenizer": tokenizer}
    if characters:
        _, own, wanted, _ = characters
        values = {"edit_similarity": _similarity(characters), "edit_distance": float(own.distance)}
        values["character_error_rate"] = own.distance / wanted
    if words:
        values |= {"word_error_rate": words[1].distance / words[2], "word_similarity": _similarity(words)}
    for name, closest in (("characters", characters), ("words", words)):
        if closest:
            number, own, wanted, made = closest
            facts[name] = {"expected_answer": number, "expected": wanted, "answer": made, **own._asdict()}
    return CaseScore(values, reason=None if characters else TOO_LONG, evidence=Evidence(facts=facts))
