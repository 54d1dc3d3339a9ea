"""Answer semantic sentence similarity: each answer sentence compared with the most similar expected sentence."""

from collections.abc import Sequence

from metrics.core.evaluator import CaseScore, Example, Metric, Parameters, not_applicable
from metrics.core.evaluator_decorator import evaluator
from metrics.core.evidence import Evidence
from metrics.core.suite import Case
from metrics.models.embedder import Embedder, compare, provenance
from metrics.stats.float_tolerance import highest_place
from metrics.text.overlap.similarity import best_matches
from metrics.text.sentences import worded_sentences

TWO = "Paris is the capital of France. It lies on the Seine."


@evaluator(
    id="answer_semantic_sentence_similarity",
    title="Answer semantic sentence similarity",
    inputs=("answer", "expected_answers"),
    metrics=(
        Metric(
            "mean_similarity", "Mean over answer sentences of the cosine to the closest expected sentence.",
            low=-1.0, primary=True,
        ),
        Metric("min_similarity", "The lowest of these cosines: that of the least similar answer sentence.", low=-1.0),
    ),
    sources=("H2O Eval Studio",),
    standards=("NIST AI RMF: valid and reliable", "SR 11-7: outcomes analysis"),
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
    differs_from_source=(
        "The default embedder is the bundled all-MiniLM-L6-v2, for the same scores on every machine and offline, "
        "instead of H2O's BAAI/bge-small-en-v1.5, to which its threshold .75 belongs; each model gets its own by "
        "calibration. The range is −1 to 1, that of the cosine, where H2O states 0 to 1. With several expected answers "
        "the highest number counts; H2O knows one. An empty answer scores 0."
    ),
    version=2,
)  # fmt: skip
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
