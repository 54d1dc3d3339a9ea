"""Traces as they are drawn: in a line, step by step, cut where long, plain text whatever is in them."""

import json
from typing import Any

from metrics.presentation.viewers import trace_steps
from metrics.presentation.viewers.trace_view import trace_view as view_of
from tests.pages.page_scenes import HOSTILE

STEPS: list[dict[str, Any]] = [
    {"role": "user", "text": HOSTILE},
    {"tool": "search", "arguments": {"q": "a"}, "result": [1, 2], "seconds": 0.25, "started": "2026-01-01T00:00:00Z"},
    {"kind": "reasoning", "role": "assistant", "text": "Again."},
    {"tool": "search", "arguments": {"q": "a"}, "error": "timeout"},
    {"tool": "search", "arguments": {"q": "a"}},
    {"role": "assistant", "text": "Done.\x00\ud800"},
]


def view(steps: list[Any]) -> dict[str, Any]:
    return view_of(json.dumps({"steps": steps}))


def test_in_a_line() -> None:
    assert trace_steps.summary(view(STEPS)) == "6 steps · 3 calls · 1 failed · 2 redundant · 2 looping"
    assert trace_steps.summary(view(STEPS[:1])) == "1 step"


def test_step_by_step() -> None:
    drawn = trace_steps.payload(view(STEPS))
    told = [(step["number"], step["glyph"], step["title"], step["text"], step["marks"]) for step in drawn["steps"]]
    assert told == [
        (1, "", "user", HOSTILE, []),
        (2, "✓", "search", '{ "q": "a" }', ["0.2 s"]),
        (3, "…", "assistant", "Again.", []),
        (4, "✗", "search", '{ "q": "a" }', ["failed", "redundant", "looping"]),
        (5, "✓", "search", '{ "q": "a" }', ["redundant", "looping"]),
        (6, "", "assistant", "Done.\x00\ud800", []),
    ]
    assert drawn["steps"][1]["parts"] == [["Arguments", '{\n "q": "a"\n}'], ["Result", "[\n 1,\n 2\n]"]]
    assert drawn["steps"][1]["started"] == "2026-01-01T00:00:00Z"
    assert drawn["steps"][3]["parts"][-1] == ["Error", "timeout"]
    assert drawn["note"] == ""


def test_long_traces_and_long_texts_are_cut_and_say_so() -> None:
    drawn = trace_steps.payload(view([{"role": "user", "text": "x" * 5_000}] * 302))
    assert drawn["note"] == "the first 300 of 302 steps"
    assert len(drawn["steps"]) == 300
    assert drawn["steps"][0]["text"].endswith("x\n… 1,000 more characters")


def test_one_that_cannot_be_read_says_why() -> None:
    found = view_of("Thought: " + "x" * 5_000)
    assert trace_steps.summary(found) == "unreadable"
    assert found["problem"].startswith("the trace is not JSON: ")
    assert found["raw"].startswith("Thought: xxx")
    assert len(found["raw"]) < 4_100
