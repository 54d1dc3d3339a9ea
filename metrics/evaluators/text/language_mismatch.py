"""Language mismatch: whether the answer is in the language of the question, or in the one it asks for."""

import re
from collections.abc import Awaitable, Sequence
from typing import Any, Literal

from pydantic import Field

from metrics.core.errors import MissingResource
from metrics.core.evaluator import CaseScore, Example, Parameters, Resource, ScriptedReply, Status, not_applicable
from metrics.core.evaluator_decorator import evaluator
from metrics.core.evidence import Evidence, Verdict, yes_or_no
from metrics.core.prompt import Prompt
from metrics.core.suite import Case
from metrics.evaluators._boolean import ONE_CAUSE, boolean_metrics, boolean_score, counting_unreadable
from metrics.judge.asking import Judge, Reply
from metrics.judge.steps import YesNo
from metrics.text.languages import (
    NO_LANGUAGE,
    Detected,
    asks_a_word,
    asks_translation,
    detect,
    detector,
    letters_in,
    requested_language,
    without_quotes,
)

SHOWN_TO_JUDGE = 2_000  # characters of a text, from its beginning: enough to tell its language
SAME_LANGUAGE = Prompt(
    "language_mismatch",
    "Is TEXT in the language that QUESTION calls for? That is the language it asks for, as in a request to translate "
    'or "answer in German", else the language of QUESTION itself. Name the language that QUESTION calls for and the '
    "one in which TEXT is written for the most part; quotations, names, code and greetings in another do not count. "
    "same is yes where both are one language, dialects and scripts of it included, else no.",
)
QUESTION = "Wie lange darf ich ein Buch behalten?"
PARTICLES = frozenset("von van de der den da di du la le el al bin ibn of and the y e und et".split())
PARTS = re.compile(r"[:\n]")  # between an instruction and the text it is about


class _Languages(Reply):
    question_language: str = ""
    text_language: str = ""
    same: YesNo


class LanguageParameters(Parameters):
    """Who detects the language, and how much text is needed."""

    detector: Literal["local", "judge"] = Field(
        "local",
        description="local: py3langid, a model of 140 languages that comes with the project; judge: the run's judge.",
    )
    min_letters: int = Field(
        20,
        ge=1,
        le=1000,
        description="The local detector needs this many letters, else the case is not applicable; a Chinese, Japanese "
        "or Korean character counts as 3.",
    )
    min_probability: float = Field(
        0.6,
        ge=0,
        le=1,
        description="Probability that the local detector needs for both languages to call them different.",
    )

    def used(self, declared: tuple[Resource, ...]) -> tuple[Resource, ...]:
        """Return the judge only if it is the detector."""
        return declared if self.detector == "judge" else ()


