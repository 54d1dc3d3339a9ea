"""What trace.js draws: the messages, reasoning and tool calls of an agent, step by step, on one axis of time."""

from collections.abc import Mapping, Sequence
from typing import Any

from metrics.presentation.format import count, duration, plural
from metrics.presentation.palette import MARKS, MUTED
from metrics.presentation.verdict_rows import HOLDS_GLYPHS

GLYPHS = {"call": "✓", "message": "", "reasoning": "…"}
FAILED = "✗"
DEEPEST = 8  # indented
LEAST = 0.6  # per cent of the axis that a bar is wide at least
COLOURS = {"yes": MARKS["tp"].colour, "no": MARKS["fp"].colour, "unknown": MUTED[False]}


def summary(view: Mapping[str, Any]) -> str:
    """Return a trace in one line: `7 steps · 4 calls · 1 failed · 2 redundant · 3 of 4 expected calls`."""
    if view["problem"]:
        return "unreadable"
    parts = [plural(view["total"], "step")]
    parts += [plural(view["calls"], "call")] * bool(view["calls"])
    parts += [f"{number:,} {kind}" for kind, number in view["wasted"].items() if number]
    if view["expected"]:
        met = sum(each["holds"] == "yes" for each in view["expected"])
        parts.append(f"{met} of {plural(len(view['expected']), 'expected call')}")
    return " · ".join(parts)


def payload(view: Mapping[str, Any]) -> dict[str, Any]:
    """Return what trace.js draws of a trace that `data.trace` returned."""
    hidden = view["total"] - len(view["steps"])
    most = {name: max((step[name] or 0 for step in view["steps"]), default=0) for name in ("tokens", "cost_usd")}
    return {
        "steps": [_step(step, view["span"], most) for step in view["steps"]],
        "note": f"the first {len(view['steps'])} of {view['total']:,} steps" if hidden else "",
        "axis": _axis(view["span"], most),
        "expected": [
            {
                "text": each["text"], "label": each["label"], "glyph": HOLDS_GLYPHS[each["holds"]],
                "colour": COLOURS[each["holds"]], "step": each["step"],
            }
            for each in view["expected"]
        ],
    }  # fmt: skip


def _axis(span: float | None, most: Mapping[str, float]) -> Sequence[tuple[str, str]]:
    """Return what the bars show, each with the words for its full width; none where nothing can be measured."""
    shown = [("time", f"0 – {duration(span)}")] if span else []
    shown += [("tokens", f"up to {plural(int(most['tokens']), 'token')} a step")] * bool(most["tokens"])
    return shown + [("cost", f"up to {_dollars(most['cost_usd'])} a step")] * bool(most["cost_usd"])


def _dollars(value: float) -> str:
    return f"${value:,.2f}" if value >= 1 else f"${value:.2g}"


def _step(step: Mapping[str, Any], span: float | None, most: Mapping[str, float]) -> dict[str, Any]:
    failed = step["kind"] == "call" and step["error"] is not None
    parts = [("Arguments", step["arguments"]), ("Result", step["result"]), ("Error", step["error"])]
    verdict = step["verdict"]
    marks = [*step["marks"], *([] if step["seconds"] is None else [duration(step["seconds"])])]
    marks += [] if step["tokens"] is None else [f"{count(step['tokens'])} tokens"]
    marks += [] if step["cost_usd"] is None else [_dollars(step["cost_usd"])]
    return {
        "number": step["number"],
        "kind": step["kind"],
        "glyph": FAILED if failed else GLYPHS[step["kind"]],
        "colour": MARKS["fp" if failed else "tp"].colour,
        "title": step["tool"] if step["kind"] == "call" else step["role"] or "step",
        "text": " ".join((step["arguments"] or "").split())[:200] if step["kind"] == "call" else step["text"],
        "marks": marks,
        "verdict": None
        if verdict is None
        else [HOLDS_GLYPHS[verdict["holds"]], verdict["label"], COLOURS[verdict["holds"]]],
        "depth": min(step["depth"], DEEPEST),
        "started": step["started"] or "",
        "bars": _bars(step, span, most),
        "parts": [[name, text] for name, text in parts if text],
    }


def _bars(step: Mapping[str, Any], span: float | None, most: Mapping[str, float]) -> list[tuple[str, float, float]]:
    """Return the bars of a step: what each shows, and where it begins and how wide it is, in per cent of the axis."""
    bars = []
    if span and step["from"] is not None:
        width = max(LEAST, 100 * (step["seconds"] or 0) / span)
        bars.append(("time", round(min(100 - LEAST, 100 * step["from"] / span), 2), round(min(100.0, width), 2)))
    for name, quantity in (("tokens", "tokens"), ("cost", "cost_usd")):
        if step[quantity]:
            bars.append((name, 0.0, round(max(LEAST, 100 * step[quantity] / most[quantity]), 2)))
    return bars
