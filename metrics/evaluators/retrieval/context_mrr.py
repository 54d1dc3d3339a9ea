"""Context MRR: how early the first relevant chunk appears in the ranking."""

from collections.abc import Sequence

from pydantic import Field

from metrics.core.evaluator import CaseScore, Example, Metric, Parameters, not_applicable
from metrics.core.evaluator_decorator import evaluator
from metrics.core.evidence import Evidence, Verdict, yes_or_no
from metrics.core.suite import Case
from metrics.evaluators.retrieval._chunks import Chunk, Facts, scored_chunks
from metrics.models.embedder import Embedder
from metrics.text.overlap.similarity import reciprocal_rank

UNKNOWN_CUTOFF = (
    "no cosine is calibrated from which on this embedder's sentences are relevant; set mrr_relevant_chunk_threshold"
)
QUESTION = "What is the capital of France?"
THIRD = {
    "question": QUESTION,
    "retrieved_contexts": ["Rain fell in Oslo.", "Bread needs yeast.", f"He asked. {QUESTION}", QUESTION],
}


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
    id="context_mrr",
    title="Context mean reciprocal rank",
    inputs=("question", "retrieved_contexts"),
    metrics=(Metric("context_mrr", "1 / rank of the first relevant chunk; the mean over cases is the MRR."),),
    sources=("H2O Eval Studio",),
    standards=("NIST AI RMF: valid and reliable",),
    examples=(
        Example(
            "the first relevant chunk is the third",
            THIRD,
            {"context_mrr": 1 / 3},
            parameters={"mrr_relevant_chunk_threshold": 0.7},
        ),
        Example(
            "the first relevant chunk is past the last rank that counts",
            THIRD,
            {"context_mrr": 0.0},
            parameters={"mrr_relevant_chunk_threshold": 0.7, "mrr_relevant_chunk_oor_idx": 2},
        ),
        Example(
            "no chunk is relevant",
            {"question": QUESTION, "retrieved_contexts": ["Bread needs yeast.", ""]},
            {"context_mrr": 0.0},
            parameters={"mrr_relevant_chunk_threshold": 0.7},
        ),
        Example.not_applicable("no cutoff is known for the embedder", THIRD),
        Example.not_applicable("the question is blank", {"question": " ", "retrieved_contexts": [QUESTION]}),
    ),
    differs_from="umbrela's MRR counts passages that a judge grades at least 2 as relevant; this one goes by "
    "similarity to the question.",
    differs_from_source=(
        "The default embedder is the bundled all-MiniLM-L6-v2, for the same scores on every machine and offline, "
        "instead of a BGE model such as H2O uses, to which mrr_relevant_chunk_threshold .7 and the threshold .75 "
        "belong: both are calibrated for each model, and without a cutoff no case is scored. The case's number is a "
        "reciprocal rank; its mean over cases is the MRR."
    ),
    version=3,
)
def context_mrr(cases: Sequence[Case], parameters: ContextMrrParameters, embedder: Embedder) -> list[CaseScore]:
    """How early the first relevant chunk appears in the order of retrieval.

        mrr = 1 / rank of the first chunk that has a sentence s with  cos(emb(question), emb(s)) ≥ threshold

    From 0 to 1; ranks count from 1. The score is 0 if no chunk up to rank `mrr_relevant_chunk_oor_idx` is relevant.
    With the threshold .7, best sentences of .55, .69, .71 and .9 give 1/3. A chunk without a sentence keeps its rank.

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
            Verdict(
                f"Context {number}",
                yes_or_no(chunk.cosine >= threshold),
                "relevant" if chunk.cosine >= threshold else "irrelevant",
                rests_on=(("contexts", number),),
                quote=chunk.sentence or "",
                facts={"cosine": chunk.cosine},
            )
            for number, chunk in enumerate(chunks, 1)
        ]
        return CaseScore(
            {"context_mrr": value}, evidence=Evidence({"chunks": judged}, {"first_relevant_rank": rank} | model)
        )

    return scored_chunks(cases, embedder, score)
