"""The steps of an agent's trace as plain values, with the wasted tool calls counted."""

from __future__ import annotations

import json
from typing import Any

from metrics.text.agents.traces import TraceError, efficiency, steps_of

MOST_STEPS = 300  # drawn
MOST_CHARACTERS = 4_000  # of one text
WASTES = ("failed", "redundant", "looping")


def trace_view(text: str) -> dict[str, Any]:
    """Return a trace to draw: `steps` (the first 300), `total`, `calls`, `wasted` (kind → number), `problem`.

    A step has number, kind, role, text, tool, arguments, result, error, started, seconds and `marks`, the kinds of
    waste; long texts are cut with a note. A trace that cannot be read has a `problem`, and its beginning as `raw`.
    """
    try:
        steps = steps_of(text)
    except TraceError as failure:
        return {"problem": str(failure), "raw": _cut(text)}
    found = efficiency(steps)
    wasted = {kind: set(getattr(found, kind)) for kind in WASTES}
    drawn, call = [], -1
    for number, step in enumerate(steps[:MOST_STEPS], 1):
        call += step.kind == "call"
        marks = [kind for kind, places in wasted.items() if call in places] if step.kind == "call" else []
        shown = {"arguments": _written(step.arguments), "result": _written(step.result)}
        drawn.append(
            {
                "number": number, "kind": step.kind, "role": step.role, "text": _cut(step.text),
                "tool": step.tool[:200], **shown, "error": None if step.error is None else _cut(step.error),
                "started": step.started, "seconds": step.seconds, "marks": marks,
            }
        )  # fmt: skip
    return {
        "problem": "", "steps": drawn, "total": len(steps), "calls": found.calls,
        "wasted": {kind: len(places) for kind, places in wasted.items()},
    }  # fmt: skip


def _written(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return None if value is None else _cut(value)
    return _cut(json.dumps(value, ensure_ascii=False, indent=1))


def _cut(text: str) -> str:
    if len(text) <= MOST_CHARACTERS:
        return text
    return f"{text[:MOST_CHARACTERS]}\n… {len(text) - MOST_CHARACTERS:,} more characters"
