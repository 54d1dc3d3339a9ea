"""Completeness and faithfulness of a summary, sentence by sentence, without a judge."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from pydantic import Field

from metrics.core.evaluator import CaseScore, Example, Metric, Parameters, not_applicable, output_failure
from metrics.core.evaluator_decorator import evaluator
from metrics.core.evidence import Evidence, Verdict
from metrics.core.suite import Case
from metrics.evaluators._classifiers import INFERENCE, classifier_field
from metrics.models import classifier as classifiers, embedder as embeddings
from metrics.models.classifier import Classifier
from metrics.models.embedder import Embedder
from metrics.text.overlap.similarity import best_matches
from metrics.text.sentences import worded_sentences

SHOWN_SENTENCES = 50
LEAST_COVERED = 5  # source sentences shown
SOURCE = "Die Ernte war gut. Der Regen kam spät."


class SummaryParameters(Parameters):
    """Which model decides on entailment, and how a summary sentence's verdicts are put together."""

    support: Literal["summac", "best_sentence"] = Field(
        "summac",
        description="summac: the highest entailment by any source sentence less the highest contradiction by any, as "
        "in SummaC; best_sentence: the highest entailment less contradiction by one source sentence, which a "
        "contradiction elsewhere does not lower.",
    )
    classifier: str = classifier_field(
        "Natural language inference model with the labels entailment and contradiction", INFERENCE
    )


@evaluator(
    title="Summary: completeness and faithfulness",
    inputs=("source_text", "answer"),
    metrics=(
        Metric(
            "faithfulness",
            "Mean over summary sentences of the highest entailment less the highest contradiction by the source.",
            low=-1.0,
            primary=True,
        ),
        Metric(
            "completeness", "Mean over source sentences of the cosine to the most similar summary sentence.", low=-1.0
        ),
    ),
    sources=("H2O Eval Studio", "Laban et al. 2022, SummaC-ZS"),
    standards=("valid and reliable", "LLM09 misinformation"),
    examples=(
        Example(
            "the first sentence is entailed, the second neutral, and half of the source is covered",
            {"source_text": SOURCE, "answer": "Die Ernte war gut. Niemand kam."},
            {"faithfulness": (0.90 - 0.05 + 0.05 - 0.05) / 2, "completeness": (1 + 1 / (2 * 2**0.5)) / 2},
        ),
        Example(
            "the same with both numbers of one source sentence",
            {"source_text": SOURCE, "answer": "Die Ernte war gut. Niemand kam."},
            {"faithfulness": (0.90 - 0.02 + 0.05 - 0.05) / 2, "completeness": (1 + 1 / (2 * 2**0.5)) / 2},
            parameters={"support": "best_sentence"},
        ),
        Example(
            "a sentence contradicts the source",
            {"source_text": "Die Ernte war gut.", "answer": "Die Ernte war not gut."},
            {"faithfulness": 0.02 - 0.90, "completeness": 4 / (4 * 5) ** 0.5},
        ),
        Example(
            "the summary is empty", {"source_text": SOURCE, "answer": "…"}, {"faithfulness": 0.0, "completeness": 0.0}
        ),
    ),
    differs_from="summary_coherence and summarization_judge ask a judge; gptscore_summary measures how likely the "
    "summary is; the evaluator faithfulness checks claims against retrieved contexts.",
    differs_from_source="The default embedder is the bundled all-MiniLM-L6-v2, for the same scores on every machine "
    "and offline, instead of H2O's BGE. Faithfulness is SummaC's zero-shot form over sentences; `support` = "
    "best_sentence takes both numbers from one source sentence. Completeness, which H2O calls coverage of the source "
    "by the summary, is the mean over source sentences of the best cosine with the summary. The inference model is "
    "used only when chosen, never fetched unasked.",
    version=5,
)
def summarization_completeness_faithfulness(
    cases: Sequence[Case], parameters: SummaryParameters, classifier: Classifier, embedder: Embedder
) -> list[CaseScore]:
    """Whether the source entails what the summary says, and whether the summary covers what the source says.

        faithfulness = mean over summary sentences a of  max over s of entail(s, a)  −  max over s of contradict(s, a)
        completeness = mean over source sentences s of  max over summary sentences a of  cos(emb(s), emb(a))

    with s the source sentences; with `support` = best_sentence  max over s of (entail(s, a) − contradict(s, a)).

    Both from −1 to 1. Faithfulness is SummaC without training: one source sentence has to entail a summary sentence,
    so one that combines two source sentences scores lower, and any that contradicts it counts. Completeness is how much
    of the source is similar to something in the summary: it decreases with the length of the source, as a summary has
    to leave things out. Compare models with each other, not with 1.

    A summary without a sentence has 0; a source without one is not applicable.
    Evidence: each summary sentence (the first 50) with the source sentence that supports it best, the least covered
    source sentences, both models with the sha256 of their weights, texts read in part.
    """
    name = "summarization_completeness_faithfulness"
    entailed = classifiers.require_label(classifier, name, "entailment", "entail")
    contradicted = classifiers.require_label(classifier, name, "contradiction", "contradict")
    summaries = [worded_sentences(case.answer or "") for case in cases]
    sources = [worded_sentences(case.source_text or "") for case in cases]
    sides = list(zip(sources, summaries, strict=True))
    inferred = classifiers.classify_groups(classifier, ([(s, a) for a in own for s in source] for source, own in sides))
    compared = embeddings.compare(embedder, ((source, own) if source and own else ([], []) for source, own in sides))
    scores = []
    for (source, own), made, table in zip(sides, inferred, compared, strict=True):
        if not source or not own:
            failed = output_failure("the answer has no sentence")
            scores.append(failed if source else not_applicable("the source text has no sentence"))
            continue
        shares = classifiers.probabilities(classifier, made.logits)
        supports, contradicts = (shares[:, place].reshape(len(own), len(source)) for place in (entailed, contradicted))
        if parameters.support == "summac":
            best, places = best_matches(supports)
            best = best - contradicts.max(axis=1)
        else:
            best, places = best_matches(supports - contradicts)
        covered = table.cosines.max(axis=1)
        values = {"faithfulness": float(best.mean()), "completeness": float(covered.mean())}
        sentences = [
            Verdict.of(
                sentence,
                summarization_completeness_faithfulness.holds(value, parameters),
                ("supported", "unsupported"),
                quote=source[place],
                facts={"support": round(float(value), 6)},
            )
            for sentence, value, place in zip(own, best, places, strict=True)
        ]
        facts = {
            "least_covered": [
                {"sentence": source[place], "cosine": round(float(covered[place]), 6)}
                for place in np.argsort(covered)[:LEAST_COVERED]
            ],
            "faithfulness_model": classifiers.provenance(classifier, made.truncated),
            "completeness_model": embeddings.provenance(embedder, table),
        }
        evidence = Evidence({"sentences": sentences[:SHOWN_SENTENCES]}, facts)
        scores.append(CaseScore(values, evidence=evidence))
    return scores