@evaluator(
    inputs=("question", "answer"),
    synonyms=("wrong language", "translation"),
    prompts=(SAME_LANGUAGE,),
    metrics=boolean_metrics("are in the language of the question, or in the one it asks for"),
    sources=("H2O Eval Studio evaluators: Language mismatch", "Lui & Baldwin 2012"),
    standards=("valid and reliable", "safe", "outcomes analysis"),
    differs_from_source="A local detector decides by default, without a judge; H2O asks a judge, which `detector` = "
    "judge does here, with a prompt worded by Assay. Texts too short or too mixed to be sure of, and names alone, are "
    "not applicable to the local detector. A language that the question asks for is the right one. Forms of one "
    "macrolanguage count as one language. " + ONE_CAUSE,
    examples=(
        Example(
            "the same language as the question, although the contexts are in another",
            {
                "question": QUESTION,
                "answer": "Bücher dürfen Sie 28 Tage lang behalten.",
                "retrieved_contexts": ["Books and audiobooks may be kept for 28 days, magazines for 14 days."],
            },
            {"passes": 1, "failures": 0, "retrieval_failures": 1, "generation_failures": 0, "parse_failures": 0},
        ),
        Example(
            "another language, although the contexts are in the right one",
            {
                "question": QUESTION,
                "answer": "Books and audiobooks may be kept for 28 days.",
                "retrieved_contexts": ["Bücher und Hörbücher dürfen 28 Tage lang behalten werden."],
            },
            {"passes": 0, "failures": 1, "retrieval_failures": 0, "generation_failures": 1},
        ),
        Example.not_applicable("too short to detect the language", {"question": QUESTION, "answer": "28 Tage."}),
        Example(
            "a request to translate: the language asked for is the right one",
            {
                "question": "Translate into German: Books and audiobooks may be kept for 28 days.",
                "answer": "Bücher und Hörbücher dürfen 28 Tage lang behalten werden.",
            },
            {"passes": 1},
        ),
        Example(
            "another language than the one asked for",
            {"question": f"{QUESTION} Answer in English.", "answer": "Bücher dürfen Sie 28 Tage lang behalten."},
            {"passes": 0},
        ),
        Example(
            "other scripts need fewer characters",
            {"question": "本はどのくらい借りられますか", "answer": "Books may be kept for 28 days."},
            {"passes": 0, "retrieval_failures": None},
        ),
        Example(
            "a judge needs only a word",
            {"question": QUESTION, "answer": "28 Tage.", "retrieved_contexts": ["Books: 28 days."]},
            {"passes": 1, "failures": 0, "retrieval_failures": 1, "generation_failures": 0, "parse_failures": 0},
            parameters={"detector": "judge"},
            judge=(
                ScriptedReply("language_mismatch", {"same": "yes"}, {"TEXT": "Tage"}),
                ScriptedReply(
                    "language_mismatch", {"question_language": "German", "text_language": "English", "same": "no"}
                ),
            ),
        ),
        Example(
            "the judge's reply cannot be read",
            {"question": QUESTION, "answer": "28 days."},
            {"passes": None, "failures": None, "parse_failures": 1},
            parameters={"detector": "judge"},
            status=Status.PARSE_FAILURE,
            judge=(ScriptedReply("language_mismatch", {"same": "vielleicht"}),),
        ),
    ),
    version=3,
)
def language_mismatch(
    case: Case, parameters: LanguageParameters, judge: Judge | None = None
) -> CaseScore | Awaitable[CaseScore]:
    """Whether the answer is in the language of the question or the one it asks for, by a local detector or a judge.

    passes = 1 if the most likely language of both is the same, 0 if they differ and the detector is sure of both
    (`min_probability`). If it is not sure, or if either text has fewer than `min_letters` letters, or if the answer is
    names alone, the case is not applicable.

    A language that the question asks for takes the place of its own: "translate into French", "answer in German", "auf
    Deutsch bitte", in some thirty languages. A question how something is said allows both; a request to translate that
    names no language is not applicable. If an instruction and the text that it is about, after a colon or a line break,
    are in two languages, either is right. Quoted parts of the question are not read. Code, links, e-mail addresses and
    mark-up are ignored. The language of most of the text counts: a foreign quotation is no mismatch, and a greeting in
    the right language does not make a foreign answer pass.

    The contexts, as one text, are compared with the question in the same way, and a failure is attributed to retrieval
    if they are in another language too; if their language cannot be detected, or there are no contexts,
    retrieval_failures has no value.

    Languages of one ISO 639-3 macrolanguage count as one: Bosnian, Croatian and Serbian; Bokmål and Nynorsk; Indonesian
    and Malay; the forms of Chinese and of Arabic.

    With `detector` "judge" the run's judge decides whether both are in one language, from the first 2,000 characters of
    each, with a separate call for the contexts. Then only a text without any letter is not applicable, and a reply that
    cannot be read counts only in parse_failures.
    Evidence: the detector, and for each text its most likely languages with their probabilities and its number of
    letters; with a judge, the verdict on each text and the languages it named.
    """
    if parameters.detector == "judge":
        if judge is None:
            raise MissingResource("the detector is to be a judge, and none is chosen")
        return _ask_judge(case, judge)
    asked = case.question or ""
    question = detect(without_quotes(asked))
    requested = requested_language(asked)
    texts = {"question": question, "answer": detect(case.answer or "")}
    if case.retrieved_contexts:
        texts["contexts"] = detect("\n".join(case.retrieved_contexts))
    languages = {
        place: {
            "languages": {language: round(probability, 4) for language, probability in found.candidates},
            "letters": found.letters,
        }
        for place, found in texts.items()
    }
    evidence = Evidence(facts={"detector": detector(), "requested": requested, **languages})
    for place in ("answer",) if requested else ("question", "answer"):
        if texts[place].letters < parameters.min_letters:
            return not_applicable(
                f"the {place} has {texts[place].letters} letters, too few to detect its language", evidence
            )
    if not requested and asks_translation(asked):
        return not_applicable("the question asks for a translation and names no language", evidence)
    if _names_alone(case.answer or ""):
        return not_applicable("the answer is names alone", evidence)
    own = [question, *(detect(part) for part in PARTS.split(without_quotes(asked), maxsplit=1))]
    accepted = own if not requested or asks_a_word(asked) else []
    same = _in_one_of(texts["answer"], requested, accepted, parameters)
    if same is None:
        return not_applicable("the detector is not sure of the languages", evidence)
    contexts_pass = _in_one_of(texts["contexts"], requested, own, parameters) if "contexts" in texts else None
    return boolean_score(same, contexts_pass, evidence)


