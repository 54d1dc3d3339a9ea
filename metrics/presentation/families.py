"""The families of evaluators in words: the folders of metrics/evaluators, each with a title, and the plugins."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from metrics.core.other_names import names_elsewhere

if TYPE_CHECKING:
    from metrics.core.evaluator import Evaluator

FAMILIES = {
    "agents": "Agents",
    "answers": "Answers",
    "attacks": "Attacks and refusals",
    "classification": "Classification",
    "code": "Code and SQL that run",
    "consistency": "Consistency of repeats",
    "conversations": "Conversations",
    "detection": "Object detection",
    "grounding": "Grounding in the contexts",
    "plugins": "Plugins",
    "regression": "Regression",
    "retrieval": "Retrieval",
    "safety": "Safety and privacy",
    "segmentation": "Segmentation",
    "summaries": "Summaries",
    "text": "Text: references and rules",
    "usage": "Latency, cost and tokens",
}
SYNONYMS = {  # words that people search a family by, beside those in its evaluators' own texts
    "agents": "tool use function calling trajectory task completion",
    "answers": "accuracy correctness right relevance similarity quality",
    "attacks": "red team security prompt injection jailbreak adversarial owasp",
    "classification": "accuracy f1 precision recall auc confusion matrix classifier",
    "code": "unit tests execution programming sql pass@k",
    "consistency": "variance stability reproducibility repeats determinism",
    "conversations": "chatbot dialogue multi-turn chat",
    "detection": "map mean average precision iou bounding boxes objects coco yolo recall f1",
    "grounding": "hallucination groundedness faithfulness attribution rag made up facts",
    "plugins": "custom own python",
    "regression": "mae rmse mse r2 error forecast numbers",
    "retrieval": "rag search ranking ndcg mrr hit rate recall@k precision@k context",
    "safety": "toxicity pii privacy gdpr personal data secrets bias moderation harmful guardrail",
    "segmentation": "iou miou dice pixels masks jaccard",
    "summaries": "summarization abstract",
    "text": "overlap reference string regex n-gram",
    "usage": "latency speed cost price dollars tokens time",
}


def is_found(entry: Evaluator, wanted: str) -> bool:
    """Return whether each word that is `wanted` begins one in an evaluator's names here or elsewhere, or definition."""
    known = (entry.id, entry.title, entry.doc, *entry.standards, *entry.synonyms, *names_elsewhere(entry.id))
    metrics = (f"{metric.name} {metric.description}" for metric in entry.metrics)
    words = set(_words(" ".join((*known, *metrics, FAMILIES[entry.family], SYNONYMS[entry.family]))))
    return all(any(word.startswith(beginning) for word in words) for beginning in _words(wanted))


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text.casefold())
