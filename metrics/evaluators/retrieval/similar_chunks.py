"""Similarity of retrieved chunks to the question: the best, all on average, and the rank of the first relevant one."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

from pydantic import Field

from metrics.core.evaluator import CaseScore, Example, Metric, Parameters, not_applicable
from metrics.core.evaluator_decorator import evaluator
from metrics.core.evidence import Evidence, Verdict
from metrics.core.rounding import exact_sum
from metrics.core.suite import Case
from metrics.evaluators._scripted import example_of
from metrics.models.embedder import Embedder, compare, provenance
from metrics.text.overlap.similarity import best_of_groups, reciprocal_rank
from metrics.text.sentences import worded_sentences

Facts = dict[str, str | int]


class Chunk(NamedTuple):
    """The sentence of a chunk that is most similar to the question, and its cosine; None and 0 without a sentence."""

    sentence: str | None
    cosine: float


def score_chunks(
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


UNKNOWN_CUTOFF = (
    "no cosine is calibrated from which on this embedder's sentences are relevant; set mrr_relevant_chunk_threshold"
)
QUESTION = "What is the capital of France?"
LEAST = {"mrr_relevant_chunk_threshold": 0.7}
TWO_RANKS = {**LEAST, "mrr_relevant_chunk_oor_idx": 2}
_example = partial(example_of, "context_mrr")


def _retrieved(*contexts: str) -> dict[str, Any]:
    return {"question": QUESTION, "retrieved_contexts": list(contexts)}


THIRD = _retrieved("Rain fell in Oslo.", "Bread needs yeast.", f"He asked. {QUESTION}", QUESTION)


class ContextMrrParameters(Parameters):
    """When a chunk is relevant, and the last rank that counts."""

    mrr_relevant_chunk_threshold: float | None = Field(
        None,
        ge=-1,
        le=1,
        description="Cosine to the question from which on a sentence makes its chunk relevant; empty: the one "
        "calibrated for the embedder.",
    )
    mrr_relevant_chunk_oor_idx: int = Field(
        10, ge=1, description="The last rank that counts; a first relevant chunk further down scores 0."
    )


@evaluator(
    title="Context mean reciprocal rank",
    inputs=("question", "retrieved_contexts"),
    metrics=Metric("context_mrr", "1 / rank of the first relevant chunk; the mean over cases is the MRR."),
    sources=("H2O Eval Studio",),
    standards=("valid and reliable",),
    examples=(
        _example("the first relevant chunk is the third", THIRD, 1 / 3, **LEAST),
        _example("the first relevant chunk is past the last rank that counts", THIRD, 0.0, **TWO_RANKS),
        _example("no chunk is relevant", _retrieved("Bread needs yeast.", ""), 0.0, **LEAST),
        _example("nothing was retrieved", _retrieved(), 0.0, **LEAST),
        Example.not_applicable("no cutoff is known for the embedder", THIRD),
        Example.not_applicable("the question is blank", {"question": " ", "retrieved_contexts": [QUESTION]}),
    ),
    differs_from="umbrela's MRR counts passages that a judge grades at least 2 as relevant; this one goes by "
    "similarity to the question.",
    differs_from_source="The default embedder is the bundled all-MiniLM-L6-v2, for the same scores on every machine "
    "and offline, instead of a BGE model such as H2O uses, to which mrr_relevant_chunk_threshold .7 and the threshold "
    ".75 belong: both are calibrated for each model, and without a cutoff no case is scored. The case's number is a "
    "reciprocal rank; its mean over cases is the MRR.",
    version=4,
)
def context_mrr(cases: Sequence[Case], parameters: ContextMrrParameters, embedder: Embedder) -> list[CaseScore]:
    """How early the first relevant chunk appears in the order of retrieval.

        mrr = 1 / rank of the first chunk that has a sentence s with  cos(emb(question), emb(s)) ≥ threshold

    From 0 to 1; ranks count from 1. The score is 0 if no chunk up to rank `mrr_relevant_chunk_oor_idx` is relevant.
    With the threshold .7, best sentences of .55, .69, .71 and .9 give 1/3. A chunk without a sentence keeps its rank.
    Where nothing was retrieved the score is 0.

    Without `mrr_relevant_chunk_threshold` the cutoff is the one calibrated for the embedder (docs/models.md); where
    there is none, no case is applicable. A blank question is not applicable.
    Evidence: the rank of the first relevant chunk, each chunk with its highest cosine and the sentence that has it, the
    embedding model and the sha256 of its weights.
    """
    threshold = parameters.mrr_relevant_chunk_threshold
    if threshold is None:
        return [not_applicable(UNKNOWN_CUTOFF)] * len(cases)
    last = parameters.mrr_relevant_chunk_oor_idx

    def score(chunks: list[Chunk], model: Facts) -> CaseScore:
        value, rank = reciprocal_rank([chunk.cosine for chunk in chunks], threshold, last)
        judged = [
            Verdict.of(
                f"Context {number}",
                chunk.cosine >= threshold,
                ("relevant", "irrelevant"),
                contexts=[number],
                quote=chunk.sentence or "",
                facts={"cosine": chunk.cosine},
            )
            for number, chunk in enumerate(chunks, 1)
        ]
        return CaseScore(
            {"context_mrr": value}, evidence=Evidence({"chunks": judged}, {"first_relevant_rank": rank} | model)
        )

    return score_chunks(cases, embedder, score)


@evaluator(
    title="Context relevancy (soft)",
    inputs=("question", "retrieved_contexts"),
    metrics=(
        Metric("recall", "Highest relevancy of a chunk: whether anything relevant was found.", low=-1.0, primary=True),
        Metric("precision", "Mean relevancy of the chunks: how much of what was found is relevant.", low=-1.0),
    ),
    sources=("H2O Eval Studio",),
    standards=("valid and reliable",),
    examples=(
        Example(
            "both chunks contain the question itself",
            _retrieved(f"He asked. {QUESTION}", QUESTION),
            {"recall": 1.0, "precision": 1.0},
        ),
        Example("a blank chunk has relevancy 0", _retrieved(QUESTION, ""), {"recall": 1.0, "precision": 0.5}),
        Example("nothing was retrieved", _retrieved(), {"recall": 0.0, "precision": 0.0}),
        Example.not_applicable("the question is blank", {"question": "", "retrieved_contexts": [QUESTION]}),
    ),
    differs_from="context_relevance and context_relevancy_sentences ask a judge which contexts or sentences are "
    "relevant to the question; context_precision and context_recall need an expected answer.",
    differs_from_source="The default embedder is the bundled all-MiniLM-L6-v2, for the same scores on every machine "
    "and offline, instead of a BGE model such as H2O uses, to which its threshold .75 belongs; each model gets its own "
    "by calibration. The range is −1 to 1, that of the cosine. A chunk without a sentence has relevancy 0, and so has "
    "a retrieval without a chunk.",
    version=3,
)
def context_relevancy_soft(cases: Sequence[Case], parameters: Parameters, embedder: Embedder) -> list[CaseScore]:
    """How similar the retrieved chunks are to the question: the best of them, and all of them on average.

        r(chunk) = max over its sentences s of  cos(emb(question), emb(s))
        recall = max over chunks of r,  precision = mean over chunks of r

    From −1 to 1; precision never exceeds recall. A chunk without a sentence has r = 0; where nothing was retrieved both
    are 0. The order of the chunks does not
    matter; context_mrr considers it.

    A blank question is not applicable.
    Evidence: each chunk's relevancy and the sentence that has it, the embedding model and the sha256 of its weights.
    """
    return score_chunks(cases, embedder, _score)


def _score(chunks: list[Chunk], model: Facts) -> CaseScore:
    relevancies = [chunk.cosine for chunk in chunks] or [0.0]  # nothing was retrieved
    values = {"recall": max(relevancies), "precision": exact_sum(relevancies) / len(relevancies)}
    shown = [{"rank": rank, "cosine": chunk.cosine, "closest": chunk.sentence} for rank, chunk in enumerate(chunks, 1)]
    return CaseScore(values, evidence=Evidence(facts={"chunks": shown, **model}))
