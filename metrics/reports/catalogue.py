"""The catalogue: everything the evaluators declare, as plain data for pages, the command line and the documentation."""

import math
from typing import Any

from metrics.core.evaluator import Evaluator
from metrics.core.registry import evaluators
from metrics.presentation.sources import source_text


def catalogue() -> list[dict[str, Any]]:
    """Return a record per evaluator; infinite bounds and thresholds are null, so that it is strict JSON."""
    return [_record(entry) for entry in evaluators().values()]


def _record(entry: Evaluator) -> dict[str, Any]:
    return {
        **{name: getattr(entry, name) for name in ("id", "title", "family", "summary", "doc")},
        "tasks": list(entry.tasks),
        "inputs": list(entry.inputs),
        "instead": dict(entry.instead),
        "resources": list(entry.needs),
        "metrics": [
            {
                "name": metric.name,
                "description": metric.description,
                "range": [_finite(metric.low), _finite(metric.high)],
                "direction": metric.direction.value,
                "threshold": _finite(metric.threshold),
                "unit": metric.unit,
                "primary": metric.primary,
            }
            for metric in entry.metrics
        ],
        "parameters": entry.parameters.model_json_schema(),
        "prompts": [{"id": prompt.id, "text": prompt.text} for prompt in entry.prompts],
        "sources": [source_text(source) for source in entry.sources],
        "standards": list(entry.standards),
        **{name: getattr(entry, name) for name in ("differs_from", "differs_from_source")},
        "default_needs": list(entry.default_needs),
        "version": entry.version,
    }


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
