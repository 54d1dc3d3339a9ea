"""What the embedding evaluators of retrieval share: the sentence of each chunk most similar to the question."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from metrics.core.evaluator import CaseScore, not_applicable
from metrics.core.suite import Case
from metrics.models.embedder import Encoder, compare, provenance
from metrics.text.overlap.similarity import best_of_groups
from metrics.text.sentences import worded_sentences


@dataclass(frozen=True, slots=True)
class Chunk:
    """The sentence of a chunk that is most similar to the question, and its cosine; None and 0 without a sentence."""

    sentence: str | None
    cosine: float


@dataclass(frozen=True, slots=True)
class Ranked:
    """The chunks of a case in the order of retrieval, and the model that compared them."""

    chunks: tuple[Chunk, ...]
    provenance: dict[str, str | int]


def closest_sentences(cases: Sequence[Case], embedder: Encoder) -> Iterator[Ranked | CaseScore]:
    """Yield for each case its chunks with their most similar sentences, or the score of a blank question."""
    questions = [[case.question] if case.question and case.question.strip() else [] for case in cases]
    contexts = [[worded_sentences(text) for text in case.retrieved_contexts] for case in cases]
    flat = [[sentence for chunk in chunks for sentence in chunk] for chunks in contexts]
    compared = compare(embedder, zip(questions, flat, strict=True))
    for question, chunks, sentences, pair in zip(questions, contexts, flat, compared, strict=True):
        if not question:
            yield not_applicable("the question is blank")
            continue
        best = best_of_groups(pair.cosines[0], [len(chunk) for chunk in chunks])
        found = (Chunk(None if place is None else sentences[place], cosine) for cosine, place in best)
        yield Ranked(tuple(found), provenance(embedder, pair))
