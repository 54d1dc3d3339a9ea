"""Answer semantic similarity: of the texts as wholes, and sentence by sentence."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from pydantic import Field

from metrics.core.errors import MissingResource
from metrics.core.evaluator import CaseScore, Example, Metric, Parameters, Resource, not_applicable
from metrics.core.evaluator_decorator import evaluator
from metrics.core.evidence import Evidence
from metrics.core.suite import Case
from metrics.evaluators._classifiers import classifier_field
from metrics.models import classifier as classifiers
from metrics.models.classifier import Classifier
from metrics.models.embedder import Embedder, compare, provenance
from metrics.stats.float_tolerance import highest_place
from metrics.text.overlap.similarity import best_matches
from metrics.text.sentences import worded_sentences

PARIS = "Paris is the capital of France."


class SimilarityParameters(Parameters):
    """Which kind of model compares the texts, and which one."""

    method: Literal["embeddings", "cross_encoder"] = Field(
        "embeddings",
        description="embeddings: the cosine of the embeddings; cross_encoder: the score of a model that reads both "
        "texts together, slower and mostly more accurate.",
    )
    embedder: str = Field(
        "",
        description="Embedding model: a local folder or the name of a model on the hub, which is downloaded; empty: "
        "the run's, which is the bundled all-MiniLM-L6-v2 unless chosen.",
        examples=["BAAI/bge-small-en-v1.5"],
    )
    classifier: str = classifier_field("Cross-encoder with one label", "cross-encoder/stsb-distilroberta-base")

    def used(self, declared: tuple[Resource, ...]) -> tuple[Resource, ...]:
        """Return the model of the chosen method."""
        wanted = "embedder" if self.method == "embeddings" else "classifier"
        return tuple(name for name in declared if name == wanted)


@evaluator(
    inputs=("answer", "expected_answers"),
    metrics=Metric(
        "answer_semantic_similarity",
        "Cosine of the embeddings of answer and expected answer, or a cross-encoder's score.",
        low=-1.0,
    ),
    sources=("H2O Eval Studio, after RAGAS", "Risch et al. 2021"),
    standards=("valid and reliable", "outcomes analysis"),
    examples=(
        Example("the same words", {"answer": PARIS, "expected_answers": [PARIS]}, {"answer_semantic_similarity": 1.0}),
        Example(
            "the best of several expected answers counts",
            {"answer": PARIS, "expected_answers": ["It rained in Oslo all week.", PARIS]},
            {"answer_semantic_similarity": 1.0},
        ),
        Example(
            "a cross-encoder that returns the share of common words: two of three",
            {"answer": "Paris, France", "expected_answers": ["Paris in France"]},
            {"answer_semantic_similarity": 2 / 3},
            parameters={"method": "cross_encoder"},
        ),
        Example("an empty answer", {"answer": "", "expected_answers": [PARIS]}, {"answer_semantic_similarity": 0.0}),
    ),
    differs_from="answer_semantic_sentence_similarity compares sentence by sentence; "
    "rouge and bleu compare the wording.",
    differs_from_source="The default embedder is the bundled all-MiniLM-L6-v2, for the same scores on every machine "
    "and offline, instead of H2O's BAAI/bge-small-en-v1.5, to which its threshold .75 belongs; each model gets its own "
    "by calibration. The range is −1 to 1, that of the cosine, where H2O states 0 to 1. With several expected answers "
    "the highest number counts; H2O knows one. A cross-encoder's number goes through a logistic function, so that it "
    "is between 0 and 1. An empty answer scores 0.",
)
def answer_semantic_similarity(
    cases: Sequence[Case],
    parameters: SimilarityParameters,
    embedder: Embedder | None = None,
    classifier: Classifier | None = None,
) -> list[CaseScore]:
    """How similar in meaning the answer is to the expected answer, by their embeddings or by a cross-encoder.

        embeddings:     similarity = max over expected answers e of  cos(emb(answer), emb(e))
        cross_encoder:  similarity = max over expected answers e of  1 / (1 + exp(−z(answer, e)))

    Embeddings give −1 to 1; unrelated texts are near 0, hardly any below. A cross-encoder reads both texts together
    and gives 0 to 1. What counts as similar depends on the model: compare scores of one model only. Only the beginning
    of texts longer than the model's window (256 tokens for the bundled one) is compared; the evidence counts such
    texts. Blank expected answers are skipped.

    An empty answer scores 0. A case whose expected answers are all blank is not applicable.
    Evidence: the number (from 1) of the most similar expected answer, the model and the sha256 of its weights.
    """
    answers = [[case.answer] if case.answer and case.answer.strip() else [] for case in cases]
    expected = [[text for text in case.expected_answers if text.strip()] for case in cases]
    sides = list(zip(answers, expected, strict=True))
    if parameters.method == "cross_encoder":
        compared = _by_cross_encoder(classifier, sides)
    else:
        compared = _by_embeddings(embedder, sides)
    scores = []
    for case, (answer, references), (values, facts) in zip(cases, sides, compared, strict=True):
        if not references:
            scores.append(not_applicable("every expected answer is blank"))
            continue
        if not answer:
            evidence = Evidence(facts={"note": "the answer is empty"})
            scores.append(CaseScore({"answer_semantic_similarity": 0.0}, evidence=evidence))
            continue
        best = highest_place(values)
        evidence = Evidence(facts={"expected_answer": case.expected_answers.index(references[best]) + 1, **facts})
        scores.append(CaseScore({"answer_semantic_similarity": float(values[best])}, evidence=evidence))
    return scores


Sides = Sequence[tuple[Sequence[str], Sequence[str]]]
Similar = tuple["np.ndarray[Any, Any]", Mapping[str, Any]]  # of the answer with each expected answer; the provenance


def _by_embeddings(embedder: Embedder | None, sides: Sides) -> Iterator[Similar]:
    if embedder is None:
        raise MissingResource("no embedder is chosen")
    for pair in compare(embedder, sides):
        yield pair.cosines.ravel(), provenance(embedder, pair)


def _by_cross_encoder(classifier: Classifier | None, sides: Sides) -> Iterator[Similar]:
    if classifier is None:
        raise MissingResource("no classifier is chosen")
    if len(classifier.labels) != 1:
        raise MissingResource(
            f"{classifier.name} has the labels {', '.join(classifier.labels[:8])}; "
            "a cross-encoder for similarity has one"
        )
    pairs = ([(text, reference) for text in answer for reference in references] for answer, references in sides)
    for made in classifiers.classify_groups(classifier, pairs):
        values = classifiers.probabilities(classifier, made.logits).ravel()
        yield values, classifiers.provenance(classifier, made.truncated)


TWO = "Paris is the capital of France. It lies on the Seine."


@evaluator(
    inputs=("answer", "expected_answers"),
    metrics=(
        Metric(
            "mean_similarity",
            "Mean over answer sentences of the cosine to the closest expected sentence.",
            low=-1.0,
            primary=True,
        ),
        Metric("min_similarity", "The lowest of these cosines: that of the least similar answer sentence.", low=-1.0),
    ),
    sources=("H2O Eval Studio",),
    standards=("valid and reliable", "outcomes analysis"),
    examples=(
        Example(
            "the expected sentences in another order",
            {"answer": "It lies on the Seine. Paris is the capital of France.", "expected_answers": [TWO]},
            {"mean_similarity": 1.0, "min_similarity": 1.0},
        ),
        Example(
            "the best of several expected answers counts, and omissions cost nothing",
            {"answer": "It lies on the Seine.", "expected_answers": ["It rained in Oslo all week.", TWO]},
            {"mean_similarity": 1.0, "min_similarity": 1.0},
        ),
        Example(
            "an empty answer",
            {"answer": " ", "expected_answers": [TWO]},
            {"mean_similarity": 0.0, "min_similarity": 0.0},
        ),
    ),
    differs_from="answer_semantic_similarity embeds both texts whole; groundedness compares with the contexts.",
    differs_from_source="The default embedder is the bundled all-MiniLM-L6-v2, for the same scores on every machine "
    "and offline, instead of H2O's BAAI/bge-small-en-v1.5, to which its threshold .75 belongs; each model gets its own "
    "by calibration. The range is −1 to 1, that of the cosine, where H2O states 0 to 1. With several expected answers "
    "the highest number counts; H2O knows one. An empty answer scores 0.",
    version=2,
)
def answer_semantic_sentence_similarity(
    cases: Sequence[Case], parameters: Parameters, embedder: Embedder
) -> list[CaseScore]:
    """How similar the sentences of the answer are to sentences of the expected answer, on average and at worst.

        s(a) = max over sentences e of the expected answer of  cos(emb(a), emb(e))
        mean_similarity = mean of s(a),  min_similarity = min of s(a)  over sentences a of the answer

    From −1 to 1. With several expected answers the highest number counts, separately for mean and min. Bare list
    numbers and rules are not sentences. It measures what the answer says, not what it leaves out.

    An empty answer scores 0. A case whose expected answers have no sentence is not applicable.
    Evidence: each answer sentence with the most similar expected sentence (of the expected answer with the highest
    mean) and their cosine, the embedding model and the sha256 of its weights.
    """
    answers = [worded_sentences(case.answer or "") for case in cases]
    expected = [[worded_sentences(text) for text in case.expected_answers] for case in cases]
    flat = ([sentence for text in texts for sentence in text] for texts in expected)
    scores = []
    for answer, references, pair in zip(
        answers, expected, compare(embedder, zip(answers, flat, strict=True)), strict=True
    ):
        if not any(references):
            scores.append(not_applicable("no expected answer has a sentence"))
            continue
        if not answer:
            values = {"mean_similarity": 0.0, "min_similarity": 0.0}
            scores.append(CaseScore(values, evidence=Evidence(facts={"note": "the answer is empty"})))
            continue
        matched = []
        start = 0
        for reference in references:
            if reference:
                matched.append((*best_matches(pair.cosines[:, start : start + len(reference)]), reference))
            start += len(reference)
        closest, places, reference = matched[highest_place([float(entry[0].mean()) for entry in matched])]
        sentences = [
            {"sentence": sentence, "cosine": round(float(value), 6), "closest": reference[place]}
            for sentence, value, place in zip(answer, closest, places, strict=True)
        ]
        evidence = Evidence(facts={"sentences": sentences, **provenance(embedder, pair)})
        lowest = max(float(values.min()) for values, _, _ in matched)
        scores.append(
            CaseScore({"mean_similarity": float(closest.mean()), "min_similarity": lowest}, evidence=evidence)
        )
    return scores
