"""Groundedness: how much the least grounded sentence of the answer resembles the retrieved contexts."""

from collections.abc import Sequence

import numpy as np
from pydantic import Field

from metrics.core.evaluator import CaseScore, Example, Metric, Parameters, not_applicable
from metrics.core.evaluator_decorator import evaluator
from metrics.core.evidence import Evidence, Verdict
from metrics.core.suite import Case
from metrics.evaluators._judged_items import NOTHING_RETRIEVED
from metrics.models.embedder import Embedder, compare, provenance
from metrics.stats.float_tolerance import highest_place
from metrics.text.citations import without_sources
from metrics.text.overlap.similarity import best_matches
from metrics.text.sentences import worded_sentences
from metrics.text.shared_words import new_share, words

CONTEXTS = ["Paris is the capital of France. It lies on the Seine.", "France has many rivers."]
SEINE = {"question": "It lies on the", "answer": "Seine", "retrieved_contexts": CONTEXTS}
LAKES, RIVERS = "France has many lakes.", ["France has many rivers."]


class GroundednessParameters(Parameters):
    """What is compared beside the bare cosine of H2O's definition."""

    bare_words: int = Field(
        5,
        ge=0,
        description="An answer of one sentence with at most so many words is compared together with the question: "
        "“Delhi” alone resembles no sentence. 0: never, as in H2O.",
    )
    new_words: float = Field(
        1.0,
        ge=0,
        le=1,
        description="What the share of a sentence's words that no context has takes off its cosine. 0: nothing, as in "
        "H2O.",
    )


def _example(name: str, answer: str, contexts: list[str], value: float, **parameters: float) -> Example:
    given = {"answer": answer, "retrieved_contexts": contexts}
    return Example(name, given, {"groundedness": value}, parameters=parameters)


