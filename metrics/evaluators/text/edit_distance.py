"""Edit distance: how many characters and words must change to make the answer of the expected one."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pydantic import Field

from metrics.core.evaluator import CaseScore, Example, Metric, Parameters, Status
from metrics.core.evidence import Evidence
from metrics.core.rounding import at_least
from metrics.core.suite import Case
from metrics.evaluators.text._overlap import TokenizedCase, overlap_evaluator, tokenize_cases
from metrics.evaluators.text.bleu import TOKENIZER_OF
from metrics.text.answers.forms import NORMALISED, Normalise, whisper_form
from metrics.text.overlap.edits import Edits, edits
from metrics.text.overlap.tokenizers import CHOICES, Script, Tokenizer, TokenizerChoice, tokens

WORDS_OF: Mapping[Script, Tokenizer] = {**TOKENIZER_OF, "none": "whitespace"}
TOO_LONG = "the texts are too long to compare character by character"


class EditDistanceParameters(Parameters):
    """What words are, and whether case counts."""

    tokenizer: TokenizerChoice = Field("auto", description=f"How a text is cut into words. {CHOICES}")
    ignore_case: bool = Field(False, description="“paris” is “Paris”.")
    normalise: Normalise = Field("none", description=NORMALISED)
    anls_threshold: float = Field(0.5, ge=0, le=1, description="ANLS: a similarity below it counts as 0.")


@overlap_evaluator(
    metrics=(
        Metric("edit_similarity", "1 − character edits / characters of the longer text.", primary=True),
        Metric.amount("edit_distance", "Characters to insert, delete or replace.", minor=True, unit="characters"),
        Metric.amount("character_error_rate", "Character edits / characters of the expected answer (CER).", minor=True,
                      title="Character error rate"),
        Metric.amount("word_error_rate", "Word edits / words of the expected answer (WER).", minor=True,
                      title="Word error rate"),
        Metric("word_similarity", "1 − word edits / words of the longer text.", minor=True),
        Metric(
            "anls", "Edit similarity without regard to case and white space, 0 below .5: the mean over cases is the "
            "ANLS.", minor=True, title="ANLS",
        ),
    ),
    sources=("Levenshtein 1966", "RapidFuzz", "jiwer", "Biten et al. 2019, ANLS", "Radford et al. 2022, Whisper"),
    differs_from="rougeL counts what both texts have in common in order; here also what has to be replaced. ter lets "
    "whole phrases move at the cost of one edit.",
    differs_from_source="Distances are those of RapidFuzz, the error rates of a case those of jiwer for words between "
    "spaces. Texts in scripts without spaces have characters as words unless `tokenizer` says otherwise. White space "
    "around a text does not count, and composed and decomposed characters are equal (NFC). The mean over cases weighs "
    "every case alike; jiwer's rate of a list, of all its words together, is that of corpus_error_rate. ANLS is that "
    "of the benchmark's script, in which a similarity of exactly the threshold counts; by the paper it would be 0.",
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
            {"edit_distance": 2, "edit_similarity": 4 / 6, "anls": 4 / 6},
        ),
        Example(
            "ANLS knows neither case nor white space, and less than half right is nothing",
            {"answer": "THE  Cat", "expected_answers": ["the cat"]},
            {"anls": 1, "edit_similarity": 3 / 8},
        ),
        Example(
            "less than half right",
            {"answer": "Dublin", "expected_answers": ["Paris"]},
            {"anls": 0, "edit_similarity": 1 / 6},
        ),
        Example(
            "normalised as Whisper's evaluation does it",
            {"answer": "Okay: “Stop!”", "expected_answers": ["okay stop (laughs)"]},
            {"word_error_rate": 0, "character_error_rate": 0},
            parameters={"normalise": "basic"},
        ),
        Example(
            "an empty answer",
            {"answer": "", "expected_answers": ["Paris"]},
            {"edit_similarity": 0, "edit_distance": 5, "character_error_rate": 1, "word_error_rate": 1},
        ),
        Example.not_applicable("no expected answer has text", {"answer": "Paris", "expected_answers": [" "]}),
    ),
    version=2,
)  # fmt: skip
def edit_distance(cases: Sequence[Case], parameters: EditDistanceParameters) -> list[CaseScore]:
    """How many characters, and words, must change to make the answer of the expected one: Levenshtein's distance.

        distance   = the fewest insertions, deletions and replacements of one character
        similarity = 1 − distance / max(characters of the answer, characters of the expected answer)
        error rate = distance / characters (CER), or words (WER), of the expected answer
        ANLS       = similarity in lower case with single blanks, 0 where it is below `anls_threshold` (.5)

    Similarities are from 0 to 1, higher is better; distances and rates from 0, lower is better, and a rate exceeds 1
    where the answer has more wrong words than the expected one has words. Of several expected answers the one with the
    highest similarity counts, separately for characters and words.

    An empty answer has similarity 0. Expected answers without text are not applicable; two texts of more than some
    300,000 characters are not compared. Case counts unless `ignore_case`. Evidence: for characters and words the
    expected answer that counted, its length, the length of the answer, and how many items were replaced, inserted and
    deleted. ANLS, of answers about documents and images, has its own form of the texts, whatever the parameters. With
    `normalise` = basic the others compare texts as Whisper's evaluation does in all languages. Equal to RapidFuzz's
    Levenshtein, and to jiwer's wer and cer of one text.
    """
    scores = []
    plain, changed = (whisper_form if parameters.normalise == "basic" else str.strip), _changes(parameters)

    def words_of(text: str, tokenizer: Tokenizer) -> list[str]:
        return [changed(word) for word in tokens(plain(text), tokenizer)]

    for case, split in zip(cases, tokenize_cases(cases, parameters.tokenizer, WORDS_OF, words_of), strict=True):
        if split.lacking:
            scores.append(split.without_tokens)
            continue
        expected, answer = case.expected_answers, case.answer or ""
        characters = _closest([changed(plain(one)) for one in expected], changed(plain(answer)))
        loose = _closest(list(map(_without_case, expected)), _without_case(answer))
        scores.append(_score(split, characters, loose, parameters.anls_threshold))
    return scores


def _changes(parameters: EditDistanceParameters) -> Callable[[str], str]:
    return str.casefold if parameters.ignore_case else str


def _without_case(text: str) -> str:
    return " ".join(text.lower().split())


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


def _score(
    split: TokenizedCase[list[str]], characters: Closest | None, loose: Closest | None, least: float
) -> CaseScore:
    words = _closest(split.references, split.answer)
    values: dict[str, float | None] = {}
    facts: dict[str, Any] = {"tokenizer": split.tokenizer}
    if characters:
        _, own, wanted, _ = characters
        values = {"edit_similarity": _similarity(characters), "edit_distance": float(own.distance)}
        values["character_error_rate"] = own.distance / wanted
    if words:
        values |= {"word_error_rate": words[1].distance / words[2], "word_similarity": _similarity(words)}
    if loose:
        similarity = _similarity(loose)
        values["anls"] = similarity if at_least(similarity, least) else 0.0
    for name, closest in (("characters", characters), ("words", words)):
        if closest:
            number, own, wanted, made = closest
            facts[name] = {"expected_answer": number, "expected": wanted, "answer": made, **own._asdict()}
    if characters:
        return CaseScore(values, evidence=Evidence(facts=facts))
    too_long = len(split.answer) > max(map(len, split.references))
    return CaseScore(values, Status.SKIPPED, TOO_LONG, Evidence(facts=facts), by_output=too_long)
