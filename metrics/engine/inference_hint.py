"""The hint that a model of inference is at hand where a run measures the likeness of answer and contexts only."""

from collections.abc import Collection, Mapping
from typing import Any

from metrics import models

LIKENESS, INFERENCE = "groundedness", "hallucination_hhem"


def inference_hint(chosen: Collection[str], resources: Mapping[str, Any]) -> str | None:
    """Return what to choose beside or in place of groundedness; None where it is not chosen or there is no such model.

    `resources`: the models chosen for the run, see load_resources. Nothing is loaded or fetched.
    """
    if LIKENESS not in chosen or INFERENCE in chosen:
        return None
    model = models.inference_model(resources)
    if model is None:
        return None
    return (
        f"{LIKENESS} measures likeness, not truth. A model of inference is at hand ({model}): with it {INFERENCE} "
        "decides whether the answer follows from the contexts."
    )
