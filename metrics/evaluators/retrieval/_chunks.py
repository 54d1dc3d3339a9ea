"""What the embedding evaluators of retrieval share: the sentence of each chunk most similar to the question."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from metrics.core.evaluator import CaseScore, not_applicable
from metrics.core.suite import Case
from metrics.models.embedder import Embedder, compare, provenance
from metrics.text.overlap.similarity import best_of_groups
from metrics.text.sentences import worded_sentences

Facts = dict[str, str | int]


class Chunk(NamedTuple):
    """The sentence of a chunk that is most similar to the question, and its cosine; None and 0 without a sentence."""

    sentence: str | None
    cosine: float


def scored_chunks(
    cases: Sequence[Case], embedder: Embedder, score: Callable[[list[Chunk], Facts], CaseScore]
) -> list[CaseScore]:
    """Return `score` of the chunks of each case, in the order of retrieval, and of the model's provenance.

    A case with a blank question is not applicable.
    """
    questions = [[case.question] if case.question and case.question.strip() else [] for case in cases]
    contexts = [[worded_sentences(text) for text in case.retrieved_contexts] for case in cases]
    flat = [[sentence for chunk in chunks for sentence in chunk] for chunks in contexts]
    compared = compare(embedder, zip(questions, flat, strict=True))
    scores = []
    for question, chunks, sentences, pair in zip(questions, contexts, flat, compared, strict=True):
        if not question:
            scores.append(not_applicable("the question is blank"))
            continue
        best = best_of_groups(pair.cosines[0], [len(chunk) for chunk in chunks])
        found = [Chunk(None if place is None else sentences[place], cosine) for cosine, place in best]
        scores.append(score(found, provenance(embedder, pair)))
    return scores
