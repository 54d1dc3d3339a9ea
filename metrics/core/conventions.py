"""Conventions: what other systems set otherwise than Assay, a row a system.

An evaluation made `as_in` a system takes from its row, wherever the user gave none: thresholds, main metrics,
parameters, how its judge samples, the embedding model where it is installed, and from the user's files the wordings
that the system publishes. Formulas stay Assay's. To add a system, add its id to System and its row to CONVENTIONS.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from metrics.core.number_text import exact

System = Literal["h2o", "open_rag_eval"]

BOOLEAN = ("passes", "failures", "retrieval_failures", "generation_failures", "parse_failures")  # of the boolean family


@dataclass(frozen=True, slots=True)
class Convention:
    """One system's row.

    `thresholds`: evaluator → metric → value, infinite where the system has the metric and sets none; its keys are the
    system's evaluators. `primary`: the main metric of each evaluator whose main one is another here. `judge`: settings
    of its judge. `wordings`: the evaluators whose prompts the system publishes.
    """

    id: str
    title: str
    thresholds: Mapping[str, Mapping[str, float]]
    primary: Mapping[str, str] = field(default_factory=dict)
    parameters: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    embedder: str = ""
    judge: Mapping[str, float] = field(default_factory=dict)
    wordings: tuple[str, ...] = ()

    def in_words(self, evaluators: Sequence[str], embedder: str | None) -> str:
        """Return what of it holds in a run of these evaluators.

        `embedder`: the embedding model of those that embed, empty for the bundled one, None where none embeds.
        """
        own = [id for id in evaluators if id in self.thresholds]
        held = "every evaluator" if len(own) == len(evaluators) else f"{len(own)} of {len(evaluators)} evaluators"
        what = ["thresholds", "main metrics"] if any(self.thresholds.values()) else ["main metrics"]
        text = f"Made as in {self.title}: its {', '.join(what)} and parameters in {held}"
        if self.judge:
            sampling = ", ".join(f"{name} {exact(value)}" for name, value in self.judge.items())
            text += f"; its judge's {sampling}, where none is given"
        if self.embedder and embedder not in (None, self.embedder):
            text += f"; embeddings by {embedder or 'the model bundled with Assay'}, not by its {self.embedder}"
        return text + "."

    def threshold(self, evaluator: str, metric: str) -> float | None:
        """Return the system's threshold of a metric; None where it sets none."""
        value = self.thresholds.get(evaluator, {}).get(metric, math.inf)
        return value if math.isfinite(value) else None

    def sets_none(self, evaluator: str, metric: str) -> bool:
        """Return whether the system has the evaluator and sets no threshold of that metric."""
        return evaluator in self.thresholds and self.threshold(evaluator, metric) is None


def _alike(value: float, *metrics: str) -> dict[str, float]:
    return dict.fromkeys(metrics, value)


def _named_alike(value: float, *evaluators: str) -> dict[str, dict[str, float]]:
    """Return the thresholds of evaluators whose only metric has their name."""
    return {id: {id: value} for id in evaluators}


