"""One insight as a row, and how its numbers are written."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from metrics.analysis.leaderboard.leaderboard import Column
from metrics.core.number_text import amount, interval, number
from metrics.core.registry import standards_of

Insight = dict[str, Any]


def insight_row(
    kind: str,
    message: str,
    *,
    column: Column | None = None,
    metric: str | None = None,
    severity: str = "info",
    evidence: str = "",
    of: Iterable[str] = (),
    **values: Any,
) -> Insight:
    """Return one insight; `of` are the evaluators it rests on if they are not its column's."""
    bases = [name for name in of if name] or ([column.evaluator] if column is not None else [])
    standards = dict.fromkeys(standard for name in bases for standard in standards_of(name))
    return {
        "kind": kind, "evaluator": column and column.evaluator, "metric": column.metric if column else metric,
        "model": None, "case_id": None, "value": None, "message": message, "severity": severity, "evidence": evidence,
        "affected": None, "case_ids": [], "standards": list(standards), **values,
    }  # fmt: skip


def in_numbers(what: str, value: float | None, low: float | None, high: float | None, n: int, unit: str = "") -> str:
    """Return `what` with its value, 95 % interval and n."""
    bounds = interval(low, high, amount if unit else number)
    written = f"{number(value)}{unit}" if not unit or value is None else f"{amount(value)}{unit}"
    return f"{what} {written}{f' ({bounds})' if bounds else ''}, n = {n:,}"
