"""The scores that came with outputs, in columns `score.NAME`: their names, ranges and better ends, for own_scores."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from metrics.core.evaluator import Metric
from metrics.core.fields import METADATA, REASON, SCORE
from metrics.core.registry import evaluators
from metrics.core.suite import Outputs
from metrics.evaluators.text.own_scores import NAME, number_in

OWN = "own_scores"
Declared = Mapping[str, Mapping[str, Any]]


def score_columns(outputs: Outputs, declared: Declared | None = None) -> dict[str, dict[str, Any]]:
    """Return the scores in the outputs by name, as the parameter `scores` of own_scores has them.

    `declared` says what they mean; without it, score.EVALUATOR.METRIC means what that metric means, without its
    threshold. What neither says is inferred: 0 to 1, or yes or no, where all values are, else open; more is better.
    """
    found = {}
    for column in outputs.outputs.column_names:
        score = column.removeprefix(METADATA + SCORE)
        if score == column or score.endswith(REASON) or not NAME.fullmatch(score):
            continue
        values = [number_in(text) for text in outputs.outputs[column].drop_null().unique().to_pylist()]
        if None not in values:
            name, means = _find_meaning(score) if declared is None else (score, declared.get(score))
            means = means or _inferred([value for value in values if value is not None])
            found[name] = {**means, "column": SCORE + score}
    return found


def _find_meaning(score: str) -> tuple[str, dict[str, Any] | None]:
    """Return the name of a score and, of EVALUATOR.METRIC, what it means."""
    evaluator, _, metric = score.partition(".")
    entry = evaluators().get(evaluator) if metric else None
    if entry is None:
        return score, None
    known = next((one for one in entry.metrics if one.name == metric), None)
    name = metric if metric.startswith(evaluator) else f"{evaluator}_{metric}"
    return name, declaration_of(known) | {"threshold": None} if known else None


def with_own_scores(
    parameters: Mapping[str, Mapping[str, Any]], chosen: Sequence[str], outputs: Outputs
) -> dict[str, Mapping[str, Any]]:
    """Return the parameters of evaluators with the scores that came with the outputs, where own_scores names none."""
    given = parameters.get(OWN, {})
    if OWN not in chosen or given.get("scores"):
        return dict(parameters)
    return {**parameters, OWN: {**given, "scores": score_columns(outputs)}}


def declaration_of(metric: Metric) -> dict[str, Any]:
    """Return what a metric says as the parameters of own_scores keep it."""
    low, high = (end if math.isfinite(end) else None for end in (metric.low, metric.high))
    return {
        "description": metric.description, "low": low, "high": high, "direction": metric.direction.value,
        "threshold": metric.threshold, "binary": metric.binary, "minor": metric.minor, "unit": metric.unit,
    }  # fmt: skip


def _inferred(values: Sequence[float]) -> dict[str, Any]:
    low, high = min(values, default=0.0), max(values, default=1.0)
    if low >= 0 and high <= 1:
        return {"binary": bool(values) and set(values) <= {0.0, 1.0}}
    return {"low": 0.0 if low >= 0 else None, "high": None}
