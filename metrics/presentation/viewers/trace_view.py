"""The steps of an agent's trace as plain values: wasted calls counted, times on one axis, expected calls beside."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from metrics.core.registry import evaluators
from metrics.core.suite import Case
from metrics.presentation.verdict_rows import VerdictGroup, VerdictRow, verdict_groups
from metrics.text.agents.traces import Step, TraceError, efficiency, steps_of

MOST_STEPS = 300  # drawn
MOST_CHARACTERS = 4_000  # of one text
WASTES = ("failed", "redundant", "looping")
CALLS = "tool_calls"  # the evaluator whose evidence says which calls were expected


def trace_view(text: str, expected: str | None = None, groups: Sequence[VerdictGroup] = ()) -> dict[str, Any]:
    """Return a trace to draw: `steps` (the first 300), `total`, `calls`, `wasted` (kind → number), `problem`, `span`.

    A step has number, kind, role, text, tool, arguments, result, error, started, seconds, tokens, cost_usd, depth,
    `marks`, the kinds of waste, `from`, its start in seconds after the first one that has a time, and `verdict`, its
    verdict among the expected calls; long texts are cut with a note. `span`: the seconds from the first start to the
    last end; None without times. `expected`: the expected calls with their verdicts, where the case has some (as the
    JSON text `expected`): those that tool_calls gave in the run (`groups`), else by its default parameters.
    A trace that cannot be read has a `problem`, and its beginning as `raw`.
    """
    try:
        steps = steps_of(text)
    except TraceError as failure:
        return {"problem": str(failure), "raw": _cut(text)}
    found = efficiency(steps)
    wasted = {kind: set(getattr(found, kind)) for kind in WASTES}
    judged = _judged(text, expected, groups)
    made = judged.get("calls", ())
    begun, span = _times(steps)
    drawn, call, numbers = [], -1, []
    for number, step in enumerate(steps[:MOST_STEPS], 1):
        is_call = step.kind == "call"
        call += is_call
        numbers += [number] * is_call
        marks = [kind for kind, places in wasted.items() if call in places] if is_call else []
        shown = {"arguments": _written(step.arguments), "result": _written(step.result)}
        drawn.append(
            {
                "number": number, "kind": step.kind, "role": step.role, "text": _cut(step.text),
                "tool": step.tool[:200], **shown, "error": None if step.error is None else _cut(step.error),
                "started": step.started, "seconds": step.seconds, "marks": marks, "tokens": step.tokens,
                "cost_usd": step.cost_usd, "depth": step.depth or 0, "from": begun[number - 1],
                "verdict": _verdict(made[call]) if is_call and call < len(made) else None,
            }
        )  # fmt: skip
    return {
        "problem": "", "steps": drawn, "total": len(steps), "calls": found.calls, "span": span,
        "wasted": {kind: len(places) for kind, places in wasted.items()},
        "expected": [
            _verdict(row) | {"step": _step_of(row, numbers)} for row in judged.get("expected_calls", ())
        ],
    }  # fmt: skip


def _judged(trace: str, expected: str | None, groups: Sequence[VerdictGroup]) -> Mapping[str, Sequence[VerdictRow]]:
    """Return the verdicts on the calls made and on the expected ones, by group; none without expected calls."""
    if not expected:
        return {}
    found = {group.name: group.rows for group in groups}
    if "expected_calls" not in found:
        entry = evaluators()[CALLS]
        evidence = entry(Case(trace=trace, expected_calls=expected), entry.parameters.model_validate({})).evidence
        found = {group.name: group.rows for group in verdict_groups(evidence)} if evidence else {}
    return found


def _verdict(row: VerdictRow) -> dict[str, Any]:
    return {"text": row.text, "holds": row.holds, "label": row.label}


def _step_of(row: VerdictRow, numbers: Sequence[int]) -> int | None:
    """Return the number of the step that was made in the place of an expected call; None for none."""
    place = next((place for _, place in row.rests_on), None)
    return numbers[place - 1] if place is not None and place <= len(numbers) else None


def _times(steps: Sequence[Step]) -> tuple[list[float | None], float | None]:
    """Return when each step began, in seconds after the first, and how long all took; None where there is no time."""
    moments = [_moment(step.started) for step in steps]
    known = [moment for moment in moments if moment is not None]
    if not known:
        return [None] * len(steps), None
    first = min(known)
    begun = [None if moment is None else moment - first for moment in moments]
    ends = [start + (step.seconds or 0) for start, step in zip(begun, steps, strict=True) if start is not None]
    return begun, max(ends)


def _moment(started: str | None) -> float | None:
    try:
        moment = datetime.fromisoformat(started or "")
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None


def _written(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return None if value is None else _cut(value)
    return _cut(json.dumps(value, ensure_ascii=False, indent=1))


def _cut(text: str) -> str:
    if len(text) <= MOST_CHARACTERS:
        return text
    return f"{text[:MOST_CHARACTERS]}\n… {len(text) - MOST_CHARACTERS:,} more characters"
