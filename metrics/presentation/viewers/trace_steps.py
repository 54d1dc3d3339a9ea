"""What trace.js draws: the messages, reasoning and tool calls of an agent, step by step."""

from collections.abc import Mapping
from typing import Any

from metrics.presentation.format import duration, plural
from metrics.presentation.palette import MARKS

GLYPHS = {"call": "✓", "message": "", "reasoning": "…"}


FAILED = "✗"


def summary(view: Mapping[str, Any]) -> str:
    """Return a trace in one line: `7 steps · 4 calls · 1 failed · 2 redundant`."""
    if view["problem"]:
        return "unreadable"
    parts = [plural(view["total"], "step")]
    parts += [plural(view["calls"], "call")] * bool(view["calls"])
    parts += [f"{number:,} {kind}" for kind, number in view["wasted"].items() if number]
    return " · ".join(parts)


def payload(view: Mapping[str, Any]) -> dict[str, Any]:
    """Return what trace.js draws of a trace that `data.trace` returned."""
    hidden = view["total"] - len(view["steps"])
    return {
        "steps": [_step(step) for step in view["steps"]],
        "note": f"the first {len(view['steps'])} of {view['total']:,} steps" if hidden else "",
    }


def _step(step: Mapping[str, Any]) -> dict[str, Any]:
    failed = step["kind"] == "call" and step["error"] is not None
    parts = [("Arguments", step["arguments"]), ("Result", step["result"]), ("Error", step["error"])]
    return {
        "number": step["number"],
        "kind": step["kind"],
        "glyph": FAILED if failed else GLYPHS[step["kind"]],
        "colour": MARKS["fp" if failed else "tp"].colour,
        "title": step["tool"] if step["kind"] == "call" else step["role"] or "step",
        "text": " ".join((step["arguments"] or "").split())[:200] if step["kind"] == "call" else step["text"],
        "marks": [*step["marks"], *([] if step["seconds"] is None else [duration(step["seconds"])])],
        "started": step["started"] or "",
        "parts": [[name, text] for name, text in parts if text],
    }
