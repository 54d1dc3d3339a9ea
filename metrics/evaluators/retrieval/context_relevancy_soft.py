"""Context relevancy, soft: the similarity of the retrieved chunks to the question, as recall and precision."""

from collections.abc import Sequence

from metrics.core.evaluator import CaseScore, Example, Metric, Parameters
from metrics.core.evaluator_decorator import evaluator
from metrics.core.evidence import Evidence
from metrics.core.suite import Case
from metrics.evaluators.retrieval._chunks import Chunk, Facts, scored_chunks
from metrics.evaluators.retrieval.context_mrr import QUESTION
from metrics.models.embedder import Embedder


@evaluator(
    id="context_relevancy_soft",
    title="Context relevancy (soft)",
    inputs=("question", "retrieved_contexts"),
    metrics=(
        Metric("recall", "Highest relevancy of a chunk: whether anything relevant was found.", low=-1.0, primary=True),
        Metric("precision", "Mean relevancy of the chunks: how much of what was found is relevant.", low=-1.0),
    ),
    sources=("H2O Eval Studio",),
    standards=("NIST AI RMF: valid and reliable",),
    examples=(
        Example(
            "both chunks contain the question itself",
            {"question": QUESTION, "retrieved_contexts": [f"He asked. {QUESTION}", QUESTION]},
            {"recall": 1.0, "precision": 1.0},
        ),
        Example(
            "a blank chunk has relevancy 0",
            {"question": QUESTION, "retrieved_contexts": [QUESTION, ""]},
            {"recall": 1.0, "precision": 0.5},
        ),
        Example.not_applicable("the question is blank", {"question": "", "retrieved_contexts": [QUESTION]}),
    ),
    differs_from="context_relevance and context_relevancy_sentences ask a judge which contexts or sentences are "
    "relevant to the question; context_precision and context_recall need an expected answer.",
    differs_from_source=(
        "The default embedder is the bundled all-MiniLM-L6-v2, for the same scores on every machine and offline, "
        "instead of a BGE model such as H2O uses, to which its threshold .75 belongs; each model gets its own by "
        "calibration. The range is −1 to 1, that of the cosine. A chunk without a sentence has relevancy 0."
    ),
    version=2,
)
def context_relevancy_soft(cases: Sequence[Case], parameters: Parameters, embedder: Embedder) -> list[CaseScore]:
    """How similar the retrieved chunks are to the question: the best of them, and all of them on average.

        r(chunk) = max over its sentences s of  cos(emb(question), emb(s))
        recall = max over chunks of r,  precision = mean over chunks of r

    From −1 to 1; precision never exceeds recall. A chunk without a sentence has r = 0. The order of the chunks does not
    matter; context_mrr considers it.

    A blank question is not applicable.
    Evidence: each chunk's relevancy and the sentence that has it, the embedding model and the sha256 of its weights.
    """
    return scored_chunks(cases, embedder, _score)


def _score(chunks: list[Chunk], model: Facts) -> CaseScore:
    relevancies = [chunk.cosine for chunk in chunks]
    values = {"recall": max(relevancies), "precision": sum(relevancies) / len(relevancies)}
    shown = [{"rank": rank, "cosine": chunk.cosine, "closest": chunk.sentence} for rank, chunk in enumerate(chunks, 1)]
    return CaseScore(values, evidence=Evidence(facts={"chunks": shown, **model}))