def _in_one_of(
    text: Detected, requested: str | None, accepted: Sequence[Detected], parameters: LanguageParameters
) -> bool | None:
    """Return whether a text is in the language requested or accepted; None if it cannot be decided.

    The first of `accepted` is the whole question, of which the detector has to be sure; its parts only add languages.
    """
    if text.letters < parameters.min_letters or text.language == NO_LANGUAGE:
        return None
    if text.language == requested:
        return True
    if accepted and not requested and not _is_sure(accepted[0], parameters, 0.0):
        return None
    whole, parts = accepted[:1], [part for part in accepted[1:] if _is_sure(part, parameters)]
    if text.language in {found.language for found in (*whole, *parts)}:
        return True
    unsure = any(not _is_sure(found, parameters) for found in whole if not requested)
    return None if unsure or text.probability < parameters.min_probability else False


def _is_sure(found: Detected, parameters: LanguageParameters, probability: float | None = None) -> bool:
    least = parameters.min_probability if probability is None else probability
    return found.letters >= parameters.min_letters and found.language != NO_LANGUAGE and found.probability >= least


def _names_alone(text: str) -> bool:
    """Return whether every word is a name by its capital, as far as the script has capitals; SHOUTING is not."""
    words = [word for word in re.findall(r"[^\W\d_]+", text) if word not in PARTICLES]
    return bool(words) and not text.isupper() and all(word[0].isupper() for word in words)


@counting_unreadable
async def _ask_judge(case: Case, judge: Judge) -> CaseScore:
    texts = {"answer": case.answer or ""}
    if letters_in("".join(case.retrieved_contexts)):
        texts["contexts"] = "\n".join(case.retrieved_contexts)
    facts: dict[str, Any] = {"detector": judge.name}
    for place, text in {"question": case.question or "", **texts}.items():
        if not letters_in(text):
            return not_applicable(f"the {place} has no letters", Evidence(facts=facts))
    same: dict[str, bool] = {}
    judged: list[Verdict] = []
    for place, text in texts.items():
        data = {"QUESTION": (case.question or "")[:SHOWN_TO_JUDGE], "TEXT": text[:SHOWN_TO_JUDGE]}
        reply = await judge.ask(SAME_LANGUAGE, _Languages, data)
        same[place] = reply.same == "yes"
        label = "same language" if same[place] else "another language"
        named = {"question_language": reply.question_language, "text_language": reply.text_language}
        judged.append(Verdict(place.capitalize(), yes_or_no(same[place]), label, facts=named))
    return boolean_score(same["answer"], same.get("contexts"), Evidence({"texts": judged}, facts))
