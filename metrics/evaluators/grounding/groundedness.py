"""Groundedness: how similar the least grounded sentence of the answer is to the retrieved contexts."""

from collections.abc import Sequence

from metrics.core.evaluator import CaseScore, Example, Metric, Parameters, evaluator, not_applicable
from metrics.core.evidence import Evidence, Verdict
from metrics.core.suite import Case
from metrics.models.embedder import Embedder, compare, provenance
from metrics.text.overlap.similarity import best_matches
from metrics.text.sentences import worded_sentences

CONTEXTS = ["Paris is the capital of France. It lies on the Seine.", "France has many rivers."]


@evaluator(
    id="groundedness",
    title="Groundedness",
    inputs=("answer", "retrieved_contexts"),
    metrics=(
        Metric(
            "groundedness",
            "Cosine of the least grounded answer sentence and the most similar context sentence.",
            low=-1.0,
        ),
    ),
    sources=("H2O Eval Studio",),
    standards=("NIST AI RMF: valid and reliable", "OWASP LLM Top 10: LLM09 misinformation"),
    examples=(
        Example(
            "every sentence is in a context",
            {"answer": "France has many rivers. It lies on the Seine.", "retrieved_contexts": CONTEXTS},
            {"groundedness": 1.0},
        ),
        Example(
            "list numbers are not sentences",
            {"answer": "1.\nFrance has many rivers.\n***", "retrieved_contexts": CONTEXTS},
            {"groundedness": 1.0},
        ),
        Example.not_applicable("the answer has no sentence", {"answer": "…", "retrieved_contexts": CONTEXTS}),
        Example("the contexts are blank", {"answer": "Yes.", "retrieved_contexts": [" "]}, {"groundedness": 0.0}),
    ),
    differs_from="faithfulness and the hallucination evaluators check claims by inference; this one measures the "
    "similarity of sentences, so a sentence that contradicts a context in the context's own words passes.",
    differs_from_source=(
        "The default embedder is the bundled all-MiniLM-L6-v2, for the same scores on every machine and offline, "
        "instead of H2O's BAAI/bge-small-en, for which the threshold .75 was set. The range is −1 to 1, that of the "
        "cosine, where H2O states 0 to 1. An answer without a sentence is not applicable; contexts without one give "
        "0."
    ),
    version=2,
)
def groundedness(cases: Sequence[Case], parameters: Parameters, embedder: Embedder) -> list[CaseScore]:
    """How similar the least grounded sentence of the answer is to any sentence of the retrieved contexts.

        s(a) = max over sentences c of the contexts of  cos(emb(a), emb(c))
        groundedness = min of s(a) over sentences a of the answer

    From −1 to 1. One unsupported sentence decides, so long answers score lower. Bare list numbers and rules are not
    sentences; if the contexts have no sentence, the score is 0.

    An answer without a sentence is not applicable and is counted beside the mean.
    Evidence: each sentence with the most similar context sentence, the number of that context (from 1), their cosine,
    and whether it reaches the threshold; the least grounded sentence if the case does not; the embedding model and the
    sha256 of its weights.
    """
    answers = [worded_sentences(case.answer or "") for case in cases]
    contexts = [
        [
            (number, sentence)
            for number, text in enumerate(case.retrieved_contexts, 1)
            for sentence in worded_sentences(text)
        ]
        for case in cases
    ]
    flat = (
        [sentence for _, sentence in found] if answer else [] for answer, found in zip(answers, contexts, strict=True)
    )
    compared = compare(embedder, zip(answers, flat, strict=True))
    scores = []
    for answer, found, pair in zip(answers, contexts, compared, strict=True):
        if not answer:
            scores.append(not_applicable("the answer is empty: it has no sentence to be grounded"))
            continue
        if not found:
            evidence = Evidence(facts={"note": "the retrieved contexts have no sentence"})
            scores.append(CaseScore({"groundedness": 0.0}, evidence=evidence))
            continue
        values, places = best_matches(pair.cosines)
        worst = int(values.argmin())
        sentences = [
            Verdict(
                sentence,
                holds := groundedness.holds(cosine, parameters),
                "supported" if holds == "yes" else "unsupported",
                rests_on=(("contexts", found[place][0]),),
                quote=found[place][1],
                facts={"cosine": round(float(cosine), 6)},
            )
            for sentence, cosine, place in zip(answer, values, places, strict=True)
        ]
        least = {"least_grounded": answer[worst]} if sentences[worst].holds == "no" else {}
        evidence = Evidence({"sentences": sentences}, least | provenance(embedder, pair))
        scores.append(CaseScore({"groundedness": float(values[worst])}, evidence=evidence))
    return scores
