"""Language mismatch: whether the answer is in the language of the question."""

from typing import Any, Literal

from pydantic import Field

from metrics.boolean_family import boolean_metrics, verdict
from metrics.evaluator import CaseScore, Example, Parameters, Status, evaluator, not_applicable
from metrics.kernels.languages import NO_LANGUAGE, Detected, detect, detector
from metrics.suite import Case

QUESTION = "Wie lange darf ich ein Buch behalten?"


class LanguageParameters(Parameters):
    """Who tells the language, and from how much text."""

    detector: Literal["local"] = Field(
        "local", description="local: py3langid, a model of 140 languages that comes with the project."
    )
    min_letters: int = Field(
        20,
        ge=1,
        le=1000,
        description="Texts with fewer letters are not applicable; a Chinese, Japanese or Korean character counts as 3.",
    )
    min_probability: float = Field(
        0.6, ge=0, le=1, description="How sure the detector must be of both languages before it calls them different."
    )


@evaluator(
    id="language_mismatch",
    title="Language mismatch",
    tasks=("text",),
    inputs=("question", "answer"),
    metrics=boolean_metrics("are in the language of the question"),
    sources=("H2O Eval Studio evaluators: Language mismatch", "Lui & Baldwin 2012"),
    standards=("NIST AI RMF: valid and reliable", "NIST AI RMF: safe", "SR 11-7: outcomes analysis"),
    examples=(
        Example(
            "the same language, from contexts in another",
            {
                "question": QUESTION,
                "answer": "Bücher dürfen Sie 28 Tage lang behalten.",
                "retrieved_contexts": ["Books and audiobooks may be kept for 28 days, magazines for 14 days."],
            },
            {"passes": 1, "failures": 0, "retrieval_failures": 1, "generation_failures": 0, "parse_failures": 0},
        ),
        Example(
            "another language although the contexts are in the right one",
            {
                "question": QUESTION,
                "answer": "Books and audiobooks may be kept for 28 days.",
                "retrieved_contexts": ["Bücher und Hörbücher dürfen 28 Tage lang behalten werden."],
            },
            {"passes": 0, "failures": 1, "retrieval_failures": 0, "generation_failures": 1},
        ),
        Example(
            "too short to tell", {"question": QUESTION, "answer": "28 Tage."}, status=Status.NOT_APPLICABLE
        ),
        Example(
            "other scripts need fewer characters",
            {"question": "本はどのくらい借りられますか", "answer": "Books may be kept for 28 days."},
            {"passes": 0, "retrieval_failures": None},
        ),
    ),
)  # fmt: skip
def language_mismatch(case: Case, parameters: LanguageParameters) -> CaseScore:
    """Whether the answer is in the language of the question, by a local language detector.

    passes = 1 where the likeliest language of both is the same, 0 where they differ and the detector is sure of both
    (`min_probability`); where it is not, and where either has fewer than `min_letters` letters, the case is not
    applicable. Code, links, mail addresses and mark-up are left out before. The language of most of the text counts: a
    foreign quotation does not make a mismatch, nor does a foreign answer with a greeting in the right language pass.

    The contexts, as one text, are held against the question the same way, and a failure is the retrieval's where they
    are in another language too; where theirs cannot be told, or there are none, retrieval_failures has no value.

    Languages of one ISO 639-3 macrolanguage are one: Bosnian, Croatian and Serbian; Bokmål and Nynorsk; Indonesian and
    Malay; the forms of Chinese and of Arabic. Evidence: the detector, and of each text its likeliest languages with
    their probabilities and its letters.
    """
    question = detect(case.question or "")
    texts = {"question": question, "answer": detect(case.answer or "")}
    if case.retrieved_contexts:
        texts["contexts"] = detect("\n".join(case.retrieved_contexts))
    evidence: dict[str, Any] = {"detector": detector()}
    evidence |= {
        place: {
            "languages": {language: round(probability, 4) for language, probability in found.candidates},
            "letters": found.letters,
        }
        for place, found in texts.items()
    }
    for place in ("question", "answer"):
        if texts[place].letters < parameters.min_letters:
            return not_applicable(
                f"the {place} has {texts[place].letters} letters, too few to tell its language", evidence
            )
    same = _same(question, texts["answer"], parameters)
    if same is None:
        return not_applicable("the detector is not sure of the languages", evidence)
    return verdict(same, _same(question, texts["contexts"], parameters) if "contexts" in texts else None, evidence)


def _same(left: Detected, right: Detected, parameters: LanguageParameters) -> bool | None:
    """Whether two texts are in one language; None where it cannot be told."""
    if min(left.letters, right.letters) < parameters.min_letters or NO_LANGUAGE in (left.language, right.language):
        return None
    if left.language == right.language:
        return True
    return None if min(left.probability, right.probability) < parameters.min_probability else False
