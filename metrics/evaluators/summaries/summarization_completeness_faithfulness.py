"""Completeness and faithfulness of a summary, sentence by sentence, without a judge."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from pydantic import Field

from metrics.core.evaluator import CaseScore, Example, Metric, Parameters, Status, evaluator, not_applicable
from metrics.core.suite import Case
from metrics.models import classifier as classifiers
from metrics.models import embedder as embeddings
from metrics.models.classifier import Classified, Classifies
from metrics.models.embedder import Compared, Encoder
from metrics.text.overlap.similarity import best_matches
from metrics.text.sentences import worded_sentences

THRESHOLD = 0.75
SHOWN_SENTENCES = 50
SOURCE = "Die Ernte war gut. Der Regen kam spät."


class SummaryParameters(Parameters):
    """Which model infers."""

    classifier: str = Field(
        "",
        description="Model of inference with the labels entailment and contradiction: a local folder or the name of a "
        "model on the hub, which is downloaded; empty: the run's.",
        examples=["cross-encoder/nli-deberta-v3-small"],
    )


@evaluator(
    id="summarization_completeness_faithfulness",
    title="Summary: completeness and faithfulness",
    tasks=("text",),
    inputs=("source_text", "answer"),
    resources=("classifier", "embedder"),
    metrics=(
        Metric(
            "faithfulness", "Mean over summary sentences of their best entailment minus contradiction by the source.",
            low=-1.0, threshold=THRESHOLD, primary=True,
        ),
        Metric(
            "completeness", "Mean over source sentences of the cosine to the closest summary sentence.", low=-1.0
        ),
    ),
    sources=("H", "Laban et al. 2022, SummaC"),
    standards=("NIST AI RMF: valid and reliable", "OWASP LLM09: misinformation"),
    examples=(
        Example(
            "entailed by .90 against .02, and half of the source's words; the second sentence is neutral",
            {"source_text": SOURCE, "answer": "Die Ernte war gut. Niemand kam."},
            {"faithfulness": (0.90 - 0.02 + 0.05 - 0.05) / 2, "completeness": (1 + 1 / (2 * 2**0.5)) / 2},
        ),
        Example(
            "a sentence that contradicts",
            {"source_text": "Die Ernte war gut.", "answer": "Die Ernte war not gut."},
            {"faithfulness": 0.02 - 0.90, "completeness": 4 / (4 * 5) ** 0.5},
        ),
        Example("an empty summary", {"source_text": SOURCE, "answer": "…"}, status=Status.NOT_APPLICABLE),
    ),
    differs_from="summary_coherence and summarization_judge ask a judge; gptscore_summary measures how likely the "
    "summary is; the evaluator faithfulness checks claims against retrieved contexts.",
)  # fmt: skip
def summarization_completeness_faithfulness(
    cases: Sequence[Case],
    parameters: SummaryParameters,
    classifier: Classifies,
    embedder: Encoder,
) -> list[CaseScore]:
    """Whether the source entails what the summary says, and whether the summary covers what the source says.

        faithfulness = mean over summary sentences a of  max over source sentences s of  entail(s, a) − contradict(s, a)
        completeness = mean over source sentences s of  max over summary sentences a of  cos(emb(s), emb(a))

    Both from −1 to 1. Faithfulness is SummaC without training: a sentence is as faithful as its best source sentence
    makes it, so one that rests on two sentences at once suffers. Completeness says how much of the source lies close to
    something in the summary: it falls with the length of the source, as a summary has to leave things out; compare
    models, not numbers with 1.

    Without a sentence in source or summary: not applicable. Evidence: each summary sentence (the first 50) with the
    source sentence that supports it best, the source sentences that are covered least, both models with their weights'
    sha256, texts read in part. Source: H2O Eval Studio; Laban et al. 2022 (SummaC-ZS).
    """
    threshold = THRESHOLD if parameters.threshold is None else parameters.threshold
    entailed = classifiers.require_label(classifier, "summarization_completeness_faithfulness", "entailment", "entail")
    contradicted = classifiers.require_label(
        classifier, "summarization_completeness_faithfulness", "contradiction", "contradict"
    )
    summaries = [worded_sentences(case.answer or "") for case in cases]
    sources = [worded_sentences(case.source_text or "") for case in cases]
    sides = list(zip(sources, summaries, strict=True))
    inferred = classifiers.classify_groups(classifier, ([(s, a) for a in own for s in source] for source, own in sides))
    compared = embeddings.compare(embedder, ((source, own) if source and own else ([], []) for source, own in sides))
    scores = []
    for (source, own), made, table in zip(sides, inferred, compared, strict=True):
        if not source or not own:
            scores.append(not_applicable("the source text has no sentence" if own else "the answer has no sentence"))
            continue
        shares = classifiers.probabilities(classifier, made.logits)
        support = (shares[:, entailed] - shares[:, contradicted]).reshape(len(own), len(source))
        values = {
            "faithfulness": float(support.max(axis=1).mean()),
            "completeness": float(table.cosines.max(axis=1).mean()),
        }
        evidence = _evidence(source, own, support, table, threshold) | _models(classifier, made, embedder, table)
        scores.append(CaseScore(values, evidence=evidence))
    return scores


def _evidence(
    source: Sequence[str], own: Sequence[str], support: "np.ndarray[Any, Any]", table: Compared, threshold: float
) -> dict[str, Any]:
    best, places = best_matches(support)
    covered = table.cosines.max(axis=1)
    return {
        "sentences": [
            {
                "supported": bool(value >= threshold),
                "sentence": sentence,
                "support": round(float(value), 6),
                "closest": source[place],
            }
            for sentence, value, place in zip(own, best, places, strict=True)
        ][:SHOWN_SENTENCES],
        "least_covered": [
            {"sentence": source[place], "cosine": round(float(covered[place]), 6)} for place in np.argsort(covered)[:5]
        ],
    }


def _models(classifier: Classifies, made: Classified, embedder: Encoder, table: Compared) -> dict[str, Any]:
    return {
        "faithfulness_model": classifiers.provenance(classifier, made.truncated),
        "completeness_model": embeddings.provenance(embedder, table),
    }