@evaluator(
    title="Groundedness (likeness)",
    inputs=("answer", "retrieved_contexts"),
    synonyms=("no judge", "hallucination score"),
    metrics=Metric(
        "groundedness",
        "How much the least grounded sentence resembles the contexts, not whether it is true: its highest cosine "
        "with a context sentence, less its share of words that no context has.",
        low=-1.0,
    ),
    sources=("H2O Eval Studio",),
    standards=("valid and reliable", "LLM09 misinformation"),
    examples=(
        _example("every sentence is in a context", "France has many rivers. It lies on the Seine.", CONTEXTS, 1.0),
        _example(
            "one of four words is new: 3/4 of the sentence is like the context, with a model of one axis per word",
            LAKES,
            RIVERS,
            3 / 4 - 1 / 4,
            bare_words=0,
        ),
        _example("H2O's definition: the cosine alone", LAKES, RIVERS, 3 / 4, bare_words=0, new_words=0),
        Example("a bare answer is compared together with the question", SEINE, {"groundedness": 1.0}),
        Example(
            "the same without the question, as in H2O: one word of five is like the sentence",
            SEINE,
            {"groundedness": 1 / 5**0.5},
            parameters={"bare_words": 0},
        ),
        _example("list numbers are not sentences", "1.\nFrance has many rivers.\n***", CONTEXTS, 1.0),
        Example.not_applicable("the answer has no sentence", {"answer": "…", "retrieved_contexts": CONTEXTS}),
        _example("nothing was retrieved", "Yes.", [], 0.0),
        _example("the contexts are blank", "Yes.", [" "], 0.0),
    ),
    differs_from="faithfulness and the hallucination evaluators check claims by inference; this one measures the "
    "likeness of sentences, so a sentence that contradicts a context in the context's own words passes. Where a judge, "
    "or a model of inference for hallucination_hhem, is at hand, prefer those.",
    differs_from_source="H2O's definition is the cosine alone (`bare_words` and `new_words` 0). It ranks bare right "
    "answers below long wrong ones: by default an answer of one sentence with at most five words is compared together "
    "with the question, and the share of words that no context has counts against a sentence; both defaults were "
    "chosen by measurement (docs/models.md). The default embedder is the bundled all-MiniLM-L6-v2, for the same scores "
    "on every machine and offline, instead of H2O's BAAI/bge-small-en, to which its threshold .75 belongs; each model "
    "gets its own by calibration. The range is −1 to 1, that of the cosine, where H2O states 0 to 1. An answer without "
    "a sentence is not applicable; contexts without one give 0.",
    version=4,
)
def groundedness(cases: Sequence[Case], parameters: GroundednessParameters, embedder: Embedder) -> list[CaseScore]:
    """How much the least grounded sentence of the answer resembles the retrieved contexts: likeness, not truth.

        s(a) = max over sentences c of the contexts of  cos(emb(a), emb(c))  −  `new_words` · new(a)
        new(a) = share of the words of a that no context has
        groundedness = min of s(a) over sentences a of the answer, at least −1

    From −1 to 1. One unsupported sentence decides, so long answers score lower. An answer of a single sentence with at
    most `bare_words` words (“Delhi”, “in 1911”) is embedded together with the question: question + answer. Bare list
    numbers and rules are not sentences; if the contexts have no sentence, or nothing was
    retrieved, the score is 0. Scripts without spaces count
    words by character.

    It says what an answer is like, not what follows from the contexts: a wrong name or number in the contexts' own
    words scores high. docs/models.md lists how well it tells supported from unsupported answers with the bundled model,
    on five sets of labels. Each embedder has its own threshold, or none until it is calibrated.

    An answer without a sentence is not applicable and is counted beside the mean.
    Evidence: each sentence with the most similar context sentence, the number of that context (from 1), their cosine,
    its share of new words, and whether it reaches the threshold; the least grounded sentence unless it does; the
    embedding model and the sha256 of its weights.
    """
    answers = [worded_sentences(without_sources(case.answer or "")) for case in cases]
    contexts = [
        [
            (number, sentence)
            for number, text in enumerate(case.retrieved_contexts, 1)
            for sentence in worded_sentences(text)
        ]
        for case in cases
    ]
    asked = [_with_question(case, own, parameters.bare_words) for case, own in zip(cases, answers, strict=True)]
    flat = (
        [sentence for _, sentence in found] if answer else [] for answer, found in zip(answers, contexts, strict=True)
    )
    compared = compare(embedder, zip(asked, flat, strict=True))
    scores = []
    for case, answer, texts, found, pair in zip(cases, answers, asked, contexts, compared, strict=True):
        if not answer:
            scores.append(not_applicable("the answer is empty: it has no sentence to be grounded"))
            continue
        if not found:
            note = "the retrieved contexts have no sentence" if case.retrieved_contexts else NOTHING_RETRIEVED
            evidence = Evidence(facts={"note": note})
            scores.append(CaseScore({"groundedness": 0.0}, evidence=evidence))
            continue
        cosines, places = best_matches(pair.cosines)
        known = {word for _, sentence in found for word in words(sentence)}
        new = np.array([new_share(sentence, known) for sentence in answer])
        values = np.maximum(cosines - parameters.new_words * new, -1.0)
        worst = highest_place(-values)
        sentences = [
            Verdict.of(
                sentence,
                groundedness.holds(value, parameters),
                ("supported", "unsupported"),
                contexts=[found[place][0]],
                quote=found[place][1],
                facts={"cosine": round(float(cosine), 6), "new_words": round(float(share), 6)},
            )
            for sentence, value, cosine, share, place in zip(answer, values, cosines, new, places, strict=True)
        ]
        facts = {"least_grounded": answer[worst]} if sentences[worst].holds != "yes" else {}
        if texts != answer:
            facts["compared_as"] = texts[0]
        evidence = Evidence({"sentences": sentences}, facts | provenance(embedder, pair))
        scores.append(CaseScore({"groundedness": float(values[worst])}, evidence=evidence))
    return scores


def _with_question(case: Case, sentences: list[str], bare_words: int) -> list[str]:
    """Return the sentences as they are embedded: a bare answer after the question."""
    bare = len(sentences) == 1 and len(words(sentences[0])) <= bare_words
    question = (case.question or "").strip()
    return [f"{question} {sentences[0]}"] if bare and question else sentences
