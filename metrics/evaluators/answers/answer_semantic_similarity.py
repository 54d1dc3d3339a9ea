"""Answer semantic similarity: the cosine of the embeddings of answer and expected answer."""

from collections.abc import Sequence

from metrics.evaluator import CaseScore, Example, Metric, Parameters, evaluator, not_applicable
from metrics.models.embedder import Encoder, compare, provenance
from metrics.suite import Case

PARIS = "Paris is the capital of France."


@evaluator(
    id="answer_semantic_similarity",
    title="Answer semantic similarity",
    tasks=("text",),
    inputs=("answer", "expected_answers"),
    resources=("embedder",),
    metrics=(
        Metric(
            "answer_semantic_similarity",
            "Cosine of the embeddings of answer and expected answer.",
            low=-1.0,
            primary=True,
        ),
    ),
    sources=("H",),
    standards=("NIST AI RMF: valid and reliable", "SR 11-7: outcomes analysis"),
    examples=(
        Example("the same words", {"answer": PARIS, "expected_answers": [PARIS]}, {"answer_semantic_similarity": 1.0}),
        Example(
            "the best of several expected answers counts",
            {"answer": PARIS, "expected_answers": ["It rained in Oslo all week.", PARIS]},
            {"answer_semantic_similarity": 1.0},
        ),
        Example("an empty answer", {"answer": "", "expected_answers": [PARIS]}, {"answer_semantic_similarity": 0.0}),
    ),
    differs_from="answer_semantic_sentence_similarity compares sentence by sentence; "
    "rouge and bleu compare the wording.",
)
def answer_semantic_similarity(cases: Sequence[Case], parameters: Parameters, embedder: Encoder) -> list[CaseScore]:  # noqa: ARG001
    """How close in meaning the answer is to the expected answer, by the cosine of their embeddings.

        similarity = max over expected answers e of  cos(emb(answer), emb(e))

    From −1 to 1; unrelated texts lie near 0, and hardly any below. What counts as close depends on the model: compare
    scores of one model only. Texts longer than the model's window (256 tokens for the bundled one) are compared by
    their beginnings, and the evidence counts them. Blank expected answers are passed over.

    An empty answer scores 0. Without a readable expected answer: not applicable.
    Evidence: the number (from 1) of the closest expected answer, the embedding model and its weights' sha256.
    Source: H2O Eval Studio, after RAGAS; Risch et al. 2021.
    """
    answers = [[case.answer] if case.answer and case.answer.strip() else [] for case in cases]
    expected = [[text for text in case.expected_answers if text.strip()] for case in cases]
    scores = []
    compared = compare(embedder, zip(answers, expected, strict=True))
    for case, answer, references, pair in zip(cases, answers, expected, compared, strict=True):
        if not references:
            scores.append(not_applicable("every expected answer is blank"))
            continue
        if not answer:
            scores.append(CaseScore({"answer_semantic_similarity": 0.0}, evidence={"note": "the answer is empty"}))
            continue
        best = int(pair.cosines[0].argmax())
        evidence = {"expected_answer": case.expected_answers.index(references[best]) + 1, **provenance(embedder, pair)}
        scores.append(CaseScore({"answer_semantic_similarity": float(pair.cosines[0, best])}, evidence=evidence))
    return scores
