"""Context relevancy, soft: the likeness of each retrieved chunk to the question, as recall and precision."""

from collections.abc import Sequence

from metrics.core.evaluator import CaseScore, Example, Metric, Parameters, Status, evaluator
from metrics.core.suite import Case
from metrics.evaluators.retrieval._chunks import chunk_rows, closest_sentences
from metrics.models.embedder import Encoder

QUESTION = "What is the capital of France?"


@evaluator(
    id="context_relevancy_soft",
    title="Context relevancy (soft)",
    tasks=("text",),
    inputs=("question", "retrieved_contexts"),
    resources=("embedder",),
    metrics=(
        Metric("recall", "Highest relevancy of a chunk: whether anything relevant was found.", low=-1.0, primary=True),
        Metric("precision", "Mean relevancy of the chunks: how much of what was found is relevant.", low=-1.0),
    ),
    sources=("H",),
    standards=("NIST AI RMF: valid and reliable",),
    examples=(
        Example(
            "both chunks hold the question itself",
            {"question": QUESTION, "retrieved_contexts": [f"He asked. {QUESTION}", QUESTION]},
            {"recall": 1.0, "precision": 1.0},
        ),
        Example(
            "a blank chunk is as irrelevant as can be",
            {"question": QUESTION, "retrieved_contexts": [QUESTION, ""]},
            {"recall": 1.0, "precision": 0.5},
        ),
        Example(
            "a blank question",
            {"question": "", "retrieved_contexts": [QUESTION]},
            {"recall": None},
            status=Status.NOT_APPLICABLE,
        ),
    ),
    differs_from="context_relevance and context_relevancy_sentences ask a judge which contexts or sentences bear on "
    "the question; context_precision and context_recall need an expected answer.",
)
def context_relevancy_soft(cases: Sequence[Case], parameters: Parameters, embedder: Encoder) -> list[CaseScore]:  # noqa: ARG001
    """How close the retrieved chunks come to the question: the best of them, and all of them in the mean.

        r(chunk) = max over its sentences s of  cos(emb(question), emb(s))
        recall = max over chunks of r,  precision = mean over chunks of r

    From −1 to 1; precision never exceeds recall. A chunk without a sentence has r = 0. The order of chunks is no
    matter; context_mrr looks at it.

    A blank question: not applicable. Evidence: each chunk's relevancy and the sentence that it is owed to, the
    embedding model and its weights' sha256. Source: H2O Eval Studio.
    """
    scores = []
    for entry in closest_sentences(cases, embedder):
        if isinstance(entry, CaseScore):
            scores.append(entry)
            continue
        relevancies = [chunk.cosine for chunk in entry.chunks]
        values = {"recall": max(relevancies), "precision": sum(relevancies) / len(relevancies)}
        scores.append(CaseScore(values, evidence={"chunks": chunk_rows(entry), **entry.provenance}))
    return scores
