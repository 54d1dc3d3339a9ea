"""A panel of judges, or several draws of one: one score from several, with their disagreement."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from metrics.core.evaluator import CaseScore, Evaluator, Metric, Status
from metrics.core.evidence import Evidence
from metrics.judge.settings import Combine

DIGITS = 9  # to which two values are the same


def combined(entry: Evaluator, scores: Sequence[tuple[str, CaseScore]], how: Combine = "majority") -> CaseScore:
    """Return one score from the scores of several judges (or draws), each with the judge's name.

    A metric's value is the mean of the judges' values; of a binary metric, with "majority", the value of the most,
    where a tie counts as the bad side. Judges without a value are left out. The evidence is that of the first judge
    with a score, and `panel`: every judge's values, status and reason (and its draws), the spread of each metric
    (highest − lowest) and its agreement (the share of the judges who gave the most frequent value), the judges left out
    and why, ties.
    """
    values: dict[str, float | None] = {}
    spread: dict[str, float] = {}
    agreement: dict[str, float] = {}
    notes = []
    metrics = {metric.name: metric for metric in entry.metrics}
    for name in dict.fromkeys([*metrics, *(name for _, score in scores for name in score.values)]):
        metric = metrics.get(name)
        given = [value for _, score in scores if (value := score.values.get(name)) is not None]
        values[name] = _one(metric, given, how) if given else None
        if given:
            spread[name] = max(given) - min(given)
            agreement[name] = max(Counter(round(value, DIGITS) for value in given).values()) / len(given)
            if how == "majority" and metric and metric.binary and metric.primary and sum(given) * 2 == len(given):
                notes.append("the judges are tied, which counts as the bad side")
    silent = [name for name, score in scores if score.status is not Status.OK]
    if silent and len(silent) < len(scores):
        first = next(score for _, score in scores if score.status is not Status.OK)
        notes.append(f"without {', '.join(silent)}: {first.reason or first.status.value}")
    speaking = next((score for _, score in scores if score.status is Status.OK), scores[0][1])
    panel = {
        "judges": [_record(name, score) for name, score in scores],
        "spread": spread,
        "agreement": agreement,
        "left_out": silent,
        "notes": notes,
    }
    evidence = replace(speaking.evidence or Evidence(), panel=panel)
    return CaseScore(values, speaking.status, speaking.reason, evidence)


def _record(name: str, score: CaseScore) -> dict[str, Any]:
    record = {"judge": name, "values": dict(score.values), "status": score.status.value, "reason": score.reason}
    drawn = score.evidence.panel if score.evidence else None
    return record | ({"draws": drawn["judges"]} if drawn else {})


def _one(metric: Metric | None, given: Sequence[float], how: Combine) -> float:
    mean = sum(given) / len(given)
    if how == "mean" or metric is None or not metric.binary:
        return mean
    if mean == 0.5:
        return metric.low if metric.goodness(metric.low) == 0 else metric.high
    return float(mean > 0.5)
