"""What evaluators that use a classifier share: the parameter that names it, its label, and a verdict in words."""

from typing import Any

from pydantic import Field

from metrics.models.classifier import Classifier, require_label

INFERENCE = "cross-encoder/nli-deberta-v3-small"  # a model of inference on the hub


def classifier_field(kind: str, *examples: str) -> Any:
    """Return the parameter that names a classifier of that kind, such as the examples; empty: the run's."""
    return Field(
        "",
        description=f"{kind}: a local folder or the name of a model on the hub, which is downloaded; empty: the run's.",
        examples=list(examples) or None,
    )


def only_or_required_label(classifier: Classifier, evaluator: str, *names: str) -> int:
    """Return the index of the only label, or of one named like one of `names`; MissingResource where there is none."""
    return 0 if len(classifier.labels) == 1 else require_label(classifier, evaluator, *names)
