"""A panel of judges: one score from several, with their disagreement."""

from collections.abc import Sequence
from dataclasses import replace

from metrics.core.evaluator import CaseScore, Evaluator, Metric, Status
from metrics.core.evidence import Evidence


def combined(entry: Evaluator, scores: Sequence[tuple[str, CaseScore]]) -> CaseScore:
    """Return one score from the scores of several judges, each with the judge's name.

    A metric's value is the mean of the judges' values; of a binary metric, the majority, where a tie counts as the bad
    side. Judges without a value are left out. The evidence is that of the first judge with a score, and `panel`: every
    judge's values, status and reason, the spread of each metric, the judges left out and why, ties.
    """
    values: dict[str, float | None] = {}
    spread: dict[str, float] = {}
    notes = []
    for metric in entry.metrics:
        given = [value for _, score in scores if (value := score.values.get(metric.name)) is not None]
        values[metric.name] = _one(metric, given) if given else None
        if given:
            spread[metric.name] = max(given) - min(given)
            if metric.primary and metric.binary and sum(given) * 2 == len(given):
                notes.append("the judges are tied, which counts as the bad side")
    silent = [name for name, score in scores if score.status is not Status.OK]
    if silent and len(silent) < len(scores):
        first = next(score for _, score in scores if score.status is not Status.OK)
        notes.append(f"without {', '.join(silent)}: {first.reason or first.status.value}")
    speaking = next((score for _, score in scores if score.status is Status.OK), scores[0][1])
    panel = {
        "judges": [
            {"judge": name, "values": dict(score.values), "status": score.status.value, "reason": score.reason}
            for name, score in scores
        ],
        "spread": spread,
        "left_out": silent,
        "notes": notes,
    }
    evidence = replace(speaking.evidence or Evidence(), panel=panel)
    return CaseScore(values, speaking.status, speaking.reason, evidence)


def _one(metric: Metric, given: Sequence[float]) -> float:
    mean = sum(given) / len(given)
    if not metric.binary:
        return mean
    if mean == 0.5:
        return metric.low if metric.goodness(metric.low) == 0 else metric.high
    return float(mean > 0.5)
