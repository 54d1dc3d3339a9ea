"""Answer semantic sentence similarity: each answer sentence against its closest expected sentence."""

from collections.abc import Sequence

from metrics.core.evaluator import CaseScore, Example, Metric, Parameters, evaluator, not_applicable
from metrics.core.suite import Case
from metrics.models.embedder import Encoder, compare, provenance
from metrics.text.overlap.similarity import best_matches
from metrics.text.sentences import worded_sentences

TWO = "Paris is the capital of France. It lies on the Seine."


@evaluator(
    id="answer_semantic_sentence_similarity",
    title="Answer semantic sentence similarity",
    tasks=("text",),
    inputs=("answer", "expected_answers"),
    resources=("embedder",),
    metrics=(
        Metric(
            "mean_similarity", "Mean over answer sentences of the cosine to the closest expected sentence.",
            low=-1.0, primary=True,
        ),
        Metric("min_similarity", "The same of the answer sentence that is furthest from all expected ones.", low=-1.0),
    ),
    sources=("H",),
    standards=("NIST AI RMF: valid and reliable", "SR 11-7: outcomes analysis"),
    examples=(
        Example(
            "the expected sentences in another order",
            {"answer": "It lies on the Seine. Paris is the capital of France.", "expected_answers": [TWO]},
            {"mean_similarity": 1.0, "min_similarity": 1.0},
        ),
        Example(
            "the best of several expected answers counts; what the answer leaves out is not looked at",
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
)  # fmt: skip
def answer_semantic_sentence_similarity(
    cases: Sequence[Case],
    parameters: Parameters,  # noqa: ARG001
    embedder: Encoder,
) -> list[CaseScore]:
    """How close each sentence of the answer is to some sentence of the expected answer, in the mean and at worst.

        s(a) = max over sentences e of the expected answer of  cos(emb(a), emb(e))
        mean_similarity = mean of s(a),  min_similarity = min of s(a)  over sentences a of the answer

    From −1 to 1. Of several expected answers the one with the highest number counts, for mean and min by itself. Bare
    list numbers and rules are no sentences. It measures what the answer says, not what it leaves out.

    An empty answer scores 0. Without a sentence in any expected answer: not applicable.
    Evidence: each answer sentence with its closest expected sentence (of the expected answer with the highest mean)
    and their cosine, the embedding model and its weights' sha256. Source: H2O Eval Studio.
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
            scores.append(CaseScore(values, evidence={"note": "the answer is empty"}))
            continue
        matched = []
        start = 0
        for reference in references:
            if reference:
                matched.append((*best_matches(pair.cosines[:, start : start + len(reference)]), reference))
            start += len(reference)
        closest, places, reference = max(matched, key=lambda entry: float(entry[0].mean()))
        evidence = {
            "sentences": [
                {"sentence": sentence, "cosine": round(float(value), 6), "closest": reference[place]}
                for sentence, value, place in zip(answer, closest, places, strict=True)
            ],
            **provenance(embedder, pair),
        }
        lowest = max(float(values.min()) for values, _, _ in matched)
        scores.append(
            CaseScore({"mean_similarity": float(closest.mean()), "min_similarity": lowest}, evidence=evidence)
        )
    return scores