H2O = Convention(
    "h2o",
    "H2O Eval Studio",
    thresholds={
        # as its page of evaluators states them
        **_named_alike(
            0.75,
            "agent_sanity", "answer_correctness_weighted", "answer_relevancy", "answer_relevancy_sentence",
            "answer_semantic_similarity", "fact_check", "faithfulness", "groundedness", "hallucination_hhem",
        ),
        "answer_semantic_sentence_similarity": _alike(0.75, "mean_similarity", "min_similarity"),
        "looping_detection": _alike(0.75, "unique_sentences", "longest_repeated_substring", "compression_ratio"),
        "gptscore_translation": _alike(math.inf, "accuracy", "fluency", "multidimensional_quality"),
        "json_schema": _alike(0.5, *BOOLEAN[:-1]),
        **dict.fromkeys(("language_mismatch", "byop"), _alike(0.5, *BOOLEAN)),
        # of the evaluators that the page only lists, as h2o-sonar 59ae596 declares them or their family
        **_named_alike(
            0.75,
            "context_mrr", "context_precision", "context_recall", "context_relevancy_sentences", "fairness_bias",
            "ragas",
        ),
        "bleu": _alike(0.75, "bleu1", "bleu2", "bleu3", "bleu4"),
        "classification_text": _alike(0.75, "accuracy", "precision", "recall", "f1"),
        "context_relevancy_soft": _alike(0.75, "recall", "precision"),
        "rouge": _alike(0.75, "rouge1", "rouge2", "rougeL"),
        "step_alignment": _alike(0.75, "edits", "insertions", "deletions", "mismatches"),
        "summarization_completeness_faithfulness": _alike(0.75, "completeness", "faithfulness"),
        "toxicity_classifier": _alike(
            0.25, "toxicity", "severe_toxicity", "obscene", "threat", "insult", "identity_attack"
        ),
        "gptscore_qa": _alike(math.inf, "interest"),
        **dict.fromkeys(("gptscore_summary", "gptscore_summary_reference"), _alike(math.inf, "semantic_coverage")),
        **_named_alike(math.inf, "perplexity"),
        **dict.fromkeys(
            ("contact_information", "encoding_guardrail", "pii_leakage", "sensitive_data_leakage", "sexism",
             "stereotypes", "summarization_judge", "text_matching"),
            _alike(0.5, *BOOLEAN),
        ),
    },
    primary={
        "bleu": "bleu1",
        "context_relevancy_soft": "precision",
        "looping_detection": "unique_sentences",
        "summarization_completeness_faithfulness": "completeness",
    },
    parameters={
        "context_mrr": {"mrr_relevant_chunk_threshold": 0.7},
        "groundedness": {"bare_words": 0, "new_words": 0.0},
        "language_mismatch": {"detector": "judge"},
        "rouge": {"use_stemmer": True},
    },
    embedder="BAAI/bge-small-en-v1.5",
    wordings=(
        "fact_check", "gptscore_qa", "gptscore_summary", "gptscore_summary_reference", "gptscore_translation",
    ),
)  # fmt: skip

OPEN_RAG_EVAL = Convention(
    "open_rag_eval",
    "Open RAG Eval",
    thresholds={  # it has none
        id: {}
        for id in (
            "umbrela", "autonuggetizer", "citation", "hallucination_hhem", "no_answer", "consistency_rouge",
            "consistency_bertscore", "consistency_statistics",
        )
    },
    primary={"autonuggetizer": "vital"},
    parameters={
        "autonuggetizer": {"refine": True},
        "hallucination_hhem": {"mode": "joined"},
        "consistency_bertscore": {"token_encoder": "xlm-roberta-large", "layer": 17, "rescale_with_baseline": True},
    },
    judge={"temperature": 0.0, "top_p": 1.0, "presence_penalty": 0.5, "frequency_penalty": 0.0, "seed": 42},
    wordings=("umbrela", "autonuggetizer", "citation", "no_answer"),
)  # fmt: skip

# whose a threshold in force is, as exports name it; that of a system has the system's title
ASSAY, CALIBRATION, USER = "Assay", "calibration", "user"


def threshold_words(threshold: float, of: str) -> str:
    """Return a threshold exactly, and whose it is where neither Assay nor a calibration set it: `0.75 (your own)`."""
    whose = "" if of in ("", ASSAY, CALIBRATION) else " (your own)" if of == USER else f" ({of}'s)"
    return exact(threshold) + whose


def limit(threshold: float | None, direction: str, of: str = "") -> str:
    """Return a threshold as `≥ 0.5` or, where lower is better, `≤ 0.5 (your own)`; empty where there is none."""
    if threshold is None or direction == "none":
        return ""
    return f"{'≤' if direction == 'lower' else '≥'} {threshold_words(threshold, of)}"


CONVENTIONS: Mapping[str, Convention] = {one.id: one for one in (H2O, OPEN_RAG_EVAL)}
